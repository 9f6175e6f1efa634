r"""Symbols of a paper: code name, domain, LaTeX, meaning, unit. The meaning of a letter differs
between papers, so each paper has a Table of its own.

A unit is a pair of powers (of a point's unit, of a loss's unit): a gradient is (-1, 1), a step size
(2, -1).

>>> from fedtheory.symbol import Table
>>> table = Table("a note")
>>> K, eta = table.count("K", "K", "local steps"), table.positive("eta", r"\eta", "step size")
>>> table.only([eta]).entries["eta"].meaning
'step size'
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple

import sympy

from fedtheory.arithmetic.domains import DOMAINS
from fedtheory.errors import refuse
from fedtheory.language.user_quantities import BOUNDS, Own

PLAIN = (0, 0)
POINT, LOSS = (1, 0), (0, 1)
GRADIENT, SQ_GRADIENT = (-1, 1), (-2, 2)
CURVATURE, STEP = (-2, 1), (2, -1)
SQ_POINT = (2, 0)


def expand_definitions(
    expr: sympy.Basic, definitions: Mapping[sympy.Symbol, sympy.Expr]
) -> sympy.Basic:
    """Return an expression with derived symbols replaced by their definitions, at all levels."""
    return _expand_definitions(expr, tuple(definitions.items()))


@lru_cache(maxsize=4096)
def _expand_definitions(
    expr: sympy.Basic, definitions: Sequence[tuple[sympy.Symbol, sympy.Expr]]
) -> sympy.Basic:
    for _ in definitions:  # each pass resolves one level
        expanded = expr.xreplace(dict(definitions))
        if expanded == expr:
            break
        expr = expanded
    return expr


class Measure(NamedTuple):
    """The way in which a symbol is measured on a trajectory: which metric, in which round, averaged
    how."""

    metric: str  # a name in fedtheory.metrics, or in the proof quantities of its paper
    # round: "t", "t+1", "0", "T", or "min" or "mean" over t = 0..T-1 ("min_T", "mean_T": 0..T)
    at: str = "t"
    average: str = ""  # "" (a number at x_t), "E_t" (over round t) or "E" (over everything)
    minus: str = ""  # "inf" subtracts the infimum of the same quantity

    @property
    def of_a_run(self) -> bool:
        """Tell whether a method has to run before the symbol can be measured. This is not so for a
        measurement at a given point or of a given law."""
        return self.at not in ("t", "0") or self.average == "E_t"


class Entry(NamedTuple):
    """A symbol of a table, with everything that the table records about it."""

    symbol: sympy.Symbol
    latex: str
    meaning: str
    unit: tuple[Any, ...] = PLAIN
    domain: str = "real"  # "positive", "nonnegative", "count" (integer >= 1), "real"
    definition: Any = None  # an expression; None for a symbol that no other defines
    measure: Any = None  # a Measure; None for a parameter
    some: bool = False  # the statement holds for some value of it, which the text leaves open
    own: Own | None = None  # a user's function that computes it

    @property
    def name(self) -> str:
        """Return the symbol's name in code."""
        return self.symbol.name


def _check_function(name: str, of: Callable[..., Any]) -> Callable[..., Any]:
    """Return a user's function; raise InvalidInput for what cannot be called."""
    if not callable(of):
        refuse(f"{name}: of", "must be a function of a run, or of a problem", of)
    return of


COUNTED = dict(T="rounds", N="N", S="S")  # the letters of most papers


class Table:
    """The symbols of one paper, in order, and the relations between symbols that hold by their
    meaning.

    `rules` are these relations (S <= N). `constants` maps a symbol to its name in
    problem.constants, where the paper has a letter of its own. `run` maps a letter to the property
    of a run that it counts ("rounds", "N", "S", "d", "layers"), or to the hyper-parameter for which
    the paper has a letter of its own. `paced` names letters that stand for the value of one round,
    not of all rounds. `whole` is the full table of which this one is a part.
    """

    def __init__(
        self,
        paper: str,
        entries: Sequence[Entry] = (),
        rules: Sequence[sympy.Rel] = (),
        whole: "Table | None" = None,
        constants: Mapping[str, str] | None = None,
        run: Mapping[str, str] | None = None,
        paced: Sequence[str] = (),
    ) -> None:
        self.paper, self.rules, self.constants = paper, tuple(rules), dict(constants or {})
        self.run, self.paced = dict(COUNTED if run is None else run), tuple(paced)
        self.entries = {entry.name: entry for entry in entries}
        self.whole = whole or self

    def add(
        self,
        name: str,
        latex: str,
        meaning: str,
        unit: Any = PLAIN,
        domain: str = "real",
        definition: sympy.Expr | None = None,
        measure: Measure | None = None,
    ) -> sympy.Symbol:
        """Add a symbol and return it, a SymPy Symbol that is positive, nonnegative or integer as
        its domain says. Raises ValueError where the table has the name already."""
        if name in self.entries:
            raise ValueError(f"table {self.paper} has two symbols {name}")
        symbol = sympy.Symbol(name, **DOMAINS[domain][0])
        self.entries[name] = Entry(symbol, latex, meaning, unit, domain, definition, measure)
        return symbol

    def count(self, name: str, latex: str, meaning: str) -> sympy.Symbol:
        """Add an integer of at least 1, such as a number of steps, and return its symbol."""
        return self.add(name, latex, meaning, domain="count")

    def positive(
        self, name: str, latex: str, meaning: str, unit: tuple[int, sympy.Expr | int] = PLAIN
    ) -> sympy.Symbol:
        """Add a number above 0 and return its symbol."""
        return self.add(name, latex, meaning, unit, "positive")

    def nonnegative(
        self, name: str, latex: str, meaning: str, unit: Sequence[int] = PLAIN
    ) -> sympy.Symbol:
        """Add a number of at least 0 and return its symbol."""
        return self.add(name, latex, meaning, unit, "nonnegative")

    def real(self, name: str, latex: str, meaning: str, unit: Sequence[int] = PLAIN) -> Any:
        """Add a real number and return its symbol."""
        return self.add(name, latex, meaning, unit)

    def some(
        self, name: str, latex: str, meaning: str, unit: Sequence[int] = PLAIN
    ) -> sympy.Symbol:
        """Add a constant that the text leaves open ("cst.", "for some c") and return its symbol.
        Statements with such a constant are made for some value of the constant."""
        symbol = self.nonnegative(name, latex, meaning, unit)
        self.entries[name] = self.entries[name]._replace(some=True)
        return symbol

    def define(
        self,
        name: str,
        latex: str,
        meaning: str,
        definition: sympy.Expr,
        unit: Sequence[int] = PLAIN,
        domain: str = "nonnegative",
    ) -> sympy.Symbol:
        """Add a derived symbol and return it: evaluation expands its definition, LaTeX shows its
        name."""
        return self.add(name, latex, meaning, unit, domain, sympy.sympify(definition))

    def measured(
        self,
        name: str,
        latex: str,
        meaning: str,
        unit: Sequence[int],
        metric: str,
        at: str = "t",
        average: str = "",
        minus: str = "",
        domain: str = "real",
    ) -> sympy.Symbol:
        """Add a quantity that is measured on a trajectory, and return its symbol.

        `metric` is a name of `fedtheory.metrics`. `at` is the round: "t", "t+1", "0", "T", or "min"
        or "mean" over t = 0 .. T-1. `average` is "" for a number at x_t, "E_t" for the expectation
        over round t, "E" over everything; `minus` "inf" subtracts the infimum of the same quantity.
        """
        return self.add(
            name, latex, meaning, unit, domain, measure=Measure(metric, at, average, minus)
        )

    def along(
        self, name: str, latex: str, meaning: str, unit: Sequence[int], of: Callable[..., Any]
    ) -> sympy.Symbol:
        """Add a symbol for the expectation, over all ways that a run can go, of a user's function
        of the run, and return the symbol. The function `of` receives a
        `fedtheory.language.user_quantities.Way`."""
        symbol = self.measured(name, latex, meaning, unit, f"own {name}", "T", "E")
        return self._set_own(symbol, Own(_check_function(name, of)))

    def constant(
        self,
        name: str,
        latex: str,
        meaning: str,
        unit: Sequence[int],
        of: Callable[..., Any],
        bound: str = "exact",
        domain: str = "nonnegative",
    ) -> sympy.Symbol:
        """Add a constant of the problem that a user's function of a
        `fedtheory.language.user_quantities.Landscape` computes, and return its symbol. With an "upper" or
        "lower" `bound`, any larger or smaller value is also a true constant."""
        if bound not in BOUNDS:
            refuse(f"{name}: bound", f"must be one of {', '.join(BOUNDS)}", bound)
        symbol = self.add(name, latex, meaning, unit, domain)
        return self._set_own(symbol, Own(_check_function(name, of), BOUNDS[bound]))

    def _set_own(self, symbol: sympy.Symbol, own: Own) -> sympy.Symbol:
        """Give a symbol its user-defined function, and return the symbol."""
        self.entries[symbol.name] = self.entries[symbol.name]._replace(own=own)
        return symbol

    def rule(self, *relations: sympy.Rel) -> None:
        """Add relations that hold between symbols by their meaning, such as S <= N."""
        self.rules += relations

    def only(self, symbols: Set[sympy.Symbol]) -> "Table":
        """Return the part of the table that the symbols need, definitions included; its `whole` is
        still the full table."""
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

    def names_of_constants(self, names: Collection[str]) -> list[str]:
        """Return the names of the symbols that stand for these constants of a problem, or that have
        the same names."""
        return [name for name in self.entries if self.constants.get(name, name) in names]

    def describe(self, name: str) -> tuple[Entry, Any, Any, bool] | None:
        """Return everything recorded about a letter except its LaTeX; None where the table has no
        such letter. Two tables share a letter if their descriptions are equal: an equal name alone
        does not mean an equal letter."""
        if name not in self.entries:
            return None
        entry, paced = self.entries[name]._replace(latex=""), name in self.paced
        return entry, self.constants.get(name), self.run.get(name), paced

    def extended(self, entries: Iterable[Any] | Sequence[Entry]) -> "Table":
        """Return this table with entries added or redefined."""
        return Table(
            self.paper,
            [*{**self.entries, **{e.name: e for e in entries}}.values()],
            self.rules,
            constants=self.constants,
            run=self.run,
            paced=self.paced,
        )

    def __getitem__(self, name: str) -> Entry:
        return self.entries[name]

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[Any]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def values(self) -> Iterable[Any]:
        return self.entries.values()

    def items(self) -> Iterable[Any]:
        return self.entries.items()

    @property
    def definitions(self) -> dict[sympy.Symbol, sympy.Expr]:
        """Return the mapping symbol -> expression of derived symbols, in order."""
        return {e.symbol: e.definition for e in self.entries.values() if e.definition is not None}

    def latex_names(self) -> dict[sympy.Symbol, str]:
        return {entry.symbol: entry.latex for entry in self.entries.values()}

    def __repr__(self) -> str:
        return "\n".join(f"{entry.name:16s}{entry.meaning}" for entry in self.entries.values())
