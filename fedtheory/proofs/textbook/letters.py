"""Tests of whether two claims mean the same by a letter, a method or a constant left open, and of
whether a table's rule may be used.

The name of a letter is not enough: two tables with the same paper's name may define, measure or
bound the letter differently. This module compares the whole records of letters, and also
which number of a run or of a problem a letter stands for.
"""

from collections.abc import Collection, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedtheory import discover
from fedtheory.errors import InvalidInput
from fedtheory.typing import Number

if TYPE_CHECKING:
    import sympy

    from fedtheory.language.claim import Claim
    from fedtheory.language.symbol import Table

SHIPPED = dict(flex="flex", fsl="fsl", lamb="lamb", mixed="mixed", house="run")  # paper -> module


@cache
def shipped_table(paper: str) -> "Table | None":
    """Return this library's table for a paper's name, or None where there is none."""
    name = SHIPPED.get(paper)
    return None if name is None else import_module(f"fedtheory.symbols.{name}").TABLE


def differing_letters(table: "Table", other: "Table", names: "Table | Sequence[str]") -> list[Any]:
    """Return the names of letters that another table defines differently or lacks."""
    return [name for name in names if table.describe(name) != other.describe(name)]


def is_binding(rule: "sympy.Rel", table: "Table") -> bool:
    """Tell whether a rule holds by the meaning of its letters: it must be a rule of this library
    about letters as this library defines them. A rule of a user's table is a hypothesis of the
    claims in its letters instead."""
    own = shipped_table(table.paper)
    names = [symbol.name for symbol in rule.free_symbols]
    return own is not None and rule in own.rules and not differing_letters(own, table, names)


def table_agrees(table: "Table", symbols: Collection[Number]) -> bool:
    """Tell whether a table defines each of some symbols as this library's table of the same paper
    does. Symbols that the library's table lacks belong to the textbook, and must not be letters of
    the table either."""
    own = shipped_table(table.paper)
    names = [symbol.name for symbol in symbols]
    return own is not None and not differing_letters(own, table, names)


# ---------------------------------------------------------------- methods


def claim_methods(claim: "Claim") -> tuple[str, ...]:
    """Return a tuple of the methods that a claim refers to, as the claim gives them: records or
    names."""
    given = claim.algorithm
    return given if isinstance(given, tuple) else () if given is None else (given,)


def same_method(one: str, other: str) -> bool:
    """Tell whether two methods are the same record, or a record and its name."""
    if isinstance(one, str) == isinstance(other, str):
        return one == other if isinstance(one, str) else one is other
    name, record = (one, other) if isinstance(one, str) else (other, one)
    try:
        return discover.algorithm(name) is record
    except InvalidInput:
        return False


def covers_methods(claim: "Claim", known: Sequence[str]) -> bool:
    """Tell whether each method that a claim refers to is among the known methods."""
    return all(any(same_method(one, other) for other in known) for one in claim_methods(claim))


# ---------------------------------------------------------------- open constants


def reopened_constant(
    claim: "Claim", premises: "Sequence[Claim]", everywhere: "Sequence[Claim]"
) -> Any:
    """Return the name of a constant that a premise of a step leaves open and that another claim of
    the step uses in a different sense, or None. `everywhere` holds the premises of all lines.

    A premise that says "for some c" has a c of its own. A claim that also leaves c open may use the
    c of one premise. Then all lines of the claim use this c, and the claim demands no more of c
    than the premise does.
    """
    for other in premises:
        for name in other.left_open:
            shared = name in claim.symbols
            rivals = [one for one in (everywhere if shared else premises) if one is not other]
            if any(name in one.symbols for one in rivals):
                return name
            if shared and name not in claim.left_open:
                return name
            if shared and not letter_bounds(claim, name) <= letter_bounds(other, name):
                return name
    return None


def letter_bounds(claim: "Claim", name: str) -> "set[sympy.Rel]":
    """Return the relations that a claim assumes about a letter."""
    found = [a.relation for a in claim.assumptions if a.relation is not None]
    return {r for r in found if name in {s.name for s in claim.expand(r).free_symbols}}
