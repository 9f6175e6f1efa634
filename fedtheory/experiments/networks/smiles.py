"""The classifier of smiles of mixed FL: one hidden layer of 64 neurons with ReLU (appendix C.2.1).

The size of its images is not printed; 28 x 28 grey ones are chosen here. Two logits and their
softmax stand for the paper's one logit and its sigmoid: the logits' difference is that logit.
"""

from functools import partial

from fedtheory.experiments.layers import dense, relu
from fedtheory.experiments.network import Layer, Network
from fedtheory.typing import Number


def one_hidden(width: Number, classes: Number) -> list[Layer]:
    return [dense(width), relu(), dense(classes)]


NETWORKS = (
    Network(
        "smiles",
        "mixed FL, appendix C.2.1",
        (784,),
        2,
        partial(one_hidden, 64),
        "It is the paper's own, on images whose size the paper does not print.",
        "smiles_twin",
    ),
    Network(
        "smiles_twin",
        "mixed FL, appendix C.2.1, small",
        (196,),
        2,
        partial(one_hidden, 16),
        "On images of 14 x 14 it may judge how the three ways of mixing compare, no printed AUC.",
    ),
)
