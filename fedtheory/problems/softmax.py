"""Ridge softmax regression: f_i(W) = mean log(sum_c exp(a'W_c)) - a'W_y, plus ridge/2 ||W||^2.

A point is W, (F, classes), flattened by rows: entry f * classes + c. With a bias the last row of W
is the bias vector, and every sample ends in a 1; the ridge covers it too, for strong convexity. For
the products in _tiles, features are padded to a multiple of four in the data, classes in the
workspace.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.jit import jit
from fedtheory.problem import Kernels, Problem, layers_from
from fedtheory.problems import _linear, _samples
from fedtheory.problems._tiles import ONE_TILE, columns, gradient, narrow, outer, roomy, scores
from fedtheory.problems._vector import exp, half_square
from fedtheory.rng import NO_DRAW, log

BEND, FARTHEST = (
    0.5,
    np.sqrt(2.0),
)  # diag(p) - pp' has norm <= 1/2, p - onehot(y) norm < sqrt(2); see _linear
NEWTON = 2000  # above this d there is no minimiser: Newton's matrix would be too large
BLOCK = 64  # samples whose scores are held at a time
MOST = 2**16  # classes; a larger label is a mistake


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
def residuals(y, base, rows, classes, P, weight, Z, measured):
    """In place: scores to weight (probabilities - onehot(y)). Returns the sum of losses, if
    `measured`."""
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
    for b in range(rows.size):
        z = Z[b * P : (b + 1) * P]
        mass = 0.0
        for c in range(classes):
            mass += z[c]
        if measured:
            total += log(mass)
        share = weight / mass
        for c in range(P):
            z[c] *= share
        z[y[base + rows[b]]] -= weight
    return total


@jit
def add_losses(data, base, rows, weight, W, P, Z, G, measured):
    """G += weight sum over rows of the losses' gradients at W; returns the sum of losses, if
    `measured`. With weight 0 nothing is added."""
    total = 0.0
    for first in range(0, rows.size, BLOCK):
        part = rows[first : min(first + BLOCK, rows.size)]
        scores(data.X, base, part, W, data.classes, P, Z)
        total += residuals(data.y, base, part, data.classes, P, weight, Z, measured)
        if weight != 0.0:
            outer(data.X, base, part, Z, P, G)
    return total


@jit
def workspace(data, x, rows):
    """P, W with room at its end, a zero gradient G of so many rows, and room for the scores Z of a
    block: one piece of memory, as asking for it is what costs."""
    P = columns(data.classes)
    inputs, sums = x.size + P - data.classes, rows * P
    room = np.empty(inputs + sums + BLOCK * P)
    W, G, Z = room[:inputs], room[inputs : inputs + sums], room[inputs + sums :]
    roomy(x, W)
    for k in range(sums):
        G[k] = 0.0
    return P, W, G, Z


@jit
def batch(data, i, rows, draw, x, out):
    base, weight = data.starts[i], 1.0 / rows.size
    if rows.size <= BLOCK and columns(data.classes) <= ONE_TILE:
        P, W, G, Z = workspace(data, x, 0)
        scores(data.X, base, rows, W, data.classes, P, Z)
        residuals(data.y, base, rows, data.classes, P, weight, Z, False)
        gradient(data.X, base, rows, Z, data.classes, P, data.ridge, x, out)
    else:
        P, W, G, Z = workspace(data, x, data.X.shape[1])
        add_losses(data, base, rows, weight, W, P, Z, G, False)
        narrow(G, P, data.classes, data.ridge, x, out)


@jit
def grad(data, i, x, out):
    batch(data, i, np.arange(data.starts[i + 1] - data.starts[i]), NO_DRAW, x, out)


@jit
def loss(data, i, x):
    P, W, G, Z = workspace(data, x, 0)
    rows = np.arange(data.starts[i + 1] - data.starts[i])
    total = add_losses(data, data.starts[i], rows, 0.0, W, P, Z, G, True)
    return total / rows.size + data.ridge * half_square(x)


@jit
def objective(data, p, x, out):
    """F and its gradient, the scores computed once."""
    P, W, G, Z = workspace(data, x, data.X.shape[1])
    value = data.ridge * half_square(x)
    for i in range(1, p.size):
        if p[i] != 0.0:
            rows = np.arange(data.starts[i + 1] - data.starts[i])
            weight = p[i] / rows.size
            value += weight * add_losses(data, data.starts[i], rows, weight, W, P, Z, G, True)
    narrow(G, P, data.classes, data.ridge, x, out)
    return value


KERNELS = Kernels(grad, loss, objective, batch)


def _classes(y, classes):
    """All labels as integers, and how many classes there are."""
    labels = np.concatenate([part for part in y if part is not None])
    if not np.all((labels == np.floor(labels)) & (labels >= 0) & (labels < MOST)):  # false for NaN
        refuse("y", f"must hold classes 0, 1, 2, .. below {MOST}", np.unique(labels)[:6].tolist())
    found = int(labels.max()) + 1
    classes = max(2, found) if classes is None else arguments.whole("classes", classes, 2)
    if classes < found:
        refuse("y", f"must hold classes below {classes}", found - 1)
    return labels.astype(np.int64), classes


def _designs(data):
    designs = []
    for low, high in zip(data.starts, data.starts[1:]):
        e = np.full((high - low, data.classes), 1.0 / data.classes)
        e[np.arange(high - low), data.y[low:high]] -= 1.0
        designs.append(_linear.design(data.X[low:high, : data.features], e) if high > low else None)
    return designs


def _reach(classes):
    return float(np.sqrt(1.0 - 1.0 / classes))  # ||p - 1/classes|| for p in the simplex


def probabilities(problem, x, X):
    """Softmax probabilities (n, classes) of samples X (n, features) under the point x."""
    data = problem.data
    W = problem._point(x).reshape(data.features, data.classes)
    X = np.asarray(X, dtype=np.float64)
    plain = data.features - ("b" in [layer.name for layer in problem.layers])
    if X.ndim != 2 or X.shape[1] != plain:
        refuse("X", f"must have shape (samples, {plain})", X.shape)
    z = X @ W[:plain] + (W[plain] if plain < data.features else 0.0)
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)


def accuracy(problem, x, X, y):
    """The share of samples X whose most probable class is y."""
    return float(np.mean(np.argmax(probabilities(problem, x, X), axis=1) == np.asarray(y)))


def _hessian(problem):
    data, F, C = problem.data, problem.data.features, problem.data.classes
    X = data.X[data.starts[1] :, :F]
    weights = np.repeat(problem.weights[1:] / problem.sizes[1:], problem.sizes[1:])

    def at(x):
        H = data.ridge * np.eye(F * C)
        blocks = H.reshape(F, C, F, C)
        for low in range(0, len(X), 4096):
            a, w = X[low : low + 4096], weights[low : low + 4096]
            z = a @ x.reshape(F, C)
            z = np.exp(z - z.max(axis=1, keepdims=True))
            z /= z.sum(axis=1, keepdims=True)
            az = ((np.sqrt(w)[:, None] * a)[:, :, None] * z[:, None, :]).reshape(len(a), F * C)
            H -= az.T @ az  # the sum of w aa' (x) (diag(z) - zz')
            for c in range(C):
                blocks[:, c, :, c] += (a.T * (w * z[:, c])) @ a
        return H

    return at


def _minimize(problem):
    return _linear.newton(
        problem, _hessian(problem), float(np.mean(np.linalg.norm(problem.data.X, axis=1)))
    )


def _reweigh(problem, p):
    data = problem.data
    found = {**problem.constants, **_linear.dissimilarity(_designs(data), _reach(data.classes), p)}
    return replace(problem, weights=p, constants=found)


def softmax(
    X,
    y,
    ridge,
    server=None,
    classes=None,
    bias=True,
    weights=None,
    noise="minibatch",
    batch=None,
    batch_0=None,
    replacement=False,
    sigma=0.0,
    sigma_0=0.0,
):
    """Ridge softmax regression on the N clients' arrays, and server=(X_0, y_0)'s where it has some.

    X[i]: (n_i, features), y[i]: (n_i,) classes 0, 1, ... `classes`: the largest label's plus one by
    default. Layers are W and, with a bias, b. `weights`: None (equal), "samples" (n_i / n) or N
    numbers. Minibatches of `batch` samples (one number, or one a client; all samples if None) and
    of `batch_0` at the server; or additive noise of kind `noise` on full gradients. A minimiser is
    known if ridge > 0: without one the losses may have no minimiser.

    >>> import fedtheory as ft
    >>> X, y = [[[1.0], [-1.0]], [[2.0], [-2.0]]], [[0, 1], [0, 1]]
    >>> problem = ft.problems.softmax(X, y, ridge=0.1)
    >>> round(float(problem.loss([0.0] * problem.d)), 6)    # log 2
    0.693147
    """
    X, y = _samples.arrays(X, y, server)
    replacement, bias = arguments.flag("replacement", replacement), arguments.flag("bias", bias)
    ridge = arguments.real("ridge", ridge)
    sizes = _samples.sizes_of(X)
    labels, classes = _classes(y, classes)
    N, features = len(X) - 1, X[1].shape[1]
    p = _samples.weights_of(weights, sizes)
    noise, sigmas, batches = _samples.noise_of(
        noise, sigma, sigma_0, batch, batch_0, replacement, sizes
    )
    layers = [("W", features * classes)]
    if bias:
        X = [None if a is None else np.column_stack([a, np.ones(len(a))]) for a in X]
        layers.append(("b", classes))
        features += 1
    d = features * classes
    rows, starts = _samples.stack(X, -(-features // 4) * 4)
    data = Data(rows, labels, starts, ridge, features, classes)
    designs, reach = _designs(data), _reach(classes)
    found = {
        **_linear.curvature(designs, BEND, ridge),
        **_linear.dissimilarity(designs, reach, p),
        **_linear.sigmas(designs, reach, FARTHEST, noise, sigmas, batches, replacement),
    }
    return Problem(
        "softmax",
        data,
        KERNELS,
        N,
        d,
        p,
        found,
        has_server=X[0] is not None,
        sizes=sizes,
        noise=noise,
        sigma=sigmas,
        batch_size=batches,
        replacement=replacement,
        layers=layers_from(layers, d),
        minimize=_minimize if ridge > 0 and d <= NEWTON else None,
        reweigh=_reweigh,
    )


MAKERS = (softmax,)


def examples():
    generator = np.random.default_rng(6)
    X = [generator.standard_normal((n, 2)) for n in (4, 5, 3, 6)]
    y = [generator.integers(0, 3, len(rows)) for rows in X]
    one = [X[3]] * 4
    return dict(
        own=softmax(X[1:], y[1:], 0.1, (X[0], y[0]), weights="samples", batch=2),
        shared=softmax(
            one[1:],
            [(np.arange(6) + i) % 3 for i in range(1, 4)],
            0.05,
            (one[0], np.arange(6) % 3),
            noise="rademacher",
            sigma=0.3,
        ),
        two=softmax(
            X[1:],
            [labels % 2 for labels in y[1:]],
            0.0,
            bias=False,
            batch=[1, 2, 9],
            replacement=True,
        ),
    )
