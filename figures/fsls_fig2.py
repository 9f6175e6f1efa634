"""FSL (short), figure 2: accuracy over the server's number of samples n_0, from a random model."""

import numpy as np

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute_arrays(scale, progress):
    return _short.gather_figure("fig2", scale, progress)


def draw_figure(figure, data):
    _short.draw_final_accuracy(figure, data, "samples of each class at the server")


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "per class", "method"])


def judge_findings(data):
    read = _fsl.Read(data)
    found, pers = {}, [per for per in read.parts(1) if per]
    at = lambda per, method: read("final_accuracy", "EMNIST", per, method)
    found["final_accuracy", "FL", ""] = at("", "FL")
    for per, printed in zip(pers, (94, 235, 376, 517)):
        for method in ("FSL", "DS", "DSL"):
            found["final_accuracy", f"{method} n_0={printed}", ""] = at(per, method)
    gain = lambda more, less: np.mean(
        [at(more, method) - at(less, method) for method in ("FSL", "DS", "DSL")], axis=0
    )
    found["accuracy_gain", "n_0=517 over 376", ""] = gain(pers[3], pers[2])
    found["accuracy_gain", "n_0=376 over 235", ""] = gain(pers[2], pers[1])
    return _fsl.judge_outcomes(
        data, {"fsls.fig2_few_samples": found, "fsls.fig2_five_per_label": found}
    )


def write_caption(data):
    return _fsl.write_caption(
        data, f"From one random model, $\\eta_0$ as the largest of figure 1. {_fsl.SPREADS}"
    )


FIGURE = Figure(
    cites="FSL (short), figure 2",
    title="Accuracy over the server's samples, EMNIST",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    height=2.4,
)
