"""FSL, figure 6: test accuracy of FL, DS and FSL for clients with C classes, all from one random
model."""

import numpy as np

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures import _fsl, fsl_fig1
from fedtheory.figures._record import Figure


def compute_arrays(scale, progress):
    return _fsl.gather_arrays(fsl_scenario1.EXPERIMENT.runs_of("fig6", scale), progress)


def draw_figure(figure, data):
    fsl_fig1.panels(figure, data, {"FL": "FL", "DS": "DS", "FSL": "FSL"})


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "C", "method"])


def judge_findings(data):
    read, cells = _fsl.Read(data), {}
    for place, C, name, _ in fsl_fig1.places(read):
        for method in ("FSL", "DS", "FL"):
            cells["rise_time", method, name] = read("rise_time", place, C, method)
    for method in ("DS", "FL"):
        for quantity in ("rise_time", "final_accuracy"):
            values = [read(quantity, p, C, method) for p, C, _, iid in fsl_fig1.places(read) if iid]
            cells[quantity, method, "IID"] = np.mean(values, axis=0)
    return _fsl.judge_outcomes(data, {"fsl.fig6_no_pretrain": cells})


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"FSL with $\\gamma=1$, DS and FL begin at one random model; $C$ classes a client. {_fsl.CURVES}",
    )


FIGURE = Figure(
    cites="FSL, figure 6",
    title="Test accuracy as clients have fewer classes, from a random model",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=3.6,
)
