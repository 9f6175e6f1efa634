"""Fed-AMS against local AMSGrad written out, and what its v_hat must do."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.algorithms import fed_ams
from fedtheory.jit import python
from fedtheory.participation import Departure, Participation

A = [[1.0, 1.0], [2.0, 1.0], [1.0, 1.5], [0.5, 1.0]]
B = [[0.0, 0.0], [1.0, 2.0], [-2.0, 0.5], [3.0, 1.0]]
RATES = dict(alpha=0.05, epsilon=0.1, beta_1=0.8, beta_2=0.9, T=3)


def problem(**kw):
    return ft.problems.quadratic_from_arrays(np.array(A), np.array(B), **kw)


def run(problem, rounds, x_0, algorithm="fed_ams", **kw):
    return ft.run(problem, algorithm, rounds=rounds, x_0=np.array(x_0), keep="x", metrics=(), **kw)


def final(r):
    return fed_ams.State(*(slab[0] for slab in r._state))


def by_hand(x, rounds, alpha, epsilon, beta_1, beta_2, T, kept=True, weights=(1, 1, 1)):
    """Points and v_hat of each round: three clients, coordinates apart."""
    x, v_hat = list(x), [epsilon, epsilon]
    m = {(i, j): 0.0 for i in (1, 2, 3) for j in (0, 1)}
    v = dict.fromkeys(m, epsilon)
    path, hats = [list(x)], [list(v_hat)]
    for _ in range(rounds):
        for j in range(2):
            ends = []
            for i in (1, 2, 3):
                if not kept:
                    m[i, j], v[i, j] = 0.0, v_hat[j]
                y = x[j]
                for _ in range(T):
                    g = A[i][j] * (y - B[i][j])
                    m[i, j] = beta_1 * m[i, j] + (1 - beta_1) * g
                    v[i, j] = beta_2 * v[i, j] + (1 - beta_2) * g**2
                    y -= alpha * m[i, j] / sqrt(v_hat[j])
                ends.append(y)
            x[j] = sum(p * end for p, end in zip(weights, ends)) / sum(weights)
            v_hat[j] = max(
                v_hat[j], sum(p * v[i, j] for i, p in enumerate(weights, 1)) / sum(weights)
            )
        path.append(list(x))
        hats.append(list(v_hat))
    return np.array(path), np.array(hats)


def test_rounds_worked_by_hand():
    # One client, f_1 = (x-4)^2/2, T = 1, betas 1/2, v_hat_0 = 4, x = 0: g = -4, m = -2, v = 10, so
    # x = 0 + 2/2 = 1 and v_hat = 10. Then g = -3, m = -5/2, v = 19/2 < 10: x = 1 + 5/(2 sqrt 10),
    # v_hat stays.
    p = ft.problems.quadratic_from_arrays(np.array([1.0]), np.array([[0.0], [4.0]]))
    r = run(p, 2, [0.0], alpha=1.0, epsilon=4.0, beta_1=0.5, beta_2=0.5)
    assert r.x[0, 1, 0] == 1.0 and r.x[0, 2, 0] == pytest.approx(1 + 2.5 / sqrt(10), rel=1e-15)
    assert final(r).v_hat[0] == 10.0 and final(r).v[1, 0] == 9.5


@pytest.mark.parametrize("kept", [True, False])
def test_rounds_against_the_method_written_out(kept):
    r = run(problem(), 5, [1.0, -2.0], moments="kept" if kept else "reset", **RATES)
    path, hats = by_hand([1, -2], 5, **RATES, kept=kept)
    np.testing.assert_allclose(r.x[0], path, rtol=1e-12)
    np.testing.assert_allclose(final(r).v_hat, hats[-1], rtol=1e-12)
    assert not np.allclose(path, by_hand([1, -2], 5, **RATES, kept=not kept)[0], rtol=1e-3)


def test_weights_by_samples():
    p = problem(weights=[5.0, 1.0, 2.0])
    path, hats = by_hand([1, -2], 4, **RATES, weights=(5, 1, 2))
    r = run(p, 4, [1.0, -2.0], weighting="samples", **RATES)
    np.testing.assert_allclose(r.x[0], path, rtol=1e-12)
    np.testing.assert_allclose(final(r).v_hat, hats[-1], rtol=1e-12)
    np.testing.assert_allclose(
        run(p, 4, [1.0, -2.0], **RATES).x[0], by_hand([1, -2], 4, **RATES)[0], rtol=1e-12
    )


def mean_for_max(state, cohort, work, p, y, local, h):
    python(fed_ams.aggregate)(state, cohort, work, p, y, local, h)
    state.v_hat[:] = local.v.mean(axis=0)


def uphill(state, i, k, y, g, local, h):
    python(fed_ams.local_step)(state, i, k, y, -g, local, h)


# From far away v grows at first; near the minimiser the mean of v falls below v_hat and only a
# maximum holds on.
DAMAGES = [dict(aggregate=mean_for_max), dict(local_step=uphill)]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_copy_is_caught(damage):
    x = run(problem(), 40, [1.0, -2.0], replace(fed_ams.ALGORITHM, **damage), **RATES).x[0]
    path, _ = by_hand([1, -2], 40, **RATES)
    assert not np.allclose(x, path, rtol=1e-3)
    np.testing.assert_allclose(run(problem(), 40, [1.0, -2.0], **RATES).x[0], path, rtol=1e-11)


def shrinks(algorithm):
    """Whether v_hat ever falls, over 40 rounds."""
    before = None
    for rounds in range(0, 41, 4):
        now = final(run(problem(), rounds, [4.0, -6.0], algorithm, **RATES)).v_hat
        if before is not None and np.any(now < before):
            return True
        before = now
    return False


def test_v_hat_never_falls():
    assert not shrinks("fed_ams")
    assert shrinks(replace(fed_ams.ALGORITHM, aggregate=mean_for_max))


def test_a_client_that_stays_away_keeps_its_moments():
    # Client 2 works in round 0 only: its row stays as that round left it, client 1's moves on.
    p = ft.problems.quadratic_from_arrays(np.array([1.0]), np.array([[0.0], [4.0], [-2.0]]))
    gone = Participation(departures=(Departure(2, 1, exclude=False),))
    r = run(p, 3, [0.0], alpha=0.1, epsilon=1.0, beta_1=0.5, beta_2=0.5, participation=gone)
    assert final(r).m[2, 0] == 0.5 * 2 and final(r).v[2, 0] == 0.5 * 1 + 0.5 * 4
    assert final(r).m[1, 0] != 0.5 * -4
    assert final(run(p, 3, [0.0], alpha=0.1, epsilon=1.0, moments="reset")).m.shape == (1, 1)


def test_memory_forbids_drawing_a_client_twice():
    with pytest.raises(ft.errors.InvalidInput, match="cohort"):
        run(problem(), 1, [0.0, 0.0], participation=Participation(cohort="with"), **RATES)


@pytest.mark.parametrize("moments", ["kept", "reset"])
def test_compiled_equals_interpreted(moments):
    runs = [
        run(problem(sigma=0.3), 5, [1.0, -2.0], S=2, compiled=compiled, moments=moments, **RATES).x
        for compiled in (None, False)
    ]
    np.testing.assert_allclose(*runs, rtol=1e-13)
