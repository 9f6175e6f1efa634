"""FED-LAMB, figure 2, top row: test accuracy of Fed-LAMB, Fed-AMS and Fed-SGD on one digit a device,
the perceptron, 1 and 5 local epochs. The bottom row is a convolution's and is not here."""

import numpy as np

from fedtheory.experiments import _curves, lamb_mnist
from fedtheory.figures import _fsl, _style, _table
from fedtheory.figures._record import Figure

NAMES = ("test_accuracy", "test_loss", "loss")
LOOKS = {"Fed-LAMB": "fed_lamb", "Fed-AMS": "fed_ams", "Fed-SGD": "fedsgd"}


def compute(scale, progress):
    return _fsl.gathered(lamb_mnist.EXPERIMENT.runs_of("fig2", scale), progress, NAMES)


def best(read, method, epochs):
    """The cell of a method's best step size (and lambda), by final accuracy over all seeds."""
    cells = [cell for cell in read.having(method) if cell[1] == str(epochs)]
    return max(cells, key=lambda cell: np.nan_to_num(read("final_accuracy", *cell)).mean())


def at(read, name, cell):
    """(seeds,) of a loss at the end."""
    return np.array([_curves.final(curve) for curve in read.data[name][read.place[cell]]])


def draw(figure, data):
    read = _fsl.Read(data)
    for ax, epochs in zip(figure.subplots(1, 2, sharey=True), lamb_mnist.EPOCHS):
        for method in lamb_mnist.METHODS:
            curves = read.curve(*best(read, method, epochs))
            _style.band(
                ax,
                data["rounds"],
                curves.mean(axis=0),
                curves.min(axis=0),
                curves.max(axis=0),
                LOOKS[method],
                label=method,
            )
        ax.set(title=f"{epochs} local epoch{'s' * (epochs > 1)}", xlabel="round $r$")
    figure.axes[0].set_ylabel("test accuracy")
    figure.axes[1].legend(loc="lower right")


def rows(data):
    read = _fsl.Read(data)
    rows = [["method", "epochs", "alpha", "lambda", "accuracy", "test loss", "train loss", "best"]]
    for cell in read.cells:
        chosen = cell == best(read, cell[0], cell[1])
        values = [read("final_accuracy", *cell), *(at(read, name, cell) for name in NAMES[1:])]
        rows.append([*cell, *map(_table.spread_of, values), "*" if chosen else ""])
    return rows


def findings(data):
    read, each, both = _fsl.Read(data), {}, {}
    for method in lamb_mnist.METHODS:
        chosen = [best(read, method, epochs) for epochs in lamb_mnist.EPOCHS]
        for epochs, cell in zip(lamb_mnist.EPOCHS, chosen):
            each["final_accuracy", method, f"MLP, {epochs} epochs"] = read("final_accuracy", *cell)
        mean = lambda values: np.mean(values, axis=0)
        both["final_accuracy", method, "MLP"] = mean([read("final_accuracy", *c) for c in chosen])
        both["test_loss", method, "MLP"] = mean([at(read, "test_loss", c) for c in chosen])
        both["train_loss", method, "MLP"] = mean([at(read, "loss", c) for c in chosen])
    return _fsl.outcomes(
        data,
        {"lamb.fig2_mlp_best": each, "lamb.fig2_mlp_sgd": both, "lamb.fig2_mlp_losses": both},
        stands_in(data),
    )


def stands_in(data):
    return "on a stand-in (handwriting of fonts for MNIST) with a small perceptron, not on the paper's data"


def says(data):
    read = _fsl.Read(data)
    told = []
    for epochs in lamb_mnist.EPOCHS:
        for method in lamb_mnist.METHODS:
            cell = best(read, method, epochs)
            rates = f"$\\alpha={cell[2]}$" + (
                f", $\\lambda={cell[3]}$" if method == "Fed-LAMB" else ""
            )
            told.append(
                f"{method} {_table.spread_of(read('final_accuracy', *cell))} ({epochs} epochs, {rates})"
            )
    return "Accuracy at the end: " + "; ".join(told) + "."


def caption(data):
    return _fsl.caption(
        data,
        "One label a device, half of 50 devices a round (fewer at the scale smoke); each method at the best step "
        "size of its grid, Fed-LAMB also at its best $\\lambda$. A line is the mean over seeds, its band goes from "
        "the least to the most.",
        stands_in(data),
    )


FIGURE = Figure(
    cites="FED-LAMB, figure 2, top",
    title="Fed-LAMB, Fed-AMS and Fed-SGD with one digit a device, perceptron",
    compute=compute,
    caption=caption,
    draw=draw,
    says=says,
    rows=rows,
    findings=findings,
    width="page",
    height=2.2,
)
