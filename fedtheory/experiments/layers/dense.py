"""The fully connected layer: Z = A W + b."""

from collections.abc import Sequence
from functools import partial
from math import prod

from fedtheory import arguments
from fedtheory.experiments.layers._gemm import (
    add_rows,
    gemm,
    he_normal,
    matrix_view,
    multiply_affine,
    zeros,
)
from fedtheory.experiments.layers._runs import fill_zeros
from fedtheory.experiments.network import Fitted, Layer, Parameter
from fedtheory.jit import jit


@jit
def forward(here):
    inputs, outputs, places = here.sizes[0], here.sizes[1], here.sizes[2]
    n = here.A.shape[0] * places
    W, b = matrix_view(here.w, 0, inputs, outputs), here.w[inputs * outputs :]
    multiply_affine(here.A.reshape((n, inputs)), W, b, here.Z.reshape((n, outputs)))


@jit
def backward(here):
    inputs, outputs, places = here.sizes[0], here.sizes[1], here.sizes[2]
    n = here.A.shape[0] * places
    A, D = here.A.reshape((n, inputs)), here.D.reshape((n, outputs))
    gemm(A, 1, D, 0, 1.0 - here.fresh, matrix_view(here.G, 0, inputs, outputs))
    if here.fresh:
        fill_zeros(here.G, inputs * outputs, outputs)
    add_rows(D.reshape(D.size), n, outputs, here.G[inputs * outputs :])
    if here.E.size > 0:
        E = here.E.reshape((n, inputs))
        gemm(D, 0, matrix_view(here.w, 0, inputs, outputs), 1, 0.0, E)


def fit(width: int, each: bool, shape: Sequence[int]) -> Fitted:
    places = prod(shape[:-1]) if each else 1
    inputs = prod(shape) // places
    W = Parameter("W", inputs * width, he_normal(inputs, width))
    after = (*shape[:-1], width) if each else (width,)
    return Fitted(after, (W, Parameter("b", width, zeros(width))), (inputs, width, places))


def dense(width: int, each: bool = False) -> Layer:
    """Return the layer of `width` outputs, each a weighted sum of all inputs and a bias; its
    parameters are W (inputs, width) by rows, then b. With `each`, the layer takes the last axis
    alone, at each place with the same weights.

    >>> import fedtheory as ft
    >>> [parameter.size for parameter in ft.layers.dense(10).fit((200,)).parameters]
    [2000, 10]
    """
    width, each = arguments.check_integer("width", width, 1), arguments.check_flag("each", each)
    return Layer("dense", forward, backward, partial(fit, width, each), writes=True)


MAKERS = (dense,)
