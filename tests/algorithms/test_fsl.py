"""FSL against rounds worked by hand, exact rationals, the short paper's listing, and FedAvg at
gamma = 0."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft

from .rational import EVEN, LINE, START, close, cohorts, vector


def test_a_round_worked_by_hand():
    # Clients as in FedAvg's round: the mean is -5/32. Server steps of gamma eta_0 = 1/4 on x - 3:
    # -5/32 + 101/128 = 81/128, then 81/128 + 303/512 = 627/512.
    x = LINE.run("fsl", 1, eta_l=0.25, K=2, eta_0=0.5, gamma=0.5, K_0=2)
    assert x[1, 0] == 627 / 512


def rounds_of(f, rounds, S, seed, eta_l, eta_g, K, server_step, K_0):
    path = [vector(START)]
    for cohort in cohorts(rounds, S, f.N, seed):
        x = path[-1]
        mean = sum(f.walk(i, x, eta_l, K) - x for i in cohort) / S
        path.append(f.walk(0, x + eta_g * mean, server_step, K_0))
    return path


@pytest.mark.parametrize("S", [1, 3, 4])
def test_rounds_in_exact_rationals(S):
    x = EVEN.run(
        "fsl", 3, START, eta_l=0.125, eta_g=0.75, K=3, eta_0=0.25, gamma=0.5, K_0=2, S=S, seed=3
    )
    assert close(x, rounds_of(EVEN, 3, S, 3, Q(1, 8), Q(3, 4), 3, Q(1, 8), 2))
    assert not close(x, rounds_of(EVEN, 3, S, 3, Q(1, 8), Q(3, 4), 3, Q(1, 4), 2))  # gamma left out


def test_the_short_paper_is_gamma_one_and_no_aggregation_step():
    """Algorithm 1 of the short paper: plain mean, then LOCALSGD with step eta_0."""
    path = [vector(START)]
    for cohort in cohorts(3, 2, EVEN.N):
        mean = sum(EVEN.walk(i, path[-1], Q(1, 8), 2) for i in cohort) / 2
        path.append(EVEN.walk(0, mean, Q(1, 4), 3))
    assert close(EVEN.run("fsl", 3, START, eta_l=0.125, K=2, eta_0=0.25, K_0=3, S=2), path)


@pytest.mark.parametrize("noise", ["gaussian", "rademacher"])
def test_without_weight_on_the_server_it_is_fedavg_bit_for_bit(noise):
    problem = ft.problems.quadratic(
        5,
        7,
        L=2.0,
        mu=0.3,
        G=1.0,
        xi_bar=0.7,
        sigma=0.4,
        sigma_0=0.3,
        noise=noise,
        hessian="own",
        seed=2,
    )
    common = dict(rounds=50, trials=3, seed=9, S=3, eta_l=0.07, eta_g=1.3, K=4, keep="x")
    server = dict(eta_0=0.1, K_0=5)
    plain = ft.run(problem, "fedavg", weighting="plain", **common)
    np.testing.assert_array_equal(ft.run(problem, "fsl", gamma=0.0, **server, **common).x, plain.x)
    assert not np.array_equal(ft.run(problem, "fsl", gamma=1e-3, **server, **common).x, plain.x)


def test_it_ends_between_the_two_objectives():
    """With K = K_0 = 1 the fixed point solves eta_l grad F(x) + gamma eta_0 grad f_0(x - eta_l grad
    F(x)) = 0, that is x (A + B - B A) = A x* + B b_0 - B A x*, coordinate by coordinate, A = eta_l
    H, B = gamma eta_0 a_0."""
    f, eta_l, eta_0, gamma = EVEN, Q(1, 8), Q(1, 4), Q(1, 2)
    A, B = eta_l * sum(p * a for p, a in zip(f.p, f.a)), gamma * eta_0 * f.a[0]
    star = f.minimizer()
    end = (A * star + B * f.b[0] - B * A * star) / (A + B - B * A)
    x = f.run("fsl", 400, START, eta_l=eta_l, eta_0=eta_0, gamma=gamma)[-1]
    np.testing.assert_allclose(x, end.astype(float), rtol=1e-12)
    assert np.max(abs(x - star.astype(float))) > 0.1
