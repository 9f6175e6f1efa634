"""The style of all figures: one colour, dash and marker for each algorithm, labels at the ends of
lines, the papers' symbols.

Colours of algorithms that appear together stay apart for deuteranopes, protanopes and in grey;
tests measure it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

SMALL, NORMAL = 7.5, 8.5  # points; nothing is printed smaller
INK, PALE, RULE = "#1a1a1a", "#e9e9e9", "#b8b8b8"
AGREE, DIFFER, OPEN = "#00579c", "#b3261e", "#5f5f5f"  # told apart by their marks as well
STATUS = dict(proved=AGREE, holds="#5d9bd3", violated=DIFFER, vacuous="#b28100", undecided=OPEN)

RC = {
    "font.family": ["STIXGeneral", "DejaVu Sans"],
    "mathtext.fontset": "stix",
    "font.size": NORMAL,
    "axes.titlesize": NORMAL,
    "axes.labelsize": NORMAL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "figure.titlesize": NORMAL,
    "axes.titlelocation": "left",
    "axes.titlepad": 4,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.labelpad": 2,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "axes.unicode_minus": True,
    "legend.frameon": False,
    "figure.constrained_layout.w_pad": 0.02,
    "figure.constrained_layout.h_pad": 0.02,
    "savefig.dpi": 300,
    "figure.dpi": 100,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "fedtheory",
    "path.simplify": False,
}


class Look(NamedTuple):
    label: str  # as the papers call it
    colour: str
    dash: Any  # a matplotlib line style
    marker: str


LONG, SHORT, MIXED = (0, (6, 2)), (0, (2, 1)), (0, (6, 1.5, 1.5, 1.5))
ALGORITHMS = {
    "fedavg": Look("FedAvg", "#18171a", (0, (1, 1.2)), "x"),
    "fedsgd": Look("Fed-SGD", "#d41042", (0, (1, 1.8)), "+"),
    "server_sgd": Look("server alone", "#959b94", (0, (4, 1, 1, 1, 1, 1)), "1"),
    "fsl": Look("FSL", "#006fbe", "-", "o"),
    "fsl_parallel": Look("FSL-p", "#03c0d9", MIXED, "d"),
    "data_sharing": Look("DS", "#d36500", LONG, "s"),
    "dsl": Look("DSL", "#e9af3b", SHORT, "^"),
    "scaffold": Look("SCAFFOLD", "#aa0024", MIXED, "v"),
    "feddyn": Look("FedDyn", "#7dca66", SHORT, "D"),
    "fedprox": Look("FedProx", "#8f5bd6", LONG, "s"),
    "parallel_training": Look("PT", "#c71c13", LONG, "s"),
    "one_way_gt": Look("1-W GT", "#ffa350", MIXED, "^"),
    "two_way_gt": Look("2-W GT", "#00319a", "-", "o"),
    "flex_a": Look("scheme A", "#c4b606", SHORT, "^"),
    "flex_b": Look("scheme B", "#037372", LONG, "s"),
    "flex_c": Look("scheme C", "#013883", "-", "o"),
    "fed_ams": Look("Fed-AMS", "#08c0a3", LONG, "s"),
    "fed_lamb": Look("Fed-LAMB", "#750077", "-", "o"),
    "fedadam": Look("FedAdam", "#b28100", MIXED, "d"),
}
# Algorithms that one axis of a paper shows together
TOGETHER = (
    ("fsl", "fedavg", "data_sharing", "dsl"),
    ("fsl", "fsl_parallel", "data_sharing", "fedavg"),
    ("fsl", "scaffold", "feddyn", "data_sharing", "fedavg", "server_sgd"),
    ("scaffold", "feddyn", "fedprox", "fedavg"),
    ("parallel_training", "one_way_gt", "two_way_gt", "fedavg", "server_sgd"),
    ("flex_a", "flex_b", "flex_c", "fedavg"),
    ("fed_lamb", "fed_ams", "fedadam", "fedsgd", "fedavg"),
)
# What stands beside a measured line: theory and extremes, in every figure alike
BOUND = dict(color=INK, linestyle="--", linewidth=1.0)
EXACT = dict(color=INK, linestyle="-", linewidth=0.8)
WORST = dict(color=INK, linestyle="", marker="*", markersize=5.5, markerfacecolor="white")
BROKEN = dict(
    color=DIFFER, linestyle="", marker="X", markersize=5
)  # worst where a bound is violated


def algorithm_look(name: str) -> Look:
    """Return the look of an algorithm."""
    return ALGORITHMS[name]


def draw_line(
    ax: "Axes",
    x: np.ndarray | Sequence[int],
    y: np.ndarray | Sequence[int],
    name: str,
    label: str | None = None,
    markers: int = 0,
    **more: Any,
) -> "Line2D":
    """Draw a line in an algorithm's look, with about `markers` markers."""
    style = algorithm_look(name)
    every = max(1, len(x) // markers) if markers else None
    (drawn,) = ax.plot(
        x,
        y,
        **{
            "color": style.colour,
            "linestyle": style.dash,
            "label": label or style.label,
            "marker": style.marker if markers else None,
            "markevery": every,
            **more,
        },
    )
    return drawn


def draw_band(
    ax: "Axes",
    x: np.ndarray,
    mean: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    name: str,
    label: str | None = None,
    **more: Any,
) -> "Line2D":
    """Draw a mean in an algorithm's look over the band from low to high."""
    ax.fill_between(x, low, high, color=algorithm_look(name).colour, alpha=0.18, linewidth=0)
    return draw_line(ax, x, mean, name, label, **more)


def legend_below(figure: "Figure", *axes: "Axes", ncols: int = 5) -> None:
    """Draw one legend below all panels, where it covers nothing: each label of the axes once, and
    for a bar only its line."""
    named = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels()):
            named.setdefault(label, handle[0] if isinstance(handle, tuple) else handle)
    figure.legend(
        handles=[*named.values()],
        labels=[*named],
        loc="outside lower center",
        ncols=min(ncols, len(named)),
    )


def spread_places(
    wanted: np.ndarray | Sequence[float], gap: float, low: float = -np.inf, high: int = np.inf
) -> np.ndarray:
    """Return the places nearest to the wanted places in the least-squares sense that keep their
    order, a minimum gap, and the limits if all places fit."""
    wanted = np.asarray(wanted, float)
    order = np.argsort(wanted, kind="stable")
    blocks = []  # [sum of targets, members]: those that touch move as one
    for rank, number in enumerate(order):
        blocks.append([wanted[number] - rank * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            total, members = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += members
    flat = (
        np.concatenate([[total / members] * members for total, members in blocks])
        if blocks
        else np.empty(0)
    )
    last = high - gap * (len(wanted) - 1)
    flat = np.clip(flat, low, last) if last >= low else np.clip(flat, low, low)
    places = np.empty(len(wanted))
    places[order] = flat + gap * np.arange(len(wanted))
    return places


def direct_labels(
    ax: "Axes", lines: Mapping[str, str] | None = None, size: float = SMALL
) -> "list[Annotation]":
    """Write each line's label at its right end, and move labels apart where they would overlap;
    call this after setting limits and scales.

    A label that had to move is joined to its line's end by a hair.
    """
    chosen = [drawn for drawn in (lines or ax.get_lines()) if not drawn.get_label().startswith("_")]
    if ax.figure.get_layout_engine():
        ax.figure.get_layout_engine().execute(ax.figure)  # the axes take their places
    ends = [(drawn, *end) for drawn in chosen if (end := _right_end(ax, drawn))]
    box, point = ax.get_window_extent(), ax.figure.dpi / 72
    wanted = [high for _, _, high in ends]
    places = spread_places(
        wanted, 1.1 * size * point / box.height, 0.4 * size * point / box.height, 1
    )
    texts = []
    moves = [
        abs(place - want) * box.height > 0.35 * size * point for place, want in zip(places, wanted)
    ]
    indent = (9 if any(moves) else 4) * point / box.width
    for (drawn, across, want), place, moved in zip(ends, places, moves):
        hair = dict(
            arrowstyle="-", color=drawn.get_color(), lw=0.5, shrinkA=0, shrinkB=1, relpos=(0, 0.5)
        )
        texts.append(
            ax.annotate(
                drawn.get_label(),
                (across, want),
                xycoords="axes fraction",
                textcoords="axes fraction",
                xytext=(across + indent, place),
                color=darken_text(drawn.get_color()),
                fontsize=size,
                va="center",
                ha="left",
                annotation_clip=False,
                arrowprops=hair if moved else None,
            )
        )
    return texts


def _right_end(ax: "Axes", drawn: "Line2D") -> tuple[float, float] | None:
    """Return the right end of a line in fractions of the axes; None where the line has no finite
    point inside."""
    data = np.column_stack([np.asarray(part, float) for part in drawn.get_data()])
    data = data[np.isfinite(data).all(axis=1)]
    places = ax.transAxes.inverted().transform(ax.transData.transform(data)) if len(data) else data
    places = places[np.isfinite(places).all(axis=1) & (places[:, :1] <= 1 + 1e-9).all(axis=1)]
    if not len(places):
        return None
    across, high = places[np.argmax(places[:, 0])]
    return float(across), float(np.clip(high, 0, 1))


def darken_text(colour: str | Sequence[float], contrast: float = 3.0) -> str:
    """Return a colour darkened until text in it has the given contrast to white (WCAG 2)."""
    from matplotlib.colors import to_hex, to_rgb

    rgb = np.array(to_rgb(colour))
    while 1.05 / (relative_luminance(rgb) + 0.05) < contrast:
        rgb = rgb * 0.96
    return to_hex(rgb)


def cell_edges(centres: np.ndarray) -> np.ndarray:
    """Return the edges of cells around the given centres on a logarithmic axis."""
    logs = np.log(np.asarray(centres, float))
    half = np.diff(logs) / 2
    inner = logs[:-1] + half
    return np.exp(np.r_[logs[0] - half[0], inner, logs[-1] + half[-1]])


def tint_colour(colour: str, share: float) -> tuple[float, ...]:
    """Return an opaque mixture of a colour with white, so that overlapping areas do not blend."""
    from matplotlib.colors import to_rgb

    return tuple(share * part + 1 - share for part in to_rgb(colour))


def relative_luminance(rgb: np.ndarray | tuple[float, ...]) -> float:
    """Return the relative luminance of sRGB colours in [0, 1], shape (..., 3)."""
    rgb = np.asarray(rgb, float)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126729, 0.7151522, 0.0721750])
