"""McMahan's convolutional network, which flex uses for EMNIST: 1,663,370 parameters with ten
classes."""

from functools import partial

from fedtheory.experiments.layers import dense, pool
from fedtheory.experiments.network import Layer, Network
from fedtheory.experiments.networks._convolutional import conv_block, dense_block
from fedtheory.typing import Number


def cnn_layers(share: Number, classes: Number) -> list[Layer]:
    return [
        *(*conv_block(32 // share, 5), pool(2)),
        *(*conv_block(64 // share, 5), pool(2)),
        *(*dense_block(512 // share), dense(classes)),
    ]


NETWORKS = (
    Network(
        "mcmahan_cnn",
        "flex, section 5; McMahan et al. 2016",
        (28, 28, 1),
        10,
        partial(cnn_layers, 1),
        "It is the paper's own; the classes are those of the data.",
        "mcmahan_cnn_twin",
    ),
    Network(
        "mcmahan_cnn_twin",
        "flex, section 5, small",
        (14, 14, 1),
        10,
        partial(cnn_layers, 4),
        "It may judge orders of schemes and of reboots, and no printed accuracy.",
    ),
)
