"""A claim: one statement of a paper, written once in SymPy. Numbers, LaTeX and checks are derived
from this record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import cached_property
from typing import Any

import sympy

from fedtheory.display import Shown
from fedtheory.errors import refuse
from fedtheory.language import claim_validation
from fedtheory.language.claim_evaluation import EvaluatedClaim
from fedtheory.language.conditions import Assumption, Condition, Rule
from fedtheory.language.printing import latex, plain
from fedtheory.language.statements import (
    KINDS,
    SHORT,
    SIGNS,
    STATEMENTS,
    Cells,
    Comparison,
    Comparisons,
    Equivalences,
    Exists,
    Line,
    Lines,
    Order,
    Same,
    Theta,
    from_keywords,
    rename_old_words,
)
from fedtheory.language.symbol import Entry, Table, expand_definitions
from fedtheory.language.variants import ANY, DENIED, ClaimVariants

__all__ = [
    "ANY",
    "KINDS",
    "SIGNS",
    "Cells",
    "Claim",
    "Comparison",
    "Comparisons",
    "Equivalences",
    "Exists",
    "Line",
    "Lines",
    "Order",
    "Same",
    "Theta",
]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Claim(EvaluatedClaim, ClaimVariants, Shown):
    """One statement of a paper with its hypotheses.

    The statement is a record of `fedtheory.language.statements`, or is given in the short form: `measures`,
    `relation` and `bound` are its first line, `also` holds its further lines. `symbols` is the
    paper's table; formulas are SymPy expressions in the table's symbols, never text. `assumes`
    holds the hypotheses that the text states, `unstated` those that only the proof uses. `follows`
    names the premises of its proof. `weakened` is a false bound, which must fail.

    A claim is built with checks: InvalidInput is raised for a formula with symbols of another
    table, an empty hypothesis or a malformed id. docs/adding.md and docs/worked.md show complete
    claims.

    >>> from fedtheory.claim import Claim
    >>> from fedtheory.symbols.fsl import TABLE, L, eta_0
    >>> c = Claim("mine.step", "a note", TABLE, measures=eta_0 * L, bound=1, assumes=[eta_0 * L <= 1])
    >>> print(c, c.admits(dict(eta_0=2, L=1)))
    eta_0 L <= 1 [<assumes eta_0 L <= 1>]
    """

    id: str
    cites: str
    paper: str
    symbols: Table  # the part of the paper's table that the claim uses
    meaning: str
    note: str  # set where the text's own steps do not give the stated form
    figure: str  # id of the figure or table that the claim is about, or in which it stands
    algorithm: Any  # an Algorithm or its name; several names where the claim covers several
    assumes: tuple[Assumption, ...]  # hypotheses that the text states
    unstated: tuple[Assumption, ...]  # hypotheses that only the proof uses
    dropped: tuple[Assumption, ...]  # of a variant: the hypotheses that it no longer assumes
    follows: dict[int, tuple]  # line, from 1 -> the premises of its proof: "id", "id/line"
    statement: Lines | Order | Equivalences | Cells | Comparisons | Exists

    def __init__(
        self,
        id: str,
        cites: str,
        symbols: Table,
        statement: Lines | None = None,
        *,
        paper: str = "",
        meaning: str = "",
        note: str = "",
        figure: str = "",
        algorithm: object = None,
        assumes: Sequence[Any] = (),
        unstated: Sequence[Assumption | Condition] = (),
        dropped: Sequence[Assumption] = (),
        follows: Mapping[int, tuple[str, ...]] | Sequence[str] = (),
        **short: Any,
    ) -> None:
        give = lambda name, value: object.__setattr__(self, name, value)
        whose = claim_validation.check_identity(id)
        short = rename_old_words(whose, short)
        unknown = sorted(set(short) - set(SHORT))
        if unknown:
            raise TypeError(f"a Claim has no field {', '.join(unknown)}")
        table = claim_validation.check_table(whose, symbols).whole
        if statement is None:
            statement, table = from_keywords(whose, table, short)
        elif short or not isinstance(statement, STATEMENTS):
            refuse(
                f"{whose}: statement",
                "must be a record of fedtheory.language.statements, without further keywords of a statement",
                statement,
            )
        for name, value in dict(
            id=id, cites=cites, meaning=meaning, note=note, figure=figure, statement=statement
        ).items():
            give(name, value)
        give("paper", paper or table.paper)
        give("algorithm", claim_validation.check_algorithm(whose, algorithm))
        give("assumes", claim_validation.check_hypotheses(whose, assumes, True))
        give("unstated", claim_validation.check_hypotheses(whose, unstated, False))
        give("dropped", tuple(a for a in dropped if a not in (*self.assumes, *self.unstated)))
        give("follows", claim_validation.check_premises(whose, follows, len(self.lines)))
        give("symbols", table.only(self._mentioned_symbols()))
        if self.lines:
            lines = tuple(line.of(self.symbols) for line in self.lines)
            give("statement", replaced(statement, lines=lines))
        elif isinstance(self.statement, Exists):
            give("statement", replaced(self.statement, line=self.statement.line.of(self.symbols)))
        # Two symbols with one name and different SymPy assumptions are different to SymPy, and the
        # same to a reader.
        named = self._mentioned_symbols().union(
            *(e.free_symbols for e in self.definitions.values())
        )
        strangers = sorted(
            s.name for s in named if s.name not in table or table[s.name].symbol != s
        )
        if strangers:
            refuse(
                f"{whose}: its formulas",
                f"must use symbols of the table of {table.paper}",
                strangers,
            )

    def _mentioned_symbols(self) -> set[sympy.Symbol]:
        """Return the set of symbols that the statement and its assumptions mention."""
        mentioned = [
            *self.statement.expressions,
            *(a.holds for a in (*self.assumes, *self.unstated)),
        ]
        return set().union(*(e.free_symbols for e in mentioned if isinstance(e, sympy.Basic)))

    # Statement

    @property
    def title(self) -> str:
        """Return the claim's name and place for a heading: "theorem1 (theorem 1)"."""
        return f"{self.id.rpartition('.')[2]} ({self.cites})"

    where = property(lambda self: self.cites)
    kind = property(lambda self: self.statement.kind)
    lines = property(lambda self: self.statement.lines, doc="Its Lines, (left, relation, right).")
    also = property(lambda self: self.lines[1:], doc="The lines after the first.")

    def _first(self, part: str) -> sympy.Expr:
        return getattr(self.lines[0], part) if self.lines else None

    measures = property(lambda self: self._first("left"), doc="The first line's left side.")
    relation = property(lambda self: self._first("relation"))
    bound = property(lambda self: self._first("right"), doc="The first line's right side.")

    def _of(self, part: str, none: str | Mapping[str, Any] | Sequence[Any] | None) -> Any:
        return getattr(self.statement, part, none)

    weakened = property(
        lambda self: self._of("weakened", None), doc="A false bound, which a checker must refute."
    )
    teeth = property(lambda self: self.weakened, doc="The former name of `weakened`.")
    explicit = property(lambda self: self._of("explicit", ""), doc="Id of what has the constants.")
    regime = property(lambda self: self._of("regime", ()), doc="The Thetas of an order.")
    logs = property(lambda self: self._of("logs", None), doc="The factor that an O~ hides.")
    says = property(lambda self: self._of("says", ""), doc="The sentence of what has no lines.")
    same = property(lambda self: self._of("same", ()), doc="Its equivalences.")
    compares = property(lambda self: self._of("compares", ()), doc="A finding's Comparisons.")
    printed = property(lambda self: self._of("printed", {}), doc="Cells as the text has them.")
    compute = property(lambda self: self._of("compute", None), doc="What computes the same cells.")

    @cached_property
    def denial(self) -> Any:
        """Return the claim that every instance would satisfy if this existence statement were
        false; None for any other kind of statement."""
        if not isinstance(self.statement, Exists):
            return None
        return self.replace(self.name_variant(DENIED), statement=self.statement.denial, follows=())

    def cells(self) -> Sequence[tuple[str, Any, Any]]:
        """Return (cell, printed value, computed value) triples of a claim about table cells; () for
        any other claim."""
        return self.statement.cells() if isinstance(self.statement, Cells) else ()

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Return all hypotheses: stated, unstated, and the rules that symbols obey by their meaning
        (S <= N)."""
        return (
            *self.assumes,
            *self.unstated,
            *(Rule(rule, "by meaning") for rule in self.symbols.rules),
        )

    # Symbols

    @property
    def table(self) -> Table:
        """Return the table of all symbols of the claim's paper."""
        return self.symbols.whole

    @cached_property
    def quantities(self) -> dict[str, Entry]:
        """Return the mapping name -> Entry of the symbols that are measured on an instance or a
        run, on either side."""
        return {name: entry for name, entry in self.symbols.items() if entry.measure is not None}

    @cached_property
    def parameters(self) -> dict[str, Entry]:
        """Return the mapping name -> Entry of hyper-parameters and constants, which are neither
        measured nor derived."""
        return {
            name: entry
            for name, entry in self.symbols.items()
            if entry.measure is None and entry.definition is None
        }

    @cached_property
    def left_open(self) -> dict[str, Any]:
        """Return the mapping name -> Entry of constants of which the statement only says "for some
        value", and that no equation fixes."""
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
    def definitions(self) -> dict[sympy.Symbol, sympy.Expr]:
        """Return the mapping symbol -> expression of derived symbols, in the table's order."""
        return self.symbols.definitions

    def expand(self, expr: sympy.Basic) -> sympy.Basic:
        """Return an expression with derived symbols replaced by their definitions."""
        return expand_definitions(expr, self.definitions)

    # Printing

    def latex(self, expr: sympy.Expr | None = None) -> str:
        """Return the LaTeX of the statement, or of any expression in the claim's symbols, with the
        paper's letters."""
        return self.statement.latex if expr is None else latex(expr, self.table)

    def plain(self, expr: sympy.Basic) -> str:
        """Return an expression in the claim's symbols as plain text, for terminals."""
        return plain(expr, self.table)

    def __str__(self) -> str:
        return self.statement.text

    def heading(self) -> str:
        return f"Claim {self.id}"

    def facts(self) -> dict[str, Any]:
        """Return the statement and the hypotheses in the paper's letters."""
        says = [
            str(a)
            if a.relation is None
            else f"${self.latex(a.relation)}$" + f" [{a.where}]" * bool(a.where)
            for a in self.assumptions
        ]
        told = (
            {self.cites: f"$\\displaystyle {self.latex()}$"} if self.lines else {self.cites: self}
        )
        return told | ({"it assumes": "\n".join(says)} if says else {})

    def __repr__(self) -> str:
        return f"<Claim {self.id}: {self}>"
