"""Logistic regression against its formula, its Hessian, and exact rationals."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.problems import logistic as maker
from fedtheory.problems.logistic import examples
from tests.problems.measured import (
    batches_agree,
    clients,
    contradicted,
    finite_difference,
    reached,
    server_first,
    twins_agree,
)

logistic = server_first(maker)
PROBLEMS = examples()


def arrays(sizes=(4, 5, 3, 6), d=3, seed=0, scale=1.0):
    generator = np.random.default_rng(seed)
    X = [scale * generator.standard_normal((n, d)) for n in sizes]
    return X, [np.where(generator.random(n) < 0.5, -1, 1) for n in sizes]


def hessian(X, ridge, x):
    """Sample by sample."""
    H = ridge * np.eye(x.size)
    for a in X:
        s = 1 / (1 + np.exp(-abs(a @ x)))
        H += s * (1 - s) * np.outer(a, a) / len(X)
    return H


def points(problem, seed=0, scales=(0.0, 0.1, 1.0, 10.0, 1e3), count=4):
    generator = np.random.default_rng(seed)
    return [scale * v for scale in scales for v in generator.standard_normal((count, problem.d))]


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_losses_and_gradients_are_the_formulas(scale):
    """Also where e^m overflows."""
    X, y = arrays(scale=scale)
    problem = logistic(X, y, 0.25)
    for x in np.random.default_rng(1).standard_normal((4, 3)):
        for i in range(4):
            loss, grad = mpmath.mpf(x @ x) / 8, [mpmath.mpf(v) / 4 for v in x]
            for a, label in zip(X[i], y[i]):
                m = label * mpmath.fdot(zip(map(float, a), map(float, x)))
                loss += mpmath.log1p(mpmath.exp(-m)) / len(y[i])
                grad = [g - label * v / (1 + mpmath.exp(m)) / len(y[i]) for g, v in zip(grad, a)]
            assert problem.client_loss(i, x) == pytest.approx(float(loss), rel=1e-13)
            assert np.allclose(
                problem.client_grad(i, x), [float(g) for g in grad], rtol=1e-12, atol=1e-14 * scale
            )


def test_a_tiny_loss_keeps_its_digits():
    problem = logistic([None, [[1.0]]], [None, [1]], 0.0)
    for m in (30.0, 36.7, 37.0, 100.0, 700.0):
        assert problem.loss([m]) == pytest.approx(
            float(mpmath.log1p(mpmath.exp(-m))), rel=2e-15, abs=0
        )
        assert problem.loss([-m]) == pytest.approx(m, rel=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_gradient_batches_and_objective_agree(name):
    problem, x = PROBLEMS[name], np.array([0.3, -1.2, 0.7])
    assert np.allclose(problem.grad(x), finite_difference(problem.loss, x), atol=1e-8)
    F = sum(problem.weights[i] * problem.client_loss(i, x) for i in range(1, problem.N + 1))
    assert problem.loss(x) == pytest.approx(F, rel=1e-14)
    batches_agree(problem, x)


@pytest.mark.parametrize("name", PROBLEMS)
def test_interpreted_and_compiled_kernels_agree(name):
    problem = PROBLEMS[name]
    twins_agree(problem, np.array([0.3, -1.2, 0.7]))


@pytest.mark.parametrize("name", PROBLEMS)
def test_L_and_mu_bound_every_eigenvalue(name):
    """L is attained at 0 by one client; mu far out."""
    problem = PROBLEMS[name]
    L, mu, data = problem.constants["L"].value, problem.constants["mu"].value, problem.data
    top, bottom = 0.0, np.inf
    for x in points(problem):
        for i in clients(problem):
            rows = data.X[data.starts[i] : data.starts[i + 1]]
            eigenvalues = np.linalg.eigvalsh(hessian(rows, data.ridge, x))
            top, bottom = max(top, eigenvalues[-1]), min(bottom, eigenvalues[0])
    assert L * (1 - 1e-11) < top <= L
    assert mu * (1 - 1e-12) - 1e-16 <= bottom < mu + 0.01


def test_L_is_certified_in_rationals():
    """4 n (L - ridge) I - X'X has no negative eigenvalue; a little less than L, and it has one."""
    for seed in range(20):
        X, y = arrays((5, 4), d=2, seed=seed)
        problem = logistic([None, X[1]], [None, y[1]], 0.125)
        a = [[Fraction(v) for v in row] for row in X[1]]
        gram = [[sum(row[i] * row[j] for row in a) for j in range(2)] for i in range(2)]

        def definite(L):
            t = 16 * (L - Fraction(0.125))
            return t >= gram[0][0] and (t - gram[0][0]) * (t - gram[1][1]) >= gram[0][1] ** 2

        L = Fraction(problem.constants["L"].value)
        assert definite(L) and not definite(L * (1 - Fraction(1, 10**11)))


def test_G_and_xi_bar_of_a_shared_design_are_exact():
    """Gradients differ by X'(ybar - y_i) / n, y in {0, 1}: rational, so rounding up is seen
    exactly."""
    generator = np.random.default_rng(3)
    X = generator.standard_normal((6, 2))
    y = [generator.integers(0, 2, 6) for _ in range(4)]
    for weights in (None, [1, 2, 5]):
        problem = logistic([X] * 4, y, 0.1, weights=weights)
        p = [Fraction(w) / 8 for w in (1, 2, 5)] if weights else [Fraction(1, 3)] * 3
        mean = [sum(w * int(labels[r]) for w, labels in zip(p, y[1:])) for r in range(6)]
        gaps = [
            [
                sum(Fraction(X[r, j]) * (mean[r] - int(labels[r])) for r in range(6)) / 6
                for j in range(2)
            ]
            for labels in y
        ]
        squares = [sum(v * v for v in gap) for gap in gaps]
        exact = dict(G=sum(squares[1:]) / 3, xi_bar=squares[0])
        for name, square in exact.items():
            constant = problem.constants[name]
            assert square <= Fraction(constant.value) ** 2 <= square * (1 + Fraction(1, 10**11))
            assert constant.scope == "global"
        for x in points(problem):  # and they are what gradients show, everywhere
            F = problem.grad(x)
            for i in range(4):
                assert np.allclose(
                    problem.client_grad(i, x) - F, [float(v) for v in gaps[i]], atol=1e-12
                )
        assert contradicted(problem, points(problem)) == []


def test_equal_samples_have_no_dissimilarity():
    X, y = arrays()
    problem = logistic([X[1]] * 4, [y[1]] * 4, 0.1, weights=[1, 2, 4])
    assert problem.constants["G"].value == problem.constants["xi_bar"].value == 0.0
    apart = logistic([X[0]] + [X[1]] * 3, [y[0]] + [y[1]] * 3, 0.1)
    assert apart.constants["G"].value == 0.0 and apart.constants["xi_bar"].value > 0.1
    alone = logistic(X[:2], y[:2], 0.1)
    assert alone.constants["G"].value == 0.0


@pytest.mark.parametrize("weights", [None, "samples", [5, 1, 1]])
@pytest.mark.parametrize("seed", range(5))
def test_no_gradient_contradicts_a_general_constant(weights, seed):
    """Saturated residuals are the worst: points far out in many directions."""
    X, y = arrays(seed=seed, d=2)
    problem = logistic(X, y, 0.0 if seed == 0 else 0.2, weights=weights)
    places = points(problem, seed, (0.0, 1.0, 100.0), count=12)
    shares = reached(problem, places)
    assert max(shares.values()) <= 1 + 1e-9
    assert min(shares["G"], shares["xi_bar"], shares["L"]) > 0.2  # bounds, not clouds
    for name in ("G", "xi_bar", "L"):
        less = problem.constants[name]._replace(
            value=0.99 * shares[name] * problem.constants[name].value
        )
        assert contradicted(
            replace(problem, constants={**problem.constants, name: less}), places
        ) == [name]


@pytest.mark.parametrize("weights", [[1, 1], [1, 3]])
def test_general_bounds_are_attained(weights):
    """Opposite rows that one far point misclassifies together: every triangle inequality is an
    equality."""
    right, left, near = (np.array([row]) for row in ([1.0, 1e-6], [-1.0, 1e-6], [-1.0, 2e-6]))
    for name, rows in dict(G=[right, right, left], xi_bar=[right, left, near]).items():
        problem = logistic(rows, [[1], [1], [1]], 0.1, weights=weights)
        F = problem.grad(x := np.array([0.0, -1e8]))
        squares = [np.sum((problem.client_grad(i, x) - F) ** 2) for i in range(3)]
        found = dict(G=np.sqrt(np.mean(squares[1:])), xi_bar=np.sqrt(squares[0]))
        assert problem.constants[name].value == pytest.approx(found[name], rel=1e-8)


def test_reweighted_is_built_anew():
    X, y = arrays()
    moved, fresh = (logistic(X, y, 0.1, weights=w, batch=2) for w in ([1, 1, 1], [0, 3, 1]))
    moved = moved.reweighted([0, 3, 1])
    assert moved.constants == fresh.constants
    assert np.array_equal(moved.minimizer(), fresh.minimizer())


@pytest.mark.parametrize("labels", [[1, 1, -1], [1, 1, 0], [True, True, False]])
def test_the_minimiser_of_one_variable(labels):
    """f(x) = (2 log(1 + e^-x) + log(1 + e^x)) / 3 + ridge x^2 / 2."""
    problem = logistic([None, np.ones((3, 1))], [None, labels], 0.05)
    s = lambda x: 1 / (1 + np.exp(-x))
    root = brentq(lambda x: (-2 * s(-x) + s(x)) / 3 + 0.05 * x, -5, 5, xtol=1e-15)
    assert problem.minimizer()[0] == pytest.approx(root, rel=1e-13)


@pytest.mark.parametrize("name", ["own", "shared"])
def test_the_minimiser_has_no_gradient(name):
    problem = PROBLEMS[name]
    x = problem.minimizer()
    assert np.linalg.norm(problem.grad(x)) < 1e-15
    for v in np.random.default_rng(0).standard_normal((20, 3)):
        assert problem.loss(x + 1e-3 * v) > problem.loss(x)


def test_a_steep_separable_problem_is_minimised():
    X = [None, np.array([[100.0, 0.0], [-50.0, 1.0]])]
    problem = logistic(X, [None, [1, -1]], 1e-6)
    assert np.linalg.norm(problem.grad(problem.minimizer())) < 1e-13


def test_without_ridge_there_is_no_minimiser_to_ask_for():
    with pytest.raises(InvalidInput, match="no known minimiser"):
        PROBLEMS["serverless"].minimizer()
    r = ft.run(PROBLEMS["serverless"], "fedavg", rounds=2, K=2, eta_l=0.1)
    assert np.isnan(r.metrics["sq_distance"]).all() and np.isfinite(r.metrics["loss"]).all()


def test_weights_by_samples():
    X, y = arrays()
    assert np.allclose(logistic(X, y, 0.1, weights="samples").weights, np.array([0, 5, 3, 6]) / 14)


def refusals():
    X, y = arrays()
    nan = [X[0], X[1].copy(), *X[2:]]
    nan[1][0, 0] = np.nan
    call = lambda X=X, y=y, ridge=0.1, **options: (X, y, ridge, options)
    return {
        "labels": (
            call(y=[y[0], y[1] + 1, *y[2:]]),
            r"y must hold labels of {-1, 1}, or of {0, 1}; got \[-1.0, 0.0",
        ),
        "mixed labels": (call(y=[y[0], (y[1] + 1) // 2, *y[2:]]), "y must hold labels"),
        "nan labels": (call(y=[y[0], y[1] * np.nan, *y[2:]]), "y must hold labels"),
        "nan": (call(X=nan), r"X\[0\] must be finite; got nan"),
        "ridge": (call(ridge=-1e-9), "ridge must be a finite number >= 0; got -1e-09"),
        "ridge nan": (call(ridge=np.nan), "ridge must be"),
        "lengths": (call(y=y[:-1]), "equal length"),
        "no client": (call(X=X[:1], y=y[:1]), "N >= 1"),
        "label count": (
            call(y=[y[0], y[1][:-1], *y[2:]]),
            r"y\[0\] must hold one label for each of 5",
        ),
        "width": (call(X=[X[0], X[1][:, :2], *X[2:]]), r"X\[1\] must have 2 features"),
        "flat": (call(X=[X[0], X[1][:, 0], *X[2:]]), r"X\[0\] must have shape"),
        "empty client": (
            call(X=[X[0], X[1][:0], *X[2:]], y=[y[0], y[1][:0], *y[2:]]),
            r"X\[0\] must have shape",
        ),
        "text": (call(X=[X[0], [["a", "b", "c"]], *X[2:]]), r"X\[0\] must be an array of numbers"),
        "server's width": (call(X=[X[0][:, :2], *X[1:]]), "server: X_0 must have 3 features"),
        "weights": (call(weights="users"), "weights must be None, 'samples'"),
        "weights length": (call(weights=[1, 2]), "weights must be 3"),
        "layers": (call(layers=[1, 1]), "layers must be"),
        "sigma": (call(sigma=0.1), "sigma and sigma_0 must be 0 under minibatch noise"),
        "batch": (call(batch=0), "batch must be a positive integer"),
        "batch fraction": (call(batch=1.5), "batch must be"),
        "batch length": (call(batch=[1, 2]), "batch must be a positive integer, or 3"),
        "batch_0": (call(batch_0=0), "batch_0 must be an integer >= 1"),
        "batch with gaussian": (call(batch=2, noise="gaussian"), "batch needs noise='minibatch'"),
        "replacement": (call(replacement=True), "replacement needs a batch size"),
        "noise": (call(noise="pink"), "noise must be one of"),
    }


@pytest.mark.parametrize("call, words", refusals().values(), ids=list(refusals()))
def test_refused(call, words):
    X, y, ridge, options = call
    with pytest.raises(InvalidInput, match=words):
        logistic(X, y, ridge, **options)


def test_the_server_is_named_or_absent():
    """Ten clients are ten clients: no place in the lists is the server's."""
    X, y = arrays((3,) * 10)
    problem = maker(X, y, 0.1)
    assert problem.N == 10 and not problem.has_server and problem.sizes.tolist() == [0] + [3] * 10
    served = maker(X[1:], y[1:], 0.1, server=(X[0], y[0]))
    assert served.N == 9 and served.has_server and served.sizes.tolist() == [3] * 10
    for wrong in (X[0], (X[0],), (X[0], y[0], y[0]), True, "first"):
        with pytest.raises(InvalidInput, match=r"server must be the pair \(X_0, y_0\)"):
            maker(X, y, 0.1, server=wrong)
    for half in ((None, y[0]), (X[0], None)):
        with pytest.raises(InvalidInput, match="server: [Xy]_0 must be an array of"):
            maker(X, y, 0.1, server=half)
    with pytest.raises(InvalidInput, match=r"X\[0\] must be an array of numbers; got None"):
        maker([None, *X[1:]], [None, *y[1:]], 0.1)
    with pytest.raises(InvalidInput, match="X must be a list of the clients' arrays; got 3"):
        maker(3, y, 0.1)
