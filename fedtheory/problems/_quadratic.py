"""Kernels of quadratics f_i(x) = (x - b_i)' A_i (x - b_i) / 2, with diagonal or dense Hessians."""

from typing import NamedTuple

import numpy as np

from fedtheory.jit import jit
from fedtheory.problem import Kernels
from fedtheory.problems._vector import add, load, multiply_add, store, total, zero


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
    """out = A v for symmetric A, in one order of additions whatever the machine's vectors.

    A matrix streams through the cache once a gradient, and that is what a gradient costs; so of the
    blocks of eight rows by eight columns only those on the diagonal and right of it are read, and
    each of the latter counts twice.
    """
    whole, nothing = v.size - v.size % 8, zero(8)
    for j in range(v.size):
        out[j] = 0.0
    for r in range(0, whole, 8):
        eight_rows(A, v, out, r, whole)
    for r in range(whole, v.size):  # rows that fill no block
        row, dot = A[r], nothing
        for c in range(0, whole, 8):
            a = load(row, c, nothing)
            dot = multiply_add(dot, a, load(v, c, nothing))
            store(out, c, multiply_add(load(out, c, nothing), v[r], a))
        out[r] = total(dot)
        for c in range(whole, v.size):
            out[r] += row[c] * v[c]


@jit(inline="always")
def combined(start, weights, rows):
    """start + sum_k weights[k] rows[k], in two chains of additions."""
    a_0, a_1, a_2, a_3, a_4, a_5, a_6, a_7 = rows
    w_0, w_1, w_2, w_3, w_4, w_5, w_6, w_7 = weights
    one = multiply_add(multiply_add(start, w_0, a_0), w_2, a_2)
    other = multiply_add(multiply_add(zero(8), w_1, a_1), w_3, a_3)
    one = multiply_add(multiply_add(one, w_4, a_4), w_6, a_6)
    other = multiply_add(multiply_add(other, w_5, a_5), w_7, a_7)
    return add(one, other)


@jit(inline="always")
def eight_rows(A, v, out, r, end):
    """What columns r .. end - 1 of rows r .. r + 7 add to A v: those of the block on the diagonal
    as rows, the others as rows and as columns."""
    nothing = zero(8)
    a_0, a_1, a_2, a_3 = A[r], A[r + 1], A[r + 2], A[r + 3]
    a_4, a_5, a_6, a_7 = A[r + 4], A[r + 5], A[r + 6], A[r + 7]
    weights = v[r], v[r + 1], v[r + 2], v[r + 3], v[r + 4], v[r + 5], v[r + 6], v[r + 7]
    dot_0 = dot_1 = dot_2 = dot_3 = dot_4 = dot_5 = dot_6 = dot_7 = nothing
    for c in range(r, end, 8):
        b_0, b_1 = load(a_0, c, nothing), load(a_1, c, nothing)
        b_2, b_3 = load(a_2, c, nothing), load(a_3, c, nothing)
        b_4, b_5 = load(a_4, c, nothing), load(a_5, c, nothing)
        b_6, b_7 = load(a_6, c, nothing), load(a_7, c, nothing)
        rows = b_0, b_1, b_2, b_3, b_4, b_5, b_6, b_7
        store(out, c, combined(load(out, c, nothing), weights, rows))
        if c > r:
            x = load(v, c, nothing)
            dot_0, dot_1 = multiply_add(dot_0, x, b_0), multiply_add(dot_1, x, b_1)
            dot_2, dot_3 = multiply_add(dot_2, x, b_2), multiply_add(dot_3, x, b_3)
            dot_4, dot_5 = multiply_add(dot_4, x, b_4), multiply_add(dot_5, x, b_5)
            dot_6, dot_7 = multiply_add(dot_6, x, b_6), multiply_add(dot_7, x, b_7)
    out[r] += total(dot_0)
    out[r + 1] += total(dot_1)
    out[r + 2] += total(dot_2)
    out[r + 3] += total(dot_3)
    out[r + 4] += total(dot_4)
    out[r + 5] += total(dot_5)
    out[r + 6] += total(dot_6)
    out[r + 7] += total(dot_7)


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
