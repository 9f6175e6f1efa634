"""Panels of an experiment's figure: curves over rounds, or bars over a coordinate of the cells, one
line for each method, drawn from a declaration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory.experiments import _curves
from fedtheory.figures import _style
from fedtheory.figures._runs import Coordinates, Runs, Template, fill_template

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES = (
    "Rolling means over 2 % of the rounds; a line is the mean over seeds, its band goes from the least "
    "to the most."
)
SPREADS = "A line is the mean over seeds, its bars go from the least to the most."
LINES = "A line is the mean over seeds, its band goes from the least to the most."
DASHES = (":", (0, (2, 1)), (0, (6, 1.5, 1.5, 1.5)), "-")
ROOM = 0.3  # of the distance of two places: what the bars of one place share


class Line(NamedTuple):
    """A line of a panel: its label, the algorithm whose look it has, the coordinates of its cells,
    and what differs from that look."""

    label: str
    look: str
    match: Mapping[str, Any]
    more: Mapping[str, Any] = {}


Lines = Sequence[Line] | Callable[[Runs, Coordinates], Sequence[Line]]


def lines_of(looks: Mapping[str, str], coordinate: str = "method") -> list[Line]:
    """Return a line for each {value of a coordinate: algorithm}."""
    return [Line(value, look, {coordinate: value}) for value, look in looks.items()]


@dataclass(frozen=True)
class Panels:
    """A grid of panels. Each row has one value of `down`, each panel of it one of the coordinates
    `across`; either may be the `quantity` that is drawn."""

    lines: Lines
    across: Sequence[str] = ()
    down: str = ""
    quantities: Sequence[str] = ("test_accuracy",)
    tasks: Sequence[str] = ("",)  # whose runs each quantity is read off, if there are several
    only: Mapping[str, Any] = field(default_factory=dict)  # coordinates of the cells that are drawn
    over: str = ""  # the coordinate of bars; curves go over the rounds
    by_place: bool = False  # whether bars stand at equal distances instead of at numbers
    rolled: bool = False  # whether curves are rolling means
    title: Template = ""
    xlabel: Template = ""
    ylabel: Template = ""  # where all panels of a row have the same, the first alone shows it
    share: Mapping[str, Any] = field(default_factory=dict)  # sharex, sharey
    legend: str | Callable[[Coordinates], str] = "below"  # or in a spare place, or in panels
    ncols: int = 5  # of the legend below
    wrap: int = 0  # how many panels of a row stand side by side, if not all
    scale: Template = "linear"  # of the values

    def list_rows(self, runs: Callable[[str], Runs]) -> list[list[Coordinates]]:
        """Return the coordinates of the panels, row by row."""
        found: list[list[Coordinates]] = []
        first = dict(quantity=self.quantities[0], task=self.tasks[0])
        for row, above in enumerate(self._list_values(runs, [self.down] if self.down else [], {})):
            beside = self._list_values(runs, self.across, above)
            places = [
                {**first, **self.only, **above, **at, "row": row, "column": column}
                for column, at in enumerate(beside)
            ]
            wide = self.wrap or len(places)
            found += [places[n : n + wide] for n in range(0, len(places), wide)]
        return found

    def _list_values(
        self, runs: Callable[[str], Runs], names: Sequence[str], above: Coordinates
    ) -> list[Coordinates]:
        if "quantity" in names:
            tasks = [*self.tasks] * (len(self.quantities) if len(self.tasks) == 1 else 1)
            return [dict(quantity=q, task=task) for q, task in zip(self.quantities, tasks)]
        read = runs(self.tasks[0])
        cells = read.select_cells(**self._match_cells(above))
        return [
            dict(zip(names, values))
            for values in dict.fromkeys(
                tuple(read.coordinates_of(cell)[name] for name in names) for cell in cells
            )
        ]

    def draw_panels(self, figure: "Figure", runs: Callable[[str], Runs]) -> None:
        """Draw all panels, and the legend."""
        rows = self.list_rows(runs)
        axes = figure.subplots(len(rows), max(map(len, rows)), squeeze=False, **self.share)
        for panels, row in zip(rows, axes):
            for spare in row[len(panels) :]:
                spare.set_axis_off()
            labels = {fill_template(self.ylabel, at) for at in panels}
            for at, ax in zip(panels, row):
                self._draw_panel(ax, runs(at["task"]), at)
                same = len(labels) == 1 and ax is not row[0]
                ax.set_ylabel("" if same else fill_template(self.ylabel, at))
                if "sharex" not in self.share or panels is rows[-1]:
                    ax.set_xlabel(fill_template(self.xlabel, at))
        if self.legend == "below":
            _style.legend_below(figure, *axes.ravel(), ncols=self.ncols)
        elif self.legend == "spare":
            axes[-1, -1].legend(*axes[0, 0].get_legend_handles_labels(), loc="center")

    def _draw_panel(self, ax: "Axes", runs: Runs, at: Coordinates) -> None:
        lines = self.lines(runs, at) if callable(self.lines) else self.lines
        match = self._match_cells(at)
        for n, line in enumerate(lines):
            cells = runs.choose_cells({**match, **line.match})
            if cells and self.over:
                self._draw_bars(ax, runs, at, line, (n, len(lines)))
            elif cells:
                curves = np.mean([runs.curves_of(*c, name=at["quantity"]) for c in cells], axis=0)
                draw_curves(ax, runs.rounds_of(*cells[0]), curves, line, self.rolled)
        ax.set_title(fill_template(self.title, at))
        ax.set_yscale(fill_template(self.scale, at))
        place: Any = self.legend(at) if callable(self.legend) else self.legend
        if place not in ("", "below", "spare"):
            ax.legend(loc=place)

    def _match_cells(self, at: Coordinates) -> Coordinates:
        """Return the coordinates of the cells of a panel."""
        own = {k: at[k] for k in (self.down, *self.across) if k in at and k != "quantity"}
        return {**self.only, **own}

    def _draw_bars(
        self, ax: "Axes", runs: Runs, at: Coordinates, line: Line, among: tuple[int, int]
    ) -> None:
        """Draw a line over the coordinate `over`; level where cells have no such value."""
        match = self._match_cells(at)
        every = [value for value in runs.distinct_values(self.over, **match) if value]
        value = lambda cell: runs(at["quantity"], *cell)
        by_value = {
            runs.coordinates_of(c)[self.over]: value(c)
            for c in runs.choose_cells({**match, **line.match})
        }
        more = dict(line.more)
        if "" in by_value:
            by_value, more = dict.fromkeys(every, by_value[""]), {"marker": ""} | more
        places = [every.index(v) if self.by_place else float(v) for v in by_value]
        draw_bars(ax, places, [*by_value.values()], line.look, line.label, among, **more)
        ax.set_xticks([n if self.by_place else float(v) for n, v in enumerate(every)], every)


def draw_curves(
    ax: "Axes", rounds: np.ndarray, curves: np.ndarray, line: Line, rolled: bool = False
) -> None:
    """Draw curves (seeds, measurements): means over seeds as a line, extremes over seeds as a
    band."""
    if rolled:
        curves = np.array([_curves.rolling_mean(curve) for curve in curves])
    spread = curves.mean(axis=0), curves.min(axis=0), curves.max(axis=0)
    _style.draw_band(ax, rounds, *spread, line.look, label=line.label, **line.more)
    locator: Any = ax.xaxis.get_major_locator()
    locator.set_params(integer=True)


def draw_bars(
    ax: "Axes",
    places: Sequence[float],
    values: Sequence[np.ndarray],
    look: str,
    label: str,
    among: tuple[int, int] = (0, 1),
    **more: Any,
) -> None:
    """Draw means over seeds of values (places, seeds), with bars from the least to the greatest
    value, since bars of a standard deviation of shares could reach below 0. `among` = (n, count)
    shifts the n-th of several lines sideways so that no bar hides another."""
    style = _style.algorithm_look(look)
    x, spread, (n, count) = np.asarray(places, float), np.asarray(values), among
    room = ROOM * (np.diff(np.unique(x)).min() if len(x) > 1 else 1.0)
    mean = spread.mean(axis=1)
    ax.errorbar(
        x + room * ((n + 0.5) / count - 0.5),
        mean,
        np.maximum(0.0, [mean - spread.min(axis=1), spread.max(axis=1) - mean]),  # rounding apart
        **{
            "color": style.colour,
            "linestyle": style.dash,
            "marker": style.marker,
            "capsize": 1.5,
            "elinewidth": 0.7,
            "label": label,
            **more,
        },
    )
