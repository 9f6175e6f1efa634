"""2-way gradient transfer against rounds worked by hand, its fixed points, and A.3's sentence on K
= 1."""

from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.algorithms import two_way_gt
from fedtheory.participation import Participation, distribution, steps

# Curvatures and minimisers of f_c and three clients, d = 2; dyadic, so floats hold them exactly.
A = [[1.0, 0.5], [2.0, 1.0], [1.0, 1.5], [0.5, 1.0]]
B = [[4.0, -1.0], [1.0, 2.0], [-2.0, 0.5], [3.0, 1.0]]
RATES = dict(eta=0.125, eta_s=1.5, eta_c=0.25, eta_m=0.75, K=3)
TRANSFERS = ("gradients", "deltas", "listing")


def problem(A=A, B=B, **kw):
    return ft.problems.quadratic_from_arrays(np.array(A), np.array(B), **kw)


def run(problem, rounds, x_0, algorithm="two_way_gt", **kw):
    return ft.run(
        problem, algorithm, rounds=rounds, x_0=np.array(x_0), keep="x", metrics=(), **kw
    ).x[0]


def by_hand(A, B, x, rounds, eta, eta_s, eta_c, eta_m, K, divisor=None, work=None):
    """Algorithm 1 under SGD in exact rationals, coordinates apart, its gradients from deltas as
    printed; `divisor` replaces the eta under Delta_c."""
    A, B = [[list(map(Q, row)) for row in M] for M in (A, B)]
    eta, eta_s, eta_c, eta_m = map(Q, (eta, eta_s, eta_c, eta_m))
    divisor = eta if divisor is None else Q(divisor)
    N, d = len(A) - 1, len(B[0])
    work = work or [K] * N
    x, t_c, t_f = list(map(Q, x)), [Q(0)] * d, [Q(0)] * d
    path = [list(x)]
    for _ in range(rounds):
        for j in range(d):
            c = x[j]
            for _ in range(K):
                c = c - eta_c * (A[0][j] * (c - B[0][j]) + t_f[j])
            deltas = []
            for i in range(1, N + 1):
                y = x[j]
                for _ in range(work[i - 1]):
                    y = y - eta * (A[i][j] * (y - B[i][j]) + t_c[j])
                deltas.append(y - x[j])
            change = sum(s * delta for s, delta in zip(work, deltas)) / sum(work)
            d_c = c - x[j]
            t_c[j], t_f[j] = (
                -d_c / (divisor * K) - t_f[j],
                -sum(deltas) / (eta * sum(work)) - t_c[j],
            )
            x[j] += eta_m * (d_c + eta_s * change)
        path.append(list(x))
    return np.array(path, dtype=float)


def test_two_rounds_worked_by_hand():
    # f_c = (x-4)^2/2, f_1 = (x-1)^2, x = 0, steps of 1/4. Round 1, nothing to transfer: Delta_c =
    # 1, Delta_f = 1/2. Then g~_c = -4, g~_f = -2. Round 2 at 3/2: Delta_c = (5/2 + 2) / 4 = 9/8,
    # Delta_f = (-1 + 4) / 4 = 3/4.
    p = problem([[1.0], [2.0]], [[4.0], [1.0]])
    x = run(p, 2, [0.0], eta=0.25, eta_c=0.25)
    assert x[:, 0].tolist() == [0, 3 / 2, 27 / 8]
    # Two steps on the first point, so that g~ is a mean: x_c = 0, 1, 7/4 and y = 0, 1/2, 3/4; x =
    # 5/2. g~_c = -(4 + 3)/2, g~_f = -(2 + 1)/2. x_c: 5/2, 13/4, 61/16; y: 5/2, 21/8, 43/16.
    x = run(p, 2, [0.0], eta=0.25, eta_c=0.25, K=2)
    assert x[:, 0].tolist() == [0, 5 / 2, 5 / 2 + (61 / 16 - 5 / 2) + (43 / 16 - 5 / 2)]


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_rounds_in_exact_rationals(transfer):
    divisor = RATES["eta"] if transfer == "listing" else RATES["eta_c"]
    np.testing.assert_allclose(
        run(problem(), 5, [1.0, -2.0], transfer=transfer, **RATES),
        by_hand(A, B, [1, -2], 5, **RATES, divisor=divisor),
        rtol=1e-12,
    )


def test_the_readings_differ_where_the_rates_do():
    read, printed = (
        by_hand(A, B, [1, -2], 5, **RATES, divisor=divisor) for divisor in (0.25, 0.125)
    )
    assert not np.allclose(read, printed, rtol=1e-2)
    same = {**RATES, "eta_c": 0.125}
    runs = [run(problem(), 5, [1.0, -2.0], transfer=transfer, **same) for transfer in TRANSFERS]
    np.testing.assert_allclose(runs[0], runs[1], rtol=1e-12)
    np.testing.assert_allclose(runs[0], runs[2], rtol=1e-12)


def clients_keep_the_sign(state, i, k, y, g, local, h):
    local.total[:] += g
    y -= h.eta * (g - state.g_c)


def centre_alone(state, k, g, h):
    state.total_c[:] += g
    state.w[:] -= h.eta_c * g


def nothing_transferred(state, h):
    state.x[:] += h.eta_m * (state.w + state.x_f - 2 * state.x)


@pytest.mark.parametrize(
    "damage",
    [
        dict(local_step=clients_keep_the_sign),
        dict(server_step=centre_alone),
        dict(end=nothing_transferred),
    ],
)
def test_a_damaged_copy_is_caught(damage):
    x = run(problem(), 5, [1.0, -2.0], replace(two_way_gt.ALGORITHM, **damage), **RATES)
    assert not np.allclose(x, by_hand(A, B, [1, -2], 5, **RATES, divisor=0.25), rtol=1e-3)


@pytest.mark.parametrize("transfer", TRANSFERS[:2])
def test_uneven_work(transfer):
    part = Participation(work=steps([1, 3, 0]))
    np.testing.assert_allclose(
        run(problem(), 4, [1.0, -2.0], participation=part, transfer=transfer, **RATES),
        by_hand(A, B, [1, -2], 4, **RATES, divisor=0.25, work=[1, 3, 0]),
        rtol=1e-12,
    )


def grad(x):
    """The exact gradient of f = f_c + mean f_i."""
    return [
        Q(A[0][j]) * (z - Q(B[0][j])) + sum(Q(A[i][j]) * (z - Q(B[i][j])) for i in (1, 2, 3)) / 3
        for j, z in enumerate(x)
    ]


def two_term(x, rounds, rate, first):
    """x^(t+1) = x^(t) - rate (grad f(x^(t)) + grad f(x^(t-1))); `first` stands for the gradient
    before x^(0)."""
    x, before, path = list(map(Q, x)), first, []
    path.append(x)
    for _ in range(rounds):
        now = grad(x)
        x = [z - Q(rate) * (a + b) for z, a, b in zip(x, now, before)]
        before = now
        path.append(x)
    return np.array(path, dtype=float)


@pytest.mark.parametrize("transfer", TRANSFERS[:2])
def test_at_one_step_it_adds_the_gradient_of_the_round_before(transfer):
    """K = 1, eta_c = eta eta_s: Delta_c = -eta_c (g_c + g~_f), Delta_f = -eta_c (g_f + g~_c), and
    g~_c + g~_f is grad f one round ago. So PT and 1-w GT (gradient descent, tests of one_way_gt)
    are not this method."""
    rates = dict(eta=0.125, eta_s=1.5, eta_c=0.1875, eta_m=0.5)
    expected = two_term([1, -2], 6, 0.1875 * 0.5, [Q(0), Q(0)])
    np.testing.assert_allclose(
        run(problem(), 6, [1.0, -2.0], transfer=transfer, **rates), expected, rtol=1e-12
    )
    for other in (
        rates,
        {**rates, "eta_m": 1.0},
    ):  # neither at the same rates nor at the same total step
        parallel = run(problem(), 6, [1.0, -2.0], "parallel_training", **other)
        assert not np.allclose(parallel[2:], expected[2:], rtol=1e-2)


def test_at_one_step_it_is_stable_for_half_the_rates_of_the_others():
    """With a = eta times f's curvature: z^2 - (1 - a) z + a has its roots inside the circle iff a <
    1; gradient descent, z = 1 - a, iff a < 2. Averaging the deltas (eta_m = 1/2) gives 2-w GT the
    range of the others."""
    p = problem([[1.0], [1.0]], [[4.0], [1.0]])  # curvature 2

    def end(algorithm, a, **kw):
        central = {} if algorithm == "one_way_gt" else dict(eta_c=a / 2)
        return abs(run(p, 800, [0.0], algorithm, eta=a / 2, **central, **kw)[-1, 0] - 2.5)

    assert end("two_way_gt", 0.95) < 1e-3 and end("two_way_gt", 1.05) > 1e3
    for algorithm in ("parallel_training", "one_way_gt"):
        assert (
            end(algorithm, 1.05) < 1e-12
            and end(algorithm, 1.95) < 1e-6
            and end(algorithm, 2.05) > 1e3
        )
    assert end("two_way_gt", 1.95, eta_m=0.5) < 1e-3 and end("two_way_gt", 2.05, eta_m=0.5) > 1e3


def test_a_first_round_of_rate_zero_is_an_exact_start():
    rates = dict(eta=[0.0] + [0.125] * 4, eta_c=[0.0] + [0.125] * 4, eta_m=0.5)
    x = run(problem(), 5, [1.0, -2.0], **rates)
    assert np.array_equal(x[1], x[0])
    expected = two_term([1, -2], 4, 0.0625, grad([Q(1), Q(-2)]))
    np.testing.assert_allclose(x[1:], expected, rtol=1e-12)
    for transfer in TRANSFERS[1:]:  # no gradient can be read off a delta of zero: a start from zero
        np.testing.assert_allclose(
            run(problem(), 5, [1.0, -2.0], transfer=transfer, **rates)[1:],
            two_term([1, -2], 4, 0.0625, [Q(0), Q(0)]),
            rtol=1e-12,
        )


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize(
    "rates", [dict(eta=0.1, eta_c=0.1, K=4), dict(eta=0.1, eta_s=0.5, eta_c=0.08, eta_m=0.5, K=3)]
)
def test_its_fixed_point_is_the_minimiser_where_clients_are_alike(rates, transfer):
    # At rest Delta_c and Delta_f are both negative multiples of s = g~_c + g~_f, and their sum is
    # 0: so s = 0, and each side rests where its own gradient cancels the other's.
    p = problem([[0.5], [2.0], [2.0]], [[4.0], [1.0], [1.0]])
    x = run(p, 400, [0.0], transfer=transfer, **rates)
    assert x[-1, 0] == pytest.approx((0.5 * 4 + 2 * 1) / (0.5 + 2), rel=1e-11)


def test_but_not_where_they_differ():
    # Delta_c = 0 at rest, so g~_f = -a_c (x - b_c) = -g~_c, and the clients rest where those of 1-w
    # GT do: sum_i r_i (x - b_i + g~_c / a_i) = 0, r_i = 1 - (1 - eta a_i)^K.
    (a_c, b_c), clients, eta = (0.5, 4.0), [(2.0, 1.0), (0.5, -3.0)], 0.1

    def rest(K):
        r = [1 - (1 - eta * a) ** K for a, _ in clients]
        return sum(r_i * (b + a_c / a * b_c) for r_i, (a, b) in zip(r, clients)) / sum(
            r_i * (1 + a_c / a) for r_i, (a, _) in zip(r, clients)
        )

    p = problem([[a_c], *[[a] for a, _ in clients]], [[b_c], *[[b] for _, b in clients]])
    minimiser = (a_c * b_c + sum(a * b for a, b in clients) / 2) / (
        a_c + sum(a for a, _ in clients) / 2
    )
    for K in (1, 5):
        assert run(p, 600, [0.0], eta=eta, eta_c=eta, K=K)[-1, 0] == pytest.approx(
            rest(K), rel=1e-11
        )
    assert rest(1) == pytest.approx(minimiser, rel=1e-14)
    assert abs(rest(5) - minimiser) > 0.05


def test_gradients_are_transferred_whatever_the_client_optimiser():
    # Momentum at the client, one client, d = 1: g~_f is the mean of f_1' over its points, no
    # function of Delta.
    x, t_c, t_f, path = 0.3, 0.0, 0.0, [0.3]
    for _ in range(4):
        c = y = x
        m = own = central = 0.0
        for _ in range(3):
            g = 2.0 * (y - 1.0)
            m = 0.8 * m + g + t_c
            y, own = y - 0.05 * m, own + g
            g = 0.5 * (c - 4.0)
            c, central = c - 0.05 * (g + t_f), central + g
        t_c, t_f = central / 3, own / 3
        x += (c - x) + (y - x)
        path.append(x)
    p = problem([[0.5], [2.0]], [[4.0], [1.0]])
    options = dict(eta=0.05, eta_c=0.05, K=3, client_opt="momentum", beta_1=0.8)
    np.testing.assert_allclose(run(p, 4, [0.3], **options)[:, 0], path, rtol=1e-13)
    assert not np.allclose(run(p, 4, [0.3], transfer="deltas", **options)[:, 0], path, rtol=1e-2)


def test_a_cohort_at_rest_keeps_the_last_federated_gradient():
    # Work 1, then none for ever: g~_f stays at f_1'(x_0) and the centre descends f_c + g~_f x.
    p = problem([[1.0], [2.0]], [[4.0], [1.0]])
    here = Participation(departures=(ft.participation.Departure(1, 1, exclude=False),))
    x = run(p, 3, [0.0], eta=0.25, eta_c=0.25, participation=here)
    # 3/2 as above with g~_f = -2; then x + (4 - x + 2) / 4 = 21/8, then 111/32.
    assert x[:, 0].tolist() == [0, 3 / 2, 21 / 8, 111 / 32]
    none = Participation(work=distribution([1.0, 0.0]))
    x = run(p, 2, [0.0], eta=0.25, eta_c=0.25, participation=none)
    assert x[:, 0].tolist() == [0, 1, 7 / 4]


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("kind", ["sgd", "adam"])
def test_compiled_equals_interpreted(kind, transfer):
    kinds = {f"{role}_opt": kind for role in ("client", "server", "central", "merge")}
    runs = [
        run(
            problem(sigma=0.3, sigma_0=0.2),
            3,
            [1.0, -2.0],
            S=2,
            compiled=compiled,
            transfer=transfer,
            **kinds,
            **RATES,
        )
        for compiled in (None, False)
    ]
    np.testing.assert_allclose(*runs, rtol=1e-12)
