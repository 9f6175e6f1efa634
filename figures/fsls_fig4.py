"""FSL (short), figure 4: accuracy over rounds as clients have C classes."""

import numpy as np

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute(scale, progress):
    return _short.gathered("fig4", scale, progress)


def draw(figure, data):
    _short.curves(figure, data, lambda C: f"$C={C}$")


def rows(data):
    return _fsl.table(_fsl.Read(data), ["set", "C", "method"])


def findings(data):
    read = _fsl.Read(data)
    found, counts = {}, read.parts(1)
    at = lambda C, method: read("final_accuracy", "CIFAR-10", C, method)
    for C in counts:
        for method in _short.METHODS:
            found["final_accuracy", method, f"C={C}"] = at(C, method)
    cells = [("CIFAR-10", C, "FL") for C in counts]
    trend = {("final_accuracy", "FL", ""): _short.levels(read, "final_accuracy", cells)}
    gain = np.column_stack([at(C, "FSL") - at(C, "FL") for C in counts])
    return _fsl.outcomes(
        data,
        {
            "fsls.fig4_fl_C": trend,
            "fsls.fig4_benefit_C": {("accuracy_gain_over_fl", "FSL", ""): gain},
            "fsls.fig4_biased": found,
            "fsls.fig4_even": found,
        },
    )


def caption(data):
    return _fsl.caption(
        data,
        f"FL begins at a random model, the others at the one that the server has trained. {_fsl.CURVES}",
    )


FIGURE = Figure(
    cites="FSL (short), figure 4",
    title="Four methods as clients have fewer classes, CIFAR-10",
    compute=compute,
    caption=caption,
    draw=draw,
    rows=rows,
    findings=findings,
    width="page",
    stacks=True,
    height=2.4,
)
