"""Mixed FL, table 4: the longest effective steps, evaluated from the claims' own formulas.

mu <= beta, so 1/(15 mu) is never the smaller: 2-way's limit is 1/(81 beta) in the mu-convex case as
in the convex.
"""

from typing import TYPE_CHECKING

import numpy as np

from fedtheory import discover
from fedtheory.figures import _caption, _findings, _style
from fedtheory.figures._record import Arrays, Figure, Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NARROWER = "mixed.table4_narrower"
METHODS = {"pt": "parallel_training", "one_way": "one_way_gt", "two_way": "two_way_gt"}
CASES = {"strong": r"$\mu$-convex", "convex": "convex", "nonconvex": "not convex"}
POINTS = dict(smoke=41, quick=81, paper=161)
SAMPLES = ((1, 0.01, 1), (1, 1, 1), (1, 1, 3), (10, 0.01, 1))  # beta, mu, B
HEADER = ["", *(f"{_style.algorithm_look(name).label}" for name in METHODS.values())]


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    B = np.geomspace(1, 8, POINTS[scale])
    beta, mu, bgd = np.array(SAMPLES, float).T
    data = {"B": B, "samples": np.array(SAMPLES, float)}
    for method in METHODS:
        for case in CASES:
            claim = discover.claim(f"mixed.table4_{method}_{case}")
            at = lambda **values: np.broadcast_to(
                claim.fast({key: values[key] for key in claim.needs(claim.bound)}),
                values["B"].shape,
            ).astype(float)
            data[f"{method}_{case}"] = at(beta=np.ones_like(B), mu=np.ones_like(B), B=B)
            data[f"{method}_{case}_samples"] = at(beta=beta, mu=mu, B=bgd)
            data[f"{method}_{case}_formula"] = np.array(claim.latex(claim.bound))
    return data


def table_lines(data: Arrays) -> list[list]:
    found = [
        [label, *(f"${data[f'{method}_{case}_formula']}$" for method in METHODS)]
        for case, label in CASES.items()
    ]
    for n, (beta, mu, bgd) in enumerate(data["samples"]):
        found.append([rf"$\beta={beta:g}$, $\mu={mu:g}$, $B={bgd:g}$", "", "", ""])
        found += [
            [label, *(f"{data[f'{method}_{case}_samples'][n]:.4f}" for method in METHODS)]
            for case, label in CASES.items()
        ]
    return found


def draw_figure(figure: "Canvas", data: Arrays) -> None:
    ax = figure.add_subplot()
    for method, name in METHODS.items():
        alike: dict[tuple, list[str]] = {}
        for case, label in CASES.items():
            alike.setdefault(tuple(data[f"{method}_{case}"]), []).append(label)
        for y, labels in alike.items():
            text = "" if len(labels) == len(CASES) else f", {labels[-1]}"  # mu-convex as convex
            _style.draw_line(
                ax, data["B"], np.array(y), name, _style.algorithm_look(name).label + text
            )
    ax.set(
        xscale="log",
        yscale="log",
        xlim=(1, data["B"][-1]),
        ylim=(1 / 600, 0.2),
        xlabel="dissimilarity $B$",
        ylabel=r"longest step $\beta\,\tilde\eta=\beta K\eta\,\eta_s$",
    )
    ax.set_xticks((1, 2, 4, 8), ("1", "2", "4", "8"))
    ax.minorticks_off()
    _style.direct_labels(ax)


def table_rows(data: Arrays) -> list[list[str]]:
    return [HEADER, *table_lines(data)]


def judge_findings(data: Arrays) -> dict:
    """Judge the largest eta K at eta_s = 1: smaller for 2-way than for 1-way transfer, and
    decreasing in B for parallel training."""
    cells: dict = {}
    for case in CASES:
        for n, (beta, mu, bgd) in enumerate(data["samples"]):
            for method, name in METHODS.items():
                cells[
                    "largest_eta_K",
                    _style.algorithm_look(name).label,
                    f"{case}, beta={beta:g}, mu={mu:g}, B={bgd:g}",
                ] = float(data[f"{method}_{case}_samples"][n])
    cells["largest_eta_K", "PT", ""] = data["pt_convex"]
    return {NARROWER: _findings.judge_claim(discover.claim(NARROWER), cells)}


def write_caption(data: Arrays) -> str:
    return (
        r"Longest effective steps $\beta K\eta\eta_s$ over the dissimilarity B, by the formulas of the claims, where "
        r"$\mu=\beta$; statements with the same ceiling share a line. Exact formulas, nothing random."
    )


def describe_result(data: Arrays) -> str:
    last = {method: data[f"{method}_convex"][-1] for method in METHODS}
    return (
        "Convex, at $B=8$: "
        + ", ".join(
            f"{_style.algorithm_look(METHODS[m]).label} {_caption.number_text(value)}"
            for m, value in last.items()
        )
        + "."
    )


FIGURE = Figure(
    cites="mixed FL, table 4",
    title="The longest effective steps that the bounds allow",
    compute=compute_arrays,
    caption=write_caption,
    says=describe_result,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    height=2.3,
)
