"""FSL (short), figure 1: accuracy and rise time over the server's epochs E_s and step size eta_0."""

import numpy as np

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute(scale, progress):
    return _short.gathered("fig1", scale, progress)


def draw(figure, data):
    _short.by_epochs(figure, data)


def rows(data):
    return _fsl.table(_fsl.Read(data), ["set", "eta_0 / eta_l", "E_s", "method"])


def findings(data):
    read = _fsl.Read(data)
    found = {}
    for method in _short.METHODS:
        cells = [cell for cell in read.cells if cell[3] == method]
        for quantity in ("final_accuracy", "rise_time"):
            found[quantity, method, ""] = _short.mean(read, quantity, cells)
    epochs = [
        _short.mean(read, "final_accuracy", [c for c in read.cells if c[2:] == (E_s, "FSL")])
        for E_s in read.parts(2)
        if E_s
    ]
    trend = {("final_accuracy", "FSL", ""): np.column_stack(epochs)}
    names = ("fig1_sl_helps_fl", "fig1_ds_dsl", "fig1_ds_over_fsl")
    return _fsl.outcomes(
        data, {f"fsls.{name}": found for name in names} | {"fsls.fig1_E_s_small": trend}
    )


def caption(data):
    return _fsl.caption(
        data,
        f"Over the server's epochs and step size, 5 samples of each class at the server; FL and DS have neither. {_fsl.SPREADS}",
    )


FIGURE = Figure(
    cites="FSL (short), figure 1",
    title="Server learning over its epochs and step size, EMNIST",
    compute=compute,
    caption=caption,
    draw=draw,
    rows=rows,
    findings=findings,
    width="page",
    stacks=True,
    height=2.6,
)
