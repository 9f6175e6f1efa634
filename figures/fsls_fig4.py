"""FSL (short), figure 4: accuracy over rounds for clients with C classes."""

import numpy as np

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute_arrays(scale, progress):
    return _short.gather_figure("fig4", scale, progress)


def draw_figure(figure, data):
    _short.draw_accuracy(figure, data, lambda C: f"$C={C}$")


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "C", "method"])


def judge_findings(data):
    read = _fsl.Read(data)
    found, counts = {}, read.parts(1)
    at = lambda C, method: read("final_accuracy", "CIFAR-10", C, method)
    for C in counts:
        for method in _short.METHODS:
            found["final_accuracy", method, f"C={C}"] = at(C, method)
    cells = [("CIFAR-10", C, "FL") for C in counts]
    trend = {("final_accuracy", "FL", ""): _short.level_columns(read, "final_accuracy", cells)}
    gain = np.column_stack([at(C, "FSL") - at(C, "FL") for C in counts])
    return _fsl.judge_outcomes(
        data,
        {
            "fsls.fig4_fl_C": trend,
            "fsls.fig4_benefit_C": {("accuracy_gain_over_fl", "FSL", ""): gain},
            "fsls.fig4_biased": found,
            "fsls.fig4_even": found,
        },
    )


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"FL begins at a random model, the others at the one that the server has trained. {_fsl.CURVES}",
    )


FIGURE = Figure(
    cites="FSL (short), figure 4",
    title="Four methods as clients have fewer classes, CIFAR-10",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=2.4,
)
