"""FSL: the number of rounds after which theorem 2 is informative, over gamma and eta_g, at the best
step that (11) or (13) admits.

||grad F~||^2 <= 2 L (F~ - inf F~) for every smooth loss, so that a bound of 2 L D~_0 or more on the least gradient
says nothing. Theorem 2 bounds h times it by start / T + floor, and it speaks once start / T < 2 L
D~_0 h - floor.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import discover
from fedtheory.arithmetic import arrays
from fedtheory.figures import _caption, _style
from fedtheory.figures._record import Figure

if TYPE_CHECKING:
    import sympy
    from matplotlib.axes._axes import Axes

    from fedtheory.language.claim import Claim

AT = dict(
    L=1.0, G=0.5, xi_bar=0.5, sigma=1.0, sigma_0=1.0, K=10, K_0=10, N=100, S=10, tilde_D_0=1.0, T=1
)
POINTS = dict(smoke=49, quick=97, paper=193)  # for each of gamma and eta_g
STEPS = dict(
    smoke=60, quick=120, paper=240
)  # lengths of a step, down to a share DEPTH of the longest
DEPTH = 1e-5
CEILINGS = {"11": "fsl.theorem2", "13": "fsl.h_lower"}
TITLES = {"11": "rounds needed, steps in (11)", "13": "rounds needed, steps in (13)"}

SHADES = [
    "#ffffff",
    "#f3f6f9",
    "#e2eaf2",
    "#cddbe9",
    "#b4c9df",
    "#98b5d3",
]  # below 10 rounds, ..., above 1000


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    theorem = discover.claim("fsl.theorem2")
    gamma, eta_g = np.geomspace(0.01, 100, POINTS[scale]), np.geomspace(0.1, 100, POINTS[scale])
    at = dict(AT, gamma=gamma[:, None, None], eta_g=eta_g[None, :, None])
    data = dict(gamma=gamma, eta_g=eta_g)
    for n, (name, id) in enumerate(CEILINGS.items()):
        (limit,) = [
            a.relation for a in discover.claim(id).assumes if a.where == f"({name})"
        ]  # K_0 eta_0 <= rhs
        ceiling = value_at(theorem, limit.rhs, at)
        step = ceiling * np.geomspace(DEPTH, 1, STEPS[scale])
        here = dict(at, eta_0=step / AT["K_0"], eta_l=step / (AT["K"] * at["eta_g"]))
        h, floor = (
            value_at(theorem, theorem.table["h"].symbol, here),
            theorem.fast(dict(here, tilde_D_0=0.0)),
        )
        room = 2 * AT["L"] * AT["tilde_D_0"] * h - floor
        rounds = np.where(
            room > 0, (theorem.fast(here) - floor) / np.where(room > 0, room, 1), np.inf
        )
        data.update(
            {
                f"rounds_{name}": rounds.min(axis=-1),
                f"longest_{name}": ceiling[..., 0],
                f"h_{name}": h[..., -1] + 0 * ceiling[..., 0],
            }
        )
        progress(n + 1, len(CEILINGS))
    return data


def value_at(claim: "Claim", expr: "sympy.Expr", at: Mapping[str, float]) -> np.ndarray:
    """Evaluate an expression in a claim's symbols at arrays."""
    expr = claim.expand(expr)
    return arrays.sweep_expression(expr, {s.name: at[s.name] for s in expr.free_symbols})


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    x, y = data["gamma"], data["eta_g"]
    levels = [10.0, 30.0, 100.0, 300.0, 1e3]
    for ax, (name, title) in zip(axes, TITLES.items()):
        needed = np.minimum(data[f"rounds_{name}"], 1e9).T
        ax.contourf(x, y, needed, levels=[0, *levels, 1e12], colors=SHADES)
        label_contours(
            ax,
            ax.contour(x, y, needed, levels=levels, colors=[_style.INK], linewidths=0.8),
            lambda v: f"{v:,.0f}",
        )
        ax.set_title(title)
    ratio = (data["longest_13"] / data["longest_11"]).T
    axes[2].contourf(x, y, -data["h_11"].T, levels=[0, np.inf], colors=[_style.PALE])
    axes[2].contour(
        x, y, data["h_11"].T, levels=[0], colors=[_style.DIFFER], linewidths=1.2, linestyles=["--"]
    )
    label_contours(
        axes[2],
        axes[2].contour(
            x, y, ratio, levels=[0.003, 0.01, 0.03, 0.1, 0.3], colors=[_style.INK], linewidths=0.8
        ),
        lambda v: f"{v:g}",
    )
    axes[2].text(
        0.04,
        0.96,
        "$h>0$ up to\nthe longest\nstep of (11)",
        transform=axes[2].transAxes,
        va="top",
        fontsize=_style.SMALL,
        color=_style.DIFFER,
        linespacing=1.1,
    )
    axes[2].text(
        0.04,
        0.03,
        "$h<0$ there",
        transform=axes[2].transAxes,
        fontsize=_style.SMALL,
        color=_style.DIFFER,
    )
    axes[2].set_title("longest step, (13) over (11)")
    for ax in axes:
        ax.set(xscale="log", yscale="log", xlabel=r"weight of the server $\gamma$")
    axes[0].set_ylabel(r"aggregation step $\eta_g$")


def label_contours(ax: "Axes", contour: Any, text: str) -> None:
    """Write the levels into the contours, on white."""
    for label in ax.clabel(contour, fmt=text, fontsize=_style.SMALL, inline=False):
        label.set(
            rotation=0,
            bbox=dict(boxstyle="square,pad=.1", facecolor="white", edgecolor="none", alpha=0.85),
        )


def table_rows(data: Mapping[str, np.ndarray]) -> Any:
    """Return the share of the map on which each statement is informative within a number of rounds."""
    found = [["steps within", *(f"T = {T:,}" for T in (10, 100, 1000, 10000))]]
    found += [
        [
            f"({name})",
            *(f"{np.mean(data[f'rounds_{name}'] < T):.1%}" for T in (10, 100, 1000, 10000)),
        ]
        for name in CEILINGS
    ]
    return [
        *found,
        [
            "h > 0 at the longest step",
            *(f"({name}): {np.mean(data[f'h_{name}'] > 0):.1%}" for name in CEILINGS),
            "",
            "",
        ],
    ]


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    return (
        r"Constants: "
        + _caption.constants_text(discover.claim("fsl.theorem2").table, AT)
        + r". Left and middle: rounds after which theorem 2, at the best step that the ceiling admits, bounds the least "
        r"expected squared gradient by less than $2L\tilde D_0$, which holds without training; right: how much shorter "
        r"the steps of (13) are, and where $h>0$ up to the longest step of (11)."
    )


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    share = lambda name: _caption.number_text(100 * np.mean(data[f"rounds_{name}"] < 1000))
    return (
        f"By $T=1000$ theorem 2 says something on {share('11')} % of the map with the steps of (11), on {share('13')} % "
        f"with those of (13); at the longest step of (11) $h>0$ on {_caption.number_text(100 * np.mean(data['h_11'] > 0))} %."
    )


FIGURE = Figure(
    cites="FSL, theorem 2, (11) and (13)",
    title="After how many rounds theorem 2 says anything",
    shows=("fsl.theorem2",),
    compute=compute_arrays,
    caption=write_caption,
    says=describe_result,
    draw=draw_figure,
    rows=table_rows,
    width="page",
    stacks=True,
    height=2.4,
)
