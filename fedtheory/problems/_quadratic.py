"""Kernels of quadratics f_i(x) = (x - b_i)' A_i (x - b_i) / 2, with diagonal or dense Hessians."""

from typing import NamedTuple

import numpy as np

from fedtheory.jit import jit
from fedtheory.problem import Kernels


class Diagonal(NamedTuple):
    A: np.ndarray  # (1, d) shared, or (N + 1, d)
    b: np.ndarray  # (N + 1, d)
    H: np.ndarray  # (d,) Hessian of F
    x_star: np.ndarray  # (d,) where F is flat: its minimiser if there is one
    F_star: float


class Dense(NamedTuple):
    A: np.ndarray  # (1, d, d) shared, or (N + 1, d, d)
    b: np.ndarray
    H: np.ndarray  # (d, d)
    x_star: np.ndarray
    F_star: float


@jit
def diagonal_grad(data, i, x, out):
    A = data.A[min(i, data.A.shape[0] - 1)]
    b = data.b[i]
    for j in range(x.size):
        out[j] = A[j] * (x[j] - b[j])


@jit
def diagonal_loss(data, i, x):
    A = data.A[min(i, data.A.shape[0] - 1)]
    total = 0.0
    for j in range(x.size):
        total += A[j] * (x[j] - data.b[i, j]) ** 2
    return 0.5 * total


@jit
def diagonal_objective(data, p, x, out):
    """F* + (x - x*)' H (x - x*) / 2: no cancellation near the minimiser."""
    total = 0.0
    for j in range(x.size):
        gap = x[j] - data.x_star[j]
        out[j] = data.H[j] * gap
        total += out[j] * gap
    return data.F_star + 0.5 * total


@jit
def symmetric_times(A, v, out):
    """out = A v for symmetric A, by rows, in one order of additions whatever the machine's
    vectors."""
    d = v.size
    out[:] = 0.0
    c = 0
    while c + 4 <= d:
        a_0, a_1, a_2, a_3 = A[c], A[c + 1], A[c + 2], A[c + 3]
        v_0, v_1, v_2, v_3 = v[c], v[c + 1], v[c + 2], v[c + 3]
        for j in range(d):
            out[j] += (a_0[j] * v_0 + a_1[j] * v_1) + (a_2[j] * v_2 + a_3[j] * v_3)
        c += 4
    while c < d:
        for j in range(d):
            out[j] += A[c, j] * v[c]
        c += 1


@jit
def dense_grad(data, i, x, out):
    symmetric_times(data.A[min(i, data.A.shape[0] - 1)], x - data.b[i], out)


@jit
def dense_loss(data, i, x):
    gap = x - data.b[i]
    out = np.empty(x.size)
    symmetric_times(data.A[min(i, data.A.shape[0] - 1)], gap, out)
    total = 0.0
    for j in range(x.size):
        total += out[j] * gap[j]
    return 0.5 * total


@jit
def dense_objective(data, p, x, out):
    gap = x - data.x_star
    symmetric_times(data.H, gap, out)
    total = 0.0
    for j in range(x.size):
        total += out[j] * gap[j]
    return data.F_star + 0.5 * total


DIAGONAL = Kernels(diagonal_grad, diagonal_loss, diagonal_objective)
DENSE = Kernels(dense_grad, dense_loss, dense_objective)
