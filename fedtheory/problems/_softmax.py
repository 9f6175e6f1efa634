"""Kernels of ridge softmax regression (softmax.py): losses and gradients, a block of samples at a
time.

A point is W, (F, classes), flattened by rows. For the products in _tiles, features are padded to a
multiple of four in the data, classes in the workspace; ten classes need no padding (_tens).
"""

from typing import NamedTuple

import numpy as np

from fedtheory.jit import jit
from fedtheory.problem import Kernels
from fedtheory.problems import _pieces, _tens
from fedtheory.problems._tiles import (
    ONE_TILE,
    add_outer_product,
    pad_vector,
    padded_columns,
    score_rows,
    unpad_matrix,
    write_gradient,
)
from fedtheory.problems._vector import exp, half_square, on_stack
from fedtheory.rng import NO_DRAW, log

TEN = 10  # classes, for which points and scores need no padding
BLOCK = 64  # samples whose scores are held at a time


class Data(NamedTuple):
    X: (
        np.ndarray
    )  # (n, F) samples of all clients, the server's first, F padded with zeros to a multiple of 4
    y: np.ndarray  # (n,) classes
    starts: np.ndarray  # (N + 2,) client i owns rows starts[i] .. starts[i + 1] - 1
    ridge: float
    features: int  # before padding, the bias's 1 included
    classes: int


@jit
def score_residuals(y, base, rows, classes, P, weight, Z, measured):
    """Replace scores by weight (probabilities - onehot(y)) in place, unless the weight is 0. Return
    the sum of losses, if `measured`."""
    total = 0.0
    for b in range(rows.size):
        z = Z[b * P : (b + 1) * P]
        top = z[0]
        for c in range(1, classes):
            top = z[c] if z[c] > top else top
        total -= z[y[base + rows[b]]] - top
        for c in range(P):
            z[c] -= top
    for k in range(rows.size * P):
        Z[k] = exp(Z[k])
    masses = on_stack(BLOCK)
    for b in range(rows.size):
        z, mass = Z[b * P : (b + 1) * P], 0.0
        for c in range(classes):
            mass += z[c]
        masses[b] = mass
    if weight != 0.0:
        for b in range(rows.size):
            z, share = Z[b * P : (b + 1) * P], weight / masses[b]
            for c in range(P):
                z[c] *= share
            z[y[base + rows[b]]] -= weight
    if measured:
        for b in range(rows.size):
            masses[b] = log(masses[b])
        for b in range(rows.size):
            total += masses[b]
    return total


@jit
def fill_scores(data, base, rows, W, P, Z):
    """Write to Z the scores of the given rows."""
    if P == TEN:
        _tens.score_rows(data.X, base, rows, W, Z)
    else:
        score_rows(data.X, base, rows, W, data.classes, P, Z)


@jit
def add_outer(data, base, rows, Z, P, low, G):
    """Add to G the sums over rows of features times Z, for as many features from `low` on as G has."""
    if P == TEN:
        _tens.add_outer_product(data.X, base, rows, Z, low, G)
    else:
        add_outer_product(data.X, base, rows, Z, P, low, G)


@jit
def add_losses(data, base, rows, weight, W, P, Z, G, measured):
    """Add to G weight times the sum over rows of the losses' gradients at W, and return the sum of
    losses, if `measured`. With weight 0, nothing is added."""
    total = 0.0
    for first in range(0, rows.size, BLOCK):
        part = rows[first : min(first + BLOCK, rows.size)]
        fill_scores(data, base, part, W, P, Z)
        total += score_residuals(data.y, base, part, data.classes, P, weight, Z, measured)
        if weight != 0.0:
            add_outer(data, base, part, Z, P, 0, G)
    return total


@jit
def make_workspace(data, x, rows):
    """Return P, W with padding at its end, a zero gradient G of `rows` rows, and a buffer for the
    scores Z of a block. All are views of one allocation, because each allocation is costly."""
    P = padded_columns(data.classes)
    inputs, sums = x.size + P - data.classes, rows * P
    room = np.empty(inputs + sums + BLOCK * P)
    W, G, Z = room[:inputs], room[inputs : inputs + sums], room[inputs + sums :]
    pad_vector(x, W)
    for k in range(sums):
        G[k] = 0.0
    return P, W, G, Z


@jit
def batch(data, i, rows, draw, x, out):
    """Compute the mean gradient over `rows` of client i's samples, plus ridge x, into `out`.

    There are three ways: without padding for ten classes; in registers for one block of samples and
    few classes; with a padded workspace otherwise. Sums run over the samples in order in all of
    them.
    """
    base, weight = data.starts[i], 1.0 / rows.size
    if data.classes == TEN:
        for k in range(x.size):
            out[k] = 0.0
        add_losses(data, base, rows, weight, x, TEN, on_stack(BLOCK * TEN), out, False)
        add_ridge(data.ridge, x, out)
    elif rows.size <= BLOCK and padded_columns(data.classes) <= ONE_TILE:
        P, W, G, Z = make_workspace(data, x, 0)
        score_rows(data.X, base, rows, W, data.classes, P, Z)
        score_residuals(data.y, base, rows, data.classes, P, weight, Z, False)
        write_gradient(data.X, base, rows, Z, data.classes, P, data.ridge, x, out)
    else:
        P, W, G, Z = make_workspace(data, x, data.X.shape[1])
        add_losses(data, base, rows, weight, W, P, Z, G, False)
        unpad_matrix(G, P, data.classes, data.ridge, x, out)


@jit
def add_ridge(ridge, x, out):
    """Add ridge x to `out`."""
    for k in range(x.size):
        out[k] += ridge * x[k]


@jit
def grad(data, i, x, out):
    """Compute grad f_i(x) into `out`, over all samples of client i."""
    batch(data, i, np.arange(data.starts[i + 1] - data.starts[i]), NO_DRAW, x, out)


@jit
def loss(data, i, x):
    """Return f_i(x), over all samples of client i."""
    rows = np.arange(data.starts[i + 1] - data.starts[i])
    if data.classes == TEN:
        P, W, G, Z = TEN, x, x[:0], np.empty(BLOCK * TEN)
    else:
        P, W, G, Z = make_workspace(data, x, 0)
    total = add_losses(data, data.starts[i], rows, 0.0, W, P, Z, G, True)
    return total / rows.size + data.ridge * half_square(x)


@jit
def objective(data, p, x, out):
    """Return F and write its gradient to `out`; the scores are computed once."""
    if data.classes == TEN:
        for k in range(x.size):
            out[k] = 0.0
        value = total_loss(data, p, x, x, TEN, np.empty(BLOCK * TEN), out, True)
        add_ridge(data.ridge, x, out)
    else:
        P, W, G, Z = make_workspace(data, x, data.X.shape[1])
        value = total_loss(data, p, x, W, P, Z, G, True)
        unpad_matrix(G, P, data.classes, data.ridge, x, out)
    return value


@jit
def total_loss(data, p, x, W, P, Z, G, sloped):
    """Return F and add its gradient, without the ridge's part, to G, if `sloped`."""
    value = data.ridge * half_square(x)
    for i in range(1, p.size):
        if p[i] != 0.0:
            rows = np.arange(data.starts[i + 1] - data.starts[i])
            weight = p[i] / rows.size
            added = weight if sloped else 0.0
            value += weight * add_losses(data, data.starts[i], rows, added, W, P, Z, G, True)
    return value


@jit
def value(data, p, x):
    """Return F(x) without a gradient."""
    if data.classes == TEN:
        return total_loss(data, p, x, x, TEN, np.empty(BLOCK * TEN), x[:0], False)
    P, W, G, Z = make_workspace(data, x, 0)
    return total_loss(data, p, x, W, P, Z, G, False)


@jit
def pieces(data, i, count, phase):
    """Return the number of pieces of client i's gradient over `count` samples in a phase, 0 where
    it is too small to share."""
    n = _pieces.count_samples(data, i, count)
    return _pieces.number(n, data.X.shape[1], data.classes, phase)


@jit
def piece(data, i, rows, x, room, out, phase, n):
    """Compute the n-th piece of a gradient: in phase 0 the residuals of some samples, which stay in
    `room`; in phase 1 sums over all samples, for some features."""
    base, count, F = data.starts[i], _pieces.count_samples(data, i, rows.size), data.X.shape[1]
    P = TEN if data.classes == TEN else padded_columns(data.classes)
    low, high = _pieces.piece(count, F, data.classes, phase, n)
    if phase == 0:
        W = x[: data.features * data.classes + P - data.classes]
        for first in range(low, high, BLOCK):
            part, Z = _pieces.some(rows, first, min(first + BLOCK, high)), room[first * P :]
            fill_scores(data, base, part, W, P, Z)
            score_residuals(data.y, base, part, data.classes, P, 1.0 / count, Z, False)
        return
    G, C = np.zeros((high - low) * P), data.classes
    for first in range(0, count, BLOCK):
        part, Z = _pieces.some(rows, first, min(first + BLOCK, count)), room[first * P :]
        add_outer(data, base, part, Z, P, low, G)
    first, end = low * C, min(high, data.features) * C
    unpad_matrix(G, P, C, data.ridge, x[first:end], out[first:end])


KERNELS = Kernels(grad, loss, objective, batch, value=value, pieces=pieces, piece=piece)
