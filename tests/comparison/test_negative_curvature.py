"""A quadratic that curves downward, at every public door: what is defined is exact, what is not is
refused in words."""

from types import SimpleNamespace

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.comparison.objectives import measured_loss
from fedtheory.errors import InvalidInput, NotExact
from fedtheory.language import conditions
from fedtheory.problems.mixed import mixed_minimizer
from fedtheory.problems.shared import share
from tests.test_pickling import again

UNBOUNDED = "has no minimiser: F is unbounded below"
STEPS = dict(K=1, K_0=1, eta_l=0.1, eta_g=1.0, eta_0=0.1, gamma=1.0)


def saddle(**noise):
    return ft.problems.quadratic_from_arrays(
        [1.0, -2.0], [[0.0, 0.0], [1.0, 3.0], [3.0, 1.0]], **noise
    )


def bowl():
    """f_0 = f_2 = -x^2 / 2 and f_1 = 3 x^2 / 2: F = x^2 / 2 is convex, F + 2 f_0 is not."""
    return ft.problems.quadratic_from_arrays([[-1.0], [3.0], [-1.0]], np.zeros((3, 1)))


def test_runs_and_expectations_are_the_recursion():
    """x <- x - eta A (x - (2, 2)): factors 7/8 and 5/4 of the distance to the saddle, and of the
    second coordinate's variance 25/16 with sigma^2 / 2 eta^2 / 2 of new noise in each round."""
    problem = saddle(sigma=0.5, noise="rademacher")
    how = dict(rounds=3, x_0=[3.0, 3.0], eta=0.125)
    e = ft.expected(problem, "fedsgd", covariance=True, **how)
    assert e.how == "moments"
    assert np.allclose(e.mean[:, 0] - 2, [0.875**t for t in range(4)])
    assert np.allclose(e.mean[:, 1] - 2, [1.25**t for t in range(4)])
    new = 0.125**2 * (0.5**2 / 2) / 2
    grown = [0.0, new, new * (1 + 25 / 16), new * (1 + 25 / 16 + (25 / 16) ** 2)]
    assert np.allclose(e.covariance[:, 1, 1], grown)
    losses = [
        ((0.875**t) ** 2 - 2 * ((1.25**t) ** 2 + v)) / 2 - 0.5 + u / 2
        for t, (v, u) in enumerate(zip(grown, e.covariance[:, 0, 0]))
    ]
    assert np.allclose(e.metrics["loss"], losses)
    r = ft.run(problem, "fedsgd", trials=4000, seed=1, **how)
    spread = r.metrics["loss"][:, -1].std() / np.sqrt(4000)
    assert abs(r.metrics["loss"][:, -1].mean() - losses[-1]) < 5 * spread
    walked = ft.expected(problem, "fedsgd", how="enumeration", **{**how, "rounds": 1})
    assert walked.metrics["loss"][1] == pytest.approx(losses[1], rel=1e-12)


@pytest.mark.parametrize("how", ["moments", "enumeration"])
def test_a_distance_to_no_minimiser_is_refused_in_words(how):
    e = ft.expected(saddle(), "fedavg", rounds=1, how=how, eta_l=0.1, K=1)
    for found in (e, again(e)):
        assert "sq_distance" not in found.metrics
        with pytest.raises(NotExact, match=f"quadratic {UNBOUNDED}$"):
            found.metrics["sq_distance"]
    r = ft.run(saddle(), "fedavg", rounds=1, metrics=("sq_distance",), eta_l=0.1, K=1)
    assert np.isnan(r.metrics["sq_distance"]).all()


def test_conditions_see_it():
    setup = SimpleNamespace(cohort="full", partial=False)
    for problem, below in ((saddle(), False), (bowl(), True)):
        says = {name: c(problem, setup) for name, c in conditions.ALL.items()}
        assert not says["convex"] and not says["strongly_convex"]
        assert says["smooth"] and says["lipschitz"] and says["bounded_below"] == below
    assert conditions.BOUNDED_BELOW(ft.problems.nonconvex(d=1, clients=1, L=1.0), setup)


def test_claims_without_convexity_are_set_against_it_and_others_are_refused():
    problem = saddle(sigma=0.1)
    comparison = ft.compare(
        "fsl.theorem1", problem, rounds=2, trials=8, S=1, x_0=[1.0, 1.0], **STEPS
    )
    assert "stays below" in str(comparison)
    with pytest.raises(
        InvalidInput, match="unbounded below on quadratic, so that there is no infimum"
    ):
        ft.compare("fsl.theorem2", problem, rounds=2, trials=8, S=1, **STEPS)
    with pytest.raises(InvalidInput, match="unbounded below"):
        ft.check_on("fsl.theorem2", problem, rounds=2, draws=64, S=1, **STEPS)
    with pytest.raises(InvalidInput, match="convex"):  # f_f + f_c has an infimum, 0 everywhere
        ft.compare(
            "mixed.theoremB2_convex_explicit", bowl(), rounds=2, trials=8, K=1, eta=0.01, eta_s=1.0
        )


def test_the_infimum_is_of_the_loss_that_is_measured():
    """(F + gamma f_0) / (1 + gamma) = (1 - gamma) x^2 / (2 + 2 gamma)."""
    for gamma, bounded in ((0.5, True), (1.0, True), (2.0, False)):
        sought = measured_loss(bowl(), "tilde_loss", gamma)
        if bounded:
            lowest = sought.lowest()
            assert lowest.x == [0.0] and abs(lowest.low) < 1e-15
        else:
            with pytest.raises(InvalidInput, match="unbounded below"):
                sought.lowest()
    assert mixed_minimizer(bowl()) == [0.0]
    with pytest.raises(InvalidInput, match="must have losses f_f and f_f"):
        mixed_minimizer(saddle())


def test_shared_data_can_bend_an_objective_either_way():
    """F + ratio f_0."""
    assert share(bowl(), 0.5).minimizer() == [0.0]
    bent = share(bowl(), 2.0)
    assert bent.minimize is None and bent.constants["F_inf"].value == -np.inf
    with pytest.raises(InvalidInput, match=UNBOUNDED):
        bent.minimizer()


@pytest.mark.parametrize("name", ["saddle", "bent", "slide"])
def test_it_crosses_processes(name):
    from fedtheory.problems.quadratics import examples

    problem = examples()[name]
    other = again(problem)
    x = np.array([0.3, -0.7])
    assert other.loss(x) == problem.loss(x) and other.constants == problem.constants
    assert (other.minimize is None) == (problem.minimize is None) == (name != "bent")
    assert np.array_equal(other.reweighted([3, 1]).grad(x), problem.reweighted([3, 1]).grad(x))
