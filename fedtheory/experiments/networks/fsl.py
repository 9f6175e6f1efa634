"""The two convolutional networks of FSL (appendix B-A, tables II and III).

Table III prints (13, 13, 64) behind its first pooling, which is (16, 16, 32): its next line and its
numbers of parameters say so.
"""

from functools import partial

from fedtheory.experiments.layers import dense, dropout, pool
from fedtheory.experiments.network import Layer, Network
from fedtheory.experiments.networks._convolutional import conv_block, dense_block
from fedtheory.typing import Number


def emnist_layers(share: Number, classes: Number) -> list[Layer]:
    return [
        *conv_block(32 // share),
        *conv_block(64 // share, padding="valid"),
        *(pool(2), dropout(0.25)),
        *(*dense_block(128 // share), dropout(0.5), dense(classes)),
    ]


def cifar_layers(share: Number, classes: Number) -> list[Layer]:
    return [
        *(*conv_block(32 // share), pool(2)),
        *(*conv_block(64 // share), pool(2), dropout(0.25)),
        *(*dense_block(128 // share), dropout(0.5), dense(classes)),
    ]


SMALL = "It may judge orders of methods and of settings, and no printed accuracy or rise time."
NETWORKS = (
    Network(
        "fsl_emnist",
        "FSL, table II",
        (28, 28, 1),
        45,
        partial(emnist_layers, 1),
        "It is the paper's own, as printed.",
        "fsl_emnist_twin",
    ),
    Network(
        "fsl_emnist_twin", "FSL, table II, small", (14, 14, 1), 45, partial(emnist_layers, 4), SMALL
    ),
    Network(
        "fsl_cifar",
        "FSL, table III",
        (32, 32, 3),
        10,
        partial(cifar_layers, 1),
        "It is the paper's own, as its numbers of parameters say.",
        "fsl_cifar_twin",
    ),
    Network(
        "fsl_cifar_twin", "FSL, table III, small", (16, 16, 3), 10, partial(cifar_layers, 4), SMALL
    ),
)
