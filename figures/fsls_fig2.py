"""FSL (short), figure 2: accuracy over the samples n_0 of the server, from a random model."""

import numpy as np

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute(scale, progress):
    return _short.gathered("fig2", scale, progress)


def draw(figure, data):
    _short.over(figure, data, "samples of each class at the server")


def rows(data):
    return _fsl.table(_fsl.Read(data), ["set", "per class", "method"])


def findings(data):
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
    return _fsl.outcomes(data, {"fsls.fig2_few_samples": found, "fsls.fig2_five_per_label": found})


def caption(data):
    return _fsl.caption(
        data, f"From one random model, $\\eta_0$ as the largest of figure 1. {_fsl.SPREADS}"
    )


FIGURE = Figure(
    cites="FSL (short), figure 2",
    title="Accuracy over the server's samples, EMNIST",
    compute=compute,
    caption=caption,
    draw=draw,
    rows=rows,
    findings=findings,
    height=2.4,
)
