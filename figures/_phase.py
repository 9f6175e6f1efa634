"""Phase diagrams of theorems over a plane: where a statement is vacuous, informative or violated,
where its hypotheses do not hold, and where the method itself is unstable.

A theorem's file gives planes: which points, everything the claim takes there, what is true there of
one problem. A method is unstable where the exact map of a round stretches second moments; inside the
hypotheses only the statement is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory import discover
from fedtheory.errors import refuse
from fedtheory.figures import _caption, _proofs, _style
from fedtheory.figures._record import Figure

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

    from fedtheory.language.claim import Claim

SPEAKS, VACUOUS, FALSE, OUTSIDE, BROKEN, UNSTABLE = range(6)
WORDS = {
    SPEAKS: "informative",
    VACUOUS: "vacuous",
    FALSE: "violated",
    OUTSIDE: "outside, holds",
    BROKEN: "outside, false",
    UNSTABLE: "method unstable",
}
COLOURS = {
    SPEAKS: "#5d9bd3",
    VACUOUS: "#b4cbe4",
    FALSE: _style.DIFFER,
    OUTSIDE: "#f1efec",
    BROKEN: "#e3a19c",
    UNSTABLE: "#5f5f5f",
}
WHITE = dict(boxstyle="square,pad=.1", facecolor="white", edgecolor="none", alpha=0.8)
ROOM = 1e-9  # of a bound: what rounding may add to an exact expectation


class Plane(NamedTuple):
    """A logarithmic plane of points (x, y); a function that takes `ys` returns a value for each y."""

    claim: str
    title: str
    labels: tuple[Any, ...]  # of x and of y
    x: np.ndarray
    y: np.ndarray
    values: Callable[..., Any]  # (x, y) -> everything the claim takes
    truth: Callable[
        ..., Any
    ]  # (x, ys) -> what it measures of one problem; infinite where that overflows
    trivial: Callable[..., Any]  # (x, ys) -> what holds without training
    radius: Callable[..., Any] = lambda x, y: (
        0.0
    )  # by how much a round stretches roots of second moments
    bound: Callable[..., Any] | None = (
        None  # (x, ys) -> what it allows; its right-hand side if not given
    )
    lines: dict[str, Any] = {}  # what is drawn across: name -> x, or x for each y


def plane_states(plane: Plane, x: float) -> np.ndarray:
    """Return the state of a statement (informative, vacuous, violated, ...) at (x, y), for each y
    of the plane."""
    claim, ys = discover.claim(plane.claim), plane.y
    inside = np.array([not claim.admits(plane.values(x, y)) for y in ys])
    unstable = np.array([not plane.radius(x, y) <= 1 for y in ys])
    with np.errstate(all="ignore"):
        true = np.asarray(plane.truth(x, ys), float)
    if np.isnan(true).any():
        refuse(f"{plane.claim}: what is true at {plane.labels[0]} {x:g}", "must be known", true)
    right = plane.bound(x, ys) if plane.bound else right_sides(plane, claim, x)
    return classify_cells(true, right, plane.trivial(x, ys), inside, unstable)


def right_sides(plane: Plane, claim: "Claim", x: float) -> np.ndarray:
    """Return the claim's right-hand sides at x for each y, also where the hypotheses do not hold."""
    at = [plane.values(x, y) for y in plane.y]
    return np.array([float(claim.evaluate(values, strict=False)) for values in at])


def classify_cells(
    true: np.ndarray, right: np.ndarray, trivial: float, inside: np.ndarray, unstable: np.ndarray
) -> np.ndarray:
    false = ~(true <= right * (1 + ROOM))
    outside = np.where(unstable, UNSTABLE, np.where(false, BROKEN, OUTSIDE))
    says = np.where(right < trivial, SPEAKS, VACUOUS)
    return np.where(inside, np.where(false, FALSE, says), outside)


def plane_arrays(planes: Sequence[Plane], progress: Callable[..., Any]) -> dict[str, np.ndarray]:
    """Compute the arrays that the diagrams of the planes are drawn from."""
    found, total = {}, sum(len(plane.x) for plane in planes)
    for n, plane in enumerate(planes):
        rows = []
        for x in plane.x:
            rows.append(plane_states(plane, x))
            progress(sum(len(each.x) for each in planes[:n]) + len(rows), total)
        lines = np.array([np.broadcast_to(at, len(plane.y)) for at in plane.lines.values()])
        found |= {
            f"x_{n}": plane.x,
            f"y_{n}": plane.y,
            f"states_{n}": np.array(rows),
            f"lines_{n}": lines.reshape(-1, len(plane.y)),
            f"names_{n}": np.array(list(plane.lines), dtype=str),
        }
    words = {
        "title": [plane.title for plane in planes],
        "across": [plane.labels[0] for plane in planes],
        "upwards": [plane.labels[1] for plane in planes],
    }
    elsewhere = [bool(_proofs.violated_places(discover.claim(plane.claim))) for plane in planes]
    found |= dict(elsewhere=np.array(elsewhere))  # documents that are kept show it
    return found | {name: np.array(texts) for name, texts in words.items()}


def phase_figure(
    cites: str,
    compute: Callable[..., Any],
    about: Callable[..., Any],
    shows: Sequence[str],
    height: float = 2.7,
) -> Figure:
    """Build the Figure of a theorem's planes; `compute` is defined in the figure's own file, whose
    name identifies the saved arrays, and `about` is the caption's text on what is plotted."""
    return Figure(
        cites=cites,
        title="Where the theorem speaks, and where the method is stable",
        shows=shows,
        compute=compute,
        draw=draw_figure,
        rows=table_rows,
        caption=partial(write_caption, about),
        says=describe_result,
        width="page",
        minutes=0.8,
        stacks=True,
        height=height,
    )


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    from matplotlib.patches import Patch

    axes = figure.subplots(1, len(data["title"]), squeeze=False)[0]
    for n, ax in enumerate(axes):
        fill_cells(ax, data[f"x_{n}"], data[f"y_{n}"], data[f"states_{n}"])
        names = data[f"names_{n}"].tolist()
        for name, x in zip(names, data[f"lines_{n}"]):
            ax.plot(x, data[f"y_{n}"], color=_style.INK, linewidth=0.9, linestyle="--")
            if np.ptp(x) == 0:
                said = dict(xycoords=("data", "axes fraction"), textcoords="offset points")
                look = dict(va="top", fontsize=_style.SMALL, bbox=WHITE, rotation=90)
                ax.annotate(name, (x[0], 0.98), xytext=(-8, 0), **said, **look)
        ends = [*ax.get_xlim(), *data[f"lines_{n}"].flat]
        ax.set(xlabel=data["across"][n], xlim=(min(ends), max(ends)))
        if data["elsewhere"][n]:
            ax.set_title(f"{data['title'][n]}: violated elsewhere", color=_style.DIFFER)
        else:
            ax.set_title(data["title"][n])
        if n == 0 or data["upwards"][n] != data["upwards"][n - 1]:
            ax.set_ylabel(data["upwards"][n])
    seen = {n for key in data if key.startswith("states_") for n in np.unique(data[key])}
    handles = [Patch(color=COLOURS[n], label=words) for n, words in WORDS.items() if n in seen]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), handlelength=1.0)


def fill_cells(ax: "Axes", x: np.ndarray, y: np.ndarray, states: np.ndarray) -> None:
    """Fill each run of adjacent cells of one state with one rectangle; the picture is the same as
    with single cells, at a tenth of the bytes."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    left, low = _style.cell_edges(x), _style.cell_edges(y)
    for state in np.unique(states):
        boxes, shade = [], COLOURS[int(state)]
        for row, cells in enumerate((states == state).T):
            edges = np.flatnonzero(np.diff(np.r_[0, cells.astype(int), 0]))
            for one, other in edges.reshape(-1, 2):
                a, b, c, d = left[one], left[other], low[row], low[row + 1]
                boxes.append(Path([(a, c), (b, c), (b, d), (a, d), (a, c)], closed=True))
        whole = Path.make_compound_path(*boxes)
        ax.add_patch(PathPatch(whole, facecolor=shade, edgecolor=shade, linewidth=0.2))
    ax.set(xscale="log", yscale="log", xlim=left[[0, -1]], ylim=low[[0, -1]])


def write_caption(about: Callable[..., Any], data: Mapping[str, np.ndarray]) -> str:
    told = about(data) if callable(about) else about
    return (
        f"{told} Informative: inside its hypotheses the statement bounds what it measures by less than "
        "what holds without training; vacuous: by more; outside: beyond its hypotheses, where its "
        "inequality still holds for this problem's exact expectation or does not; unstable: outside, "
        "and the exact map of a round stretches second moments in some direction."
    )


def state_shares(states: np.ndarray) -> dict[int, float]:
    """Return {state: share of a plane's points in that state}."""
    return {n: float(np.mean(states == n)) for n in WORDS}


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    percent = lambda share: f"{_caption.number_text(100 * share)} %"
    told = []
    for n, title in enumerate(data["title"].tolist()):
        states, of = data[f"states_{n}"], state_shares(data[f"states_{n}"])
        inside = of[SPEAKS] + of[VACUOUS] + of[FALSE]
        text = f"{title}: {percent(inside)} of the points are inside the hypotheses"
        if inside:
            text += f", and it is informative at {percent(of[SPEAKS] / inside)} of these"
            count = int(np.sum(states == FALSE))
            text += f" and violated at {count} points" if count else " and violated at none"
        out = 1 - inside - of[UNSTABLE]
        if out > 1e-12:
            text += f"; where one is outside and stable it holds at {percent(of[OUTSIDE] / out)}"
        if data["elsewhere"][n]:
            text += "; other problems break the statement"
        told.append(f"{text}.")
    return " ".join(told)


def table_rows(data: Mapping[str, np.ndarray]) -> list[list[str]]:
    found = [["", *WORDS.values()]]
    for n, title in enumerate(data["title"].tolist()):
        of = state_shares(data[f"states_{n}"])
        found.append([title, *(f"{of[state]:.1%}" for state in WORDS)])
    return found
