"""Constants of quadratics computed from their arrays: each is exact or rounded to the safe side.

Where a constant is not exact, upper bounds (L, G, xi_bar, B, M) are rounded up and lower bounds
(mu) down, by a multiple of EPS that covers sums of products and the eigenvalue solver. A constant
has the scope "global", or "ball" with a radius around the minimiser of F.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.problem import Constant
from fedtheory.problems._curvature import bent_down, of_client, times
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.problems._quadratic import Dense, Diagonal

EPS = 2.0**-52
# the least mu / L of a dense Hessian: rounding its entries moves mu by some EPS L
SHARPEST = 2.0**-30


def _top(squares: np.ndarray) -> float:
    """Return the largest eigenvalue of a positive semidefinite diagonal (d,) or matrix (d, d)."""
    return float(squares.max() if squares.ndim == 1 else max(0.0, np.linalg.eigvalsh(squares)[-1]))


def _mean_square(Ds: Sequence[np.ndarray], weights: np.ndarray | Sequence[float]) -> np.ndarray:
    """Return sum_i w_i D_i D_i'."""
    return sum(w * (D * D if D.ndim == 1 else D @ D.T) for w, D in zip(weights, Ds))


def _up(value: float, d: float) -> float:
    """Return an upper bound of the exact value, given its floating-point result; it covers the
    error of sums of products and of the eigenvalue solver in dimension d."""
    return float(value) * (1.0 + 32 * d * EPS)


def _norm(v: np.ndarray) -> float:
    """Return ||v||, also where the squares of the entries overflow or underflow."""
    largest = float(np.abs(v).max())
    return largest * float(np.linalg.norm(v / largest)) if largest > 0 else 0.0


def _ball(
    gaps: Sequence[np.ndarray],
    offsets: Sequence[np.ndarray],
    radius: float,
    weights: np.ndarray | Sequence[float],
) -> float:
    """Return an upper bound of sum_i w_i ||D_i v + o_i||^2 over ||v|| <= radius.

    With Q = sum w_i D_i D_i' and q = sum w_i D_i o_i, the sum is v'Qv + 2 q'v + sum w_i ||o_i||^2,
    at most top(Q) r^2 + 2 r ||q|| + sum w_i ||o_i||^2.
    """
    cross = sum(w * times(D, o) for w, D, o in zip(weights, gaps, offsets))
    level = sum(w * o @ o for w, o in zip(weights, offsets))
    return _top(_mean_square(gaps, weights)) * radius**2 + 2 * radius * _norm(cross) + float(level)


def _curvatures(A: np.ndarray) -> dict[str, Constant]:
    """Return the constants L and mu of the Hessians and, where mu is negative, the weak convexity
    -mu."""
    if A.ndim == 2:
        L, mu, how = float(abs(A).max()), float(A.min()), "eigenvalue of the Hessians"
    else:
        spectra, how = np.linalg.eigvalsh(A), "eigenvalue of the Hessians, rounded outward"
        slack = 10 * A.shape[-1] * EPS * float(abs(spectra).max())
        L, mu = float(abs(spectra).max()) + slack, float(spectra.min()) - slack
    if not bent_down(A):
        return dict(
            L=Constant(L, how=f"largest {how}"), mu=Constant(max(0.0, mu), how=f"smallest {how}")
        )
    return dict(
        L=Constant(L, how=f"largest absolute {how}"),
        mu=Constant(mu, how=f"smallest {how}"),
        weak_convexity=Constant(-mu, how="-mu"),
    )


def constants(
    data: "Diagonal | Dense", p: np.ndarray, radius: float, lowest: bool = True
) -> dict[str, Constant]:
    """Return the constants L, mu, G, xi_bar (and G_star, B) of a quadratic, computed from its
    arrays.

    `lowest`: whether data.x_star is the minimiser, around which a ball's constants hold; else these
    are left out, and so is what is worked out at a point where F is flat if there is none.
    """
    A, N, d = data.A, len(data.b) - 1, data.b.shape[1]
    found = _curvatures(A)
    mu, L = found["mu"].value, found["L"].value
    if not lowest:
        found["F_inf"] = Constant(-np.inf, how="F is unbounded below")
    at_star = [times(of_client(A, i), data.x_star - data.b[i]) for i in range(N + 1)]
    even = np.full(N, 1.0 / N)
    level = sum(o @ o for o in at_star[1:]) / N if N > 1 else 0.0
    bgd = "mean ||grad f_i||^2 <= G_star^2 + B^2 ||grad F||^2 everywhere"
    constant = "gradients differ by constants"
    ball = "triangle inequality over the ball around the minimiser of F; rounded up"
    alike = len(A) == 1 or bool(np.all(A[1:] == A[1]))  # clients share a Hessian
    gaps = [of_client(A, i) - data.H for i in range(N + 1)]
    if len(A) == 1 or alike and np.array_equal(A[0], A[1]):
        found["xi_bar"] = Constant(float(np.linalg.norm(at_star[0])), how=constant)
    elif lowest:
        found["xi_bar"] = Constant(
            _up(np.sqrt(_ball(gaps[:1], at_star[:1], radius, [1.0])), d), "ball", radius, ball
        )
    if alike:
        # ||grad F + o_i||^2 has mean ||grad F||^2 + 2 grad F' mean(o) + G^2, and mean(o) = 0 under
        # equal weights.
        lean = 0.0 if np.all(p[1:] == p[1]) else float(np.linalg.norm(sum(at_star[1:]) / N))
        found["G"] = Constant(float(np.sqrt(level)), how=constant)
        found["G_star"] = Constant(float(np.sqrt(level + lean**2)), how=bgd)
        found["B"] = Constant(1.0 if lean == 0 else _up(np.sqrt(2.0), 1), how="with G_star")
        return found
    if not lowest:
        return found
    found["G"] = Constant(
        _up(np.sqrt(_ball(gaps[1:], at_star[1:], radius, even)), d), "ball", radius, ball
    )
    if mu > 0 or mu < 0 and _inverts(data.H):
        # grad f_i = A_i H^-1 grad F + o_i, so the mean square is at most 2 mean o_i^2 + 2 |mean|
        # |grad F|^2.
        ratios = [
            of_client(A, i) / data.H if A.ndim == 2 else np.linalg.solve(data.H, of_client(A, i))
            for i in range(1, N + 1)
        ]
        factor = 1.0 if level == 0 else 2.0
        found["G_star"] = Constant(_up(np.sqrt(factor * level), d), how=bgd + "; rounded up")
        B = np.sqrt(max(1.0, factor * _top(_mean_square(ratios, even))))
        least = mu if mu > 0 else float(abs(_spectrum_of(data.H)).min())
        found["B"] = Constant(_up(B, d * L / least), how="with G_star; rounded up")
    return found


def gradient_bound(data: "Diagonal | Dense", radius: float, sigmas: Number) -> Constant:
    """Return M, a bound of the norm of every client's gradient estimate. The bound holds as long as
    a run stays in the ball and the noise of client i has norm sigma_i surely."""
    d = data.b.shape[1]
    longest = max(
        _norm(times(of_client(data.A, i), data.x_star - data.b[i]))
        + radius * float(abs(_spectrum_of(of_client(data.A, i))).max())
        + float(sigmas[i])
        for i in range(1, len(data.b))
    )
    how = "at the minimiser of F, and how far curvature and noise lead from there; rounded up"
    return Constant(_up(longest, d), "ball", radius, how)


def _spectrum_of(H: np.ndarray) -> np.ndarray:
    """Return the eigenvalues (d,) of a diagonal (d,) or of a symmetric matrix (d, d)."""
    return H if H.ndim == 1 else np.linalg.eigvalsh(H)


def _inverts(H: np.ndarray) -> bool:
    """Tell whether F's own Hessian H can be inverted within rounding. The constant mu covers all
    clients' Hessians, so a negative mu does not answer this."""
    values = abs(_spectrum_of(H))
    return bool(values.min() > SHARPEST * values.max())
