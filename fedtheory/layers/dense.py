"""The fully connected layer: Z = A W + b."""

from functools import partial
from math import prod

from fedtheory import arguments
from fedtheory.jit import jit
from fedtheory.layers._gemm import gemm, he_normal, matrix, zeros
from fedtheory.network import Fitted, Layer, Parameter


@jit
def forward(here):
    n, outputs = here.Z.shape
    inputs = here.A.shape[1]
    b = here.w[inputs * outputs :]
    for r in range(n):
        for j in range(outputs):
            here.Z[r, j] = b[j]
    gemm(here.A, 0, matrix(here.w, 0, inputs, outputs), 0, 1.0, here.Z)


@jit
def backward(here):
    n, outputs = here.D.shape
    inputs = here.A.shape[1]
    gemm(here.A, 1, here.D, 0, 1.0, matrix(here.G, 0, inputs, outputs))
    b = here.G[inputs * outputs :]
    for r in range(n):
        for j in range(outputs):
            b[j] += here.D[r, j]
    gemm(here.D, 0, matrix(here.w, 0, inputs, outputs), 1, 0.0, here.E)


def fit(width, shape):
    inputs = prod(shape)
    W = Parameter("W", inputs * width, he_normal(inputs, width))
    return Fitted((width,), (W, Parameter("b", width, zeros(width))))


def dense(width):
    """`width` outputs, each a weighted sum of all inputs and a bias; W (inputs, width) by rows,
    then b.

    >>> import fedtheory as ft
    >>> [parameter.size for parameter in ft.layers.dense(10).fit((200,)).parameters]
    [2000, 10]
    """
    return Layer("dense", forward, backward, partial(fit, arguments.whole("width", width, 1)))


MAKERS = (dense,)
