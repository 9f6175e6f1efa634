"""What every drawn figure must meet: no text below 7 points, none off the page, no empty page, no
data beyond the limits of its axes, and no mark that is not the verdict of the finding whose claim
it names."""

import matplotlib
import numpy as np
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from fedtheory.figures import _findings, _style, _table

LEAST = 7  # points, at the size in which the figure is printed


def drawn(record, data):
    """The matplotlib Figure of a record, laid out."""
    with matplotlib.rc_context(_style.RC):
        figure = Figure(figsize=record.size, layout="constrained")
        record.draw(figure, data)
        figure.draw_without_rendering()
        return figure


def wrong(record, data):
    """Sentences on what is wrong with a figure of these arrays."""
    figure = drawn(record, data)
    return faults(figure) + unsaid(record, data, figure)


def unsaid(record, data, figure):
    """Sentences on marks that differ from the findings: a claim's marks together say its verdict,
    and none is of no claim."""
    outcomes, shown = record.findings(data) if record.findings else {}, {}
    signs = {sign: verdict for verdict, (sign, _) in _table.MARKS.items()}
    points = {
        (marker, inside): verdict for verdict, (marker, _, inside, _) in _table.POINTS.items()
    }
    for artist in figure.findobj(lambda artist: artist.get_gid()):
        verdict = (
            signs[artist.get_text()]
            if isinstance(artist, Text)
            else points[artist.get_marker(), artist.get_markerfacecolor()]
        )
        shown.setdefault(artist.get_gid(), []).append(verdict)
    alone = [
        f"{text.get_text()} is the mark of no claim"
        for text in figure.findobj(Text)
        if text.get_text() in signs and text.get_text() and not text.get_gid()
    ]
    return alone + [
        f"{claim} is drawn as {_findings.worst(verdicts)}"
        for claim, verdicts in shown.items()
        if claim not in outcomes or _findings.worst(verdicts) != outcomes[claim][0]
    ]


def outside(figure):
    """(axes' title, number of finite points beyond its limits) wherever there are such."""
    found = []
    for ax in figure.axes:
        hidden = 0
        for artist in (*ax.lines, *ax.collections):
            placed = (
                artist.get_offset_transform()
                if isinstance(artist, PathCollection)
                else artist.get_transform()
            )
            if placed != ax.transData or not artist.get_visible():
                continue  # a rule across the axes, or a mark beside the data
            low, high = np.sort([ax.get_xlim(), ax.get_ylim()], axis=1).T
            room = 1e-9 * (high - low)
            points = _points(artist)
            points = np.unique(points[np.isfinite(points).all(axis=1)], axis=0)
            hidden += int(np.sum(((points < low - room) | (points > high + room)).any(axis=1)))
        if hidden:
            found.append((ax.get_title(loc="left") or ax.get_title(), hidden))
    return found


def _points(artist):
    if isinstance(artist, PathCollection):
        return np.ma.filled(artist.get_offsets(), np.nan)
    if isinstance(artist, PolyCollection):
        return np.concatenate([path.vertices for path in artist.get_paths()] or [np.empty((0, 2))])
    if hasattr(artist, "get_xydata"):
        return np.asarray(artist.get_xydata(), float).reshape(-1, 2)
    return np.empty((0, 2))


def faults(figure):
    """Sentences on what is wrong with a drawn figure."""
    hidden = _hidden(figure)
    texts = [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in hidden
    ]
    found = [] if texts else ["nothing is written on it"]
    found += [f"{count} points lie outside {title!r}" for title, count in outside(figure)]
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
