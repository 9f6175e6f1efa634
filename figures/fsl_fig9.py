"""FSL, figure 9: the server's dissimilarity xi_t^2 and the clients' dissimilarity G_t^2 along FSL's
runs, over the number of classes C of a client and the number of server samples n_0."""

from typing import TYPE_CHECKING

import numpy as np

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures import _style
from fedtheory.figures._experiment import TELLS_APART, ExperimentFigure
from fedtheory.figures._record import Arrays
from fedtheory.figures._runs import Cells, Coordinates, Runs, Source, of_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("sq_xi", "sq_dissimilarity")
PRINTED = {"2": "n_0=90", "5": "n_0=225"}  # samples per class of EMNIST


def derive_coordinates(runs: Runs, at: Coordinates) -> Coordinates:
    """Return the printed number of server samples, the rank of the number of server samples among the set's, whether it is the set's
    largest printed one, and whether both sets have it."""
    sizes = sorted(runs.distinct_values("per", set=at["set"]), key=int)
    shared = {*sizes}.intersection(
        *(runs.distinct_values("per", set=s) for s in fsl_scenario1.SETS)
    )
    printed = [per for per in PRINTED if per in sizes]
    return dict(
        printed=PRINTED.get(at["per"], ""),
        rank=sizes.index(at["per"]),
        last=at["set"] == "EMNIST" and at["per"] == (printed or [""])[-1],
        shared=at["per"] == min(shared, key=int, default=""),
    )


def draw_figure(figure: "Figure", data: Arrays) -> None:
    runs = FIGURE.read_runs(data)
    for ax, place in zip(figure.subplots(1, 2, sharey=True), fsl_scenario1.SETS):
        counts, sizes = (sorted(runs.distinct_values(n, set=place), key=int) for n in ("C", "per"))
        at = np.arange(len(counts))
        means = lambda name, per: [runs(name, place, C, per).mean() for C in counts]
        for n, per in enumerate(sizes, 1):
            ax.plot(
                at,
                means("sq_xi", per),
                color=_style.algorithm_look("fsl").colour,
                alpha=0.35 + 0.65 * n / len(sizes),
                marker="o",
                label=rf"$\xi_t^2$, {per} a class",
            )
        G = means("sq_dissimilarity", sizes[0])
        ax.plot(at, G, color=_style.INK, linestyle=_style.SHORT, label="$G_t^2$")
        ax.set_xticks(at, counts)
        ax.set(title=f"{place} stand-in", xlabel="$C$", yscale="log")
    figure.axes[0].set_ylabel("mean over the run")
    _style.legend_below(figure, figure.axes[1])


FIGURE = ExperimentFigure(
    cites="FSL, figure 9",
    title="How unlike clients and server are, along FSL's runs",
    minutes=1.0,
    source=Source(fsl_scenario1.EXPERIMENT, ["fig9"], ["set", "C", "per"]),
    more=derive_coordinates,
    measures={name: of_curve(name, np.mean) for name in NAMES},
    draw=draw_figure,
    table=NAMES,
    heads=dict(per="samples per class", sq_xi="mean xi_t^2", sq_dissimilarity="mean G_t^2"),
    sentences={
        "fsl.fig9_C": Cells("sq_dissimilarity", "FSL", "{set}", dict(rank=0), levels="C"),
        "fsl.fig9_xi_below_G": (
            Cells("sq_xi", "FSL", levels="rank"),
            Cells("sq_xi", "FSL", "most"),
            Cells("sq_dissimilarity", "sq_dissimilarity", "most", called="sq_xi"),
        ),
        "fsl.fig9_few_samples": (
            Cells("sq_xi", "{printed}", "{set}", dict(set="EMNIST", per=tuple(PRINTED))),
            Cells("sq_dissimilarity", "sq_dissimilarity", "{set}", dict(last=True), called="sq_xi"),
            Cells(
                "sq_xi", "{set}", match=dict(shared=True), called="sq_xi_at_equal_samples_per_label"
            ),
        ),
    },
    doubts={"fsl.fig9_few_samples": TELLS_APART},
    text="$\\xi_t^2$ and $G_t^2$ at FSL's points, $\\gamma=1$, means over 21 points of a run and "
    "over seeds; blue lines: $\\xi_t^2$, for so many samples of each class at the server.",
    width="page",
    stacks=True,
)
