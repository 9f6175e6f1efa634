"""1-way gradient transfer against rounds worked by hand, its fixed point, and its kinship to PT at
K = 1."""

from dataclasses import replace
from fractions import Fraction as Q
from math import sqrt

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.algorithms import one_way_gt
from fedtheory.participation import Participation, steps

# Curvatures and minimisers of f_c and three clients, d = 2; dyadic, so floats hold them exactly.
A = [[1.0, 0.5], [2.0, 1.0], [1.0, 1.5], [0.5, 1.0]]
B = [[4.0, -1.0], [1.0, 2.0], [-2.0, 0.5], [3.0, 1.0]]
RATES = dict(eta=0.125, eta_s=1.5, K=3)


def problem(A=A, B=B, **kw):
    return ft.problems.quadratic_from_arrays(np.array(A), np.array(B), **kw)


def run(problem, rounds, x_0, algorithm="one_way_gt", **kw):
    return ft.run(
        problem, algorithm, rounds=rounds, x_0=np.array(x_0), keep="x", metrics=(), **kw
    ).x[0]


def by_hand(A, B, x, rounds, eta, eta_s, K, work=None):
    """Algorithm 2 under SGD in exact rationals, coordinates apart; row 0 is f_c."""
    A, B = [[list(map(Q, row)) for row in M] for M in (A, B)]
    eta, eta_s = Q(eta), Q(eta_s)
    N, d = len(A) - 1, len(B[0])
    work = work or [K] * N
    path = [list(map(Q, x))]
    for _ in range(rounds):
        x, new = path[-1], []
        for j in range(d):
            g_c = A[0][j] * (x[j] - B[0][j])
            total = Q(0)
            for i in range(1, N + 1):
                y = x[j]
                for _ in range(work[i - 1]):
                    y = y - eta * (A[i][j] * (y - B[i][j]) + g_c)
                total += work[i - 1] * (y - x[j])
            new.append(x[j] + eta_s * total / sum(work))
        path.append(new)
    return np.array(path, dtype=float)


def test_a_round_worked_by_hand():
    # f_c = (x-4)^2/2, f_1 = (x-1)^2, x = 0: g_c = -4. Client steps of 1/4 on 2(y-1) - 4: 0, 3/2,
    # 9/4. Server: 2 * 9/4.
    x = run(problem([[1.0], [2.0]], [[4.0], [1.0]]), 1, [0.0], eta=0.25, eta_s=2.0, K=2)
    assert x[1, 0] == 9 / 2


def test_rounds_in_exact_rationals():
    np.testing.assert_allclose(
        run(problem(), 4, [1.0, -2.0], **RATES), by_hand(A, B, [1, -2], 4, **RATES), rtol=1e-13
    )


def flipped(state, i, k, y, g, local, h):
    y -= h.eta * (g - state.g_c)


def without(state, i, k, y, g, local, h):
    y -= h.eta * g


def stale(state, t, g, h):
    if t == 0:
        state.g_c[:] = g


@pytest.mark.parametrize(
    "damage", [dict(local_step=flipped), dict(local_step=without), dict(begin=stale)]
)
def test_a_damaged_copy_is_caught(damage):
    x = run(problem(), 4, [1.0, -2.0], replace(one_way_gt.ALGORITHM, **damage), **RATES)
    assert not np.allclose(x, by_hand(A, B, [1, -2], 4, **RATES), rtol=1e-3)


def test_clients_count_by_their_steps():
    part = Participation(work=steps([1, 3, 2]))
    np.testing.assert_allclose(
        run(problem(), 3, [1.0, -2.0], participation=part, **RATES),
        by_hand(A, B, [1, -2], 3, **RATES, work=[1, 3, 2]),
        rtol=1e-13,
    )


def descent(x, rounds, rate):
    """x - rate (grad f_c + mean grad f_i) in exact rationals."""
    path = [list(map(Q, x))]
    for _ in range(rounds):
        path.append(
            [
                z
                - Q(rate)
                * (
                    Q(A[0][j]) * (z - Q(B[0][j]))
                    + sum(Q(A[i][j]) * (z - Q(B[i][j])) for i in (1, 2, 3)) / 3
                )
                for j, z in enumerate(path[-1])
            ]
        )
    return np.array(path, dtype=float)


def test_at_one_step_it_is_parallel_training_and_both_are_gradient_descent():
    """K = 1: Delta_c + Delta_f = -eta_c g_c - eta_s eta g_f in PT, eta_s Delta = -eta_s eta (g_c +
    g_f) here."""
    one = run(problem(), 5, [1.0, -2.0], eta=0.125, eta_s=1.5)
    parallel = run(
        problem(), 5, [1.0, -2.0], "parallel_training", eta=0.125, eta_s=1.5, eta_c=0.1875
    )
    expected = descent([1, -2], 5, 0.1875)
    np.testing.assert_allclose(one, expected, rtol=1e-13)
    np.testing.assert_allclose(parallel, expected, rtol=1e-13)


@pytest.mark.parametrize(
    "options, same",
    [
        (dict(S=2, seed=3), True),  # the same cohorts
        (
            dict(client_opt="momentum", central_opt="momentum"),
            True,
        ),  # each forgets after its one step
        (dict(server_opt="adam"), False),  # PT shows SERVEROPT half of the gradient
        (
            dict(client_opt="adam", central_opt="adam"),
            False,
        ),  # two signs added are not the sign of a sum
        (dict(K=2), False),
    ],
)
def test_how_far_the_two_agree(options, same):
    parallel = run(
        problem(), 5, [1.0, -2.0], "parallel_training", eta=0.125, eta_c=0.125, **options
    )
    options.pop("central_opt", None)
    one = run(problem(), 5, [1.0, -2.0], eta=0.125, **options)
    assert np.allclose(one, parallel, rtol=1e-12) == same


def test_its_fixed_point_is_the_minimiser_where_clients_are_alike():
    p = problem([[0.5], [2.0], [2.0]], [[4.0], [1.0], [1.0]])
    minimiser = (0.5 * 4 + 2 * 1) / (0.5 + 2)
    for options in (
        dict(eta=0.2, eta_s=0.8, K=4),
        dict(eta=0.1, K=3, client_opt="momentum", beta_1=0.5),
        dict(eta=0.1, eta_s=0.5, K=3, server_opt="momentum", beta_1=0.5),
    ):
        assert run(p, 300, [0.0], **options)[-1, 0] == pytest.approx(minimiser, rel=1e-11)


def test_but_not_where_they_differ():
    # At rest sum_i r_i (x - b_i + g_c / a_i) = 0 with g_c = a_c (x - b_c) and r_i = 1 - (1 - eta
    # a_i)^K.
    (a_c, b_c), clients, eta = (0.5, 4.0), [(2.0, 1.0), (0.5, -3.0)], 0.25

    def rest(K):
        r = [1 - (1 - eta * a) ** K for a, _ in clients]
        left = sum(r_i * (1 + a_c / a) for r_i, (a, _) in zip(r, clients))
        right = sum(r_i * (b + a_c / a * b_c) for r_i, (a, b) in zip(r, clients))
        return right / left

    p = problem([[a_c], *[[a] for a, _ in clients]], [[b_c], *[[b] for _, b in clients]])
    minimiser = (a_c * b_c + sum(a * b for a, b in clients) / 2) / (
        a_c + sum(a for a, _ in clients) / 2
    )
    for K in (1, 5):
        assert run(p, 300, [0.0], eta=eta, K=K)[-1, 0] == pytest.approx(rest(K), rel=1e-11)
    assert rest(1) == pytest.approx(minimiser, rel=1e-14)
    assert abs(rest(5) - minimiser) > 0.1


def test_adam_on_the_server_by_hand():
    # One client, d = 1, K = 1: SERVEROPT sees -Delta = eta (f_1' + f_c').
    x, m, v, path = 0.3, 0.0, 0.0, [0.3]
    for t in range(1, 4):
        u = 0.2 * (2.0 * (x - 1.0) + 0.5 * (x - 4.0))
        m, v = 0.8 * m + 0.2 * u, 0.9 * v + 0.1 * u * u
        x -= 0.05 * (m / (1 - 0.8**t)) / (sqrt(v / (1 - 0.9**t)) + 1e-3)
        path.append(x)
    got = run(
        problem([[0.5], [2.0]], [[4.0], [1.0]]),
        3,
        [0.3],
        eta=0.2,
        eta_s=0.05,
        server_opt="adam",
        beta_1=0.8,
        beta_2=0.9,
        epsilon=1e-3,
    )
    np.testing.assert_allclose(got[:, 0], path, rtol=1e-13)


@pytest.mark.parametrize("kind", ["sgd", "momentum", "adam"])
def test_compiled_equals_interpreted(kind):
    runs = [
        run(
            problem(sigma=0.3, sigma_0=0.2),
            3,
            [1.0, -2.0],
            S=2,
            compiled=compiled,
            client_opt=kind,
            server_opt=kind,
            **RATES,
        )
        for compiled in (None, False)
    ]
    np.testing.assert_allclose(*runs, rtol=1e-13)
