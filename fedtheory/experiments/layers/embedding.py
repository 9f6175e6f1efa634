"""The embedding of words, or of films: for each of a sample's numbers, a row of a table."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.network import Fitted, Layer, Parameter
from fedtheory.jit import jit


@jit
def forward(here):
    A, Z, width = here.A, here.Z, here.sizes[1]
    for r in range(A.shape[0]):
        for t in range(A.shape[1]):
            row = np.int64(A[r, t]) * width
            for c in range(width):
                Z[r, t * width + c] = here.w[row + c] if row >= 0 else Z.dtype.type(0)


@jit
def backward(here):
    A, D, E, width = here.A, here.D, here.E, here.sizes[1]
    for r in range(A.shape[0]):
        for t in range(A.shape[1]):
            row = np.int64(A[r, t]) * width
            if row >= 0:
                for c in range(width):
                    here.G[row + c] += D[r, t * width + c]
    for r in range(E.shape[0]):
        for j in range(E.shape[1]):
            E[r, j] = 0


def draw_normal(rows: int, width: int) -> Callable[..., Any]:
    return lambda generator: generator.standard_normal(rows * width) / np.sqrt(width)


def fit(rows: int, width: int, shape: Sequence[int]) -> Fitted:
    table = Parameter("table", rows * width, draw_normal(rows, width))
    return Fitted((prod(shape), width), (table,), (rows, width))


def refuse_rows(rows: int, X: np.ndarray) -> None:
    """Refuse samples whose numbers are not rows of the table, or -1."""
    wrong = X[(X != np.floor(X)) | (X < -1) | (X >= rows)]
    if wrong.size:
        refuse("X", f"must hold rows 0..{rows - 1} of the table, or -1 for none", float(wrong[0]))


def embedding(rows: int, width: int) -> Layer:
    """Return the layer that gives the rows of a table (rows, width) named by a sample's whole
    numbers; -1 names no row and gives zeros. The layer must be a network's first.

    >>> import fedtheory as ft
    >>> ft.layers.embedding(40, 32).fit((100,)).shape
    (100, 32)
    """
    rows, width = (
        arguments.check_integer("rows", rows, 1),
        arguments.check_integer("width", width, 1),
    )
    how = partial(fit, rows, width)
    return Layer("embedding", forward, backward, how, admits=partial(refuse_rows, rows))


MAKERS = (embedding,)
