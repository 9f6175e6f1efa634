"""Claims set against runs: both sides against numbers worked out by hand, and what is refused."""

import sys

import numpy as np
import pytest
from sympy import Eq

import fedtheory as ft
from fedtheory.comparison.objectives import measured_loss
from fedtheory.comparison.run_measures import at_end, over_rounds
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, EXACT_GRADIENTS, SMOOTH
from fedtheory.symbols import run as house
from fedtheory.symbols.run import TABLE, L, N, S, T, eta, mu, sq_distance_0, sq_distance_T

DESCENT = Claim(
    id="mine.descent",
    cites="a textbook",
    symbols=TABLE,
    algorithm="fedsgd",
    assumes=(SMOOTH, CONVEX, EXACT_GRADIENTS, Eq(S, N), eta * L <= 1),
    measures=sq_distance_T,
    bound=(1 - eta * mu) ** (2 * T) * sq_distance_0,
)
FSL = dict(S=2, K=2, K_0=2, eta_l=0.02, eta_g=1.0, eta_0=0.02, gamma=1.0, x_0=[1.0, -1.0])


def fsl_problem(**more):
    constants = dict(L=1.0, mu=0.5, G=0.5, xi_bar=0.2, sigma=0.4, sigma_0=0.3)
    return ft.problems.quadratic(d=2, clients=3, seed=2, **{**constants, **more})


@pytest.mark.parametrize("problem", ["quadratic", "crowd", "bounded", "logistic"])
def test_noise_along_each_coordinate_is_that_of_the_problem(problem):
    """Isotropic noise of variance sigma^2 has sigma^2 / d along each of d coordinates."""
    made = dict(
        quadratic=lambda: ft.problems.quadratic(
            d=4, clients=3, L=1.0, mu=0.5, G=0.5, sigma=0.4, seed=2
        ),
        crowd=lambda: ft.problems.crowd(d=4, clients=3, L=1.0, mu=0.5, G=0.5, sigma=0.4, seed=2),
        bounded=lambda: ft.problems.bounded(d=4, clients=3, L=1.0, M=1.0, sigma=0.4, seed=2),
        logistic=lambda: ft.problems.logistic(
            [np.eye(4)] * 3, [np.array([1.0, -1.0, 1.0, 1.0])] * 3, 0.1, sigma=0.4, noise="gaussian"
        ),
    )[problem]()
    assert made.d == 4
    claim = DESCENT.replace(
        assumptions=(SMOOTH, house.COORDINATE_NOISE), bound=house.sigma_j**2, name="mine.noise"
    )
    found = ft.compare(claim, made, rounds=1, trials=2, eta=0.5, x_0=np.zeros(4))
    assert found.right == pytest.approx([0.4**2 / 4], rel=1e-12)
    reweighted = made.reweigh(made, np.array([0.0, 0.5, 0.3, 0.2])) if made.reweigh else made
    assert reweighted.constants["sigma_coordinate"] == made.constants["sigma_coordinate"]


def test_gradient_descent_on_a_parabola_by_hand():
    # f = (x - 1)^2 / 4 from x_0 = 3: each step of size 1/2 multiplies x - 1 by 3/4
    problem = ft.problems.quadratic_from_arrays([0.5], [[1.0], [1.0]])
    found = ft.compare(DESCENT, problem, rounds=40, trials=2, x_0=[3.0], eta=0.5)
    by_hand = 4 * (9 / 16) ** np.arange(1, 41)
    np.testing.assert_array_equal(found.T, np.arange(1, 41))
    for name in ("left", "low", "high", "left_exact", "right"):
        np.testing.assert_allclose(getattr(found, name), by_hand, rtol=1e-9)
    assert (found.right >= by_hand).all()  # rounded to the safe side
    assert found.exceeded is None and found.share == pytest.approx(1)
    too_low = DESCENT.replace(name="mine.low", bound=(1 - eta * mu) ** (2 * T + 2) * sq_distance_0)
    wrong = ft.compare(too_low, problem, rounds=3, trials=2, x_0=[3.0], eta=0.5)
    assert wrong.exceeded == 1 and "exceeded first at T = 1" in str(wrong)


def test_floats_that_stagnate_exceed_nothing():
    """x - 1 = 2 (3/4)^T is below the finest float around 1 after 130 rounds."""
    problem = ft.problems.quadratic_from_arrays([0.5], [[1.0], [1.0]])
    assert ft.compare(DESCENT, problem, rounds=600, trials=1, x_0=[3.0], eta=0.5).exceeded is None


def test_theorem_2_of_fsl_by_hand():
    problem = fsl_problem()
    found = ft.compare("fsl.theorem2", problem, rounds=5, trials=200, **FSL)
    A, b, x = problem.data.A[0], problem.data.b, np.array(FSL["x_0"])
    middle = (b[1:].mean(axis=0) + b[0]) / 2  # Hessians are alike: the modified loss's minimiser
    D_0, u = A @ (x - middle) ** 2 / 2, 2 * 0.02
    rho = (3 - 2) / (3 - 1)
    Psi = 0.3**2 / 2 + 0.4**2 / (2 * 2) + rho * 0.5**2 / 2
    kappa = max(4, 2 + 3)
    Phi = Psi + (0.4**2 / 2 + rho * 0.5**2) + 2 * 0.5**2 + 0.4**2 / 2
    floor = 5 * u * Psi + 8 * u**2 * (kappa / 2 * 0.2**2 + Phi)
    np.testing.assert_allclose(found.right, D_0 / (found.T * u) + floor, rtol=1e-9)
    h = 1.5 - u * (6 + 16 * kappa * u)
    e = ft.expected(problem, "fsl", rounds=5, **FSL).metrics["sq_tilde_grad_norm"]
    least = [e[:t].min() for t in found.T]  # the least of rounds 0 .. T - 1
    np.testing.assert_allclose(found.left_exact, h * np.array(least), rtol=1e-12)
    np.testing.assert_allclose(found.left[0], h * np.sum((A * (x - middle)) ** 2), rtol=1e-12)
    assert (found.low <= found.left).all() and (found.left <= found.high).all()


def test_a_statement_about_one_round_is_read_along_a_run():
    problem = fsl_problem()
    found = ft.compare("fsl.theorem1", problem, rounds=4, trials=2, **FSL)
    e = ft.expected(problem, "fsl", rounds=4, **FSL).metrics["tilde_loss"]
    np.testing.assert_allclose(found.left_exact, e[1:], rtol=1e-12)
    assert (found.left_exact <= found.right).all()


def test_the_infimum_is_that_of_the_loss_that_is_measured():
    # f_0 = (x - 3)^2 / 2, F = x^2 / 2: F is lowest at 0, F + f_0 at 3/2, (F + f_0 / 2) / (3/2) at 1
    problem = ft.problems.quadratic_from_arrays([1.0], [[3.0], [0.0]])
    low = lambda metric, gamma: measured_loss(problem, metric, gamma).lowest()
    assert low("loss", 1.0).high == pytest.approx(0)
    assert low("server_loss", 1.0).high == pytest.approx(0)
    assert low("mixed_loss", 1.0).high == pytest.approx(2 * (3 / 2) ** 2 / 2)
    assert low("tilde_loss", 0.5).high == pytest.approx((1 + 2**2 / 2) / 2 / (3 / 2))


def test_the_infimum_of_a_strongly_convex_loss_lies_between_its_ends():
    generator = np.random.default_rng(1)
    X = generator.standard_normal((2, 6, 2))
    y = np.sign(X @ np.array([1.0, -1.0]) + 0.3)
    problem = ft.problems.logistic(X, y, ridge=0.1, server=(X[0], y[0]))
    f = measured_loss(problem, "tilde_loss", 2.0)
    found = f.lowest()
    assert found.low <= found.high <= found.low + 1e-9
    for x in found.x + 0.1 * generator.standard_normal((50, 2)):
        assert f.loss(x) >= found.low


def test_one_reader_of_rounds():
    rows = np.array([[5.0, 3.0, 4.0, 1.0], [7.0, 5.0, 2.0, 3.0]])
    ends = np.array([1, 2, 3])
    read = lambda how: over_rounds(how, rows, ends).mean(axis=0).tolist()
    assert read("t") == read("T-1") == [6, 4, 3]
    assert read("t+1") == read("T") == [4, 3, 2]
    assert read("0") == [6, 6, 6] and read("1") == [4, 4, 4]
    assert read("min") == [6, 4, 3] and read("min_T") == [4, 3, 2]
    assert read("mean") == pytest.approx([6, 5, 13 / 3])
    assert at_end("min", rows, 3).tolist() == [[5, 3, 4], [7, 5, 2]]
    assert at_end("mean", rows, 3).tolist() == [[4], [14 / 3]]
    # of a minimum each row stands in the round that has the least mean
    assert over_rounds("min_T", rows, ends).tolist() == [[3, 4, 1], [5, 2, 3]]
    # or, where expectations are known, in that of the least of these
    guide = np.array([[6.0, 1.0, 2.0, 3.0]])
    assert over_rounds("min_T", rows, ends, guide).tolist() == [[3, 3, 3], [5, 5, 5]]


def test_a_claim_of_ones_own_takes_the_minimum_over_rounds():
    claim = DESCENT.replace(name="mine.least", measures=house.best_sq_grad, bound=1 / T)
    problem = ft.problems.quadratic_from_arrays([1.0], [[0.0], [0.0]])
    # the gradient is x, and a step of 2 flips its sign; eta L <= 1 would forbid it
    wild = claim.replace(name="mine.wild", assumptions=[])
    found = ft.compare(wild, problem, rounds=4, trials=1, x_0=[0.9], eta=2.0)
    assert found.left.tolist() == pytest.approx([0.81] * 4) and found.exceeded == 2


def test_steps_that_nothing_gives_are_those_that_hypotheses_prescribe():
    problem = fsl_problem()
    settings = dict(S=2, K=2, K_0=2, gamma=1.0, x_0=[1.0, -1.0])
    found = ft.compare(
        "fsl.corollary2a_explicit", problem, rounds=20, trials=2, c_a=0.1, **settings
    )
    for rounds, r in zip(
        found.T, found.runs
    ):  # K_0 eta_0 = c / ((gamma + 1) sqrt(T)) = K eta_l eta_g
        assert r.rounds == rounds
        assert 2 * r.hyper[0].eta_0 == pytest.approx(0.1 / (2 * np.sqrt(rounds)))
        assert r.hyper[0].eta_l == pytest.approx(r.hyper[0].eta_0)
    longest = ft.compare("fsl.theorem2", problem, rounds=2, trials=2, **settings)
    # (11): K_0 eta_0 <= min(eta_g, 1/gamma, 8/9) / (4 L) = 2/9
    assert 2 * longest.runs[0].hyper[0].eta_0 == pytest.approx(2 / 9, rel=1e-6)


def test_a_run_of_ones_own_is_set_against_the_same_bound():
    problem = fsl_problem()
    r = ft.run(problem, "fsl", rounds=5, trials=8, metrics=("loss",), **FSL)
    mine = ft.compare("fsl.theorem2", problem, r)
    again = ft.compare("fsl.theorem2", problem, rounds=5, trials=8, **FSL)
    for name, column in mine.columns().items():
        np.testing.assert_array_equal(column, again.columns()[name])


REFUSED = [
    ("fsl.theorem2", dict(eta_l=0.07), "assumes K eta_g eta_l = K_0 eta_0 [(11), first part]"),
    ("fsl.theorem2", dict(eta_l=5.0, eta_0=5.0), "assumes"),
    (
        "fsl.theorem2",
        dict(eta_0=[0.02, 0.03, 0.02]),
        "eta_0 must be constant over rounds for a comparison",
    ),
    ("fsl.theorem2", dict(rate=0.1), "compare takes the hyper-parameters of fsl"),
    ("fsl.theorem2", dict(rounds=0), "rounds must be"),
    ("fsl.corollary1", {}, "is an order, which no run can exceed; fsl.corollary1_explicit has"),
    ("fsl.eq10", {}, "names no method, so there is nothing to run"),
    ("fsl.lemma3", {}, "measures drift_grad_0"),
    ("flex.suboptimal_DE", {}, "after infinitely many rounds"),
    ("flex.table3_C_best", {}, "is a finding: it has no line"),
]


@pytest.mark.parametrize("id, change, says", REFUSED, ids=[f"{id} {c}" for id, c, _ in REFUSED])
def test_what_fails_is_named(id, change, says):
    with pytest.raises(InvalidInput) as refusal:
        ft.compare(id, fsl_problem(), **{"rounds": 3, "trials": 2, **FSL, **change})
    assert says in str(refusal.value)


def test_a_condition_that_fails_is_named():
    unequal = fsl_problem(weights=[1.0, 2.0, 3.0])
    with pytest.raises(InvalidInput, match="plain mean of the clients' losses"):
        ft.compare("fsl.theorem2", unequal, rounds=3, trials=2, **FSL)


def test_a_letter_means_what_its_paper_says():
    """G is dissimilarity in FSL, and in flex a bound of second moments that a quadratic lacks."""
    problem = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5, G=0.5)
    with pytest.raises(InvalidInput, match="second_moment|E\\|\\|g_t"):
        ft.compare("flex.theorem3_1", problem, rounds=2, E=2)


def test_one_noisy_trial_is_no_expectation():
    """Of a mean point there is an exact side only where nothing is random, however few trials."""
    claim, steps = "mixed.theoremB1_convex_explicit", dict(K=2, eta_s=1.0)
    make = lambda sigma: ft.problems.mixed(d=2, clients=2, L=1.0, mu=0.5, G=0.5, sigma=sigma)
    noisy = ft.compare(claim, make(0.3), rounds=3, trials=1, **steps)
    quiet = ft.compare(claim, make(0.0), rounds=3, trials=1, **steps)
    assert noisy.left_exact is None
    np.testing.assert_array_equal(quiet.left_exact, quiet.left)
    # f at the mean of x^(0), ..., x^(T) above its least value, by the quadratic's own formula
    problem = make(0.0)
    path = ft.run(
        problem, "parallel_training", rounds=3, keep="x", metrics=(), **steps_of(quiet)
    ).x[0]
    H = problem.data.H + problem.data.A[0]
    star = (problem.data.H * problem.data.x_star + problem.data.A[0] * problem.data.b[0]) / H
    for rounds in (1, 2, 3):
        gap = path[: rounds + 1].mean(axis=0) - star
        assert quiet.left[rounds - 1] == pytest.approx(H @ gap**2 / 2, rel=1e-9)


def steps_of(found):
    names = ("K", "eta", "eta_s", "eta_c", "eta_m")
    return {name: getattr(found.runs[0].hyper[0], name) for name in names}


def test_pictures_and_tables():
    problem = fsl_problem()
    found = ft.compare("fsl.theorem2", problem, rounds=5, trials=8, **FSL)
    ax = found.plot()
    bound, practice, exact = ax.get_lines()
    np.testing.assert_array_equal(bound.get_ydata(), found.right)
    np.testing.assert_array_equal(practice.get_ydata(), found.left)
    np.testing.assert_array_equal(exact.get_ydata(), found.left_exact)
    assert found.plot(ax=ax) is ax
    lines = str(found).splitlines()
    assert lines[0].startswith("theorem2") and len(lines) == 2 + 3 + 1  # T = 1, 2, 5
    r = found.runs[0]
    assert r.plot(ax=r.plot()) is not None and len(r.plot("sq_tilde_grad_norm").get_lines()) == 1
    with pytest.raises(InvalidInput, match="metrics must be among"):
        r.plot("no such")


def test_dataframes(monkeypatch):
    """With a stand-in for pandas, which is no requirement, and without any."""
    problem = fsl_problem()
    found = ft.compare("fsl.theorem2", problem, rounds=3, trials=2, **FSL)

    class Stand:
        DataFrame = dict

    monkeypatch.setitem(sys.modules, "pandas", Stand)
    frame = found.to_dataframe()
    assert list(frame) == ["T", "left", "low", "high", "left_exact", "right"]
    rows = found.runs[0].to_dataframe()
    assert (
        rows["trial"].tolist() == [0] * 4 + [1] * 4 and rows["round"].tolist() == [0, 1, 2, 3] * 2
    )
    np.testing.assert_array_equal(
        rows["sq_tilde_grad_norm"], found.runs[0].metrics["sq_tilde_grad_norm"].ravel()
    )
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InvalidInput, match="pandas, which is not installed"):
        found.to_dataframe()


def test_the_numbers_of_rounds_that_are_asked_for_are_those_of_a_whole_run():
    problem = fsl_problem()
    whole = ft.compare("fsl.theorem2", problem, rounds=20, trials=8, **FSL)
    some = ft.compare("fsl.theorem2", problem, rounds=[20, 3], trials=8, **FSL)
    assert some.T.tolist() == [3, 20] and len(some.runs) == 1
    for name in ("left", "low", "high", "left_exact", "right", "least", "most"):
        assert getattr(some, name).tolist() == getattr(whole, name)[[2, 19]].tolist()
    mean = "mixed.theoremB1_convex_explicit"  # reads losses at the asked points alone
    problem = ft.problems.mixed(d=2, clients=3, L=1.0, mu=0.5, sigma=0.2, seed=1)
    run = dict(trials=4, x_0=np.full(2, 2.0), S=2, K=2)
    whole, some = (ft.compare(mean, problem, rounds=T, **run) for T in (9, [4, 9]))
    assert some.left.tolist() == whole.left[[3, 8]].tolist()
    for wrong in ([0, 3], [2.5], []):
        with pytest.raises(InvalidInput, match="rounds must be whole numbers from 1 on"):
            ft.compare("fsl.theorem2", problem, rounds=wrong)


def test_steps_that_depend_on_the_rounds_are_those_of_the_rounds_that_are_asked_for():
    problem, shared = fsl_problem(), dict(trials=4, c_a=0.05, K=2, K_0=2, x_0=[1.0, -1.0])
    found = ft.compare("fsl.corollary2a_explicit", problem, rounds=[7, 28], **shared)
    assert [run.rounds for run in found.runs] == found.T.tolist() == [7, 28]
    alone = ft.compare("fsl.corollary2a_explicit", problem, rounds=[7], **shared)
    assert alone.left[0] == found.left[0]
    assert found.numbers["eta_0"][0] == pytest.approx(2 * found.numbers["eta_0"][1])


def test_without_runs_there_are_the_exact_expectation_and_the_bound():
    problem = fsl_problem()
    run, none = (ft.compare("fsl.theorem2", problem, rounds=5, trials=n, **FSL) for n in (2, 0))
    assert none.runs == () and np.isnan([*none.left, *none.low, *none.high]).all()
    assert none.right.tolist() == run.right.tolist()
    assert none.left_exact.tolist() == run.left_exact.tolist()
    assert none.says == run.says and list(none.columns()) == ["T", "left_exact", "right"]
    assert "bound: " in none.plot().get_legend_handles_labels()[1][0]
    alone = ft.compare("fsl.theorem2", problem, rounds=5, trials=0, exact=False, **FSL)
    assert alone.exceeded is None and "this is the bound alone" in alone.says


def test_a_given_quantity_is_not_measured():
    of = ft.problems.bounded(
        d=2, clients=2, L=1.0, M=1.0, layers=[1, 1], noise="rademacher", seed=3
    )
    run = dict(trials=4, x_0=[2.0, 2.0], alpha=0.02, epsilon=1.0, T=1, rounds=[3], exact=False)
    one, two = (ft.compare("lamb.theorem1_explicit", of, f_excess=f, **run) for f in (1.0, 2.0))
    assert two.right[0] - one.right[0] == pytest.approx(1 / (0.02 * 2 * 3))  # / (alpha h R)
    with pytest.raises(InvalidInput, match="no metric|measures nothing"):
        ft.compare("fsl.theorem2", fsl_problem(), rounds=5, E_T=1.0, **FSL)


def test_sides_are_divided_by_the_factor_of_what_is_measured():
    problem = fsl_problem()
    found = ft.compare("fsl.theorem2", problem, rounds=[9], trials=4, **FSL)
    e = ft.expected(problem, "fsl", rounds=9, **FSL).metrics["sq_tilde_grad_norm"]
    alone = found.per_quantity()
    assert alone.left_exact[0] == pytest.approx(e[:9].min(), rel=1e-12)
    assert alone.share == pytest.approx(found.share, rel=1e-12)
    more = DESCENT.replace("mine.more", measures=sq_distance_T + 1, bound=DESCENT.bound + 1)
    quiet = ft.problems.quadratic_from_arrays([0.5], [[1.0], [1.0]])
    with pytest.raises(InvalidInput, match="per_quantity takes a left side that is a multiple"):
        ft.compare(more, quiet, rounds=3, trials=1, eta=0.5, x_0=[3.0]).per_quantity()
