"""Ridge softmax regression: f_i(W) = mean log(sum_c exp(a'W_c)) - a'W_y, plus ridge/2 ||W||^2.

A point is W, (F, classes), flattened by rows: entry f * classes + c. With a bias the last row of W
is the bias vector, and every sample ends in a 1; the ridge covers it too, for strong convexity.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.problem import Problem, layers_from
from fedtheory.problems import _linear, _pieces, _samples
from fedtheory.problems._softmax import KERNELS, Data
from fedtheory.problems._tiles import padded_columns
from fedtheory.typing import Number

BEND, FARTHEST = (
    0.5,
    np.sqrt(2.0),
)  # diag(p) - pp' has norm <= 1/2, p - onehot(y) norm < sqrt(2); see _linear
NEWTON = 2000  # above this d there is no minimiser: Newton's matrix would be too large
MOST = 2**16  # classes; a larger label is a mistake


def _check_classes(y: Sequence[Any], classes: int | None) -> tuple[np.ndarray, int]:
    """Return all labels as integers, and the number of classes."""
    labels = np.concatenate([part for part in y if part is not None])
    if not np.all((labels == np.floor(labels)) & (labels >= 0) & (labels < MOST)):  # false for NaN
        refuse("y", f"must hold classes 0, 1, 2, .. below {MOST}", np.unique(labels)[:6].tolist())
    found = int(labels.max()) + 1
    classes = max(2, found) if classes is None else arguments.check_integer("classes", classes, 2)
    if classes < found:
        refuse("y", f"must hold classes below {classes}", found - 1)
    return labels.astype(np.int64), classes


def _client_designs(data: Any) -> list[Any]:
    """Return the Design of server and clients, None without samples, with residual centres
    1/classes - onehot(y)."""
    designs = []
    for low, high in zip(data.starts, data.starts[1:]):
        e = np.full((high - low, data.classes), 1.0 / data.classes)
        e[np.arange(high - low), data.y[low:high]] -= 1.0
        designs.append(
            _linear.design_matrix(data.X[low:high, : data.features], e) if high > low else None
        )
    return designs


def _gradient_reach(classes: int) -> float:
    """Return the largest distance of probabilities p from the uniform ones, ||p - 1/classes||."""
    return float(np.sqrt(1.0 - 1.0 / classes))  # ||p - 1/classes|| for p in the simplex


def probabilities(problem: Any, x: Number, X: Number) -> np.ndarray:
    """Return the softmax probabilities (n, classes) of samples X (n, features) under the point x."""
    data = problem.data
    W = problem._point(x).reshape(data.features, data.classes)
    X = np.asarray(X, dtype=np.float64)
    plain = data.features - ("b" in [layer.name for layer in problem.layers])
    if X.ndim != 2 or X.shape[1] != plain:
        refuse("X", f"must have shape (samples, {plain})", X.shape)
    z = X @ W[:plain] + (W[plain] if plain < data.features else 0.0)
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)


def accuracy(
    problem: Problem, x: np.ndarray, X: np.ndarray, y: np.ndarray | Sequence[int]
) -> float:
    """Return the share of samples X whose most probable class is y."""
    return float(np.mean(np.argmax(probabilities(problem, x, X), axis=1) == np.asarray(y)))


def _hessian_of(problem: Any) -> Callable[..., Any]:
    """Return the function x -> Hessian of F, (F C, F C): sum_b w_b aa' (x) (diag(z) - zz') + ridge
    I, with z the softmax probabilities of sample b; computed by blocks of samples, to limit memory.
    """
    data, F, C = problem.data, problem.data.features, problem.data.classes
    X = data.X[data.starts[1] :, :F]
    weights = np.repeat(problem.weights[1:] / problem.sizes[1:], problem.sizes[1:])

    def at(x: np.ndarray) -> np.ndarray:
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


def _find_minimiser(problem: Any) -> np.ndarray:
    """Return the minimiser of F by Newton's method."""
    return _linear.newton_minimiser(
        problem, _hessian_of(problem), float(np.mean(np.linalg.norm(problem.data.X, axis=1)))
    )


def _change_weights(problem: Any, p: Number) -> Problem:
    """Return the problem under weights p. L, mu and the noise do not depend on p; G, xi_bar, G_star
    and B do."""
    data = problem.data
    found = {
        **problem.constants,
        **_linear.dissimilarity_constants(_client_designs(data), _gradient_reach(data.classes), p),
    }
    return replace(problem, weights=p, constants=found)


def softmax(
    X: Sequence[Any],
    y: Sequence[np.ndarray],
    ridge: float,
    server: np.ndarray | Sequence[int | np.ndarray] | None = None,
    classes: int | None = None,
    bias: bool = True,
    weights: str | None = None,
    noise: str = "minibatch",
    batch: int | Sequence[int] | None = None,
    batch_0: int | None = None,
    replacement: bool = False,
    sigma: float = 0.0,
    sigma_0: float = 0.0,
) -> Problem:
    """Build ridge softmax regression on the N clients' arrays, and on the server's arrays
    server=(X_0, y_0), if given.

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
    X, y = _samples.check_arrays(X, y, server)
    replacement, bias = (
        arguments.check_flag("replacement", replacement),
        arguments.check_flag("bias", bias),
    )
    ridge = arguments.check_real("ridge", ridge)
    sizes = _samples.sizes_of(X)
    labels, classes = _check_classes(y, classes)
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
    rows, starts = _samples.stack_rows(X, -(-features // 4) * 4)
    data = Data(rows, labels, starts, ridge, features, classes)
    designs, reach = _client_designs(data), _gradient_reach(classes)
    found = {
        **_linear.curvature_constants(designs, BEND, ridge),
        **_linear.dissimilarity_constants(designs, reach, p),
        **_linear.noise_constants(designs, reach, FARTHEST, noise, sigmas, batches, replacement),
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
        room=_pieces.room(
            sizes, batches, data.X.shape[1], data.classes, padded_columns(data.classes)
        ),
        replacement=replacement,
        layers=layers_from(layers, d),
        minimize=_find_minimiser if ridge > 0 and d <= NEWTON else None,
        reweigh=_change_weights,
    )


MAKERS = (softmax,)


def examples() -> dict[str, Problem]:
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
