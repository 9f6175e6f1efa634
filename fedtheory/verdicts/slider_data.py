"""A bound as plain data for a page with sliders: its right side, its numeric hypotheses and the
trivial bound beside it as programs, derived from the claim's record, and starting values."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy

from fedtheory import arithmetic
from fedtheory.errors import FedtheoryError
from fedtheory.proofs import meaning, refutation

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

# SYMBOLS: the most symbols that can be moved. STEPS: the most operations of all formulas together.
SYMBOLS, STEPS = 16, 400
NOWHERE = sympy.Le(1, 0, evaluate=False)
LONG = 1000  # the initial number of rounds, if no hypothesis mentions it
# Initial numbers for each domain, if no numbers inside the hypotheses are found.
BEGINNING = {"count": 2, "unit": Fraction(1, 2)}


def slider_data(claim: "Claim") -> dict[str, Any] | None:
    """Return the plain data of a claim's first line; None where the line has no bound that depends
    on numbers.

    >>> from fedtheory import discover
    >>> from fedtheory.verdicts.slider_data import slider_data
    >>> data = slider_data(discover.claim("fsl.theorem2"))
    >>> "eta_l" in data["solved"], data["sign"], "trivial" in data
    (True, '<=', True)
    """
    if not claim.lines or claim.lines[0][1] not in ("<=", "<", ">=", ">"):
        return None
    left, sign, right = claim.lines[0]
    relations = [claim.expand(a.relation) for a in claim.assumptions if a.relation is not None]
    parts = [p for r in relations for p in (r.args if isinstance(r, sympy.And) else (r,))]
    rules = [p for p in parts if p not in (sympy.true, sympy.false)]
    solved, left_over = refutation._solve_equalities(rules)
    bound = claim.expand(right)
    floor, why = trivial_side(claim, left, sign)
    every = [bound, *rules, *([floor] if floor is not None else [])]
    free = set().union(*(e.free_symbols for e in every))
    gone = {symbol for symbol, _ in solved}
    names = sorted(s.name for s in free - gone)
    if (
        not bound.free_symbols
        or not names
        or len(names) > SYMBOLS
        or any(n not in claim.symbols for n in names)
    ):
        return None
    try:
        data = dict(
            sign=sign,
            right=formula_program(bound),
            rules=[[claim.plain(r), formula_program(r)] for r in rules],
            solved={s.name: formula_program(value) for s, value in reversed(solved)},
            start=starting_numbers(claim, names, rules),
            domains={name: claim.symbols[name].domain for name in names},
        )
        if floor is not None:
            data["trivial"] = [why, formula_program(floor)]
    except FedtheoryError:
        return None
    return data if sum(map(len, formula_programs(data))) <= STEPS else None


def formula_programs(data: Mapping[str, Any]) -> list[list[list[Any]]]:
    return [data["right"], *(p for _, p in data["rules"]), *data["solved"].values()]


def trivial_side(claim: "Claim", left: sympy.Expr, sign: str) -> tuple[Any, str]:
    """Return (a bound that the left side always satisfies, the reason) where such a bound is known
    without the claim; (None, "") otherwise."""
    if sign in ("<=", "<"):
        for symbol, value, why in meaning.trivial_bounds(claim):
            factor = left.coeff(symbol)
            if factor != 0 and sympy.expand(left - factor * symbol) == 0:
                return claim.expand(factor * value), why
    return None, ""


def starting_numbers(
    claim: "Claim", names: Sequence[str], rules: Sequence[sympy.Rel]
) -> dict[str, str]:
    """Return numbers inside the hypotheses, as texts; default numbers where none are found."""
    found = refutation.find_violation(NOWHERE, rules, {}, 0) if rules else None
    known = {str(name): Fraction(str(value)) for name, value in (found or {}).items()}
    plain = lambda name: BEGINNING.get(claim.symbols[name].domain, 1)
    start = {name: str(known.get(name, plain(name))) for name in names}
    asked = {symbol.name for rule in rules for symbol in rule.free_symbols}
    return start | {name: str(LONG) for name in ("T", "tau") if name in start and name not in asked}


def formula_program(expr: sympy.Basic) -> list[list[Any]]:
    """Return a formula as a list of [operation, operands, detail], which a program in any language
    can evaluate."""
    steps = []
    for op, operands, detail in arithmetic.compile_expression(expr):
        if op == "number":
            detail = str(detail)
        elif op == "power":
            detail = [str(detail[0]), detail[1]]
        steps.append([op, list(operands), detail])
    return steps
