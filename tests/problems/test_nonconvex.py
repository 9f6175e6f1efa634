"""Non-convex problems: formulas in rationals, constants by search, infima by grids."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import Impossible, InvalidInput
from fedtheory.problems.nonconvex import examples, infimum, nonconvex
from tests.problems.brute import finite_difference, flaws

EXAMPLES = examples()
MORE = dict(
    steep_wave=nonconvex(
        2, 2, L=1.0, shape="wave", weak_convexity=0.25, growth=0.3, G=0.1, width=0.4, seed=4
    ),
    given=nonconvex(2, 3, L=2.0, weak_convexity=0.4, G=0.3, xi_bar=0.1, seed=5),
)
ALL = {**EXAMPLES, **MORE}


@pytest.mark.parametrize("problem", ALL.values(), ids=ALL)
def test_constants_are_what_a_search_finds(problem):
    assert flaws(problem, reach=9.0 * problem.data.w[0]) == []


@pytest.mark.parametrize(
    "name",
    ["L", "L/layer2", "G", "G_star", "B", "xi_bar", "weak_convexity", "F_inf", "PL", "M", "M_0"],
)
@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_the_search_sees_a_damaged_constant(name, factor):
    label = next(
        label
        for label, problem in ALL.items()
        if name in problem.constants
        and (name not in ("G", "G_star") or problem.constants["G"].value > 0)
    )
    problem = ALL[label]
    constant = problem.constants[name]
    wrong = constant._replace(value=constant.value * factor if constant.value else factor - 1)
    damaged = replace(problem, constants={**problem.constants, name: wrong})
    assert flaws(damaged, reach=9.0 * problem.data.w[0]) == [name]


@pytest.mark.parametrize("problem", ALL.values(), ids=ALL)
def test_gradients_are_the_derivatives_of_losses(problem):
    for x in np.random.default_rng(0).standard_normal((3, problem.d)):
        for i in range(problem.N + 1):
            difference = finite_difference(lambda z: problem.client_loss(i, z), x)
            assert np.allclose(problem.client_grad(i, x), difference, atol=1e-8)
        mean = sum(problem.weights[i] * problem.client_loss(i, x) for i in range(1, problem.N + 1))
        assert problem.loss(x) == pytest.approx(mean, rel=1e-13, abs=1e-14)
        assert np.allclose(
            problem.grad(x),
            sum(problem.weights[i] * problem.client_grad(i, x) for i in range(1, problem.N + 1)),
            atol=1e-14,
        )


def test_values_worked_by_hand():
    # L = 1, no growth: x^2 / (1 + x^2) / 2 about the centre; at distance 1 both value and slope are
    # 1/4.
    bump = nonconvex(1, 1, L=1.0, growth=0.0)
    c = bump.data.c
    assert bump.loss(c + 1) == pytest.approx(0.25, rel=1e-15) and bump.grad(c - 1)[
        0
    ] == pytest.approx(-0.25, rel=1e-15)
    # L = ell = 1, no growth, width 1: the slope rises to 1 at 1, falls to 0 at 2 (a maximum of
    # height 1), period 4.
    wave = nonconvex(1, 1, L=1.0, growth=0.0, shape="wave")
    c = wave.data.c
    assert np.allclose(
        [wave.loss(c + t) for t in (0, 1, 2, 3, 4, -2)], [0, 0.5, 1, 0.5, 0, 1], atol=1e-14
    )
    assert np.allclose(
        [wave.grad(c + t)[0] for t in (0, 1, 1.5, 2, 3, 4.5)], [0, 1, 0.5, 0, -1, 0.5], atol=1e-14
    )
    # m + a r^2, r = 1 / (1 + u^2), over a grid fine enough for five digits (a = 0.9, m = 0.1).
    r = np.linspace(1e-6, 1, 10**6)
    assert nonconvex(1, 1, L=1.0).constants["PL"].value == pytest.approx(
        np.min((0.1 + 0.9 * r**2) ** 2 / (0.1 + 0.9 * r)), rel=1e-6
    )


def exact(problem, i, x):
    """f_i and its gradient in rationals, from the formulas of the docstring."""
    data = problem.data
    value, slopes = Fraction(0), []
    for j in range(problem.d):
        floats = data.a[j], data.w[j], data.m[j], data.c[j], data.o[i, j], x[j]
        a, w, m, c, o, t = (Fraction(float(v)) for v in floats)
        u, gap = (t - c) / w, t - c
        if problem.data.kind == 1:
            psi, slope = u * u / (1 + u * u) / 2, u / (1 + u * u) ** 2
        # walk from 0 to u along the triangle wave's straight pieces, integrating each exactly
        else:
            q, left, psi, slope, n = Fraction(data.q), abs(u), Fraction(0), Fraction(0), 0
            pieces = [
                (Fraction(1), Fraction(1)),
                (2 / q, -q),
                (Fraction(1), Fraction(1)),
            ]  # length, curvature
            while left > 0:
                length, rise = pieces[n % 3]
                step = min(left, length)
                psi += slope * step + rise * step * step / 2
                slope += rise * step
                left, n = left - step, n + 1
            slope = slope if u >= 0 else -slope
        value += a * w * w * psi + m * gap * gap / 2 + o * gap
        slopes.append(a * w * slope + m * gap + o)
    return value, slopes


@pytest.mark.parametrize("label", ["rational", "wave", "bounded", "steep_wave"])
def test_kernels_agree_with_rationals(label):
    problem = ALL[label]
    for x in problem.data.c + 4 * np.random.default_rng(1).standard_normal((4, problem.d)):
        for i in range(problem.N + 1):
            value, slopes = exact(problem, i, x)
            assert problem.client_loss(i, x) == pytest.approx(float(value), rel=1e-13, abs=1e-13)
            assert np.allclose(
                problem.client_grad(i, x), [float(s) for s in slopes], rtol=1e-12, atol=1e-13
            )


@pytest.mark.parametrize("label", ["rational", "wave", "steep_wave", "given"])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0, 20.0])
def test_infimum_of_the_servers_mixture(label, gamma):
    problem = nonconvex(
        2,
        2,
        L=2.0,
        G=0.3,
        xi_bar=0.9,
        seed=7,
        **dict(
            rational={},
            wave=dict(shape="wave"),
            given=dict(weak_convexity=0.45),
            steep_wave=dict(shape="wave", weak_convexity=0.25, growth=0.3, width=0.4),
        )[label],
    )
    mixture = lambda x: (problem.loss(x) + gamma * problem.client_loss(0, x)) / (1 + gamma)
    points = np.linspace(-60, 60, 4001)
    c = problem.data.c
    lowest = 0.0
    for e in np.eye(2):  # separable: the infimum is the sum of the coordinates'
        coarse = [mixture(c + t * e) for t in points]
        near = points[np.argmin(coarse)]
        lowest += min(mixture(c + t * e) for t in np.linspace(near - 0.06, near + 0.06, 601))
    assert (
        lowest - 2e-8 <= infimum(problem, gamma) <= lowest + 1e-12
    )  # the grid is 2e-4 wide: L h^2 / 8 a coordinate


def test_without_growth_tilts_win():
    problem = nonconvex(2, 2, L=1.0, growth=0.0, G=0.2, xi_bar=0.1)
    assert infimum(problem) == 0.0 == problem.constants["F_inf"].value
    assert infimum(problem, 1.0) == -np.inf
    with pytest.raises(Impossible, match="weights must leave F a minimiser"):
        problem.reweighted([1.0, 3.0])


@pytest.mark.parametrize("label", ["rational", "wave"])
def test_other_weights_move_the_minimiser(label):
    problem = ALL[label].reweighted([1.0, 5.0, 1.0, 0.5][: ALL[label].N])
    assert np.linalg.norm(problem.data.tilt) > 0.05
    assert flaws(problem, reach=9.0) == []
    assert np.linalg.norm(problem.grad(problem.minimizer())) < 1e-12
    assert problem.loss(problem.minimizer()) == pytest.approx(
        problem.constants["F_inf"].value, rel=1e-12
    )
    same = problem.reweighted(ALL[label].weights[1:])
    assert np.array_equal(same.minimizer(), same.data.c) and same.constants["F_inf"].value == 0.0


@pytest.mark.parametrize(
    "arguments, says",
    [
        (dict(L=-1.0), "L must be a finite number >= 0; got -1.0"),
        (dict(L=0.0), "L must be > 0"),
        (dict(L=float("nan")), "L must be a finite number"),
        (dict(G=-0.1), "G must be a finite number >= 0"),
        (dict(sigma=-1.0), "sigma must be finite and nonnegative.*; got -1.0"),
        (dict(sigma_0=float("nan")), "sigma_0 must be finite"),
        (dict(d=0), "d must be an integer >= 1; got 0"),
        (dict(clients=2.5), "clients must be an integer >= 1; got 2.5"),
        (dict(clients=1, G=0.5), "G must be 0 where one client is all of F"),
        (dict(shape="cubic"), "shape must be rational or wave; got 'cubic'"),
        (
            dict(growth=0.3),
            "growth must be < L / 5, or the problem is convex; got growth=0.3, L=1.0",
        ),
        (dict(weak_convexity=0.3), "weak_convexity must be <= L / 4 in the rational shape"),
        (dict(weak_convexity=0.2, growth=0.1), "give one of the two"),
        (dict(shape="wave", weak_convexity=1.5), r"weak_convexity must be in \(0, L\]"),
        (dict(shape="wave", growth=1.0), "growth must be < L"),
        (dict(width=0.0), "width must be > 0"),
        (dict(layers=[1, 1]), "layers must be positive sizes that add up to d = 3"),
        (dict(weights=[1.0]), "weights must be 2 nonnegative numbers"),
        (dict(noise="pink"), "noise must be one of"),
    ],
)
def test_refusals(arguments, says):
    with pytest.raises(InvalidInput, match=says):
        nonconvex(**{**dict(d=3, clients=2, L=1.0), **arguments})


def test_infimum_refuses_other_problems():
    with pytest.raises(InvalidInput, match="problem must be one of nonconvex"):
        infimum(ft.problems.quadratic(2, 2, L=1.0, mu=0.5))
    with pytest.raises(InvalidInput, match="gamma must be a finite number >= 0"):
        infimum(EXAMPLES["one"], float("nan"))


@pytest.mark.parametrize("label", EXAMPLES)
def test_compiled_runs_equal_interpreted_ones(label):
    settings = dict(rounds=3, trials=2, seed=3, K=2, K_0=2, eta_l=0.1, eta_0=0.1)
    compiled, slow = (ft.run(EXAMPLES[label], "fsl", compiled=c, **settings) for c in (True, False))
    assert np.array_equal(compiled.final, slow.final)
    assert all(
        np.array_equal(compiled.metrics[name], slow.metrics[name]) for name in compiled.metrics
    )
    assert np.all(np.isfinite(compiled.final)) and np.any(compiled.final != 0)
