"""Ridge logistic regression: f_i(x) = mean log(1 + exp(-y a'x)) + ridge/2 ||x||^2, labels y = +-1.

Its curvature is largest at x = 0, so L is exact; where all clients share one design and only labels
differ, so are G and xi_bar. There is no intercept: a column of ones is one.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.jit import jit
from fedtheory.problem import Kernels, Problem, layers_from
from fedtheory.problems import _linear, _pieces, _samples
from fedtheory.problems._vector import exp, half_square
from fedtheory.rng import NO_DRAW, log

BEND, REACH, FARTHEST = 0.25, 0.5, 1.0  # of log(1 + e^-m): its curvature; see _linear
WEIGHT = 4  # a product here takes as long as so many that go through registers
NEWTON = 2000  # above this d there is no minimiser: Newton's matrix would be too large


class Data(NamedTuple):
    """The arrays of logistic regression."""

    X: np.ndarray  # (n, d) rows a of all clients, the server's first
    y: np.ndarray  # (n,) labels, +-1
    starts: np.ndarray  # (N + 2,) client i owns rows starts[i] .. starts[i + 1] - 1
    ridge: float


@jit
def compute_margins(X, y, base, rows, x, out):
    """Compute out[b] = y a'x, where (a, y) is row base + rows[b], four rows at a time."""
    last, d = rows.size - 1, x.size
    for b in range(0, rows.size, 4):
        r_0, r_1 = base + rows[b], base + rows[min(b + 1, last)]
        r_2, r_3 = base + rows[min(b + 2, last)], base + rows[min(b + 3, last)]
        m_0 = m_1 = m_2 = m_3 = 0.0
        for j in range(d):
            m_0 += X[r_0, j] * x[j]
            m_1 += X[r_1, j] * x[j]
            m_2 += X[r_2, j] * x[j]
            m_3 += X[r_3, j] * x[j]
        out[b] = y[r_0] * m_0
        out[min(b + 1, last)] = y[r_1] * m_1  # past the end, the last row is written again
        out[min(b + 2, last)] = y[r_2] * m_2
        out[min(b + 3, last)] = y[r_3] * m_3


@jit
def margin_slopes(m):
    """Replace each margin m by the derivative -1 / (1 + e^m) of log(1 + e^-m), in place."""
    for b in range(m.size):
        e = exp(-abs(m[b]))
        m[b] = -(e if m[b] >= 0.0 else 1.0) / (1.0 + e)


@jit
def mean_softplus(m):
    """Return the mean of log(1 + e^-m), accurate where e^-m is tiny and where e^-m would overflow."""
    total = 0.0
    for b in range(m.size):
        e = exp(-abs(m[b]))
        u = 1.0 + e
        rest = (
            e if u == 1.0 else log(u) * (e / (u - 1.0))
        )  # log(1 + e), corrected for the rounding of u
        total += rest if m[b] >= 0.0 else rest - m[b]
    return total / m.size


@jit
def combine_rows(X, y, base, rows, s, scale, low, out):
    """Add scale sum_b s[b] y a to `out`, where (a, y) is row base + rows[b], four rows at a time,
    for as many coordinates from `low` on as `out` has."""
    d = out.size
    b = 0
    while b + 4 <= rows.size:
        r_0, r_1, r_2, r_3 = (
            base + rows[b],
            base + rows[b + 1],
            base + rows[b + 2],
            base + rows[b + 3],
        )
        a_0, a_1, a_2, a_3 = X[r_0, low:], X[r_1, low:], X[r_2, low:], X[r_3, low:]
        s_0, s_1 = scale * s[b] * y[r_0], scale * s[b + 1] * y[r_1]
        s_2, s_3 = scale * s[b + 2] * y[r_2], scale * s[b + 3] * y[r_3]
        for j in range(d):
            out[j] += (s_0 * a_0[j] + s_1 * a_1[j]) + (s_2 * a_2[j] + s_3 * a_3[j])
        b += 4
    while b < rows.size:
        r = base + rows[b]
        a, s_0 = X[r, low:], scale * s[b] * y[r]
        for j in range(d):
            out[j] += s_0 * a[j]
        b += 1


@jit
def batch(data, i, rows, draw, x, out):
    """Compute mean_b -y a / (1 + exp(y a'x)) + ridge x over `rows` of client i's samples into
    `out`."""
    m = np.empty(rows.size)
    compute_margins(data.X, data.y, data.starts[i], rows, x, m)
    margin_slopes(m)
    for j in range(x.size):
        out[j] = data.ridge * x[j]
    combine_rows(data.X, data.y, data.starts[i], rows, m, 1.0 / rows.size, 0, out)


@jit
def grad(data, i, x, out):
    """Compute grad f_i(x) into `out`, over all samples of client i."""
    batch(data, i, np.arange(data.starts[i + 1] - data.starts[i]), NO_DRAW, x, out)


@jit
def loss(data, i, x):
    """Return f_i(x), over all samples of client i."""
    rows = np.arange(data.starts[i + 1] - data.starts[i])
    m = np.empty(rows.size)
    compute_margins(data.X, data.y, data.starts[i], rows, x, m)
    return mean_softplus(m) + data.ridge * half_square(x)


@jit
def objective(data, p, x, out):
    """Return F and write its gradient to `out`; the margins are computed once."""
    value = data.ridge * half_square(x)
    for j in range(x.size):
        out[j] = data.ridge * x[j]
    for i in range(1, p.size):
        if p[i] != 0.0:
            rows = np.arange(data.starts[i + 1] - data.starts[i])
            m = np.empty(rows.size)
            compute_margins(data.X, data.y, data.starts[i], rows, x, m)
            value += p[i] * mean_softplus(m)
            margin_slopes(m)
            combine_rows(data.X, data.y, data.starts[i], rows, m, p[i] / rows.size, 0, out)
    return value


@jit
def pieces(data, i, count, phase):
    """Return the number of pieces of client i's gradient over `count` samples in a phase, 0 where
    it is too small to share."""
    return _pieces.number(_pieces.count_samples(data, i, count), data.X.shape[1], WEIGHT, phase)


@jit
def piece(data, i, rows, x, room, out, phase, n):
    """Compute the n-th piece of a gradient: in phase 0 the margins of some rows and the derivatives
    there, which stay in `room`; in phase 1 sums over all rows, for some coordinates."""
    base, count = data.starts[i], _pieces.count_samples(data, i, rows.size)
    d = data.X.shape[1]
    low, high = _pieces.piece(count, d, WEIGHT, phase, n)
    if phase == 0:
        compute_margins(data.X, data.y, base, _pieces.some(rows, low, high), x[:d], room[low:high])
        margin_slopes(room[low:high])
        return
    for j in range(low, high):
        out[j] = data.ridge * x[j]
    every = _pieces.some(rows, 0, count)
    combine_rows(data.X, data.y, base, every, room, 1.0 / count, low, out[low:high])


KERNELS = Kernels(grad, loss, objective, batch, pieces=pieces, piece=piece)


def _label_signs(y: Sequence[Any]) -> np.ndarray:
    """Return all labels as +-1: labels of {-1, 1} stay, in labels of {0, 1} the 0 becomes -1. One
    convention holds for all clients."""
    labels = np.concatenate([part for part in y if part is not None])
    if not (np.isin(labels, (-1, 1)).all() or np.isin(labels, (0, 1)).all()):
        refuse("y", "must hold labels of {-1, 1}, or of {0, 1}", np.unique(labels)[:6].tolist())
    return np.where(labels == 1, 1.0, -1.0)


def _client_designs(data: Any) -> list[Any]:
    """Return the Design of server and clients, None without samples. With labels of -1 and 1, a
    residual is -y s with s in (0, 1), so its centre is -y / 2."""
    return [
        _linear.design_matrix(data.X[low:high], -0.5 * data.y[low:high, None])
        if high > low
        else None
        for low, high in zip(data.starts, data.starts[1:])
    ]


def _hessian_of(problem: Any) -> Callable[..., Any]:
    """Return the function x -> Hessian of F, (d, d): sum_b w_b s_b (1 - s_b) a a' + ridge I, with
    s_b the logistic function of a'x."""
    data = problem.data
    X = data.X[data.starts[1] :]
    weights = np.repeat(problem.weights[1:] / problem.sizes[1:], problem.sizes[1:])

    def at(x: np.ndarray) -> np.ndarray:
        e = np.exp(-abs(X @ x))
        return (X.T * (weights * e / (1 + e) ** 2)) @ X + data.ridge * np.eye(problem.d)

    return at


def _find_minimiser(problem: Any) -> np.ndarray:
    """Return the minimiser of F by Newton's method."""
    return _linear.newton_minimiser(
        problem, _hessian_of(problem), float(np.mean(np.linalg.norm(problem.data.X, axis=1)))
    )


def _change_weights(problem: Problem, p: np.ndarray) -> Problem:
    """Return the problem under weights p. L, mu and the noise do not depend on p; G, xi_bar, G_star
    and B do."""
    found = {
        **problem.constants,
        **_linear.dissimilarity_constants(_client_designs(problem.data), REACH, p),
    }
    return replace(problem, weights=p, constants=found)


def logistic(
    X: np.ndarray | Sequence[np.ndarray | list[list[float]]],
    y: np.ndarray | Sequence[np.ndarray | list[int]],
    ridge: float,
    server: Sequence[np.ndarray] | None = None,
    weights: str | Sequence[int] | None = None,
    noise: str = "minibatch",
    batch: int | Sequence[int] | None = None,
    batch_0: int | None = None,
    replacement: bool = False,
    sigma: float = 0.0,
    sigma_0: float = 0.0,
    layers: Sequence[int] | None = None,
) -> Problem:
    """Build ridge logistic regression on the N clients' arrays, and on the server's arrays
    server=(X_0, y_0), if given.

    X[i]: (n_i, d), y[i]: (n_i,) labels of {-1, 1} or {0, 1}. `weights`: None (equal), "samples"
    (n_i / n) or N numbers. Minibatches of `batch` samples (one number, or one a client; all samples
    if None) and of `batch_0` at the server; or additive noise of kind `noise` on full gradients. A
    minimiser is known if ridge > 0: without one the losses may have no minimiser.

    >>> import fedtheory as ft
    >>> X, y = [[[1.0], [-1.0]], [[2.0], [-2.0]]], [[1, -1], [1, -1]]
    >>> problem = ft.problems.logistic(X, y, ridge=0.1)
    >>> round(float(problem.loss([0.0])), 6)    # log 2
    0.693147
    """
    X, y = _samples.check_arrays(X, y, server)
    replacement = arguments.check_flag("replacement", replacement)
    ridge = arguments.check_real("ridge", ridge)
    sizes = _samples.sizes_of(X)
    N, d = len(X) - 1, X[1].shape[1]
    p = _samples.weights_of(weights, sizes)
    noise, sigmas, batches = _samples.noise_of(
        noise, sigma, sigma_0, batch, batch_0, replacement, sizes
    )
    rows, starts = _samples.stack_rows(X, d)
    data = Data(rows, _label_signs(y), starts, ridge)
    designs = _client_designs(data)
    found = {
        **_linear.curvature_constants(designs, BEND, ridge),
        **_linear.dissimilarity_constants(designs, REACH, p),
        **_linear.noise_constants(designs, REACH, FARTHEST, noise, sigmas, batches, replacement),
    }
    return Problem(
        "logistic",
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
        room=_pieces.room(sizes, batches, d, WEIGHT, 1),
        replacement=replacement,
        layers=layers_from(layers, d),
        minimize=_find_minimiser if ridge > 0 and d <= NEWTON else None,
        reweigh=_change_weights,
    )


MAKERS = (logistic,)


def examples() -> dict[str, Problem]:
    generator = np.random.default_rng(5)
    X = [generator.standard_normal((n, 3)) for n in (4, 5, 3, 6)]
    y = [np.where(generator.random(len(rows)) < 0.5, -1, 1) for rows in X]
    one = [X[3]] * 4
    return dict(
        own=logistic(X[1:], y[1:], 0.1, (X[0], y[0]), weights="samples", batch=2),
        shared=logistic(
            one[1:],
            [(np.arange(6) + i) % 3 > 0 for i in range(1, 4)],
            0.05,
            (one[0], np.arange(6) % 3 > 0),
            noise="sphere",
            sigma=0.3,
            sigma_0=0.1,
        ),
        serverless=logistic(X[1:], y[1:], 0.0, batch=[1, 2, 9], replacement=True, layers=[1, 2]),
    )
