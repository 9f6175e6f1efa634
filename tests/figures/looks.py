"""What every drawn figure must meet: no text below 7 points, none off the page, no empty page, a
caption that says what is plotted and what it shows, and what `figures/_looks.py` asks of every
picture that is made."""

import matplotlib
from matplotlib.figure import Figure
from matplotlib.text import Text

from fedtheory.figures import _caption, _columns, _looks, _style

LEAST = 7  # points, at the size in which the figure is printed


def drawn(record, data):
    """The matplotlib Figure of a record, laid out."""
    with matplotlib.rc_context(_style.RC):
        figure = Figure(figsize=record.size, layout="constrained")
        record.draw(figure, data)
        figure.draw_without_rendering()
        return figure


def in_a_column(record, data):
    """The same of its version for one column."""
    with matplotlib.rc_context(_style.RC):
        figure = _columns.draw_column(record, data)
        figure.draw_without_rendering()
        return figure


def wrong(record, data):
    """Sentences on what is wrong with a figure of these arrays."""
    outcomes = record.findings(data) if record.findings else {}
    figures = [drawn(record, data)] + ([in_a_column(record, data)] if record.stacks else [])
    found = [f for each in figures for f in faults(each) + _looks.find_faults(each, outcomes)]
    return found + untold(record, data, outcomes)


def untold(record, data, outcomes):
    """Sentences on a caption that lacks a part."""
    texts = _caption.caption_files("name", record, data, outcomes)
    return [
        f"nothing says what is {what}"
        for what, text in (
            ("plotted", _caption.describe_plot(record, data)),
            ("shown", _caption.describe_findings(record, data, outcomes)),
        )
        if len(text) < 20
    ] + [
        f"{sign!r} stands in the caption"
        for sign in ("nan", "None", "array(")
        for text in texts.values()
        if sign in text
    ]


def faults(figure):
    """Sentences on what is wrong with a drawn figure."""
    hidden = _hidden(figure)
    texts = [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in hidden
    ]
    found = [] if texts else ["nothing is written on it"]
    page = figure.bbox.padded(1.5)
    for text in texts:
        box = Text.get_window_extent(text)
        if text.get_fontsize() < LEAST:
            found.append(f"{text.get_text()!r} has {text.get_fontsize()} points")
        if (
            not page.containsx(box.x0)
            or not page.containsx(box.x1)
            or not page.containsy(box.y0)
            or not page.containsy(box.y1)
        ):
            found.append(f"{text.get_text()!r} leaves the page")
    return found


def _hidden(figure):
    """Tick labels that matplotlib keeps but never draws: spare ones, and those outside an axis's
    limits."""
    hidden = []
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        drawn = [
            tick
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
            if low <= tick.get_loc() <= high
        ]
        hidden += [
            label
            for tick in (*axis.majorTicks, *axis.minorTicks)
            if tick not in drawn
            for label in (tick.label1, tick.label2)
        ]
    return hidden
