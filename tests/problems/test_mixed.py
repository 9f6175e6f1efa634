"""Mixed problems: definition 4.2 in rationals and by maximising over x, the mixed minimiser,
assumption 4.1."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import Impossible, InvalidInput
from fedtheory.problems.mixed import bgd, examples, mixed, mixed_minimizer
from tests.problems.brute import finite_difference

EXAMPLES = examples()
WEIGHTS = [0.5, 0.3, 0.8]


def gradients(problem, x):
    return problem.grad(x), problem.client_grad(0, x)


def left_side(problem, x, w_f):
    f, c = gradients(problem, x)
    return f @ f / w_f + c @ c / (1 - w_f)


def supremum(problem, w_f, B):
    """sup over x of the left side minus B^2 ||grad f||^2, as a quadratic in x fitted from its
    values."""
    d = problem.d
    H = np.stack([problem.grad(e) - problem.grad(0 * e) for e in np.eye(d)])
    A = np.stack([problem.client_grad(0, e) - problem.client_grad(0, 0 * e) for e in np.eye(d)])
    u, v = gradients(problem, np.zeros(d))
    square = H @ H / w_f + A @ A / (1 - w_f) - B**2 * (H + A) @ (H + A)
    linear = H @ u / w_f + A @ v / (1 - w_f) - B**2 * (H + A) @ (u + v)
    top = np.linalg.lstsq(-square, linear, rcond=1e-10)[0]
    return left_side(problem, top, w_f) - B**2 * np.sum(
        (u + v + (H + A) @ top) ** 2
    ), np.linalg.eigvalsh(square).max()


@pytest.mark.parametrize("label", EXAMPLES)
@pytest.mark.parametrize("w_f", WEIGHTS)
def test_G_is_the_least_that_goes_with_B(label, w_f):
    problem = EXAMPLES[label]
    pairs = bgd(problem, w_f)
    generator = np.random.default_rng(0)
    for B in pairs.B_min * np.array([1.01, 1.3, 4.0]):
        value, curvature = supremum(problem, w_f, B)
        assert curvature <= 1e-9
        assert pairs.G(B) ** 2 == pytest.approx(value, rel=1e-9)
        for x in 10 * generator.standard_normal((20, problem.d)):
            total = sum(gradients(problem, x))
            assert left_side(problem, x, w_f) <= (pairs.G(B) ** 2 + B**2 * total @ total) * (
                1 + 1e-12
            )
        assert pairs.B(pairs.G(B)) == pytest.approx(
            B if np.any(pairs.loads) else pairs.B_min, rel=1e-9
        )
    assert pairs.G(0.999 * pairs.B_min) == np.inf and pairs.B(0.999 * pairs.G_min) == np.inf
    assert pairs.G(1e8) == pytest.approx(pairs.G_min, rel=1e-9)


@pytest.mark.parametrize("label", EXAMPLES)
@pytest.mark.parametrize("w_f", WEIGHTS)
def test_no_smaller_B_has_a_finite_G(label, w_f):
    """Far out along the worst direction the left side outgrows any smaller B."""
    problem, B = EXAMPLES[label], bgd(EXAMPLES[label], w_f).B_min
    assert supremum(problem, w_f, 0.99 * B)[1] > 1e-3 * B**2
    assert bgd(problem, w_f).B_min >= 1.0


def test_the_trade_off_in_rationals():
    """One dimension, f_f = (x - 1)^2 / 2, f_c = 3 (x + 2)^2 / 2, w_f = 1/3: the supremum of a
    parabola."""
    problem = ft.problems.quadratic_from_arrays(
        np.array([[3.0], [1.0], [1.0]]), np.array([[-2.0], [1.0], [1.0]])
    )
    pairs = bgd(problem, 1 / 3)
    w_f, w_c = Fraction(1, 3), Fraction(2, 3)
    # (x - 1)^2 / w_f + 9 (x + 2)^2 / w_c - B^2 (4 x + 5)^2
    for B2 in (Fraction(2), Fraction(3), Fraction(9, 2)):
        square = 1 / w_f + 9 / w_c - 16 * B2
        linear = -2 / w_f + 36 / w_c - 40 * B2
        level = 1 / w_f + 36 / w_c - 25 * B2
        G2 = level - linear**2 / (4 * square)
        assert square < 0
        assert pairs.G(float(B2) ** 0.5) == pytest.approx(float(G2) ** 0.5, rel=1e-13)
        assert pairs.B(float(G2) ** 0.5) == pytest.approx(float(B2) ** 0.5, rel=1e-12)
    assert pairs.B_min == pytest.approx(float((1 / w_f + 9 / w_c) / 16) ** 0.5, rel=1e-14)
    assert pairs.G_min == pytest.approx(
        float(((Fraction(9, 4)) ** 2) / (w_f * w_c)) ** 0.5, rel=1e-14
    )  # x = -5/4
    assert mixed_minimizer(problem)[0] == -1.25


@pytest.mark.parametrize("label", ["shared", "flat"])
def test_shared_hessians_hold_the_definition_with_equality(label):
    """Equation (7)'s G_t at w_f = w_c = 1/2 is the requested G at every x, with B = 1."""
    problem = EXAMPLES[label]
    G = problem.constants["G_bgd"].value
    assert G == {"shared": 1.0, "flat": 0.3}[label] and problem.constants["B_bgd"].value == 1.0
    pairs = bgd(problem)
    assert (
        pairs.B_min == 1.0
        and pairs.G(1.0) == pytest.approx(G, rel=1e-12)
        and pairs.B(G * (1 + 1e-12)) == 1.0
    )
    for x in 5 * np.random.default_rng(1).standard_normal((10, problem.d)):
        total = sum(gradients(problem, x))
        assert left_side(problem, x, 0.5) - total @ total == pytest.approx(G**2, rel=1e-10)
        assert np.linalg.norm(np.subtract(*gradients(problem, x))) == pytest.approx(G, rel=1e-12)


def definition_fails(problem):
    """Whether some x contradicts the problem's own (G, B), or one of the two is larger than it need
    be."""
    G, B = (problem.constants[name].value for name in ("G_bgd", "B_bgd"))
    value, curvature = supremum(problem, 0.5, B)
    smaller, convex = supremum(problem, 0.5, 0.999 * B)
    return (
        curvature > 1e-9
        or abs(value - G**2) > 1e-9 * G**2
        or (convex <= 1e-9 and smaller <= G**2 * (1 + 1e-9))
    )


@pytest.mark.parametrize("label", EXAMPLES)
def test_constants(label):
    problem = EXAMPLES[label]
    hessian = lambda i: np.stack(
        [problem.client_grad(i, e) - problem.client_grad(i, 0 * e) for e in np.eye(problem.d)]
    )
    curvatures = np.concatenate([np.linalg.eigvalsh(hessian(i)) for i in range(problem.N + 1)])
    assert problem.constants["L"].value == pytest.approx(curvatures.max(), rel=1e-12)
    assert problem.constants["mu"].value == pytest.approx(curvatures.min(), rel=1e-12, abs=1e-12)
    for x in 5 * np.random.default_rng(1).standard_normal((5, problem.d)):
        gaps = [problem.client_grad(i, x) - problem.grad(x) for i in range(1, problem.N + 1)]
        spread = np.sqrt(np.mean([gap @ gap for gap in gaps]))
        assert problem.constants["sigma_f"].value == problem.constants["G"].value
        assert problem.constants["sigma_f"].value == pytest.approx(spread, rel=1e-11, abs=1e-12)
        difference = finite_difference(lambda z: problem.client_loss(1, z), x)
        assert np.allclose(problem.client_grad(1, x), difference, atol=1e-6)
    assert problem.constants["sigma_c"].value == problem.sigma[0]
    assert not definition_fails(problem)
    for name in ("G_bgd", "B_bgd"):
        for factor in (0.99, 1.01):
            wrong = problem.constants[name]._replace(value=factor * problem.constants[name].value)
            assert definition_fails(replace(problem, constants={**problem.constants, name: wrong}))


@pytest.mark.parametrize("label", EXAMPLES)
def test_the_mixed_minimiser(label):
    problem = EXAMPLES[label]
    x = mixed_minimizer(problem)
    f, c = gradients(problem, x)
    assert np.linalg.norm(f + c) < 1e-12
    requested = {"shared": 1.0, "own": 1.0, "own_dense": 0.5, "flat": 0.3, "one": 0.3}[label]
    assert np.linalg.norm(f - c) == pytest.approx(requested, rel=1e-10)
    value = problem.loss(x) + problem.client_loss(0, x)
    for step in np.random.default_rng(2).standard_normal((10, problem.d)):
        assert problem.loss(x + step) + problem.client_loss(0, x + step) >= value - 1e-12


def test_clients_are_homogeneous_by_default():
    problem = EXAMPLES["own"]
    x = np.array([1.0, -2.0, 0.5])
    assert all(
        np.array_equal(problem.client_grad(i, x), problem.client_grad(1, x)) for i in range(2, 4)
    )
    assert problem.constants["sigma"].value == 0.3 and problem.constants["G"].value == 0.0
    equal = mixed(
        3, 2, L=1.0, mu=1.0, hessian="own", seed=1
    )  # mu = L leaves f_c no Hessian of its own
    assert np.allclose(equal.grad(equal.minimizer() + x), x, atol=1e-14)


def test_other_weights():
    problem = EXAMPLES["own_dense"].reweighted([1.0, 1.0])
    x = problem.minimizer()
    assert np.linalg.norm(problem.grad(x)) < 1e-12 and not definition_fails(problem)
    spread = np.sqrt(np.mean([np.sum(problem.client_grad(i, x) ** 2) for i in (1, 2)]))
    assert problem.constants["G"].value == pytest.approx(spread, rel=1e-12) and spread > 0.1
    assert problem.constants["L"].value == 2.0 and problem.constants["G"].scope == "global"


@pytest.mark.parametrize(
    "arguments, says",
    [
        (dict(mu=2.0), "mu must be <= L, the largest curvature; got mu=2.0, L=1.0"),
        (dict(sigma=-1.0), "sigma must be finite and nonnegative.*; got -1.0"),
        (dict(sigma_c=-1.0), "sigma_c must be a finite number >= 0; got -1.0"),
        (dict(L=float("nan")), "L must be a finite number >= 0"),
        (dict(L=0.0, mu=0.0), "L must be > 0"),
        (dict(G=-1.0), "G must be a finite number >= 0"),
        (dict(hessian="round"), "hessian must be diagonal, dense, own or own_dense; got 'round'"),
        (dict(d=1), "in one dimension a shared curvature is both mu and L"),
        (dict(clients=1, sigma_f=0.5), "sigma_f must be 0 where one client is all of f_f"),
        (
            dict(mu=0.0, hessian="own_dense", G=0.5),
            "gradients can differ only where both losses are curved",
        ),
        (
            dict(d=1, mu=0.0, hessian="own", G=0.5),
            "gradients can differ only where both losses are curved",
        ),
        (dict(layers=[1]), "layers must be positive sizes that add up to d = 3"),
        (dict(clients=True), "clients must be an integer >= 1"),
    ],
)
def test_refusals(arguments, says):
    with pytest.raises(InvalidInput, match=says):
        mixed(**{**dict(d=3, clients=2, L=1.0, mu=0.5), **arguments})
    assert issubclass(Impossible, InvalidInput)


@pytest.mark.parametrize(
    "arguments, says",
    [
        (dict(w_f=0.0), r"w_f must be in \(0, 1\); got 0.0"),
        (dict(w_f=float("nan")), r"w_f must be in \(0, 1\)"),
        (dict(w_f=0.4, w_c=0.5), "w_c must be 1 - w_f"),
    ],
)
def test_refusals_of_bgd(arguments, says):
    with pytest.raises(InvalidInput, match=says):
        bgd(EXAMPLES["own"], **arguments)
    with pytest.raises(InvalidInput, match="problem must be a quadratic with a server"):
        bgd(ft.problems.nonconvex(1, 1, L=1.0))


@pytest.mark.parametrize("label", EXAMPLES)
def test_compiled_runs_equal_interpreted_ones(label):
    settings = dict(rounds=3, trials=2, seed=3, K=2, K_0=2, eta_l=0.1, eta_0=0.1)
    compiled, slow = (ft.run(EXAMPLES[label], "fsl", compiled=c, **settings) for c in (True, False))
    assert np.array_equal(compiled.final, slow.final)
    assert all(
        np.array_equal(compiled.metrics[name], slow.metrics[name]) for name in compiled.metrics
    )
