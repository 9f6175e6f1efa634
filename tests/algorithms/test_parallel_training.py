"""Parallel training against rounds worked by hand, its fixed point, and its optimisers."""

from dataclasses import replace
from fractions import Fraction as Q
from math import sqrt

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.algorithms import parallel_training as pt
from fedtheory.participation import Participation, distribution, steps

# Curvatures and minimisers of f_c and three clients, d = 2; dyadic, so floats hold them exactly.
A = [[1.0, 0.5], [2.0, 1.0], [1.0, 1.5], [0.5, 1.0]]
B = [[4.0, -1.0], [1.0, 2.0], [-2.0, 0.5], [3.0, 1.0]]
RATES = dict(eta=0.125, eta_s=1.5, eta_c=0.25, eta_m=0.75, K=3)


def problem(A=A, B=B, **kw):
    return ft.problems.quadratic_from_arrays(np.array(A), np.array(B), **kw)


def run(problem, rounds, x_0, algorithm="parallel_training", **kw):
    return ft.run(
        problem, algorithm, rounds=rounds, x_0=np.array(x_0), keep="x", metrics=(), **kw
    ).x[0]


def by_hand(A, B, x, rounds, eta, eta_s, eta_c, eta_m, K, work=None, weights=None):
    """Algorithm 1 under SGD in exact rationals, coordinates apart; row 0 is f_c."""
    A, B = [[list(map(Q, row)) for row in M] for M in (A, B)]
    eta, eta_s, eta_c, eta_m = map(Q, (eta, eta_s, eta_c, eta_m))
    N, d = len(A) - 1, len(B[0])
    work = work or [K] * N
    weights = weights or [1] * N
    path = [list(map(Q, x))]
    for _ in range(rounds):
        x, new = path[-1], []
        for j in range(d):
            c = x[j]
            for _ in range(K):
                c = c - eta_c * A[0][j] * (c - B[0][j])
            total = share = Q(0)
            for i in range(1, N + 1):
                y = x[j]
                for _ in range(work[i - 1]):
                    y = y - eta * A[i][j] * (y - B[i][j])
                total += work[i - 1] * weights[i - 1] * (y - x[j])
                share += work[i - 1] * weights[i - 1]
            change = total / share if share else Q(0)
            new.append(x[j] + eta_m * ((c - x[j]) + eta_s * change))
        path.append(new)
    return np.array(path, dtype=float)


def test_a_round_worked_by_hand():
    # f_c = (x-4)^2/2, f_1 = (x-1)^2, x = 0. Central steps of 1/2: 0, 2, 3. Client steps of 1/4,
    # gradient 2(x-1): 0, 1/2, 3/4. Server: 2 * 3/4. Merge: (3 + 3/2) / 2.
    x = run(
        problem([[1.0], [2.0]], [[4.0], [1.0]]),
        1,
        [0.0],
        eta=0.25,
        eta_s=2.0,
        eta_c=0.5,
        eta_m=0.5,
        K=2,
    )
    assert x[1, 0] == 9 / 4


def test_rounds_in_exact_rationals():
    np.testing.assert_allclose(
        run(problem(), 4, [1.0, -2.0], **RATES), by_hand(A, B, [1, -2], 4, **RATES), rtol=1e-13
    )


@pytest.mark.parametrize(
    "role, wrong",
    [
        (
            "end",
            lambda state, h: state.x.__iadd__(h.eta_m * (2 * state.x - state.w - state.x_f)),
        ),  # merge's sign
        (
            "end",
            lambda state, h: state.x.__iadd__(h.eta_m * (state.w + state.x_f - 2 * state.x) / 2),
        ),  # a mean, no sum
        ("server_step", lambda state, k, g, h: state.x.__isub__(h.eta_c * g)),  # on x, not on x_c
    ],
)
def test_a_damaged_copy_is_caught(role, wrong):
    damaged = replace(pt.ALGORITHM, **{role: wrong})
    x = run(problem(), 4, [1.0, -2.0], damaged, **RATES)
    assert not np.allclose(x, by_hand(A, B, [1, -2], 4, **RATES), rtol=1e-3)


def test_clients_count_by_their_steps():
    part = Participation(work=steps([1, 3, 2]))
    expected = by_hand(A, B, [1, -2], 3, **RATES, work=[1, 3, 2])
    np.testing.assert_allclose(
        run(problem(), 3, [1.0, -2.0], participation=part, **RATES), expected, rtol=1e-13
    )
    assert not np.allclose(expected, by_hand(A, B, [1, -2], 3, **RATES))


def test_or_by_their_samples():
    part = Participation(work=steps([1, 3, 2]))
    expected = by_hand(A, B, [1, -2], 3, **RATES, work=[1, 3, 2], weights=[5, 1, 2])
    got = run(
        problem(weights=[5.0, 1.0, 2.0]),
        3,
        [1.0, -2.0],
        participation=part,
        weighting="samples",
        **RATES,
    )
    np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_a_cohort_at_rest_leaves_the_central_steps():
    part = Participation(work=distribution([1.0, 0.0, 0.0, 0.0]))
    expected = by_hand(A, B, [1, -2], 3, **RATES, work=[0, 0, 0])
    np.testing.assert_allclose(
        run(problem(), 3, [1.0, -2.0], participation=part, **RATES), expected, rtol=1e-13
    )


def test_its_fixed_point_is_biased_where_rates_or_curvatures_differ():
    # d = 1, like clients: 0 = Delta_c + Delta_f = -r_c (x - b_c) - eta_s r_f (x - b_f), r = 1 - (1
    # - eta a)^K.
    a_c, b_c, a_f, b_f = 0.5, 4.0, 2.0, 1.0
    p = problem([[a_c], [a_f], [a_f]], [[b_c], [b_f], [b_f]])
    minimiser = (a_c * b_c + a_f * b_f) / (a_c + a_f)

    def rest(eta, eta_s, eta_c, K):
        r_c, r_f = 1 - (1 - eta_c * a_c) ** K, eta_s * (1 - (1 - eta * a_f) ** K)
        return (r_c * b_c + r_f * b_f) / (r_c + r_f)

    for rates in (
        dict(eta=0.25, eta_s=1.0, eta_c=0.25, K=4),
        dict(eta=0.2, eta_s=1.0, eta_c=0.1, K=1),
    ):
        assert run(p, 200, [0.0], **rates)[-1, 0] == pytest.approx(rest(**rates), rel=1e-12)
        assert abs(rest(**rates) - minimiser) > 0.1
    one = dict(
        eta=0.2, eta_s=0.5, eta_c=0.1, K=1
    )  # eta_c = eta eta_s and one step: plain gradient descent on f
    assert rest(**one) == pytest.approx(minimiser, rel=1e-14)
    assert run(p, 300, [0.0], **one)[-1, 0] == pytest.approx(minimiser, rel=1e-12)


class Adam:
    """Kingma and Ba, written from their algorithm 1; `corrected` False leaves the bias in."""

    def __init__(self, eta, beta_1, beta_2, epsilon, corrected):
        self.given, self.m, self.v, self.t = (eta, beta_1, beta_2, epsilon, corrected), 0.0, 0.0, 0

    def __call__(self, x, g):
        eta, beta_1, beta_2, epsilon, corrected = self.given
        self.t += 1
        self.m = beta_1 * self.m + (1 - beta_1) * g
        self.v = beta_2 * self.v + (1 - beta_2) * g * g
        m, v = self.m, self.v
        if corrected:
            m, v = m / (1 - beta_1**self.t), v / (1 - beta_2**self.t)
        return x - eta * m / (sqrt(v) + epsilon)


class Momentum:
    def __init__(self, eta, beta):
        self.eta, self.beta, self.m = eta, beta, 0.0

    def __call__(self, x, g):
        self.m = self.beta * self.m + g
        return x - self.eta * self.m


def with_optimizers(rounds, x, kinds, K, kept, corrected):
    """One central and one client curve in d = 1 under any optimisers, straight from algorithm 1."""
    rates = dict(client=0.2, server=0.7, central=0.3, merge=0.9)

    def new(role):
        if kinds[role] == "adam":
            return Adam(rates[role], 0.8, 0.9, 1e-3, corrected)
        return Momentum(rates[role], 0.8 if kinds[role] == "momentum" else 0.0)

    server, merge, central = new("server"), new("merge"), new("central")
    path = [x]
    for _ in range(rounds):
        central = central if kept else new("central")
        c = y = x
        for _ in range(K):
            c = central(c, 0.5 * (c - 4.0))
        client = new("client")
        for _ in range(K):
            y = client(y, 2.0 * (y - 1.0))
        x_f = server(x, -(y - x))
        x = merge(x, -((c - x) + (x_f - x)))
        path.append(x)
    return path


ROLES = ("client", "server", "central", "merge")
MIXES = [
    dict.fromkeys(ROLES, "momentum"),
    dict.fromkeys(ROLES, "adam"),
    dict(client="adam", server="momentum", central="sgd", merge="sgd"),
    dict(client="sgd", server="adam", central="momentum", merge="adam"),
]


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize("kinds", MIXES)
def test_every_optimiser_in_every_place(kinds, corrected, kept):
    options = {f"{role}_opt": kind for role, kind in kinds.items()}
    x = run(
        problem([[0.5], [2.0]], [[4.0], [1.0]]),
        4,
        [0.3],
        eta=0.2,
        eta_s=0.7,
        eta_c=0.3,
        eta_m=0.9,
        K=3,
        beta_1=0.8,
        beta_2=0.9,
        epsilon=1e-3,
        bias_correction="yes" if corrected else "no",
        central_memory="kept" if kept else "reset",
        **options,
    )
    np.testing.assert_allclose(
        x[:, 0], with_optimizers(4, 0.3, kinds, 3, kept, corrected), rtol=1e-12
    )


def test_the_optimisers_leave_different_traces():
    """The check above would not pass one optimiser, memory or correction for another."""
    traces = [
        with_optimizers(4, 0.3, kinds, 3, kept, corrected)[-1]
        for kinds in MIXES
        for kept in (False, True)
        for corrected in (True, False)
    ]
    plain = [with_optimizers(4, 0.3, dict.fromkeys(ROLES, "sgd"), 3, False, True)[-1]]
    distinct = {round(x, 9) for x in traces + plain}
    # Correction is idle without Adam, and central memory under SGD: 2 + 4 + 2 + 4 distinct ends,
    # and SGD's.
    assert len(distinct) == 13


def test_momentum_without_memory_is_sgd():
    kinds = {f"{role}_opt": "momentum" for role in ROLES}
    x = run(problem(), 3, [1.0, -2.0], beta_1=0.0, **kinds, **RATES)
    assert np.array_equal(x, run(problem(), 3, [1.0, -2.0], **RATES))


@pytest.mark.parametrize("kind", ["sgd", "momentum", "adam"])
def test_compiled_equals_interpreted(kind):
    kinds = {f"{role}_opt": kind for role in ROLES}
    runs = [
        run(
            problem(sigma=0.3, sigma_0=0.2),
            3,
            [1.0, -2.0],
            S=2,
            compiled=compiled,
            **kinds,
            **RATES,
        )
        for compiled in (None, False)
    ]
    np.testing.assert_allclose(*runs, rtol=1e-13)


def test_words_and_rates_are_checked():
    for bad in (dict(client_opt="rmsprop"), dict(eta_s=-1.0), dict(beta_1=1.0), dict(epsilon=0.0)):
        with pytest.raises(ft.errors.InvalidInput, match=next(iter(bad))):
            run(problem(), 1, [0.0, 0.0], **{**RATES, **bad})
