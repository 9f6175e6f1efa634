"""When two claims mean the same by a letter, a method, or a constant that is left open; what a rule of
a table is worth.

A name says nothing: two tables of one paper's name may define, measure or bound a letter otherwise.
Here letters are compared as the records that they are, with what a run or a problem is read for.
"""

from functools import cache
from importlib import import_module

from fedtheory import discover
from fedtheory.errors import InvalidInput

SHIPPED = dict(flex="flex", fsl="fsl", lamb="lamb", mixed="mixed", house="run")  # paper -> file


@cache
def shipped_table(paper):
    """The table of this library that bears a paper's name; None where it has none."""
    name = SHIPPED.get(paper)
    return None if name is None else import_module(f"fedtheory.symbols.{name}").TABLE


def differing(table, other, names):
    """Those of some letters of a table that another table has otherwise, or not at all."""
    return [name for name in names if table.describe(name) != other.describe(name)]


def binding(rule, table):
    """Whether a rule holds by what letters mean: it is one of this library, about its letters as it
    has them. A rule of anybody's own is a hypothesis of the claims in its letters."""
    own = shipped_table(table.paper)
    names = [symbol.name for symbol in rule.free_symbols]
    return own is not None and rule in own.rules and not differing(own, table, names)


def agrees(table, symbols):
    """Whether a table has each of some symbols as this library's table of its paper has it; symbols
    that the latter lacks are a textbook's own, and may be no letters at all."""
    own = shipped_table(table.paper)
    names = [symbol.name for symbol in symbols]
    return own is not None and not differing(own, table, names)


# ---------------------------------------------------------------- methods


def methods(claim):
    """The methods that a claim speaks of, as it names them: records, or names."""
    given = claim.algorithm
    return given if isinstance(given, tuple) else () if given is None else (given,)


def alike(one, other):
    """Whether two methods are the same record, or names of it."""
    if isinstance(one, str) == isinstance(other, str):
        return one == other if isinstance(one, str) else one is other
    name, record = (one, other) if isinstance(one, str) else (other, one)
    try:
        return discover.algorithm(name) is record
    except InvalidInput:
        return False


def covers_methods(claim, known):
    """Whether each method that a claim speaks of is among some."""
    return all(any(alike(one, other) for other in known) for one in methods(claim))


# ---------------------------------------------------------------- constants that are left open


def reopened_constant(claim, premises, everywhere):
    """The name of a constant that one of the premises of a step leaves open, and that another claim
    of the step means otherwise; None where there is none. `everywhere` are the premises of all lines.

    "For some c" speaks of a c of its own. A claim that leaves c open as well may take the c of one
    premise: then all of its lines take it from there, and it asks no more of c.
    """
    for other in premises:
        for name in other.left_open:
            shared = name in claim.symbols
            rivals = [one for one in (everywhere if shared else premises) if one is not other]
            if any(name in one.symbols for one in rivals):
                return name
            if shared and name not in claim.left_open:
                return name
            if shared and not bounds(claim, name) <= bounds(other, name):
                return name
    return None


def bounds(claim, name):
    """The relations that a claim assumes of a letter."""
    found = [a.relation for a in claim.assumptions if a.relation is not None]
    return {r for r in found if name in {s.name for s in claim.expand(r).free_symbols}}
