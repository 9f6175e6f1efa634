"""The record of a figure or table: the functions that compute its arrays, and that draw, tabulate
and judge the saved arrays."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedtheory.errors import refuse
from fedtheory.figures import _table

Arrays = dict[str, np.ndarray]  # what `compute` returns and all else reads
Progress = Callable[[int, int], None]  # (done, total) -> None

WIDTHS = dict(column=3.3, page=6.9)  # inches


class Table(NamedTuple):
    """A table with measured values beside the paper's."""

    header: list[str]
    lines: Callable[[Arrays], list[list]]  # [label, Cell or text, ...] each
    note: Callable[[Arrays], str] = lambda data: ""


@dataclass(frozen=True)
class Figure:
    cites: str  # "flex, table 5"
    title: str
    compute: Callable  # (scale, progress) -> {name: array of float, int, bool or str}
    draw: Callable | None = None  # (matplotlib Figure, data) -> None, from the saved arrays alone
    rows: Callable | None = None  # (data) -> [[cell, ...], ...], header first
    findings: Callable | None = None  # (data) -> {claim id: (verdict, sentence)}
    # (data) -> what is plotted: constants, laws, bands, seeds, what ± is
    caption: Callable | None = None
    says: Callable | None = None  # (data) -> what it shows, in numbers, beside its findings
    shows: tuple = ()  # ids of claims that are plotted
    width: str = "column"  # or "page"
    height: float = 2.4  # inches
    minutes: float = 0.3  # of a core at the scale quick, about: those that take longest begin first
    stacks: bool = False  # page-wide panels that may stand below each other, in one column
    printed: Table | None = None  # in the place of `draw` and `rows`

    def __post_init__(self) -> None:
        if (table := self.printed) is not None:
            draw = lambda figure, data: _table.ours_beside_paper(
                figure, table.header, table.lines(data), note=table.note(data)
            )
            object.__setattr__(self, "draw", draw)
            object.__setattr__(
                self, "rows", lambda data: _table.table_rows(table.header, table.lines(data))
            )
        if self.width not in WIDTHS:
            refuse("width", f"must be one of {', '.join(WIDTHS)}", self.width)
        if not 1 <= self.height <= 9:
            refuse("height", "must be 1 to 9 inches", self.height)

    @property
    def size(self) -> tuple[float, float]:
        """Return the width and height in inches."""
        return WIDTHS[self.width], self.height
