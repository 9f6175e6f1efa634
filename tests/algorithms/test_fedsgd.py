"""FedSGD against a round worked by hand and exact rationals; its fixed point is the minimiser."""

from fractions import Fraction as Q

import numpy as np
import pytest

from .rational import LINE, PLANE, START, close, cohorts, vector


def test_a_round_worked_by_hand():
    # At 0 the gradients are -1 and 2, their mean 1/2; a step of 1/4.
    assert LINE.run("fedsgd", 1, eta=0.25)[1, 0] == -1 / 8


@pytest.mark.parametrize("weighting", ["unbiased", "plain", "samples"])
def test_rounds_in_exact_rationals(weighting):
    f, S, path = PLANE, 3, [vector(START)]
    for cohort in cohorts(3, S, f.N):
        total = sum(f.p[i] for i in cohort)
        share = dict(
            unbiased=lambda i: f.N * f.p[i] / S,
            plain=lambda i: Q(1, S),
            samples=lambda i: f.p[i] / total,
        )
        path.append(
            path[-1] - Q(1, 8) * sum(share[weighting](i) * f.grad(i, path[-1]) for i in cohort)
        )
    assert close(f.run("fedsgd", 3, START, eta=0.125, S=S, weighting=weighting), path)


def test_it_is_fedavg_with_one_step():
    np.testing.assert_array_equal(
        PLANE.run("fedsgd", 20, START, eta=0.1, S=2),
        PLANE.run("fedavg", 20, START, eta_l=0.1, K=1, S=2),
    )


def test_it_ends_at_the_minimiser():
    np.testing.assert_allclose(
        PLANE.run("fedsgd", 400, START, eta=0.25)[-1], PLANE.minimizer().astype(float), rtol=1e-12
    )
