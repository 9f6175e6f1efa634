"""The rectifier: Z = max(A, 0), its derivative at 0 being 0."""

from fedtheory.jit import jit
from fedtheory.network import Fitted, Layer


@jit
def forward(here):
    A, Z = here.A, here.Z
    for r in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            Z[r, j] = A[r, j] if A[r, j] > 0 else Z.dtype.type(0)


@jit
def backward(here):
    Z, D, E = here.Z, here.D, here.E
    for r in range(E.shape[0]):
        for j in range(E.shape[1]):
            E[r, j] = D[r, j] if Z[r, j] > 0 else D.dtype.type(0)


def fit(shape):
    return Fitted(shape)


def relu():
    """max(a, 0) of each input a.

    >>> import fedtheory as ft
    >>> ft.layers.relu().fit((26, 26, 64)).shape
    (26, 26, 64)
    """
    return Layer("relu", forward, backward, fit, in_place=True)


MAKERS = (relu,)
