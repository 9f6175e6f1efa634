"""Checks of user input for claims before any claim is built: names, formulas, hypotheses.

Each function returns its argument in the form that a record stores, or raises InvalidInput with one
sentence, in which `whose` names the claim.
"""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanAtom

from fedtheory.arguments import is_iterable
from fedtheory.errors import refuse
from fedtheory.language import names
from fedtheory.language.conditions import Along, Assumption, Condition, Confined, Root, Rule
from fedtheory.language.names import LONGEST
from fedtheory.language.symbol import Table

DIGITS = 4000  # digits of a number, as in certificates; longer numbers are not written down
HYPOTHESIS = "must be a SymPy relation, an And of relations, a Condition or an Assumption"


def check_identity(name: str) -> str:
    """Return a claim's name, or refuse a name that is not well formed."""
    if not names.well_formed(name):
        refuse("a claim's id", names.RULE, name)
    return name


def check_formula(whose: str, value: sympy.Expr | int) -> sympy.Expr:
    """Return a number or a SymPy expression as a SymPy expression. Text is refused, never parsed."""
    plain = isinstance(value, (sympy.Expr, Real)) and not isinstance(value, bool)
    found = sympy.sympify(value, strict=True) if plain else None
    if (
        not isinstance(found, sympy.Expr)
        or not found.is_commutative
        or found.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I)
    ):
        refuse(
            whose,
            "must be a finite real number, or a SymPy expression of finite real numbers and symbols",
            value,
        )
    check_digits(whose, found)
    return found


def check_digits(whose: str, value: sympy.Basic) -> None:
    """Refuse an expression with a number too long to be written down (more than DIGITS digits)."""
    longest = max(
        (int(max(abs(n.p), n.q)).bit_length() for n in value.atoms(sympy.Rational)), default=0
    )
    if longest > DIGITS * 3.3219:
        refuse(
            f"{whose}: its numbers",
            f"must have at most {DIGITS} digits",
            f"a number of about {longest / 3.3219:.0f} digits",
        )


def check_hypotheses(whose: str, given: Sequence[Any], stated: bool) -> tuple[Assumption, ...]:
    """Return one or several hypotheses as Assumptions."""
    if isinstance(
        given, (str, bytes, Mapping, Condition, Assumption, sympy.Basic)
    ) or not is_iterable(given):
        refuse(whose, "must be a sequence of hypotheses", given)
    return tuple(_check_hypothesis(whose, each, stated) for each in given)


def _check_hypothesis(
    whose: str, given: sympy.Rel | Assumption | Condition, stated: bool
) -> Assumption:
    """Return one hypothesis as an Assumption, or refuse it."""
    holds = given.holds if isinstance(given, Assumption) else given
    sound = _is_condition(holds) if isinstance(holds, Condition) else _is_relation(holds)
    if (
        not sound
        or isinstance(given, Assumption)
        and not (isinstance(given.where, str) and isinstance(given.note, str))
    ):
        refuse(f"{whose}: a hypothesis", HYPOTHESIS, holds)
    if isinstance(holds, sympy.Basic):
        check_digits(f"{whose}: a hypothesis", holds)
    if isinstance(given, Rule):  # an assumption that may come from another claim's table
        return Assumption(given.holds, given.where, given.stated, given.note)
    return given if isinstance(given, Assumption) else Assumption(given, stated=stated)


def _is_condition(given: Any) -> bool:
    """Tell whether the fields of a Condition have the right types."""
    return (
        all(isinstance(text, str) and text for text in (given.name, given.says))
        and (callable(given.holds) or given.holds is None and given.on is not None)
        and (callable(given.on) or given.on is None)
        and isinstance(given.constants, tuple)
        and all(isinstance(name, str) for name in given.constants)
        and isinstance(given.means, tuple)
        and all(isinstance(meaning, (Along, Root, Confined)) for meaning in given.means)
    )


def _is_relation(given: sympy.Rel) -> bool:
    """Tell whether a value is a relation between numbers. SymPy turns some relations into true or
    false, which therefore count."""
    if isinstance(given, sympy.And):
        return all(map(_is_relation, given.args))
    return (
        isinstance(given, BooleanAtom)
        or isinstance(given, Relational)
        and all(isinstance(side, sympy.Expr) for side in given.args)
    )


def check_line(
    whose: str, given: tuple[sympy.Expr, str, sympy.Expr | int], signs: Mapping[str, str]
) -> tuple[sympy.Expr, str, sympy.Expr]:
    """Return a further line of a claim as (left, relation, right)."""
    if not isinstance(given, (tuple, list)) or len(given) != 3 or given[1] not in signs:
        refuse(
            f"{whose}: a line",
            f"must be (left, relation, right), its relation one of {', '.join(signs)}",
            given,
        )
    left, sign, right = given
    return (
        check_formula(f"{whose}: a line's left side", left),
        sign,
        check_formula(f"{whose}: a line's right side", right),
    )


def check_algorithm(whose: str, given: Any) -> Any:
    """Return the algorithm of which a claim speaks, or several, as records or names."""
    several = given if isinstance(given, (tuple, list)) else () if given is None else (given,)
    for each in several:
        if not isinstance(getattr(each, "name", each), str):
            refuse(
                f"{whose}: algorithm",
                "must be a method, the name of a method, or a list of these",
                given,
            )
    return tuple(given) if isinstance(given, list) else given


def check_table(whose: str, given: Table) -> Table:
    """Return a claim's table of symbols; refuse anything but a Table."""
    if not isinstance(given, Table):
        refuse(f"{whose}: symbols", "must be a Table", given)
    return given


def check_values(whose: str, given: Mapping[str, Any] | None) -> Any:
    """Return a mapping of symbols or names to numbers; refuse anything but a mapping."""
    if not isinstance(given, Mapping):
        refuse(f"{whose}: values", "must be a mapping of names to numbers", given)
    return given


def check_place(whose: str, given: Any, number: int) -> int:
    """Return the index of one of a claim's lines, counted from 0."""
    if isinstance(given, bool) or not isinstance(given, Integral) or not 0 <= int(given) < number:
        refuse(f"{whose}: line", f"must be an integer from 0 to {number - 1}", given)
    return int(given)


def check_premises(
    whose: str, given: Mapping[int, tuple[str, ...]] | Sequence[str], number: int
) -> dict[int, tuple[str, ...]]:
    """Return the premises from which lines follow: names for every line, or names by the number of
    the line, counted from 1."""
    if isinstance(given, Mapping):
        wrong = [n for n in given if type(n) is not int or not 1 <= n <= number]
        if wrong:
            refuse(f"{whose}: follows", f"must name lines from 1 to {number}", wrong[0])
        return {n: _check_names(whose, some) for n, some in given.items()}
    some = _check_names(whose, given)
    return dict.fromkeys(range(1, number + 1), some) if some else {}


def _check_names(whose: str, given: Sequence[str]) -> tuple[str, ...]:
    """Return the premises of a line as a tuple without repetitions; refuse anything but ids and
    claims."""
    sound = isinstance(given, (tuple, list)) and all(
        isinstance(one, str) and 0 < len(one) <= LONGEST or hasattr(one, "lines") for one in given
    )
    if not sound:
        refuse(
            f"{whose}: follows",
            "must be a sequence of claims, ids of claims and ids of textbook facts",
            given,
        )
    return tuple(dict.fromkeys(given))
