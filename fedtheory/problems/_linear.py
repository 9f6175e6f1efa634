"""The parts that logistic and softmax regression share: certified constants, and Newton's method.

Both have f_i(x) = mean over rows a of a loss of W'a, plus ridge/2 ||x||^2, with gradient
mean a (residual)' + ridge W. The residual of a row is its centre e plus a deviation of norm at most
`reach`: 1/2 - y and 1/2 for logistic regression with y in {0, 1}, 1/classes - onehot(y) and
sqrt(1 - 1/classes) for softmax. The ridge's gradient is the same for all clients and cancels in
every difference, so differences of gradients are bounded on all of R^d.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory.errors import FedtheoryError
from fedtheory.problem import Constant, Problem
from fedtheory.problems._samples import finite_factor
from fedtheory.typing import Number

EPS = 2.0**-52


class Design(NamedTuple):
    """One client's design: its rows, the centres of their residuals, and the quantities that the
    bounds use."""

    a: np.ndarray  # (n, F)
    e: np.ndarray  # (n, C) centres of the residuals
    centre: np.ndarray  # (F C,) mean of a e'
    mean_norm: float  # upper bounds: of the mean of ||a||,
    top: float  # of the largest eigenvalue of a'a / n


def _round_up(value: Number, operations: int) -> float:
    """Return an upper bound of the exact sum of nonnegative terms whose floating-point sum is
    `value`."""
    return float(value) * (1.0 + 2.0 * EPS * (operations + 16))


def design_matrix(a: np.ndarray, e: np.ndarray) -> Design:
    """Return the Design of a client's rows a (n, F) with residual centres e (n, C)."""
    n, F = a.shape
    gram = a.T @ a if F <= n else a @ a.T
    # The Gram matrix is off by at most n EPS |a|'|a|, the solver by a modest multiple of its order
    # times EPS ||gram||; both are below EPS (n + 10 min(n, F)) trace(gram).
    top = max(0.0, float(np.linalg.eigvalsh(gram)[-1]))
    top += EPS * (n + F + 10 * min(n, F)) * float(np.trace(gram))
    norms = np.sqrt(np.sum(a * a, axis=1))
    return Design(
        a, e, (a.T @ e).ravel() / n, _round_up(norms.mean(), n + F), _round_up(top / n, 0)
    )


def curvature_constants(designs: Sequence[Any], bend: float, ridge: float) -> dict[str, Constant]:
    """Return the constants L and mu: the Hessian of a loss lies between 0 and bend a'a / n, where
    `bend` bounds the curvature of the loss as a function of the scores."""
    top = max(d.top for d in designs if d is not None)
    L = _round_up(bend * top + ridge, 0)
    return dict(
        L=Constant(
            L,
            how=f"{bend:g} times the largest eigenvalue of a client's X'X/n, plus the ridge; "
            "rounded up",
        ),
        mu=Constant(ridge, how="the ridge; the losses have curvature arbitrarily near 0"),
    )


def dissimilarity_constants(
    designs: Sequence[Any], reach: float, p: np.ndarray
) -> dict[str, Constant]:
    """Return the constants G, xi_bar and B of clients 1..N and the server 0 under weights p.

    On one shared design the residuals differ by labels only, so gradients differ by constants:
    exact. Else a client's loss gradient stays within `radius` of its centre.
    """
    clients = designs[1:]
    N, p = len(clients), p[1:]
    ops = 2 * (max(len(d.a) for d in clients) + clients[0].a.shape[1] + N)
    mean = sum(w * d.centre for w, d in zip(p, clients))
    spread = float(sum(w * d.mean_norm for w, d in zip(p, clients)))

    def gap(d: Design) -> float:
        """Return an upper bound of ||centre - mean||, which allows a rounding error of 2 ops EPS
        times the rows' norms."""
        return _round_up(np.linalg.norm(d.centre - mean), d.centre.size) + 2 * EPS * ops * (
            d.mean_norm + spread
        )

    def radius(d: Design) -> float:
        return _round_up(reach * min(d.mean_norm, np.sqrt(d.top)), 0)

    one = all(np.array_equal(clients[0].a, d.a) for d in clients[1:])
    found = {}
    if one and all(np.array_equal(clients[0].e, d.e) for d in clients[1:]):
        G, how, exact = 0.0, "clients hold the same samples", True
    elif one:
        G, exact = np.sqrt(_round_up(np.mean([gap(d) ** 2 for d in clients]), N)), True
        how = "one design, labels differ: gradients differ by constants; rounded up"
    else:
        spare = float(sum(w * radius(d) for w, d in zip(p, clients)))
        bounds = [gap(d) + radius(d) * (1 - w) + spare - w * radius(d) for w, d in zip(p, clients)]
        G, exact = np.sqrt(_round_up(np.mean(np.square(bounds)), N + 4)), False
        if np.all(
            p == p[0]
        ):  # the mean is the point of least mean square distance: compare with any other
            G = min(
                G, np.sqrt(_round_up(np.mean([(gap(d) + radius(d)) ** 2 for d in clients]), N + 4))
            )
        how = "each client's gradients lie in a ball around their centre; rounded up"
    found["G"] = Constant(_round_up(G, 2), how=how)
    if designs[0] is not None:
        server = designs[0]
        same = exact and np.array_equal(server.a, clients[0].a)
        if same and G == 0.0 and np.array_equal(server.e, clients[0].e):
            xi_bar, how = 0.0, "server and clients hold the same samples"
        elif same:
            xi_bar, how = (
                gap(server),
                "one design, labels differ: gradients differ by a constant; rounded up",
            )
        else:
            xi_bar = gap(server) + radius(server) + sum(w * radius(d) for w, d in zip(p, clients))
            how = "gradients lie in a ball around their centre; rounded up"
        found["xi_bar"] = Constant(_round_up(xi_bar, N + 4), how=how)
    # mean ||grad f_i||^2 = ||grad F||^2 + G_t^2 under equal weights; twice their sum bounds it
    # under any.
    even = np.all(p == p[0])
    found["G_star"] = Constant(
        found["G"].value * (1.0 if even else _round_up(np.sqrt(2.0), 0)),
        how="mean ||grad f_i||^2 <= G_star^2 + B^2 ||grad F||^2 everywhere",
    )
    found["B"] = Constant(1.0 if even else _round_up(np.sqrt(2.0), 0), how="with G_star")
    return found


def noise_constants(
    designs: Sequence[Any],
    reach: float,
    farthest: float,
    noise: str,
    sigma: np.ndarray,
    batch: np.ndarray,
    replacement: bool,
) -> dict[str, Constant]:
    """Return the constants sigma and sigma_0: of the additive noise, or bounds of the minibatch
    noise at every x.

    A row's gradient lies within reach ||a|| of a e', whose mean is the centre; and within
    `farthest` ||a|| of 0. The population variance is at most the mean square distance to any point.
    `batch` (N + 1,) are the sizes of minibatches, 0 for all samples.
    """
    if noise == "minibatch":
        sigma = np.array(
            [
                _minibatch_sigma(d, reach, farthest, int(B), replacement)
                for d, B in zip(designs, batch)
            ]
        )
        how = (
            "samples' gradients lie in balls; rounded up" if sigma.any() else "all samples are used"
        )
    else:
        how = f"{noise} noise"
    largest, d = float(sigma[1:].max()), designs[1].centre.size
    found = dict(
        sigma=Constant(largest, how=how),
        # no more than all of it, and of isotropic noise a d-th of the square
        sigma_coordinate=Constant(
            largest if noise == "minibatch" else float(largest / np.sqrt(d)), how=how
        ),
    )
    if designs[0] is not None:
        found["sigma_0"] = Constant(float(sigma[0]), how=how)
    return found


def _minibatch_sigma(d: Any, reach: float, farthest: float, batch: int, replacement: bool) -> float:
    """Return an upper bound of (E||g - grad f_i||^2)^(1/2) over all x for minibatches of one
    client, 0 where all samples are used: the root of `finite_factor` times the lesser of two mean
    squares, around the centre and around 0."""
    factor = 0.0 if d is None else finite_factor(len(d.a), batch, replacement)
    if factor == 0.0:
        return 0.0
    n, F = d.a.shape
    squares, level = np.sum(d.a * d.a, axis=1), d.centre @ d.centre
    inner = np.sum((d.a @ d.centre.reshape(F, -1)) * d.e, axis=1)
    # ||a e' - centre||^2, expanded, and what the expansion may lose by cancellation
    gaps = np.maximum(squares * np.sum(d.e * d.e, axis=1) - 2 * inner + level, 0)
    gaps += 8 * EPS * (n + F) * (squares + level)
    around = np.mean((np.sqrt(gaps) + reach * np.sqrt(squares)) ** 2)
    return _round_up(np.sqrt(factor * min(around, farthest**2 * np.mean(squares))), n + F)


def newton_minimiser(problem: Problem, hessian: Callable[..., Any], scale: float) -> np.ndarray:
    """Return the minimiser of F, found by damped Newton steps from 0; `hessian(x)` is F's Hessian
    matrix, `scale` the size of a row's gradient.

    A step is halved until it lowers F enough (by a tenth of the predicted slope) or lowers the
    gradient's norm. Stops where the gradient norm falls no further: x is then within ||grad F(x)||
    / mu of the minimiser. Raises FedtheoryError where more than 1e-10 `scale` of the gradient is
    left.
    """
    x = np.zeros(problem.d)
    value, g = problem.value_and_grad(x)
    for _ in range(200):
        step = np.linalg.solve(hessian(x), g)
        length, slope = 1.0, float(g @ step)
        while length > 1e-6:
            trial = x - length * step
            trial_value, trial_g = problem.value_and_grad(trial)
            if trial_value <= value - 0.1 * length * slope or trial_g @ trial_g < g @ g:
                break
            length /= 2
        else:
            break  # rounding is all that is left
        before = np.linalg.norm(g)
        x, value, g = trial, trial_value, trial_g
        if before <= 1e-12 * scale and 2 * np.linalg.norm(g) > before:
            break
    left = float(np.linalg.norm(g))
    if not left <= 1e-10 * scale:
        raise FedtheoryError(
            f"Newton's method left a gradient of norm {left:.2e} on {problem.name}"
        )
    return x
