"""Settings: what can happen and be measured exactly, so that a claim about it can be searched and decided.

A setting is one file. It draws shapes (small integers), names the coordinates in which instances of a shape vary,
builds an instance from them (plain data, which goes into a certificate as it is) and derives from that alone, by
definition and without the engine, the constants and measured quantities that claims speak of.
"""

import importlib
import pkgutil
from functools import cache
from typing import Callable, NamedTuple


class Setting(NamedTuple):
    name: str
    says: str                  # what happens in it, in words
    measures: frozenset        # Measures (symbol.Measure) it yields
    algorithms: tuple          # names of the methods it runs; () where none is involved
    gives: tuple               # parameters it derives from an instance: counts, and whatever is a matter of fact
    loose: dict                # constants it derives that are bounds: 1 an upper one (L, G), -1 a lower one (mu)
    takes: tuple               # real parameters that it needs: step sizes and the like
    shapes: Callable           # (random, relaxed) -> {name: int or text}; relaxed: conditions that need not hold
    coordinates: Callable      # (shape) -> {name: "real" | "positive" | "unit"}
    build: Callable            # (shape, point) -> instance, from numbers of any arithmetic
    constants: Callable        # (instance) -> {symbol: value}: what it gives, and what is known before anything runs
    measure: Callable          # (instance, {symbol: value}, wanted symbols) -> {symbol: value}
    table: object              # the Table whose symbols those names are
    early: frozenset = frozenset()      # measured symbols that `constants` yields: known before the method runs
    ensures: frozenset = frozenset()    # names of the conditions its instances can meet
    holds: Callable = None     # (instance) -> those that an instance does meet, where relaxed ones may fail
    kind: str = "enumerated"   # or "exact", where nothing is random


@cache
def all_settings():
    """Every Setting of this folder, cheapest first by the files' names."""
    found = []
    for _, name, _ in pkgutil.iter_modules(__path__):
        if not name.startswith("_"):
            module = importlib.import_module(f"{__name__}.{name}")
            found += getattr(module, "SETTINGS", ()) or [module.SETTING]
    return tuple(found)


def names(table, *symbols):
    """The Measures of a table's symbols."""
    return frozenset(table[symbol].measure for symbol in symbols)


def fitting(claim):
    """Settings in which everything that a claim measures can be measured."""
    wanted = {entry.measure for entry in claim.quantities.values()}
    speaks = {getattr(a, "name", a) for a in (claim.algorithm if isinstance(claim.algorithm, tuple)
                                              else (claim.algorithm,)) if a}
    asked = {a.name for a in claim.assumptions if a.condition is not None}
    return [setting for setting in all_settings() if wanted <= setting.measures and asked <= setting.ensures
            and (not speaks or not setting.algorithms or speaks & set(setting.algorithms))]


def by_name(name):
    return next((setting for setting in all_settings() if setting.name == name), None)
