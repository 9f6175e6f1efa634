"""SCAFFOLD against rounds worked by hand and exact rationals, its invariant, its fixed point, and
wrong variants."""

import warnings
from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.algorithms import scaffold
from fedtheory.errors import Diverged, InvalidInput
from fedtheory.jit import python
from fedtheory.participation import Arrival, Departure, Participation, uniform

from .rational import EVEN, LINE, PLANE, START, close, cohorts, vector


def state(r):
    return scaffold.State(*(slab[0] for slab in r._state))


@pytest.mark.parametrize(
    "option, first, c", [("II", (-7 / 8, 3 / 2), 5 / 16), ("I", (-1.0, 2.0), 1 / 2)]
)
def test_a_round_worked_by_hand(option, first, c):
    # Round 1 is FedAvg's: from 0 in two steps of 1/4 to 7/16 and -3/4, mean -5/32. Option II: c_1 =
    # -(7/16) / (2/4) and c_2 = (3/4) / (2/4). Option I: the gradients at 0.
    r = ft.run(LINE.problem, "scaffold", rounds=1, eta_l=0.25, K=2, option=option)
    assert r.final[0, 0] == -5 / 32
    assert state(r).c_i[1:, 0].tolist() == list(first) and state(r).c[0] == c


def test_a_second_round_worked_by_hand():
    # From -5/32. Client 1 adds c - c_1 = 38/32 to its gradients -37/32 and -149/128: -21/128, then
    # -87/512. Client 2 adds -38/32 to 54/32 and 46/32: -9/32, then -11/32. Mean: -263/1024.
    assert LINE.run("scaffold", 2, eta_l=0.25, K=2)[2, 0] == -263 / 1024


def rounds_of(f, rounds, S, seed, eta_l, eta_g, K, option):
    x, c_i, path = vector(START), [vector([0] * f.d)] * (f.N + 1), [vector(START)]
    for cohort in cohorts(rounds, S, f.N, seed):
        c = sum(p * v for p, v in zip(f.p, c_i))
        new, change = list(c_i), 0
        for i in cohort:
            y = x
            for _ in range(K):
                y = y - eta_l * (f.grad(i, y) - c_i[i] + c)
            new[i] = f.grad(i, x) if option == "I" else c_i[i] - c + (x - y) / (K * eta_l)
            change += f.N * f.p[i] * (y - x) / S
        x, c_i = x + eta_g * change, new
        path.append(x)
    return path


@pytest.mark.parametrize("f", [EVEN, PLANE], ids=["even", "weighted"])
@pytest.mark.parametrize("option", ["I", "II"])
@pytest.mark.parametrize("S", [2, 4])
def test_rounds_in_exact_rationals(f, option, S):
    x = f.run("scaffold", 4, START, eta_l=0.125, eta_g=0.75, K=2, option=option, S=S, seed=4)
    assert close(x, rounds_of(f, 4, S, 4, Q(1, 8), Q(3, 4), 2, option))
    assert not close(x, rounds_of(f, 4, S, 4, Q(1, 8), Q(3, 4), 2, "II" if option == "I" else "I"))


def test_the_options_agree_where_the_local_mean_gradient_is_the_gradient_at_x():
    """K = 1, exact gradients: c_i - c + (x - y) / eta_l = grad f_i(x). With K = 2 they differ."""
    one, two = (
        PLANE.run("scaffold", 60, START, eta_l=0.1, K=1, S=2, option=option)
        for option in ("I", "II")
    )
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-13)
    one, two = (
        PLANE.run("scaffold", 60, START, eta_l=0.1, K=2, S=2, option=option)
        for option in ("I", "II")
    )
    assert np.max(abs(one - two)) > 1e-3


OWN = ft.problems.quadratic(
    3, 6, L=2.0, mu=0.4, G=2.0, hessian="own_dense", seed=8, weights=[1, 2, 3, 1, 1, 2]
)


def gap(algorithm, S=OWN.N, rounds=500, **kw):
    """Distance to the minimiser after many exact-gradient rounds; infinite if the run diverged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Diverged)
        final = ft.run(OWN, algorithm, rounds=rounds, S=S, eta_l=0.1, K=4, metrics=(), **kw).final[
            0
        ]
    return float(np.nan_to_num(np.linalg.norm(final - OWN.minimizer()), nan=np.inf))


def is_fixed_at_the_minimiser(algorithm, **kw):
    return gap(algorithm, **kw) < 1e-10


@pytest.mark.parametrize("option", ["I", "II"])
@pytest.mark.parametrize("S", [6, 2])
def test_it_ends_at_the_minimiser(option, S):
    assert is_fixed_at_the_minimiser("scaffold", S=S, option=option)
    assert not is_fixed_at_the_minimiser("fedavg", S=S) and gap("fedavg", S=S) > 0.01


# Mistakes that implementations are known to make, each a copy of one kernel.
def flipped_correction(state, i, k, y, g, local, h):
    for j in range(y.size):
        y[j] -= h.eta_l * (g[j] + state.c_i[i, j] - state.c[j])


def server_variate_without_the_cohort_s_share(state, cohort, work, p, y, local, h):
    x, S, N = state.x, cohort.size, p.size - 1
    change = sum(N * p[cohort[s]] * (y[s] - x) for s in range(S)) / S
    for s in range(S):
        state.c[:] += N * p[cohort[s]] / S * (local.c_plus[s] - state.c_i[cohort[s]])
        state.c_i[cohort[s]] = local.c_plus[s]
    x += h.eta_g * change


def client_variate_never_kept(state, cohort, work, p, y, local, h):
    x, S, N = state.x, cohort.size, p.size - 1
    for s in range(S):
        state.c[:] += p[cohort[s]] * (local.c_plus[s] - state.c_i[cohort[s]])
    x += h.eta_g * sum(N * p[cohort[s]] * (y[s] - x) for s in range(S)) / S


def variate_of_the_opposite_sign(state, i, s, y, local, h):
    local.c_plus[:] = state.c_i[i] - state.c - (state.x - y) / (s * h.eta_l)


def variate_that_forgets_itself(state, i, s, y, local, h):
    local.c_plus[:] = (state.x - y) / (s * h.eta_l) - state.c


@pytest.mark.parametrize(
    "role, kernel, S",
    [
        ("local_step", flipped_correction, 6),
        ("aggregate", client_variate_never_kept, 2),
        ("local_end", variate_of_the_opposite_sign, 6),
        ("local_end", variate_that_forgets_itself, 6),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_wrong_variant_is_caught(role, kernel, S):
    wrong = replace(scaffold.ALGORITHM, **{role: kernel})
    assert not is_fixed_at_the_minimiser(wrong, S=S, rounds=250)


def test_the_interpreted_original_is_not_caught():
    interpreted = replace(
        scaffold.ALGORITHM, local_step=python(scaffold.local_step)
    )  # runs where wrong variants run
    assert gap(interpreted, S=2, rounds=250) < 1e-6


def test_a_server_variate_without_the_cohort_s_share_breaks_the_invariant_alone():
    """c = (N/S) sum p_i c_i then, whose fixed point has c = 0 all the same: the invariant is what
    catches it."""
    wrong = replace(scaffold.ALGORITHM, aggregate=server_variate_without_the_cohort_s_share)
    assert is_fixed_at_the_minimiser(wrong, S=2, rounds=250)
    for algorithm, holds in ((wrong, False), (scaffold.ALGORITHM, True)):
        s = state(ft.run(OWN, algorithm, rounds=3, S=2, eta_l=0.1, K=4))
        assert np.allclose(s.c, OWN.weights @ s.c_i, rtol=0, atol=1e-13) is holds


@pytest.mark.parametrize("option", ["I", "II"])
def test_the_server_variate_is_the_mean_of_the_clients(option):
    noisy = replace(OWN, noise="gaussian", sigma=np.full(OWN.N + 1, 0.5))
    part = Participation(
        work=uniform(0, 3), arrivals=(Arrival(2, 10),), departures=(Departure(5, 20),)
    )
    for rounds in (1, 9, 11, 30):
        r = ft.run(
            noisy, "scaffold", rounds=rounds, S=3, eta_l=0.1, K=3, option=option, participation=part
        )
        p = part.members(rounds - 1, OWN.N) * OWN.weights
        np.testing.assert_allclose(state(r).c, p @ state(r).c_i / p.sum(), rtol=0, atol=1e-13)
        assert np.max(abs(state(r).c)) > 0.01


def test_an_idle_client_keeps_its_variate():
    never = Participation(work=ft.participation.steps([3, 0, 3, 3, 3, 3]))
    for option in ("I", "II"):
        r = ft.run(OWN, "scaffold", rounds=5, eta_l=0.1, K=3, option=option, participation=never)
        assert np.all(state(r).c_i[2] == 0) and np.all(
            np.any(state(r).c_i[[1, 3, 4, 5, 6]] != 0, axis=1)
        )


def test_incomplete_work_still_ends_at_the_minimiser():
    """y = x and c_i = grad f_i(x*) is fixed whatever each client's s; dividing by K instead of s
    moves it."""
    some = Participation(work=ft.participation.steps([1, 2, 3, 4, 4, 2]))
    assert gap("scaffold", participation=some) < 1e-10


def test_it_refuses_a_cohort_that_holds_a_client_twice():
    with pytest.raises(InvalidInput, match="keep"):
        ft.run(
            OWN, "scaffold", rounds=1, S=3, eta_l=0.1, participation=Participation(cohort="with")
        )
    with pytest.raises(InvalidInput, match="option must be one of II, I; got 'III'"):
        ft.run(OWN, "scaffold", rounds=1, eta_l=0.1, option="III")
