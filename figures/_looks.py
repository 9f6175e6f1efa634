"""What a picture may not do: leave points beyond the limits of its axes, or mark a claim as anything
but the verdict of the finding that the ledger has of it."""

import numpy as np
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.text import Text

from fedtheory.figures import _findings, _table


def find_faults(figure, outcomes):
    """Sentences on what a drawn figure hides, and on its marks that are not its findings' own."""
    return [
        f"{count} points lie outside the axes {title!r}" for title, count in points_outside(figure)
    ] + find_unsaid(figure, outcomes)


def find_unsaid(figure, outcomes):
    """Sentences on marks that differ from the findings {claim: (verdict, sentence)}: a claim's marks
    together say its verdict, and none is of no claim."""
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


def points_outside(figure):
    """(axes' title, number of finite points beyond its limits) wherever there are such."""
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


def _artist_points(artist):
    if isinstance(artist, PathCollection):
        return np.ma.filled(artist.get_offsets(), np.nan)
    if isinstance(artist, PolyCollection):
        return np.concatenate([path.vertices for path in artist.get_paths()] or [np.empty((0, 2))])
    if hasattr(artist, "get_xydata"):
        return np.asarray(artist.get_xydata(), float).reshape(-1, 2)
    return np.empty((0, 2))
