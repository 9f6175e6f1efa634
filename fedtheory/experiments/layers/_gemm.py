"""Matrix products C = beta C + A B of matrices and their transposes, in float32 and float64. Tiles
of sums (_tiles.py) run over as many terms at a time as the nearest caches hold."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.experiments.layers._runs import add_run
from fedtheory.experiments.layers._tiles import ROWS, TERMS, Places, Sums, add_products
from fedtheory.experiments.layers._turns import transpose_matrix
from fedtheory.jit import jit

STRIP = 64  # columns of a B that is turned, at a time
BLOCK = 8 * ROWS[0]  # rows of an A that is turned, at a time: neighbours share what memory gives


@jit
def _add_products(A, turned_a, B, turned_b, start, skip, C):
    """Compute C = start + A B, where the rows of `start` lie `skip` numbers apart. A and B count as
    transposed where `turned_a` and `turned_b` are 1."""
    rows, columns = C.shape
    k = A.shape[0] if turned_a else A.shape[1]
    down, along = (1, A.shape[1]) if turned_a else (A.shape[1], 1)
    A, wide, B, C = A.reshape(A.size), B.shape[1], B.reshape(B.size), C.reshape(C.size)
    if turned_b == 0:
        some = BLOCK if turned_a else max(1, rows)
        for low in range(0, max(k, 1), TERMS):
            sums = Sums(A, down, 0, along, B, wide, 1, min(TERMS, k - low))
            places = Places(C, columns, start, skip) if low == 0 else Places(C, columns, C, columns)
            for r in range(0, rows, some):
                left, at = min(some, rows - r), low * along + r * down
                add_products(sums, at, low * wide, 0, places, r * columns, 1, left, columns)
        return
    room = np.empty(min(k, TERMS) * STRIP, C.dtype)
    for j in range(0, columns, STRIP):
        count = min(STRIP, columns - j)
        for low in range(0, max(k, 1), TERMS):
            some = min(TERMS, k - low)
            transpose_matrix(B, j * wide + low, wide, count, some, room, 0, count)
            sums = Sums(A, down, 0, along, room, count, 1, some)
            first = Places(C, columns, start[0 if skip else j :], skip)
            places = first if low == 0 else Places(C, columns, C, columns)
            add_products(sums, low * along, 0, 0, places, j, 1, rows, count)


@jit
def gemm(A, turned_a, B, turned_b, beta, C):
    """Compute C = beta C + A B, where beta is 0 or 1. A and B are stored by rows; each counts as
    transposed where its flag is 1."""
    if beta == 0.0:
        _add_products(A, turned_a, B, turned_b, np.zeros(C.shape[1], C.dtype), 0, C)
    else:
        _add_products(A, turned_a, B, turned_b, C.reshape(C.size), C.shape[1], C)


@jit
def multiply_affine(A, B, b, C):
    """Compute C = A B + b, where b is added to each row."""
    _add_products(A, 0, B, 0, b, 0, C)


@jit
def add_rows(D, rows, columns, b):
    """Add to b the sum of the rows of D, a flat array."""
    for r in range(rows):
        add_run(D, r * columns, b, 0, columns)


@jit
def matrix_view(flat, start, rows, columns):
    """Return a view (rows, columns) of a flat vector, beginning at `start`."""
    return flat[start : start + rows * columns].reshape((rows, columns))


def he_normal(inputs: int, outputs: int) -> Callable[..., Any]:
    """Return the function that draws initial weights before a ReLU (He et al. 2015): normal with
    variance 2 / inputs."""
    return lambda generator: generator.standard_normal(inputs * outputs) * np.sqrt(2.0 / inputs)


def zeros(size: int) -> Callable[..., Any]:
    return lambda generator: np.zeros(size)
