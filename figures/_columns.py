"""One-column versions of page-wide figures: the same code draws the same panels below each other
instead of side by side, with letters of the same size.

Two rows of panels stand as two columns; a grid of four or more goes in pairs; what is less, one by one.
A label that a panel had from its neighbour is written where it lost it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from fedtheory.figures import _table
from fedtheory.figures._record import WIDTHS

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes
    from matplotlib.legend import Legend

SMALL, LARGEST = 1.35, 9.0  # inches: the least height of a panel, the greatest of a column
PAIRS = 4  # so many panels, and they go two by two
LONG = 16  # letters of a legend's entry, from which on two fill a row


class Column(Figure):
    """A Matplotlib figure whose `subplots` stand in one column of a paper."""

    def __init__(self, height: float, **more: Any) -> None:
        super().__init__(figsize=(WIDTHS["column"], height), layout="constrained", **more)
        self.asked = self.places = None

    def subplots(
        self,
        nrows: int = 1,
        ncols: int = 1,
        *,
        sharex: bool = False,
        sharey: bool | str = False,
        squeeze: bool = True,
        **ratios: tuple[float, int, int, int],
    ) -> np.ndarray:
        high = self.get_size_inches()[1] / nrows
        turned = nrows == 2 and ncols > 2
        across = 2 if turned else min(ncols, 2 if nrows * ncols >= PAIRS else 1)
        down = -(-nrows * ncols // across)
        self.set_size_inches(WIDTHS["column"], min(LARGEST, down * max(SMALL, 0.95 * high)))
        grid, axes = self.add_gridspec(down, across), np.empty((nrows, ncols), object)
        self.places = np.full((down, across), None)
        for n, (row, column) in enumerate(np.ndindex(nrows, ncols)):
            place = (column, row) if turned else divmod(n, across)
            share = dict(
                sharex=_shared_axis(sharex, axes, row, column),
                sharey=_shared_axis(sharey, axes, row, column),
            )
            self.places[place] = axes[row, column] = self.add_subplot(grid[place], **share)
        self.asked = axes
        if not squeeze:
            return axes
        return axes.item() if axes.size == 1 else axes.squeeze()

    def legend(self, *args: Any, ncols: int = 1, **more: Any) -> "Legend":
        """Draw the legend with at most as many entries in a row as fit into a column: 2 if an entry
        is long, else 3."""
        words = more.get("labels") or [each.get_label() for each in more["handles"]]
        longest = max(map(_table.shown_length, words))
        return super().legend(*args, ncols=min(ncols, 2 if longest > LONG else 3), **more)

    def relabel_panels(self) -> None:
        """Set the axis labels for the new layout: each panel has its own label or the label of its
        former row or column. A label is left out where a panel to the left or below, of the same
        scale, shows the same label."""
        if self.places is None:
            return
        up, along = {}, {}
        for row in self.asked:
            text = ""
            for ax in row:  # the label of the next panel to its left that has one
                text = up[ax] = ax.get_ylabel() or text
        for column in self.asked.T:
            along |= {ax: ax.get_xlabel() or column[-1].get_xlabel() for ax in column}
        for (row, column), ax in np.ndenumerate(self.places):
            if ax is None:
                continue
            left = self.places[row, column - 1] if column else None
            below = self.places[row + 1, column] if row + 1 < len(self.places) else None
            level = left is not None and ax.get_shared_y_axes().joined(ax, left)
            above = below is not None and ax.get_shared_x_axes().joined(ax, below)
            ax.set_ylabel("" if level and up[left] == up[ax] else up[ax])
            ax.set_xlabel("" if above and along[below] == along[ax] else along[ax])
            ax.tick_params(labelleft=not level)
            if above:
                ax.tick_params(labelbottom=False)


def _shared_axis(how: bool, axes: np.ndarray, row: int, column: int) -> "Axes | None":
    """Return the panel with which a panel shares its scale: the first panel of all, of its row or
    of its column; None for none."""
    first = {True: (0, 0), "all": (0, 0), "row": (row, 0), "col": (0, column)}.get(how)
    return axes[first] if first is not None and first != (row, column) else None


def draw_column(record: Any, data: Mapping[str, np.ndarray]) -> Column:
    """Draw the one-column version of a figure and return the Matplotlib figure."""
    figure = Column(record.height)
    record.draw(figure, data)
    figure.relabel_panels()
    return figure
