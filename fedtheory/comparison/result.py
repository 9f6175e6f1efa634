"""Record of both sides of a claim over rounds, which can be read, drawn and printed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.comparison.case import side_values
from fedtheory.comparison.lines import Line
from fedtheory.display import Shown
from fedtheory.errors import refuse
from fedtheory.language.claim import Claim
from fedtheory.runs import plots

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

    from fedtheory.algorithm import Algorithm
    from fedtheory.language.claim import Claim
    from fedtheory.problem import Problem

ROOM = 1e-9  # two sides with a smaller relative difference are equal up to rounding


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Both sides of a claim's line on one problem, for each number T of rounds at which the claim's
    hypotheses hold.

    `left` is the mean over the trials, and `low` and `high` are the ends of the band of 80 % of the
    trials, all NaN where no run was made. `left_exact` is the exact expectation, None where there
    is no exact form. `right` is the bound, rounded to the safe side. `numbers` are the values of
    the letters, one for each T where a letter varies with T.
    """

    claim: Claim
    line: int
    problem: "Problem"
    algorithm: "Algorithm"
    runs: tuple[Any, ...]  # one Run, or one for each T where step sizes depend on T
    numbers: dict[str, Any]
    T: np.ndarray
    left: np.ndarray
    low: np.ndarray
    high: np.ndarray
    left_exact: np.ndarray
    right: np.ndarray
    size: np.ndarray  # the size of the terms of the left side, to which rounding is relative
    # the left side minus the most that rounding may have added, for comparison with `right`
    least: np.ndarray
    most: np.ndarray  # the left side plus the most that rounding may have subtracted
    notes: tuple[Any, ...] = ()

    @property
    def decisive_left(self) -> np.ndarray:
        """Return the left side that counts: exact where the exact expectation is known, else the
        mean over the trials."""
        return self.left if self.left_exact is None else self.left_exact

    @property
    def upper(self) -> bool:
        """Return whether the right side is claimed to be the larger one."""
        return self.claim.lines[self.line][1] in ("<=", "<")

    @property
    def share(self) -> np.ndarray:
        """Return left side over right side, where the right side is positive; NaN elsewhere."""
        return np.divide(
            self.decisive_left, self.right, out=np.full(len(self.T), np.nan), where=self.right > 0
        )

    def per_quantity(self) -> "Comparison":
        """Return the comparison of the measured quantity alone, where the left side is a multiple of
        one: both sides are divided by the quantity's factor, and the bound is infinite where the
        factor is not positive.

        >>> import fedtheory as ft
        >>> problem = ft.problems.quadratic(d=2, clients=4, L=1.0, mu=0.5)
        >>> found = ft.compare("fsl.theorem2", problem, rounds=[5], trials=0, eta_0=0.02)
        >>> bool(found.right[0] > found.per_quantity().right[0])  # the left side is h E_T with h > 1
        True
        """
        line = Line(self.claim, self.line)
        if len(line.on(line.left)) != 1:
            refuse(
                "per_quantity", "takes a claim that measures one quantity on its left", self.claim
            )
        side = lambda value: side_values(
            line, "left", self.numbers, {name: np.full((1, 1), value) for name in line.run}
        )[0]
        if np.any(side(0.0)):
            refuse("per_quantity", "takes a left side that is a multiple of a quantity", self.claim)
        factor = np.broadcast_to(side(1.0), self.T.shape)
        names = ("left", "low", "high", "left_exact", "size", "least", "most")
        with np.errstate(divide="ignore", invalid="ignore"):
            found: dict[str, Any] = {
                name: None if getattr(self, name) is None else getattr(self, name) / factor
                for name in names
            }
            right = np.where(factor > 0, self.right / factor, np.inf)
        return replace(self, right=right, **found)

    def _holds_with(self, side: np.ndarray) -> np.ndarray:
        """Return where the claim holds with `side` as its left side, up to the last digits of the
        claim's formulas."""
        room = ROOM * (np.abs(self.right) + self.size)
        with np.errstate(invalid="ignore"):
            return side <= self.right + room if self.upper else side >= self.right - room

    @property
    def exceeded(self) -> Any:
        """Return the first T at which the left side exceeds the right side (or falls below, where
        the right side is claimed to be the smaller one) by more than rounding; None where there is
        no such T, and where nothing was measured. NaN counts."""
        if self.left_exact is None and not self.runs:
            return None
        away = np.flatnonzero(~self._holds_with(self.least if self.upper else self.most))
        return int(self.T[away[0]]) if len(away) else None

    @property
    def undecided(self) -> np.ndarray:
        """Return each T at which rounding hides which side is larger."""
        for_sure = self._holds_with(self.most if self.upper else self.least)
        return self.T[self._holds_with(self.least if self.upper else self.most) & ~for_sure]

    @property
    def says(self) -> str:
        """Return one sentence that says which statement about this run holds."""
        if self.left_exact is None and not self.runs:
            return "no run was made, and no exact expectation is known: this is the bound alone"
        how = (
            "exact expectation"
            if self.left_exact is not None
            else f"mean of {self.runs[0].trials} trials"
        )
        away = "exceeded" if self.upper else "undercut"
        hidden, first = self.undecided, self.exceeded
        if first is not None:
            before = hidden[hidden < first]
            unless = (
                f", unless {_rounds_in_words(before)}, where rounding hides it"
                if len(before)
                else ""
            )
            return f"on this run the bound is {away} first at T = {first}, by the {how}{unless}"
        side = f"the left side stays {'below' if self.upper else 'above'} the bound"
        if len(hidden) == len(self.T):
            return f"on this run rounding hides which side is larger, by the {how}, at every T: undecided"
        if len(hidden):
            return (
                f"on this run {side} wherever rounding shows which is larger; {_rounds_in_words(hidden)} it hides "
                f"that: undecided there, by the {how}"
            )
        last = int(self.T[-1])
        ratio = f"; at T = {last} it is {self.share[-1]:.2g} of it" if self.right[-1] > 0 else ""
        return f"on this run {side} at every T{ratio}"

    def columns(self) -> dict[str, np.ndarray]:
        """Return {name: array over T}."""
        found = dict(T=self.T)
        if self.runs:
            found.update(left=self.left, low=self.low, high=self.high)
        if self.left_exact is not None:
            found["left_exact"] = self.left_exact
        return dict(found, right=self.right)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the bound, the runs with their band, and the exact expectation over T; return the
        axes."""
        ax = plots.axes_for(ax)
        name = self.algorithm.name
        ax.plot(
            self.T, self.right, color="black", linestyle="--", label=f"bound: {self.claim.cites}"
        )
        if self.runs:
            plots.draw_band(
                ax, self.T, self.left, self.low, self.high, f"{name}, sampled", plots.PRACTICE
            )
        if self.left_exact is not None:
            ax.plot(
                self.T,
                self.left_exact,
                color=plots.EXPECTED,
                linestyle=":",
                label=f"{name}, exact expectation",
            )
        ax.set_xlabel("rounds $T$")
        ax.set_ylabel(f"${self.claim.latex(self.claim.lines[self.line][0])}$")
        ax.set_xscale("log")
        plots.set_log_axis(ax)
        ax.legend(frameon=False)
        return ax

    def to_dataframe(self) -> dict[str, np.ndarray]:
        """Return a pandas DataFrame with a row for each T."""
        return plots.to_frame(self.columns())

    def table(self) -> Iterator[Any]:
        """Return lines for a terminal, with T = 1, 2, 5, 10, 20, ... and the last."""
        heads = dict(
            T="T",
            left="left side, sampled",
            left_exact="left side, exact",
            right="right side, the bound",
        )
        columns = {name: column for name, column in self.columns().items() if name in heads}
        return plots.table_lines(
            [heads[name] for name in columns],
            list(columns.values()),
            plots.round_marks(self.T, int(self.T[0])),
        )

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.claim.title}: {self.claim}",
                *self.table(),
                self.says,
                *self._vacuity_notes(),
                *self.notes,
            ]
        )

    def _vacuity_notes(self) -> Iterator[str]:
        """Yield a sentence where nothing could exceed the bound: the left side is at most 0 and the
        right side at least 0 at every T."""
        if self.upper and (self.decisive_left <= 0).all() and (self.right >= 0).all():
            yield "the left side is not positive with these letters, so that the bound says nothing"

    def heading(self) -> str:
        return f"Comparison of {self.claim.id} on {self.problem.name}"

    def facts(self) -> dict[str, str]:
        return {
            "": self.says,
            "line": self.claim.lines[self.line].text,
            "runs of": self.algorithm.name,
        }

    def __repr__(self) -> str:
        return f"<{self.heading()}: {self.says}>"


def _rounds_in_words(T: np.ndarray) -> str:
    """Return numbers of rounds in words."""
    first, last = int(T[0]), int(T[-1])
    if first == last:
        return f"at T = {first}"
    all_of_them = len(T) == last - first + 1
    return f"from T = {first} to {last}" if all_of_them else f"at {len(T)} T from {first} to {last}"


def join_comparisons(found: Sequence[Any]) -> Comparison:
    """Join comparisons of one T each into one comparison, with letters as arrays over T. The exact
    side is kept only if every part has it."""
    stack = lambda name: np.concatenate([getattr(each, name) for each in found])
    exact = all(each.left_exact is not None for each in found)
    return replace(
        found[-1],
        runs=tuple(run for each in found for run in each.runs),
        numbers={
            name: np.array([np.ravel(each.numbers[name])[0] for each in found], float)
            for name in found[-1].numbers
        },
        left_exact=stack("left_exact") if exact else None,
        notes=tuple(dict.fromkeys(note for each in found for note in each.notes)),
        **{
            name: stack(name)
            for name in ("T", "left", "low", "high", "right", "size", "least", "most")
        },
    )
