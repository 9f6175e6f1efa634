"""Each ceiling of a step size in three values: the theorem's own, the shortest step beyond it at
which an exact instance violates the theorem's inequality, and the longest step at which the method
is stable on quadratics of the theorem's smoothness.

The middle one is what `sharpen` refutes, with a certificate; where it refutes nothing, the true
ceiling may be anywhere beyond. A method is stable where the mean of a run without noise ends as near
as it began, on quadratics in one dimension that are as curved as the theorem allows. Flex
prescribes its rate and FED-LAMB has no ceiling: there are none of theirs.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.figures import _caption, _parts, _style
from fedtheory.figures._record import Figure
from fedtheory.verdicts import perturbations, sharpening
from fedtheory.verdicts.exploration_parameters import PARAMETERS

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

SECONDS = dict(smoke=0.1, quick=4.0, paper=60.0)  # for the ceilings of each claim
ROUNDS, SEED = 100, 0
CASES = dict(strong="strongly convex", convex="convex", nonconvex="no convexity")
METHODS = dict(pt="parallel_training", one_way="one_way_gt", two_way="two_way_gt")
THEOREMS = dict(pt="B1", one_way="B2", two_way="B3")
FSL = {"fsl.theorem1": "(11)", "fsl.h_lower": "(13)"}
ROWS = {  # claim -> title, method, where the formula of its longest effective step stands
    **{id: (f"FSL {where}", "fsl", where) for id, where in FSL.items()},
    **{
        f"mixed.theorem{THEOREMS[m]}_{case}_explicit": (
            f"{_style.algorithm_look(METHODS[m]).label}, {text}",
            METHODS[m],
            f"mixed.table4_{m}_{case}",
        )
        for m in METHODS
        for case, text in CASES.items()
    },
}
AT = dict(gamma=1.0, eta_g=1.0, K=2, K_0=2)  # of FSL's runs; in mixed FL eta_s = eta_m = 1, B = 1


def printed_ceiling(id: str) -> float:
    """Return the theorem's longest effective step where every loss has curvature 1."""
    _, method, where = ROWS[id]
    if method == "fsl":
        claim = discover.claim(id)
        (limit,) = [a.relation for a in claim.assumes if a.where == where]
        right = claim.expand(limit.rhs)
        numbers = {**AT, "L": 1.0}
        return float(right.subs({s: numbers[s.name] for s in right.free_symbols}))
    claim = discover.claim(where)
    return float(claim.fast(dict.fromkeys(claim.needs(claim.bound), 1.0)))


def run_of(method: str, u: float) -> dict[str, float]:
    """Return the method's parameters for an effective step u, where u is K_0 eta_0 and K eta_l
    eta_g, or K eta eta_s."""
    if method == "fsl":
        return dict(AT, eta_0=u / AT["K_0"], eta_l=u / (AT["K"] * AT["eta_g"]))
    own = dict(K=2, eta_s=1.0, eta=u / 2)
    return own if method == "one_way_gt" else dict(own, eta_c=u / 2, eta_m=1.0)


def is_stable(method: str, u: float) -> bool:
    """Tell whether the mean, started at 1, ends at most 1 away from the common minimiser 0 of all
    losses."""
    of = ft.problems.quadratic_from_arrays([1.0], [[0.0], [0.0]])
    with np.errstate(all="ignore"):
        means = ft.expected(of, method, rounds=ROUNDS, x_0=[1.0], **run_of(method, u)).mean
    return bool(np.abs(means[-1, 0]) <= 1.0)


def longest_stable_step(method: str) -> float:
    """Find the longest stable step by bisection of its logarithm."""
    low, high = 1e-2, 1e2
    for _ in range(18):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if is_stable(method, middle) else (low, middle)
    return low


def raise_ceiling(id: str, seconds: float) -> Any:
    """Find the least factor by which raising a ceiling lets an exact instance violate the claim:
    inf if no instance is found, NaN for a claim without a ceiling."""
    claim = discover.claim(id)
    if not [part for part in perturbations.list_parts(claim) if part.kind == "ceiling"]:
        return dict(least=np.nan)
    found = sharpening.sharpen(claim, seconds, SEED, only=lambda part: part.kind == "ceiling")
    least = [float(part.refuted) for part in found.parts if part.refuted is not None]
    return dict(least=min(least, default=np.inf))


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    of = {
        method: longest_stable_step(method) for method in {method for _, method, _ in ROWS.values()}
    }
    found = []
    for id, (title, method, _) in ROWS.items():
        own = printed_ceiling(id)
        least = _parts.compute_part(raise_ceiling, id, SECONDS[scale])["least"]
        found.append((id, title, method, own, float(least), of[method] / own))
        progress(len(found), len(ROWS))
    names = ("claim", "title", "method", "printed", "broken", "stable")
    return dict(
        {name: np.array(column) for name, column in zip(names, zip(*found))},
        seconds=np.array(SECONDS[scale]),
        wide=np.array(float(PARAMETERS.widest)),
    )


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    ax = figure.subplots()
    y = np.arange(len(data["claim"])) + 0.8 * (data["method"] != "fsl")
    for n, method in enumerate(data["method"].tolist()):
        colour, far = _style.algorithm_look(method).colour, data["broken"][n]
        ends = [1.0, data["stable"][n]]
        ax.plot(ends, [y[n]] * 2, color=_style.tint_colour(colour, 0.4), linewidth=3)
        ax.plot(1.0, y[n], "|", color=_style.INK, markersize=8, markeredgewidth=1.3)
        ax.plot(data["stable"][n], y[n], "o", color=colour, markersize=4)
        if np.isfinite(far):
            ax.plot(far, y[n], **_style.BROKEN)
        text = dict(textcoords="offset points", va="center", fontsize=_style.SMALL)
        end = far if ends[1] <= far <= 2 * ends[1] else ends[1]  # beside a cross that is near
        ax.annotate(f"{data['stable'][n]:.3g}", (end, y[n]), xytext=(6, 0), **text)
    ax.set(
        xscale="log",
        xlim=(
            0.7,
            2.5 * np.nanmax([data["stable"].max(), *data["broken"][np.isfinite(data["broken"])]]),
        ),
        yticks=y,
        yticklabels=data["title"].tolist(),
        ylim=(y[-1] + 0.6, -0.6),
        xlabel="times the theorem's longest effective step",
    )
    ax.tick_params(axis="y", length=0)
    _draw_legend(ax, np.isfinite(data["broken"]).any())


def _draw_legend(ax: "Axes", some: bool) -> None:
    from matplotlib.lines import Line2D

    bare = dict(linestyle="", color=_style.INK)
    handles = [
        Line2D([], [], marker="|", markersize=8, label="theorem", **bare),
        *([Line2D([], [], label="an instance breaks it", **_style.BROKEN)] if some else []),
        Line2D([], [], marker="o", markersize=4, label="longest stable", **bare),
    ]
    ax.figure.legend(handles=handles, loc="outside lower center", ncols=3, handletextpad=0.2)


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    return (
        "Effective steps ($K_0\\eta_0$ in FSL, $K\\eta\\eta_s$ in mixed FL) as multiples of each theorem's ceiling. Red "
        f"cross: the least multiple at which `sharpen` refutes the theorem by an exact instance within "
        f"{float(data['seconds']):g} s and {float(data['wide']):g} times the ceiling; without a cross it refuted none. Dot: the "
        r"longest step at which the method is stable on losses of curvature 1 ($\gamma=\eta_g=1$, $K=K_0=2$; $\eta_s=\eta_m=B=1$). "
        "Flex and FED-LAMB have no row: flex prescribes the rate of every round, and FED-LAMB states no ceiling."
    )


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    least, most = int(np.argmin(data["stable"])), int(np.argmax(data["stable"]))
    name = lambda n: data["title"][n].item()
    far = np.isfinite(data["broken"])
    told = [
        f"{name(n)} at {_caption.number_text(data['broken'][n], 3)} times"
        for n in np.flatnonzero(far)
    ]
    return (
        f"Methods are stable up to {_caption.number_text(data['stable'][least])} ({name(least)}) to "
        f"{_caption.number_text(data['stable'][most])} ({name(most)}) times their ceilings. "
        + (
            f"Instances beyond the ceiling break: {_caption.join_words(told)}."
            if told
            else "No instance breaks any theorem."
        )
    )


def table_rows(data: Mapping[str, np.ndarray]) -> list[list[str]]:
    shown = lambda value: (
        "" if np.isnan(value) else "none found" if np.isinf(value) else f"{value:.4g}"
    )
    return [
        ["ceiling", "claim", "printed", "refuted at, times", "stable to, times"],
        *(
            [title, claim, *map(shown, numbers)]
            for title, claim, *numbers in zip(
                *(data[name].tolist() for name in ("title", "claim", "printed", "broken", "stable"))
            )
        ),
    ]


FIGURE = Figure(
    cites="all papers, ceilings of steps",
    title="What theorems, counterexamples and stability allow a step to be",
    shows=tuple(ROWS),
    compute=compute_arrays,
    minutes=1.0,
    draw=draw_figure,
    rows=table_rows,
    caption=write_caption,
    says=describe_result,
    height=3.2,
)
