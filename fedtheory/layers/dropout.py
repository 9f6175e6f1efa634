"""Dropout (Srivastava et al. 2014): each input becomes 0 with probability p, or 1 / (1 - p) times
itself.

The mask is a function of the gradient's key, the layer's place in the list and the unit alone, so
two methods that run with one seed drop the same units at the same step. Nothing is dropped where a
loss is measured.
"""

from functools import partial
from math import prod

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.jit import jit
from fedtheory.network import Fitted, Layer
from fedtheory.rng import masked


@jit
def forward(here):
    A, Z = here.A, here.Z
    n, width = Z.shape
    if here.training == 0:
        for r in range(n):
            for j in range(width):
                Z[r, j] = A[r, j]
        return
    p = here.numbers[0]
    masked(here.draw, here.place, p, 1.0 / (1.0 - p), here.kept)
    for r in range(n):
        for j in range(width):
            Z[r, j] = A[r, j] * here.kept[r * width + j]


@jit
def backward(here):
    D, E, width = here.D, here.E, here.E.shape[1]
    for r in range(E.shape[0]):
        for j in range(width):
            E[r, j] = D[r, j] * here.kept[r * width + j] if here.training else D[r, j]


def fit(p, shape):
    return Fitted(shape, numbers=(p,), kept=prod(shape))


def dropout(p):
    """Drops inputs with probability p while training.

    >>> import fedtheory as ft
    >>> ft.layers.dropout(0.25).fit((13, 13, 64)).numbers
    (0.25,)
    """
    p = arguments.real("p", p)
    if p >= 1:
        refuse("p", "must be a probability below 1", p)
    return Layer("dropout", forward, backward, partial(fit, p), in_place=True, draws=True)


MAKERS = (dropout,)
