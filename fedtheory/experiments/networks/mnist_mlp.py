"""The multilayer perceptrons for MNIST: FED-LAMB's, with dropout, and McMahan's, with two hidden
layers, which flex uses.

FED-LAMB prints "one hidden layer containing 200 cells with dropout" and no probability: 1/2 is
chosen here.
"""

from functools import partial

from fedtheory.experiments.layers import dense, dropout, relu
from fedtheory.experiments.network import Layer, Network
from fedtheory.typing import Number


def one_hidden(width: Number, classes: Number) -> list[Layer]:
    return [dense(width), relu(), dropout(0.5), dense(classes)]


def two_hidden(width: Number, classes: Number) -> list[Layer]:
    return [dense(width), relu(), dense(width), relu(), dense(classes)]


SAME = "The twin sees images of 14 x 14: it may judge orders of methods, no printed accuracy."
NETWORKS = (
    Network(
        "mnist_mlp",
        "FED-LAMB, section 4",
        (784,),
        10,
        partial(one_hidden, 200),
        "It is the paper's own, but for the unprinted probability of dropout.",
        "mnist_mlp_twin",
    ),
    Network(
        "mnist_mlp_twin", "FED-LAMB, section 4, small", (196,), 10, partial(one_hidden, 50), SAME
    ),
    Network(
        "mnist_2nn",
        "flex, section 5; McMahan et al. 2016",
        (784,),
        10,
        partial(two_hidden, 200),
        "It is the paper's own.",
        "mnist_2nn_twin",
    ),
    Network("mnist_2nn_twin", "flex, section 5, small", (196,), 10, partial(two_hidden, 50), SAME),
)
