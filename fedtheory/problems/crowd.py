"""Quadratics of arbitrarily many clients: a client's data are a function of the random counter, and
none of them is stored.

All share a diagonal Hessian A. The gradient of f_i at the minimiser of F is o_i, whose coordinates
are G / sqrt(d) with signs drawn for (seed, pair): clients 2k - 1 and 2k have the same signs, one of
them turned round, so that sum_i o_i = 0 and mean ||o_i||^2 = G^2 hold by construction, for a million
clients as for two. Where their number is odd, the last has o_i = 0.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import Impossible
from fedtheory.jit import jit
from fedtheory.problem import (
    Constant,
    Kernels,
    Problem,
    layers_from,
    noise_constants,
    noise_from,
    weights_from,
)

CONSTANT = "gradients differ by constants"


class Data(NamedTuple):
    A: np.ndarray  # (d,) Hessian of every client
    x_0: np.ndarray  # (d,) where grad f_i is o_i
    x_star: np.ndarray  # (d,) minimiser of F
    F_star: float
    o: float  # size of a coordinate of o_i
    o_0: float  # the same of the server's
    key: int  # of the signs
    N: int


@jit
def offset_size(data, i):
    """Return the absolute value of a coordinate of o_i, signed by the place of client i in its
    pair."""
    if i == 0:
        return data.o_0
    if i == data.N and i % 2 == 1:
        return 0.0
    return data.o if i % 2 == 1 else -data.o


@jit
def grad(data, i, x, out):
    o = offset_size(data, i)
    rng.fair_signs(data.key, (i + 1) // 2, 0, out)
    for j in range(x.size):
        out[j] = data.A[j] * (x[j] - data.x_0[j]) + o * out[j]


@jit
def loss(data, i, x):
    """Return (x - b_i)' A (x - b_i) / 2, where A (x_0 - b_i) = o_i."""
    o, signs, total = offset_size(data, i), np.empty(x.size), 0.0
    rng.fair_signs(data.key, (i + 1) // 2, 0, signs)
    for j in range(x.size):
        total += data.A[j] * (x[j] - data.x_0[j] + o * signs[j] / data.A[j]) ** 2
    return 0.5 * total


@jit
def objective(data, p, x, out):
    """Return F* + (x - x*)' A (x - x*) / 2, at a cost that does not depend on the number of
    clients, and write the gradient to `out`."""
    total = 0.0
    for j in range(x.size):
        gap = x[j] - data.x_star[j]
        out[j] = data.A[j] * gap
        total += out[j] * gap
    return data.F_star + 0.5 * total


@jit
def sum_offsets(data, p, out):
    """Write sum_i p_i o_i to `out`, and return the mean square of a coordinate, sum_i p_i o_ij^2."""
    signs, square = np.empty(out.size), 0.0
    out[:] = 0.0
    for i in range(1, p.size):
        o = offset_size(data, i)
        square += p[i] * o * o
        rng.fair_signs(data.key, (i + 1) // 2, 0, signs)
        for j in range(out.size):
            out[j] += p[i] * o * signs[j]
    return square


def _find_minimiser(problem: Any) -> np.ndarray:
    return problem.data.x_star


def _change_weights(problem: Any, p: np.ndarray) -> Problem:
    """Return the problem under other weights p: the o_i then have a mean m, and F is lowest at x_0
    - m / A."""
    data, m, signs = problem.data, np.zeros(problem.d), np.empty(problem.d)
    square = sum_offsets(data, p, m)
    rng.fair_signs(data.key, 0, 0, signs)
    F_star = 0.5 * float(square * np.sum(1 / data.A) - np.sum(m * m / data.A))
    paired = 1.0 if data.N % 2 == 0 else 1 - 1 / data.N  # the last of an odd number has o_i = 0
    level, lean = problem.d * (data.o**2 * paired), m @ m
    found = dict(problem.constants)
    found["G"] = Constant(float(np.sqrt(level + lean)), how=CONSTANT)
    found["xi_bar"] = Constant(float(np.linalg.norm(data.o_0 * signs - m)), how=CONSTANT)
    # ||grad F + o_i - m||^2 has mean ||grad F||^2 - 2 grad F' m + G^2
    found["G_star"] = Constant(float(np.sqrt(level + 2 * lean)), how=found["G_star"].how)
    found["B"] = Constant(float(np.sqrt(2.0)) * (1 + 2.0**-50), how="with G_star")
    data = data._replace(x_star=data.x_0 - m / data.A, F_star=F_star)
    return replace(problem, data=data, weights=p, constants=found)


def crowd(
    d: int,
    clients: int,
    L: float,
    mu: float,
    G: float = 0.0,
    xi_bar: float = 0.0,
    sigma: float = 0.0,
    sigma_0: float = 0.0,
    layers: Sequence[int] | None = None,
    seed: int = 0,
    noise: str = "gaussian",
) -> Problem:
    """Build a quadratic of a million clients, or more: a client's data are drawn when they are
    needed.

    Its constants hold with equality, as those of `quadratic` with a shared diagonal Hessian.

    >>> import fedtheory as ft
    >>> problem = ft.problems.crowd(d=3, clients=10**6, L=2.0, mu=0.5, G=1.0)
    >>> r = ft.run(problem, "scaffold", rounds=5, S=100, eta_l=0.1)
    >>> problem.N, problem.constants["G"].value, r.metrics["loss"].shape
    (1000000, 1.0, (1, 6))
    """
    d, N = arguments.check_integer("d", d, 1), arguments.check_integer("clients", clients, 1)
    L, mu = (
        arguments.check_real("L", L, open_low=True),
        arguments.check_real("mu", mu, open_low=True),
    )
    G, xi_bar = arguments.check_real("G", G), arguments.check_real("xi_bar", xi_bar)
    arguments.check_fits("clients", N + 1, 8)
    arguments.check_fits("d", d, 8)
    if mu > L or d == 1 and mu != L:
        raise Impossible(
            "mu must be <= L, the largest curvature, and equal to it in one dimension; got "
            f"mu={mu}, L={L}, d={d}"
        )
    if G > 0 and N == 1:
        raise Impossible(
            f"G must be 0 with one client, whose gradient is F's; got G={G}, clients={N}"
        )
    if max(G, xi_bar) / mu > arguments.LARGEST:
        raise Impossible(
            f"G / mu and xi_bar / mu must be at most {arguments.LARGEST:g}, for the clients' "
            f"minimisers and their squares to be floats; got G={G}, xi_bar={xi_bar}, mu={mu}"
        )
    noise, sigmas = noise_from(noise, sigma, sigma_0, N)
    generator = rng.host_generator(seed, "crowd")
    A = generator.uniform(mu, L, d)
    A[0], A[-1] = L, mu
    x_0 = generator.standard_normal(d)
    alone = np.sqrt(N / (N - 1)) if N % 2 and N > 1 else 1.0  # the last client's o_i is 0
    F_star = 0.5 * G**2 / d * float(np.sum(1 / A))
    how = "requested, held with equality"
    found = dict(L=L, mu=mu, G=G, xi_bar=xi_bar, G_star=G, B=1.0)
    constants = {name: Constant(float(value), how=how) for name, value in found.items()}
    constants["G_star"] = Constant(
        G, how="mean ||grad f_i||^2 <= G_star^2 + B^2 ||grad F||^2 everywhere"
    )
    constants.update(noise_constants(noise, sigmas, d))
    key = int(generator.integers(2**63))
    sizes = G * alone / np.sqrt(d), xi_bar / np.sqrt(d)
    return Problem(
        "crowd",
        data=Data(A, x_0, x_0.copy(), F_star, *map(float, sizes), key, N),
        kernels=Kernels(grad, loss, objective),
        N=N,
        d=d,
        weights=weights_from(None, N),
        constants=constants,
        noise=noise,
        sigma=sigmas,
        layers=layers_from(layers, d),
        minimize=_find_minimiser,
        reweigh=_change_weights,
        affine=True,
    )


MAKERS = (crowd,)


def examples() -> dict[str, Problem]:
    return dict(
        even=crowd(5, 6, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, sigma=0.3, sigma_0=0.1, seed=1),
        odd=crowd(3, 3, L=1.0, mu=0.25, G=0.5, sigma=0.2, noise="rademacher", layers=[1, 2]),
    )
