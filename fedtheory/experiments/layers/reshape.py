"""The layer that gives samples another shape: a flat sample becomes an image, an image a flat
vector."""

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.network import Fitted, Layer
from fedtheory.jit import jit


@jit
def forward(here):
    A, Z = here.A, here.Z
    for r in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            Z[r, j] = A[r, j]


@jit
def backward(here):
    D, E = here.D, here.E
    for r in range(E.shape[0]):
        for j in range(E.shape[1]):
            E[r, j] = D[r, j]


def fit(wanted: Any, shape: Sequence[int]) -> Fitted:
    if prod(wanted) != prod(shape):
        refuse("shape", f"must have as many numbers as what comes in, {prod(shape)}", wanted)
    return Fitted(wanted)


def reshape(*shape: int) -> Layer:
    """Return the layer that gives samples this shape; images are (height, width, channels).

    >>> import fedtheory as ft
    >>> ft.layers.reshape(28, 28, 1).fit((784,)).shape
    (28, 28, 1)
    """
    shape = tuple(arguments.check_integer("shape", size, 1) for size in shape)
    return Layer("reshape", forward, backward, partial(fit, shape), in_place=True)


MAKERS = (reshape,)
