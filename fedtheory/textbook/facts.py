"""What textbook facts say of measured quantities: definitions of a paper, and its uses of a fact.

A quantity that is the expectation of a squared norm or of an inner product is one of vectors in the
space that `axioms` describes: random vectors over a round, with a step, a client or a member of the
cohort drawn uniformly where the text takes a mean. Each relation says which leaf or axiom it is an
instance of and which hypotheses it needs; `tests/textbook/` holds all of them to computed rounds.
"""

from functools import cache
from importlib import import_module
from typing import NamedTuple

import sympy

from fedtheory.errors import refuse
from fedtheory.proofs import algebra
from fedtheory.textbook import kept
from fedtheory.textbook.axioms import AXIOMS
from fedtheory.textbook.leaves import LEAVES

PREFIX = "textbook."
NAMES = {**{leaf.id: leaf for leaf in LEAVES}, **{PREFIX + name: name for name in AXIOMS}}
PAPERS = ("flex", "fsl", "lamb", "mixed")  # those whose proofs use any


class Fact(NamedTuple):
    """An instance of a leaf or an axiom between measured quantities and inner products."""

    name: str  # of the leaf or axiom, "textbook...."
    relation: object
    needs: tuple = ()  # the conditions under which it holds


def of(table):
    """The facts in the letters of a table: those of its paper."""
    known = table.paper in PAPERS
    return import_module(f"fedtheory.textbook.{table.paper}").FACTS if known else ()


def averaged(claim, at, table):
    """A line of one round as it holds of means over rounds; None where it is not linear in what is
    measured, or measures what has no mean here."""
    known = table.paper in PAPERS
    means = (
        getattr(import_module(f"fedtheory.textbook.{table.paper}"), "ROUNDS", {}) if known else {}
    )
    left, sign, right = claim.lines[at]
    measured = {entry.symbol for entry in claim.quantities.values()}
    gap = sympy.expand(claim.expand(right - left))
    slopes = [sympy.diff(gap, symbol) for symbol in measured]
    if not measured <= set(means) or any(slope.free_symbols & measured for slope in slopes):
        return None
    return algebra.related(left.xreplace(means), sign, right.xreplace(means))


def stronger(table):
    """Pairs of conditions of a paper, of which the first says no less than the second."""
    known = table.paper in PAPERS
    return (
        getattr(import_module(f"fedtheory.textbook.{table.paper}"), "STRONGER", ()) if known else ()
    )


def usable(claims, names, conditions):
    """The facts that a step may use: instances of what is named, and with them definitions, whose
    conditions are among those at hand, about what the claims measure."""
    if not names:
        return []
    measured = {entry.symbol for claim in claims for entry in claim.quantities.values()}
    quantities = {e.symbol for c in claims for e in c.table.values() if e.measure is not None}
    wanted = {*names, PREFIX + "definition"}
    return [
        fact
        for fact in of(claims[0].table)
        if fact.name in wanted
        and fact.relation.free_symbols & quantities <= measured
        and all(need in conditions for need in fact.needs)
    ]


def known(name):
    """Whether a name is that of a leaf or of an axiom."""
    if isinstance(name, str) and name.startswith(PREFIX):
        if name not in NAMES:
            refuse("a textbook fact", f"must be one of {', '.join(NAMES)}", name)
        return True
    return False


@cache
def documents(name):
    """The documents of a textbook fact's parts; of an axiom there are none."""
    leaf = NAMES[name]
    return () if isinstance(leaf, str) else tuple(map(proof, leaf.parts))


def proof(part):
    """The document of a part of a textbook fact."""
    found = kept.decided(part.shows, part.given, {}, 1.0)
    if found is None:
        raise RuntimeError(f"no proof was found of a textbook fact: {part.says}")
    return found


__all__ = ["AXIOMS", "Fact", "NAMES", "averaged", "documents", "known", "of", "proof", "usable"]
