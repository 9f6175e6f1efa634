"""A table as a picture: ours, with its standard deviation, beside the paper's number, marked where they differ."""

import numpy as np

from figures import _findings
from figures._style import AGREE, DIFFER, INK, NORMAL, OPEN, PALE, RULE, SMALL

MARKS = {"reproduced": ("✓", AGREE), "not reproduced": ("✗", DIFFER), "inconclusive": ("?", OPEN), "": ("", INK)}
SYMBOLS = "DejaVu Sans"    # the face that has the marks


def number(value, digits=3):
    """A number as a table prints it."""
    value = float(value)
    if not np.isfinite(value):
        return "–" if np.isnan(value) else ("∞" if value > 0 else "−∞")
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}".replace("-", "−")
    size = int(np.floor(np.log10(abs(value))))
    if not -3 <= size < 6:
        return rf"${value / 10**size:.{digits - 1}f}\times10^{{{size}}}$".replace("-", "−", value < 0)
    return f"{value:,.{max(0, digits - 1 - size)}f}".replace("-", "−")


def spread_of(values):
    """`mean ± standard deviation` over seeds, to as many digits as the deviation has meaning."""
    values = np.asarray(values, float).ravel()
    if not len(values) or not np.isfinite(values).all():
        return "–"
    mean, deviation = values.mean(), values.std(ddof=1) if len(values) > 1 else 0.
    if deviation == 0:
        return number(mean)
    digits = max(0, 1 - int(np.floor(np.log10(deviation))))
    return f"{mean:,.{digits}f} ± {deviation:,.{digits}f}".replace("-", "−")


def beside(values, printed):
    """(ours, the paper's, verdict): whether the printed text is a number that ours agree with within error bars."""
    return spread_of(values), printed, _findings.compare(values, "~", printed).verdict


def draw_table(figure, header, rows, marks=None, title="", note="", widths=None, size=SMALL, bold=()):
    """Draw rows of text; `marks` gives cells a verdict by (row, column), `bold` are rows that start a group."""
    ax = figure.add_subplot()
    ax.set_axis_off()
    wide, high = figure.get_size_inches()
    count = len(rows) + 1
    top = (1.9 * NORMAL / 72 / high) if title else 0
    bottom = (1.45 * SMALL * (1 + note.count("\n")) / 72 / high) if note else 0
    step = (1 - top - bottom) / count
    columns = list(zip(header, *rows))
    widths = widths or [max(max(_length(cell) for cell in column), 3) + 1.5 for column in columns]
    edges = np.concatenate([[0], np.cumsum(widths) / np.sum(widths)])
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    if title:
        ax.text(0, 1, title, fontsize=NORMAL, va="top", weight="bold")
    if note:
        ax.text(0, 0, note, fontsize=SMALL, va="bottom", color=OPEN, linespacing=1.15)
    for place in range(count):
        y = 1 - top - (place + .5) * step
        if place and place % 2 == 0:
            ax.axhspan(y - step / 2, y + step / 2, color=PALE, alpha=.55, linewidth=0)
        for column, cell in enumerate(header if not place else rows[place - 1]):
            verdict = (marks or {}).get((place - 1, column), "")
            mark, colour = MARKS[verdict]
            left = column == 0
            x = edges[0] + .008 if left else edges[column + 1] - .014 - .022 * bool(marks)
            ax.text(x, y, cell, fontsize=size, va="center_baseline", ha="left" if left else "right", color=colour,
                    weight="bold" if not place or place - 1 in bold else "normal")
            if mark:
                ax.text(x + .006, y, mark, fontsize=size, va="center_baseline", ha="left", color=colour,
                        family=SYMBOLS)
    for place, weight in ((0, .9), (1, .6), (count, .9)):
        ax.axhline(1 - top - place * step, color=INK if weight > .6 else RULE, linewidth=weight)
    return ax


def _length(cell):
    """Characters that a cell shows, about: commands and braces of mathematics take no room."""
    import re
    return len(re.sub(r"\\[a-zA-Z]+|[{}$^_]", "", str(cell)))


def ours_beside_paper(figure, header, rows, title="", note="", **more):
    """Rows of [label, (values or text, printed, verdict or None), ...]: two columns for each, ours and the paper's.

    A missing verdict is decided from the values, within error bars.
    """
    text, marks = table_rows(header, rows)
    return draw_table(figure, text[0], text[1:], marks, title, note, **more)


def table_rows(header, rows):
    """The same as text, header first, and the marks by (row, column)."""
    names = [header[0], *(f"{name}{side}" for name in header[1:] for side in (" ours", " paper"))]
    text, marks = [names], {}
    for place, (label, *cells) in enumerate(rows):
        row = [label]
        for values, printed, verdict in cells:
            if not isinstance(values, str):
                ours, _, found = beside(values, printed)
                verdict = found if verdict is None else verdict
                values = ours
            marks[place, len(row)] = verdict or ""
            row += [values, printed]
        text.append(row)
    return text, marks
