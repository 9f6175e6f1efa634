"""The convolutional networks of FED-LAMB (section 4).

On MNIST two max-pooled convolutions, dropout, and fully connected layers on 320 and 50 inputs: 10
and 20 filters of 5 x 5, the only small whole numbers that leave 320 of 28 x 28. On CIFAR-10 "three
convolutional layers followed by two fully-connected layers" is all that is printed: 32, 64 and 64
filters of 3 x 3 and 64 cells are chosen here.
"""

from functools import partial

from fedtheory.experiments.layers import dense, dropout, pool
from fedtheory.experiments.network import Layer, Network
from fedtheory.experiments.networks._convolutional import conv_block, dense_block
from fedtheory.typing import Number


def mnist_layers(filters: Number, kernel: Number, cells: Number, classes: Number) -> list[Layer]:
    return [
        *(*conv_block(filters, kernel, "valid"), pool(2)),
        *(*conv_block(2 * filters, kernel, "valid"), pool(2), dropout(0.5)),
        *(*dense_block(cells), dense(classes)),
    ]


def cifar_layers(share: Number, padding: str, classes: Number) -> list[Layer]:
    return [
        *(*conv_block(32 // share, padding=padding), pool(2)),
        *(*conv_block(64 // share, padding=padding), pool(2)),
        *conv_block(64 // share, padding=padding),
        *(*dense_block(64 // share), dense(classes)),
    ]


SMALL = "It may judge which method gains faster, and no printed accuracy."
NETWORKS = (
    Network(
        "lamb_mnist",
        "FED-LAMB, section 4",
        (28, 28, 1),
        10,
        partial(mnist_layers, 10, 5, 50),
        "It is the paper's own, but for the unprinted probability of dropout.",
        "lamb_mnist_twin",
    ),
    Network(
        "lamb_mnist_twin",
        "FED-LAMB, section 4, small",
        (14, 14, 1),
        10,
        partial(mnist_layers, 4, 3, 12),
        SMALL,
    ),
    Network(
        "lamb_cifar",
        "FED-LAMB, section 4",
        (32, 32, 3),
        10,
        partial(cifar_layers, 1, "valid"),
        "Its widths are chosen, so it may judge orders of methods, and no printed accuracy.",
        "lamb_cifar_twin",
    ),
    Network(
        "lamb_cifar_twin",
        "FED-LAMB, section 4, small",
        (16, 16, 3),
        10,
        partial(cifar_layers, 4, "same"),
        SMALL,
    ),
)
