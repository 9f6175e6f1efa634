"""Flex, figure 4: test accuracy around an arrival on MNIST (left), and test loss around a departure
on SYNTHETIC (right). The paper's sentences on the departure are judged with table 5, over all
departures."""

import numpy as np

from fedtheory.claims.flex.findings import REBOUND
from fedtheory.figures import _flex, _flex_networks, _fsl, _style, flex_table5
from fedtheory.figures._flex_networks import REBOOTS
from fedtheory.figures._record import Figure

DASHES = dict(fast="-", vanilla="--")


def compute_arrays(scale, progress):
    data = _flex_networks.arrival_arrays("fig4", scale, progress)
    jobs = [
        (flex_table5.ALPHAS[-1], seed, (flex_table5.SHOWN,))
        for seed in range(data["test_accuracy"].shape[1])
    ]
    curves = [curve for _, _, curve in _flex.run_jobs(jobs, flex_table5.follow_departure, progress)]
    return data | {"departure": np.array(curves)[None]}


def tau_0(read):
    return int(read.cells[0][1])


def join_accuracy(read, reboot):
    """Return accuracy (seeds, rounds), measured on the data of the devices present: those before
    the arrival, then all devices."""
    at = tau_0(read)
    before = read.curve("MNIST", at, "vanilla", 0)[:, :at]
    return np.concatenate([before, read.curve("MNIST", at, reboot, 1)[:, at:]], axis=1)


def draw_figure(figure, data):
    read = _fsl.Read(data)
    left, right = figure.subplots(1, 2)
    for reboot in REBOOTS:
        curves = join_accuracy(read, reboot)
        _style.draw_band(
            left,
            np.arange(curves.shape[1]),
            curves.mean(axis=0),
            curves.min(axis=0),
            curves.max(axis=0),
            "flex_c" if reboot == "fast" else "flex_b",
            label=f"{reboot} reboot",
            linestyle=DASHES[reboot],
        )
    left.axvline(tau_0(read), color=_style.OPEN, linewidth=0.7, linestyle=":")
    left.set(xlabel=r"round $\tau$", ylabel="test accuracy", title="an arrival, MNIST")
    left.legend(loc="lower right")
    flex_table5.losses(right, data["departure"][0])


def measure_cells(data):
    read = _fsl.Read(data)
    most = _flex_networks.rounds_after_arrival(read, "MNIST", tau_0(read))
    at = lambda how: np.minimum(
        _flex_networks.rounds_to_rebound(read, "MNIST", tau_0(read), how), most
    )
    return {(REBOUND, f"{how} reboot", "MNIST"): at(how) for how in REBOOTS}


def judge_findings(data):
    return _flex_networks.judge_networks(data, {"flex.fig4_fast_reboot": measure_cells(data)})


def describe_result(data):
    told = ", ".join(
        f"{how} {values.mean():.1f}" for (_, how, _), values in measure_cells(data).items()
    )
    return f"Rounds until the accuracy before the arrival is back, means: {told}."


def table_rows(data):
    read = _fsl.Read(data)
    curves = [join_accuracy(read, reboot).mean(axis=0) for reboot in REBOOTS]
    head = ["round", *(f"{reboot} reboot" for reboot in REBOOTS)]
    return [head, *([n, *(f"{v:.4f}" for v in pair)] for n, pair in enumerate(zip(*curves)))]


def write_caption(data):
    return _fsl.write_caption(
        data,
        "Left: the last of ten devices, each with a label of its own, joins at the dotted line; from then on models are "
        "tested on its label too. A line is the mean over seeds, its band goes from the least to the most. Right: a "
        f"device of {flex_table5.N} leaves, SYNTHETIC.",
        _flex_networks.STAND_IN,
    )


FIGURE = Figure(
    cites="flex, figure 4",
    title="Accuracy around an arrival, and loss around a departure",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=2.2,
)
