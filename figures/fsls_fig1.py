"""FSL (short), figure 1: accuracy and rise time over the server's epochs E_s and step size eta_0."""

import numpy as np

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute_arrays(scale, progress):
    return _short.gather_figure("fig1", scale, progress)


def draw_figure(figure, data):
    _short.by_epochs(figure, data)


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "eta_0 / eta_l", "E_s", "method"])


def judge_findings(data):
    read = _fsl.Read(data)
    found = {}
    for method in _short.METHODS:
        cells = [cell for cell in read.cells if cell[3] == method]
        for quantity in ("final_accuracy", "rise_time"):
            found[quantity, method, ""] = _short.mean_over_cells(read, quantity, cells)
    epochs = [
        _short.mean_over_cells(
            read, "final_accuracy", [c for c in read.cells if c[2:] == (E_s, "FSL")]
        )
        for E_s in read.parts(2)
        if E_s
    ]
    trend = {("final_accuracy", "FSL", ""): np.column_stack(epochs)}
    names = ("fig1_sl_helps_fl", "fig1_ds_dsl", "fig1_ds_over_fsl")
    return _fsl.judge_outcomes(
        data, {f"fsls.{name}": found for name in names} | {"fsls.fig1_E_s_small": trend}
    )


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"Over the server's epochs and step size, 5 samples of each class at the server; FL and DS have neither. {_fsl.SPREADS}",
    )


FIGURE = Figure(
    cites="FSL (short), figure 1",
    title="Server learning over its epochs and step size, EMNIST",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=2.6,
)
