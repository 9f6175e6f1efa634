"""Symbols of a paper: code name, domain, LaTeX, meaning, unit. Letters change meaning between
papers.

A unit is a pair of powers (of a point's unit, of a loss's unit): a gradient is (-1, 1), a step size
(2, -1).
"""

from functools import lru_cache
from typing import NamedTuple

import sympy

from fedtheory.errors import refuse
from fedtheory.user_quantities import BOUNDS, Own

PLAIN = (0, 0)
POINT, LOSS = (1, 0), (0, 1)
GRADIENT, SQ_GRADIENT = (-1, 1), (-2, 2)
CURVATURE, STEP = (-2, 1), (2, -1)
SQ_POINT = (2, 0)


def expand_definitions(expr, definitions):
    """An expression with derived symbols replaced by what they are."""
    return _expand_definitions(expr, tuple(definitions.items()))


@lru_cache(maxsize=4096)
def _expand_definitions(expr, definitions):
    for _ in definitions:  # each pass resolves one level
        expanded = expr.xreplace(dict(definitions))
        if expanded == expr:
            break
        expr = expanded
    return expr


class Measure(NamedTuple):
    """How a symbol is read off a trajectory."""

    metric: str  # a name of fedtheory.metrics, or of the proof quantities of its paper
    # round: "t", "t+1", "0", "T", or "min" or "mean" over t = 0..T-1 ("min_T", "mean_T": 0..T)
    at: str = "t"
    average: str = ""  # "" (a number at x_t), "E_t" (over round t) or "E" (over everything)
    minus: str = ""  # subtracted: "inf" for the infimum of the same quantity

    @property
    def of_a_run(self):
        """Whether a method has to run before it can be measured: it is not read off a point or a
        law that is given."""
        return self.at not in ("t", "0") or self.average == "E_t"


class Entry(NamedTuple):
    symbol: sympy.Symbol
    latex: str
    meaning: str
    unit: tuple = PLAIN
    domain: str = "real"  # "positive", "nonnegative", "count" (integer >= 1), "real"
    definition: sympy.Expr | None = None
    measure: Measure | None = None
    some: bool = (
        False  # what the text says is said for some value of it, which the text leaves open
    )
    own: Own | None = None  # a user's function that says what it is

    @property
    def name(self):
        return self.symbol.name


DOMAINS = {
    "positive": (dict(positive=True), "> 0"),
    "nonnegative": (dict(nonnegative=True), ">= 0"),
    "count": (dict(integer=True, positive=True), "is an integer >= 1"),
    "real": (dict(real=True), "is a real number"),
}


def domain_admits(domain, value):
    """Whether a Fraction lies in a domain."""
    return (
        domain == "real"
        or domain == "positive"
        and value > 0
        or domain == "nonnegative"
        and value >= 0
        or domain == "count"
        and value >= 1
        and value.denominator == 1
    )


def _check_function(name, of):
    if not callable(of):
        refuse(f"{name}: of", "must be a function of a run, or of a problem", of)
    return of


COUNTED = dict(T="rounds", N="N", S="S")  # letters of most papers


class Table:
    """The symbols of one paper, in order; `rules` hold between them by their meaning (S <= N).

    `constants` gives the name in problem.constants of symbols for which the paper has a letter of
    its own; `run` what of a run a letter counts ("rounds", "N", "S", "d", "layers"), or the
    hyper-parameter for which the paper has a letter of its own; `paced` names letters that stand
    for the value of one round, not of all.
    """

    def __init__(self, paper, entries=(), rules=(), whole=None, constants=None, run=None, paced=()):
        self.paper, self.rules, self.constants = paper, tuple(rules), dict(constants or {})
        self.run, self.paced = dict(COUNTED if run is None else run), tuple(paced)
        self.entries = {entry.name: entry for entry in entries}
        self.whole = whole or self

    def add(self, name, latex, meaning, unit=PLAIN, domain="real", definition=None, measure=None):
        if name in self.entries:
            raise ValueError(f"table {self.paper} has two symbols {name}")
        symbol = sympy.Symbol(name, **DOMAINS[domain][0])
        self.entries[name] = Entry(symbol, latex, meaning, unit, domain, definition, measure)
        return symbol

    def count(self, name, latex, meaning):
        return self.add(name, latex, meaning, domain="count")

    def positive(self, name, latex, meaning, unit=PLAIN):
        return self.add(name, latex, meaning, unit, "positive")

    def nonnegative(self, name, latex, meaning, unit=PLAIN):
        return self.add(name, latex, meaning, unit, "nonnegative")

    def real(self, name, latex, meaning, unit=PLAIN):
        return self.add(name, latex, meaning, unit)

    def some(self, name, latex, meaning, unit=PLAIN):
        """A constant that the text leaves open ("cst.", "for some c"): what is said is said for
        some value of it."""
        symbol = self.nonnegative(name, latex, meaning, unit)
        self.entries[name] = self.entries[name]._replace(some=True)
        return symbol

    def define(self, name, latex, meaning, definition, unit=PLAIN, domain="nonnegative"):
        """A derived symbol: evaluation expands it, LaTeX keeps the name."""
        return self.add(name, latex, meaning, unit, domain, sympy.sympify(definition))

    def measured(
        self, name, latex, meaning, unit, metric, at="t", average="", minus="", domain="real"
    ):
        return self.add(
            name, latex, meaning, unit, domain, measure=Measure(metric, at, average, minus)
        )

    def along(self, name, latex, meaning, unit, of):
        """What a function of one's own reads off a run, as an expectation over all ways that it can
        go: `of` is given a `fedtheory.user_quantities.Way`."""
        symbol = self.measured(name, latex, meaning, unit, f"own {name}", "T", "E")
        return self._set_own(symbol, Own(_check_function(name, of)))

    def constant(self, name, latex, meaning, unit, of, bound="exact", domain="nonnegative"):
        """A constant of the problem by a function of one's own, which is given a
        `fedtheory.user_quantities.Landscape`. It is one of many true ones if it is an "upper" or a "lower"
        `bound`."""
        if bound not in BOUNDS:
            refuse(f"{name}: bound", f"must be one of {', '.join(BOUNDS)}", bound)
        symbol = self.add(name, latex, meaning, unit, domain)
        return self._set_own(symbol, Own(_check_function(name, of), BOUNDS[bound]))

    def _set_own(self, symbol, own):
        self.entries[symbol.name] = self.entries[symbol.name]._replace(own=own)
        return symbol

    def rule(self, *relations):
        self.rules += relations

    def only(self, symbols):
        """The part a claim uses, definitions followed; the whole stays within reach."""
        wanted, queue = set(), [s for s in symbols if s.name in self.entries]
        while queue:
            symbol = queue.pop()
            if symbol.name not in wanted:
                wanted.add(symbol.name)
                definition = self.entries[symbol.name].definition
                queue += [
                    s for s in getattr(definition, "free_symbols", ()) if s.name in self.entries
                ]
        names = set(wanted)
        rules = [rule for rule in self.rules if {s.name for s in rule.free_symbols} <= names]
        return Table(
            self.paper,
            [e for e in self.entries.values() if e.name in wanted],
            rules,
            self.whole,
            self.constants,
            self.run,
            self.paced,
        )

    def certified(self, names):
        """Names of the symbols that stand for these constants of a problem, or are so called."""
        return [name for name in self.entries if self.constants.get(name, name) in names]

    def describe(self, name):
        """All that is said of a letter but for how it is typeset; None where there is no such letter.
        Two tables have a letter in common where they describe it alike: its name says nothing."""
        if name not in self.entries:
            return None
        entry, paced = self.entries[name]._replace(latex=""), name in self.paced
        return entry, self.constants.get(name), self.run.get(name), paced

    def extended(self, entries):
        """This table with entries added or redefined."""
        return Table(
            self.paper,
            [*{**self.entries, **{e.name: e for e in entries}}.values()],
            self.rules,
            constants=self.constants,
            run=self.run,
            paced=self.paced,
        )

    def __getitem__(self, name):
        return self.entries[name]

    def __contains__(self, name):
        return name in self.entries

    def __iter__(self):
        return iter(self.entries)

    def __len__(self):
        return len(self.entries)

    def values(self):
        return self.entries.values()

    def items(self):
        return self.entries.items()

    @property
    def definitions(self):
        """symbol -> expression for derived symbols, in order."""
        return {e.symbol: e.definition for e in self.entries.values() if e.definition is not None}

    def latex_names(self):
        return {entry.symbol: entry.latex for entry in self.entries.values()}

    def __repr__(self):
        return "\n".join(f"{entry.name:16s}{entry.meaning}" for entry in self.entries.values())
