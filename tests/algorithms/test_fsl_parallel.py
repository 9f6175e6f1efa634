"""FSL-p against a round worked by hand, exact rationals, and the objective it descends."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft

from .rational import EVEN, LINE, START, close, cohorts, vector


def test_a_round_worked_by_hand():
    # Clients' mean change -5/32 as in FedAvg's round. Server, from 0, steps of 1/2 on x - 3: 3/2,
    # 9/4. (-5/32 + 9/4 / 2) / (3/2) = 31/48.
    x = LINE.run("fsl_parallel", 1, eta_l=0.25, K=2, eta_0=0.5, gamma=0.5, K_0=2)
    assert x[1, 0] == pytest.approx(31 / 48, rel=1e-15)


@pytest.mark.parametrize("S", [1, 3, 4])
def test_rounds_in_exact_rationals(S):
    f, eta_g, gamma, path = EVEN, Q(3, 4), Q(1, 2), [vector(START)]
    for cohort in cohorts(3, S, f.N):
        x = path[-1]
        clients = eta_g * sum(f.walk(i, x, Q(1, 8), 3) - x for i in cohort) / S
        path.append(x + (clients + gamma * (f.walk(0, x, Q(1, 4), 2) - x)) / (1 + gamma))
    x = f.run(
        "fsl_parallel", 3, START, eta_l=0.125, eta_g=eta_g, K=3, eta_0=0.25, gamma=gamma, K_0=2, S=S
    )
    assert close(x, path)


def test_it_descends_the_joint_objective_where_fsl_only_approaches_it():
    """K = K_0 = 1 and eta_l eta_g = eta_0: a gradient step on (F + gamma f_0) / (1 + gamma)."""
    f, hyper = EVEN, dict(eta_l=0.125, eta_g=2.0, eta_0=0.25, gamma=0.5)
    end, joint = (
        f.run("fsl_parallel", 400, START, **hyper)[-1],
        f.minimizer(gamma=Q(1, 2)).astype(float),
    )
    np.testing.assert_allclose(end, joint, rtol=1e-12)
    incremental = f.run("fsl", 400, START, **hyper)[-1]
    assert np.max(abs(incremental - joint)) > 1e-3


def test_sample_counts_as_weights_make_the_server_a_regular_client():
    """gamma = n_0 / n averages N + 1 models by their samples: FedAvg in which the server is one
    more client."""
    f, n_0, n_i = EVEN, 3.0, 2.0
    n = n_i * f.N
    a, b = f.problem.data.A, f.problem.data.b
    joined = ft.problems.quadratic_from_arrays(
        np.vstack([a[:1], a]), np.vstack([b[:1], b]), weights=[n_0, *[n_i] * f.N]
    )
    r = ft.run(joined, "fedavg", rounds=10, x_0=np.array(START), eta_l=0.125, K=3, keep="x")
    x = f.run("fsl_parallel", 10, START, eta_l=0.125, eta_0=0.125, gamma=n_0 / n, K=3, K_0=3)
    np.testing.assert_allclose(x, r.x[0], rtol=1e-12)


def test_without_weight_on_the_server_it_is_fedavg_bit_for_bit():
    problem = ft.problems.quadratic(3, 5, L=2.0, mu=0.3, G=1.0, sigma=0.4, sigma_0=0.3, seed=2)
    common = dict(rounds=30, trials=2, S=2, eta_l=0.07, eta_g=1.3, K=4, keep="x")
    np.testing.assert_array_equal(
        ft.run(problem, "fsl_parallel", gamma=0.0, eta_0=0.1, K_0=5, **common).x,
        ft.run(problem, "fedavg", weighting="plain", **common).x,
    )


def test_server_drift_is_measured_from_the_round_s_start():
    r = ft.run(
        LINE.problem,
        "fsl_parallel",
        rounds=1,
        eta_l=0.25,
        eta_0=0.5,
        K_0=2,
        metrics=("server_drift",),
    )
    assert r.metrics["server_drift"][0, 1] == (0 + 1.5**2) / 2
