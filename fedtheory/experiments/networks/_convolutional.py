"""The blocks of layers that convolutional networks share."""

from fedtheory.experiments.layers import conv, dense, relu


def conv_block(filters, kernel=3, padding="same"):
    return [conv(filters, kernel, padding=padding), relu()]


def dense_block(width):
    return [dense(width), relu()]
