"""Mixed problems: a federated loss f_f, the mean of the clients', and a central loss f_c at index 0
(mixed FL).

Quadratics, whose kernels serve here too: F is f_f, f = f_f + f_c is what mixed FL minimises
(equation 1), L is the paper's beta. Clients are homogeneous (assumption 4.1) unless `sigma_f` says
otherwise. `bgd` gives the exact pairs (G, B) of definition 4.2, for these and all other quadratics.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import Impossible, refuse
from fedtheory.problem import Constant, Problem, weights_from
from fedtheory.problems._curvature import bent_down, of_objective
from fedtheory.problems._separable import check_request
from fedtheory.problems.quadratics import Dense, Diagonal, quadratic_from_arrays
from fedtheory.typing import Number

__all__ = ["mixed", "bgd", "mixed_minimizer"]


class BGD(NamedTuple):
    """The set of all pairs (G, B) with ||grad f_f||^2 / w_f + ||grad f_c||^2 / w_c <= G^2 + B^2
    ||grad f||^2 for every x.

    With s = grad f(x) the left side is s'Qs + 2 q's + r, Q >= 1 because it exceeds ||s||^2 by a
    variance. So G^2 >= r + q'(B^2 - Q)^-1 q, with equality at some s: a trade-off, or the one pair
    (sqrt r, B_min) where q = 0, as with shared Hessians and w_f = 1/2.
    """

    w_f: float
    w_c: float
    eigenvalues: np.ndarray  # of Q
    loads: np.ndarray  # squares of q along Q's eigenvectors
    level: float  # r

    @property
    def B_min(self) -> float:
        """Return the lower bound of B: no smaller B has a finite G."""
        return float(np.sqrt(max(1.0, self.eigenvalues.max())))

    @property
    def G_min(self) -> float:
        """Return the infimum of G over all B; where q is not zero, the infimum is approached but
        not attained."""
        return float(np.sqrt(self.level))

    def G(self, B: float) -> float:
        """Return the least G for which (G, B) is in the set; inf where no G is."""
        if not B >= self.B_min * (1 - 1e-12):
            return np.inf
        return float(np.sqrt(self.level + self._excess(max(B, self.B_min) ** 2)))

    def B(self, G: float) -> float:
        """Return the least B for which (G, B) is in the set; inf where no B is."""
        if not G >= self.G_min * (1 - 1e-12):
            return np.inf
        room = max(G * G - self.level, 0.0)
        low = self.B_min**2
        if self._excess(low) <= room:
            return self.B_min
        if room == 0.0:
            return np.inf
        high = low + self.loads.sum() / room  # each B^2 - eigenvalue is at least B^2 - low there
        for _ in range(200):  # bisection, kept on the side where the inequality holds
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            low, high = (low, middle) if self._excess(middle) <= room else (middle, high)
        return float(np.sqrt(high))

    def _excess(self, square: float) -> float:
        """Return q'(B^2 - Q)^-1 q for B^2 = square >= max(1, eigenvalues)."""
        on = self.loads > 0
        gaps = square - self.eigenvalues[on]
        return float(np.sum(self.loads[on] / gaps)) if np.all(gaps > 1e-13 * square) else np.inf


def _federated_and_central(
    problem: Problem,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (H_f, x_f, A_c, b_c): the Hessians, as vectors where diagonal, and the minimisers of
    f_f and f_c."""
    data = problem.data
    if not isinstance(data, (Diagonal, Dense)) or not problem.has_server:
        refuse("problem", "must be a quadratic with a server", problem.name)
    if bent_down(data.A) and not (problem.minimize and _lowest_together(data)):
        refuse("problem", "must have losses f_f and f_f + f_c that are bounded below", problem.name)
    return data.H, data.x_star, data.A[0], data.b[0]


def _lowest_together(data: Any) -> bool:
    """Tell whether f_f + f_c is bounded below, where f_f is lowest at x_star."""
    both = np.stack([data.A[0], data.H, data.A[0]])
    return of_objective(both, np.stack([data.b[0], data.x_star, data.b[0]]), np.r_[0, 0.5, 0.5])[2]


def mixed_minimizer(problem: Problem) -> np.ndarray:
    """Return a minimiser of the mixed objective f_f + f_c, the one of least norm where there are
    several."""
    H, x_f, A, b = _federated_and_central(problem)
    if H.ndim == 1:
        pull, total = H * x_f + A * b, H + A
        return np.divide(pull, total, out=np.zeros_like(pull), where=total > 0)
    return np.linalg.lstsq(H + A, H @ x_f + A @ b, rcond=1e-12)[0]


def bgd(problem: Any, w_f: float = 0.5, w_c: Any = None) -> BGD:
    """Return the constants of definition 4.2 for a quadratic: all admissible pairs (G, B), exact up
    to rounding.

    grad f_f = R s + o and grad f_c = (1 - R) s - o, with R = H_f (H_f + A_c)^-1 and o = grad f_f at
    the mixed minimiser; s takes every value in the range of H_f + A_c.
    """
    w_c = 1.0 - w_f if w_c is None else w_c
    for name, value in dict(w_f=w_f, w_c=w_c).items():
        if not 0 < value < 1:
            refuse(name, "must be in (0, 1)", value)
    if abs(w_f + w_c - 1) > 1e-12:
        refuse("w_c", "must be 1 - w_f (definition 4.2)", w_c)
    H, x_f, A, b = _federated_and_central(problem)
    shared = len(problem.data.A) == 1
    if H.ndim == 1:
        alive = H + A > 0
        R = np.full(alive.sum(), 0.5) if shared else H[alive] / (H + A)[alive]
        # At the minimiser grad f_f = H_f A_c (b_c - x_f) / (H_f + A_c): no difference of points is
        # taken twice.
        o = R * A[alive] * (b - x_f)[alive]
        eigenvalues = R * R / w_f + (1 - R) ** 2 / w_c
        q = R * o / w_f - (1 - R) * o / w_c
    else:
        values, turn = np.linalg.eigh(H + A)
        alive = values > 1e-12 * values.max()
        turn, values = turn[:, alive], values[alive]  # s in the coordinates of the range
        o = H @ (mixed_minimizer(problem) - x_f)
        R = 0.5 * turn if shared else (H @ turn) / values  # from those coordinates to gradients
        S = turn - R
        Q = R.T @ R / w_f + S.T @ S / w_c
        eigenvalues, axes = np.linalg.eigh((Q + Q.T) / 2)
        q = axes.T @ (R.T @ o / w_f - S.T @ o / w_c)
    level = float(o @ o) / (w_f * w_c)
    if shared:
        eigenvalues = np.full(eigenvalues.size, 1 / (4 * w_f * w_c))
    loads = q * q
    loads[loads <= 1e-26 * level * eigenvalues.max()] = (
        0.0  # rounding: q is at most sqrt(level eigenvalue)
    )
    return BGD(float(w_f), float(w_c), eigenvalues, loads, level)


def _mixed_constants(problem: Problem, requested: Mapping[str, float]) -> dict[str, Constant]:
    """Return a quadratic's constants and those that a mixed problem adds: sigma_f, sigma_c, G_bgd
    and B_bgd."""
    sigma_f = problem.constants["G"]  # global: the clients share a Hessian
    pairs = bgd(problem)
    G, B, how = (
        pairs.G(pairs.B_min),
        pairs.B_min,
        "definition 4.2 at w_f = w_c = 1/2, each the least possible",
    )
    if not np.isfinite(G):
        B = np.sqrt(2.0) * pairs.B_min
        G, how = (
            pairs.G(B),
            "definition 4.2 at w_f = w_c = 1/2, the least G for this B; bgd gives the trade-off",
        )
    found = dict(
        problem.constants,
        sigma_f=sigma_f,
        sigma_c=problem.constants["sigma_0"],
        G_bgd=Constant(float(G), how=how),
        B_bgd=Constant(float(B), how=how),
    )
    for name, value in requested.items():
        found[name] = Constant(float(value), how="requested, held with equality")
    return found


def _change_weights(plain: Any, problem: Any, p: Number) -> Problem:
    """Return the mixed problem under weights p; L and mu keep the requested values."""
    moved = plain(problem, p)
    return replace(
        moved,
        constants=_mixed_constants(
            moved, {name: problem.constants[name].value for name in ("L", "mu")}
        ),
    )


def _draw_spectra(
    generator: np.random.Generator, d: int, L: float, mu: float, own: bool
) -> np.ndarray:
    """Draw the curvatures (2, d) of f_f and of f_c, from mu to L; both functions attain both ends."""
    spectra = generator.uniform(mu, L, (2, d))
    spectra[:, 0], spectra[:, -1] = L, mu
    if d == 1:
        spectra[0] = L
    return spectra if own else spectra[[0, 0]]


def mixed(
    d: int,
    clients: int,
    L: float,
    mu: float,
    G: float = 0.0,
    sigma: float = 0.0,
    sigma_c: float = 0.0,
    sigma_f: float = 0.0,
    hessian: str = "diagonal",
    weights: Sequence[float] | None = None,
    layers: Sequence[int] | None = None,
    seed: int = 0,
    noise: str = "gaussian",
) -> Problem:
    """Build a mixed quadratic: f_c at index 0, homogeneous clients, curvatures from mu to L, both
    attained.

    G = ||grad f_f - grad f_c|| at the minimiser of f_f + f_c; with a shared `hessian` ("diagonal",
    "dense") everywhere, so that definition 4.2 holds with exactly this G and B = 1 at w_f = w_c =
    1/2. With f_c's own Hessian ("own", "own_dense") see `bgd`. sigma and sigma_c are the clients'
    and the central noise; sigma_f^2 is the mean of ||grad f_i - grad f_f||^2, 0 under assumption
    4.1.

    >>> import fedtheory as ft
    >>> problem = ft.problems.mixed(d=2, clients=3, L=1.0, mu=0.5)
    >>> problem.has_server
    True
    """
    check_request(d, clients, L=L, mu=mu, G=G, sigma_c=sigma_c, sigma_f=sigma_f)
    if isinstance(hessian, str) and hessian.endswith("dense"):
        arguments.check_fits("d", 8, d, d)
    if L == 0:
        refuse("L", "must be > 0", L)
    if mu > L:
        raise Impossible(f"mu must be <= L, the largest curvature; got mu={mu}, L={L}")
    if hessian not in ("diagonal", "dense", "own", "own_dense"):
        refuse("hessian", "must be diagonal, dense, own or own_dense", hessian)
    own, dense = hessian.startswith("own") and mu < L, hessian.endswith("dense")
    if d == 1 and mu != L and not own:
        raise Impossible(
            f"in one dimension a shared curvature is both mu and L; got mu={mu}, L={L}"
        )
    p = weights_from(weights, clients)
    if sigma_f > 0 and np.sum(p > 0) < 2:
        raise Impossible(
            f"sigma_f must be 0 where one client is all of f_f; got sigma_f={sigma_f}, clients={clients}"
        )
    generator = rng.host_generator(seed, "mixed")
    spectra = _draw_spectra(generator, d, L, mu, own)
    turns = np.stack([np.eye(d)] * 2)
    if dense:
        turns = np.stack([np.linalg.qr(generator.standard_normal((d, d)))[0] for _ in range(2)])
        turns = turns if own else turns[[0, 0]]
    curved = (spectra > 0).all(axis=0)  # directions in which both losses can have any gradient
    if own and dense and mu == 0:
        curved[:] = False
    if (G > 0 or sigma_f > 0) and not curved.any():
        raise Impossible(
            "gradients can differ only where both losses are curved, and nowhere are they here; got "
            f"G={G}, sigma_f={sigma_f}, mu={mu}, hessian={hessian}"
        )

    def inverse(which: int, v: np.ndarray) -> np.ndarray:
        z, s = turns[which].T @ v, spectra[which]
        return turns[which] @ np.divide(z, s, out=np.zeros(d), where=s > 0)

    span = turns[0] * curved
    o = span @ generator.standard_normal(d)
    o *= (
        G / (2 * np.linalg.norm(o)) if G > 0 else 0.0
    )  # grad f_f = o = -grad f_c at the mixed minimiser
    gaps = generator.standard_normal((clients, d)) @ span.T
    gaps -= p[1:] @ gaps
    gaps *= sigma_f / np.sqrt(np.mean(np.sum(gaps**2, axis=1))) if sigma_f > 0 else 0.0
    x_star = generator.standard_normal(d)
    b = np.stack([x_star + inverse(1, o)] + [x_star - inverse(0, o + gap) for gap in gaps])
    A = spectra
    if dense:
        A = np.stack([(Q * s) @ Q.T for Q, s in zip(turns, spectra)])
        A = (A + A.transpose(0, 2, 1)) / 2
    problem = quadratic_from_arrays(
        A[[1] + [0] * clients] if own else A[0], b, p[1:], sigma, sigma_c, noise, layers
    )
    requested = dict(L=L, mu=mu, G=sigma_f, sigma_f=sigma_f)
    if not own:
        requested.update(xi_bar=G, G_bgd=G, B_bgd=1.0)
    return replace(
        problem,
        name="mixed",
        reweigh=partial(_change_weights, problem.reweigh),
        constants=_mixed_constants(problem, requested),
    )


MAKERS = (mixed,)


def examples() -> dict[str, Problem]:
    return dict(
        shared=mixed(3, 4, L=2.0, mu=0.5, G=1.0, sigma=0.3, sigma_c=0.2, seed=1),
        own=mixed(3, 3, L=2.0, mu=0.5, G=1.0, sigma=0.3, hessian="own", seed=2, noise="rademacher"),
        own_dense=mixed(
            3, 2, L=2.0, mu=0.2, G=0.5, sigma_f=0.4, hessian="own_dense", weights=[1.0, 2.0], seed=3
        ),
        flat=mixed(2, 2, L=1.0, mu=0.0, G=0.3, hessian="dense", seed=4),
        one=mixed(1, 1, L=1.0, mu=0.5, G=0.3, hessian="own"),
    )
