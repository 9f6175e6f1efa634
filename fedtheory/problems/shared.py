"""Data sharing (FSL, section II-A): every client adds the server's samples D_0 to its own samples.

    f'_i = (n_i f_i + n_0 f_0) / (n_i + n_0),    p'_i = (n_i + n_0) / (n + N n_0)        (3)
    F' = sum_i p'_i f'_i = n / (n + N n_0) (F + (N n_0 / n) f_0)                          (4)

`share` wraps the kernels of any problem. Where weights p_i differ from n_i / n, as after a
departure, p'_i is proportional to p_i (n_i + n_0) / n_i: the paper's numbers at p_i = n_i / n, and
F plus a multiple of f_0 always. Additive noise keeps each client's sigma_i: the gradient of f'_i is
exact and the noise of f_i's is added to it, unbiased, of variance sigma_i^2. Minibatches are drawn
from the union.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fedtheory import jit
from fedtheory.errors import refuse
from fedtheory.problem import Constant, Kernels, Problem, lowest_of, no_batch
from fedtheory.typing import Number

SERVER = np.int64(0)  # typed, so that kernels are compiled for one kind of index


class Shared(NamedTuple):
    """The data of a problem under data sharing: the inner problem's data, and the shares of own and
    lent samples."""

    inner: tuple[Any, ...]  # data of the problem that is shared
    own: np.ndarray  # (N + 1,) n_i / (n_i + n_0)
    lent: np.ndarray  # (N + 1,) n_0 / (n_i + n_0)
    n: np.ndarray  # (N + 1,) own samples; later rows of a client are the server's


@cache
def _shared_kernels(
    grad: Callable[..., Any], loss: Callable[..., Any], batch: Callable[..., Any]
) -> Kernels:
    """Return the kernels of f'_i, built on those of f_i."""

    def shared_grad(data: Shared, i: int, x: np.ndarray, out: np.ndarray) -> None:
        grad(data.inner, i, x, out)
        if data.lent[i] > 0.0:
            server = np.empty_like(x)
            grad(data.inner, SERVER, x, server)
            for j in range(x.size):
                out[j] = data.own[i] * out[j] + data.lent[i] * server[j]

    def shared_loss(data: Shared, i: int, x: np.ndarray) -> float:
        if data.lent[i] > 0.0:
            return data.own[i] * loss(data.inner, i, x) + data.lent[i] * loss(data.inner, SERVER, x)
        return loss(data.inner, i, x)

    def shared_batch(
        data: Shared, i: int, rows: np.ndarray, draw: int, x: np.ndarray, out: np.ndarray
    ) -> None:
        mine, lent = np.empty(rows.size, dtype=np.int64), np.empty(rows.size, dtype=np.int64)
        m = 0
        for b in range(rows.size):
            if rows[b] < data.n[i]:
                mine[m] = rows[b]
                m += 1
            else:
                lent[b - m] = rows[b] - data.n[i]
        if m == rows.size:
            batch(data.inner, i, mine, draw, x, out)
        elif m == 0:
            batch(data.inner, SERVER, lent, draw, x, out)
        else:
            server = np.empty_like(x)
            batch(data.inner, i, mine[:m], draw, x, out)
            batch(data.inner, SERVER, lent[: rows.size - m], ~draw, x, server)
            for j in range(x.size):
                out[j] = (m * out[j] + (rows.size - m) * server[j]) / rows.size

    def compiled(part: str, function: Callable[..., Any], *inner: Any) -> Callable[..., Any]:
        if not all(jit.compiled(kernel) for kernel in inner):
            return function
        names = [kernel.identity for kernel in inner]
        identity = (function.__name__, jit.module_digest(__name__), *names) if all(names) else None
        return jit.compile(
            function, identity=identity, maker=(_shared_kernels, (grad, loss, batch), part)
        )

    return Kernels(
        compiled("grad", shared_grad, grad),
        compiled("loss", shared_loss, loss),
        batch=no_batch if batch is no_batch else compiled("batch", shared_batch, batch),
    )


def share(problem: Any, ratio: Number = 1.0) -> Problem:
    """Return the problem that clients train on under data sharing. `ratio` is N n_0 / n, the weight
    of f_0 in (4), where the problem counts no samples, and n_i is then proportional to p_i; where
    the problem counts samples, their numbers decide and `ratio` must be 1."""
    p, members = problem.weights, problem.weights > 0
    if problem.sizes.any():
        n = problem.sizes.astype(np.float64)
        if ratio != 1.0:
            refuse(
                "ratio",
                f"must be left at 1 where samples are counted: {problem.name} has n_0 = {n[0]:g} and "
                f"N n_0 / n = {problem.N * n[0] / n[1:].sum():g}",
                ratio,
            )
        if np.any(n[members] == 0):
            refuse("sizes", "must give samples to every client that F counts", problem.sizes)
    else:
        n = p.copy()
        n[0] = ratio / members.sum()
    if n[0] == 0:
        return problem  # nothing to share
    holds = (n > 0) & (np.arange(len(n)) > 0)
    own = np.where(holds, n / (n + n[0]), 1)  # whole numbers: n may be of Fractions
    p = p / own  # proportional to p_i (n_i + n_0) / n_i
    sizes = problem.sizes + problem.sizes[0] * (np.arange(len(n)) > 0)
    found = {
        name: _of_mixtures(problem.constants[name])
        for name in ("L", "mu")
        if name in problem.constants
    }
    found.update(
        {
            name: problem.constants[name]
            for name in ("sigma", "sigma_0")
            if name in problem.constants
        }
    )
    kernels = _shared_kernels(problem.kernels.grad, problem.kernels.loss, problem.kernels.batch)
    pooled = replace(
        problem,
        name=f"shared {problem.name}",
        kernels=kernels,
        weights=p / p.sum(),
        constants=found,
        data=Shared(problem.data, own, np.where(holds, 1 - own, 0), problem.sizes.copy()),
        sizes=sizes,
        minimize=_lowest_loss if problem.affine else None,
        reweigh=None,
    )
    if problem.affine and _lowest_loss(pooled) is None:  # F + (N n_0 / n) f_0 may be where F is not
        found["F_inf"] = Constant(-np.inf, how="F is unbounded below")
        return replace(pooled, minimize=None)
    return pooled


def _lowest_loss(problem: Problem) -> np.ndarray | None:
    """Return the minimiser of F for affine gradients, None where F is unbounded below."""
    return lowest_of(problem.grad, problem.d, problem.constants)


def _of_mixtures(constant: Constant) -> Constant:
    """Return a constant of every f_i and of f_0 as a constant of their convex combinations."""
    return constant._replace(how="of every f_i and of f_0, hence of their mixtures")


def examples() -> dict[str, Problem]:
    from fedtheory.problems.quadratics import quadratic

    return dict(
        own=share(
            quadratic(
                3,
                3,
                L=2.0,
                mu=0.5,
                G=1.0,
                xi_bar=0.5,
                sigma=0.3,
                seed=5,
                hessian="own",
                weights=[1.0, 2.0, 3.0],
            ),
            ratio=0.75,
        ),
        shared=share(quadratic(2, 4, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, seed=6)),
    )
