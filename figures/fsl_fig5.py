"""FSL, figure 5: heat maps of accuracy over the learning rate and the number of classes of a
client, with many clients: FSL, FSLsyn, SCAFFOLD and FedDyn."""

import numpy as np

from fedtheory.experiments.records import fsl_scenario2
from fedtheory.figures import _fsl, _scenario2
from fedtheory.figures._record import Figure
from fedtheory.figures._scenario2 import METHODS
from fedtheory.figures._style import SMALL


def compute_arrays(scale, progress):
    runs = {}
    for place in fsl_scenario2.SETS:
        runs |= fsl_scenario2.EXPERIMENT.runs_of(place, scale)
    return _fsl.gather_arrays(runs, progress)


def draw_figure(figure, data):
    read = _fsl.Read(data)
    axes = figure.subplots(2, len(METHODS), sharey="row", squeeze=False)
    for row, place in zip(axes, fsl_scenario2.SETS):
        counts, rates = _scenario2.client_counts(read, place), _scenario2.rates_tried(read, place)
        maps = {
            method: np.array(
                [
                    [_scenario2.final_accuracy(read, place, C, rate, method).mean() for C in counts]
                    for rate in rates
                ]
            )
            for method in METHODS
        }
        low, high = (
            edge([each.min() if edge is min else each.max() for each in maps.values()])
            for edge in (min, max)
        )
        for ax, (method, values) in zip(row, maps.items()):
            ax.imshow(values, vmin=low, vmax=high, cmap="Blues", aspect="auto", origin="lower")
            for (y, x), value in np.ndenumerate(values):
                dark = value > (low + high) / 2
                ax.text(
                    x,
                    y,
                    f"{100 * value:.0f}",
                    ha="center",
                    va="center",
                    fontsize=SMALL,
                    color="white" if dark else "black",
                )
            ax.set_xticks(range(len(counts)), counts)
            ax.set_yticks(range(len(rates)), rates)
            ax.set_title(method if place == fsl_scenario2.SETS[0] else "")
            ax.set_xlabel("$C$")
        row[0].set_ylabel(f"{place} stand-in\n$\\eta_l$")


def table_rows(data):
    return _scenario2.table_rows(data)


def judge_findings(data):
    read = _fsl.Read(data)
    means, spread = {}, {}
    for place in fsl_scenario2.SETS:
        counts = _scenario2.client_counts(read, place)
        for method in METHODS:
            values = [_scenario2.at_best(read, "final_accuracy", place, C, method) for C in counts]
            means["final_accuracy", method, place] = np.mean(values, axis=0)
            by_rate = [
                np.mean(
                    [_scenario2.final_accuracy(read, place, C, rate, method) for C in counts],
                    axis=0,
                )
                for rate in _scenario2.rates_tried(read, place)
            ]
            spread["spread_over_eta_l", method, place] = np.ptp(by_rate, axis=0)
        at = lambda method, C: _scenario2.at_best(read, "final_accuracy", place, C, method)
        means["gain_over_feddyn", "FSL", place] = np.column_stack(
            [at("FSL", C) - at("FedDyn", C) for C in counts]
        )
    return _fsl.judge_outcomes(
        data,
        {
            "fsl.fig5_emnist": means,
            "fsl.fig5_cifar": means,
            "fsl.fig5_syn": means,
            "fsl.fig5_rates_easy": spread,
        },
    )


def write_caption(data):
    return _fsl.write_caption(
        data,
        "Accuracy at the end in per cent, means over seeds. Sentences are judged at each method's best "
        "$\\eta_l$, the mean over $C$.",
    )


FIGURE = Figure(
    cites="FSL, figure 5",
    title="Accuracy over learning rates and classes of a client, many clients",
    compute=compute_arrays,
    minutes=1.0,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=3.2,
)
