"""Functions of one's own, read off runs in floats: against a slow run worked out here."""

import numpy as np
import pytest
from sympy import Eq

import fedtheory as ft
from fedtheory.comparison.user_measures import OnProblem
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, LIPSCHITZ, SAMPLED_BY_WEIGHT, Condition
from fedtheory.language.symbol import CURVATURE, LOSS
from fedtheory.symbols.run import TABLE as RUN

TABLE = RUN.extended([])
TABLE.paper = "mine"
letters = ("eta_l", "eta_g", "L", "N", "S", "K", "T", "zeta", "R", "mu_PL", "growth", "option")
eta_l, eta_g, L, N, S, K, T, zeta, R, mu_PL, growth, option = (TABLE[n].symbol for n in letters)


def inside(run):
    """F at the mean of all points of the first half of each round, above its infimum."""
    points = [each.means()[k] for each in run.rounds for k in range(int(run["K"]))]
    return run.problem.gap(sum(points) / len(points))


def last(run):
    return run.problem.gap(run.x[-1])


gap_in = TABLE.along("gap_in", "g", "gap inside rounds", LOSS, inside)
gap_end = TABLE.along("gap_end", "e", "gap at the end", LOSS, last)
steepest = TABLE.constant(
    "steepest", "s", "steepest client", CURVATURE,
    lambda problem: max(problem.curvature(i)[1] for i in range(1, problem.N + 1)), bound="upper",
)  # fmt: skip
STEPS = dict(rounds=4, K=3, eta_l=0.2, x_0=[1.0, 2.0])


def claim(measures, bound, *more, method="fedavg"):
    assumes = (LIPSCHITZ, CONVEX, eta_g <= 1, *more)
    return Claim(id="mine.own", cites="a test", symbols=TABLE, algorithm=method,
                 assumes=assumes, measures=measures, bound=bound)  # fmt: skip


def problem(**more):
    return ft.problems.quadratic(**dict(dict(d=2, clients=3, L=1.0, mu=0.3, G=0.4, seed=1), **more))


def test_points_within_rounds_against_a_slow_run():
    f = problem()
    found = ft.compare(claim(gap_in, eta_l * L * R**2 + steepest * zeta**2), f, **STEPS)
    x, seen, by_hand = np.array(STEPS["x_0"]), [], []
    for _ in range(4):
        y = np.array([x, x, x])
        for _ in range(3):
            seen.append(y.mean(axis=0))
            y = np.array([p - 0.2 * f.client_grad(i, p) for i, p in enumerate(y, 1)])
        x = y.mean(axis=0)
        by_hand.append(f.loss(np.mean(seen, axis=0)) - f.loss(f.minimizer()))
    np.testing.assert_allclose(found.left, by_hand, rtol=1e-9)
    np.testing.assert_allclose(found.left_exact, by_hand, rtol=1e-9)  # nothing is random
    star = f.minimizer()
    spread = np.mean([np.sum(f.client_grad(i, star) ** 2) for i in (1, 2, 3)])
    away = np.sum((np.array(STEPS["x_0"]) - star) ** 2)
    np.testing.assert_allclose(found.right, 0.2 * away + spread, rtol=1e-9)
    assert found.plot().get_ylabel() == "$g$"


def test_what_a_run_keeps_is_said():
    noisy = problem(sigma=0.2)
    with pytest.raises(InvalidInput, match="points within a round are known"):
        ft.compare(claim(gap_in, L), noisy, trials=2, **STEPS)
    found = ft.compare(claim(gap_end, L * R**2 + growth), noisy, trials=4, **STEPS)
    losses = found.runs[0].metrics["loss"] if "loss" in found.runs[0].metrics else None
    assert found.left_exact is None and (found.low <= found.left).all()
    assert losses is None or np.isfinite(losses).all()


def test_what_a_problem_says():
    f = problem()
    about = OnProblem(f, [1.0, 2.0])
    assert about.curvature(1) == pytest.approx((0.3, 1.0)) and about.polyak_lojasiewicz == 0.3
    assert about.gap(f.minimizer()) == pytest.approx(0, abs=1e-12)
    flat = ft.problems.quadratic_from_arrays([2.0, 0.0], [[0.0, 0.0], [1.0, 0.0]])
    assert OnProblem(flat, [0.0, 0.0]).polyak_lojasiewicz == pytest.approx(2)
    low = about.client_infimum(2)
    assert all(
        f.client_loss(2, x) >= low - 1e-12 for x in np.random.default_rng(1).normal(size=(9, 2))
    )


def test_a_condition_of_ones_own():
    far = Condition(
        "far", "it starts far away", on=lambda problem: problem.sq_distance(problem.x_0) > 100
    )
    with pytest.raises(InvalidInput, match="it starts far away"):
        ft.compare(claim(gap_end, L, far), problem(), **STEPS)


def test_words_and_cohorts_are_as_the_claim_assumes():
    f = problem()
    found = ft.compare(claim(gap_end, L * R**2, Eq(option, 2), method="scaffold"), f, **STEPS)
    field = found.algorithm.hyper["option"]
    column = dict(zip(found.algorithm.hyper, found.runs[0].settings.hyper.columns))["option"]
    assert field.choices[column] == "II"
    drawn = ft.compare(claim(gap_end, L * R**2, SAMPLED_BY_WEIGHT), f, S=2, trials=2, **STEPS)
    assert drawn.runs[0].settings.participation.cohort == "with"


def test_a_default_that_hypotheses_exclude_gives_way_to_their_end():
    """FedAvg's eta_g is 1 where nobody says it; a claim for eta_g >= 3/2 is about 3/2."""
    asked = claim(gap_end, L * R**2)
    asked = asked.replace(assumptions=(LIPSCHITZ, CONVEX, 2 * eta_g >= 3))
    steps = dict(STEPS, eta_l=0.1)
    assert ft.compare(asked, problem(), **steps).numbers["eta_g"] == pytest.approx(1.5)
    usual = claim(gap_end, L * R**2)
    assert ft.compare(usual, problem(), **steps).numbers["eta_g"] == 1


def test_of_several_minimisers_runs_know_one():
    """Quadratic growth at x = (0, 1), which is a minimiser: the one of least norm lies 1 away."""
    flat = ft.problems.quadratic_from_arrays(np.array([1.0, 0.0]), np.zeros((3, 2)))
    growth = claim(gap_end, L * R**2)
    with pytest.raises(
        InvalidInput, match="must have exactly one minimiser, because the claim measures"
    ):
        ft.compare(growth, flat, **STEPS)
    own = np.array([[1.0, 1.0], [2.0, 0.0], [0.0, 2.0]])
    ft.compare(growth, ft.problems.quadratic_from_arrays(own, np.zeros((3, 2))), **STEPS)
