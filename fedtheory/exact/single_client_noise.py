"""Deviations of one client each, with low row rank: some rows are linear combinations of others, as
a client sends the same vector to the server point and to its variate or memory. A product over all
rows is computed from the pivot rows.

The deviations E_n of client i add sum_n w_n (E_n C E_n' + v_n v_n'), v_n = E_n m + e_n, to the
covariance of the shared states and of the client's own states. If r of the rows are independent,
then up to the order of rows E_n = [1; left] B_n for all n, so that the sum is taken over r rows and
multiplied by `left` once.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory.exact.affine_maps import ROUNDING
from fedtheory.exact.moments import second_moments, shared_out
from fedtheory.typing import Number


class Single(NamedTuple):
    """The deviations of one client on pivot rows; all other rows are linear combinations of these.
    Shared states come before the client's own states."""

    client: int
    rows: np.ndarray  # (r,)
    others: np.ndarray  # (o,)
    left: np.ndarray  # (o, r): the other rows are `left` times the pivot rows
    columns: np.ndarray  # (c,) columns that the rows read
    weight: np.ndarray  # (n,)
    B: np.ndarray  # (r, n, c)
    b: np.ndarray  # (r, n)

    def gain(self, m: np.ndarray, C: np.ndarray) -> np.ndarray:
        """Return sum_n w_n (E_n C E_n' + (E_n m + e_n)(E_n m + e_n)') in all rows."""
        rows, read, left = self.rows, self.columns, self.left
        inner = second_moments(self.weight, self.B, self.b, m[read], C[read[:, None], read])
        beside, out = left @ inner, np.empty_like(C)
        out[rows[:, None], rows], out[self.others[:, None], rows] = inner, beside
        out[rows[:, None], self.others] = beside.T
        out[self.others[:, None], self.others] = beside @ left.T
        return out


def pick_rows(E: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pick pivot rows of E (r, .): return (pivot rows, other rows, coefficients of the other rows
    in the pivot rows). The rank is that of a pivoted QR decomposition of the rows, scaled to
    largest entry 1, with pivots above rounding."""
    from scipy.linalg import qr, solve_triangular

    scale = np.abs(E).max(axis=1)
    scale[scale == 0] = 1.0
    R, order = qr((E / scale[:, None]).T, mode="r", pivoting=True, check_finite=False)
    size = np.abs(np.diag(R))
    k = int(np.sum(size > len(E) * ROUNDING * size[0]))
    left = solve_triangular(R[:k, :k], R[:k, k:], check_finite=False).T
    these, others = order[:k], order[k:]
    return these, others, scale[others, None] * left / scale[these]


def single_deviations(
    found: Sequence[tuple[float | np.ndarray, ...]], s: Number, U: Number
) -> list[Any]:
    """Merge the deviations of each client into one Single per client; `found` are (client,
    *entries)."""
    k, clients = U.shape[1], sorted({each[0] for each in found})
    made = [None] * len(clients)

    def part(low: int, high: int) -> None:
        for n in range(low, high):
            i = clients[n]
            mine = [each[1:] for each in found if each[0] == i]
            E = np.zeros((s + k, len(mine), s + k + 1))
            here = lambda n, i=i: np.where(n < s, n, n - i * k)
            for e, (_, rows, columns, entries, at, level) in enumerate(mine):
                E[here(rows), e, here(columns)], E[here(at), e, -1] = entries, level
            E[s:] = np.tensordot(U[i].T, E[s:], 1)
            E[:, :, s:-1] = E[:, :, s:-1] @ U[i]
            these, others, left = pick_rows(E.reshape(s + k, -1))
            B, weight = E[these], np.array([each[0] for each in mine])
            read = np.flatnonzero(B[:, :, :-1].any(axis=(0, 1)))
            inner = np.ascontiguousarray(B[:, :, read])
            made[n] = Single(i, these, others, left, read, weight, inner, B[:, :, -1].copy())

    shared_out(len(clients), len(clients) * (s + k) ** 3, part)
    return made
