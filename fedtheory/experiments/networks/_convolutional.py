"""The blocks of layers that convolutional networks share."""

from fedtheory.experiments.layers import conv, dense, relu
from fedtheory.experiments.network import Layer
from fedtheory.typing import Number


def conv_block(filters: Number, kernel: Number = 3, padding: str = "same") -> list[Layer]:
    return [conv(filters, kernel, padding=padding), relu()]


def dense_block(width: Number) -> list[Layer]:
    return [dense(width), relu()]
