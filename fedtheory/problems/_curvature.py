"""The stationary point of a weighted sum of quadratics, and the test whether the sum attains its
minimum there."""

from typing import Any

import numpy as np

from fedtheory.problem import FLAT


def of_client(A: np.ndarray, i: int) -> np.ndarray:
    """Return client i's Hessian: a diagonal (d,) or a matrix (d, d)."""
    return A[min(i, len(A) - 1)]


def times(a: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the product of a Hessian, diagonal (d,) or dense (d, d), with a vector (d,)."""
    return a * v if a.ndim == 1 else a @ v


def bent_down(A: np.ndarray) -> bool:
    """Tell whether some Hessian has a negative eigenvalue, by more than the rounding of a dense
    Hessian's entries."""
    if A.ndim == 2:
        return bool(np.any(A < 0))
    return bool(np.any(np.linalg.eigvalsh(A)[:, 0] < -FLAT * abs(A).max(axis=(1, 2))))


def of_objective(A: np.ndarray, b: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, Any, bool]:
    """Return (Hessian of F, the point of least norm where F's gradient vanishes, whether F is
    lowest there). The point is None where F falls along a line at a constant rate.

    A (1 or N + 1, d) holds diagonals, A (1 or N + 1, d, d) matrices; b (N + 1, d) are the
    minimisers and p (N + 1,) the weights with p_0 = 0. Stationarity reads H x = sum_i p_i A_i b_i.
    Convex quadratics always have a minimiser; negative curvatures are handled by `_bent`.
    """
    shared = len(A) == 1
    H = A[0].copy() if shared else np.tensordot(p, A, axes=1)
    # H x* = pull, or H (x* - pull) = 0 under a shared Hessian
    pull = p @ b if shared else sum(p[i] * times(A[i], b[i]) for i in range(1, len(b)))
    if bent_down(A):
        return _bent(A, b, p, H, pull)
    if A.ndim == 2:
        x_star = (
            np.where(H > 0, pull, 0.0)
            if shared
            else np.divide(pull, H, out=np.zeros_like(pull), where=H > 0)
        )
    elif np.linalg.matrix_rank(H, hermitian=True) < len(H):
        x_star = np.linalg.pinv(H, hermitian=True) @ (H @ pull if shared else pull)
    else:
        x_star = pull if shared else np.linalg.solve(H, pull)
    return H, x_star, True


def _bent(
    A: np.ndarray, b: np.ndarray, p: np.ndarray, H: np.ndarray, pull: np.ndarray
) -> tuple[np.ndarray, Any, bool]:
    """Return what `of_objective` returns, where some curvature is negative. Curvatures of clients
    may cancel in F: the rounding error left of their sum counts as curvature 0, and the rounding
    error left of the slopes along such a direction as slope 0."""
    members = [(p[i], of_client(A, i), b[i]) for i in range(1, len(b))]
    if A.ndim == 2:
        values, along = H, pull
        steep = sum(w * abs(a) for w, a, _ in members)
        far = sum(w * abs(a * c) for w, a, c in members)
    else:
        values, turn = np.linalg.eigh(H)
        along = turn.T @ pull
        steep = sum(w * np.linalg.norm(a, 2) for w, a, _ in members)
        far = sum(w * np.linalg.norm(a, 2) * np.linalg.norm(c) for w, a, c in members)
    flat = abs(values) <= FLAT * steep
    if len(A) == 1:
        if not flat.any():
            return H, pull, False
        x = np.where(flat, 0.0, along)
    else:
        x = np.divide(along, values, out=np.zeros_like(along), where=~flat)
        if np.any(flat & (abs(along) > FLAT * far)):
            return H, None, False
    if A.ndim == 2:
        H = np.where(flat, 0.0, H)
    else:
        x = turn @ x
    return H, x, not np.any(values[~flat] < 0)
