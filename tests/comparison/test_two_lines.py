"""Every explicit theorem against a run in two lines: one makes a problem, one compares. What a
problem lacks is said in a sentence that names one that has it."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import fedtheory as ft
from fedtheory.errors import InvalidInput
from tests.comparison.test_every_claim import THEOREMS

ONE_WAY = ("theoremB2_nonconvex_explicit", "theoremB2_nonconvex_mean")
WARM = ("theoremB3_nonconvex_explicit", "theoremB3_nonconvex_mean")
LONG = "theoremB3_strong_explicit"  # T >= 1/(2 eta mu): two hundred rounds are told as enough
MADE = dict(d=2, clients=4, L=1.0, mu=0.5, G=0.5, seed=1)


def fsl(name):
    xi_bar = 0.0 if name == "special_sgd_explicit" else 0.2
    problem = ft.problems.quadratic(**MADE, xi_bar=xi_bar, sigma=0.3, sigma_0=0.1)
    steps = dict(eta_0=0.02) if "theorem2" in name else {}  # the longest leave its left side empty
    return ft.compare(f"fsl.{name}", problem, rounds=20, **steps)


def mixed(name):
    sigma = 0.0 if name in WARM else 0.3
    problem = ft.problems.mixed(**MADE, sigma=sigma, sigma_c=sigma)
    problem = problem.relaxed(L=2.0) if name in ONE_WAY else problem
    return ft.compare(f"mixed.{name}", problem, rounds=200 if name == LONG else 20)


def lamb(name):
    problem = ft.problems.bounded(d=2, clients=4, L=1.0, M=1.0, G=0.2, sigma=0.3, layers=[1, 1])
    return ft.compare(f"lamb.{name}", problem, rounds=20)


def flex(name):
    problem = ft.problems.quadratic(**MADE, sigma=0.3, noise="rademacher", radius=5.0)
    return ft.compare(f"flex.{name}", problem, rounds=20, E=2)


TWO_LINES = dict(fsl=fsl, mixed=mixed, lamb=lamb, flex=flex)


@pytest.mark.parametrize("id", sorted(THEOREMS))
def test_two_lines_compare_a_theorem(id):
    paper, name = id.split(".")
    found = TWO_LINES[paper](name)
    assert found.exceeded is None and np.isfinite(found.right).all() and len(found.T) >= 5
    assert 0 < found.share[-1] < 1
    assert all(inside.all() for run in found.runs for inside in (run.inside or {}).values())
    assert len(found.plot(ax=Figure().subplots()).get_lines()) >= 2


LACKS = [  # what is asked, and what the sentence names
    ("flex.theorem3_1", dict(), dict(E=2), 'quadratic(..., noise="rademacher", radius=5.0) does'),
    ("lamb.theorem1_explicit", dict(), dict(), "ft.problems.bounded(..., M=1.0) does"),
    ("mixed.theoremB1_convex_explicit", dict(sigma_f=0.1), dict(), "sigma_f=0.0) does"),
    ("mixed.theoremB2_nonconvex_mean", dict(), dict(), ".relaxed(L=2.0) does"),
    ("mixed.theoremB3_nonconvex_mean", dict(sigma=0.1), dict(), "without noise"),
    ("mixed.theoremB3_strong_explicit", dict(), dict(), "rounds=200 would do"),
]


@pytest.mark.parametrize("id, more, settings, says", LACKS, ids=[each[0] for each in LACKS])
def test_what_a_problem_lacks_is_told_with_one_that_has_it(id, more, settings, says):
    with pytest.raises(InvalidInput) as refusal:
        ft.compare(id, ft.problems.mixed(**MADE, **more), rounds=20, **settings)
    assert says in str(refusal.value) and "\n" not in str(refusal.value)


def test_the_letter_that_nothing_fixes_makes_the_bound_least():
    """Against bounds at steps nearby, and what is said of it."""
    problem = ft.problems.bounded(d=2, clients=4, L=1.0, M=1.0, G=0.2, sigma=0.3, layers=[1, 1])
    found = ft.compare("lamb.theorem1_explicit", problem, rounds=20)
    chosen = found.numbers["alpha"]
    assert f"alpha = {chosen:g}, which nothing fixes" in found.notes[0]
    at = lambda alpha: ft.compare("lamb.theorem1_explicit", problem, rounds=20, alpha=alpha)
    assert not any("nothing fixes" in note for note in at(chosen).notes)
    near = [at(chosen * factor).right[-1] for factor in (0.5, 0.8, 1.25, 2.0)]
    assert found.right[-1] < min(near)


def test_a_bound_that_nothing_could_exceed_is_said_to_be_empty():
    """At the longest steps of (11), h of theorem 2 is negative where kappa is large."""
    problem = ft.problems.quadratic(**MADE, xi_bar=0.2, sigma=0.3, sigma_0=0.1)
    longest, shorter = (
        str(ft.compare("fsl.theorem2", problem, rounds=5, trials=4, **steps))
        for steps in ({}, dict(eta_0=0.02))
    )
    assert "so that the bound says nothing" in longest and "says nothing" not in shorter


def test_gradients_in_a_ball_are_no_longer_than_said():
    """M of a quadratic: at points all over the ball, with the norm that noise has surely."""
    b = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [-1.0, 0.5]])
    A = np.array([[1.0, 0.2], [1.0, 0.5], [0.3, 1.0], [0.6, 0.6]])
    sigma = [0.1, 0.4, 0.2]
    make = lambda **more: ft.problems.quadratic_from_arrays(A, b, sigma=sigma, **more)
    problem = make(noise="sphere", radius=3.0)
    M = problem.constants["M"]
    assert M.scope == "ball" and M.radius == 3.0
    angles = np.linspace(0, 2 * np.pi, 721)
    ring = problem.minimizer() + 3 * np.column_stack([np.cos(angles), np.sin(angles)])
    longest = [
        max(np.linalg.norm(problem.client_grad(i, x)) for x in ring) + sigma[i - 1]
        for i in (1, 2, 3)
    ]
    assert max(longest) <= M.value <= 1.2 * max(longest)
    assert "M" not in make(noise="gaussian", radius=3.0).constants  # whose norm nothing bounds
    assert "M" not in make(noise="sphere").constants
    moved = problem.reweighted([3, 1, 1])
    assert moved.constants["M"].value != M.value and moved.constants["M"].radius == 3.0


@pytest.mark.parametrize(
    "change, says",
    [
        (dict(L=0.5), "L must be >= 1"),
        (dict(mu=0.9), "mu must be <= 0.5"),
        (dict(sigma_2=1.0), "takes constants of mixed"),
        (dict(F_inf=-1.0), "takes constants of mixed"),
        (dict(L=float("nan")), "L must be"),
    ],
)
def test_a_problem_is_said_to_be_no_better_than_it_is(change, says):
    with pytest.raises(InvalidInput, match=says):
        ft.problems.mixed(**MADE).relaxed(**change)
