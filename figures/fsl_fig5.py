"""FSL, figure 5: heat maps of accuracy over the learning rate and the number of classes of a
client, with many clients: FSL, FSLsyn, SCAFFOLD and FedDyn."""

from typing import TYPE_CHECKING

import numpy as np

from fedtheory.experiments import _curves
from fedtheory.experiments.records import fsl_scenario2
from fedtheory.figures._experiment import TELLS_APART, ExperimentFigure
from fedtheory.figures._record import Arrays
from fedtheory.figures._runs import MEASURES, Cells, Source, Tuning, of_curve
from fedtheory.figures._style import SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COORDINATES = ["set", "C", "eta_l", "method"]
TUNING = Tuning(["eta_l"])
# A run that left the finite numbers has learnt nothing.
LEARNT = {
    "learnt": of_curve("test_accuracy", lambda curve: np.nan_to_num(_curves.final_mean(curve)))
}
MEANS = Cells("learnt", where="{set}", called="final_accuracy")
NO_GRID = (
    "it rests on the grid of step sizes, which the paper does not print: three values "
    "and four gave opposite verdicts"
)


def draw_heat(ax: "Axes", values: np.ndarray, low: float, high: float) -> None:
    """Draw a heat map with its numbers, in per cent."""
    ax.imshow(values, vmin=low, vmax=high, cmap="Blues", aspect="auto", origin="lower")
    for (y, x), value in np.ndenumerate(values):
        colour = "white" if value > (low + high) / 2 else "black"
        ax.text(x, y, f"{100 * value:.0f}", ha="center", va="center", fontsize=SMALL, color=colour)


def draw_figure(figure: "Figure", data: Arrays) -> None:
    runs = FIGURE.read_runs(data)
    methods = runs.distinct_values("method")
    axes = figure.subplots(2, len(methods), sharey="row", squeeze=False)
    for row, place in zip(axes, runs.distinct_values("set")):
        counts, rates = (runs.distinct_values(name, set=place) for name in ("C", "eta_l"))
        mean = lambda *cell: runs("learnt", *cell).mean()
        maps = {
            method: np.array([[mean(place, C, rate, method) for C in counts] for rate in rates])
            for method in methods
        }
        low, high = np.min([*maps.values()]), np.max([*maps.values()])
        for ax, (method, values) in zip(row, maps.items()):
            draw_heat(ax, values, low, high)
            ax.set_xticks(range(len(counts)), counts)
            ax.set_yticks(range(len(rates)), rates)
            ax.set(title=method if place == "EMNIST" else "", xlabel="$C$")
        row[0].set_ylabel(f"{place} stand-in\n$\\eta_l$")


FIGURE = ExperimentFigure(
    cites="FSL, figure 5",
    title="Accuracy over learning rates and classes of a client, many clients",
    minutes=1.0,
    source=Source(fsl_scenario2.EXPERIMENT, fsl_scenario2.SETS, COORDINATES),
    tuning=TUNING,
    measures=LEARNT,
    draw=draw_figure,
    table=tuple(MEASURES),
    sentences={
        ("fsl.fig5_emnist", "fsl.fig5_cifar", "fsl.fig5_syn"): (
            MEANS,
            Cells(
                "learnt",
                "FSL",
                "{set}",
                dict(method="FSL"),
                levels="C",
                minus=dict(method="FedDyn"),
                called="gain_over_feddyn",
            ),
        ),
        "fsl.fig5_rates_easy": Cells(
            "learnt",
            where="{set}",
            levels="eta_l",
            reduce=np.ptp,
            called="spread_over_eta_l",
            tuned=False,
        ),
    },
    doubts={
        **dict.fromkeys(("fsl.fig5_emnist", "fsl.fig5_cifar", "fsl.fig5_syn"), TELLS_APART),
        "fsl.fig5_rates_easy": NO_GRID,
    },
    text="Accuracy at the end in per cent, means over seeds. Sentences are judged at each method's "
    "best $\\eta_l$, the mean over $C$.",
    width="page",
    stacks=True,
    height=3.2,
)
