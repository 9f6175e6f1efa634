"""The common part of flex's experiments on networks (section 5.1): data, networks, and the length
of an epoch."""

from collections.abc import Mapping
from typing import Any

from fedtheory.participation import staircase

SETS = ("MNIST", "EMNIST")
PLACES = {
    "quick": {
        "MNIST": dict(
            set=dict(name="handwriting", writers=24, each=5, test=2, classes=10),
            side=14,
            net="mnist_2nn_twin",
            eta_0=0.3,
            E=5,
        ),
        "EMNIST": dict(
            set=dict(name="handwriting", writers=24, each=5, test=1, classes=20, seed=1),
            side=14,
            net="mcmahan_cnn_twin",
            eta_0=0.2,
            E=5,
        ),
    },
    "smoke": {
        "MNIST": dict(
            set=dict(name="handwriting", writers=8, each=5, test=1, classes=10),
            side=14,
            net="mnist_2nn_twin",
            eta_0=0.3,
            E=5,
        ),
        "EMNIST": dict(
            set=dict(name="handwriting", writers=8, each=3, test=1, classes=12, seed=1),
            side=14,
            net="mcmahan_cnn_twin",
            eta_0=0.3,
            E=5,
        ),
    },
    "paper": {
        "MNIST": dict(set=dict(name="mnist"), side=None, net="mnist_2nn", eta_0=2e-3, E=None),
        "EMNIST": dict(set=dict(name="emnist"), side=None, net="mcmahan_cnn", eta_0=5e-4, E=None),
    },
}
SAMPLES, B, EPOCHS = dict(MNIST=60_000, EMNIST=112_800), 10, 5
CHOSEN = {
    "E": "5 epochs, of n / (N B) steps each at the scale paper (figure 1's 5 of the other data); 5 steps below it",
    "eta_0 below the scale paper": "0.3 and 0.2, at which scheme C learns: with 5 steps a round the printed one moves nothing",
    "minibatches": "drawn anew in each step",
    "data below the scale paper": "handwriting of fonts, 14 x 14: digits for MNIST, digits and letters of others for EMNIST",
    "networks below the scale paper": "the twins of McMahan's perceptron and of his convolutional network",
}


def build_request(
    scale: str,
    data: str,
    scheme: str,
    N: int,
    split: Mapping[str, dict[str, bool]],
    rounds: int,
    seed: int,
    **more: Any,
) -> dict[str, Any]:
    """Return the request of one run; `shifts` are the rounds at which the learning rate restarts."""
    told, shifts = PLACES[scale][data], more.pop("shifts", [])
    eta = staircase(told["eta_0"], rounds, shifts)
    return dict(
        set=told["set"],
        side=told["side"],
        N=N,
        split=split,
        server=None,
        net=told["net"],
        batch=B,
        method=f"flex_{scheme.lower()}",
        hyper=dict(
            eta=[float(rate) for rate in eta], E=told["E"] or EPOCHS * SAMPLES[data] // (N * B)
        ),
        S=N,
        rounds=rounds,
        pretrained=None,
        seed=seed,
        **{"every": 1, "measure": ["test_accuracy"], **more},
    )
