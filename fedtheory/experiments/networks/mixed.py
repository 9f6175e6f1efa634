"""The language model and the recommender of mixed FL (appendix C.2).

The language model predicts the next character of sequences of 100: an embedding of 256 and 1024 GRU
units; how many characters there are is not printed, and 96 are chosen. The recommender is a dual
encoder: films that a user has seen as a bag and a hidden layer, the next film as a row of the same
table of 3,952; its width is not printed, and 16 is chosen, as are bags of ten films. Its server's
loss is `ft.layers.spreadout` of that table.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from fedtheory.experiments.layers import bag, dense, embedding, gru, hinge, hinge_spread, relu
from fedtheory.experiments.network import Layer, Network
from fedtheory.typing import Number


def language_layers(width: Number, units: Number, characters: Number) -> list[Layer]:
    return [embedding(characters, width), gru(units), dense(characters, each=True)]


def encoder_layers(width: Number, films: Number, loss: Callable[..., Any] = hinge) -> list[Layer]:
    return [
        *(embedding(films, width), bag()),
        *(dense(width), relu(), dense(width)),
        loss(films, width),
    ]


NETWORKS = (
    Network(
        "language",
        "mixed FL, appendix C.2.2",
        (100,),
        96,
        partial(language_layers, 256, 1024),
        "It is the paper's own, but for the number of characters.",
        "language_twin",
    ),
    Network(
        "language_twin",
        "mixed FL, appendix C.2.2, small",
        (40,),
        40,
        partial(language_layers, 32, 64),
        "It may judge whether the ways of mixing converge alike, and no printed accuracy.",
    ),
    Network(
        "encoder",
        "mixed FL, appendix C.2.3",
        (10,),
        3952,
        partial(encoder_layers, 16),
        "It may judge how the ways of mixing compare in recall@10, its width being chosen.",
        "encoder_twin",
    ),
    Network(
        "encoder_twin",
        "mixed FL, appendix C.2.3, small",
        (5,),
        200,
        partial(encoder_layers, 8),
        "It may judge how the ways of mixing compare, and no printed recall.",
    ),
    Network(
        "encoder_baseline",
        "mixed FL, section 5.3",
        (10,),
        3952,
        partial(encoder_layers, 16, loss=hinge_spread),
        "It is the recommender whose clients compute both losses.",
        "encoder_twin_baseline",
    ),
    Network(
        "encoder_twin_baseline",
        "mixed FL, section 5.3, small",
        (5,),
        200,
        partial(encoder_layers, 8, loss=hinge_spread),
        "It may judge how the ways of mixing compare with it, and no printed recall.",
    ),
)
