"""Statements that a claim can make: lines, an order of growth, equivalences, cells, or comparisons.

A statement is one of these records. The arguments measures, relation, bound and so on of `Claim`
are a short form of one, which `from_keywords` builds here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, NamedTuple

import sympy

from fedtheory import arithmetic, metrics
from fedtheory.errors import refuse
from fedtheory.language import claim_validation
from fedtheory.language.printing import latex, plain
from fedtheory.language.symbol import (
    LOSS,
    SQ_GRADIENT,
    SQ_POINT,
    Entry,
    Measure,
    Table,
    expand_definitions,
)

KINDS = ("exact", "order", "step", "structure", "finding", "existence")
SIGNS = {"<=": r"\le", "<": "<", "==": "=", ">=": r"\ge", ">": ">", "O": r"=\mathcal{O}"}
# relations whose right side is rounded down, so that the line stays on the safe side
DOWN = (">=", ">")


class Theta(NamedTuple):
    """The step-size regime symbol = Theta(shape) of an order claim."""

    symbol: sympy.Expr
    shape: sympy.Expr


class Comparison(NamedTuple):
    """A sentence about an experiment: in every cell of `where`, `quantity` of `one` has the
    `relation` to that of `other`."""

    quantity: str
    one: str
    # "<", ">", "<=", ">=", "~" (equal up to the margin), "increases in", "decreases in"
    relation: str
    other: str
    where: str = ""
    # The largest difference of values that count as equal. It is chosen before any run, from the
    # noise that the text's printed values show.
    margin: float | None = None
    # A printed number also has half a unit of its last digit as tolerance, and needs no margin of
    # its own.


class Same(NamedTuple):
    """Two ways to run that give the same points: an algorithm with some fields fixed, and another
    algorithm or a plain function (problem, x_0, rounds, **shared) that returns the path. `shared`
    fields are free and equal in both."""

    one: str
    fixed: dict[str, Any]
    other: Any
    other_fixed: dict[str, Any]
    shared: tuple[Any, ...]
    clients: int | None = None  # N, where the equivalence needs a particular N


class _Sides(NamedTuple):
    """The two sides of a line and the relation between them."""

    left: sympy.Expr
    relation: str
    right: sympy.Expr


class Line(_Sides):
    """One line (left, relation, right) with the letters of its claim; it has a text, a LaTeX form
    and a value."""

    letters: Table | None = None

    def of(self, letters: Table) -> "Line":
        """Return the line with the letters of a table."""
        line = Line(*self)
        line.letters = letters
        return line

    @property
    def text(self) -> str:
        """Return the line in plain text, for terminals."""
        left, right = plain(self.left, self.letters), plain(self.right, self.letters)
        if self.relation == "O":
            return f"{left} = O({right})"
        return f"{left} {'=' if self.relation == '==' else self.relation} {right}"

    @property
    def latex(self) -> str:
        """Return the LaTeX of the line with the paper's letters."""
        left, right = latex(self.left, self.letters), latex(self.right, self.letters)
        right = rf"\left({right}\right)" if self.relation == "O" else f" {right}"
        return f"{left} {SIGNS[self.relation]}{right}"

    def value(self, numbers: Mapping[str, Fraction]) -> float:
        """Return the right side at numbers, as a float at the safe end of its enclosure."""
        return self._at(self.right, numbers, self.relation not in DOWN)

    def value_left(self, numbers: Mapping[str, Fraction]) -> Any:
        """Return the left side at numbers, as a float rounded in the direction opposite to `value`."""
        return self._at(self.left, numbers, self.relation in DOWN)

    def _at(self, side: sympy.Expr, numbers: Mapping[str, Fraction], up: bool) -> float:
        return arithmetic.enclose_value(
            expand_definitions(side, self.letters.definitions), numbers, up=up
        )


@dataclass(frozen=True, eq=False)
class Lines:
    """A statement of inequalities and equations that hold together, with every constant given.

    `weakened` is a false right side of the first line, which a checker must refute.
    """

    lines: tuple[Line, ...]
    kind: str = "exact"  # "exact", "step" (a line of a proof) or "structure" (a count)
    # a false right side of the first line, which a checker must refute
    weakened: sympy.Expr | None = None
    explicit: str = ""  # id of the companion claim that gives a constant which the text leaves open

    def map_expressions(self, turn: Callable[..., Any]) -> Any:
        """Return the statement with `turn` applied to each of its expressions."""
        return replace(
            self,
            lines=tuple(Line(turn(a), sign, turn(b)) for a, sign, b in self.lines),
            weakened=None if self.weakened is None else turn(self.weakened),
        )

    @property
    def expressions(self) -> list[sympy.Expr]:
        """Return every formula of the statement."""
        return [e for a, _, b in self.lines for e in (a, b)] + [self.weakened] * (
            self.weakened is not None
        )

    @property
    def text(self) -> str:
        """Return the lines in plain text, separated by commas."""
        return ", ".join(line.text for line in self.lines)

    @property
    def latex(self) -> str:
        """Return the lines in LaTeX, in one row."""
        return r",\qquad ".join(line.latex for line in self.lines)


@dataclass(frozen=True, eq=False)
class Order(Lines):
    """An order of growth without its constants; `explicit` is the companion claim with constants.
    An O~ also leaves out a factor of logarithms."""

    kind: str = field(default="order", init=False)
    regime: tuple[Theta, ...] = ()
    # the logarithmic factor that O~ hides besides a constant; None: the order is an O
    logs: sympy.Expr | None = None

    def map_expressions(self, turn: Callable[..., Any]) -> Any:
        """Return the order with `turn` applied to its lines, its regime and its hidden logarithms."""
        regime = tuple(Theta(*map(turn, theta)) for theta in self.regime)
        logs = None if self.logs is None else turn(self.logs)
        return replace(super().map_expressions(turn), regime=regime, logs=logs)

    @property
    def expressions(self) -> list[sympy.Expr]:
        """Return every formula of the order: lines, regime and hidden logarithms."""
        return (
            super().expressions
            + [e for theta in self.regime for e in theta]
            + [self.logs] * (self.logs is not None)
        )

    @property
    def text(self) -> str:
        """Return the order in plain text, with O~ where logarithms are hidden."""
        return super().text if self.logs is None else super().text.replace(" = O(", " = O~(")

    @property
    def latex(self) -> str:
        """Return the order in LaTeX, with a tilde over O where logarithms are hidden."""
        if self.logs is None:
            return super().latex
        return super().latex.replace(r"=\mathcal{O}", r"=\tilde{\mathcal{O}}")


class _Words:
    """A statement in words, without lines and formulas."""

    lines, expressions = (), ()
    says: str
    text = property(lambda self: self.says)
    latex = property(lambda self: rf"\text{{{self.says}}}")

    def map_expressions(self, turn: Callable[..., Any]) -> Any:
        """Return the statement as it is: it has no expressions."""
        return self


@dataclass(frozen=True, eq=False)
class Equivalences(_Words):
    """A statement that ways to run give the same points."""

    says: str
    same: tuple[Same, ...]
    kind = "structure"


class Rounded(NamedTuple):
    """A number of a table cell that is printed with `digits` digits after the point."""

    value: Any
    digits: int

    @property
    def table_value(self) -> str:
        """Return the number as the table prints it."""
        return f"{float(self.value):.{self.digits}f}"


class Related(NamedTuple):
    """A table cell that is true or false: whether a relation between two numbers holds."""

    left: Any
    sign: str  # "<" or "="
    right: Any

    @property
    def table_value(self) -> bool:
        """Return whether the relation holds."""
        return bool(self.left < self.right if self.sign == "<" else self.left == self.right)


@dataclass(frozen=True, eq=False)
class Cells(_Words):
    """Table cells as the text prints them, and a function that computes all or some of the same
    cells.

    With `given`, integers as plain data, `compute` computes the cells from them, and a misprint's
    document records the computation. Where the text does not print these integers, `ranges` holds
    the ranges in which they were searched, and `fixing` names the cells that exclude all other
    integers.
    """

    says: str
    printed: Mapping[str, Any]
    compute: Callable[..., Mapping] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    ranges: Mapping[str, Any] = field(default_factory=dict)  # name in given -> ((low, high), ...)
    fixing: tuple[str, ...] = ()
    kind = "structure"

    def compute_cells(self, given: Mapping[str, Any] | None = None) -> Any:
        """Return {cell: computed value}, from the integers `given` or, where None, from the
        statement's own."""
        if self.compute is None:
            return {}
        return self.compute(given or self.given) if self.given else self.compute()

    def cells(self) -> list[tuple[str, Any, Any]]:
        """Return (cell, printed value, computed value) of each printed cell."""
        computed = {cell: getattr(v, "table_value", v) for cell, v in self.compute_cells().items()}
        return [(cell, value, computed.get(cell)) for cell, value in self.printed.items()]


@dataclass(frozen=True, eq=False)
class Comparisons(_Words):
    """A statement about an experiment, as comparisons of the quantities that its figure measures."""

    says: str
    compares: tuple[Comparison, ...]
    printed: Mapping[str, Any] = field(
        default_factory=dict
    )  # the values of cells that the text prints
    kind = "finding"


@dataclass(frozen=True, eq=False)
class Exists:
    """The statement that a line holds at some instance inside the hypotheses, as a lower bound
    says. One instance proves the statement; this instance is a counterexample to the statement's
    denial."""

    line: Line
    kind: str = field(default="existence", init=False)
    lines = ()  # no line holds at every instance

    def map_expressions(self, turn: Callable[..., Any]) -> Any:
        """Return the statement with `turn` applied to each of its expressions."""
        left, sign, right = self.line
        return replace(self, line=Line(turn(left), sign, turn(right)))

    @property
    def expressions(self) -> Any:
        """Return both sides of the line."""
        return [self.line.left, self.line.right]

    @property
    def denial(self) -> Any:
        """Return the lines that hold at every instance where the statement is false."""
        left, sign, right = self.line
        return Lines((Line(left, DENIED[sign], right),))

    @property
    def text(self) -> str:
        """Return the statement in plain text."""
        return f"there is an instance with {self.line.text}"

    @property
    def latex(self) -> str:
        """Return the statement in LaTeX."""
        return rf"\text{{there is an instance with }}{self.line.latex}"


STATEMENTS = (Lines, Order, Equivalences, Cells, Comparisons, Exists)
DENIED = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}
# The arguments of the short form of a statement; those of a line stand for its lines.
FIRST = ("measures", "relation", "bound", "also")
SHORT = (
    "kind",
    *FIRST,
    "lines",
    *("weakened", "explicit", "regime", "logs", "says", "same", "printed", "compute", "compares"),
    *("given", "ranges", "fixing"),
)


OLD_WORDS = {"teeth": "weakened"}  # former keywords of the short form, still accepted


def rename_old_words(whose: str, words: Mapping[str, Any]) -> Any:
    """Return keywords with former names replaced by present ones; refuse a keyword given twice."""
    for old, new in OLD_WORDS.items():
        if old in words and new in words:
            refuse(f"{whose}: {old}", f"must be left out, as {new} is given", words[old])
    return {OLD_WORDS.get(name, name): value for name, value in words.items()}


def from_keywords(whose: str, table: Table, words: Mapping[str, Any]) -> tuple[Any, Table]:
    """Return (statement, table) from the keywords of a claim; the table also holds the metric that
    `measures` names."""
    kind, relation = words.get("kind", "exact"), words.get("relation", "<=")
    if kind not in KINDS:
        refuse(f"{whose}: kind", f"must be one of {', '.join(KINDS)}", kind)
    if relation not in (*SIGNS,):
        refuse(f"{whose}: relation", f"must be one of {', '.join(SIGNS)}", relation)
    empty = lambda value: value is None or isinstance(value, (str, tuple, list, dict)) and not value
    said = {name: value for name, value in words.items() if not empty(value)}
    for name in ("measures", "bound"):
        if kind in ("exact", "order", "step") and name not in said and "lines" not in said:
            refuse(
                f"{whose}: {name}",
                "must be an expression, because the claim is neither a structure nor a finding",
                words.get(name),
            )
    if kind == "existence":
        return _existence_from(whose, relation, said), table
    lined = bool({"bound", "lines"} & said.keys())
    if lined and kind == "finding":
        refuse(
            f"{whose}: bound", "must be left out of a finding, which is a sentence", words["bound"]
        )
    if not lined:
        made = _in_words(kind, said)
    else:
        if "lines" not in said and not isinstance(said["measures"], sympy.Basic):
            table, said["measures"] = _with_metric(table, said["measures"])
        made = _of_lines(whose, kind, relation, said)
    own = {f.name for f in fields(made)} | {"kind"} | ({*FIRST, "lines"} if lined else {"relation"})
    strange = sorted(said.keys() - own)
    if strange:
        refuse(
            f"{whose}: {strange[0]}", f"must be left out of {type(made).__name__}", said[strange[0]]
        )
    return made, table


def _of_lines(whose: str, kind: str, relation: str, said: Mapping[str, Any]) -> Lines:
    """Return the Lines, or the Order, that the keywords of a claim state; formulas that are no
    SymPy expressions are refused."""
    lines = said.get("lines")
    if lines is None:
        sides = (
            claim_validation.check_formula(f"{whose}: {name}", said[name])
            for name in ("measures", "bound")
        )
        left, right = sides
        also = tuple(
            claim_validation.check_line(whose, each, SIGNS) for each in said.get("also", ())
        )
        lines = ((left, relation, right), *also)
    else:
        lines = tuple(claim_validation.check_line(whose, each, SIGNS) for each in lines)
    weakened = said.get("weakened")
    more = dict(
        lines=tuple(Line(*line) for line in lines),
        weakened=None
        if weakened is None
        else claim_validation.check_formula(f"{whose}: weakened", weakened),
        explicit=said.get("explicit", ""),
    )
    if kind == "order":
        logs = said.get("logs")
        return Order(
            **more,
            regime=tuple(said.get("regime", ())),
            logs=None if logs is None else claim_validation.check_formula(f"{whose}: logs", logs),
        )
    return Lines(**more, kind=kind)


def _existence_from(whose: str, relation: str, said: Mapping[str, Any]) -> Any:
    """Return the Exists that the keywords of a claim state; keywords of other statements are
    refused."""
    strange = sorted(said.keys() - {"kind", "measures", "relation", "bound"})
    if strange:
        refuse(f"{whose}: {strange[0]}", "must be left out of a statement of existence", strange)
    if relation not in DENIED:
        refuse(f"{whose}: relation", f"must be one of {', '.join(DENIED)}", relation)
    for name in ("measures", "bound"):
        if name not in said:
            refuse(f"{whose}: {name}", "must be an expression", None)
    left, right = (
        claim_validation.check_formula(f"{whose}: {name}", said[name])
        for name in ("measures", "bound")
    )
    return Exists(Line(left, relation, right))


def _in_words(kind: str, said: Mapping[str, Any]) -> _Words:
    """Return the Comparisons, Cells or Equivalences that the keywords of a claim state."""
    says = said.get("says", "")
    if kind == "finding":
        return Comparisons(says, tuple(said.get("compares", ())), said.get("printed", {}))
    if {"compute", "printed"} & said.keys():
        more = {name: said[name] for name in ("given", "ranges", "fixing") if name in said}
        return Cells(says, said.get("printed", {}), said.get("compute"), **more)
    return Equivalences(says, tuple(said.get("same", ())))


def to_keywords(statement: Any) -> dict[str, Any]:
    """Return the keywords from which a statement is built."""
    if isinstance(statement, Exists):
        line = zip(("measures", "relation", "bound"), statement.line)
        return dict(line, kind=statement.kind)
    words = {f.name: getattr(statement, f.name) for f in fields(statement)}
    if isinstance(statement, Lines):
        (measures, relation, bound), *also = words.pop("lines")
        words.update(measures=measures, relation=relation, bound=bound, also=tuple(also))
    return dict(words, kind=statement.kind)


def _with_metric(table: Table, metric: str | Sequence[str]) -> tuple[Table, sympy.Symbol]:
    """Return the table with a further symbol for a metric at the last round, and the symbol, for
    claims that name a metric."""
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
