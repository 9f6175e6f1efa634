"""FedAvg against rounds worked by hand, exact rationals, and the closed form of where it ends."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft

from .rational import EVEN, LINE, PLANE, START, close, cohorts, vector


def test_a_round_worked_by_hand():
    # x = 0, two steps of 1/4. Client 1: 0, 1/4, 7/16. Client 2: 0, -1/2, -3/4. Mean -5/32, times
    # eta_g = 2.
    assert LINE.run("fedavg", 1, eta_l=0.25, eta_g=2.0, K=2)[1, 0] == -5 / 16


@pytest.mark.parametrize("weighting", ["unbiased", "plain", "samples"])
@pytest.mark.parametrize("S", [1, 3, 4])
def test_rounds_in_exact_rationals(weighting, S):
    f, eta_l, eta_g = PLANE, Q(1, 8), Q(3, 4)
    path = [vector(START)]
    for cohort in cohorts(3, S, f.N, seed=5):
        total = sum(f.p[i] for i in cohort)
        share = dict(
            unbiased=lambda i: f.N * f.p[i] / S,
            plain=lambda i: Q(1, S),
            samples=lambda i: f.p[i] / total,
        )
        x = path[-1]
        path.append(
            x + eta_g * sum(share[weighting](i) * (f.walk(i, x, eta_l, 3) - x) for i in cohort)
        )
    x = f.run("fedavg", 3, START, eta_l=eta_l, eta_g=eta_g, K=3, S=S, seed=5, weighting=weighting)
    assert close(x, path)
    path[2] = path[2] + Q(1, 10**9)
    assert not close(x, path)


def test_the_three_weightings_agree_where_weights_are_equal():
    runs = [
        EVEN.run("fedavg", 20, START, eta_l=0.1, K=3, S=2, weighting=w)
        for w in ("unbiased", "plain", "samples")
    ]
    np.testing.assert_allclose(runs[1:], [runs[0]] * 2, rtol=1e-13)


@pytest.mark.parametrize("f", [EVEN, PLANE], ids=["even", "weighted"])
@pytest.mark.parametrize("K", [1, 2, 10])
def test_it_ends_where_the_recursion_says_which_is_not_the_minimiser(f, K):
    """K steps take client i from x to b_i + (1 - eta a_i)^K (x - b_i): a change of -phi_i (x - b_i)
    with phi_i = 1 - (1 - eta a_i)^K. The sum of p_i phi_i (x - b_i) vanishes at the mean of b
    weighted by p phi."""
    eta = Q(1, 4)
    phi = [1 - (1 - eta * a) ** K for a in f.a]
    end = sum(p * w * b for p, w, b in zip(f.p, phi, f.b)) / sum(p * w for p, w in zip(f.p, phi))
    x = f.run("fedavg", 400, START, eta_l=eta, K=K)[-1]
    np.testing.assert_allclose(x, end.astype(float), rtol=1e-12)
    gap = np.max(abs(x - f.minimizer().astype(float)))
    assert gap < 1e-12 if K == 1 else gap > 0.03


def test_a_cohort_without_weight_does_not_move():
    problem = ft.problems.quadratic_from_arrays(
        np.ones((3, 1)), np.array([[0.0], [1.0], [2.0]]), weights=[0.0, 1.0]
    )
    r = ft.run(
        problem, "fedavg", rounds=40, S=1, eta_l=0.5, weighting="samples", keep="x", metrics=()
    )
    moved = np.diff(r.x[0, :, 0]) != 0
    with_weight = cohorts(40, 1, 2)[:, 0] == 2
    assert (
        0 < with_weight.sum() < 40
        and not moved[~with_weight].any()
        and moved[with_weight][:3].all()
    )
