"""FSL, figure 10: FSL, FSLsyn, SCAFFOLD and FedDyn on CIFAR-10 with many clients. The paper's
sentences on figures 10 and 11 are judged here, on both sets."""

import numpy as np

from fedtheory.experiments.records import fsl_scenario2
from fedtheory.figures import _fsl, _scenario2, fsl_fig5
from fedtheory.figures._record import Figure

QUANTITIES = ("rise_time", "early_accuracy", "final_accuracy")


def compute_arrays(scale, progress):
    return fsl_fig5.compute_arrays(scale, progress)


def draw_figure(figure, data):
    _scenario2.draw_accuracy(figure, data, "CIFAR-10")


def table_rows(data):
    return _scenario2.table_rows(data)


def judge_findings(data):
    """Judge the sentences; `most` cases are decided by the mean over all C of both sets."""
    read, cells = _fsl.Read(data), {}
    for method in ("FSL", "FSLsyn", "SCAFFOLD"):
        for quantity in QUANTITIES:
            values = [
                _scenario2.at_best(read, quantity, place, C, method)
                for place in fsl_scenario2.SETS
                for C in _scenario2.client_counts(read, place)
            ]
            where = "" if quantity == "early_accuracy" else "most"
            cells[quantity, method, where] = np.mean(values, axis=0)
    return _fsl.judge_outcomes(data, {"fsl.fig10_fig11_rise": cells})


def write_caption(data):
    return _fsl.write_caption(
        data, f"Each method at its best $\\eta_l$ for the $C$ of the panel. {_fsl.CURVES}"
    )


def describe_result(data):
    return _scenario2.describe_result(data, "CIFAR-10")


FIGURE = Figure(
    cites="FSL, figure 10",
    title="FSL, FSLsyn, SCAFFOLD and FedDyn with many clients, CIFAR-10",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=2.0,
)
