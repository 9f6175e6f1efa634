"""FedDyn against a round worked by hand and exact rationals, its invariant, its fixed point, and
wrong variants."""

import warnings
from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.algorithms import feddyn
from fedtheory.errors import Diverged
from fedtheory.participation import Departure, Participation

from .rational import EVEN, LINE, PLANE, START, close, cohorts, vector


def state(r):
    return feddyn.State(*(slab[0] for slab in r._state))


def test_a_round_worked_by_hand():
    # alpha = 1, two steps of 1/4 from 0. Client 1, gradient 2y - 1: 1/4, 3/8. Client 2, 3y + 2:
    # -1/2, -5/8. h_1 = -3/8, h_2 = 5/8, h = 1/8; x = (3/8 - 5/8) / 2 - 1/8.
    r = ft.run(LINE.problem, "feddyn", rounds=1, eta_l=0.25, alpha=1.0, K=2)
    assert r.final[0, 0] == -1 / 4
    assert state(r).h_i[1:, 0].tolist() == [-3 / 8, 5 / 8] and state(r).h[0] == 1 / 8


def rounds_of(f, rounds, S, seed, eta_l, alpha, K):
    x, h, h_i, path = vector(START), 0, [vector([0] * f.d)] * (f.N + 1), [vector(START)]
    for cohort in cohorts(rounds, S, f.N, seed):
        mean = 0
        for i in cohort:
            y = x
            for _ in range(K):
                y = y - eta_l * (f.grad(i, y) - h_i[i] + alpha * (y - x))
            h_i[i] = h_i[i] - alpha * (y - x)
            h = h - alpha * f.p[i] * (y - x)
            mean = mean + f.N * f.p[i] * (y - x) / S
        x = x + mean - h / alpha
        path.append(x)
    return path


@pytest.mark.parametrize("f", [EVEN, PLANE], ids=["even", "weighted"])
@pytest.mark.parametrize("S", [2, 4])
def test_rounds_in_exact_rationals(f, S):
    x = f.run("feddyn", 4, START, eta_l=0.125, alpha=0.5, K=2, S=S, seed=6)
    assert close(x, rounds_of(f, 4, S, 6, Q(1, 8), Q(1, 2), 2))


def test_with_equal_weights_it_is_the_paper_s_server_step():
    """h - (alpha/N) sum_S (y - x), then the plain mean of y over S less h / alpha, from the listing
    alone."""
    f, alpha, eta, N = EVEN, Q(1, 2), Q(1, 8), EVEN.N
    x, h, last = vector(START), vector([0, 0]), {i: vector([0, 0]) for i in range(1, N + 1)}
    path = [x]
    for cohort in cohorts(4, 3, N):
        y = {}
        for i in cohort:
            y[i] = x
            for _ in range(3):
                y[i] = y[i] - eta * (f.grad(i, y[i]) - last[i] + alpha * (y[i] - x))
            last[i] = last[i] - alpha * (y[i] - x)
        h = h - alpha * sum(y[i] - x for i in cohort) / N
        x = sum(y.values()) / 3 - h / alpha
        path.append(x)
    assert close(f.run("feddyn", 4, START, eta_l=eta, alpha=alpha, K=3, S=3), path)


def test_many_local_steps_are_the_paper_s_exact_minimisation():
    """argmin of f_i(y) - <h_i, y> + alpha/2 ||y - x||^2 is (a b + h_i + alpha x) / (a + alpha)."""
    f, alpha = EVEN, 0.5
    a, b = f.problem.data.A[1:], f.problem.data.b[1:]
    x, h_i, path = np.array(START), np.zeros((4, 2)), [START]
    for _ in range(6):
        y = (a * b + h_i + alpha * x) / (a + alpha)
        h_i = h_i - alpha * (y - x)
        x = y.mean(axis=0) - h_i.mean(axis=0) / alpha
        path.append(x)
    np.testing.assert_allclose(
        f.run("feddyn", 6, START, eta_l=0.3, alpha=alpha, K=120), path, rtol=1e-11
    )


OWN = ft.problems.quadratic(
    3, 6, L=2.0, mu=0.4, G=2.0, hessian="own_dense", seed=8, weights=[1, 2, 3, 1, 1, 2]
)


def is_fixed_at_the_minimiser(algorithm, S=OWN.N, rounds=800, problem=OWN, **kw):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Diverged)
        r = ft.run(
            problem, algorithm, rounds=rounds, S=S, eta_l=0.1, alpha=1.0, K=4, metrics=(), **kw
        )
    return bool(np.linalg.norm(r.final[0] - problem.minimizer()) < 1e-9)  # false for NaN


@pytest.mark.parametrize("S", [6, 3])
def test_it_ends_at_the_minimiser(S):
    assert is_fixed_at_the_minimiser("feddyn", S=S)


def gradient_without_memory(state, i, k, y, g, local, h):
    for j in range(y.size):
        y[j] -= h.eta_l * (g[j] + h.alpha * (y[j] - state.x[j]))


def memory_of_the_opposite_sign(state, cohort, work, p, y, local, h):
    x, N, S = state.x, p.size - 1, cohort.size
    change = np.zeros(x.size)
    for s in range(S):
        state.h_i[cohort[s]] += h.alpha * (y[s] - x)
        state.h[:] -= h.alpha * p[cohort[s]] * (y[s] - x)
        change += N * p[cohort[s]] * (y[s] - x) / S
    x += change - state.h / h.alpha


def server_forgets_the_rest(state, cohort, work, p, y, local, h):
    x, N, S = state.x, p.size - 1, cohort.size
    change = np.zeros(x.size)
    for s in range(S):
        state.h_i[cohort[s]] -= h.alpha * (y[s] - x)
        state.h[:] -= (
            h.alpha * N / S * p[cohort[s]] * (y[s] - x)
        )  # a mean over the cohort instead of over all N
        change += N * p[cohort[s]] * (y[s] - x) / S
    x += change - state.h / h.alpha


@pytest.mark.parametrize(
    "role, kernel, S",
    [("local_step", gradient_without_memory, 6), ("aggregate", memory_of_the_opposite_sign, 6)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_wrong_variant_is_caught(role, kernel, S):
    assert not is_fixed_at_the_minimiser(
        replace(feddyn.ALGORITHM, **{role: kernel}), S=S, rounds=400
    )


def test_a_server_memory_over_the_cohort_alone_breaks_the_invariant_alone():
    """h = (N/S) sum p_i h_i then, and h = 0 at a fixed point all the same."""
    wrong = replace(feddyn.ALGORITHM, aggregate=server_forgets_the_rest)
    assert is_fixed_at_the_minimiser(wrong, S=3, rounds=400)
    for algorithm, holds in ((wrong, False), (feddyn.ALGORITHM, True)):
        s = state(ft.run(OWN, algorithm, rounds=4, S=3, eta_l=0.1, alpha=1.0, K=4))
        assert np.allclose(s.h, OWN.weights @ s.h_i, rtol=0, atol=1e-13) is holds


def test_the_server_memory_follows_a_shift_of_the_objective():
    part = Participation(departures=(Departure(2, 5),))
    r = ft.run(OWN, "feddyn", rounds=12, S=3, eta_l=0.1, alpha=1.0, K=4, participation=part)
    p = OWN.weights * part.members(11, OWN.N)
    np.testing.assert_allclose(state(r).h, p @ state(r).h_i / p.sum(), rtol=0, atol=1e-13)
    left = OWN.reweighted((OWN.weights * part.members(11, OWN.N))[1:])
    end = ft.run(
        OWN, "feddyn", rounds=900, S=3, eta_l=0.1, alpha=1.0, K=4, participation=part, metrics=()
    ).final[0]
    np.testing.assert_allclose(end, left.minimizer(), atol=1e-9)
    assert np.linalg.norm(end - OWN.minimizer()) > 1e-2
