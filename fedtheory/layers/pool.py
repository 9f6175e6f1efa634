"""Max-pooling of images: the largest of each window, whose first place of the largest gets the
derivative."""

from functools import partial

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.jit import jit
from fedtheory.layers._runs import blank, copied, larger, taken
from fedtheory.network import Fitted, Layer


@jit
def forward(here):
    A, Z, s = here.A.reshape(here.A.size), here.Z.reshape(here.Z.size), here.sizes
    height, width, channels, k, tall, across = s[0], s[1], s[2], s[3], s[4], s[5]
    line, room = width * channels, np.empty(width * channels, A.dtype)
    for r in range(here.A.shape[0]):
        for i in range(tall):
            first = (r * height + i * k) * line
            copied(A, first, room, 0, line)
            for u in range(1, k):
                larger(A, first + u * line, room, 0, line)
            for j in range(across):
                to = ((r * tall + i) * across + j) * channels
                copied(room, j * k * channels, Z, to, channels)
                for v in range(1, k):
                    larger(room, (j * k + v) * channels, Z, to, channels)


@jit
def backward(here):
    A, D, s = here.A.reshape(here.A.size), here.D.reshape(here.D.size), here.sizes
    E = here.E.reshape(here.E.size)
    height, width, channels, k, tall, across = s[0], s[1], s[2], s[3], s[4], s[5]
    line = width * channels
    best, left = np.empty(channels, A.dtype), np.empty(channels, A.dtype)
    if tall * k < height or across * k < width:
        blank(E, 0, E.size)
    for r in range(here.E.shape[0]):
        for i in range(tall):
            for j in range(across):
                first = (r * height + i * k) * line + j * k * channels
                copied(D, ((r * tall + i) * across + j) * channels, left, 0, channels)
                copied(A, first, best, 0, channels)
                for window in range(1, k * k):
                    at = first + window // k * line + window % k * channels
                    larger(A, at, best, 0, channels)
                for window in range(k * k):
                    at = first + window // k * line + window % k * channels
                    taken(A, at, best, left, E, at, channels)


def fit(k, shape):
    if len(shape) != 3 or min(shape[:2]) < k:
        refuse("layers", f"must give pool images of {k} x {k} or more", shape)
    height, width, channels = shape
    sizes = (height, width, channels, k, height // k, width // k)
    return Fitted((height // k, width // k, channels), sizes=sizes)


def pool(size=2):
    """The largest of each window of size x size; what is left at the right and below is dropped.

    >>> import fedtheory as ft
    >>> ft.layers.pool(2).fit((26, 26, 64)).shape
    (13, 13, 64)
    """
    return Layer("pool", forward, backward, partial(fit, arguments.whole("size", size, 1)))


MAKERS = (pool,)
