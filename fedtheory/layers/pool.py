"""Max-pooling of images: the largest of each window, whose first place of the largest gets the
derivative."""

from functools import partial

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.jit import jit
from fedtheory.network import Fitted, Layer


@jit
def forward(here):
    A, Z, s = here.A, here.Z, here.sizes
    width, channels, k, tall, across = s[1], s[2], s[3], s[4], s[5]
    for r in range(A.shape[0]):
        for i in range(tall):
            for j in range(across):
                to = (i * across + j) * channels
                first = (i * k * width + j * k) * channels
                for c in range(channels):
                    Z[r, to + c] = A[r, first + c]
                for u in range(k):
                    for v in range(k):
                        at = first + (u * width + v) * channels
                        for c in range(channels):
                            Z[r, to + c] = max(Z[r, to + c], A[r, at + c])


@jit
def backward(here):
    A, D, E, s = here.A, here.D, here.E, here.sizes
    width, channels, k, tall, across = s[1], s[2], s[3], s[4], s[5]
    best, left = np.empty(channels, A.dtype), np.empty(channels, A.dtype)
    for r in range(E.shape[0]):
        for j in range(E.shape[1]):
            E[r, j] = 0
        for i in range(tall):
            for j in range(across):
                to = (i * across + j) * channels
                first = (i * k * width + j * k) * channels
                for c in range(channels):
                    best[c], left[c] = A[r, first + c], D[r, to + c]
                for u in range(k):
                    for v in range(k):
                        at = first + (u * width + v) * channels
                        for c in range(channels):
                            best[c] = max(best[c], A[r, at + c])
                for u in range(k):
                    for v in range(k):
                        at = first + (u * width + v) * channels
                        for c in range(channels):  # who takes it leaves nothing to the next
                            taken = left[c] if A[r, at + c] == best[c] else A.dtype.type(0)
                            E[r, at + c] = taken
                            left[c] -= taken


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
