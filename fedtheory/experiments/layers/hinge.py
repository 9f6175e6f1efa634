"""The losses of a dual encoder (mixed FL, section 5.3): hinge at clients, spreadout at the server.

The paper prints neither. Hinge is max(0, margin - cos(u, v_y))^2 of what the left tower says, u, and
the row v_y of the table that the label names; it pulls like films together, and needs those rows
alone. Spreadout (Zhang et al. 2017) is the mean of cos(v_i, v_j)^2 over all pairs of rows, which the
server pushes apart. Recall ranks all rows by their cosine with u.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.layers._gemm import gemm
from fedtheory.experiments.network import Fitted, Layer
from fedtheory.jit import jit

TINY = 1e-12  # added to squared norms: a row of zeros has no direction


@jit
def row_cosine(A, r, w, row, width):
    """Return (cos, |u|, |v|) of sample r, u, and a row of the table, v."""
    inner, u, v = 0.0, TINY, TINY
    for c in range(width):
        inner += A[r, c] * w[row + c]
        u += A[r, c] ** 2
        v += w[row + c] ** 2
    u, v = np.sqrt(u), np.sqrt(v)
    return inner / (u * v), u, v


@jit
def forward(here):
    width, margin = here.sizes[1], here.numbers[0]
    for r in range(here.A.shape[0]):
        cos = row_cosine(here.A, r, here.w, here.y[r, 0] * width, width)[0]
        here.Z[r, 0] = max(0.0, margin - cos) ** 2


@jit
def backward(here):
    A, D, E, width, margin = here.A, here.D, here.E, here.sizes[1], here.numbers[0]
    for r in range(A.shape[0]):
        row = here.y[r, 0] * width
        cos, u, v = row_cosine(A, r, here.w, row, width)
        slope = -2.0 * max(0.0, margin - cos) * D[r, 0]
        for c in range(width):
            own, other = A[r, c] / u, here.w[row + c] / v
            here.G[row + c] += slope * (own - cos * other) / v
            if E.shape[0] > 0:
                E[r, c] = slope * (other - cos * own) / u


@jit
def judge(here):
    forward(here)
    Z, rows, width, top = here.Z, here.sizes[0], here.sizes[1], here.sizes[2]
    for r in range(here.A.shape[0]):
        y, above = here.y[r, 0], 0
        own = row_cosine(here.A, r, here.w, y * width, width)[0]
        for j in range(rows):
            cos = row_cosine(here.A, r, here.w, j * width, width)[0]
            above += cos > own or (cos == own and j < y)
        Z[r, 1], Z[r, 2], Z[r, 3] = above == 0, above < top, np.nan


def fit(rows: int, width: int, margin: float, top: int, shape: Sequence[int]) -> Fitted:
    if shape != (width,):
        refuse("layers", f"must give hinge {width} numbers a sample, as many as a row has", shape)
    return Fitted((1,), sizes=(rows, width, top), numbers=(margin,))


def hinge(
    rows: int, width: int, margin: float = 0.9, top: int = 10, table: str = "embedding"
) -> Layer:
    """Return the loss that is the squared hinge of the cosine with a row of the table of the layer
    called `table`.

    >>> import fedtheory as ft
    >>> ft.layers.hinge(3952, 16).fit((16,)).shape
    (1,)
    """
    rows, width = (
        arguments.check_integer("rows", rows, 2),
        arguments.check_integer("width", width, 1),
    )
    margin, top = arguments.check_real("margin", margin), arguments.check_integer("top", top, 1)
    how = partial(fit, rows, width, margin, top)
    return Layer("hinge", forward, backward, how, judge=judge, shares=table)


@jit
def row_directions(w, rows, width):
    """Return the table's rows scaled to norm 1, and the rows' norms."""
    S, norms = np.empty((rows, width), w.dtype), np.empty(rows, w.dtype)
    for j in range(rows):
        square = TINY
        for c in range(width):
            square += w[j * width + c] ** 2
        norms[j] = np.sqrt(square)
        for c in range(width):
            S[j, c] = w[j * width + c] / norms[j]
    return S, norms


@jit
def spread_forward(here):
    """Compute the mean of cos^2 over pairs of rows from sum_ij cos^2 = ||S'S||^2, where S has rows
    of norm 1; each term of the diagonal is 1."""
    rows, width = here.sizes[0], here.sizes[1]
    S, _ = row_directions(here.w, rows, width)
    M = np.empty((width, width), here.w.dtype)
    gemm(S, 1, S, 0, 0.0, M)
    total = 0.0
    for a in range(width):
        for b in range(width):
            total += M[a, b] ** 2
    for r in range(here.Z.shape[0]):
        here.Z[r, 0] = (total - rows) / (rows * (rows - 1.0))


@jit
def spread_backward(here):
    rows, width = here.sizes[0], here.sizes[1]
    S, norms = row_directions(here.w, rows, width)
    M, Q = np.empty((width, width), here.w.dtype), np.empty((rows, width), here.w.dtype)
    gemm(S, 1, S, 0, 0.0, M)
    gemm(S, 0, M, 0, 0.0, Q)
    scale = 0.0
    for r in range(here.D.shape[0]):
        scale += here.D[r, 0] * 4.0 / (rows * (rows - 1.0))
    for j in range(rows):
        along = 0.0
        for c in range(width):
            along += Q[j, c] * S[j, c]
        for c in range(width):
            here.G[j * width + c] += scale * (Q[j, c] - along * S[j, c]) / norms[j]
    for r in range(here.E.shape[0]):
        for j in range(here.E.shape[1]):
            here.E[r, j] = 0


def fit_spread(rows: int, width: int, shape: Sequence[int]) -> Fitted:
    return Fitted((1,), sizes=(rows, width))


def spreadout(rows: int, width: int, table: str = "embedding") -> Layer:
    """Return the loss that is the mean of squared cosines over pairs of rows of the table of the
    layer called `table`: a server's loss, which does not depend on samples.

    >>> import fedtheory as ft
    >>> ft.layers.spreadout(3952, 16).fit((1,)).shape
    (1,)
    """
    rows, width = (
        arguments.check_integer("rows", rows, 2),
        arguments.check_integer("width", width, 1),
    )
    how = partial(fit_spread, rows, width)
    return Layer(
        "spreadout", spread_forward, spread_backward, how, judge=spread_forward, shares=table
    )


MAKERS = (hinge, spreadout)
