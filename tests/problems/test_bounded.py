"""Bounded-gradient problems and one-sided quadratics: H1, H2, H3 by search and by runs."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.problems.bounded import bounded, examples, huber, infimum
from tests.problems.brute import finite_difference, flaws

EXAMPLES = examples()
MORE = dict(
    corners=bounded(
        2, 2, L=1.0, M=2.0, G=0.3, xi_bar=0.4, sigma=[0.1, 0.3], sigma_0=0.2, shape="huber"
    ),
    wave=bounded(
        2, 3, L=[1.0, 3.0], M=2.0, G=0.1, shape="wave", layers=[1, 1], noise="rademacher", sigma=0.5
    ),
)
ALL = {**EXAMPLES, **MORE}


def reach(problem):
    """Far enough for slopes and curvatures to show, in units of the width."""
    return (
        3.0
        if problem.data.kind == 4
        else (60.0 if problem.data.kind == 0 else 4.0) * problem.data.w[0]
    )


@pytest.mark.parametrize("problem", ALL.values(), ids=ALL)
def test_constants_are_what_a_search_finds(problem):
    assert flaws(problem, reach(problem), n=1500) == []


@pytest.mark.parametrize(
    "name", ["L", "L/fc/b", "M", "M_0", "G", "xi_bar", "F_inf", "mu", "weak_convexity"]
)
@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_the_search_sees_a_damaged_constant(name, factor):
    problem = next(
        p
        for p in EXAMPLES.values()
        if name in p.constants and (name not in ("mu", "xi_bar") or p.constants[name].value > 0)
    )
    constant = problem.constants[name]
    wrong = constant._replace(value=constant.value * factor if constant.value else factor - 1)
    damaged = replace(problem, constants={**problem.constants, name: wrong})
    assert flaws(damaged, reach(problem), n=1500) == [name]


@pytest.mark.parametrize("problem", ALL.values(), ids=ALL)
def test_gradients_are_the_derivatives_of_losses(problem):
    for x in 2 * np.random.default_rng(0).standard_normal((3, problem.d)):
        for i in range(problem.N + 1):
            assert np.allclose(
                problem.client_grad(i, x),
                finite_difference(lambda z: problem.client_loss(i, z), x),
                atol=1e-8,
            )
        mean = sum(problem.weights[i] * problem.client_loss(i, x) for i in range(1, problem.N + 1))
        assert problem.loss(x) == pytest.approx(mean, rel=1e-12, abs=1e-13)


def test_values_worked_by_hand():
    # One coordinate of curvature 2 and M = 6: width 3, so 18 (sqrt(1 + (t/3)^2) - 1); at t = 4: 18
    # (5/3 - 1) = 12.
    one = bounded(1, 1, L=2.0, M=6.0)
    c = one.data.c
    assert one.data.w[0] == 3.0
    assert one.loss(c + 4) == pytest.approx(12.0, rel=1e-14) and one.grad(c + 4)[
        0
    ] == pytest.approx(4.8, rel=1e-14)
    # sqrt(1 + u^2) - 1 would lose all digits here
    assert one.loss(c + 3e-9) == pytest.approx(((c[0] + 3e-9) - c[0]) ** 2, rel=1e-12)
    # Huber: 2 right, 0.5 left, straight from 1.5 on: 2 (1.5^2 / 2 + 1.5 * 0.5) at 2; a quarter of
    # it at -2.
    one = huber(1, 1, L=2.0, left=0.5, width=1.5)
    c = one.data.c
    assert np.allclose([one.loss(c + 2), one.loss(c - 2)], [3.75, 0.9375], rtol=1e-14)
    assert np.allclose(
        [one.grad(c + 2)[0], one.grad(c - 2)[0], one.grad(c - 0.5)[0]],
        [3.0, -0.75, -0.25],
        rtol=1e-14,
    )
    assert one.constants["M"].value == 3.0 and one.constants["mu"].value == 0.0
    hinge = huber(1, 1, L=3.0)
    assert hinge.loss(hinge.data.c - 7) == 0.0 and hinge.grad(hinge.data.c + 2)[0] == pytest.approx(
        6.0, rel=1e-14
    )


@pytest.mark.parametrize("label", ["hinge", "sided", "huber"])
def test_one_sided_kernels_agree_with_rationals(label):
    problem = EXAMPLES[label]
    data, F = problem.data, lambda v: Fraction(float(v))
    for x in data.c + 2 * np.random.default_rng(1).standard_normal((5, problem.d)):
        for i in range(problem.N + 1):
            value, slopes = Fraction(0), []
            for j in range(problem.d):
                gap = F(x[j]) - F(data.c[j])
                k = F(data.a[j]) * (1 if gap > 0 else F(data.q))
                inner = min(abs(gap), F(data.w[j])) if label == "huber" else abs(gap)
                value += k * (inner * abs(gap) - inner * inner / 2) + F(data.o[i, j]) * gap
                slopes.append(k * inner * (1 if gap > 0 else -1) + F(data.o[i, j]))
            assert problem.client_loss(i, x) == pytest.approx(float(value), rel=1e-14, abs=1e-14)
            assert np.allclose(
                problem.client_grad(i, x), [float(s) for s in slopes], rtol=1e-14, atol=1e-14
            )


@pytest.mark.parametrize("label", ["layered", "nonconvex", "wave"])
def test_stochastic_gradients_keep_the_bounds(label):
    """One client alone, steps of size 1: consecutive points differ by its stochastic gradient."""
    problem = ALL[label]
    M, s, sigma = (problem.constants[name].value for name in ("M", "sigma_coordinate", "sigma"))
    run = ft.run(problem, "fedavg", rounds=40, trials=30, S=1, K=1, eta_l=1.0, keep="x", seed=2)
    cohorts = np.stack(
        [
            ft.participation.Participation().draw(
                2, np.arange(30), t, 1, 1, np.array([1]), problem.N
            )[0]
            for t in range(40)
        ]
    )[:, :, 0, 0]
    noise = []
    for trial in range(30):
        for t in range(40):
            x, i = run.x[trial, t], cohorts[t, trial]
            g = (x - run.x[trial, t + 1]) / (problem.N * problem.weights[i])
            assert np.linalg.norm(g) <= M * (1 + 1e-12)
            noise.append(g - problem.client_grad(i, x))
    noise = np.array(noise)
    assert np.allclose(
        np.sum(noise**2, axis=1), sigma**2, rtol=1e-9
    )  # sphere and rademacher: surely
    variance = np.mean(
        noise**2, axis=0
    )  # 1200 draws; a square on the sphere varies by at most 2 sigma^4 / d^2
    assert np.all(abs(variance - s**2) <= 5 * s**2 * np.sqrt(2 / 1200))


@pytest.mark.parametrize("label", ["layered", "sided"])
@pytest.mark.parametrize("gamma", [0.0, 0.5, 3.0])
def test_infimum_of_the_servers_mixture(label, gamma):
    problem = EXAMPLES[label]
    mixture = lambda x: (problem.loss(x) + gamma * problem.client_loss(0, x)) / (1 + gamma)
    c, lowest = problem.data.c, 0.0
    for e in np.eye(problem.d):
        lowest += min(mixture(c + t * e) for t in np.linspace(-2, 2, 8001))
    assert lowest - 1e-6 <= infimum(problem, gamma) <= lowest + 1e-12


def test_infima_at_the_edge_of_the_slopes():
    one = bounded(1, 1, L=1.0, M=1.0, xi_bar=1.0)
    pull = one.data.o[0, 0]
    assert abs(pull) == 1.0
    assert infimum(one, 1.0) == pytest.approx(
        np.sqrt(1 - 0.25) - 1, rel=1e-14
    )  # inf sqrt(1 + u^2) - 1 + u / 2
    one = bounded(1, 1, L=1.0, M=1.0, xi_bar=4.0)
    assert infimum(one, 1 / 3) == pytest.approx(
        -1.0, rel=1e-14
    )  # slope 1 exactly: approached, nowhere attained
    assert infimum(one, 0.5) == -np.inf
    pulls = set()
    for seed in range(6):  # the flat side of a hinge falls for ever, the curved side to -v^2 / 2
        one = huber(1, 1, L=1.0, xi_bar=1.0, seed=seed)
        pulls.add(np.sign(one.data.o[0, 0]))
        expected = -np.inf if one.data.o[0, 0] > 0 else -0.125
        assert infimum(one, 1.0) == pytest.approx(expected, rel=1e-14)
    assert pulls == {-1.0, 1.0}


def test_other_weights_move_the_minimiser():
    problem = EXAMPLES["sided"].reweighted([1.0, 1.0])
    assert (
        np.linalg.norm(problem.data.tilt) > 0.01
        and np.linalg.norm(problem.grad(problem.minimizer())) < 1e-14
    )
    assert flaws(problem, 3.0) == [] and problem.constants["F_inf"].value < 0
    gone = EXAMPLES["layered"].reweighted([1.0, 1.0, 0.0])
    assert np.linalg.norm(gone.grad(gone.minimizer())) < 1e-14 and gone.constants["M"].value == 3.0


@pytest.mark.parametrize(
    "arguments, says",
    [
        (dict(L=0.0), "L must be a finite number > 0, or one for each of 1 layers; got 0.0"),
        (dict(L=[1.0, 2.0]), "L must be a finite number > 0, or one for each of 1 layers"),
        (dict(L=float("nan")), "L must be a finite number"),
        (dict(M=0.2, G=0.5), "M must exceed the norm that tilts and noise alone reach"),
        (dict(M=0.2, sigma=0.2), "M must exceed the norm that tilts and noise alone reach"),
        (dict(M=float("inf")), "M must be a finite number"),
        (dict(sigma=-1.0), "sigma must be finite and nonnegative.*; got -1.0"),
        (dict(sigma_0=-1.0), "sigma_0 must be finite and nonnegative"),
        (dict(noise="gaussian"), "noise must be sphere or rademacher, .*; got 'gaussian'"),
        (dict(shape="sided"), "shape must be pseudo_huber, huber, rational or wave"),
        (dict(layers=[2, 2]), "layers must be positive sizes that add up to d = 3"),
        (dict(clients=1, G=1.0), "G must be 0 where one client is all of F"),
        (dict(clients=0), "clients must be an integer >= 1"),
    ],
)
def test_refusals(arguments, says):
    with pytest.raises(InvalidInput, match=says):
        bounded(**{**dict(d=3, clients=2, L=1.0, M=2.0), **arguments})


@pytest.mark.parametrize(
    "arguments, says",
    [
        (dict(left=2.0), "left must be <= L, the largest curvature; got left=2.0, L=1.0"),
        (dict(left=-1.0), "left must be a finite number >= 0"),
        (dict(width=0.0), "width must be > 0"),
        (dict(width=float("nan")), "width must be > 0"),
        (dict(L=0.0), "L must be > 0"),
        (dict(sigma=float("nan")), "sigma must be finite"),
    ],
)
def test_refusals_of_huber(arguments, says):
    with pytest.raises(InvalidInput, match=says):
        huber(**{**dict(d=3, clients=2, L=1.0), **arguments})


@pytest.mark.parametrize("label", EXAMPLES)
def test_compiled_runs_equal_interpreted_ones(label):
    settings = dict(rounds=3, trials=2, seed=3, K=2, K_0=2, eta_l=0.1, eta_0=0.1)
    compiled, slow = (ft.run(EXAMPLES[label], "fsl", compiled=c, **settings) for c in (True, False))
    assert np.array_equal(compiled.final, slow.final)
    assert all(
        np.array_equal(compiled.metrics[name], slow.metrics[name]) for name in compiled.metrics
    )
    assert np.any(compiled.final != 0)
