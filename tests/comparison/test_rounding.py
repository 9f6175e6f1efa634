"""How far rounding may lead a run: two runs of the same draws part no faster than is said, floats
stay within what is said of the exact numbers, and a comparison says where rounding hides which side
is larger."""

from fractions import Fraction

import numpy as np
import pytest
from sympy import Eq, Rational

import fedtheory as ft
from fedtheory.algorithm import example_hyper
from fedtheory.comparison import rounding
from fedtheory.comparison.rounding import Rounding
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import EXACT_GRADIENTS
from fedtheory.participation import Participation
from fedtheory.runs.planning import plan_of
from fedtheory.symbols.run import (
    TABLE,
    N,
    S,
    T,
    best_sq_grad,
    eta,
    mu,
    sq_distance_0,
    sq_distance_T,
)
from tests.checker import compared_bounds

EXACT = Claim(
    id="mine.value",
    cites="by hand",
    symbols=TABLE,
    algorithm="fedsgd",
    assumes=(EXACT_GRADIENTS, Eq(S, N)),
    measures=sq_distance_T,
    bound=(1 - eta * mu) ** (2 * T) * sq_distance_0,
)


def problems():
    generator = np.random.default_rng(3)
    X = generator.standard_normal((3, 6, 2))
    y = np.sign(generator.standard_normal((3, 6)) + 0.2)
    kinds = dict(noise="rademacher", sigma=0.3, weights=[1.0, 2.0, 3.0], seed=5)
    return dict(
        own=ft.problems.quadratic(2, 3, L=2.0, mu=0.5, hessian="own_dense", **kinds),
        shared=ft.problems.quadratic(2, 3, L=2.0, mu=0.5, G=1.0, **kinds),
        logistic=ft.problems.logistic(
            X, y, ridge=0.1, server=(X[0], y[0]), sigma=0.2, noise="gaussian"
        ),
        minibatch=ft.problems.logistic(
            X, y, ridge=0.1, server=(X[0], y[0]), noise="minibatch", batch=2
        ),
        saddle=ft.problems.quadratic_from_arrays([1.5, -0.5], generator.standard_normal((4, 2))),
    )


PROBLEMS = problems()
STEPS = (0.02, 0.4, 1.2)


def plan_for(problem, name, step, rounds, S=2, seed=0, **more):
    algorithm = ft.algorithm(name)
    S = problem.N if algorithm.everyone else S
    given = {
        field: step / (1 + 2 * (field == "gamma")) if not rule.integer else 3
        for field, rule in algorithm.hyper.items()
        if rule.default is None and field in example_hyper(algorithm) or field in ("K", "E", "K_0")
    }
    if "eta_g" in algorithm.hyper:
        given["eta_g"] = 1.3
    return plan_of(
        problem,
        algorithm,
        rounds=rounds,
        trials=1,
        seed=seed,
        S=S,
        participation=Participation(),
        keep="x",
        names=(),
        given={**given, **more},
    )


def points(plan, start):
    h = dict(zip(plan.hyper.Hyper._fields, plan.hyper.columns))
    words = {name: f.choices for name, f in plan.algorithm.hyper.items() if f.choices}
    h = {name: words[name][value] if name in words else value for name, value in h.items()}
    return ft.run(
        plan.problem, plan.algorithm, rounds=plan.rounds, x_0=start, S=plan.S, keep="x",
        metrics=(), seed=plan.seed, participation=plan.participation, **h,
    ).x[0]  # fmt: skip


@pytest.mark.parametrize("name", rounding.STEPPING + rounding.VARIATES)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_runs_of_the_same_draws_part_no_faster_than_is_said(name, kind):
    """From starts of a thousandth apart, so that floats are of no account."""
    problem = PROBLEMS[kind]
    for seed, step in enumerate(STEPS):
        plan = plan_for(problem, name, step, 4, seed=seed)
        said = Rounding(plan)
        assert not said.why
        start = np.array([0.7, -0.4])
        apart = 1e-3 * np.array([np.cos(seed), np.sin(seed)])
        found = np.linalg.norm(points(plan, start + apart) - points(plan, start), axis=1)
        limit = found[0] * np.cumprod([1.0, *(said.round(t).rho for t in range(4))])
        assert (found <= limit * (1 + 1e-6) + 1e-12).all(), (step, found, limit)


def test_a_convex_round_parts_nothing_and_a_curved_one_brings_together():
    """By hand: (1 - 2 * 0.4)^3 and (1 - 0.5 * 0.4)^3 of the distance at both ends."""
    said = Rounding(plan_for(PROBLEMS["shared"], "fsl", 0.4, 1, eta_0=0.0, eta_g=1.0))
    assert said.round(0).rho == pytest.approx(0.8**3)
    said = Rounding(plan_for(PROBLEMS["saddle"], "fsl", 0.4, 1, eta_0=0.0, eta_g=1.0))
    assert said.round(0).rho == pytest.approx(1.2**3)
    said = Rounding(plan_for(PROBLEMS["logistic"], "fsl", 0.4, 1, eta_0=0.0, eta_g=1.0))
    assert said.round(0).rho == pytest.approx(0.96**3)  # a ridge of 0.1


@pytest.mark.parametrize("centre", [0.0, 1.0, 1000.0])
def test_floats_stay_within_what_is_said(centre):
    """Gradient descent in rationals, from the same floats."""
    b = [[centre, 0.1], [centre, 0.1], [centre + 1 / 3, -0.7]]
    problem = ft.problems.quadratic_from_arrays([1.0, 0.3], b)
    plan = plan_for(problem, "fedsgd", 0.7, 80, S=2, eta=0.7)
    found = points(plan, np.array([2.5, 1.1]))
    said = Rounding(plan).errors(np.linalg.norm(found, axis=1))
    a, step = [Fraction(1), Fraction(0.3)], Fraction(0.7)
    x = [Fraction(2.5), Fraction(1.1)]
    for t in range(1, 81):
        for j in range(2):
            x[j] -= step * a[j] * (x[j] - sum(Fraction(b[i][j]) for i in (1, 2)) / 2)
        off = [float(Fraction(float(found[t, j])) - x[j]) for j in range(2)]
        assert np.linalg.norm(off) <= said[t]
    assert said[80] < 1e-12 * (1 + centre)  # and that is little, however many rounds there are


@pytest.mark.parametrize("share, says", [(Rational(1, 100), 1), (Rational(9, 10), 1), (1, None)])
@pytest.mark.parametrize("exact", [True, False])
def test_an_excess_is_seen_after_however_many_rounds(share, says, exact):
    """f = x^2/2 and eta = 1/2: (1/4)^T of the squared distance is left after T rounds."""
    problem = ft.problems.quadratic_from_arrays([1.0], [[0.0], [0.0]])
    claim = EXACT.replace(name="mine.share", bound=share * EXACT.bound)
    asked = dict(trials=2, x_0=[3.0], eta=0.5, exact=exact)
    found = ft.compare(claim, problem, rounds=100, **asked)
    assert found.exceeded == says and not len(found.undecided)
    assert (found.least <= found.left).all() and (found.left <= found.most).all()


def test_what_rounding_hides_is_said_to_be_undecided():
    """The minimiser is 1/3, next to which no float is nearer than 1e-17."""
    problem = ft.problems.quadratic_from_arrays([1.0], [[1 / 3], [1 / 3]])
    claim = EXACT.replace(
        name="mine.late", bound=EXACT.bound + 10 * Rational(1, 4) ** 60 - T / 4**70
    )
    found = ft.compare(claim, problem, rounds=100, trials=2, x_0=[3.0], eta=0.5)
    assert found.exceeded is None and 100 in found.undecided and 5 not in found.undecided
    assert "undecided there" in found.says and "to 100 it hides" in found.says
    assert "stays below the bound at every T" not in found.says
    # the bound is below 0 at the end, where the left side is not, and that is seen
    below = claim.replace(name="mine.below", bound=EXACT.bound - T / 4**20)
    found = ft.compare(below, problem, rounds=100, trials=2, x_0=[3.0], eta=0.5)
    assert found.exceeded is not None


def test_of_a_method_of_which_nothing_is_known_a_note_says_so():
    problem = ft.problems.quadratic_from_arrays([1.0], [[0.0], [0.0]])
    claim = Claim(
        id="mine.adam",
        cites="",
        symbols=TABLE,
        algorithm="fedadam",
        measures=best_sq_grad,
        bound=10**6,
    )
    asked = dict(rounds=3, trials=2, x_0=[3.0], eta_l=0.1, eta=0.1)
    says = "rounding grows is not known of fedadam"
    found = ft.compare(claim, problem, **asked)
    assert found.exceeded is None and not len(found.undecided)
    assert not any(says in note for note in found.notes)  # a thousand times more would do no harm
    near = claim.replace(
        name="mine.near", bound=Rational(float(found.left[-1])) * (1 + Rational(1, 10**7))
    )
    found = ft.compare(near, problem, **asked)
    assert any(says in note for note in found.notes)


def test_shares_of_the_value_are_told_from_it():
    """A sample of `python -m tests.checker.compared_bounds`."""
    found = compared_bounds.count(24)
    wrong = [
        (kind, said)
        for kind, answers in found.items()
        for said in answers
        if compared_bounds.wrong(kind, said)
    ]
    assert not wrong and sum(found[kind]["violated"] for kind in compared_bounds.FALSE) >= 23
