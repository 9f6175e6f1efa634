"""Checks of drawn pictures: no point lies beyond the limits of its axes, and no claim carries a
mark other than the verdict of its recorded finding."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.text import Text

from fedtheory.figures import _findings, _table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


def find_faults(figure: "Figure", outcomes: Mapping[str, Any]) -> list[Any]:
    """Return sentences on the points that a drawn figure hides and on marks that differ from the
    findings."""
    return [
        f"{count} points lie outside the axes {title!r}" for title, count in points_outside(figure)
    ] + find_unsaid(figure, outcomes)


def find_unsaid(figure: "Figure", outcomes: Mapping[str, Any]) -> list[Any]:
    """Return sentences on marks that differ from the findings {claim: (verdict, sentence)}. All
    marks of a claim together must show the claim's verdict, and no mark may be without a claim."""
    shown, signs = {}, {sign: verdict for verdict, (sign, _) in _table.MARKS.items()}
    points = {
        (marker, inside): verdict for verdict, (marker, _, inside, _) in _table.POINTS.items()
    }
    for artist in figure.findobj(lambda artist: artist.get_gid()):
        verdict = (
            signs.get(artist.get_text())
            if isinstance(artist, Text)
            else points.get((artist.get_marker(), artist.get_markerfacecolor()))
            if hasattr(artist, "get_marker")
            else None
        )
        if verdict is not None:
            shown.setdefault(artist.get_gid(), []).append(verdict)
    alone = [
        f"{text.get_text()} is the mark of no claim"
        for text in figure.findobj(Text)
        if text.get_text() in signs and text.get_text() and not text.get_gid()
    ]
    return alone + [
        f"{claim} is drawn as {_findings.worst_verdict(verdicts)}"
        for claim, verdicts in shown.items()
        if claim not in outcomes or _findings.worst_verdict(verdicts) != outcomes[claim][0]
    ]


def points_outside(figure: "Figure") -> list[Any]:
    """Return (title of the axes, number of finite points beyond their limits) for all axes that
    have such points."""
    found = []
    for ax in figure.axes:
        low, high = np.sort([ax.get_xlim(), ax.get_ylim()], axis=1).T
        room, hidden = 1e-9 * (high - low), 0
        for artist in (*ax.lines, *ax.collections):
            placed = (
                artist.get_offset_transform()
                if isinstance(artist, PathCollection)
                else artist.get_transform()
            )
            if placed != ax.transData or not artist.get_visible():
                continue  # a rule across the axes, or a mark beside the data
            points = _artist_points(artist)
            points = np.unique(points[np.isfinite(points).all(axis=1)], axis=0)
            hidden += int(np.sum(((points < low - room) | (points > high + room)).any(axis=1)))
        if hidden:
            found.append((ax.get_title(loc="left") or ax.get_title(), hidden))
    return found


def _artist_points(artist: "Line2D") -> np.ndarray:
    if isinstance(artist, PathCollection):
        return np.ma.filled(artist.get_offsets(), np.nan)
    if isinstance(artist, PolyCollection):
        return np.concatenate([path.vertices for path in artist.get_paths()] or [np.empty((0, 2))])
    if hasattr(artist, "get_xydata"):
        return np.asarray(artist.get_xydata(), float).reshape(-1, 2)
    return np.empty((0, 2))
