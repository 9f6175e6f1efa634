"""The bag layer: the mean over a sample's places, without the places that are all zero (as an
embedding gives for -1)."""

from typing import Any

from fedtheory.errors import refuse
from fedtheory.experiments.network import Fitted, Layer
from fedtheory.jit import jit


@jit
def count_filled(A, r, places, width, kept):
    """Return how many places of sample r are not all zero, at least 1, and mark these places by 1
    in `kept`."""
    count = 0
    for t in range(places):
        kept[r * places + t] = 0
        for c in range(width):
            if A[r, t * width + c] != 0:
                kept[r * places + t] = 1
        count += kept[r * places + t] > 0
    return max(count, 1)


@jit
def forward(here):
    A, Z, places, width = here.A, here.Z, here.sizes[0], here.sizes[1]
    for r in range(A.shape[0]):
        share = Z.dtype.type(1.0 / count_filled(A, r, places, width, here.kept))
        for c in range(width):
            Z[r, c] = 0
        for t in range(places):
            for c in range(width):
                Z[r, c] += share * A[r, t * width + c]


@jit
def backward(here):
    A, D, E, places, width = here.A, here.D, here.E, here.sizes[0], here.sizes[1]
    for r in range(E.shape[0]):
        share = D.dtype.type(1.0 / count_filled(A, r, places, width, here.kept))
        for t in range(places):
            for c in range(width):
                E[r, t * width + c] = share * D[r, c] * here.kept[r * places + t]


def fit(shape: Any) -> Fitted:
    if len(shape) != 2:
        refuse("layers", "must give bag samples of shape (places, width)", shape)
    return Fitted((shape[1],), sizes=shape, kept=shape[0])


def bag() -> Layer:
    """Return the layer that takes the mean of an embedding's output over a sample's places.

    >>> import fedtheory as ft
    >>> ft.layers.bag().fit((10, 32)).shape
    (32,)
    """
    return Layer("bag", forward, backward, fit)


MAKERS = (bag,)
