"""Flex, figure 5: test accuracy with and without fast reboot when three devices arrive, one after the
other, on non-IID MNIST."""

from typing import TYPE_CHECKING

import numpy as np

from fedtheory.claims.flex.findings import REBOUND
from fedtheory.figures import _flex, _flex_networks, _style
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._flex_networks import REBOOTS
from fedtheory.figures._panels import LINES
from fedtheory.figures._record import Arrays
from fedtheory.figures._runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARRIVALS = 3


def split_curves(runs: Runs, reboot: str) -> list[tuple[int, np.ndarray]]:
    """Return a run's curves on growing test data as [(first round, (seeds, rounds))]; the last
    curve begins with the last arrival."""
    found, begun = [], 0
    for arrived in range(ARRIVALS + 1):
        curve = runs.curves_of("MNIST", "three", reboot, arrived)
        found.append((begun, curve[:, begun:]))
        begun = curve.shape[1] - 1
    return found


def count_rounds(runs: Runs, reboot: str) -> np.ndarray:
    """Return the number of rounds (arrivals, seeds) until the accuracy is back at its value before
    an arrival, capped at the next arrival."""
    every = [curve for _, curve in split_curves(runs, reboot)]
    return np.array(
        [
            [
                min(_flex.rounds_to_hit(later[1:] >= earlier[-2], len(later)), len(later))
                for earlier, later in zip(before, after)
            ]
            for before, after in zip(every, every[1:])
        ]
    )


def draw_figure(figure: "Figure", data: Arrays) -> None:
    runs, ax = FIGURE.read_runs(data), figure.subplots()
    for reboot in REBOOTS:
        *earlier, (_, last) = every = split_curves(runs, reboot)
        curves = np.concatenate([*(curve[:, :-1] for _, curve in earlier), last], axis=1)
        _flex_networks.draw_reboot(ax, reboot, curves)
    for begun, _ in every[1:]:
        ax.axvline(begun, color=_style.OPEN, linewidth=0.7, linestyle=":")
    ax.set(xlabel=r"round $\tau$", ylabel="test accuracy")
    ax.legend(loc="lower right")


def measure_cells(data: Arrays) -> dict:
    return {
        (REBOUND, f"{reboot} reboot", f"arrival {n}"): values
        for reboot in REBOOTS
        for n, values in enumerate(count_rounds(FIGURE.read_runs(data), reboot), 1)
    }


def mean_rounds(data: Arrays) -> dict[str, list[str]]:
    """Return {reboot: mean rounds of each arrival}, as text."""
    runs = FIGURE.read_runs(data)
    return {how: [f"{v:.1f}" for v in count_rounds(runs, how).mean(axis=1)] for how in REBOOTS}


def describe_result(data: Arrays) -> str:
    told = "; ".join(f"{how} {', '.join(means)}" for how, means in mean_rounds(data).items())
    return f"Rounds until the accuracy before each arrival is back, at most until the next, means: {told}."


def table_rows(data: Arrays) -> list[list[str]]:
    head = ["arrival", *(f"{reboot}, mean" for reboot in REBOOTS)]
    return [head, *([str(n), *pair] for n, pair in enumerate(zip(*mean_rounds(data).values()), 1))]


FIGURE = ExperimentFigure(
    cites="flex, figure 5",
    title="Accuracy as three devices arrive, MNIST",
    source=_flex_networks.arrival_source("fig5"),
    draw=draw_figure,
    rows=table_rows,
    sentences={"flex.fig5_every_arrival": measure_cells},
    says=describe_result,
    text="Seven of ten devices, each with a label of its own, are there at first; the others join at "
    "the dotted lines, and models are tested on the labels of who is there. " + LINES,
    stand_in=_flex_networks.STAND_IN,
)
