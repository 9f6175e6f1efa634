"""Deviations of one client each, in rows of which others are sums: what a client tells the server point
it tells the variates too, or its memory, so that a product with all of them is one with two thirds."""

from typing import NamedTuple

import numpy as np

from fedtheory.exact.maps import ROUNDING
from fedtheory.exact.moments import Stack, shared_out


class Single(NamedTuple):
    """Deviations E_n of one client, of which some rows are sums of others: they are `left` times what
    they are in the rows that are picked."""

    client: int
    picked: (
        np.ndarray
    )  # (r,) rows, those of the shared states before those of the client's memories
    others: np.ndarray
    left: np.ndarray  # (others, r)
    stack: Stack  # in the picked rows

    def gain(self, m, C):
        """sum_n w_n (E_n C E_n' + (E_n m + e_n)(E_n m + e_n)')."""
        inner = self.stack.square(m, C)
        beside, out = self.left @ inner, np.empty_like(C)
        out[self.picked[:, None], self.picked] = inner
        out[self.others[:, None], self.picked] = beside
        out[self.picked[:, None], self.others] = beside.T
        out[self.others[:, None], self.others] = beside @ self.left.T
        return out


def picked(E):
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


def singles(found, s, U):
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
            these, others, left = picked(E.reshape(s + k, -1))
            every, B = np.arange(s + k), E[these]
            weight = np.array([each[0] for each in mine])
            stack = Stack(every, every, weight, None, B[:, :, :-1].copy(), B[:, :, -1].copy())
            made[n] = Single(i, these, others, left, stack)

    shared_out(len(clients), len(clients) * (s + k) ** 3, part)
    return made
