"""Stand-alone checker of every certificate in a package, with the Python standard library only:
`python check.py [FOLDER]`.

First each file's SHA-256 is checked against SHA256SUMS, and the ledger, the table of claims, the page's rows,
the figures' findings and the certificates' names must agree. Then each certificate is checked, by its kind:

- a proof, or the steps of a proof: followed by algebra, in fractions;
- a counterexample, or a family of them: its derivation (derivations/...) leads from the instance's numbers
  to the measured quantities, one sum, product or root after another; it is computed again here, exactly
  or between rational ends, and the hypotheses must hold there and the line must fail;
- cells of a table whose printed values differ from the computed ones: computed from the given integers;
  the cells that fix these integers must leave no others within the ranges named;
- two ways to run that the text calls equivalent: where both end, exactly, and that their ends differ.

An instance must fit its model, by the schema below: so many vectors of one length, knots in order,
counts that are integers, the model's own words.

Arithmetic cannot show, and this file does not check, that a derivation's steps are those of the method, and
that an instance meets the conditions in words: `fedtheory replay` derives both. Two runs whose difference
needs chance have no arithmetic of their own; they are named, and not judged.

Exit 0: nothing differs. 1: a difference was found. 2: there is no package.
"""

import csv
import hashlib
import html
import io
import json
import math
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence, Set
from fractions import Fraction
from pathlib import Path
from typing import Any

from fedtheory import schema
from fedtheory.certificates import check_proof, schemas

Refused, require = check_proof.Refused, check_proof.require
WORKS, LARGEST, BITS, BOXES = 2_000_000, 2**24, 300, 20_000
DIGITS = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")
SHOWN = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,5})?")
PLACE = re.compile(r"./[1-9][0-9]{0,3}$")  # the place of a line in its claim
EMPTY = "\u115f\u1160\u2800\u3164"  # letters and signs that look like a blank
DECIMAL = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")
INFINITE = float("inf")
RELATION = {
    "le": lambda a, b: certain_relation(a[1] <= b[0], a[0] > b[1]),
    "lt": lambda a, b: certain_relation(a[1] < b[0], a[0] >= b[1]),
    "ge": lambda a, b: certain_relation(a[0] >= b[1], a[1] < b[0]),
    "gt": lambda a, b: certain_relation(a[0] > b[1], a[1] <= b[0]),
    "eq": lambda a, b: certain_relation(a[0] == a[1] == b[0] == b[1], a[1] < b[0] or b[1] < a[0]),
    "ne": lambda a, b: certain_relation(a[1] < b[0] or b[1] < a[0], a[0] == a[1] == b[0] == b[1]),
}
FOLLOWED = ("fedtheory counterexample 1", "fedtheory family 1", "fedtheory structure 1")
NAMES = {"<=": "le", "<": "lt", ">=": "ge", ">": "gt", "=": "eq", "==": "eq", "<>": "ne"}
FAILS = {"<=": "gt", "<": "ge", ">=": "lt", ">": "le", "==": "ne"}


def certain_relation(true: bool, false: bool) -> Any:
    """Return the truth of a relation, given whether it certainly holds and whether it certainly
    fails; None where neither is certain."""
    return True if true else False if false else None


# ---------------------------------------------------------------- numbers between two ends


def parse_fraction(text: Any) -> Any:
    require(isinstance(text, str) and DIGITS.fullmatch(text), f"no number: {text!r:.40}")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise Refused(f"no number: {text!r:.40}") from None


def round_outward(value: Any, way: int) -> Any:
    """Round an end of an interval outward to a number of bounded length."""
    if isinstance(value, float) or value.denominator.bit_length() <= 4 * BITS:
        return value
    size = value.numerator.bit_length() - value.denominator.bit_length()
    scale = Fraction(2) ** (2 * BITS - size)
    return Fraction(-(-value * scale // 1) if way > 0 else value * scale // 1) / scale


def check_pair(low: Fraction, high: Fraction) -> Any:
    require(low == low and high == high, "infinity less infinity")
    return (low, high) if low == high else (round_outward(low, -1), round_outward(high, 1))


def add_ends(a: Sequence[Fraction], b: Sequence[Fraction]) -> Any:
    return check_pair(a[0] + b[0], a[1] + b[1])


def negate_ends(a: Sequence[Fraction]) -> Any:
    return -a[1], -a[0]


def multiply_numbers(x: Fraction, y: Fraction) -> Any:
    return Fraction(0) if x == 0 or y == 0 else x * y


def multiply_ends(a: Sequence[Fraction], b: Sequence[Fraction]) -> Any:
    if a[0] > 0 and b[0] > 0:
        return check_pair(a[0] * b[0], a[1] * b[1])
    endless = lambda x, y: x[0] == INFINITE and y[0] <= 0 <= y[1]
    require(not endless(a, b) and not endless(b, a), "infinity times what may be zero")
    ends = [multiply_numbers(x, y) for x in a for y in b]
    return check_pair(min(ends), max(ends))


def invert_ends(a: Sequence[Any], nonnegative: bool = False) -> Any:
    """Return the ends of 1/a; where a is nonnegative, 1/0 is infinite."""
    if nonnegative and a[0] == 0:
        return (INFINITE if a[1] == 0 else invert_ends((a[1], a[1]))[0]), INFINITE
    require(a[0] > 0 or a[1] < 0, "it divides by what may be zero")
    return check_pair(*(Fraction(0) if isinstance(x, float) else 1 / x for x in a[::-1]))


def power_of_ends(a: Sequence[Fraction], n: int, nonnegative: Any = False) -> Any:
    require(abs(n) <= 1000, "a power beyond 1000")
    if n < 0:
        return invert_ends(power_of_ends(a, -n), nonnegative or n % 2 == 0)
    if n == 0:
        return Fraction(1), Fraction(1)
    if n % 2 == 0 and a[0] < 0 < a[1]:
        return Fraction(0), round_outward(max(-a[0], a[1]) ** n, 1)
    return check_pair(*sorted((a[0] ** n, a[1] ** n)))


def root_of_ends(a: Sequence[Any], q: Any) -> Any:
    require(a[0] >= 0 and 1 <= q <= 100, "a root of what may be negative")
    low, high = (x if isinstance(x, float) else lower_root(x, q) for x in a)
    exact = not isinstance(high, float) and high**q == a[1]
    return low, high if exact or isinstance(high, float) else high + Fraction(1, 2**BITS)


def lower_root(x: Fraction, q: int) -> Any:
    """Return the largest multiple of 2^-BITS whose q-th power is at most x, or the root itself if
    the root is rational."""
    p, r = (whole_root(n, q) for n in (x.numerator, x.denominator))
    if p**q == x.numerator and r**q == x.denominator:
        return Fraction(p, r)
    return Fraction(whole_root((x.numerator << q * BITS) // x.denominator, q), 2**BITS)


def whole_root(n: int, q: int) -> Any:
    """Return the integer part of the q-th root of n."""
    if q == 2 or n < 2:
        return math.isqrt(n) if q == 2 else n
    low, high = 0, 1 << (n.bit_length() // q + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**q <= n else (low, middle - 1)
    return low


def exp_of_ends(a: Sequence[Fraction]) -> Any:
    return exp_end(a[0])[0], exp_end(a[1])[1]


def exp_end(x: Any) -> Any:
    """Return ends of e^x, by the series at x / 2^k, whose remainder is below twice the next term."""
    require(not isinstance(x, float) and abs(x) <= 20_000, "an exponential beyond what is computed")
    k = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 8)
    y, term, total, n = round_outward(x / 2**k, -1), Fraction(1), Fraction(1), 0
    slack = abs(x / 2**k - y) * 2
    while abs(term) > Fraction(1, 2 ** (2 * BITS)):
        n += 1
        term = round_outward(term * y / n, 1)
        total += term
    error = abs(term) * 2 + slack + Fraction(n, 2**BITS) ** 2
    ends = total - error, total + error
    for _ in range(k):
        ends = check_pair(ends[0] ** 2, ends[1] ** 2)
    return ends


def log_of_ends(a: Sequence[Fraction]) -> Any:
    require(a[0] > 0, "the logarithm of what may not be positive")
    return log_end(a[0], 0), log_end(a[1], 1)


def log_end(x: Fraction, which: Any) -> Any:
    """Return an end of log x: a rational number whose exponential certainly lies on the given side
    of x."""
    require(not isinstance(x, float), "the logarithm of infinity")
    if x == 1:
        return Fraction(0)
    away = x.numerator.bit_length() - x.denominator.bit_length()
    y = Fraction(math.log(x / Fraction(2) ** away) + away * math.log(2))
    for _ in range(6):  # Newton's steps; their result is checked below
        near = exp_end(y)[0]
        y = round_outward(y + x / near - 1, -1)
    room = Fraction(max(abs(y), 1)) / 2**BITS
    low, high = y - room, y + room
    require(exp_end(low)[1] <= x <= exp_end(high)[0], "a logarithm beyond what is computed")
    return (low, high)[which]


# ---------------------------------------------------------------- formulas of a document


def run_program(program: Sequence[Any], values: Any) -> Any:
    """Return the last result of a program: a number between two ends, True, False or None. An
    operation without a value matters only where its result is used."""
    found = []
    require(isinstance(program, list) and 0 < len(program) <= 5000, "no formula")
    for op, operands, detail in program:
        require(all(type(k) is int and 0 <= k < len(found) for k in operands), "no formula")
        parts = [found[k] for k in operands]
        if op != "piecewise" and any(isinstance(part, Refused) for part in parts):
            found.append(next(part for part in parts if isinstance(part, Refused)))
            continue
        try:
            found.append(apply_operation(op, parts, detail, values))
        except Refused as why:
            found.append(why)
    if isinstance(found[-1], Refused):
        raise found[-1]
    return found[-1]


def apply_operation(op: str, parts: Sequence[Any], detail: Any, values: Any) -> Any:
    if op == "number":
        return (parse_fraction(detail),) * 2
    if op == "symbol":
        require(detail in values, f"nothing gives {detail}")
        return values[detail]
    if op == "truth":
        return detail is True
    if op in RELATION:
        return RELATION[op](*parts)
    if op == "both":
        return False if False in parts else None if None in parts else True
    if op in ("add", "mul"):
        total = parts[0]
        for part in parts[1:]:
            total = (add_ends if op == "add" else multiply_ends)(total, part)
        return total
    if op in ("min", "max"):
        choose = min if op == "min" else max
        return choose(p[0] for p in parts), choose(p[1] for p in parts)
    if op == "abs":
        return absolute_ends(parts[0])
    if op == "power":
        exponent = parse_fraction(detail[0])
        base = (
            parts[0] if exponent.denominator == 1 else root_of_ends(parts[0], exponent.denominator)
        )
        return power_of_ends(base, exponent.numerator, detail[1] or exponent.denominator > 1)
    if op == "integer_power":
        require(parts[1][0] == parts[1][1] == int(parts[1][0]), "a power that is no integer")
        return power_of_ends(parts[0], int(parts[1][0]), detail)
    if op in ("floor", "ceiling"):
        low, high = (x // 1 if op == "floor" else -(-x // 1) for x in parts[0])
        return Fraction(low), Fraction(high)
    if op == "piecewise":
        for when, value in zip(parts[::2], parts[1::2]):
            require(when in (True, False) and not isinstance(value, Refused), "no case is certain")
            if when:
                return value
        raise Refused("no case holds")
    require(op in ("exp", "log"), f"no operation: {op!r:.40}")
    return exp_of_ends(parts[0]) if op == "exp" else log_of_ends(parts[0])


def absolute_ends(a: Sequence[Fraction]) -> Any:
    return a if a[0] >= 0 else negate_ends(a) if a[1] <= 0 else (Fraction(0), max(-a[0], a[1]))


# ---------------------------------------------------------------- counterexamples


def document_outline(document: Any) -> Any:
    """Return the parts of a counterexample or of a document about two runs that a derivation
    presupposes: everything that the derivation's steps do not read as numbers."""
    stated, given = document.get("statement", {}), document.get("numbers", {})
    counts = [name for name in given if stated["domains"].get(name) == "count"]
    return dict(
        {name: document[name] for name in ("setting", "same", "equivalence") if name in document},
        measured=stated.get("measured"),
        counts={name: given[name] for name in counts},
        instance=blank_numbers(document["instance"]),
    )


def blank_numbers(tree: Any) -> Any:
    """Return plain data without its numbers, which are texts of digits."""
    if isinstance(tree, dict):
        return {name: blank_numbers(value) for name, value in tree.items()}
    if isinstance(tree, list):
        return [blank_numbers(value) for value in tree]
    return None if isinstance(tree, str) and DIGITS.fullmatch(tree) else tree


def derive_values(derivation: Mapping[str, Any], instance: Any, given: Any = None) -> Any:
    """Return {symbol: ends, or a list of ends} of a derivation: its steps are computed from the
    numbers at their places in the instance and from the numbers given by name. Every comparison on
    which the computation depends must hold."""
    found = []
    for op, *parts in derivation["steps"]:
        a, b = ([found[k] for k in parts] + [None, None])[:2] if op in STEPS else (None, None)
        if op == "at":
            found.append(number_at(value_at(instance, parts[0])))
        elif op == "given":
            found.append(number_at(given[parts[0]]))
        elif op == "number":
            found.append((parse_fraction(parts[0]),) * 2)
        elif op == "ends":
            found.append(tuple(INFINITE if x == "inf" else parse_fraction(x) for x in parts))
        elif op == "pow":
            found.append(power_of_ends(found[parts[0]], parts[1]))
        else:
            require(op in STEPS, f"no step: {op!r:.40}")
            found.append(STEPS[op](a, b))
    for one, sign, other in derivation["went"]:
        require(RELATION[NAMES[sign]](found[one], found[other]) is True, "it went another way")
    at = lambda place: [found[k] for k in place] if isinstance(place, list) else found[place]
    return {name: at(place) for name, place in derivation["values"].items()}


def number_at(number: Any) -> Any:
    """Return the ends of the number at a place: an integer, a text of digits, or a pair of ends,
    given as texts or as numbers."""
    if isinstance(number, tuple):
        return number
    if isinstance(number, list):
        low, high = map(parse_fraction, number)
        require(low <= high, "its ends are in another order")
        return low, high
    return (parse_fraction(str(number) if type(number) is int else number),) * 2


STEPS = {
    "add": add_ends,
    "sub": lambda a, b: add_ends(a, negate_ends(b)),
    "mul": multiply_ends,
    "div": lambda a, b: multiply_ends(a, invert_ends(b)),
    "neg": lambda a, _: negate_ends(a),
    "inv": lambda a, _: invert_ends(a),
    "sqrt": lambda a, _: root_of_ends(a, 2),
    "abs": lambda a, _: absolute_ends(a),
    "floor": lambda a, _: (Fraction(a[0] // 1), Fraction(a[1] // 1)),
    "at least": lambda a, _: (a[0], INFINITE),
    "short": lambda a, _: (round_outward(a[0], -1), round_outward(a[1], 1)),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
}


def value_at(tree: Any, path: str) -> Any:
    """Return the value at a place (a path of keys) in plain data."""
    for key in path.split("/"):
        tree = tree[int(key) if isinstance(tree, list) else key]
    return tree


def check_seal(document: Any) -> Any:
    body = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    require(document["digest"] == hashlib.sha256(text.encode()).hexdigest(), "its digest differs")


def instance_of(document: Any, name: str) -> Any:
    """Return the instance of a document; raise Refused unless the instance has the schema of the
    setting, or of two runs."""
    told = schemas.find_schema(name)
    require(told is not None, f"no schema of {name!r:.60} is here")
    why = schema.fault(told, document["instance"], parse_fraction)
    require(why is None, f"it is no instance of {name}: {why}")
    return document["instance"]


def check_counterexample(document: Any, derivation: Mapping[str, Any]) -> Any:
    """Raise Refused unless the hypotheses hold at the instance, and the line fails there."""
    check_seal(document)
    instance = instance_of(document, document["setting"])
    stated = document["statement"]
    require(
        derivation["of"] == document_outline(document), "its derivation is that of another document"
    )
    values = derive_values(derivation, instance, document["numbers"])
    solved = {name for name, _ in stated["solved"]}
    for name, program in stated["solved"]:
        require(name not in values, f"{name} is given twice")
        values[name] = run_program(program, values)
    require(set(values) >= {*stated["domains"], *stated["measured"]}, "a symbol has no value")
    shown = {*stated["domains"], *stated["measured"]}
    require(set(document["values"]) == shown, "it does not say what each symbol is")
    for name, text in document["values"].items():
        require(
            name in values and says_value(text, values[name]), f"{name} is not what it comes to"
        )
    for name, domain in stated["domains"].items():
        require(in_domain(domain, values[name]), f"{name} lies outside its domain")
    for rule in stated["assumes"]:
        require(
            certainly_holds(rule["program"], values, solved), f"it does not meet {rule['says']}"
        )
    left, right = run_program(stated["left"], values), run_program(stated["right"], values)
    for side, found in (("left", left), ("right", right)):
        require(says_value(document[side], found), f"its {side} is another")
    require(RELATION[FAILS[stated["sign"]]](left, right) is True, "the line does not fail there")


def says_value(text: str, value: tuple[Fraction, Fraction]) -> Any:
    """Tell whether a text denotes a value between two ends, as documents print values: exact
    digits, else the nearest float as a decimal, or six digits beyond the range of floats."""
    low, high = value
    if text == "infinite":
        return low == high == INFINITE
    if text.startswith("at least "):
        return high == INFINITE and says_value(text.removeprefix("at least "), (low, low))
    if DIGITS.fullmatch(text):
        return low <= parse_fraction(text) <= high
    require(SHOWN.fullmatch(text), f"no number: {text!r:.40}")
    shown, far = Fraction(text), abs(int(text.partition("e")[2] or 0)) > 300
    room = abs(shown) / (10**6 if far else 2**50) + Fraction(1, 2**1074)
    return low - room <= shown <= high + room


def in_domain(domain: str, value: tuple[Fraction, Fraction]) -> Any:
    low, high = value
    return dict(
        positive=low > 0,
        nonnegative=low >= 0,
        real=True,
        unit=low >= 0 and high <= 1,
        count=low == high and low >= 1 and low.denominator == 1,
    ).get(domain, False)


def certainly_holds(program: Sequence[Any], values: Any, solved: Set[str]) -> Any:
    """Tell whether a hypothesis certainly holds; for an equation that fixed a symbol by roots,
    whether the sides agree up to their ends."""
    truth = run_program(program, values)
    used = {detail for op, _, detail in program if op == "symbol"}
    if truth is None and program[-1][0] == "eq" and used & solved:
        one, other = program[-1][1]
        gap = add_ends(
            run_program(program[: one + 1], values),
            negate_ends(run_program(program[: other + 1], values)),
        )
        return gap[0] <= 0 <= gap[1] and gap[1] - gap[0] <= Fraction(1, 2**200)
    return truth is True


def check_family(document: Any, derivations: Sequence[Any]) -> Any:
    """Raise Refused unless the members of the family refute one line with ever larger constants."""
    check_seal(document)
    members = document["members"]
    require(len(members) == len(derivations) >= 7, "it has too few members")
    for member, derivation in zip(members, derivations):
        check_counterexample(member, derivation)
        same = ("claim", "line", "statement", "setting")
        require(all(member[name] == members[0][name] for name in same), "its members differ")
    right = members[0]["statement"]["right"]
    constant = next((d for op, _, d in right if op == "symbol" and d.startswith("C_")), None)
    require(constant in members[0]["numbers"], "no constant to refute")
    for name in members[0]["numbers"]:
        at = [member["numbers"][name] for member in members]
        if all(isinstance(text, str) for text in at):
            at = list(map(parse_fraction, at))
            even = all(a * c == b * b for a, b, c in zip(at, at[1:], at[2:]))
            grows = all(b >= 4 * a for a, b in zip(at, at[1:]))
            require(grows if name == constant else even, f"{name} does not move as it should")
    compare_moves(document["moves"], members, constant)


def compare_moves(moves: Any, members: Sequence[Any], constant: str | None) -> Any:
    """Raise Refused unless each named free number is multiplied by its factor at each step, and for
    each named coordinate some number of the instance has increments that grow by its factor. Where
    no coordinate is named, everything else except the constant must stay."""
    require(isinstance(moves, dict), "what moves is not said by names and factors")
    factors = {name: parse_fraction(text) for name, text in moves.items()}
    require(
        all(f > 0 and f != 1 for f in factors.values()), "a move is by no positive factor but 1"
    )
    numbers = [
        {
            name: parse_fraction(text)
            for name, text in member["numbers"].items()
            if isinstance(text, str)
        }
        for member in members
    ]
    free = all(name in numbers[0] for name in factors)
    for name in numbers[0]:
        at = [each.get(name) for each in numbers]
        factor = factors.get(name, 1 if free and name != constant else None)
        said = factor is None or all(b == factor * a for a, b in zip(at, at[1:]))
        require(said, f"{name} does not move as it is said to")
    instances = [dict(leaves(member["instance"])) for member in members]
    require(not free or all(each == instances[0] for each in instances), "an instance moves unsaid")
    tracks = [
        [each[place] for each in instances]
        for place in instances[0]
        if all(place in each for each in instances)
    ]
    for name, factor in factors.items():
        moved = name in numbers[0] or any(grows_by(factor, track) for track in tracks)
        require(moved, f"nothing moves as {name} is said to")


def grows_by(factor: Fraction, track: Sequence[Fraction]) -> Any:
    """Tell whether increments grow by a factor at each step, or whole numbers do but for rounding."""
    steps = [b - a for a, b in zip(track, track[1:])]
    if steps[0] and all(b == factor * a for a, b in zip(steps, steps[1:])):
        return True
    near = all(abs(a - track[-1] / factor**k) < 1 for k, a in enumerate(reversed(track)))
    return near and all(a.denominator == 1 for a in track) and abs(track[-1] - track[0]) >= 1


def leaves(data: Any, place: Sequence[Any] = ()) -> Any:
    """Yield (place, number) for every number in plain data, including the lengths of lists."""
    if isinstance(data, (dict, list)):
        yield (*place, "length"), Fraction(len(data))
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(value, (*place, key))
    elif type(data) is int or isinstance(data, str) and DIGITS.fullmatch(data):
        yield place, Fraction(data)


# ---------------------------------------------------------------- cells, and two ways to run


def check_cells(document: Any, derivation: Mapping[str, Any]) -> Any:
    """Raise Refused unless the cells have the values that the document states and not those that
    the text prints. Where the text leaves integers open, no other integers may give the cells that
    fix them."""
    check_seal(document)
    require(document["cells"], "no cell differs")
    values, shown = derive_values(derivation, document["given"]), derivation["shown"]
    for cell, printed, computed in document["cells"]:
        look = lambda text: matches_shown(shown[cell], values[cell], text)
        require(look(computed) is True, f"{cell} is not {computed}, computed")
        require(look(printed) is False, f"{cell} is as printed")
    if "ranges" in document:
        within = document["ranges"]
        fits = lambda given: [
            matches_shown(shown[cell], at[cell], printed)
            for at in (derive_values(derivation, dict(document["given"], **given)),)
            for cell, printed in document["fixing"]
        ]
        found = fitting_integers(within, fits)
        require(found == [{name: document["given"][name] for name in within}], "others fit too")


def matches_shown(kind: str, value: Any, shown: Any) -> Any:
    """Tell whether a cell equals the printed value: digits up to half a unit of the last one, a
    truth value, or numbers; None where the ends of the cell's value leave this open."""
    if kind == "rounded":
        require(isinstance(shown, str) and DECIMAL.fullmatch(shown), f"no digits: {shown!r:.40}")
        half = Fraction(1, 2 * 10 ** len(shown.partition(".")[2]))
        low, high = Fraction(shown) - half, Fraction(shown) + half
        return certain_relation(
            low <= value[0] and value[1] <= high, value[1] < low or high < value[0]
        )
    if kind in ("<", "="):
        require(type(shown) is bool, f"no truth: {shown!r:.40}")
        truth = RELATION[NAMES[kind]](*value)
        return None if truth is None else truth is shown
    require(kind == "equal", f"no kind of cell: {kind!r:.40}")
    row, shown = (each if isinstance(each, list) else [each] for each in (value, shown))
    same = [RELATION["eq"](a, number_at(b)) for a, b in zip(row, shown)]
    if len(row) != len(shown) or False in same:
        return False
    return None if None in same else True


def fitting_integers(ranges: Mapping[str, Any], fits: Callable[..., Any]) -> Any:
    """Return all integers within the ranges at which the conditions `fits` certainly hold or cannot
    be excluded. Boxes of integers are halved until they are excluded or single."""
    waiting, found, looked = [{}], [], 0
    for name, parts in ranges.items():
        waiting = [{**box, name: (low, high)} for box in waiting for low, high in parts]
    while waiting:
        looked += 1
        require(looked <= BOXES, "its ranges are too wide to be looked through")
        box = waiting.pop()
        if False in fits({name: tuple(map(Fraction, ends)) for name, ends in box.items()}):
            continue
        name = max(box, key=lambda each: Fraction(box[each][1] + 1, box[each][0] + 1))
        low, high = box[name]
        if all(a == b for a, b in box.values()):
            found.append({each: ends[0] for each, ends in box.items()})
        else:
            middle = (low + high) // 2
            waiting += [{**box, name: (low, middle)}, {**box, name: (middle + 1, high)}]
    return found


def check_parting(document: Any, derivation: Mapping[str, Any]) -> Any:
    """Raise Refused unless both runs end where the document says, apart by more than rounding."""
    check_seal(document)
    require(
        derivation["of"] == document_outline(document), "its derivation is that of another document"
    )
    instance = instance_of(document, schemas.RUNS)
    ends = derive_values(derivation, instance)
    one, other = ([parse_fraction(text) for text in point] for point in document["points"])
    require(len(one) == len(other) == len(instance["x"]), "its points are of another dimension")
    for name, point in (("one", one), ("other", other)):
        require(ends[name] == [(x, x) for x in point], "its points are not where both ways end")
    data = (parse_fraction(text) for row in (*instance["b"], instance["x"]) for text in row)
    largest = max(abs(x) for x in (*one, *other, *data))
    require(max(abs(a - b) for a, b in zip(one, other)) > largest / 10**6, "both ways agree")


# ---------------------------------------------------------------- a package


def check_lone_proof(document: Any) -> Any:
    check_proof.check(document, check_proof.Ring(WORKS))


def check_graph(document: Any) -> Any:
    for edge in document["edges"]:
        require(PLACE.search(edge["line"]), f"no line: {edge['line']!r:.60}")
        for each in (edge["proof"], *edge["hypotheses"]):
            check_lone_proof(each)
        for name in edge["premises"]:
            known = (
                name in document["textbook"] if name.startswith("textbook.") else PLACE.search(name)
            )
            require(known, f"it does not prove {name!r:.60}")
    for some in document["textbook"].values():
        for each in some:
            check_lone_proof(each)


def judge_document(document: Any, derivations: Sequence[Any]) -> Any:
    """Raise Refused unless a certificate shows its result, and return True; return False where this
    checker cannot judge the certificate's format."""
    kind, name = document["format"], document.get("claim", "a proof of no claim")
    require(well_formed(name), f"no name of a claim: {name!a:.60}")
    if kind == "fedtheory existence 1":  # decided by the failure, or the proof, of its denial
        return judge_document(document["denial"], derivations)
    if kind in FOLLOWED and not derivations:
        return False
    if kind == "fedtheory counterexample 1":
        check_counterexample(document, *derivations)
    elif kind == "fedtheory family 1":
        check_family(document, derivations)
    elif kind == "fedtheory structure 1":
        (check_cells if "cells" in document else check_parting)(document, *derivations)
    elif kind == "fedtheory graph 1":
        check_graph(document)
    elif kind == "fedtheory proofs 1":
        for line in document["lines"]:
            check_lone_proof(line)
    elif kind in ("fedtheory proof 1", "fedtheory proof 2"):
        check_lone_proof(document)
    else:
        return False
    return True


def well_formed(name: str) -> Any:
    """Tell whether a text may be a claim's name: no character is hidden, and none looks like
    another one."""
    return (
        isinstance(name, str)
        and 0 < len(name) <= 200
        and name == unicodedata.normalize("NFKC", name) == " ".join(name.split())
        and all(c == " " or c not in EMPTY and unicodedata.category(c)[0] in "LNPS" for c in name)
    )


def steps(book: Mapping[str, Any], files: Mapping[str, bytes]) -> Any:
    """Return sentences about graphs of proofs whose steps differ from those that the ledger calls
    proved."""
    told = {}
    for entry in book["claims"]:
        for edge in (entry.get("rests_on") or {}).get("edges", ()):
            if edge["status"] == "proved":
                told.setdefault(entry["id"], {})[edge["line"]] = edge["premises"]
    found = []
    for name in files:
        if name.startswith("certificates/") and name.endswith(".graph.json"):
            try:
                document = json.loads(files[name])
                shown = {edge["line"]: edge["premises"] for edge in document["edges"]}
                alike = shown == told.pop(document["claim"], None)
                alike = alike and len(shown) == len(document["edges"])
            except (ValueError, LookupError, TypeError):
                alike = False
            if not alike:
                found.append(f"{name}: its steps are not those of the ledger")
    return found + [f"{name}: nothing proves the steps of its proof" for name in told]


def reason_unjudged(document: Any) -> Any:
    """Return the reason why a certificate is not judged."""
    kind = document.get("denial", document)["format"]
    if kind not in FOLLOWED:
        return f"no checker of the format {kind!r:.60} is here"
    by_chance = kind == "fedtheory structure 1" and not {"cells", "points"} & set(document)
    return "chance alone parts its runs" if by_chance else "no derivation goes with it"


def check_checksums(files: Mapping[str, bytes]) -> Any:
    """Return sentences about files that differ from SHA256SUMS."""
    listed = {}
    for line in files.get("SHA256SUMS", b"").decode(errors="replace").splitlines():
        hashed, _, name = line.partition("  ")
        listed[name] = hashed
    found = [f"{name}: it is missing" for name in sorted(set(listed) - set(files))]
    for name, content in sorted(files.items()):
        if name != "SHA256SUMS" and listed.get(name) != hashlib.sha256(content).hexdigest():
            found.append(f"{name}: it is {'changed' if name in listed else 'added'}")
    return found


COLUMNS = (
    "id paper where kind status as_printed ratio certificate command seconds megabytes".split()
)
FORMULA = re.compile(r"(^\s*|;)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
EXPERIMENT = "finding"  # the kind of claims about experiments


def cell(value: float | str) -> Any:
    """Return a value as a cell for spreadsheets: a text on one line, never a formula, which begins
    with = + - or @ at the start of a cell, or where some programs start one. Numbers may begin so.
    """
    try:
        float(value)
        return value
    except (TypeError, ValueError, OverflowError):
        return FORMULA.sub(r"\1'", re.sub(r"[^\S ]", " ", str(value)))


def table(book: Mapping[str, Any], timings: Mapping[str, Any]) -> Any:
    """Return a CSV table with a row for each claim, including the cost of deciding the claim again."""
    stream = io.StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(COLUMNS)
    for entry in book["claims"]:
        verdict, cost = entry["verdict"], timings.get(entry["id"], {})
        printed = (verdict["printed"] or verdict)["status"]
        ratio = "" if verdict["tightness"] is None else verdict["tightness"]
        says = (
            entry["id"],
            entry["paper"],
            entry["cites"],
            entry["kind"],
            verdict["status"],
            printed,
        )
        costs = cost.get("seconds", ""), cost.get("megabytes") or ""
        told = *says, ratio, verdict["certificate"] or "", entry["command"], *costs
        rows.writerow(map(cell, told))
    return stream.getvalue()


def count_statuses(book: Mapping[str, Any]) -> Any:
    """Return {status: number of claims with the status}, for the statuses that a ledger counts."""
    statuses = [entry["verdict"]["status"] for entry in book["claims"]]
    return {status: statuses.count(status) for status in book["counts"]}


def shown_to_page(entry: Any) -> Any:
    """Return the content of a claim's row on the page: the data for the page's script, and the
    cells for the reader."""
    verdict, judged = entry["verdict"], entry["finding"] and entry["finding"]["verdict"]
    experiment, printed = entry["kind"] == EXPERIMENT, (verdict["printed"] or verdict)["status"]
    ratio = "" if verdict["tightness"] is None else f"{float(verdict['tightness']):.6g}"
    said = dict(
        id=entry["id"],
        where=entry["cites"],
        paper=entry["paper"],
        kind=entry["kind"],
        about="experiments" if experiment else "mathematics",
        finding=judged or ("none" if experiment else ""),
        status=verdict["status"],
        printed=printed,
        tight=ratio,
    )
    words = [verdict["status"], judged or ""]
    if printed != verdict["status"]:
        words.insert(1, f"as printed: {printed}")
    cells = [entry[name] for name in ("id", "cites", "paper", "kind")]
    words = [judged or "no figure yet"] if experiment else words
    return said, [*cells, "".join(words), "" if ratio == "nan" else ratio]


def rows(page: Any) -> Any:
    """Return the contents of the rows of a page, in the same form as `shown_to_page`."""
    found = []
    for row in re.findall(r"<tbody (data-id=[^>]*)>(.*?)</tr>", page, re.DOTALL):
        said = {name: html.unescape(v) for name, v in re.findall(r'data-(\w+)="([^"]*)"', row[0])}
        cells = re.findall(r"<td\b[^>]*>(.*?)</td>", row[1], re.DOTALL)
        found.append(
            (said, [html.unescape(re.sub(r"<[^>]*>", "", each)).strip() for each in cells])
        )
    return found


def evidence(tree: Any) -> Any:
    """Yield (file, status) for every certificate that an entry of a ledger names."""
    if isinstance(tree, dict):
        if isinstance(tree.get("certificate"), str):
            yield tree["certificate"], tree.get("status")
        tree = tree.values()
    elif not isinstance(tree, list):
        return
    for part in tree:
        yield from evidence(part)


def unlike(book: Mapping[str, Any], files: Mapping[str, bytes]) -> Any:
    """Return sentences about claims for which two files of a package disagree."""
    found, entries = [], book["claims"]
    read = lambda name, none: json.loads(files[name]) if name in files else none
    if book["counts"] != count_statuses(book):
        found.append("ledger.json: its counts are not those of its claims")
    if files.get("claims.csv") != table(book, read("timings.json", {})).encode():
        found.append("claims.csv: it is not the table of ledger.json and timings.json")
    page = rows(files.get("index.html", b"").decode(errors="replace"))
    tidy = lambda row: (row[0], ["".join(each.split()) for each in row[1]])
    for entry, row in zip(entries, page):
        if tidy(shown_to_page(entry)) != tidy(row):
            found.append(f"index.html: of {entry['id']} it does not say what ledger.json does")
    if len(page) != len(entries):
        found.append(f"index.html: it has {len(page)} claims, and ledger.json {len(entries)}")
    told, plots = {}, {}
    for row in read("figures/findings.json", []):
        told[row["claim"]] = {k: str(row[k]) for k in ("figure", "scale", "verdict", "sentence")}
    for row in read("figures/figures.json", []):
        for claim in row["claims"]:
            plots.setdefault(claim, []).append(row["figure"])
    for entry in entries:
        if entry["finding"] != told.get(entry["id"]):
            found.append(f"{entry['id']}: its finding is not that of figures/findings.json")
        if entry["plots"] != plots.get(entry["id"], []):
            found.append(f"{entry['id']}: its figures are not those of figures/figures.json")
    return found + loose(entries, files)


def loose(entries: Any, files: Mapping[str, bytes]) -> Any:
    """Return sentences about certificates that no claim names, missing certificates that a claim
    names, and statuses that the named certificate does not show."""
    found, wanted = [], set()
    for entry in entries:
        for file, status in evidence(entry["verdict"]):
            wanted.add(file)
            kind = json.loads(files[file]).get("format", "") if file in files else None
            refutes = kind in ("fedtheory counterexample 1", "fedtheory family 1")
            proves = str(kind).startswith("fedtheory proof")
            if kind is None:
                found.append(f"{file}: it is missing")
            elif refutes and status != "violated" or proves and status == "violated":
                found.append(
                    f"{entry['id']}: it is said to be {status}, which {file} does not show"
                )
    for name in sorted(files):
        document = json.loads(files[name]) if name.startswith("certificates/") else None
        graphs = {entry["id"] for entry in entries if entry["rests_on"]}
        if document and name not in wanted:
            if document["format"] != "fedtheory graph 1" or document["claim"] not in graphs:
                found.append(f"{name}: no claim names it")
        of = name.replace("derivations/", "certificates/", 1)
        if name.startswith("derivations/") and of not in files:
            found.append(f"{name}: it derives no certificate that is here")
    return found


def check_names(book: Mapping[str, Any], files: Mapping[str, bytes]) -> Any:
    """Return sentences about certificates that are not about the claim that names them."""
    found = []
    for entry in book["claims"]:
        file = entry["verdict"]["certificate"]
        if file is not None and file in files:
            said = json.loads(files[file]).get("claim", entry["id"])
            if said.partition("!")[0] != entry["id"]:
                found.append(f"{file}: it is of {said!r:.60}, not of {entry['id']}")
        if file is None and entry["verdict"]["status"] in ("violated", "proved"):
            lines = entry["verdict"]["lines"]
            if not any(line["certificate"] for line in lines):
                found.append(f"{entry['id']}: it is {entry['verdict']['status']} without evidence")
    return found


def report_folder(folder: Path) -> Any:
    """Return (sentences about differences; files of accepted certificates; {file: quantities stated
    and not computed} of certificates; files that are not judged)."""
    inside = lambda path: path.relative_to(folder).as_posix()
    files = {
        inside(path): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".results" not in path.parts and path.stat().st_size <= 2**28
    }
    differs, accepted, told, unjudged = check_checksums(files), [], {}, []
    book = json.loads(files["ledger.json"])
    for look in (check_names, steps, unlike):
        try:
            differs += look(book, files)
        except Exception as why:  # any error that a malformed ledger causes
            differs.append(f"ledger.json: {type(why).__name__}: {why}"[:300])
    for name, content in files.items():
        if not name.startswith("certificates/"):
            continue
        try:
            derivation = files.get(name.replace("certificates/", "derivations/", 1), b"[]")
            require(len(content) <= LARGEST and len(derivation) <= LARGEST, "it is too long")
            derivations = json.loads(derivation)
            document = json.loads(content)
            if judge_document(document, derivations):
                accepted.append(name)
            else:
                unjudged.append(f"{name} ({reason_unjudged(document)})")
            if quantities := sorted(
                {each for derivation in derivations for each in derivation["told"]}
            ):
                told[name] = ", ".join(quantities)
        except check_proof.Laborious as why:
            unjudged.append(f"{name} ({why})")
        except Exception as why:  # any error that a malformed document causes
            differs.append(f"{name}: {type(why).__name__}: {why}"[:300])
    return differs, accepted, told, unjudged


def main(arguments: Any) -> Any:
    folder = Path(arguments[0] if arguments else Path(__file__).resolve().parent)
    if not (folder / "ledger.json").is_file():
        print(f"{folder}: here is no package", file=sys.stderr)
        return 2
    differs, accepted, told, unjudged = report_folder(folder)
    for sentence in differs:
        print(f"differs: {sentence}")
    for name, quantities in told.items():
        print(f"accepted, but told and not computed here: {quantities}, in {name}")
    for name in unjudged:
        print(f"not judged: {name}")
    print(
        f"{len(accepted)} certificates accepted, {len(unjudged)} not judged, {len(differs)} differences"
    )
    return 1 if differs else 0


def exit_status(arguments: list[str]) -> Any:
    """Return the exit status, 2 where the result could not be written."""
    try:
        status = main(arguments)
        sys.stdout.flush()
        return status
    except OSError as error:
        where = "" if error.filename is None else f" {error.filename}"
        print(f"the system refuses{where}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(2)  # otherwise Python would try to write it again


if __name__ == "__main__":
    sys.exit(exit_status(sys.argv[1:]))
