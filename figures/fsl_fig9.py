"""FSL, figure 9: the server's dissimilarity xi_t^2 and the clients' dissimilarity G_t^2 along FSL's
runs, over the number of classes C of a client and the number of server samples n_0."""

import numpy as np

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures import _fsl, _style, _table
from fedtheory.figures._record import Figure

NAMES = ("sq_xi", "sq_dissimilarity")


def compute_arrays(scale, progress):
    return _fsl.gather_arrays(fsl_scenario1.EXPERIMENT.runs_of("fig9", scale), progress, NAMES)


def means(data, name):
    """Return {cell: means over the run, (seeds,)}."""
    return {
        tuple(cell.split(_fsl.BETWEEN)): values.mean(axis=1)
        for cell, values in zip(data["cells"], data[name])
    }


def levels(cells, place):
    """Return a set's (values of C, samples per class), each in increasing order."""
    mine = [cell for cell in cells if cell[0] == place]
    order = lambda n: sorted({cell[n] for cell in mine}, key=int)
    return order(1), order(2)


def draw_figure(figure, data):
    xi, G = (means(data, name) for name in NAMES)
    for ax, place in zip(figure.subplots(1, 2, sharey=True), fsl_scenario1.SETS):
        counts, pers = levels(xi, place)
        at = np.arange(len(counts))
        for n, per in enumerate(pers):
            values = np.array([xi[place, C, per] for C in counts])
            shade = 0.35 + 0.65 * (n + 1) / len(pers)
            ax.plot(
                at,
                values.mean(axis=1),
                color=_style.algorithm_look("fsl").colour,
                alpha=shade,
                marker="o",
                label=rf"$\xi_t^2$, {per} a class",
            )
        values = np.array([G[place, C, pers[0]] for C in counts])
        ax.plot(at, values.mean(axis=1), color=_style.INK, linestyle=_style.SHORT, label="$G_t^2$")
        ax.set_xticks(at, counts)
        ax.set(title=f"{place} stand-in", xlabel="$C$", yscale="log")
    figure.axes[0].set_ylabel("mean over the run")
    _style.legend_below(figure, figure.axes[1])


def table_rows(data):
    xi, G = (means(data, name) for name in NAMES)
    head = ["set", "C", "samples per class", "mean xi_t^2", "mean G_t^2"]
    return [head] + [[*cell, _table.spread_of(xi[cell]), _table.spread_of(G[cell])] for cell in xi]


def judge_findings(data):
    xi, G = (means(data, name) for name in NAMES)
    falls, few, below = {}, {}, {}
    over = lambda values, place, per: np.mean(
        [values[cell] for cell in values if cell[0] == place and cell[2] == per], axis=0
    )
    by_size = []
    for place in fsl_scenario1.SETS:
        counts, pers = levels(xi, place)
        falls["sq_dissimilarity", "FSL", place] = np.column_stack(
            [G[place, C, pers[0]] for C in counts]
        )
        by_size.append(np.column_stack([over(xi, place, per) for per in pers]))
        for per, printed in (("2", "n_0=90"), ("5", "n_0=225")):
            if place == "EMNIST" and per in pers:
                few["sq_xi", printed, place] = over(xi, place, per)
                few["sq_xi", "sq_dissimilarity", place] = over(G, place, per)
    below["sq_xi", "FSL", ""] = np.mean(by_size, axis=0)
    below["sq_xi", "FSL", "most"] = np.mean([*xi.values()], axis=0)
    below["sq_xi", "sq_dissimilarity", "most"] = np.mean([*G.values()], axis=0)
    shared = sorted(set(levels(xi, "EMNIST")[1]) & set(levels(xi, "CIFAR-10")[1]), key=int)
    if shared:
        for place in fsl_scenario1.SETS:
            few["sq_xi_at_equal_samples_per_label", place, ""] = over(xi, place, shared[0])
    return _fsl.judge_outcomes(
        data, {"fsl.fig9_C": falls, "fsl.fig9_xi_below_G": below, "fsl.fig9_few_samples": few}
    )


def write_caption(data):
    return _fsl.write_caption(
        data,
        "$\\xi_t^2$ and $G_t^2$ at FSL's points, $\\gamma=1$, means over 21 points of a run and over seeds; blue lines: $\\xi_t^2$, for so many samples of each class at the server.",
    )


FIGURE = Figure(
    cites="FSL, figure 9",
    title="How unlike clients and server are, along FSL's runs",
    compute=compute_arrays,
    minutes=1.0,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=2.4,
)
