"""A claim: one statement of a paper, once, in SymPy; numbers, LaTeX and checks come from this
record."""

from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Callable, NamedTuple

import sympy

from fedtheory import enclosure, given, metrics
from fedtheory.conditions import Assumption, Outside
from fedtheory.enclosure import arrays
from fedtheory.errors import InvalidInput, refuse, show
from fedtheory.symbol import LOSS, SQ_GRADIENT, SQ_POINT, Entry, Measure, admits, latex, plain

KINDS = ("exact", "order", "step", "structure", "finding")
ANY = "any_"  # how the name of a constant begins that no hypothesis certifies any more
SIGNS = {"<=": r"\le", "<": "<", "==": "=", ">=": r"\ge", ">": ">", "O": r"=\mathcal{O}"}


class Theta(NamedTuple):
    """symbol = Theta(shape): a step-size regime of an order claim."""

    symbol: object
    shape: object


class Comparison(NamedTuple):
    """A sentence about an experiment: in every cell of `where`, `quantity` of `one` is `relation`
    that of `other`."""

    quantity: str
    one: str
    relation: str  # "<", ">", "<=", ">=", "~" (alike), "increases in", "decreases in"
    other: str
    where: str = ""
    # how far apart the alike may be, fixed before any run: what the text prints shows as noise.
    margin: float = None
    # A printed number has half a unit of its last digit besides, and needs no margin of its own.


class Same(NamedTuple):
    """Two ways to run that give the same points: an algorithm with some fields fixed, and another,
    or a plain function (problem, x_0, rounds, **shared) that returns the path. `shared` fields are
    free and equal in both."""

    one: str
    fixed: dict
    other: object
    other_fixed: dict
    shared: tuple
    clients: int = None  # N, where the equivalence needs it


@dataclass(frozen=True, eq=False)
class Claim:
    id: str
    cites: str
    symbols: object  # a Table; afterwards the part of it that this claim uses
    bound: object = None  # right-hand side
    measures: object = None  # left-hand side: an expression, or the name of a metric
    relation: str = "<="
    kind: str = "exact"
    paper: str = ""
    algorithm: object = None  # an Algorithm or its name; several names where it speaks of each
    assumes: tuple = ()  # relations, Conditions or Assumptions, as the text states them
    unstated: tuple = ()  # likewise, used by the proof only
    also: tuple = ()  # further lines of the statement: (left, relation, right)
    meaning: str = ""
    teeth: object = None  # a false bound, which a checker must refute
    note: str = ""  # where the text's own steps do not give the stated form
    schedule: dict = field(
        default_factory=dict
    )  # step sizes it prescribes: hyper field -> expression in the round
    regime: tuple = ()  # Thetas of an order claim
    explicit: str = ""  # id of the companion with constants
    says: str = ""  # a finding's sentence, or a structure's
    compares: tuple = ()  # a finding's Comparisons
    figure: str = ""  # id of the figure or table it speaks of
    same: tuple = ()  # a structure's equivalences
    printed: dict = field(default_factory=dict)  # a structure's cells as the text has them
    compute: Callable = None  # () -> the same cells, computed
    table: object = None
    dropped: tuple = ()  # of a variant: Assumptions that it has dropped

    def __post_init__(self):
        give = lambda name, value: object.__setattr__(self, name, value)
        whose = given.identity(self.id)
        if self.kind not in KINDS:
            refuse(f"{whose}: kind", f"must be one of {', '.join(KINDS)}", self.kind)
        if self.relation not in (*SIGNS,):
            refuse(f"{whose}: relation", f"must be one of {', '.join(SIGNS)}", self.relation)
        if self.symbols is not None:
            given.table(whose, self.symbols)
        table = given.table(whose, self.table if self.table is not None else self.symbols)
        table = table if self.table is not None else table.whole
        if self.measures is not None and not isinstance(self.measures, sympy.Basic):
            table, symbol = _with_metric(table, self.measures)
            give("measures", symbol)
        for name in ("bound", "measures", "teeth"):
            if getattr(self, name) is not None:
                give(name, given.formula(f"{whose}: {name}", getattr(self, name)))
        if self.kind in ("exact", "order", "step") and (
            self.bound is None or self.measures is None
        ):
            refuse(
                f"{whose}: {'bound' if self.bound is None else 'measures'}",
                "must be an expression, as this is no structure and no finding",
                None,
            )
        give("also", tuple(given.line(whose, each, SIGNS) for each in self.also))
        give("assumes", given.hypotheses(whose, self.assumes, True))
        give("unstated", given.hypotheses(whose, self.unstated, False))
        give("dropped", tuple(a for a in self.dropped if a not in (*self.assumes, *self.unstated)))
        give("algorithm", given.algorithm(whose, self.algorithm))
        give("table", table)
        give("symbols", table.only(self._named()))
        give("paper", self.paper or table.paper)
        # A namesake with other assumptions is another symbol to SymPy, and the same to whoever
        # reads names.
        named = self._named().union(*(e.free_symbols for e in self.definitions.values()))
        strangers = sorted(
            s.name for s in named if s.name not in table or table[s.name].symbol != s
        )
        if strangers:
            refuse(
                f"{whose}: its formulas",
                f"must use symbols of the table of {table.paper}",
                strangers,
            )

    def _named(self):
        """Symbols the statement and its assumptions mention."""
        mentioned = [
            self.bound,
            self.measures,
            self.teeth,
            *(e for a, _, b in self.also for e in (a, b)),
            *(a.holds for a in (*self.assumes, *self.unstated)),
            *self.schedule.values(),
            *(e for theta in self.regime for e in theta),
        ]
        return set().union(*(e.free_symbols for e in mentioned if isinstance(e, sympy.Basic)))

    # What it says

    @property
    def title(self):
        return f"{self.id.rpartition('.')[2]} ({self.cites})"

    where = property(lambda self: self.cites)

    @cached_property
    def assumptions(self):
        """All hypotheses: stated, unstated, and what symbols mean (S <= N)."""
        return (
            *self.assumes,
            *self.unstated,
            *(Assumption(rule, "by meaning") for rule in self.symbols.rules),
        )

    @property
    def lines(self):
        """(left, relation, right) of each line of the statement."""
        first = ((self.measures, self.relation, self.bound),) if self.bound is not None else ()
        return first + self.also

    @cached_property
    def quantities(self):
        """name -> Entry of what is measured, on either side."""
        return {name: entry for name, entry in self.symbols.items() if entry.measure is not None}

    @cached_property
    def parameters(self):
        """name -> Entry of hyper-parameters and constants: neither measured nor derived."""
        return {
            name: entry
            for name, entry in self.symbols.items()
            if entry.measure is None and entry.definition is None
        }

    @cached_property
    def left_open(self):
        """name -> Entry of constants for some value of which the statement is made, and that no
        equation fixes."""
        fixed = set().union(
            *(
                self.expand(a.relation).free_symbols
                for a in self.assumptions
                if isinstance(a.relation, sympy.Eq)
            )
        )
        return {
            name: entry
            for name, entry in self.parameters.items()
            if entry.some and entry.symbol not in fixed
        }

    @cached_property
    def definitions(self):
        """symbol -> expression for derived symbols, in the table's order."""
        return {e.symbol: e.definition for e in self.symbols.values() if e.definition is not None}

    def latex(self, expr=None):
        """The statement (or any expression in its symbols) with the paper's letters."""
        print_ = lambda e: latex(e, self.table)
        if expr is not None:
            return print_(expr)
        if not self.lines:
            return rf"\text{{{self.says}}}"
        parts = [
            f"{print_(a)} {SIGNS[sign]}"
            + (rf"\left({print_(b)}\right)" if sign == "O" else f" {print_(b)}")
            for a, sign, b in self.lines
        ]
        return r",\qquad ".join(parts)

    def plain(self, expr):
        """An expression in its symbols, for terminals."""
        return plain(expr, self.table)

    def __str__(self):
        if not self.lines:
            return self.says
        return ", ".join(
            f"{self.plain(a)} = O({self.plain(b)})"
            if sign == "O"
            else f"{self.plain(a)} {'=' if sign == '==' else sign} {self.plain(b)}"
            for a, sign, b in self.lines
        )

    def __repr__(self):
        return f"<Claim {self.id}: {self}>"

    # Variants

    def replace(self, name=None, assumptions=None, **changes):
        """A variant: `bound`, `measures`, ... replaced; `assumptions` are then all it assumes;
        `name` is its id."""
        mine = {f.name: getattr(self, f.name) for f in fields(self)}
        unknown = sorted(set(changes) - set(mine))
        if unknown:
            refuse("replace", f"takes name, assumptions, {', '.join(mine)}", unknown)
        if assumptions is not None:
            assumptions = given.hypotheses(f"{self.id}: replace: assumptions", assumptions, True)
            changes.update(
                assumes=tuple(a for a in assumptions if not isinstance(a, Assumption) or a.stated),
                unstated=tuple(
                    a for a in assumptions if isinstance(a, Assumption) and not a.stated
                ),
            )
        if self.bound is not None and changes.get("bound", self.bound) is None:
            refuse(
                f"{self.id}: replace: bound",
                "must be an expression, as the claim has a bound",
                None,
            )
        return Claim(**{**mine, **changes, "id": self.id if name is None else name})

    def without(self, *names):
        """The variant that assumes less: hypotheses switched off by name or place."""
        known = {label for a in self.assumptions for label in (a.name, a.where)}
        for name in names:
            if name not in known:
                refuse(
                    "without", f"takes assumptions of {self.id}: {', '.join(sorted(known))}", name
                )
        return self.under(
            [a for a in (*self.assumes, *self.unstated) if not {a.name, a.where} & set(names)]
        )

    def under(self, kept, name=None):
        """The variant that assumes only `kept` of its own hypotheses.

        A constant that none of these certifies any more (G, once nothing is said of dissimilarity)
        is any number.
        """
        certified = lambda some: set(
            self.table.certified(
                {
                    constant
                    for a in some
                    if a.condition is not None
                    for constant in a.condition.constants
                }
            )
        )
        lost = certified(self.assumptions) - certified(kept)
        entries = [self.parameters[c] for c in sorted(lost & set(self.parameters))]
        gone = (*self.dropped, *(a for a in (*self.assumes, *self.unstated) if a not in kept))
        if not entries:
            return self.replace(name, kept, dropped=gone)
        free = {e.symbol: sympy.Symbol(ANY + e.name, **e.symbol.assumptions0) for e in entries}
        turned = lambda e: self.expand(e).xreplace(free)
        changes = {
            field: turned(getattr(self, field))
            for field in ("bound", "measures", "teeth")
            if getattr(self, field) is not None
        }
        return self.replace(
            name,
            [a if a.relation is None else replace(a, holds=turned(a.holds)) for a in kept],
            also=tuple((turned(a), sign, turned(b)) for a, sign, b in self.also),
            symbols=None,
            dropped=gone,
            schedule={hyper: turned(e) for hyper, e in self.schedule.items()},
            regime=tuple(Theta(*map(turned, theta)) for theta in self.regime),
            table=self.table.extended(
                [
                    e._replace(symbol=free[e.symbol], meaning=f"any number for: {e.meaning}")
                    for e in entries
                ]
            ),
            **changes,
        )

    # Numbers

    def expand(self, expr):
        """An expression with derived symbols replaced by their definitions."""
        return _expand(expr, tuple(self.definitions.items()))

    def needs(self, *exprs):
        """Names of the symbols whose values these expressions (the bound, by default) take."""
        exprs = exprs or [b for _, _, b in self.lines]
        free = set().union(*(self.expand(e).free_symbols for e in exprs))
        return [name for name in self.symbols if self.symbols[name].symbol in free]

    def evaluate(self, values, strict=True, line=0):
        """The right-hand side at numbers: a float on the safe side of its enclosure.

        The result is rounded up for <= (down for >=), carries `.lower`, `.upper` and, where the
        value is rational, `.exact`. Values outside the assumptions are refused unless strict=False.
        """
        return self._side(values, strict, line, 2)

    def evaluate_left(self, values, strict=True, line=0):
        """The left-hand side likewise, rounded the other way; measured quantities are given by
        name."""
        return self._side(values, strict, line, 0)

    def _side(self, values, strict, line, side):
        if not self.lines:
            raise InvalidInput(f"{self.title} is a {self.kind}; it has no bound to evaluate")
        line, numbers = given.place(self.title, line, len(self.lines)), self.numbers(values)
        expr, sign = self.lines[line][side], self.lines[line][1]
        if strict:
            for broken in self._failing(values, numbers, complete=True):
                raise InvalidInput(
                    f"{self.title} assumes {broken}; got {self._got(broken, values)}"
                )
        self._require(expr, numbers)
        try:
            return enclosure.enclose(
                self.expand(expr), numbers, up=(sign in (">=", ">")) == (side == 0)
            )
        except enclosure.Undefined as error:
            raise InvalidInput(
                f"{self.title} has no value at {_listed(values, self.needs(expr))}: it takes {error}"
            )

    def admits(self, values):
        """The assumptions between numbers that fail, empty if none; those about functions are a
        problem's affair."""
        return list(self._failing(values, self.numbers(values), complete=False))

    def numbers(self, values):
        """name -> Fraction, or a refusal that names the symbol."""
        numbers = {}
        for key, value in given.values(self.title, values).items():
            name = getattr(key, "name", key)
            if name not in self.table:
                raise InvalidInput(
                    f"{self.title} has no symbol {show(name)}; it takes {', '.join(self.parameters)}"
                )
            entry = self.table[name]
            if entry.definition is not None:
                raise InvalidInput(
                    f"{name} of {self.title} is defined as {plain(entry.definition)}; give "
                    + ", ".join(sorted(s.name for s in self.expand(entry.symbol).free_symbols))
                )
            numbers[name] = enclosure.number(name, value)
        return numbers

    def _failing(self, values, numbers, complete):
        floats = any(isinstance(value, float) for value in values.values())
        for name, value in numbers.items():
            if name in self.symbols and not admits(self.symbols[name].domain, value):
                yield Outside(self.symbols[name])
        for assumption in self.assumptions:
            if assumption.relation is None:
                continue
            relation = self.expand(assumption.relation)
            if complete:
                self._require(relation, numbers)
            elif not {s.name for s in relation.free_symbols} <= set(numbers):
                continue
            if not _decide(relation, numbers, floats):
                yield assumption

    def _require(self, expr, numbers):
        for name in self.needs(expr):
            if name not in numbers:
                raise InvalidInput(
                    f"{self.title} needs {name}, {self.symbols[name].meaning}; none was given"
                )

    def _got(self, broken, values):
        values = {getattr(key, "name", key): value for key, value in values.items()}
        return _listed(
            values, [broken.name] if isinstance(broken, Outside) else self.needs(broken.relation)
        )

    def fast(self, values, line=0):
        """The right-hand side at arrays of numbers, assumptions unchecked (see `mask`); agrees with
        `evaluate`."""
        expr = self.lines[line][2]
        self._require(expr, values)
        return arrays.sweep(self.expand(expr), {name: values[name] for name in self.needs(expr)})

    def fast_left(self, values, line=0):
        expr = self.lines[line][0]
        self._require(expr, values)
        return arrays.sweep(self.expand(expr), {name: values[name] for name in self.needs(expr)})

    def mask(self, values):
        """Where arrays of numbers satisfy every assumption between numbers."""
        good = True
        for assumption in self.assumptions:
            if assumption.relation is not None:
                relation = self.expand(assumption.relation)
                self._require(relation, values)
                good = good & arrays.holds(
                    relation, {s.name: values[s.name] for s in relation.free_symbols}
                )
        return good

    # Structures

    def cells(self):
        """(cell, printed, computed) of a structure claim."""
        computed = self.compute() if self.compute else {}
        return [(cell, value, computed.get(cell)) for cell, value in self.printed.items()]


def _with_metric(table, metric):
    """A table that also holds a metric of the last round, for claims that name one."""
    name = getattr(metric, "name", metric)
    if not isinstance(name, str) or name not in metrics.ALL:
        refuse("measures", f"must be an expression or one of {', '.join(metrics.ALL)}", name)
    symbol = sympy.Symbol(f"measured_{name}", real=True)
    unit = (
        LOSS
        if name.endswith("loss")
        else SQ_POINT
        if name.endswith(("distance", "drift"))
        else SQ_GRADIENT
    )
    entry = Entry(
        symbol,
        metrics.ALL[name].latex.replace("x_t", "x_T"),
        metrics.ALL[name].meaning,
        unit,
        measure=Measure(name, "T", "E"),
    )
    return table.extended([entry]), symbol


@lru_cache(maxsize=4096)
def _expand(expr, definitions):
    for _ in definitions:  # each pass resolves one level
        expanded = expr.xreplace(dict(definitions))
        if expanded == expr:
            break
        expr = expanded
    return expr


def _decide(relation, numbers, floats):
    """Whether a relation holds; numbers rounded to floats meet it up to rounding."""
    if relation in (sympy.true, sympy.false):
        return relation is sympy.true
    try:
        truth = enclosure.decide(relation, numbers)
    except enclosure.Undefined:
        return False
    if truth is None:  # equal to thousands of bits
        return not isinstance(relation, (sympy.StrictLessThan, sympy.StrictGreaterThan))
    if not truth and floats:
        near = {s.name: float(numbers[s.name]) for s in relation.free_symbols}
        return bool(arrays.holds(relation, near)) and not isinstance(relation, (sympy.Lt, sympy.Gt))
    return truth


def _listed(values, names):
    values = {getattr(key, "name", key): value for key, value in values.items()}
    as_text = lambda v: str(v) if isinstance(v, (int, float, Fraction, sympy.Basic)) else show(v)
    return ", ".join(f"{name}={as_text(values[name])}" for name in names if name in values)
