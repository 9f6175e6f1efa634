"""Flex, figure 1: one round under schemes A, B and C, in which two of four devices complete 3 and 4
of E = 5 steps."""

from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory.figures import _caption, _structure, _style
from fedtheory.figures._flex import SCHEMES
from fedtheory.figures._record import Arrays, Figure, Progress
from fedtheory.participation import Participation, steps
from fedtheory.problems.quadratics import quadratic_from_arrays

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

CLAIM = "flex.fig1_gains"
E, WORK, ETA = 5, (3, 4, 5, 5), 0.05
HESSIAN = np.array([1.0, 0.6])
LABELS = dict(
    A=(2, 5), B=(3, -3), C=(-11, -1)
)  # where their letters stand, in points from the arrow's end
MINIMISERS = np.array([[0, 0], [-4, 6], [1, 7], [6, 5], [8, 2]], float)  # f_0's is not used


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    problem = quadratic_from_arrays(HESSIAN, MINIMISERS)
    step = dict(rounds=1, E=E, eta=ETA, metrics=(), x_0=np.zeros(2))
    once = lambda of, name, work: ft.run(
        of, name, participation=Participation(work=steps(work)), **step
    ).final[0]
    paths = np.full((len(WORK), E + 1, 2), np.nan)  # of the local models
    gains = np.empty(len(WORK))
    for k, s in enumerate(WORK):
        alone = (
            MINIMISERS * (np.arange(len(MINIMISERS)) == k + 1)[:, None]
        )  # the others stay at w^G = 0
        of = quadratic_from_arrays(HESSIAN, alone)
        for done in range(s + 1):
            paths[k, done] = once(of, "flex_b", done) / problem.weights[k + 1]
        gains[k] = np.linalg.norm(once(of, "flex_c", s)) / np.linalg.norm(once(of, "flex_b", s))
    return {
        "paths": paths,
        "gains": gains,
        "full": once(problem, "flex_b", E),
        **{scheme: once(problem, name, WORK) for scheme, name in SCHEMES.items()},
        **_structure.cell_arrays(CLAIM),
    }


def draw_figure(figure: "Canvas", data: Arrays) -> None:
    ax: Any = figure.add_subplot(aspect="equal")
    for path, s, gain in zip(data["paths"], WORK, data["gains"]):
        end = path[s]
        ax.plot(*path.T, "o-", color=_style.RULE, markersize=2.5, linewidth=1)
        if s < E:
            ax.plot(
                *np.array([end, gain * end]).T,
                linestyle=_style.SHORT,
                color=_style.algorithm_look("flex_c").colour,
                linewidth=1,
            )
        ax.annotate(
            f"$s={s}$" + (rf", $\times\frac{{{E}}}{{{s}}}$" if s < E else ""),
            max(gain, 1) * end,
            xytext=4 * end / np.linalg.norm(end),
            textcoords="offset points",
            va="center",
            ha="right" if end[0] < 0 else "left",
            fontsize=_style.SMALL,
        )
    for scheme, name in SCHEMES.items():
        look = _style.algorithm_look(name)
        ax.annotate(
            "",
            data[scheme],
            (0, 0),
            arrowprops=dict(
                arrowstyle="-|>",
                color=look.colour,
                linewidth=1.4,
                shrinkA=0,
                shrinkB=0,
                mutation_scale=8,
            ),
        )
        ax.annotate(
            scheme,
            data[scheme],
            xytext=LABELS[scheme],
            textcoords="offset points",
            va="center",
            weight="bold",
            color=_style.darken_text(look.colour),
        )
    ax.plot(*data["full"], "*", color=_style.INK, markersize=8, markerfacecolor="white", zorder=3)
    ax.annotate(
        "all work done",
        data["full"],
        xytext=(6, 7),
        textcoords="offset points",
        fontsize=_style.SMALL,
    )
    ax.plot(0, 0, "o", color=_style.INK, markersize=4)
    ax.annotate("$w^G$", (0, 0), xytext=(-4, -9), textcoords="offset points", fontsize=_style.SMALL)
    ax.set_axis_off()


def judge_findings(data: Arrays) -> dict:
    return {CLAIM: _structure.judge_structure(data)}


def write_caption(data: Arrays) -> str:
    return (
        f"Local models of four devices that do {', '.join(map(str, WORK[:-1]))} and {WORK[-1]} of E = {E} steps from "
        "the global model, on quadratics; arrows: the global model's step under each scheme; dashed: how scheme C "
        "stretches incomplete work; star: where all work done leads. One round, nothing random."
    )


def describe_result(data: Arrays) -> str:
    off = {scheme: np.linalg.norm(data[scheme] - data["full"]) for scheme in SCHEMES}
    told = ", ".join(f"{scheme} {_caption.number_text(value)}" for scheme, value in off.items())
    return f"Distance to where all work done leads: {told}."


FIGURE = Figure(
    cites="flex, figure 1",
    title="One round: scheme C undoes incomplete work, A and B lean to the busy",
    compute=compute_arrays,
    caption=write_caption,
    says=describe_result,
    draw=draw_figure,
    findings=judge_findings,
    height=1.4,
)
