"""Flex, figure 2: where an extra step along the arriving device's gradient approaches the new
optimum, and where it does not.

Blank is where no extra step helps, as <grad F_l(w), w - w~*> <= 0: an ellipse from w~* to the
device's own optimum. The circle is (7) of corollary 4.0.2; its W is taken over the unit ball around
w*, which is all that its proof uses, as none holds on all of R^d where F is strongly convex. It is
much smaller than the truth.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.claims.flex import fast_reboot
from fedtheory.figures import _caption, _style
from fedtheory.figures._record import Arrays, Figure, Progress
from fedtheory.problem import Problem
from fedtheory.problems.quadratics import quadratic_from_arrays

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

SHARE, DELTA = 0.5, 0.3  # the arriving device's p~^l, and delta^l
HESSIANS = np.array([np.eye(2), np.eye(2), [[1.0, -0.3], [-0.3, 1.3]]])
MINIMISERS = np.array(
    [[0, 0], [0, 0], [3.0, 1.0]]
)  # f_0's, not used; of the old devices, w*; of device l
STARTS = np.array([[0.025, -0.035], [1.9, 0.1]])  # inside the ball of (7), far from it
WIDE, HIGH = (-1.0, 3.6), (-1.0, 2.2)
POINTS = dict(smoke=60, quick=240, paper=480)


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    both = quadratic_from_arrays(HESSIANS, MINIMISERS, weights=(1 - SHARE, SHARE))
    old, new = MINIMISERS[1], both.minimizer()
    x, y = np.meshgrid(np.linspace(*WIDE, POINTS[scale]), np.linspace(*HIGH, POINTS[scale]))
    slope = lambda w: (w - MINIMISERS[2]) @ HESSIANS[2]  # grad F_l
    return {
        "x": x,
        "y": y,
        "gain": np.sum(slope(np.stack([x, y], -1)) * (np.stack([x, y], -1) - new), axis=-1),
        "old": old,
        "new": new,
        "own": MINIMISERS[2],
        "starts": STARTS,
        "ends": STARTS - DELTA * slope(STARTS),
        "radius": np.array(ball_radius(both, old, new)),
    }


def ball_radius(both: Problem, old: np.ndarray, new: np.ndarray) -> float:
    """Return the radius of the ball in (7)."""
    spectra = np.linalg.eigvalsh(HESSIANS[1:])
    farthest = 1 + np.linalg.norm(MINIMISERS[1:] - old, axis=1).max()
    values = dict(
        gap_new=both.loss(old) - both.loss(new),
        L=spectra.max(),
        mu=spectra.min(),
        p_l=SHARE,
        Gamma_l=both.client_loss(2, old),
        W=spectra.max() * max(1, farthest),
    )
    return float(
        fast_reboot.radius.subs(
            {symbol: values[symbol.name] for symbol in fast_reboot.radius.free_symbols}
        )
    )


# Of both panels: title, limits, and where the labels of d_1, d_2 and w stand, in points
PANELS = (
    ("in the ball of (7), $d_2<d_1$", (-0.7, 1.9), (-0.5, 1.3), ((-5, 6), (6, -9), (9, -9))),
    ("far from $w^*$, $d_2>d_1$", WIDE, HIGH, ((-5, -8), (2, 3), (2, -11))),
)


def draw_figure(figure: "Canvas", data: Arrays) -> None:
    fast, text = (
        _style.algorithm_look("flex_c").colour,
        dict(fontsize=_style.SMALL, textcoords="offset points", ha="center"),
    )
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = data["old"][:, None] + data["radius"] * np.array([np.cos(angle), np.sin(angle)])
    points = (
        (data["old"], "$w^*$", (-13, -3)),
        (data["new"], r"$\tilde w^*$", (-7, 5)),
        (data["own"], "$w_l^*$", (9, 3)),
    )
    for ax, start, end, panel in zip(figure.subplots(1, 2), data["starts"], data["ends"], PANELS):
        title, wide, high, shifts = panel
        ax.contourf(
            data["x"],
            data["y"],
            data["gain"],
            levels=(0, data["gain"].max() + 1),
            colors=[_style.PALE],
        )
        ax.plot(*circle, color=fast, linewidth=0.9)
        for place, label, shift in points:
            if wide[0] < place[0] < wide[1]:
                ax.plot(*place, "o", color=_style.INK, markersize=3)
                ax.annotate(label, place, xytext=shift, **text)
        for place, label, shift in zip((start, end), ("$d_1$", "$d_2$"), shifts):
            ax.plot(*np.array([place, data["new"]]).T, **{**_style.BOUND, "linewidth": 0.7})
            ax.annotate(label, (place + data["new"]) / 2, xytext=shift, **text)
        ax.annotate(
            "",
            end,
            start,
            arrowprops=dict(arrowstyle="-|>", color=fast, linewidth=1.4, shrinkA=0, shrinkB=0),
        )
        ax.plot(*start, "s", color=fast, markersize=3)
        ax.annotate("$w$", start, xytext=shifts[2], **text)
        ax.set(title=title, aspect="equal", xlim=wide, ylim=high, xticks=[], yticks=[])
        draw_enlarged(ax, data, circle, start, panel)
    ax.text(
        *(data["new"] + data["own"]) / 2 + [0, 0.15],
        "no extra\nstep helps",
        fontsize=_style.SMALL,
        ha="center",
    )


def draw_enlarged(
    ax: "Axes", data: Arrays, circle: np.ndarray, start: np.ndarray, panel: tuple
) -> None:
    """Draw the ball of (7), strongly enlarged, in a corner of its panel."""
    fast, size = _style.algorithm_look("flex_c").colour, 1.45 * data["radius"]
    inside = np.linalg.norm(start - data["old"]) <= data["radius"]
    inset: Any = ax.inset_axes((0.02, 0.5, 0.34, 0.48))
    inset.plot(*circle, color=fast)
    inset.plot(*data["old"], "o", color=_style.INK, markersize=3)
    text = dict(fontsize=_style.SMALL, textcoords="offset points")
    inset.annotate("$w^*$", data["old"], xytext=(-13, 2), **text)
    inset.annotate("(7)", data["old"] + [0, data["radius"]], xytext=(0, 2), color=fast, **text)
    if inside:
        inset.plot(*start, "s", color=fast, markersize=3)
        inset.annotate("$w$", start, xytext=(-10, -4), **text)
    inset.set(
        aspect="equal",
        xlim=data["old"][0] + size * np.array([-1, 1]),
        ylim=data["old"][1] + size * np.array([-1, 1.2]),
        xticks=[],
        yticks=[],
    )
    inset.spines[:].set(visible=True, color=_style.RULE)


def write_caption(data: Arrays) -> str:
    return (
        f"Two old devices in one and a new device l, on quadratics in the plane, of weight {SHARE:g}; an extra step of "
        f"$\\delta^l={DELTA:g}$ along its gradient (arrow). Grey: where some extra step approaches the new optimum. Circle, "
        f"enlarged in the corners: the ball of (7), of radius {_caption.number_text(data['radius'])}. Nothing random."
    )


def describe_result(data: Arrays) -> str:
    away = np.linalg.norm(data["starts"] - data["old"], axis=1) / data["radius"]
    before, after = (np.linalg.norm(data[k] - data["new"], axis=1) for k in ("starts", "ends"))
    number = _caption.number_text
    return (
        f"From {number(away[0])} radii the step shortens the distance by the factor {number(after[0] / before[0])}, from "
        f"{number(away[1])} radii it lengthens it by {number(after[1] / before[1])}; helped are starts far outside the ball too."
    )


FIGURE = Figure(
    cites="flex, figure 2",
    title="An extra step along the newcomer's gradient: help near the old optimum",
    compute=compute_arrays,
    caption=write_caption,
    says=describe_result,
    draw=draw_figure,
    width="page",
    stacks=True,
    height=2.5,
)
