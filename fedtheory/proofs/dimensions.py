"""Dimensional check: tells whether both sides of a claim have one unit, and names the place where
units clash.

A unit is a pair of powers: the power of the unit of points and the power of the unit of losses. A
bound that is not homogeneous hides a constant with a unit, or is misprinted.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy

from fedtheory.errors import FedtheoryError
from fedtheory.language.printing import plain
from fedtheory.language.symbol import PLAIN, Table

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim


class Inhomogeneous(FedtheoryError):
    """An error for terms of different units that are added or compared; `terms` names the terms,
    without the sum or relation around them."""

    def __init__(self, terms: str, where: sympy.Basic | None = None) -> None:
        super().__init__(terms if where is None else f"in {plain(where)}, {terms}")
        self.terms = terms


def expression_unit(expr: sympy.Expr, table: Table) -> tuple[Any, ...] | None:
    """Return (power of the point, power of the loss) of an expression, or None for zero, which has
    any unit."""
    if expr.is_Symbol:
        return tuple(map(Fraction, table[expr.name].unit))
    if expr.is_number:
        return None if expr == 0 else (Fraction(0), Fraction(0))
    if expr.is_Mul:
        units = [expression_unit(factor, table) for factor in expr.args]
        return None if None in units else tuple(map(sum, zip(*units)))
    if expr.is_Pow:
        base = expression_unit(expr.base, table)
        if expr.exp.is_Rational:
            power = Fraction(int(expr.exp.p), int(expr.exp.q))
            return base and (base[0] * power, base[1] * power)
        _require_plain((expr.base, base), (expr.exp, expression_unit(expr.exp, table)))
        return Fraction(0), Fraction(0)
    if expr.is_Add or isinstance(expr, (sympy.Min, sympy.Max, sympy.Piecewise)):
        parts = (
            [value for value, _ in expr.args] if isinstance(expr, sympy.Piecewise) else expr.args
        )
        return _common_unit([(part, expression_unit(part, table)) for part in parts], expr)
    if isinstance(expr, sympy.Abs):
        return expression_unit(expr.args[0], table)
    _require_plain(*((argument, expression_unit(argument, table)) for argument in expr.args))
    return Fraction(0), Fraction(0)


def _require_plain(*pairs: tuple[Any, ...]) -> None:
    """Raise Inhomogeneous where an expression with a unit stands in place of a plain number."""
    for part, found in pairs:
        if found not in (None, (0, 0)):
            raise Inhomogeneous(
                f"{plain(part)} has unit {show_unit(found)} where a plain number is needed"
            )


def _common_unit(pairs: Sequence[tuple[sympy.Expr, Any]], expr: sympy.Basic) -> Any:
    """Return the unit that all parts have, None if all are 0; raise Inhomogeneous otherwise."""
    known = [(part, found) for part, found in pairs if found is not None]
    for part, found in known[1:]:
        if found != known[0][1]:
            raise Inhomogeneous(
                f"{plain(known[0][0])} has unit {show_unit(known[0][1])} "
                f"and {plain(part)} has unit {show_unit(found)}",
                expr,
            )
    return known[0][1] if known else None


def show_unit(found: tuple[Fraction, Fraction]) -> str:
    """Return a unit as text, such as `x^-2 f`; a plain number has the unit 1."""
    point, loss = found
    parts = [
        f"{name}^{power}" if power != 1 else name
        for name, power in (("x", point), ("f", loss))
        if power
    ]
    return " ".join(parts) or "1"


LONGEST = 80  # characters of the longest sum that a message repeats beside its two terms


def unit_clashes(claim: "Claim") -> list[str]:
    """Return one sentence for each inhomogeneous line, assumption between symbols, or definition of
    a claim."""
    return [str(error) for error in _find_inhomogeneous(claim)]


def unit_notes(claim: "Claim") -> list[str]:
    """Return the notes on clashing units for a verdict: each pair of terms once, with the
    surrounding sum where that is short. A claim whose letters have no units gets no notes."""
    given = any(e.unit != PLAIN for e in claim.table.values() if e.measure is None)
    errors = {error.terms: error for error in _find_inhomogeneous(claim)} if given else {}
    said = [str(e) if len(str(e)) - len(e.terms) <= LONGEST else e.terms for e in errors.values()]
    return [f"Units clash (x of a point, f of a loss): {text}" for text in said]


def _find_inhomogeneous(claim: "Claim") -> list[Inhomogeneous]:
    """Return the errors of all definitions, lines and assumed relations of a claim."""
    found = []

    def attempt(check: Callable[..., Any]) -> None:
        try:
            check()
        except Inhomogeneous as error:
            found.append(error)

    for symbol, definition in claim.definitions.items():
        attempt(
            lambda: _common_unit(
                [
                    (symbol, expression_unit(symbol, claim.table)),
                    (definition, expression_unit(definition, claim.table)),
                ],
                sympy.Eq(symbol, definition, evaluate=False),
            )
        )
    for left, sign, right in claim.lines:
        relation = sympy.Le(left, right, evaluate=False)
        attempt(
            lambda: _common_unit(
                [
                    (left, expression_unit(left, claim.table)),
                    (right, expression_unit(right, claim.table)),
                ],
                relation,
            )
        )
    for assumption in claim.assumptions:
        relation = assumption.relation
        if relation is not None and relation not in (sympy.true, sympy.false):
            attempt(
                lambda: _common_unit(
                    [
                        (relation.lhs, expression_unit(relation.lhs, claim.table)),
                        (relation.rhs, expression_unit(relation.rhs, claim.table)),
                    ],
                    relation,
                )
            )
    return found
