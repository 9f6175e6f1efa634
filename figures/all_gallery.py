"""A gallery of counterexamples: for each statement that an instance violates, the losses in one
dimension, the start and the path of the run, and both sides of the line as fractions.

Each is a document that replays; those of the proof graphs are kept, others are looked for anew. The
dimension is the one in which most happens.
"""

import textwrap
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import discover
from fedtheory.certificates import check_instance
from fedtheory.figures import _caption, _proofs, _style
from fedtheory.figures._record import Figure
from fedtheory.models import by_name, entry_names
from fedtheory.rendering import picture
from fedtheory.rendering.losses import losses_of
from fedtheory.rendering.steps import record_steps
from fedtheory.typing import Document
from fedtheory.verdicts import pipeline

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

SOUGHT = dict(  # statements whose documents are looked for, beside those that are kept
    smoke=("mixed.stepD2",),
    quick=("mixed.stepD2", "flex.eq2_printed", "flex.corollary4_0_3_loss", "lamb.lemma2"),
)
SOUGHT["paper"] = SOUGHT["quick"]
SECONDS = dict(smoke=0.5, quick=10.0, paper=60.0)
ENDS, LETTERS = 8, 14  # rounds whose ends are shown; letters of a fraction that is written whole


def documents(scale: str) -> dict[str, dict[str, str | dict[str, Any]]]:
    """Return {claim: document of an instance that violates the claim}."""
    found = {}
    for id, kept in _proofs.known_violations().items():
        if kept[0]["format"] == check_instance.FORMAT:
            found[id] = kept[0]
    for id in SOUGHT[scale]:
        if id not in found:
            verdict = pipeline.as_meant(discover.claim(id), SECONDS[scale], 0)
            document = verdict.certificate
            if verdict.status == "violated" and document["format"] == check_instance.FORMAT:
                found[id] = document
    return dict(sorted(found.items()))


def draw_counterexample(
    document: Document,
) -> tuple[list[float], list[list[float]], float, list[float]] | None:
    """Return (x, losses (curves, samples), start, ends of rounds) of a counterexample in one
    dimension; None where the counterexample has no losses to draw, or no points."""
    parts, setting = check_instance.read_numbers(document["instance"]), by_name(document["setting"])
    told, rounds = (
        losses_of(parts, entry_names(setting).get("losses", ())),
        record_steps(document)[:ENDS],
    )
    start = parts.get("x", parts.get("x_0"))
    start = start if isinstance(start, list) else [start] if isinstance(start, Fraction) else []
    ends = [picture.point_in_floats(each.end) for each in rounds]
    tracks = [[*map(picture.point_in_floats, t.points)] for each in rounds for t in each.tracks]
    axis = picture.widest_coordinate(
        [*filter(None, tracks), [picture.point_in_floats(start)]] if start else tracks
    )
    if not told or axis is None or axis >= len(told[0].curves):
        return None
    curves = [each.curves[axis] for each in told[: picture.CURVES]]
    places = [point[axis] for track in (*tracks, ends) for point in track]
    places += [picture.point_in_floats(start)[axis]] if start else []
    marks = [float(k) for f in curves for k in (*picture.curve_knots(f), f.get("at", 0))]
    x = picture.sample_places(*picture.axis_window(places, marks))
    losses = [[picture.curve_value(f, each) for each in x] for f in curves]
    return x, losses, places[-1] if start else np.nan, [end[axis] for end in ends]


OPPOSITE = {"<=": ">", ">=": "<", "==": r"\neq", "<": r"\geq", ">": r"\leq"}


def sides(document: Document) -> str:
    """Return the true relation between both sides of the line, such as `1/30 > 121/3750`; long
    fractions are rounded."""
    shown = []
    for side in ("left", "right"):
        text = str(document[side])
        whole = len(text) <= LETTERS and "/" in text or len(text) < 7
        shown.append(text if whole else _caption.bare_number(Fraction(text), 3))
    return f"${shown[0]}{OPPOSITE[document['statement']['sign']]}{shown[1]}$"


def compute_arrays(scale: str, progress: Callable[..., Any]) -> dict[str, np.ndarray]:
    found, made = [], documents(scale)
    for n, (id, document) in enumerate(made.items()):
        found.append((id, discover.claim(id).cites, sides(document), draw_counterexample(document)))
        progress(n + 1, len(made))
    size = picture.SAMPLES + 1
    x, y = np.full((len(found), size), np.nan), np.full((len(found), picture.CURVES, size), np.nan)
    start, ends = np.full(len(found), np.nan), np.full((len(found), ENDS), np.nan)
    for n, (*_, each) in enumerate(found):
        if each is not None:
            x[n], losses, start[n], walked = each
            y[n, : len(losses)], ends[n, : len(walked)] = losses, walked
    columns = zip(*((id, cites, said) for id, cites, said, _ in found))
    names = ("claim", "cites", "sides")
    return dict(zip(names, map(np.array, columns)), x=x, y=y, start=start, ends=ends)


COLUMNS = 4
LINE = 30  # letters of a title's line


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    count = len(data["claim"])
    axes = figure.subplots(-(-count // COLUMNS), COLUMNS, squeeze=False)
    for ax in axes.flat[count:]:
        ax.set_axis_off()
    for n, ax in zip(range(count), axes.flat):
        panel(ax, *(data[name][n] for name in ("x", "y", "start", "ends")))
        ax.set_title(
            wrap_title(data["cites"][n].item()), fontsize=_style.SMALL, color=_style.DIFFER
        )
        ax.set_xlabel(data["sides"][n].item(), fontsize=_style.SMALL)
        ax.set(yticks=[])


def wrap_title(cites: str) -> str:
    """Wrap a place to at most two lines above a panel."""
    lines = textwrap.wrap(cites, LINE, max_lines=2, placeholder=" …", break_on_hyphens=False)
    return "\n".join(map(_proofs.typeset_place, lines))


def panel(ax: "Axes", x: np.ndarray, losses: np.ndarray, start: float, ends: np.ndarray) -> None:
    """Draw the losses, a dotted line at the start, and below the losses the ends of the rounds."""
    if not isfinite(x[0]):
        ax.set(xticks=[])
        ax.text(
            0.5, 0.5, "numbers alone", transform=ax.transAxes, ha="center", fontsize=_style.SMALL
        )
        return
    looks = [
        _style.algorithm_look(name).colour
        for name in ("fsl", "data_sharing", "fed_ams", "scaffold")
    ]
    for n, y in enumerate(losses[np.isfinite(losses).all(axis=1)]):
        ax.plot(
            x,
            y,
            color=looks[n % len(looks)],
            linewidth=1.0,
            linestyle=("-", "--")[n // len(looks) % 2],
        )
    low, high = np.nanmin(losses), np.nanmax(losses)
    room = (high - low) or 1.0
    ends = ends[np.isfinite(ends)]
    if isfinite(start):
        ax.axvline(start, color=_style.INK, linewidth=0.7, linestyle=":")
        ends = np.r_[start, ends]
    if len(ends) > 1:
        below = low - 0.12 * room
        ax.plot(ends, np.full(len(ends), below), color=_style.INK, linewidth=0.7)
        ax.plot(ends[1:], np.full(len(ends) - 1, below), "o", color=_style.INK, markersize=2.4)
    ax.set_ylim(low - 0.22 * room, high + 0.08 * room)
    ax.set_xticks([x[0], x[-1]], [_caption.number_text(x[0]), _caption.number_text(x[-1])])
    ax.set_xlim(x[0], x[-1])


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    return (
        "Each panel is an instance that breaks the statement above it, exactly: the losses of its clients (and of a server) "
        "along the coordinate in which most happens, the start (dotted), where its rounds end on one way through "
        "(dots below), and both sides of the line below it, as fractions where these are short. Documents replay. "
        "Orders that families of instances refute are not shown."
    )


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    papers = [cites.partition(",")[0] for cites in data["cites"].tolist()]
    told = [f"{papers.count(paper)} of {paper}" for paper in dict.fromkeys(papers)]
    return f"Violated statements: {len(papers)}, {_caption.join_words(told)}."


def table_rows(data: Mapping[str, np.ndarray]) -> list[list[str]]:
    columns = zip(*(data[name].tolist() for name in ("claim", "cites", "sides")))
    return [["claim", "where", "what is false"], *map(list, columns)]


FIGURE = Figure(
    cites="all papers, violated statements",
    title="A gallery of counterexamples",
    compute=compute_arrays,
    draw=draw_figure,
    rows=table_rows,
    caption=write_caption,
    says=describe_result,
    width="page",
    stacks=True,
    height=5.6,
)
