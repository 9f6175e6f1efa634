"""Instances of textbook facts for measured quantities: the definitions of a paper, and its uses of
a fact.

The expectation of a squared norm or of an inner product is itself a squared norm or an inner
product in the space that `axioms` describes. The vectors of this space are random vectors over a
round. Where the text takes a mean, a step, a client or a cohort member is drawn uniformly. Each
relation names the leaf or axiom of which it is an instance, and the hypotheses that it needs. The
tests in `tests/proofs/textbook/` compare all relations with computed rounds.
"""

from collections.abc import Mapping, Sequence, Set
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy

from fedtheory.errors import refuse
from fedtheory.language.conditions import ALL, Condition
from fedtheory.language.symbol import Table
from fedtheory.proofs import algebra
from fedtheory.proofs.textbook import letters, proof_cache
from fedtheory.proofs.textbook.axioms import AXIOMS
from fedtheory.proofs.textbook.lemmas import LEAVES, Leaf, Part

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

PREFIX = "textbook."
NAMES: dict[str, Leaf | str] = {leaf.id: leaf for leaf in LEAVES}
NAMES |= {PREFIX + name: name for name in AXIOMS}
PAPERS = ("flex", "fsl", "lamb", "mixed")  # the papers whose proofs use textbook facts


class Fact(NamedTuple):
    """An instance of a leaf or an axiom for measured quantities and inner products."""

    name: str  # the name of the leaf or axiom, "textbook...."
    relation: Any
    needs: tuple[Any, ...] = ()  # the conditions under which the relation holds


def facts_of(table: Table) -> tuple[Fact, ...]:
    """Return the facts in the letters of a table: the facts of its paper whose letters the table
    defines as this library does."""
    found = getattr(_facts_module(table), "FACTS", ())
    return tuple(fact for fact in found if _holds_in_table(fact, table))


def _facts_module(table: Table) -> Any:
    """Return the module of textbook facts in the letters of a table's paper, or None for a paper
    without such a module."""
    known = table.paper in PAPERS
    return import_module(f"fedtheory.proofs.textbook.{table.paper}") if known else None


def _holds_in_table(fact: Fact, table: Table) -> bool:
    """Tell whether a table defines all letters of a fact as this library's table does."""
    return letters.table_agrees(table, fact.relation.free_symbols)


def average_line(claim: "Claim", at: int) -> sympy.Rel | None:
    """Return a line of one round as a relation between means over rounds. Return None where the
    line is not linear in the measured quantities, measures a quantity without such a mean, or is
    not known to hold in every round.

    A line holds for every start of the round if nothing that the claim assumes or names depends on
    the start. Then the claim's hypotheses are relations between numbers that all rounds share, or
    conditions on the problem and on participation.
    """
    room = _facts_module(claim.table)
    means = getattr(room, "ROUNDS", {})
    left, sign, right = claim.lines[at]
    measured = {entry.symbol for entry in claim.quantities.values()}
    gap = sympy.expand(claim.expand(right - left))
    slopes = [sympy.diff(gap, symbol) for symbol in measured]
    if not measured <= set(means) or any(slope.free_symbols & measured for slope in slopes):
        return None
    if not _of_every_round(claim, measured, room) or not _stands_in(means, claim.table):
        return None
    return algebra.make_relation(left.xreplace(means), sign, right.xreplace(means))


def _of_every_round(claim: "Claim", measured: Set[sympy.Symbol], room: ModuleType) -> bool:
    """Tell whether a claim's statement about one round holds for every round."""
    relations = [claim.expand(a.relation) for a in claim.assumptions if a.relation is not None]
    conditions = {a.condition for a in claim.assumptions if a.condition is not None}
    return (
        bool(letters.claim_methods(claim))
        and letters.covers_methods(claim, room.EACH_ROUND)
        and not any(relation.free_symbols & measured for relation in relations)
        and conditions <= {*ALL.values(), *room.STEADY}
        and not claim.left_open
        and letters.table_agrees(claim.table, [entry.symbol for entry in claim.symbols.values()])
    )


def _stands_in(means: Mapping[sympy.Symbol, sympy.Symbol], table: Table) -> bool:
    """Tell whether a table defines the letters of the means over rounds as this library does, and
    uses none of the textbook's own symbols as a letter."""
    return letters.table_agrees(table, {*means, *means.values()})


def stronger_conditions(table: Table) -> tuple[tuple[Condition, Condition], ...]:
    """Return pairs of conditions of a paper in which the first condition implies the second."""
    return getattr(_facts_module(table), "STRONGER", ())


def usable_facts(
    claims: "Sequence[Claim]", names: Set[str], conditions: Sequence[Condition]
) -> list[Fact]:
    """Return the facts that a step may use: definitions and instances of the named facts. A fact
    must concern quantities that the claims measure and methods of the line, and its conditions must
    be among the given ones."""
    if not names:
        return []
    measured = {entry.symbol for claim in claims for entry in claim.quantities.values()}
    quantities = {e.symbol for c in claims for e in c.table.values() if e.measure is not None}
    of_a_run = {e.symbol for e in claims[0].table.values() if e.measure and e.measure.of_a_run}
    wanted = {*names, PREFIX + "definition"}
    room = _facts_module(claims[0].table)
    if room is None or not letters.covers_methods(claims[0], room.METHODS):
        return []
    return [
        fact
        for fact in facts_of(claims[0].table)
        if fact.name in wanted
        and fact.relation.free_symbols & quantities <= measured
        and all(need in conditions for need in fact.needs)
        and (letters.claim_methods(claims[0]) or not fact.relation.free_symbols & of_a_run)
    ]


def is_textbook_name(name: str) -> bool:
    """Tell whether a name is that of a leaf or of an axiom. Refuses an unknown name that begins
    with the textbook's prefix."""
    if isinstance(name, str) and name.startswith(PREFIX):
        if name not in NAMES:
            refuse("a textbook fact", f"must be one of {', '.join(NAMES)}", name)
        return True
    return False


@cache
def fact_documents(name: str) -> tuple[dict[str, Any], ...]:
    """Return the documents of the parts of a textbook fact; an axiom has none."""
    leaf = NAMES[name]
    return () if isinstance(leaf, str) else tuple(map(part_proof, leaf.parts))


def part_proof(part: Part) -> dict[str, Any]:
    """Return the document that proves a part of a textbook fact. Raises RuntimeError where no proof
    is found."""
    found = proof_cache.load_proof(part.shows, part.given, {}, 1.0)
    if found is None:
        raise RuntimeError(f"no proof was found of a textbook fact: {part.says}")
    return found


__all__ = [
    "AXIOMS",
    "Fact",
    "NAMES",
    "average_line",
    "fact_documents",
    "is_textbook_name",
    "facts_of",
    "part_proof",
    "usable_facts",
]
