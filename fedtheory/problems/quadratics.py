"""Quadratics f_i(x) = (x - b_i)' A_i (x - b_i) / 2 with exact L, mu, G, xi_bar and noise.

A Hessian is shared or each client's own, diagonal or dense; given as arrays, it may have negative
eigenvalues. Under a shared Hessian the gradients differ by constants, so G and xi_bar are global
and exact. Under own Hessians the dissimilarity grows with the distance to the minimiser: G and
xi_bar then hold on a ball, and a global (G, B) form stands beside them where F is strongly convex.
Where a ball is asked for and noise is bounded, M bounds all gradient estimates in it.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import Impossible, refuse
from fedtheory.problem import (
    Constant,
    Problem,
    layers_from,
    noise_constants,
    noise_from,
    weights_from,
)
from fedtheory.problems._certified import SHARPEST, constants, gradient_bound
from fedtheory.problems._curvature import of_client, of_objective, times
from fedtheory.problems._quadratic import DENSE, DIAGONAL, Dense, Diagonal, product_room
from fedtheory.problems._symmetric import pack_blocks
from fedtheory.typing import Number

RADIUS = 1.0  # of the ball on which G and xi_bar hold, where nobody asks for another one
BOUNDED = ("none", "rademacher", "sphere")  # noises whose norm is sigma surely


def _data_tuple(
    A: Number, b: np.ndarray, p: np.ndarray, H: Number, x_star: np.ndarray | None
) -> Diagonal | Dense:
    """Return the data tuple for weights p. Where F has no stationary point (x_star is None), x_star
    is 0 and F_star is F(0), values that are not used."""
    x_star = np.zeros(b.shape[1]) if x_star is None else x_star
    gaps = [x_star - b[i] for i in range(len(b))]
    F_star = sum(p[i] * 0.5 * gap @ times(of_client(A, i), gap) for i, gap in enumerate(gaps))
    given = *(np.ascontiguousarray(part) for part in (A, b, H, x_star)), float(F_star)
    return (
        Diagonal(*given)
        if A.ndim == 2
        else Dense(*given, pack_blocks(np.concatenate([A, H[None]])))
    )


def _change_weights(radius: Number, problem: Any, p: Number) -> Problem:
    """Return the quadratic under weights p: minimiser, F* and dissimilarity are recomputed, while
    curvatures and noise stay."""
    made = _weighted_parts(problem.data.A, problem.data.b, p, radius, problem.noise, problem.sigma)
    kept = {
        name: problem.constants[name]
        for name in ("L", "mu", "sigma", "sigma_0", "sigma_coordinate")
    }
    return replace(problem, **{**made, "weights": p, "constants": {**made["constants"], **kept}})


def _weighted_parts(
    A: np.ndarray,
    b: np.ndarray,
    p: np.ndarray,
    radius: float | None,
    noise: str,
    sigmas: np.ndarray | None,
) -> dict[str, Any]:
    """Return the parts of a Problem that depend on its weights, as a dict."""
    H, x_star, lowest = of_objective(A, b, p)
    data = _data_tuple(A, b, p, H, x_star)
    kernels = DIAGONAL if A.ndim == 2 else DENSE
    if x_star is None:  # no form around a point: F is the sum of its parts
        kernels = kernels._replace(objective=None)
    known = constants(data, p, RADIUS if radius is None else radius, lowest)
    if radius is not None and lowest and (noise in BOUNDED or not np.any(sigmas)):
        known["M"] = gradient_bound(data, radius, sigmas)
    return dict(
        data=data,
        kernels=kernels,
        room=0 if A.ndim == 2 else product_room(b.shape[1]),
        minimize=_find_minimiser if lowest else None,
        constants=known,
    )


def quadratic_from_arrays(
    A: Any,
    b: np.ndarray | Sequence[list[float]],
    weights: np.ndarray | Sequence[float] | None = None,
    sigma: float | np.ndarray | Sequence[float] = 0.0,
    sigma_0: float = 0.0,
    noise: str = "gaussian",
    layers: Sequence[int] | None = None,
    radius: float | None = None,
) -> Problem:
    """Build the quadratics f_i(x) = (x - b_i)' A_i (x - b_i) / 2 from their arrays; row 0 is the
    server.

    b: (N + 1, d). A: (d,) or (d, d) shared, (N + 1, d) or (N + 1, d, d) own. `radius` of the ball
    around the minimiser on which G and xi_bar hold when Hessians differ, 1 by default; where it is
    given, M bounds all gradient estimates in it, unless noise is Gaussian. A shared square A with
    N + 1 = d is read as one dense matrix if it is symmetric, as N + 1 diagonals otherwise.

    Eigenvalues may be negative: L is then the largest absolute one and mu negative. Where F itself
    is unbounded below, it has no minimiser, F_inf is -inf, and no ball's constant is known.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic_from_arrays(A=[1.0], b=[[0.0], [1.0], [3.0]])
    >>> problem.minimizer()
    array([2.])
    >>> saddle = ft.problems.quadratic_from_arrays(A=[1.0, -2.0], b=[[0.0, 0.0], [1.0, 3.0]])
    >>> saddle.constants["L"].value, saddle.constants["mu"].value
    (2.0, -2.0)
    >>> saddle.minimizer()
    Traceback (most recent call last):
    fedtheory.errors.InvalidInput: quadratic has no minimiser: F is unbounded below
    """
    A, b = arguments.check_array("A", A).copy(), arguments.check_array("b", b).copy()
    if b.ndim != 2 or len(b) < 2 or b.shape[1] < 1 or not np.all(np.isfinite(b)):
        refuse("b", "must be finite of shape (N + 1, d) with N >= 1", b.shape)
    N, d = len(b) - 1, b.shape[1]
    if not np.all(np.isfinite(A)):
        refuse("A", "must be finite", float(A[~np.isfinite(A)][0]))
    for name, value in (("A", A), ("b", b)):
        if np.abs(value).max(initial=0.0) > arguments.LARGEST:
            refuse(
                name,
                f"must be at most {arguments.LARGEST:g} in size, for squares to be floats",
                float(np.abs(value).max()),
            )
    if A.shape == (d, d) and (N + 1 != d or np.array_equal(A, A.T)):
        A = A[None]
    elif A.shape == (d,):
        A = A[None]
    elif A.shape not in ((N + 1, d), (N + 1, d, d)):
        refuse(
            "A",
            f"must have shape ({d},), ({d}, {d}), ({N + 1}, {d}) or ({N + 1}, {d}, {d})",
            A.shape,
        )
    if A.ndim == 3:
        if np.any(abs(A - A.transpose(0, 2, 1)) > 1e-12 * abs(A).max()):
            refuse("A", "must be symmetric", float(abs(A - A.transpose(0, 2, 1)).max()))
        A = (A + A.transpose(0, 2, 1)) / 2
    A = A + 0.0  # -0 is 0
    if A.ndim == 2 and np.any((A != 0) & (abs(A) < 1 / arguments.LARGEST)):
        refuse(
            "A",
            f"must be 0 or at least {1 / arguments.LARGEST:g} in size, for squares to be floats",
            float(A[(A != 0) & (abs(A) < 1 / arguments.LARGEST)][0]),
        )
    return _build_problem(A, b, weights, sigma, sigma_0, noise, layers, radius)


def _find_minimiser(problem: Any) -> np.ndarray:
    """Return the minimiser of F, (d,), known since the arrays were made."""
    return problem.data.x_star


def _build_problem(
    A: np.ndarray,
    b: np.ndarray,
    weights: np.ndarray | Sequence[float] | None,
    sigma: float | np.ndarray | Sequence[float],
    sigma_0: float,
    noise: str,
    layers: Sequence[int] | None,
    radius: float | None,
) -> Problem:
    """Build the Problem from Hessians with a leading axis of 1 (one shared Hessian) or N + 1 (one
    for each client and the server)."""
    N, d = len(b) - 1, b.shape[1]
    radius = None if radius is None else arguments.check_real("radius", radius, open_low=True)
    p = weights_from(weights, N)
    noise, sigmas = noise_from(noise, sigma, sigma_0, N)
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        made = _weighted_parts(A, b, p, radius, noise, sigmas)
    found = made["constants"]
    beyond = [
        name
        for name, constant in found.items()
        if not np.isfinite(constant.value) and name != "F_inf"
    ]
    if beyond or not np.isfinite(made["data"].F_star):
        raise Impossible(
            "curvatures and distances must leave the gradients at the minimiser floats; got "
            f"A up to {np.abs(A).max():g}, b up to {np.abs(b).max():g}"
        )
    found.update(noise_constants(noise, sigmas, d))
    return Problem(
        "quadratic",
        N=N,
        d=d,
        weights=p,
        noise=noise,
        sigma=sigmas,
        layers=layers_from(layers, d),
        reweigh=partial(_change_weights, radius),
        affine=True,
        **made,
    )


def _draw_spectrum(generator: np.random.Generator, d: int, L: float, mu: float) -> np.ndarray:
    """Draw d eigenvalues in [mu, L], both ends attained."""
    eigenvalues = generator.uniform(mu, L, d)
    eigenvalues[0], eigenvalues[-1] = L, mu
    return eigenvalues


def _draw_rotation(generator: np.random.Generator, d: int) -> np.ndarray:
    """Draw an orthogonal matrix (d, d)."""
    return np.linalg.qr(generator.standard_normal((d, d)))[0]


def quadratic(
    d: int,
    clients: int,
    L: float,
    mu: float,
    G: float = 0.0,
    xi_bar: float = 0.0,
    sigma: float = 0.0,
    sigma_0: float = 0.0,
    layers: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    seed: int = 0,
    noise: str = "gaussian",
    hessian: str = "diagonal",
    radius: float | None = None,
) -> Problem:
    """Build a quadratic whose constants hold with equality.

    `hessian`: "diagonal" or "dense" is shared by all clients; "own" and "own_dense" give each its
    own spectrum in [mu, L], with G and xi_bar then attained at the minimiser (their certified bound
    is on a ball of `radius` around it, 1 by default). A `radius` that is given also bounds all
    gradient estimates in its ball, by the constant M, unless noise is Gaussian. Clients' gradients
    at the minimiser have weighted mean zero.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic(d=3, clients=4, L=2.0, mu=0.5)
    >>> problem.N, problem.d, problem.constants["mu"].value
    (4, 3, 0.5)
    """
    d, N = arguments.check_integer("d", d, 1), arguments.check_integer("clients", clients, 1)
    L, mu = arguments.check_real("L", L, open_low=True), arguments.check_real("mu", mu)
    G, xi_bar = arguments.check_real("G", G), arguments.check_real("xi_bar", xi_bar)
    arguments.check_word("hessian", hessian, ("diagonal", "dense", "own", "own_dense"))
    _refuse_impossible(d, N, L, mu, G, xi_bar, hessian)
    own, p = hessian.startswith("own"), weights_from(weights, N)
    generator = rng.host_generator(seed, "quadratic")
    A, spectra, turn = _draw_hessians(generator, d, N, L, mu, hessian)
    alive = (
        np.ones(d) if mu > 0 or hessian == "own_dense" else (spectra > 0).all(axis=0).astype(float)
    )
    o = _gradients_at_minimiser(generator, p, G, xi_bar, alive)
    x_star = generator.standard_normal(d)
    if mu > 0 and np.abs(o).max() / mu > arguments.LARGEST:
        raise Impossible(
            f"G / mu and xi_bar / mu must be at most {arguments.LARGEST:g}, for the clients' minimisers and "
            f"their squares to be floats; got G={G}, xi_bar={xi_bar}, mu={mu}"
        )
    b = np.stack([x_star - _reach_offset(A, spectra, turn, mu, i, o[i]) for i in range(N + 1)])
    problem = _build_problem(A, b, weights, sigma, sigma_0, noise, layers, radius)
    found = dict(problem.constants)
    exact = dict(L=L, mu=mu) if own else dict(L=L, mu=mu, G=G, xi_bar=xi_bar)
    if not own and found["B"].value == 1.0:
        exact["G_star"] = G
    for name, value in exact.items():  # what is requested is true; arrays carry it up to rounding
        how = "requested, held with equality" if name != "G_star" else found[name].how
        found[name] = Constant(float(value), how=how)
    return replace(problem, constants=found)


def _refuse_impossible(
    d: int, N: int, L: float, mu: float, G: float, xi_bar: float, hessian: str
) -> None:
    """Refuse constants that no such quadratic has, and sizes that do not fit in memory."""
    arguments.check_fits("d and clients", N + 1, d, 4)
    if mu > L:
        raise Impossible(f"mu must be <= L, the largest curvature; got mu={mu}, L={L}")
    if hessian.endswith("dense"):
        if 0 < mu < SHARPEST * L:
            raise Impossible(
                f"mu must be 0 or at least {SHARPEST:g} L where Hessians are dense, or the rounding of "
                f"their entries changes it; got mu={mu}, L={L}"
            )
        arguments.check_fits("d and clients", N + 1 if hessian == "own_dense" else 4, d, d)
    if d == 1 and mu != L and not (hessian.startswith("own") and N >= 2):
        raise Impossible(
            f"in one dimension a shared curvature is both mu and L; got mu={mu}, L={L}"
        )
    if G > 0 and N == 1:
        raise Impossible(
            f"G must be 0 with one client, whose gradient is F's; got G={G}, clients={N}"
        )
    if hessian == "own_dense" and mu == 0 and (G > 0 or xi_bar > 0):
        raise Impossible(
            "own dense Hessians with mu = 0 share no curved direction for G or xi_bar; got "
            f"G={G}, xi_bar={xi_bar}"
        )


def _draw_hessians(
    generator: np.random.Generator, d: int, N: int, L: float, mu: float, hessian: str
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Draw the Hessians, and return (A, their spectra, the rotation of a shared dense Hessian or
    None)."""
    if hessian.startswith("own"):
        spectra = np.stack(
            [
                _draw_spectrum(generator, d, L, mu) if d > 1 else np.array([[L, mu][i % 2]])
                for i in range(N + 1)
            ]
        )
    else:
        spectra = _draw_spectrum(generator, d, L, mu)[None] if d > 1 else np.array([[float(L)]])
    if hessian == "dense":
        turn = _draw_rotation(generator, d)
        A = (turn * spectra[0]) @ turn.T
        return ((A + A.T) / 2)[None], spectra, turn
    if hessian == "own_dense":
        turns = [_draw_rotation(generator, d) for _ in range(N + 1)]
        A = np.stack([(Q * s) @ Q.T for Q, s in zip(turns, spectra)])
        return (A + A.transpose(0, 2, 1)) / 2, spectra, None
    return spectra, spectra, None


def _gradients_at_minimiser(
    generator: np.random.Generator, p: np.ndarray, G: float, xi_bar: float, alive: np.ndarray
) -> np.ndarray:
    """Draw the gradients o_i at x*, the server's first: sum p_i o_i = 0, mean ||o_i||^2 = G^2, each
    in the range of A_i."""
    if (G > 0 or xi_bar > 0) and not alive.any():
        raise Impossible(
            f"no direction has curvature, so gradients cannot differ; got G={G}, xi_bar={xi_bar}"
        )
    offsets = generator.standard_normal((len(p) - 1, alive.size)) * alive
    offsets -= p[1:] @ offsets
    if G == 0:
        offsets[:] = 0.0
    else:
        offsets *= G / np.sqrt(np.mean(np.sum(offsets**2, axis=1)))
    server = generator.standard_normal(alive.size) * alive
    server *= xi_bar / np.linalg.norm(server) if xi_bar > 0 else 0.0
    return np.vstack([server, offsets])


def _reach_offset(
    A: np.ndarray, spectra: np.ndarray, turn: np.ndarray | None, mu: float, i: int, o: np.ndarray
) -> np.ndarray:
    """Return v with A_i v = o, the vector from the minimiser of f_i to x*."""
    if A.ndim == 2:
        a = A[min(i, len(A) - 1)]
        return np.divide(o, a, out=np.zeros(o.size), where=a > 0)
    if turn is not None:
        s = spectra[0]
        return turn @ np.divide(o, s, out=np.zeros(o.size), where=s > 0)
    return np.linalg.solve(A[i], o) if mu > 0 else np.zeros(o.size)


MAKERS = (quadratic, quadratic_from_arrays)


def examples() -> dict[str, Problem]:
    return dict(
        diagonal=quadratic(3, 4, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, sigma=0.3, sigma_0=0.1, seed=1),
        dense=quadratic(
            3,
            4,
            L=2.0,
            mu=0.5,
            G=1.0,
            xi_bar=0.5,
            sigma=0.3,
            seed=2,
            hessian="dense",
            noise="sphere",
        ),
        own=quadratic(
            3,
            4,
            L=2.0,
            mu=0.5,
            G=1.0,
            xi_bar=0.5,
            seed=3,
            hessian="own",
            noise="rademacher",
            sigma=0.2,
        ),
        own_dense=quadratic(
            4,
            3,
            L=2.0,
            mu=0.5,
            G=1.0,
            xi_bar=0.5,
            seed=4,
            hessian="own_dense",
            weights=[1.0, 2.0, 3.0],
            layers=[1, 3],
        ),
        one=quadratic(1, 1, L=1.5, mu=1.5),
        flat=quadratic(3, 2, L=1.0, mu=0.0, G=0.5, xi_bar=0.2),
        saddle=quadratic_from_arrays(
            [1.5, -0.5], [[0.0, 0.0], [1.0, 2.0], [-1.0, 1.0]], sigma=0.2, sigma_0=0.1
        ),
        bent=quadratic_from_arrays(  # f_1 and f_0 have negative curvature, F has none
            [[[1, 2], [2, 1]], [[1, 1], [1, -1]], [[2, -1], [-1, 3]]],
            [[0.0, 1.0], [1.0, 2.0], [-1.0, 0.5]],
            sigma=0.2,
        ),
        slide=quadratic_from_arrays(  # curvatures cancel along the first axis, where F is a slope
            [[1.0, 1.0], [1.0, 2.0], [-1.0, 0.5]], [[0.0, 1.0], [1.0, 2.0], [-1.0, 0.5]]
        ),
    )
