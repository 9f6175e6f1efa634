"""Numbers at the ends of what floats hold: computed right, or refused with the reason; never a
quiet 0, NaN or -0."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput


def refused(words, call):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value).startswith(words) and "\n" not in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    "L, says",
    [
        (1e200, "L must be 0 or of a size from 1e-150 to 1e+150"),
        (1e-310, "L must be 0 or of a size from"),
        (5e-324, "L must be 0 or of a size"),
    ],
)
def test_curvatures_whose_squares_are_no_floats(L, says):
    refused(says, lambda: ft.problems.quadratic(2, 2, L=L, mu=L))
    refused("A must be", lambda: ft.problems.quadratic_from_arrays([L, L], np.zeros((3, 2))))


def test_numbers_that_leave_the_floats_together():
    refused(
        "G / mu and xi_bar / mu must be at most 1e+150",
        lambda: ft.problems.quadratic(2, 3, L=1e-100, mu=1e-100, G=1e100),
    )
    refused(
        "curvatures and distances must leave",
        lambda: ft.problems.quadratic_from_arrays(
            [1e120, 1e120], np.array([[0, 0], [1e120, 0], [-1e120, 0]])
        ),
    )
    refused(
        "b must be at most 1e+150",
        lambda: ft.problems.quadratic_from_arrays([1, 1], [[1e200, 0], [0, 0]]),
    )
    refused("G must be 0 or of a size", lambda: ft.problems.quadratic(2, 3, L=1, mu=1, G=1e-200))
    refused("x must", lambda: ft.problems.quadratic(2, 3, L=1, mu=1).loss([10**400, 0]))


@pytest.mark.parametrize("scale", [1e-140, 1e-20, 1.0, 1e20, 1e140])
@pytest.mark.parametrize("hessian", ["diagonal", "dense", "own", "own_dense"])
def test_expectations_do_not_depend_on_the_unit_of_the_loss(scale, hessian):
    """A loss c F with steps eta / c takes the same path: what is measured in points agrees, in
    losses it is c times."""

    def exact(c):
        problem = ft.problems.quadratic(
            3, 3, L=c, mu=c / 8, G=c / 4, xi_bar=c / 8, hessian=hessian, seed=3
        )
        return ft.expected(
            problem,
            "fsl",
            rounds=4,
            S=2,
            K=2,
            K_0=2,
            eta_l=0.25 / c,
            eta_0=0.25 / c,
            x_0=np.ones(3),
        )

    one, other = exact(1.0), exact(scale)
    np.testing.assert_allclose(other.metrics["sq_distance"], one.metrics["sq_distance"], rtol=1e-9)
    np.testing.assert_allclose(other.metrics["loss"], scale * one.metrics["loss"], rtol=1e-9)


@pytest.mark.parametrize("L, mu", [(1e8, 1.0), (1e12, 1e-6), (1.0, 1e-9), (1e100, 1e60)])
def test_expectations_at_any_condition_number(L, mu):
    """One gradient step of size 1 / L takes x - x* to (1 - a / L)(x - x*), coordinate by
    coordinate."""
    problem = ft.problems.quadratic(3, 2, L=L, mu=mu, seed=4)
    gap, a = np.array([1.0, -2.0, 0.5]), problem.data.A[0]
    e = ft.expected(problem, "fedavg", rounds=3, K=1, eta_l=1 / L, x_0=problem.minimizer() + gap)
    wanted = [np.sum(((1 - a / L) ** t * gap) ** 2) for t in range(4)]
    np.testing.assert_allclose(e.metrics["sq_distance"], wanted, rtol=1e-12)


def test_a_dense_hessian_that_cannot_carry_its_mu_is_refused():
    for hessian in ("dense", "own_dense"):
        refused(
            "mu must be 0 or at least 9.31323e-10 L where Hessians are dense",
            lambda: ft.problems.quadratic(3, 2, L=1e12, mu=1e-3, hessian=hessian),
        )
        found = np.linalg.eigvalsh(
            ft.problems.quadratic(3, 2, L=1e6, mu=1e-2, hessian=hessian).data.A[0]
        )
        np.testing.assert_allclose(found[[0, -1]], [1e-2, 1e6], rtol=1e-6)


@pytest.mark.parametrize(
    "method, hyper, scale",
    [
        ("fed_lamb", dict(alpha=0.01, T=5, bias_correction="overwrite"), 1.0),
        ("fed_lamb", dict(alpha=0.01, T=2), 1e145),
        ("fed_ams", dict(alpha=0.01, T=2, epsilon=1e-8), 1e145),
        ("fedadam", dict(eta=0.01, eta_l=1e-2, K=2), 1e145),
    ],
)
def test_moments_that_overflow_are_a_divergence(method, hyper, scale):
    """An infinite second moment makes every later step 0: the run has not arrived, it is lost, and
    says so."""
    problem = ft.problems.quadratic(2, 2, L=scale, mu=scale, sigma=scale / 10)
    x_0 = np.full(2, 1.0 if scale == 1.0 else 1e12)
    with pytest.warns(ft.errors.Diverged):
        r = ft.run(problem, method, rounds=400, trials=2, x_0=x_0, metrics=("loss",), **hyper)
    assert (r.diverged >= 0).all() and np.isnan(r.metrics["loss"][:, -1]).all()
    first = r.diverged[0]
    assert (
        np.isfinite(r.metrics["loss"][0, : first + 1]).all()
        and np.isnan(r.metrics["loss"][0, first + 1 :]).all()
    )


@pytest.mark.parametrize("gamma", [0.5, 1.0, 3.0])
def test_squares_are_not_negative(gamma):
    """At the minimiser of F + gamma f_0 the gradients cancel; their sum's square is 0, up to the
    square of rounding."""
    for seed in range(20):
        problem = ft.problems.quadratic(2, 2, L=1, mu=0.3, xi_bar=0.7, seed=seed)
        x_0 = (problem.minimizer() + gamma * problem.data.b[0]) / (1 + gamma)
        setting = dict(rounds=1, eta_l=0.1, eta_0=0.1, gamma=gamma, x_0=x_0)
        e = ft.expected(problem, "fsl", **setting)
        assert 0 <= e.metrics["sq_tilde_grad_norm"][0] < 1e-30
        r = ft.run(
            problem, "fsl", metrics=("sq_tilde_grad_norm", "sq_mixed_grad_norm", "sq_xi"), **setting
        )
        for name in r.metrics:
            assert (r.metrics[name] >= 0).all() and (e.metrics[name] >= 0).all()
            np.testing.assert_allclose(r.metrics[name][0], e.metrics[name], rtol=1e-9, atol=1e-15)
    with pytest.raises(InvalidInput, match=r"x_0 must be finite of shape \(2,\); got \(1, 2\)"):
        ft.expected(problem, "fsl", **{**setting, "x_0": [x_0]})


def test_what_rounding_takes_is_named_as_the_reason():
    problem = ft.problems.quadratic(4, 4, L=1, mu=1e-9, G=1, xi_bar=0.5, sigma=0.1, hessian="dense")
    try:
        e = ft.expected(problem, "fsl", rounds=3, S=2, K=2, K_0=2, eta_l=1.0, eta_0=0.5)
    except ft.errors.NotExact as error:
        assert "rounding leaves its gradients a relative error of" in str(
            error
        ) and "not an affine map" not in str(error)
    else:
        assert np.isfinite(e.metrics["sq_distance"]).all()


def test_verdicts_at_the_edges_of_a_formula_are_verdicts_or_refusals():
    import sympy

    claim = ft.claim("fsl.theorem1")
    gamma = claim.table["gamma"].symbol
    at_zero = claim.replace(
        "mine.fedavg", assumptions=[*claim.assumes, *claim.unstated, sympy.Eq(gamma, 0)]
    )
    assert ft.check(at_zero, budget=0.5).status in (
        "holds",
        "proved",
        "undecided",
    )  # gamma = 0 is FedAvg
    for digits in (4300, 5000):
        long = sympy.Rational(10**digits + 1, 3 * 10 ** (digits - 1) + 1)
        refused(
            "mine.long: bound: its numbers must have at most 4000 digits",
            lambda: claim.replace("mine.long", bound=long * claim.bound),
        )
    refused(
        "L must be a finite number > 0; got one int too long",
        lambda: ft.problems.quadratic(2, 2, L=10**5000, mu=1),
    )
    refused(
        "d must be an integer <= 2147483646; got one int",
        lambda: ft.problems.quadratic(10**5000, 2, L=1, mu=1),
    )
    nearly = sympy.Rational(int("1" * 3000), int("3" * 2999 + "1"))
    assert (
        ft.check(
            claim.replace("mine.nearly", bound=nearly * claim.bound, weakened=None), budget=0.5
        ).status
        == "violated"
    )
