"""FedAdam against rounds written out from the paper."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.algorithms import fedadam
from fedtheory.jit import python

A = [[1.0, 1.0], [2.0, 1.0], [1.0, 1.5], [0.5, 1.0]]
B = [[0.0, 0.0], [1.0, 2.0], [-2.0, 0.5], [3.0, 1.0]]
RATES = dict(eta_l=0.1, eta=0.3, beta_1=0.8, beta_2=0.9, tau=0.05, K=3)


def problem(**kw):
    return ft.problems.quadratic_from_arrays(np.array(A), np.array(B), **kw)


def run(problem, rounds, x_0, algorithm="fedadam", **kw):
    return ft.run(
        problem, algorithm, rounds=rounds, x_0=np.array(x_0), keep="x", metrics=(), **kw
    ).x[0]


def by_hand(x, rounds, eta_l, eta, beta_1, beta_2, tau, K, corrected=False, weights=(1, 1, 1)):
    """Algorithm 2 of Reddi et al., coordinates apart."""
    x, m = list(x), [0.0, 0.0]
    v = [0.0 if corrected else tau**2] * 2
    path = [list(x)]
    for t in range(1, rounds + 1):
        for j in range(2):
            change = 0.0
            for i in (1, 2, 3):
                # K steps towards b shrink the gap by (1 - eta_l a)^K.
                change += (
                    weights[i - 1]
                    / sum(weights)
                    * (1 - (1 - eta_l * A[i][j]) ** K)
                    * (B[i][j] - x[j])
                )
            m[j] = beta_1 * m[j] + (1 - beta_1) * change
            v[j] = beta_2 * v[j] + (1 - beta_2) * change**2
            first, second = (1 - beta_1**t, 1 - beta_2**t) if corrected else (1.0, 1.0)
            x[j] += eta * (m[j] / first) / (sqrt(v[j] / second) + tau)
        path.append(list(x))
    return np.array(path)


def test_a_round_worked_by_hand():
    # One client, f_1 = (x-4)^2/2, x = 0, eta_l = 1/4: Delta = 1. m = 1/2, v = (3/4) (1/4) + 1/4 =
    # 7/16 with tau = 1/2.
    p = ft.problems.quadratic_from_arrays(np.array([1.0]), np.array([[0.0], [4.0]]))
    x = run(p, 1, [0.0], eta_l=0.25, eta=2.0, beta_1=0.5, beta_2=0.75, tau=0.5)
    assert x[1, 0] == pytest.approx(2 * 0.5 / (sqrt(7) / 4 + 0.5), rel=1e-15)
    # With bias correction v starts at 0, so the first step is eta Delta / (|Delta| + tau) whatever
    # the betas.
    x = run(
        p, 1, [0.0], eta_l=0.25, eta=2.0, beta_1=0.5, beta_2=0.75, tau=0.5, bias_correction="yes"
    )
    assert x[1, 0] == pytest.approx(2 / 1.5, rel=1e-15)


@pytest.mark.parametrize("corrected", [False, True])
def test_rounds_against_the_paper(corrected):
    x = run(problem(), 5, [1.0, -2.0], bias_correction="yes" if corrected else "no", **RATES)
    np.testing.assert_allclose(x, by_hand([1, -2], 5, **RATES, corrected=corrected), rtol=1e-12)


def test_weights_by_samples():
    x = run(problem(weights=[5.0, 1.0, 2.0]), 4, [1.0, -2.0], weighting="samples", **RATES)
    np.testing.assert_allclose(x, by_hand([1, -2], 4, **RATES, weights=(5, 1, 2)), rtol=1e-12)
    x = run(problem(weights=[5.0, 1.0, 2.0]), 4, [1.0, -2.0], **RATES)
    np.testing.assert_allclose(x, by_hand([1, -2], 4, **RATES), rtol=1e-12)


def test_without_decay_and_with_large_tau_it_is_fedavg():
    x = run(problem(), 4, [1.0, -2.0], eta_l=0.1, eta=1e9, beta_1=0.0, beta_2=0.0, tau=1e9, K=3)
    y = run(problem(), 4, [1.0, -2.0], "fedavg", eta_l=0.1, K=3)
    np.testing.assert_allclose(x, y, rtol=1e-7)


def uphill(state, cohort, work, p, y, local, h):
    python(fedadam.aggregate)(state, cohort, work, p, 2 * state.x - y, local, h)


def forgetful(state, cohort, work, p, y, local, h):
    state.m[:] = 0.0
    python(fedadam.aggregate)(state, cohort, work, p, y, local, h)


@pytest.mark.parametrize("wrong", [uphill, forgetful])
def test_a_damaged_copy_is_caught(wrong):
    x = run(problem(), 5, [1.0, -2.0], replace(fedadam.ALGORITHM, aggregate=wrong), **RATES)
    assert not np.allclose(x, by_hand([1, -2], 5, **RATES), rtol=1e-3)


@pytest.mark.parametrize("correction", ["no", "yes"])
def test_compiled_equals_interpreted(correction):
    runs = [
        run(
            problem(sigma=0.3),
            4,
            [1.0, -2.0],
            S=2,
            compiled=compiled,
            bias_correction=correction,
            **RATES,
        )
        for compiled in (None, False)
    ]
    np.testing.assert_allclose(*runs, rtol=1e-13)
