"""FedProx against a round worked by hand, exact rationals, FedAvg at mu = 0 and its resting point."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft

from .rational import EVEN, LINE, PLANE, START, close, cohorts, vector


def test_a_round_worked_by_hand():
    # mu = 1, two steps of 1/4 from 0. Client 1, gradient y - 1 and pull y: 1/4, then
    # 1/4 - (-3/4 + 1/4) / 4 = 3/8. Client 2, 2y + 2: -1/2, then -1/2 - (1 - 1/2) / 4 = -5/8.
    r = ft.run(LINE.problem, "fedprox", rounds=1, eta_l=0.25, mu_prox=1.0, K=2)
    assert r.final[0, 0] == (3 / 8 - 5 / 8) / 2


@pytest.mark.parametrize("f", [EVEN, PLANE], ids=["even", "weighted"])
@pytest.mark.parametrize("weighting", ["unbiased", "plain", "samples"])
def test_rounds_in_exact_rationals(f, weighting):
    x, path, eta, mu = vector(START), [vector(START)], Q(1, 8), Q(1, 2)
    for cohort in cohorts(3, 2, f.N, seed=6):
        ends = []
        for i in cohort:
            y = x
            for _ in range(2):
                y = y - eta * (f.grad(i, y) + mu * (y - x))
            ends.append(y)
        share = dict(
            unbiased=[f.N * f.p[i] / 2 for i in cohort],
            plain=[Q(1, 2)] * 2,
            samples=[f.p[i] / sum(f.p[j] for j in cohort) for i in cohort],
        )[weighting]
        x = x + sum(q * (y - x) for q, y in zip(share, ends))
        path.append(x)
    given = dict(eta_l=eta, mu_prox=mu, K=2, S=2, seed=6, weighting=weighting)
    assert close(f.run("fedprox", 3, START, **given), path)


def test_without_the_term_it_is_fedavg():
    given = dict(eta_l=0.125, K=3, S=2, seed=3)
    mine = PLANE.run("fedprox", 4, START, mu_prox=0.0, **given)
    assert np.array_equal(mine, PLANE.run("fedavg", 4, START, **given))


def test_a_strong_pull_brings_the_resting_point_to_the_minimiser():
    """Rests where sum p_i (y_i - x) = 0. With mu large and the local problem solved, y_i - x is about
    -grad f_i(x) / mu: the gap to the minimiser falls as 1 / mu."""
    best = np.array([float(n) for n in EVEN.minimizer()])
    gaps = []
    for mu in (4.0, 16.0):
        end = EVEN.run("fedprox", 400, START, eta_l=0.5 / mu, mu_prox=mu, K=20)[-1]
        gaps.append(np.linalg.norm(end - best))
    assert 2.5 < gaps[0] / gaps[1] < 6
