"""FED-LAMB, figure 2: test accuracy of Fed-LAMB, Fed-AMS and Fed-SGD with one digit on each device
and 1 and 5 local epochs. The top row shows the perceptron, the bottom row the convolutional
network."""

import numpy as np

from fedtheory.experiments.records import lamb_mnist
from fedtheory.experiments.records.lamb_mnist import EPOCHS, NETS
from fedtheory.figures import _fsl, _lamb, _style
from fedtheory.figures._lamb import AMS, LAMB, METHODS, at_best
from fedtheory.figures._record import Figure

STAND_IN = "on a stand-in (handwriting of fonts for MNIST) with small networks, not on the paper's"


def compute_arrays(scale, progress):
    runs = {net: {} for net in NETS}
    for (cell, seed), request in lamb_mnist.EXPERIMENT.runs_of("fig2", scale).items():
        runs[cell[0]][cell, seed] = request
    return _fsl.join_arrays(
        _fsl.gather_arrays(part, progress, _lamb.NAMES) for part in runs.values()
    )


def cell_name(net, epochs):
    return f"{net}, {epochs} epoch{'s' * (epochs > 1)}"


def draw_figure(figure, data):
    read = _fsl.Read(data)
    axes = figure.subplots(len(NETS), len(EPOCHS), sharey="row")
    for row, net in zip(axes, NETS):
        for ax, epochs in zip(row, EPOCHS):
            _lamb.draw_panel(ax, read, cell_name(net, epochs), net, epochs)
        row[0].set_ylabel("test accuracy")
    _style.legend_below(figure, axes[0, 1])


def judge_findings(data):
    read, cells = _fsl.Read(data), {}
    for net in NETS:
        for method in METHODS:
            for quantity in ("final_accuracy", "early_accuracy", "test_loss", "train_loss"):
                each = [at_best(read, quantity, method, net, epochs) for epochs in EPOCHS]
                cells[quantity, method, net] = np.mean(each, axis=0)
                for epochs, values in zip(EPOCHS, each):
                    for where in {f"{net}, {epochs} epochs", cell_name(net, epochs)}:
                        cells[quantity, method, where] = values
    gain = lambda *where: (
        at_best(read, "final_accuracy", LAMB, *where) - at_best(read, "final_accuracy", AMS, *where)
    )
    for net in NETS:
        cells["accuracy_gain_over_ams", net, ""] = np.mean([gain(net, e) for e in EPOCHS], axis=0)
    for epochs in EPOCHS:
        cells["accuracy_gain_over_ams", cell_name("", epochs)[2:], "CNN"] = gain("CNN", epochs)
    ids = [f"lamb.fig2_mlp_{name}" for name in ("best", "sgd", "losses")] + ["lamb.fig2_deeper"]
    ids += [f"lamb.fig2_cnn_{name}" for name in ("best", "one_epoch", "early")]
    return _fsl.judge_outcomes(data, dict.fromkeys(ids, cells), STAND_IN)


def table_rows(data):
    return _lamb.table_rows(data, ["network", "epochs"])


def describe_result(data):
    settings = {cell_name(net, epochs): (net, epochs) for net in NETS for epochs in EPOCHS}
    return _lamb.describe_result(_fsl.Read(data), settings)


def write_caption(data):
    return _fsl.write_caption(
        data,
        "One label a device, half of 50 devices a round (fewer at the scale smoke); above the perceptron, below the "
        f"convolutional network. {_lamb.CURVES}",
        STAND_IN,
    )


FIGURE = Figure(
    cites="FED-LAMB, figure 2",
    title="Fed-LAMB, Fed-AMS and Fed-SGD with one digit a device, MNIST",
    compute=compute_arrays,
    minutes=4.0,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=3.6,
)
