"""The dropout layer (Srivastava et al. 2014): each input becomes 0 with probability p, or is
multiplied by 1 / (1 - p).

The mask is a function of the gradient's key, the layer's place in the list and the unit alone, so
two methods that run with one seed drop the same units at the same step. Nothing is dropped where a
loss is measured.
"""

from functools import partial
from math import prod
from typing import Any

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.layers._runs import copy_run, multiply_runs
from fedtheory.experiments.network import Fitted, Layer
from fedtheory.jit import jit
from fedtheory.rng import fill_masked
from fedtheory.typing import Number


@jit
def forward(here):
    n = here.Z.size
    A, Z = here.A.reshape(n), here.Z.reshape(n)
    if here.training == 0:
        if A.ctypes.data != Z.ctypes.data:
            copy_run(A, 0, Z, 0, n)
        return
    p = here.numbers[0]
    fill_masked(here.draw, here.place, p, 1.0 / (1.0 - p), here.kept)
    multiply_runs(A, 0, here.kept, 0, Z, 0, n)


@jit
def backward(here):
    n = here.E.size
    D, E = here.D.reshape(here.D.size), here.E.reshape(n)
    if here.training:
        multiply_runs(D, 0, here.kept, 0, E, 0, n)
    elif D.ctypes.data != E.ctypes.data:
        copy_run(D, 0, E, 0, n)


def fit(p: Number, shape: Any) -> Fitted:
    return Fitted(shape, numbers=(p,), kept=prod(shape))


def dropout(p: float) -> Layer:
    """Return the layer that drops inputs with probability p during training.

    >>> import fedtheory as ft
    >>> ft.layers.dropout(0.25).fit((13, 13, 64)).numbers
    (0.25,)
    """
    p = arguments.check_real("p", p)
    if p >= 1:
        refuse("p", "must be a probability below 1", p)
    return Layer("dropout", forward, backward, partial(fit, p), in_place=True, draws=True)


MAKERS = (dropout,)
