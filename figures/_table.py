"""Tables as pictures: the measured value with its standard deviation beside the paper's number,
marked with the verdict on the pair.

A cell does not decide its mark: it carries the verdict of the finding that it shows, and that
claim's id, which the drawn mark keeps (as its gid, in the SVG too).
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory.figures._style import AGREE, DIFFER, INK, NORMAL, OPEN, PALE, RULE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes
    from matplotlib.figure import Figure

    from fedtheory.figures._findings import Outcome

MARKS = {
    "reproduced": ("✓", AGREE),
    "not reproduced": ("✗", DIFFER),
    "no power": ("↔", OPEN),
    "inconclusive": ("?", OPEN),
    "not judged": ("○", OPEN),
    "": ("", INK),
}
MARKED = "✓ agrees, ✗ differs, ↔ no power, ? undecided, ○ not judged"
SYMBOLS = "DejaVu Sans"  # the face that has the marks


def number_text(value: float, digits: int = 3) -> str:
    """Return a number as a table prints it."""
    value = float(value)
    if not np.isfinite(value):
        return "–" if np.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}".replace("-", "−")
    size = int(np.floor(np.log10(abs(value))))
    if not -3 <= size < 6:
        return rf"${value / 10**size:.{digits - 1}f}\times10^{{{size}}}$".replace(
            "-", "−", value < 0
        )
    return f"{value:,.{max(0, digits - 1 - size)}f}".replace("-", "−")


def spread_of(values: np.ndarray) -> str:
    """Return `mean ± standard deviation` over seeds, with as many digits as the deviation
    justifies."""
    values = np.asarray(values, float).ravel()
    if not len(values) or not np.isfinite(values).all():
        return "–"
    mean, deviation = values.mean(), values.std(ddof=1) if len(values) > 1 else 0.0
    if deviation == 0:
        return number_text(mean)
    digits = max(0, 1 - int(np.floor(np.log10(deviation))))
    return f"{mean:z,.{digits}f} ± {deviation:,.{digits}f}".replace("-", "−")


class Cell(NamedTuple):
    """A measured value and the paper's number, as text, with the verdict on them and the id of the
    claim."""

    ours: str
    printed: str
    verdict: str = ""
    claim: str = ""


def draw_table(
    figure: "Figure",
    header: Sequence[str],
    rows: Sequence[list[str]],
    marks: Mapping[tuple[int, int], tuple[str, str]] | None = None,
    title: str = "",
    note: str = "",
    widths: list[int] | None = None,
    size: float = SMALL,
    bold: Sequence[Any] = (),
    groups: Sequence[tuple[str, int, int]] = (),
) -> "Axes":
    """Draw rows of text; `marks` maps (row, column) to (verdict, claim) of a cell, and `bold` lists
    the rows in bold type.

    `groups` are (text, first column, last column) of headings above the header's own.
    """
    figure.set_layout_engine("none")  # the table fills its figure, whatever its note
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    high, edge = figure.get_size_inches()[1], 0.004
    top = 1 - edge - (1.7 * NORMAL / 72 / high if title else 0)
    bottom = edge + (1.3 * SMALL * (1 + note.count("\n")) + 3) / 72 / high * bool(note)
    heads = [header] if not groups else [[""] * len(header), header]
    step = (top - bottom) / (len(rows) + len(heads))
    marks = marks or {}
    marked = {column for (_, column), (verdict, _) in marks.items() if verdict}
    if not widths:
        widths = [
            max(4, *map(shown_length, column)) + 2 + 1.5 * (n in marked)
            for n, column in enumerate(zip(header, *rows))
        ]
        for text, first, last in groups:
            lacking = 1.15 * shown_length(text) + 2 - sum(widths[first : last + 1])
            for column in range(first, last + 1):
                widths[column] += max(0, lacking) / (last + 1 - first)
    edges = np.concatenate([[0], np.cumsum(widths) / np.sum(widths)])
    room = 0.2 * size / 72 / figure.get_size_inches()[0]
    mark_room = 1.1 * size / 72 / figure.get_size_inches()[0]
    right = lambda column: edges[column + 1] - room - mark_room * (column in marked)
    if title:
        ax.text(0, 1, title, fontsize=NORMAL, va="top", weight="bold")
    if note:
        for place, line in enumerate(
            reversed(note.split("\n"))
        ):  # one by one: mathematics has no face for marks
            ax.text(
                0, 1.3 * SMALL * place / 72 / high, line, fontsize=SMALL, va="bottom", color=OPEN
            )
    for place, row in enumerate([*heads, *rows]):
        number_, y = place - len(heads), top - (place + 0.5) * step
        if number_ >= 0 and number_ % 2:
            ax.axhspan(y - step / 2, y + step / 2, color=PALE, alpha=0.6, linewidth=0)
        for column, cell in enumerate(row):
            verdict, claim = marks.get((number_, column), ("", ""))
            mark, colour = MARKS[verdict]
            where = dict(x=room, ha="left") if column == 0 else dict(x=right(column), ha="right")
            ax.text(
                y=y,
                s=cell,
                fontsize=size,
                va="center_baseline",
                color=colour,
                weight="bold" if number_ < 0 or number_ in bold else "normal",
                **where,
            )
            if mark:
                ax.text(
                    right(column) + room,
                    y,
                    mark,
                    fontsize=size,
                    va="center_baseline",
                    color=colour,
                    family=SYMBOLS,
                    gid=claim or None,
                )
    for text, first, last in groups:
        left = edges[first] + 4 * room
        ax.text(
            (left + right(last)) / 2,
            top - step / 2,
            text,
            fontsize=size,
            weight="bold",
            ha="center",
            va="center_baseline",
        )
        ax.plot([left, right(last)], [top - step] * 2, color=RULE, linewidth=0.6)
    for y, weight in ((top, 0.9), (top - len(heads) * step, 0.6), (bottom, 0.9)):
        ax.axhline(y, color=INK, linewidth=weight)
    return ax


POINTS = {
    "reproduced": ("o", AGREE, AGREE, "agrees"),
    "not reproduced": ("X", DIFFER, DIFFER, "differs"),
    "no power": ("o", INK, "white", "no power"),
    "inconclusive": ("D", OPEN, "white", "undecided"),
    "not judged": ("s", OPEN, "white", "not judged"),
}


def plot_printed(ax: "Axes", x: int, cell: Cell) -> None:
    """Plot a printed number as a point whose marker shows its verdict."""
    marker, colour, inside, _ = POINTS[cell.verdict]
    ax.plot(
        x,
        float(cell.printed.replace("−", "-")),
        marker,
        color=colour,
        markerfacecolor=inside,
        markersize=3.5,
        label="_",
        gid=cell.claim,
    )


def printed_legend(
    ax: "Axes", outcomes: "Mapping[str, Outcome]", **where: str | tuple[int, float]
) -> None:
    """Draw the legend of the points of `plot_printed`, with the number of points for each verdict
    that occurs."""
    verdicts = [verdict for verdict, _ in outcomes.values()]
    for name, (marker, colour, inside, word) in POINTS.items():
        if name in verdicts:
            ax.plot(
                [],
                [],
                marker,
                color=colour,
                markerfacecolor=inside,
                markersize=3.5,
                label=f"paper, {word}: {verdicts.count(name)}",
            )
    ax.legend(handlelength=1.0, borderaxespad=0, handletextpad=0.4, **where)


def shown_length(cell: str) -> int:
    """Estimate the number of characters that a cell shows: a LaTeX command counts as one character,
    braces as none."""
    return len(
        re.sub(
            r"[{}$^_]",
            "",
            re.sub(
                r"\\(frac|left|right|mathrm)|\\[,;]",
                "",
                re.sub(r"\\(?!frac|left|right|mathrm)[a-zA-Z]+", "x", str(cell)),
            ),
        )
    )


def ours_beside_paper(
    figure: "Figure",
    header: Sequence[str],
    rows: Sequence[list[str | Cell]],
    title: str = "",
    note: str = "",
    **more: Any,
) -> "Axes":
    """Draw a table from rows [label, Cell or text, ...]: a Cell fills two columns, the measured
    value and the paper's; a text fills one."""
    text, marks = _split_marks(header, rows)
    groups, below = [], [header[0]]
    for name, cell in zip(header[1:], rows[0][1:]):
        if isinstance(cell, Cell):
            groups.append((name, len(below), len(below) + 1))
        below += ["ours", "paper"] if isinstance(cell, Cell) else [name]
    return draw_table(figure, below, text[1:], marks, title, note, groups=groups, **more)


def table_rows(header: Sequence[str], rows: Sequence[list[str | Cell]]) -> list[list[str]]:
    """Return the table of `ours_beside_paper` as rows of text, header first, with the verdict's
    mark behind each measured value."""
    text, marks = _split_marks(header, rows)
    return mark_rows(text, marks)


def mark_rows(
    text: Sequence[list[str]], marks: Mapping[tuple[int, int], tuple[str, str]]
) -> list[list[str]]:
    """Return rows of text, header first, with the marks of `draw_table` behind their cells."""
    return [
        [
            " ".join(filter(None, (cell, MARKS[marks.get((place, column), ("",))[0]][0])))
            for column, cell in enumerate(row)
        ]
        for place, row in enumerate(text, -1)
    ]


def _split_marks(
    header: Sequence[str], rows: Sequence[list[str | Cell]]
) -> tuple[list[list[str]], Any]:
    """Split rows into rows of text, header first, and {(row, column): (verdict, claim)}."""
    text, marks = [[header[0]]], {}
    for name, cell in zip(header[1:], rows[0][1:]):
        text[0] += (
            [f"{name}, {side}" for side in ("ours", "paper")] if isinstance(cell, Cell) else [name]
        )
    for place, (label, *cells) in enumerate(rows):
        row = [label]
        for cell in cells:
            if isinstance(cell, Cell):
                marks[place, len(row)] = cell.verdict, cell.claim
            row += [cell.ours, cell.printed] if isinstance(cell, Cell) else [cell]
        text.append(row)
    return text, marks
