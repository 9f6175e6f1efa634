"""Variants of recorded claims, drawn at random: as true as the claim from which they are made, or
certainly false.

A weaker bound, a weaker relation, fewer lines and more hypotheses keep a claim true: if such a
variant is violated, so is its base claim, at the same instance. A claim that assumes less may fail,
but only where the dropped hypothesis fails too. A bound below the value that an instance attains is
false, whatever a proof says. Formulas are judged here by SymPy and mpmath, which take no part in a
verdict.
"""

from fractions import Fraction
from random import Random
from typing import NamedTuple

import sympy

from fedtheory.certificates.check_instance import read_numbers
from fedtheory.language.printing import plain
from fedtheory.models import by_name, fitting
from fedtheory.search.exact_instances import draw_case

DIGITS = 60
TINY = Fraction(1, 10**40)
SCALES = [
    sympy.Rational(n, d)
    for n, d in ((1, 1), (1, 2), (2, 1), (3, 1), (1, 10), (101, 100), (7, 3), (100, 1))
]
FACTORS = [1 + scale for scale in SCALES]


class Relative(NamedTuple):
    claim: object
    base: object
    kind: str  # "weaker", "removed" or "false"
    says: str  # the change, in words
    dropped: tuple = ()  # Assumptions of the base that the variant lacks


# ---------------------------------------------------------------- variants that stay true


def weaken(base, random):
    """Draw a variant (`Relative`) that the base implies: one to three changes, each of which
    weakens the claim."""
    claim, said = base, []
    for n in range(random.choice((1, 1, 2, 3))):
        change = random.choice((weaker_line, weaker_line, weaker_line, fewer_lines, more_assumed))
        claim, what = change(claim, random)
        said += [what] if what else []
    if not said:
        claim, what = weaker_line(claim, random)
        said = [what]
    return Relative(claim.replace(name=f"{base.id}.weaker"), base, "weaker", "; ".join(said))


def weaker_line(claim, random):
    lines = list(claim.lines)
    at = random.randrange(len(lines))
    left, sign, right = lines[at]
    more = nonnegative_term(
        claim, random, claim.expand(right).free_symbols if sign == "O" else None
    )
    factor = random.choice(FACTORS)
    if sign == "==":
        sign = random.choice(("<=", ">="))
    if sign == "O":
        ways = [
            (left, sign, right + more),
            (left, sign, factor * right),
            (left, sign, right / factor),
        ]
    elif sign in ("<=", "<"):
        ways = [(left, sign, right + more), (left - more, sign, right), (left, "<=", right)]
        ways += [(left, sign, factor * right)] * 2 if right.is_nonnegative else []
        ways += [(left / factor, sign, right)] if left.is_nonnegative else []
    else:
        ways = [(left, sign, right - more), (left + more, sign, right), (left, ">=", right)]
        ways += [(left, sign, right / factor)] * 2 if right.is_nonnegative else []
        ways += [(factor * left, sign, right)] if left.is_nonnegative else []
    lines[at] = random.choice(ways)
    return with_lines(claim, lines), f"line {at + 1}: " + show_line(lines[at])


def show_line(line):
    left, sign, right = line
    return f"{plain(left)} {sign} {plain(right)}"


def nonnegative_term(claim, random, mentioned=None):
    """Draw a term that is always nonnegative, from symbols of the claim, so that the term can be
    measured where the claim can. For an order, only symbols in `mentioned` are used, since the
    order's constant may depend on all other symbols."""
    known = [entry.symbol for entry in claim.parameters.values() if entry.symbol.is_nonnegative]
    measured = [entry.symbol**2 for entry in claim.quantities.values()]
    if mentioned is not None:
        known, measured = [s for s in known if s in mentioned], []
    total = random.choice(SCALES)
    for _ in range(random.choice((0, 1, 1, 2))):
        total *= random.choice([*known, *known, *measured] or [sympy.Integer(1)]) ** random.choice(
            (1, 1, 2)
        )
    return total


def with_lines(claim, lines):
    (left, sign, right), *also = lines
    return claim.replace(measures=left, relation=sign, bound=right, also=tuple(also))


def fewer_lines(claim, random):
    lines = list(claim.lines)
    if len(lines) < 2:
        return claim, ""
    kept = sorted(random.sample(range(len(lines)), random.randint(1, len(lines) - 1)))
    return with_lines(claim, [lines[k] for k in kept]), f"lines {[k + 1 for k in kept]} alone"


def more_assumed(claim, random):
    if not claim.parameters:
        return claim, ""
    entry = random.choice(list(claim.parameters.values()))
    size = random.choice(SCALES)
    relation = (sympy.Ge if random.random() < 0.3 else sympy.Le)(
        entry.symbol, size if entry.domain != "count" else max(1, int(size)), evaluate=False
    )
    if entry.domain == "count" and random.random() < 0.3:
        relation = sympy.Eq(entry.symbol, random.choice((1, 2)), evaluate=False)
    return claim.replace(
        assumptions=[*claim.assumes, *claim.unstated, relation]
    ), f"assuming {plain(relation)}"


# ---------------------------------------------------------------- variants that may fail, and false variants


def remove_hypotheses(base, random):
    """Draw a variant (`Relative`) without one to three of the base's hypotheses; return None where
    the base has no hypotheses."""
    own = [*base.assumes, *base.unstated]
    if not own:
        return None
    names = sorted({a.name for a in random.sample(own, min(len(own), random.choice((1, 1, 2, 3))))})
    dropped = tuple(a for a in own if a.name in names or a.where in names)
    claim = base.without(*names).replace(name=f"{base.id}.removed")
    return Relative(claim, base, "removed", "without " + ", ".join(names), dropped)


def strengthen(base, line, ratio, random):
    """Draw a false variant (`Relative`) whose bound is tightened to less than the share that an
    instance attains; a ratio above 1 counts as 1. Return None where a side may be negative."""
    lines = [base.lines[line]]
    left, sign, right = lines[0]
    if (
        sign not in ("<=", ">=", "<", ">")
        or not (left.is_nonnegative and right.is_nonnegative)
        or not ratio > 1e-3
        or right == 0
    ):
        return None
    share = sympy.Rational(
        Fraction(min(float(ratio), 1.0)).limit_denominator(10**6)
    ) * random.choice([sympy.Rational(n, 100) for n in (50, 80, 95, 99)])
    right = right * share if sign in ("<=", "<") else right / share
    return Relative(
        with_lines(base, [(left, sign, right)]).replace(name=f"{base.id}.false"),
        base,
        "false",
        f"line {line + 1}: {show_line((left, sign, right))}",
    )


# ---------------------------------------------------------------- independent judgement


def value_of(claim, expr, values):
    """Return the value of an expression at numbers, computed by SymPy as a Float of DIGITS digits."""
    expr = claim.expand(expr)
    return expr.subs({s: values[s.name] for s in expr.free_symbols}, simultaneous=True).evalf(
        DIGITS
    )


def at_numbers(case_values):
    return {
        name: sympy.Rational(number.numerator, number.denominator)
        if isinstance(number, (int, Fraction))
        else sympy.Float(number, DIGITS)
        for name, number in case_values.items()
    }


def fails(claim, line, values):
    """Tell whether a line fails by more than rounding at given values of all its symbols; None
    where the line has no value there."""
    left, sign, right = claim.lines[line]
    if sign == "O":
        return None
    try:
        a, b = value_of(claim, left, values), value_of(claim, right, values)
        scale = max(abs(a), abs(b), sympy.Float(1e-30)) * sympy.Float(10) ** -12
        gap = a - b
        return bool(
            {
                "<=": gap > scale,
                "<": gap > scale,
                ">=": gap < -scale,
                ">": gap < -scale,
                "==": abs(gap) > scale,
            }[sign]
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None


def meets_hypothesis(claim, assumption, values, held):
    """Tell whether a hypothesis holds at given values, in an instance that meets the conditions
    `held`; None where that is not known."""
    if assumption.condition is not None:
        return assumption.name in held
    relation = claim.expand(assumption.relation)
    try:
        known = {s: values[s.name] for s in relation.free_symbols}
        if isinstance(relation, sympy.Eq):
            return bool(
                abs((relation.lhs - relation.rhs).subs(known).evalf(DIGITS))
                < sympy.Float(10) ** -20
            )
        return bool(relation.subs(known))
    except (KeyError, TypeError, ValueError):  # 1/gamma has no value where gamma vanishes
        return None


def drawn_cases(claim, count, seed):
    """Draw instances inside a claim's hypotheses, and return [(values of the claim's symbols, names
    of the conditions that hold)]."""
    found = []
    for setting in fitting(claim) if all(sign != "O" for _, sign, _ in claim.lines) else ():
        for n in range(count):
            case = draw_case(claim, setting.name, seed + n)
            if case is not None:
                held = setting.ensures if setting.holds is None else setting.holds(case.instance)
                found.append((at_numbers(case.values), held))
    return found


def objection(relative, verdict, cases=()):
    """Return why a verdict on a variant is wrong, or "" if nothing speaks against the verdict;
    `cases` are the `drawn_cases` of the base."""
    claim, base, status = relative.claim, relative.base, verdict.status
    if (
        verdict.tightness is not None
        and verdict.tightness > 1
        and status in ("holds", "proved", "vacuous")
    ):
        return f"{status} beside a tightness of {float(verdict.tightness)}"
    if relative.kind == "false":
        return f"a false claim is {status}" if status in ("proved", "vacuous") else ""
    if status == "violated" and relative.kind == "weaker":
        return "it follows from a claim that is not violated"
    if status == "violated":
        document = verdict.certificate
        if document.get("format") != "fedtheory counterexample 1":
            return ""  # an order fails along a family, and no single member shows the failure
        instance, setting = read_numbers(document["instance"]), by_name(document["setting"])
        held = setting.ensures if setting.holds is None else setting.holds(instance)
        values = {}
        for name, text in {**document["values"], **document["numbers"]}.items():
            if isinstance(text, str):
                values[name.removeprefix("any_")] = (
                    sympy.Rational(text)
                    if "." not in text and "e" not in text
                    else sympy.Float(text, DIGITS)
                )
        gone = {a.name: meets_hypothesis(base, a, values, held) for a in relative.dropped}
        freed = [name for name in document["values"] if name.startswith("any_")]
        if all(gone.values()) and gone and not freed:
            return f"its counterexample meets what was dropped: {', '.join(gone)}"
    if status in ("proved", "holds"):
        for values, held in cases:
            mine = {**values, **{f"any_{name}": number for name, number in values.items()}}
            if all(meets_hypothesis(claim, a, mine, held) is True for a in claim.assumptions):
                for line in range(len(claim.lines)):
                    if fails(claim, line, mine):
                        return f"{status}, but line {line + 1} fails at {{{', '.join(f'{k}: {v}' for k, v in values.items())}}}"
    if status == "vacuous" and "contradict" in verdict.why:
        for values, held in cases:
            if all(meets_hypothesis(claim, a, values, held) is True for a in claim.assumptions):
                return f"vacuous, but its hypotheses hold at {values}"
    return ""


def drawn_relative(bases, seed, n):
    """Return the n-th variant (`Relative`) of a seed: a pure function of seed and n, and of the
    bases [(claim, verdict)] in their order."""
    random = Random(f"relatives/{seed}/{n}")
    for _ in range(100):
        claim, verdict = random.choice(bases)
        kind = random.choice(("weaker", "weaker", "removed", "false"))
        found = None
        if kind == "false" and verdict.tightness is not None and len(claim.lines) == 1:
            found = strengthen(claim, 0, verdict.tightness, random)
        elif kind == "weaker" and verdict.status != "violated":
            found = weaken(claim, random)
        elif kind == "removed" and verdict.status != "violated":
            found = remove_hypotheses(claim, random)
        if found is not None:
            return found
    raise AssertionError("no relative can be made of these claims")
