"""Flex, figure 5: test accuracy with and without fast reboot when three devices arrive, one after the
other, on non-IID MNIST."""

import numpy as np

from fedtheory.claims.flex.findings import REBOUND
from fedtheory.figures import _flex, _flex_networks, _fsl, _style
from fedtheory.figures._flex_networks import REBOOTS
from fedtheory.figures._record import Figure
from fedtheory.figures.flex_fig4 import DASHES

CELL = "MNIST", "three"
ARRIVALS = 3


def compute_arrays(scale, progress):
    return _flex_networks.arrival_arrays("fig5", scale, progress)


def parts(read, reboot):
    """Return a run's curves on growing test data as [(first round, (seeds, rounds))]; the last
    curve begins with the last arrival."""
    found, begun = [], 0
    for arrived in range(ARRIVALS + 1):
        curve = read.curve(*CELL, reboot, arrived)
        found.append((begun, curve[:, begun:]))
        begun = curve.shape[1] - 1
    return found


def rebound(read, reboot):
    """Return the number of rounds (arrivals, seeds) until the accuracy is back at its value before
    an arrival, capped at the next arrival."""
    every = parts(read, reboot)
    return np.array(
        [
            [
                min(_flex.rounds_to_hit(later[1:] >= earlier[-2], len(later)), len(later))
                for earlier, later in zip(before[1], after[1])
            ]
            for before, after in zip(every, every[1:])
        ]
    )


def draw_figure(figure, data):
    read, ax = _fsl.Read(data), figure.subplots()
    for reboot in REBOOTS:
        every = parts(read, reboot)
        joined = [curve[:, : None if n == ARRIVALS else -1] for n, (_, curve) in enumerate(every)]
        curves = np.concatenate(joined, axis=1)
        _style.draw_band(
            ax,
            np.arange(curves.shape[1]),
            curves.mean(axis=0),
            curves.min(axis=0),
            curves.max(axis=0),
            "flex_c" if reboot == "fast" else "flex_b",
            label=f"{reboot} reboot",
            linestyle=DASHES[reboot],
        )
    for begun, _ in every[1:]:
        ax.axvline(begun, color=_style.OPEN, linewidth=0.7, linestyle=":")
    ax.set(xlabel=r"round $\tau$", ylabel="test accuracy")
    ax.legend(loc="lower right")


def judge_findings(data):
    read = _fsl.Read(data)
    cells = {
        (REBOUND, f"{reboot} reboot", f"arrival {n}"): values
        for reboot in REBOOTS
        for n, values in enumerate(rebound(read, reboot), 1)
    }
    return _flex_networks.judge_networks(data, {"flex.fig5_every_arrival": cells})


def describe_result(data):
    read = _fsl.Read(data)
    means = lambda reboot: ", ".join(f"{v:.1f}" for v in rebound(read, reboot).mean(axis=1))
    told = "; ".join(f"{reboot} {means(reboot)}" for reboot in REBOOTS)
    return f"Rounds until the accuracy before each arrival is back, at most until the next, means: {told}."


def table_rows(data):
    read = _fsl.Read(data)
    head = ["arrival", *(f"{reboot}, mean" for reboot in REBOOTS)]
    means = [rebound(read, reboot).mean(axis=1) for reboot in REBOOTS]
    return [head, *([str(n), *(f"{v:.1f}" for v in pair)] for n, pair in enumerate(zip(*means), 1))]


def write_caption(data):
    return _fsl.write_caption(
        data,
        "Seven of ten devices, each with a label of its own, are there at first; the others join at the dotted lines, and "
        "models are tested on the labels of who is there. A line is the mean over seeds, its band goes from the least "
        "to the most.",
        _flex_networks.STAND_IN,
    )


FIGURE = Figure(
    cites="flex, figure 5",
    title="Accuracy as three devices arrive, MNIST",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    height=2.4,
)
