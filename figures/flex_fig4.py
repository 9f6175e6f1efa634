"""Flex, figure 4: test accuracy around an arrival on MNIST (left), and test loss around a departure
on SYNTHETIC (right). The paper's sentences on the departure are judged with table 5, over all
departures."""

from typing import TYPE_CHECKING

import numpy as np

from fedtheory.claims.flex.findings import REBOUND
from fedtheory.figures import _flex, _flex_networks, _style, flex_table5
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._flex_networks import REBOOTS
from fedtheory.figures._panels import LINES
from fedtheory.figures._record import Arrays, Progress
from fedtheory.figures._runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = _flex_networks.arrival_source("fig4")


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    data = SOURCE.gather_runs(scale, progress)
    jobs = [
        (flex_table5.ALPHAS[-1], seed, (flex_table5.SHOWN,))
        for seed in range(data["test_accuracy"].shape[1])
    ]
    curves = [curve for _, _, curve in _flex.run_jobs(jobs, flex_table5.follow_departure, progress)]
    return data | {"departure": np.array(curves)[None]}


def join_accuracy(runs: Runs, reboot: str) -> np.ndarray:
    """Return accuracy (seeds, rounds), measured on the data of the devices present: those before
    the arrival, then all devices."""
    tau_0 = runs.cells[0][1]
    before = runs.curves_of("MNIST", tau_0, "vanilla", 0)[:, : int(tau_0)]
    return np.concatenate(
        [before, runs.curves_of("MNIST", tau_0, reboot, 1)[:, int(tau_0) :]], axis=1
    )


def draw_figure(figure: "Figure", data: Arrays) -> None:
    runs = FIGURE.read_runs(data)
    left, right = figure.subplots(1, 2)
    for reboot in REBOOTS:
        _flex_networks.draw_reboot(left, reboot, join_accuracy(runs, reboot))
    left.axvline(int(runs.cells[0][1]), color=_style.OPEN, linewidth=0.7, linestyle=":")
    left.set(xlabel=r"round $\tau$", ylabel="test accuracy", title="an arrival, MNIST")
    left.legend(loc="lower right")
    flex_table5.draw_losses(right, data["departure"][0])


def measure_cells(data: Arrays) -> dict:
    runs = FIGURE.read_runs(data)
    place = "MNIST", runs.cells[0][1]
    most = _flex_networks.rounds_after_arrival(runs, *place)
    return {
        (REBOUND, f"{how} reboot", "MNIST"): np.minimum(
            _flex_networks.rounds_to_rebound(runs, *place, how), most
        )
        for how in REBOOTS
    }


def describe_result(data: Arrays) -> str:
    told = ", ".join(
        f"{how} {values.mean():.1f}" for (_, how, _), values in measure_cells(data).items()
    )
    return f"Rounds until the accuracy before the arrival is back, means: {told}."


def table_rows(data: Arrays) -> list[list]:
    curves = [join_accuracy(FIGURE.read_runs(data), reboot).mean(axis=0) for reboot in REBOOTS]
    head = ["round", *(f"{reboot} reboot" for reboot in REBOOTS)]
    return [head, *([n, *(f"{v:.4f}" for v in pair)] for n, pair in enumerate(zip(*curves)))]


FIGURE = ExperimentFigure(
    cites="flex, figure 4",
    title="Accuracy around an arrival, and loss around a departure",
    compute=compute_arrays,
    source=SOURCE,
    draw=draw_figure,
    rows=table_rows,
    sentences={"flex.fig4_fast_reboot": measure_cells},
    says=describe_result,
    text="Left: the last of ten devices, each with a label of its own, joins at the dotted line; "
    f"from then on models are tested on its label too. {LINES} Right: a device of {flex_table5.N} "
    "leaves, SYNTHETIC.",
    stand_in=_flex_networks.STAND_IN,
    width="page",
    height=2.2,
)
