"""Documents that are no longer evidence for what they name: seeded changes of a certificate, its
digest made anew."""

import copy
import hashlib
import json
import random
from fractions import Fraction

OTHERS = ["-1", "0", "1/2", "2", "3", "10", "1/1000", "1000000"]


def sealed(document):
    """The document with the digest that its content has, as an attacker would write it."""
    for member in document.get("members", ()):
        sealed(member)
    body = {key: value for key, value in document.items() if key != "digest"}
    document["digest"] = hashlib.sha256(
        json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()
    return document


def leaves(tree, path=()):
    """[(path, value)] of plain data."""
    if isinstance(tree, dict):
        return [each for key in tree for each in leaves(tree[key], (*path, key))]
    if isinstance(tree, list):
        return [each for k, part in enumerate(tree) for each in leaves(part, (*path, k))]
    return [(path, tree)]


def put(tree, path, value):
    for key in path[:-1]:
        tree = tree[key]
    tree[path[-1]] = value


def other_number(text, chance):
    value = Fraction(text)
    new = chance.choice([value + 1, -value, value * 2, value / 3, *map(Fraction, OTHERS)])
    return str(new if new != value else value + 7)


def instance_number(document, chance):
    texts = [
        (path, v)
        for path, v in leaves(document["instance"])
        if isinstance(v, str) and v[-1:].isdigit()
    ]
    if not texts:
        return None
    path, value = chance.choice(texts)
    put(document["instance"], path, other_number(value, chance))
    return f"instance {path}"


def instance_count(document, chance):
    counts = [(path, v) for path, v in leaves(document["instance"]) if isinstance(v, int)]
    if not counts:
        return None
    path, value = chance.choice(counts)
    put(document["instance"], path, chance.choice([value + 1, value - 1, 0, -1, value * 2 + 1]))
    return f"count {path}"


def instance_part(document, chance):
    lists = [
        (path, part)
        for path, part in inner(document["instance"])
        if isinstance(part, list) and part
    ]
    if not lists:
        return None
    path, part = chance.choice(lists)
    part.append(copy.deepcopy(part[-1])) if chance.random() < 0.5 else part.pop()
    return f"a part of the instance {path}"


def inner(tree, path=()):
    if isinstance(tree, (dict, list)):
        yield path, tree
        for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from inner(part, (*path, key))


def free_number(document, chance):
    given = {name: text for name, text in document["numbers"].items() if isinstance(text, str)}
    if not given:
        return None
    name = chance.choice(sorted(given))
    document["numbers"][name] = other_number(given[name], chance)
    return f"the number {name}"


def number_gone(document, chance):
    if not document["numbers"]:
        return None
    name = chance.choice(sorted(document["numbers"]))
    del document["numbers"][name]
    return f"no number {name}"


def number_more(document, chance):
    name = chance.choice(sorted(document["values"]) or ["L"])
    if name in document["numbers"]:
        return None
    document["numbers"][name] = chance.choice(OTHERS)
    return f"a number for {name}"


def formula(document, chance):
    """A constant, a power, an operation or a symbol of either side."""
    side = chance.choice(["left", "right"])
    program = document["statement"][side]
    step = chance.choice(program)
    if step[0] == "number":
        step[2] = other_number(step[2], chance)
    elif step[0] == "power":
        step[2] = [other_number(step[2][0], chance), step[2][1]]
    elif step[0] == "symbol":
        names = sorted(set(document["symbols"]) - {step[2]})
        if not names:
            return None
        step[2] = chance.choice(names)
    else:
        step[0] = {"add": "mul", "mul": "add", "min": "max", "max": "min"}.get(step[0], "add")
    return f"the {side} side"


def sides_swapped(document, chance):
    s = document["statement"]
    s["left"], s["right"] = s["right"], s["left"]
    return "sides"


def sign(document, chance):
    s = document["statement"]
    s["sign"] = chance.choice(
        [other for other in ("<=", "<", ">=", ">", "==") if other != s["sign"]]
    )
    return "the relation"


def domain(document, chance):
    domains = document["statement"]["domains"]
    if not domains:
        return None
    name = chance.choice(sorted(domains))
    if chance.random() < 0.3:
        del domains[name]
    else:
        domains[name] = chance.choice(
            [d for d in ("real", "positive", "nonnegative", "count") if d != domains[name]]
        )
    return f"the domain of {name}"


def hypothesis(document, chance):
    rules = document["statement"]["assumes"]
    if not rules:
        return None
    k = chance.randrange(len(rules))
    if chance.random() < 0.5:
        del rules[k]
    else:
        last = rules[k]["program"][-1]
        last[0] = {"le": "ge", "ge": "le", "lt": "gt", "gt": "lt", "eq": "le"}[last[0]]
    return "a hypothesis between numbers"


def condition(document, chance):
    conditions = document["statement"]["conditions"]
    if not conditions:
        return None
    name = chance.choice(sorted(conditions))
    says = conditions.pop(name)
    if chance.random() < 0.3:
        conditions[name + "_"] = says
    return f"the condition {name}"


def measures(document, chance):
    measured = document["statement"]["measured"]
    if not measured:
        return None
    name = chance.choice(sorted(measured))
    if len(measured) > 1 and chance.random() < 0.6:
        other = chance.choice(sorted(set(measured) - {name}))
        measured[name], measured[other] = measured[other], measured[name]
    elif chance.random() < 0.5:
        del measured[name]
        document["numbers"][name] = chance.choice(OTHERS)  # a left side that anyone may choose
    else:
        measured[name] += "_0"
    return f"what {name} measures"


def equation(document, chance):
    solved = document["statement"]["solved"]
    if not solved:
        return None
    name, _ = solved.pop(chance.randrange(len(solved)))
    if chance.random() < 0.5:
        document["numbers"][name] = chance.choice(OTHERS)
    return f"the equation of {name}"


def told(document, chance):
    name = chance.choice(sorted({**document["values"], "left": 0, "right": 0}))
    of = document if name in ("left", "right") else document["values"]
    of[name] = str(Fraction(of[name]) * 2 + 1)
    return f"the value that it tells of {name}"


def renamed(document, chance, claims=()):
    document["claim"] = chance.choice(
        [name for name in sorted(claims) if name != document["claim"]]
    )
    return "the claim's name"


def line(document, chance):
    document["line"] += chance.choice([1, -1, 5])
    return "the line"


def setting(document, chance):
    names = [
        "lamb_round",
        "lamb_run",
        "mixed_round",
        "fsl_round",
        "flex_delay",
        "mixed_vectors",
        "nowhere",
    ]
    document["setting"] = chance.choice([name for name in names if name != document["setting"]])
    return "the setting"


CHANGES = (
    instance_number,
    instance_number,
    instance_count,
    instance_part,
    free_number,
    number_gone,
    number_more,
    formula,
    formula,
    formula,
    sides_swapped,
    sign,
    domain,
    hypothesis,
    hypothesis,
    condition,
    measures,
    measures,
    equation,
    told,
    renamed,
    line,
    setting,
)


def cell(document, chance):
    row = chance.choice(document["cells"])
    at = chance.randrange(3)
    row[at] = (
        [14, 14, 64]
        if isinstance(row[at], list)
        else not row[at]
        if isinstance(row[at], bool)
        else row[at] + "1"
    )
    return "a cell"


def fewer_cells(document, chance):
    document["cells"].clear()
    return "all cells"


def which(document, chance):
    document["same"] = chance.choice([0, 1, 3, -1])
    return "the equivalence"


def proof_number(document, chance):
    part = chance.choice(["proof", "proof", "shows", "assumes"])
    texts = [
        (path, v)
        for path, v in leaves(document[part])
        if isinstance(v, str) and v.lstrip("-")[:1].isdigit()
    ]
    if not texts:
        return None
    path, value = chance.choice(texts)
    put(document[part], path, other_number(value, chance))
    return f"a number of its {part}"


def proof_part(document, chance):
    lists = [
        (path, part)
        for path, part in inner(document["proof"])
        if isinstance(part, list)
        and part
        and path
        and path[-1] in ("terms", "lemmas", "solve", "facts", "branches")
    ]
    if not lists:
        return None
    path, part = chance.choice(lists)
    del part[chance.randrange(len(part))]
    return f"a part of its {path[-1]}"


def proof_sign(document, chance):
    relation = chance.choice([document["shows"], *document["assumes"]])
    relation[0] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "==": "<"}[relation[0]]
    return "a relation"


def proof_domain(document, chance):
    name = chance.choice(sorted(document["variables"]))
    document["variables"][name] = "real"
    return f"the domain of {name}"


OF_CELLS, OF_RUNS = (cell, cell, fewer_cells), (which, instance_number, instance_count)
OF_PROOFS = (proof_number, proof_number, proof_part, proof_part, proof_sign, proof_domain)


def mutant(document, seed, claims=()):
    """(a changed document, what was changed), or None where that change has nothing to change."""
    chance, changed = random.Random(f"mutant/{seed}"), copy.deepcopy(document)
    one = chance.choice(changed["members"]) if "members" in changed else changed
    change = chance.choice(
        OF_PROOFS
        if "proof" in document
        else OF_CELLS
        if "cells" in document
        else OF_RUNS
        if "same" in document
        else CHANGES
    )
    what = change(one, chance, claims) if change is renamed else change(one, chance)
    return (changed if "proof" in document else sealed(changed), what) if what else None
