"""Pieces that convolutional networks share."""

from fedtheory.layers import conv, dense, relu


def convolved(filters, kernel=3, padding="same"):
    return [conv(filters, kernel, padding=padding), relu()]


def connected(width):
    return [dense(width), relu()]
