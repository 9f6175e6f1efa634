"""A counterexample as a JSON document: everything that `certificate_run` needs to find the violation again."""

from decimal import Decimal
from fractions import Fraction

import sympy

from fedtheory import enclosure
from fedtheory.checks import certificate_run
from fedtheory.checks.settings import conditions
from fedtheory.enclosure.arithmetic import Interval, pair
from fedtheory.symbol import plain


def document(point):
    """The document of a Point at which a line fails, checked before it is handed out."""
    q, hunt = point.hunt.question, point.hunt
    answer = point.breaks()
    claim, setting = q.claim, q.setting
    solved = {name for name, _ in q.solved}
    given = [*q.reals, *(name for name in q.loose if point.numbers[f"slack {name}"] != 1)]
    written = dict(
        format=certificate_run.FORMAT, claim=claim.id, cites=claim.cites, line=q.line, setting=setting.name,
        instance=texts(answer.instance),
        numbers={name: number(answer.values[name]) for name in [*given, *hunt.numbers]},
        symbols=sorted(set(claim.parameters) | set(claim.quantities)),
        statement=dict(
            says=str(claim) if len(claim.lines) == 1 else f"line {q.line + 1} of: {claim}",
            left=formula(q.left), sign=q.sign, right=formula(q.right),
            assumes=[dict(says=plain(r), program=formula(r), **(
                dict(gap=formula(r.lhs - r.rhs)) if isinstance(r, sympy.Eq) and solved & set(q.names(r)) else {}))
                for r in q.relations],
            conditions={name: condition.says for name, condition in conditions(claim).items()},
            domains={name: entry.domain for name, entry in claim.parameters.items()},
            measured={mine: theirs for mine, theirs in q.measured.items() if mine in _used(q)},
            solved=[[name, formula(e)] for name, e in reversed(q.solved)]),
        values={name: approximately(answer.values[name]) for name in
                sorted(set(claim.parameters) | _used(q)) if name in answer.values},
        left=approximately(answer.left), right=approximately(answer.right))
    written["digest"] = certificate_run.digest(written)
    certificate_run.check(written)    # a search that errs is an error, not a verdict
    return written


def speaks_of(written, claim):
    """Whether a document states a line of this claim, under no hypothesis that the claim does not have."""
    if not 0 <= written["line"] < len(claim.lines):
        return False
    left, sign, right = claim.lines[written["line"]]
    said, mine = written["statement"], {entry.name for entry in claim.parameters.values()}
    relations = [claim.expand(a.relation) for a in claim.assumptions if a.relation is not None]
    relations = [part for r in relations for part in (r.args if isinstance(r, sympy.And) else (r,))]
    return (said["left"] == formula(claim.expand(left)) and said["right"] == formula(claim.expand(right))
            and said["sign"] == sign and set(said["domains"]) == mine
            and set(said["conditions"]) == set(conditions(claim))
            and [r["program"] for r in said["assumes"]] == [formula(r) for r in relations if r not in (True, False)])


def _used(q):
    return {name for e in (q.left, q.right, *q.relations) for name in q.names(e) if name in q.measured}


def formula(expr):
    """A formula's program as plain data."""
    return [[op, list(operands), _detail(op, detail)] for op, operands, detail in enclosure.program(expr)]


def _detail(op, detail):
    if op == "number":
        return str(detail)
    return [str(detail[0]), detail[1]] if op == "power" else detail


def texts(tree):
    """Plain data with Fractions as texts."""
    if isinstance(tree, dict):
        return {key: texts(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [texts(value) for value in tree]
    return tree if isinstance(tree, (int, str)) else number(tree)


def number(value):
    return [str(end) for end in value.pair] if isinstance(value, Interval) else str(Fraction(value))


def approximately(value):
    """For the reader: a fraction where it is short, a decimal otherwise."""
    low, high = pair(value)
    if low == high and len(str(low)) <= 24:
        return str(low)
    middle = (low + high) / 2
    try:
        return repr(float(middle))
    except OverflowError:
        return f"{Decimal(middle.numerator) / middle.denominator:.6e}"
