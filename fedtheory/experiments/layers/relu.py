"""The rectifier layer: Z = max(A, 0), with derivative 0 at 0."""

from typing import Any

from fedtheory.experiments.layers._runs import copy_positive, copy_run, kept_where_positive
from fedtheory.experiments.network import Fitted, Layer
from fedtheory.jit import jit


@jit
def forward(here):
    n = here.Z.size
    copy_positive(here.A.reshape(n), 0, here.Z.reshape(n), 0, n)


@jit
def backward(here):
    n = here.E.size
    D, E = here.D.reshape(here.D.size), here.E.reshape(n)
    if D.ctypes.data != E.ctypes.data:
        copy_run(D, 0, E, 0, n)
    kept_where_positive(here.Z.reshape(here.Z.size), 0, E, 0, n)


def fit(shape: Any) -> Fitted:
    return Fitted(shape)


def relu() -> Layer:
    """Return the layer that takes max(a, 0) of each input a.

    >>> import fedtheory as ft
    >>> ft.layers.relu().fit((26, 26, 64)).shape
    (26, 26, 64)
    """
    return Layer("relu", forward, backward, fit, in_place=True)


MAKERS = (relu,)
