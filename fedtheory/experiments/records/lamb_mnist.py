"""FED-LAMB, figure 2: a perceptron and a convolutional network on MNIST, one digit per device
(section 4.1).

Half of 50 devices work in a round, for 1 or 5 local epochs; each method's step size, and
Fed-LAMB's lambda, are the best of a grid.
"""

from typing import Any

from fedtheory.experiments import _lamb
from fedtheory.experiments._record import Experiment
from fedtheory.typing import Number

NETS = ("MLP", "CNN")
PLACES = {
    "quick": dict(
        set=dict(name="handwriting", writers=40, each=5, test=2, classes=10),
        side=14,
        N=50,
        S=25,
        nets={"MLP": [32], "CNN": "lamb_mnist_twin"},
        batch=8,
        steps=5,
        rounds={"MLP": 60, "CNN": 30},
        every=2,
        grid={
            "Fed-LAMB": (0.003, 0.01, 0.03, 0.1),
            "Fed-AMS": (0.0003, 0.001, 0.003, 0.01),
            "Fed-SGD": (0.03, 0.1, 0.3, 1.0),
        },
        lambdas={"MLP": (0.0, 0.01, 0.1), "CNN": (0.0, 0.1)},
    ),
    "smoke": dict(
        set=dict(name="handwriting", writers=8, each=5, test=1, classes=10),
        side=14,
        N=10,
        S=5,
        nets={"MLP": [8], "CNN": "lamb_mnist_twin"},
        batch=8,
        steps=2,
        rounds={"MLP": 10, "CNN": 5},
        every=1,
        grid={"Fed-LAMB": (0.01, 0.03), "Fed-AMS": (0.001, 0.003), "Fed-SGD": (0.1, 0.3)},
        lambdas=dict.fromkeys(NETS, (0.0, 0.1)),
    ),
    "paper": dict(
        set=dict(name="mnist"),
        side=None,
        N=50,
        S=25,
        nets={"MLP": [200], "CNN": "lamb_mnist"},
        batch=32,
        steps=37,
        rounds={"MLP": 100, "CNN": 100},
        every=1,
        grid={
            "Fed-LAMB": (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1),
            "Fed-AMS": (0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01),
            "Fed-SGD": (0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
        },
        lambdas=dict.fromkeys(NETS, _lamb.LAMBDAS),
    ),
}
SEEDS = dict(smoke=2, quick=5, paper=5)
EPOCHS = (1, 5)
METHODS = tuple(_lamb.METHODS)


def build_request(
    scale: str, net: str, method: str, epochs: Number, alpha: Number, lambda_: Number, seed: int
) -> dict[str, Any]:
    told = PLACES[scale]
    return dict(
        set=told["set"],
        side=told["side"],
        N=told["N"],
        split={"one_label": dict(balanced=True)},
        server=None,
        net=told["nets"][net],
        drop=0.5 if net == "MLP" else None,
        batch=told["batch"],
        S=told["S"],
        rounds=told["rounds"][net],
        every=told["every"],
        seed=seed,
        **_lamb.method_entries(method, alpha, lambda_, told["steps"] * epochs),
    )


def fig2_cells(scale: str) -> dict[tuple[int | str, ...], dict[str, Any]]:
    """Return {(network, epochs, method, alpha, lambda): arguments of `request`} for the whole grid."""
    told = PLACES[scale]
    return {
        (net, epochs, *cell): arguments | dict(epochs=epochs)
        for net in NETS
        for epochs in EPOCHS
        for cell, arguments in _lamb.tuning_grid(told["grid"], told["lambdas"][net]).items()
    }


EXPERIMENT = Experiment(
    "lamb_mnist",
    "FED-LAMB, section 4.1",
    printed={
        "data": "MNIST, each device one digit of ten",
        "networks": "one hidden layer of 200 with dropout; two convolutions and dropout, 320 and 50 cells",
        "clients": 50,
        "participation": 0.5,
        "B": 32,
        "local epochs": "1 and 5",
        "beta_1, beta_2": "0.9, 0.999",
        "phi": "the identity",
        "runs": "3 (the checklist says 5)",
    },
    chosen={
        "dropout": "0.5: the text does not say how much",
        "rounds": "100 at the scale paper: the figure's axis is no text",
        "epsilon of Fed-AMS": "1e-8, as Fed-LAMB's",
        "split": "labels dealt out evenly, five devices a digit; a digit's samples shared evenly",
        "minibatches": "drawn anew in each step; an epoch is n_i / B steps, rounded down",
        "runs": "5, for a test needs as many",
        "data below the scale paper": "handwriting of fonts, 14 x 14; a hidden layer of 32, and the twin of the convolutional network",
    },
    tuning=_lamb.TUNING
    | {"lambda of the CNN below the scale paper": "of 0 and 0.1: a quarter of the runs is saved"},
    figures=dict(fig2=fig2_cells),
    request=build_request,
    seeds=SEEDS,
    judges="orders of the methods on both networks; no printed accuracy",
)
