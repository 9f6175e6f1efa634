"""Deviations of one client in few rows against all of their rows."""

import numpy as np
import pytest

from fedtheory.exact import moments
from fedtheory.exact.single_client_noise import pick_rows, single_deviations

s, N, k = 4, 3, 2


def test_rows_are_sums_of_those_that_are_picked():
    random = np.random.default_rng(0).standard_normal
    E = random((7, 3)) @ random((3, 11)) * 10.0 ** -np.arange(7)[:, None]
    E[5] = 0.0
    these, others, left = pick_rows(E)
    assert len(these) == 3 and sorted([*these, *others]) == [*range(7)]
    size = np.abs(E[others]).max(axis=1)
    assert np.all(np.abs(left @ E[these] - E[others]).max(axis=1) <= 1e-13 * size)
    these, others, left = pick_rows(random((4, 9)))
    assert len(these) == 4 and not len(others) and left.shape == (0, 4)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("rank", [2, s + k])
def test_gains_are_the_sums_of_squares(count, rank, monkeypatch):
    monkeypatch.setattr(moments, "SPREAD", 0)
    random = np.random.default_rng(rank).standard_normal
    U, found, whole = np.linalg.qr(random((N, k, k)))[0], [], {}
    for i in (2, 0):  # the first has no deviations
        where = np.array([*range(s), s + i * k, s + i * k + 1])
        for n in range(count):
            left = whole.setdefault(i, (random((s + k, rank)), []))[0]
            E, weight = left @ random((rank, s + k + 1)), 0.5 + n
            E[:, 1] = 0.0  # a state that is not read
            (r, c), at = np.nonzero(E[:, :-1]), np.arange(s + k)
            found.append((i, weight, where[r], where[c], E[r, c], where[at], E[:, -1]))
            whole[i][1].append((weight, E))
    made = single_deviations(found, s, U)
    assert [each.client for each in made] == [0, 2]
    for each in made:
        turn = np.eye(s + k)
        turn[s:, s:] = U[each.client].T
        m, C = random(s + k), random((s + k, s + k))
        C = C @ C.T
        expected = np.zeros((s + k, s + k))
        for w, E in whole[each.client][1]:
            A, b = turn @ E[:, :-1] @ turn.T, turn @ E[:, -1]
            expected += w * (A @ C @ A.T + np.outer(A @ m + b, A @ m + b))
        assert np.abs(each.gain(m, C) - expected).max() <= 1e-13 * np.abs(expected).max()
        assert len(each.rows) == rank and sorted(each.columns) == [0, 2, 3, 4, 5]
