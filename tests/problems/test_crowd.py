"""A crowd's clients against a quadratic of the same arrays, and its constants at any size."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import Impossible, InvalidInput
from fedtheory.participation import Arrival, Departure, Participation


def kept(problem, weights=None):
    """The same problem from arrays: b_i is where f_i's gradient, which is linear, vanishes."""
    A = problem.data.A
    b = [-problem.client_grad(i, np.zeros(problem.d)) / A for i in range(problem.N + 1)]
    return ft.problems.quadratic_from_arrays(
        A, np.array(b), weights, sigma=problem.sigma[1:], sigma_0=problem.sigma[0]
    )


@pytest.mark.parametrize("N", [2, 5, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_crowd_is_the_quadratic_of_its_arrays(N, weighted):
    problem = ft.problems.crowd(37, N, L=2.0, mu=0.5, G=1.5, xi_bar=0.25, sigma=0.3, seed=N)
    weights = np.arange(1.0, N + 1) if weighted else None
    twin = kept(problem, weights)
    problem = problem.reweighted(weights) if weighted else problem
    x = np.random.default_rng(0).standard_normal(37)
    for i in range(N + 1):
        assert problem.client_loss(i, x) == pytest.approx(twin.client_loss(i, x), rel=1e-12)
        np.testing.assert_allclose(problem.client_grad(i, x), twin.client_grad(i, x), atol=1e-12)
    assert problem.loss(x) == pytest.approx(twin.loss(x), rel=1e-12)
    np.testing.assert_allclose(problem.minimizer(), twin.minimizer(), atol=1e-12)
    assert set(problem.constants) == set(twin.constants)
    for name, constant in twin.constants.items():
        assert problem.constants[name].value == pytest.approx(constant.value, rel=1e-12), name
        assert problem.constants[name].scope == constant.scope == "global"


def test_runs_on_a_crowd_are_those_on_its_arrays_while_clients_come_and_go():
    problem = ft.problems.crowd(4, 7, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, sigma=0.3, seed=2)
    events = Participation(arrivals=(Arrival(2, 2, 1.0),), departures=(Departure(5, 4),))
    for name, hyper in (("scaffold", dict(K=3, eta_l=0.1)), ("feddyn", dict(alpha=0.5, eta_l=0.1))):
        a, b = (
            ft.run(p, name, rounds=7, trials=2, S=3, participation=events, keep="x", **hyper)
            for p in (problem, kept(problem))
        )
        np.testing.assert_allclose(a.x, b.x, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(a.metrics["loss"], b.metrics["loss"], rtol=1e-11)


def test_constants_hold_at_a_size_that_nobody_keeps():
    problem = ft.problems.crowd(3, 20_001, L=2.0, mu=0.5, G=1.5, xi_bar=0.5)
    x = problem.minimizer()
    o = np.array([problem.client_grad(i, x) for i in range(1, problem.N + 1)])
    assert np.abs(o.sum(axis=0)).max() < 1e-10
    assert np.mean(np.sum(o**2, axis=1)) == pytest.approx(1.5**2, rel=1e-12)
    assert len(np.unique(np.sign(o), axis=0)) == 9  # all 2^3 signs, and the last client's zeros
    assert np.mean([problem.client_loss(i, x) for i in range(1, 20_002)]) == pytest.approx(
        problem.loss(x), rel=1e-12
    )


@pytest.mark.parametrize(
    "wrong, words",
    [
        (dict(mu=3.0), "mu must be <= L"),
        (dict(d=1), "mu must be <= L"),
        (dict(clients=1, G=1.0), "G must be 0 with one client"),
        (dict(mu=1e-150, G=10.0), "must be at most"),
        (dict(mu=0.0), "mu must"),
        (dict(clients=10**14), "clients must be an integer"),
    ],
)
def test_what_no_crowd_has_is_refused(wrong, words):
    with pytest.raises((Impossible, InvalidInput), match=words):
        ft.problems.crowd(**dict(dict(d=3, clients=4, L=2.0, mu=0.5), **wrong))
