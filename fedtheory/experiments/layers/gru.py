"""The gated recurrent unit (Cho et al. 2014), with the reset gate applied after the product, as in
cuDNN:

    r, z = sigmoid(x W + h U + b + c),  n = tanh(x W + b + r (h U + c)),  h' = (1 - z) n + z h.

W (inputs, 3 units), U (units, 3 units), b and c (3 units) hold r, z and n side by side.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.layers._gemm import gemm, matrix_view
from fedtheory.experiments.network import Fitted, Layer, Parameter
from fedtheory.jit import jit


@jit
def sigmoid(a):
    return 1.0 / (1.0 + np.exp(-a))


@jit
def split_weights(w, inputs, H):
    """Return W, U, b, c as views of a flat vector laid out like w."""
    U, b = 3 * H * inputs, 3 * H * (inputs + H)
    return (
        matrix_view(w, 0, inputs, 3 * H),
        matrix_view(w, U, H, 3 * H),
        w[b : b + 3 * H],
        w[b + 3 * H :],
    )


@jit
def forward(here):
    """Compute the states Z, and store in `kept`, for each sample and place, r, z, n and the term h
    U + c of n."""
    A, Z = here.A, here.Z
    places, inputs, H = here.sizes[0], here.sizes[1], here.sizes[2]
    n = A.shape[0]
    W, U, b, c = split_weights(here.w, inputs, H)
    X = np.empty((n * places, 3 * H), A.dtype)
    gemm(A.reshape((n * places, inputs)), 0, W, 0, 0.0, X)
    h, P = np.zeros((n, H), A.dtype), np.empty((n, 3 * H), A.dtype)
    for t in range(places):
        gemm(h, 0, U, 0, 0.0, P)
        for s in range(n):
            at, x = (s * places + t) * 4 * H, s * places + t
            for j in range(H):
                r = sigmoid(X[x, j] + b[j] + P[s, j] + c[j])
                z = sigmoid(X[x, H + j] + b[H + j] + P[s, H + j] + c[H + j])
                back = P[s, 2 * H + j] + c[2 * H + j]
                new = np.tanh(X[x, 2 * H + j] + b[2 * H + j] + r * back)
                here.kept[at + j], here.kept[at + H + j] = r, z
                here.kept[at + 2 * H + j], here.kept[at + 3 * H + j] = new, back
                h[s, j] = (1.0 - z) * new + z * h[s, j]
                Z[s, t * H + j] = h[s, j]


@jit
def backward(here):
    A, Z, D = here.A, here.Z, here.D
    places, inputs, H = here.sizes[0], here.sizes[1], here.sizes[2]
    n = A.shape[0]
    W, U, b, c = split_weights(here.w, inputs, H)
    GW, GU, gb, gc = split_weights(here.G, inputs, H)
    X, P = np.empty((n * places, 3 * H), A.dtype), np.empty((n, 3 * H), A.dtype)
    carry, before = np.zeros((n, H), A.dtype), np.zeros((n, H), A.dtype)
    for t in range(places - 1, -1, -1):
        for s in range(n):
            at, x = (s * places + t) * 4 * H, s * places + t
            for j in range(H):
                r, z = here.kept[at + j], here.kept[at + H + j]
                new, back = here.kept[at + 2 * H + j], here.kept[at + 3 * H + j]
                before[s, j] = Z[s, (t - 1) * H + j] if t > 0 else Z.dtype.type(0)
                d = D[s, t * H + j] + carry[s, j]
                d_new = d * (1.0 - z) * (1.0 - new * new)
                d_z = d * (before[s, j] - new) * z * (1.0 - z)
                d_r = d_new * back * r * (1.0 - r)
                X[x, j], X[x, H + j], X[x, 2 * H + j] = d_r, d_z, d_new
                P[s, j], P[s, H + j], P[s, 2 * H + j] = d_r, d_z, d_new * r
                carry[s, j] = d * z
            for j in range(3 * H):
                gb[j] += X[x, j]
                gc[j] += P[s, j]
        gemm(before, 1, P, 0, 1.0, GU)
        gemm(P, 0, U, 1, 1.0, carry)
    gemm(A.reshape((n * places, inputs)), 1, X, 0, 1.0, GW)
    if here.E.size > 0:
        gemm(X, 0, W, 1, 0.0, here.E.reshape((n * places, inputs)))


def draw_uniform(size: int, H: int) -> Callable[..., Any]:
    return lambda generator: generator.uniform(-1, 1, size) / np.sqrt(H)


def fit(H: int, shape: tuple[int, int]) -> Fitted:
    if len(shape) != 2:
        refuse("layers", "must give gru samples of shape (places, width)", shape)
    places, inputs = shape
    sizes = (("W", 3 * H * inputs), ("U", 3 * H * H), ("b", 3 * H), ("c", 3 * H))
    return Fitted(
        (places, H),
        tuple(Parameter(name, size, draw_uniform(size, H)) for name, size in sizes),
        (places, inputs, H),
        kept=4 * H * places,
    )


def gru(units: int | Sequence[int | str]) -> Layer:
    """Return the layer of the states of `units` gated recurrent units after each place of a
    sequence, started from 0.

    >>> import fedtheory as ft
    >>> ft.layers.gru(64).fit((100, 32)).shape
    (100, 64)
    """
    units = arguments.check_integer("units", units, 1)
    return Layer("gru", forward, backward, partial(fit, units), reads_output=True)


MAKERS = (gru,)
