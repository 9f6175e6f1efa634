"""Selection of the line of a claim that can be compared with a run, and the reasons why a line
cannot."""

from collections.abc import Collection
from copy import copy
from typing import TYPE_CHECKING, Any

from fedtheory import arguments
from fedtheory.comparison.letters import LAWS
from fedtheory.comparison.run_measures import SPAN, at_a_point, is_readable
from fedtheory.errors import InvalidInput, article
from fedtheory.language.claim import Claim
from fedtheory.language.symbol import Entry

if TYPE_CHECKING:
    import sympy

DIRECTIONS = ("<=", "<", ">=", ">")


def at_start(entry: Entry) -> bool:
    """Tell whether a symbol is measured at the start alone, before anything runs."""
    return at_a_point(entry.measure)


def of_law(entry: Entry) -> bool:
    """Tell whether a symbol is a moment of participation, which the run's law determines."""
    return entry.measure.metric in LAWS and entry.measure.average == "E"


class Line:
    """A line of a claim, with its symbols sorted by the source of their values.

    `start` are quantities measured at x_0 alone, `law` moments of participation, `run` everything
    that is read from the points of a run. `given` are the names of measured quantities whose values
    a user gives: they are in none of the three.
    """

    def __init__(self, claim: Claim, number: int, given: Collection[str] = ()) -> None:
        self.claim, self.number = claim, number
        self.left, self.sign, self.right = claim.lines[number]
        free = {s.name for s in self._free(self.left) | self._free(self.right)}
        entries = {name: entry for name, entry in claim.quantities.items() if name in free}
        self.start = {name: e for name, e in entries.items() if at_start(e)}
        self.law = {name: e for name, e in entries.items() if of_law(e)}
        self.run = {
            name: e
            for name, e in entries.items()
            if name not in self.start and name not in self.law and name not in given
        }

    def split_user_quantities(self) -> "tuple[Line, dict[str, Any]]":
        """Return (the line without the quantities that a user's own functions compute from a run,
        {name: Entry} of these quantities)."""
        mine = {name: entry for name, entry in self.run.items() if entry.own is not None}
        rest = copy(self)
        rest.run = {name: entry for name, entry in self.run.items() if name not in mine}
        return rest, mine

    def _free(self, expr: "sympy.Expr") -> "set[sympy.Symbol]":
        """Return the free symbols of an expression, with the claim's definitions expanded."""
        return self.claim.expand(expr).free_symbols

    def on(self, expr: "sympy.Expr") -> dict[str, Entry]:
        """Return {name: Entry} of the quantities of a run that occur in an expression."""
        names = {s.name for s in self._free(expr)}
        return {name: entry for name, entry in self.run.items() if name in names}

    def why_not(self) -> str | None:
        """Return one sentence that says why the line cannot be compared with a run, or None where
        the line can."""
        title = self.claim.title
        if self.sign == "O":
            there = self.claim.explicit
            return f"{title} is an order, which no run can exceed" + (
                f"; {there} has its constants" if there else ""
            )
        if self.sign not in DIRECTIONS:
            return f"{title} is an equation: no side bounds the other"
        for name, entry in self.run.items():
            how = entry.measure
            if entry.own is not None:
                continue
            if how.at == "limit":
                return f"{title} bounds {name} after infinitely many rounds, which no run reaches"
            if how.at not in SPAN or not is_readable(how):
                return (
                    f"{title} measures {name}, {entry.meaning}, which is not read off a run: it is "
                    "no metric"
                )
        if not any(
            entry.measure.of_a_run or entry.measure.at == "t" for entry in self.run.values()
        ):
            return f"{title} measures nothing on a run"
        for side in (self.left, self.right):
            mixed = self._within_a_round(side)
            if mixed:
                return (
                    f"{title} speaks of one round from a point that is given, and is not affine in "
                    f"{mixed}: its expectation over points does not follow"
                )
        return None

    def _within_a_round(self, side: "sympy.Expr") -> Any:
        """Return the name of a symbol in which a side of a statement about one round is not affine."""
        side = self.claim.expand(side)
        within = [e.symbol for e in self.run.values() if e.measure.average != "E"]
        for symbol in within:
            if side.diff(symbol).free_symbols & set(within):
                return symbol.name
        return None


def line_of(claim: Claim, number: int | None = None, given: Collection[str] = ()) -> Line:
    """Return the requested line, or the first line that can be compared with a run; refuse with the
    reason where there is none."""
    if not claim.lines:
        raise InvalidInput(
            f"{claim.title} is {article(claim.kind)}: it has no line to compare with a run"
        )
    if claim.algorithm is None:
        raise InvalidInput(f"{claim.title} names no method, so there is nothing to run")
    if isinstance(claim.algorithm, tuple) and len(claim.algorithm) > 1:
        raise InvalidInput(
            f"{claim.title} covers several methods; choose one with replace(algorithm=...)"
        )
    most = len(claim.lines) - 1
    numbers = (
        range(most + 1) if number is None else [arguments.check_integer("line", number, 0, most)]
    )
    lines = [Line(claim, n, given) for n in numbers]
    reasons = [line.why_not() for line in lines]
    for line, reason in zip(lines, reasons):
        if reason is None:
            return line
    raise InvalidInput(reasons[0])
