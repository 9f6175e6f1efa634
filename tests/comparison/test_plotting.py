"""`ft.plot`: the lines are the numbers that were handed in, and what does not fit is refused."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import fedtheory as ft
from fedtheory.errors import InvalidInput

OF = dict(rounds=6, x_0=[1.0, -1.0], S=2, K=2, K_0=2, eta_l=0.02, eta_0=0.02, eta_g=1.0, gamma=1.0)


@pytest.fixture(scope="module")
def made():
    problem = ft.problems.quadratic(
        d=2, clients=4, L=1.0, mu=0.5, G=0.5, xi_bar=0.2, sigma=0.2, sigma_0=0.1
    )
    return ft.run(problem, "fsl", trials=8, **OF), ft.expected(problem, "fsl", **OF)


def axes():
    return Figure().add_subplot()


def test_lines_are_the_numbers_of_the_run_the_bound_and_the_expectation(made):
    run, expected = made
    ax = ft.plot(run, lambda t: 5 - t / 2, expected, metric="sq_grad_norm", ax=axes())
    sampled, bound, exact = (line.get_ydata() for line in ax.get_lines())
    assert sampled == pytest.approx(run.metrics["sq_grad_norm"].mean(axis=0))
    assert bound.tolist() == [5, 4.5, 4, 3.5, 3, 2.5, 2]
    assert exact == pytest.approx(expected.metrics["sq_grad_norm"])
    same = ft.plot(run, np.array(bound), metric="sq_grad_norm", ax=axes()).get_lines()
    assert len(same) == 2 and same[1].get_ydata().tolist() == bound.tolist()
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    low, high = np.quantile(run.metrics["sq_grad_norm"], (0.1, 0.9), axis=0)
    assert band.max() == pytest.approx(high.max()) and band.min() == pytest.approx(low.min())


def test_a_claim_is_drawn_as_its_comparison(made):
    run, _ = made
    found = ft.compare("fsl.theorem2", run.problem, run=run)
    for ax in (ft.plot(run, "fsl.theorem2", ax=axes()), ft.plot(found, ax=axes())):
        assert ax.get_lines()[0].get_label() == "bound: FSL, theorem 2"
        assert ax.get_lines()[0].get_ydata() == pytest.approx(found.right)


@pytest.mark.parametrize(
    "more, says",
    [
        (dict(bound=[1.0, 2.0]), "bound must be a claim, a function of the round, or 7 numbers"),
        (dict(bound=object()), "bound must be a claim"),
        (dict(bound="fsl.theorem99"), "theorem99"),
        (dict(expected=3.0), "expected must be the result of ft.expected for 6 rounds"),
        (dict(metric="noise"), "metric"),
    ],
)
def test_what_does_not_fit_is_refused(made, more, says):
    with pytest.raises(InvalidInput, match=says):
        ft.plot(made[0], ax=axes(), **more)
    with pytest.raises(InvalidInput, match="run must be the result of ft.run or ft.compare"):
        ft.plot(made[1])
