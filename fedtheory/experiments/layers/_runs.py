"""Loops over runs of neighbouring numbers of flat arrays.

Places are unsigned: a signed one may count from the end, and a loop that has to look is not made
into one over vectors.
"""

import numpy as np

from fedtheory.jit import jit


@jit
def fill_zeros(Z, to, count):
    to, zero = np.uint64(to), Z.dtype.type(0)
    for c in range(np.uint64(count)):
        Z[to + c] = zero


@jit
def copy_run(A, at, Z, to, count):
    """Copy A[at + c] to Z[to + c] for c < count."""
    at, to = np.uint64(at), np.uint64(to)
    for c in range(np.uint64(count)):
        Z[to + c] = A[at + c]


@jit
def add_run(A, at, Z, to, count):
    at, to = np.uint64(at), np.uint64(to)
    for c in range(np.uint64(count)):
        Z[to + c] += A[at + c]


@jit
def multiply_runs(A, at, B, by, Z, to, count):
    """Write A[at + c] B[by + c] to Z[to + c] for c < count."""
    at, by, to = np.uint64(at), np.uint64(by), np.uint64(to)
    for c in range(np.uint64(count)):
        Z[to + c] = A[at + c] * B[by + c]


@jit
def copy_positive(A, at, Z, to, count):
    at, to, zero = np.uint64(at), np.uint64(to), Z.dtype.type(0)
    for c in range(np.uint64(count)):
        Z[to + c] = A[at + c] if A[at + c] > zero else zero


@jit
def kept_where_positive(Z, at, E, to, count):
    """Set E[to + c] to 0 where Z[at + c] is not above 0, for c < count."""
    at, to, zero = np.uint64(at), np.uint64(to), Z.dtype.type(0)
    for c in range(np.uint64(count)):
        E[to + c] = E[to + c] if Z[at + c] > zero else zero
