"""Kernels of quadratics f_i(x) = (x - b_i)' A_i (x - b_i) / 2, with diagonal or dense Hessians.

A shared Hessian is stored once, so a client's index is cut off at the last row of A. F is evaluated
around its stationary point, F* + (x - x*)' H (x - x*) / 2, where the sum over clients would lose
the last digits near x*. Dense products read packed blocks (_symmetric.py), and from LARGE
coordinates on workers share a product.
"""

from typing import NamedTuple

import numpy as np

from fedtheory.jit import jit
from fedtheory.problem import Kernels
from fedtheory.problems._symmetric import LARGE, PARTS, large_part, large_sum, multiply_blocks


class Diagonal(NamedTuple):
    """The arrays of quadratics with diagonal Hessians."""

    A: np.ndarray  # (1, d) shared, or (N + 1, d)
    b: np.ndarray  # (N + 1, d)
    H: np.ndarray  # (d,) Hessian of F
    x_star: np.ndarray  # (d,) where F is flat: its minimiser if there is one
    F_star: float


class Dense(NamedTuple):
    """The arrays of quadratics with dense Hessians, as `Diagonal` has them."""

    A: np.ndarray  # (1, d, d) shared, or (N + 1, d, d)
    b: np.ndarray
    H: np.ndarray  # (d, d)
    x_star: np.ndarray
    F_star: float
    blocks: np.ndarray  # of A and, last, of H, as products read them (_symmetric.py)


@jit
def diagonal_grad(data, i, x, out):
    """Compute A_i (x - b_i) into `out`, coordinate by coordinate."""
    A = data.A[min(i, data.A.shape[0] - 1)]
    b = data.b[i]
    for j in range(x.size):
        out[j] = A[j] * (x[j] - b[j])


@jit
def diagonal_loss(data, i, x):
    """Return sum_j A_ij (x_j - b_ij)^2 / 2."""
    A = data.A[min(i, data.A.shape[0] - 1)]
    total = 0.0
    for j in range(x.size):
        total += A[j] * (x[j] - data.b[i, j]) ** 2
    return 0.5 * total


@jit
def diagonal_objective(data, p, x, out):
    """Return F* + (x - x*)' H (x - x*) / 2, a form without cancellation near the minimiser, and
    write its gradient to `out`."""
    total = 0.0
    for j in range(x.size):
        gap = x[j] - data.x_star[j]
        out[j] = data.H[j] * gap
        total += out[j] * gap
    return data.F_star + 0.5 * total


@jit
def dense_grad(data, i, x, out):
    """Compute A_i (x - b_i) into `out`."""
    multiply_blocks(data.blocks[min(i, data.A.shape[0] - 1)], x, data.b[i], out)


@jit
def dense_loss(data, i, x):
    """Return (x - b_i)' A_i (x - b_i) / 2."""
    out = np.empty(x.size)
    dense_grad(data, i, x, out)
    return 0.5 * gradient_inner(out, x, data.b[i])


@jit
def gradient_inner(g, x, b):
    """Return g'(x - b)."""
    total = 0.0
    for j in range(x.size):
        total += g[j] * (x[j] - b[j])
    return total


@jit
def dense_objective(data, p, x, out):
    """Return F* + (x - x*)' H (x - x*) / 2, and write the gradient H (x - x*) to `out`."""
    multiply_blocks(data.blocks[data.A.shape[0]], x, data.x_star, out)
    return data.F_star + 0.5 * gradient_inner(out, x, data.x_star)


@jit
def dense_pieces(data, i, count, phase):
    """Return the number of pieces of a large product in a phase: PARTS partial products in phase 0,
    their sum in phase 1, none after; 0 where the dimension is below LARGE."""
    return (PARTS, 1, 0)[min(phase, 2)] if data.b.shape[1] >= LARGE else 0


@jit
def dense_piece(data, i, rows, x, room, out, phase, n):
    """Compute piece n of a large gradient: a partial product into `room` in phase 0, the sum of all
    parts into `out` in phase 1."""
    kept, b = data.blocks[min(i, data.A.shape[0] - 1)], data.b[i]
    if phase == 0:
        large_part(kept, x[: b.size], b, n, room)
    else:
        large_sum(kept, x[: b.size], b, room, out)


def product_room(d: int) -> int:
    """Return how many numbers to allocate for the partial products of a large dense Hessian in d
    coordinates; 0 where d is below LARGE."""
    return PARTS * d if d >= LARGE else 0


DIAGONAL = Kernels(diagonal_grad, diagonal_loss, diagonal_objective)
DENSE = Kernels(dense_grad, dense_loss, dense_objective, pieces=dense_pieces, piece=dense_piece)
