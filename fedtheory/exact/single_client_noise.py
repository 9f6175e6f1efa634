"""Deviations of one client each, in rows of which others are sums: what a client tells the server point
it tells the variates too, or its memory, so that a product with all of them is one with two thirds."""

from typing import NamedTuple

import numpy as np

from fedtheory.exact.affine_maps import ROUNDING
from fedtheory.exact.moments import second_moments, shared_out


class Single(NamedTuple):
    """Deviations of one client in some rows, of which all others are sums. Shared states come before
    the client's own."""

    client: int
    rows: np.ndarray  # (r,)
    others: np.ndarray  # (o,)
    left: np.ndarray  # (o, r): the others are this times those rows
    columns: np.ndarray  # (c,) that are read
    weight: np.ndarray  # (n,)
    B: np.ndarray  # (r, n, c)
    b: np.ndarray  # (r, n)

    def gain(self, m, C):
        """sum_n w_n (E_n C E_n' + (E_n m + e_n)(E_n m + e_n)') in all rows."""
        rows, read, left = self.rows, self.columns, self.left
        inner = second_moments(self.weight, self.B, self.b, m[read], C[read[:, None], read])
        beside, out = left @ inner, np.empty_like(C)
        out[rows[:, None], rows], out[self.others[:, None], rows] = inner, beside
        out[rows[:, None], self.others] = beside.T
        out[self.others[:, None], self.others] = beside @ left.T
        return out


def pick_rows(E):
    """Rows of E (r, .) of which all others are sums: (these, the others, how)."""
    from scipy.linalg import qr, solve_triangular

    scale = np.abs(E).max(axis=1)
    scale[scale == 0] = 1.0
    R, order = qr((E / scale[:, None]).T, mode="r", pivoting=True, check_finite=False)
    size = np.abs(np.diag(R))
    k = int(np.sum(size > len(E) * ROUNDING * size[0]))
    left = solve_triangular(R[:k, :k], R[:k, k:], check_finite=False).T
    these, others = order[:k], order[k:]
    return these, others, scale[others, None] * left / scale[these]


def single_deviations(found, s, U):
    """The deviations of each client as one; `found` are (client, *entries)."""
    k, clients = U.shape[1], sorted({each[0] for each in found})
    made = [None] * len(clients)

    def part(low, high):
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
