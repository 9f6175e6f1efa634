"""Softmax regression against its formula, its Hessian, and logistic regression."""

import sys
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import fedtheory as ft
from fedtheory import problems
from fedtheory.errors import InvalidInput
from fedtheory.problems.softmax import accuracy, examples, probabilities
from tests.problems.measured import (
    batches_agree,
    clients,
    contradicted,
    finite_difference,
    reached,
    server_first,
    twins_agree,
)

logistic, softmax = map(server_first, (problems.logistic, problems.softmax))

PROBLEMS = examples()


def arrays(sizes=(4, 5, 3, 6), features=2, classes=3, seed=0, scale=1.0):
    generator = np.random.default_rng(seed)
    X = [scale * generator.standard_normal((n, features)) for n in sizes]
    return X, [generator.integers(0, classes, n) for n in sizes]


def with_ones(X):
    return np.column_stack([X, np.ones(len(X))])


def hessian(X, C, ridge, x):
    """Sample by sample: aa' (x) (diag(p) - pp')."""
    F = X.shape[1]
    H = ridge * np.eye(F * C)
    for a in X:
        z = np.exp(a @ x.reshape(F, C) - np.max(a @ x.reshape(F, C)))
        p = z / z.sum()
        H += np.kron(np.outer(a, a), np.diag(p) - np.outer(p, p)) / len(X)
    return H


def rows_of(problem, i):
    data = problem.data
    return data.X[data.starts[i] : data.starts[i + 1], : data.features]


def points(problem, seed=0, scales=(0.0, 0.1, 1.0, 10.0, 1e3), count=4):
    generator = np.random.default_rng(seed)
    return [scale * v for scale in scales for v in generator.standard_normal((count, problem.d))]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_losses_and_gradients_are_the_formulas(bias, scale):
    X, y = arrays(scale=scale)
    problem = softmax(X, y, 0.25, bias=bias)
    for x in np.random.default_rng(1).standard_normal((2, problem.d)):
        W = x.reshape(-1, 3)
        for i in range(4):
            loss, grad = mpmath.mpf(x @ x) / 8, 0.25 * W
            for a, label in zip(with_ones(X[i]) if bias else X[i], y[i]):
                z = [mpmath.fdot(zip(map(float, a), map(float, W[:, c]))) for c in range(3)]
                mass = sum(mpmath.exp(v) for v in z)
                loss += (mpmath.log(mass) - z[label]) / len(y[i])
                p = np.array([float(mpmath.exp(v) / mass) for v in z])
                grad = grad + np.outer(a, p - np.eye(3)[label]) / len(y[i])
            assert problem.client_loss(i, x) == pytest.approx(float(loss), rel=1e-12)
            assert np.allclose(
                problem.client_grad(i, x), grad.ravel(), rtol=1e-11, atol=1e-13 * scale
            )


def test_layout_and_layers():
    """Entry f * classes + c of x is W[f, c]; the bias is the last row."""
    X, y = arrays(features=2, classes=3)
    problem = softmax(X, y, 0.1)
    assert [tuple(layer) for layer in problem.layers] == [("W", 0, 6), ("b", 6, 9)]
    assert [tuple(layer) for layer in softmax(X, y, 0.1, bias=False).layers] == [("W", 0, 6)]
    x = np.zeros(9)
    x[7] = np.log(4.0)  # bias of class 1: probabilities 1/6, 4/6, 1/6
    assert np.allclose(probabilities(problem, x, X[1]), [[1 / 6, 4 / 6, 1 / 6]] * 5)
    x[1 * 3 + 2] = 50.0  # class 2 where the second feature is large
    sure = np.array([[0.0, 1.0], [9.0, -1.0]])
    assert np.allclose(probabilities(problem, x, sure), [[0, 0, 1], [0.2, 0.8, 0]])
    assert accuracy(problem, x, sure, [2, 0]) == 0.5
    assert (
        accuracy(softmax(X, y, 0.1, bias=False), np.zeros(6), sure, [0, 0]) == 1.0
    )  # ties go to the first
    with pytest.raises(InvalidInput, match=r"X must have shape \(samples, 2\)"):
        accuracy(problem, x, np.ones((2, 3)), [0, 0])


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("features", [1, 3, 4])
@pytest.mark.parametrize("bias", [True, False])
def test_every_width_of_padding(classes, features, bias):
    X, y = arrays((3, 70, 5), features, classes)  # 70 samples are two blocks
    problem = softmax(X, y, 0.1, classes=classes, bias=bias)
    x = np.random.default_rng(1).standard_normal(problem.d)
    for i in range(3):
        a = with_ones(X[i]) if bias else X[i]
        z = a @ x.reshape(-1, classes)
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        grad = (a.T @ (p - np.eye(classes)[y[i]]) / len(a)).ravel() + 0.1 * x
        loss = np.mean(-np.log(p[np.arange(len(a)), y[i]])) + 0.05 * x @ x
        assert np.allclose(problem.client_grad(i, x), grad, rtol=1e-13, atol=1e-14)
        assert problem.client_loss(i, x) == pytest.approx(loss, rel=1e-13)


@pytest.mark.parametrize("classes", [2, 3, 10, 18])
def test_what_a_run_records_of_the_loss_does_not_depend_on_what_else_it_records(classes):
    X, y = arrays((3, 70, 5), 3, classes)
    problem = softmax(X, y, 0.1, classes=classes, batch=4)
    run = lambda names: ft.run(problem, "fedavg", rounds=3, K=2, eta_l=0.1, metrics=names)
    alone, beside = run(("loss",)), run(("loss", "sq_grad_norm", "sq_xi"))
    assert np.array_equal(alone.metrics["loss"], beside.metrics["loss"])
    x = np.random.default_rng(2).standard_normal(problem.d)
    found = problem.kernels.value(problem.data, problem.weights, x)
    assert found == problem.kernels.objective(problem.data, problem.weights, x, np.empty(x.size))
    losses = [problem.client_loss(i, x) for i in (1, 2)]
    assert found == pytest.approx(problem.weights[1:] @ losses, rel=1e-13)


@pytest.mark.parametrize("name", PROBLEMS)
def test_gradient_batches_and_objective_agree(name):
    problem = PROBLEMS[name]
    x = np.random.default_rng(2).standard_normal(problem.d)
    assert np.allclose(problem.grad(x), finite_difference(problem.loss, x), atol=1e-8)
    F = sum(problem.weights[i] * problem.client_loss(i, x) for i in range(1, problem.N + 1))
    assert problem.loss(x) == pytest.approx(F, rel=1e-14)
    batches_agree(problem, x)


@pytest.mark.parametrize("name", PROBLEMS)
def test_interpreted_and_compiled_kernels_agree(name):
    problem = PROBLEMS[name]
    twins_agree(problem, np.random.default_rng(2).standard_normal(problem.d))


def test_a_point_that_left_the_numbers_gives_no_number():
    problem = PROBLEMS["own"]
    for bad in (np.nan, np.inf):
        x = np.zeros(problem.d)
        x[4] = bad
        with np.errstate(invalid="ignore"):  # inf - inf, where kernels are interpreted
            loss, grad = problem.value_and_grad(x)
        assert np.isnan(loss) and np.isnan(grad).any()


@pytest.mark.parametrize("name", PROBLEMS)
def test_L_and_mu_bound_every_eigenvalue(name):
    """mu is an eigenvalue everywhere: a common shift of all classes changes no loss."""
    problem = PROBLEMS[name]
    L, mu, data = problem.constants["L"].value, problem.constants["mu"].value, problem.data
    for x in points(problem):
        for i in clients(problem):
            eigenvalues = np.linalg.eigvalsh(
                hessian(rows_of(problem, i), data.classes, data.ridge, x)
            )
            assert eigenvalues[-1] <= L
            assert eigenvalues[0] == pytest.approx(mu, rel=1e-10, abs=1e-13)


def test_L_is_attained_where_two_classes_share_all():
    """p = (1/2, 1/2, 0): diag(p) - pp' has eigenvalue 1/2. Only a bias can hold p there for all
    samples."""
    problem = PROBLEMS["own"]
    x = np.zeros(problem.d)
    x[-1] = -60.0
    tops = [np.linalg.eigvalsh(hessian(rows_of(problem, i), 3, 0.1, x))[-1] for i in range(4)]
    assert max(tops) == pytest.approx(problem.constants["L"].value, rel=1e-12)


def test_the_newton_matrix_is_the_hessian():
    at = sys.modules["fedtheory.problems.softmax"]._hessian_of
    for name, problem in PROBLEMS.items():
        x = np.random.default_rng(0).standard_normal(problem.d)
        slow = sum(
            problem.weights[i]
            * hessian(rows_of(problem, i), problem.data.classes, problem.data.ridge, x)
            for i in range(1, problem.N + 1)
        )
        assert np.allclose(at(problem)(x), slow, rtol=1e-12, atol=1e-14), name


def test_G_and_xi_bar_of_a_shared_design_are_exact():
    """Gradients differ by X'(Ybar - Y_i) / n, Y one-hot: rational, so rounding up is seen
    exactly."""
    generator = np.random.default_rng(3)
    X = generator.standard_normal((5, 2))
    y = [generator.integers(0, 3, 5) for _ in range(4)]
    a = [[*map(Fraction, row), Fraction(1)] for row in X]
    for weights in (None, [1, 2, 5]):
        problem = softmax([X] * 4, y, 0.1, weights=weights, classes=3)
        p = [Fraction(w) / 8 for w in (1, 2, 5)] if weights else [Fraction(1, 3)] * 3
        hot = [[[int(label == c) for c in range(3)] for label in labels] for labels in y]
        mean = [[sum(w * h[r][c] for w, h in zip(p, hot[1:])) for c in range(3)] for r in range(5)]
        squares = [
            sum(
                (sum(a[r][j] * (mean[r][c] - h[r][c]) for r in range(5)) / 5) ** 2
                for j in range(3)
                for c in range(3)
            )
            for h in hot
        ]
        for name, square in dict(G=sum(squares[1:]) / 3, xi_bar=squares[0]).items():
            value = Fraction(problem.constants[name].value)
            assert square <= value**2 <= square * (1 + Fraction(1, 10**11))
        for x in points(problem):
            F = problem.grad(x)
            gaps = [problem.client_grad(i, x) - F for i in range(4)]
            assert np.allclose(
                [g @ g for g in gaps], [float(s) for s in squares], rtol=1e-9, atol=1e-11
            )
        assert contradicted(problem, points(problem)) == []


@pytest.mark.parametrize("weights", [None, "samples", [5, 1, 1]])
@pytest.mark.parametrize("seed", range(3))
def test_no_gradient_contradicts_a_general_constant(weights, seed):
    X, y = arrays(seed=seed)
    problem = softmax(X, y, 0.0 if seed == 0 else 0.2, weights=weights)
    places = points(problem, seed, (0.0, 1.0, 100.0), count=12)
    shares = reached(problem, places)
    assert max(shares.values()) <= 1 + 1e-9
    assert min(shares["G"], shares["xi_bar"], shares["L"]) > 0.15
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
        problem = softmax(rows, [[0], [0], [0]], 0.1, weights=weights, bias=False)
        F = problem.grad(x := np.array([0.0, 0.0, -1e8, 1e8]))
        squares = [np.sum((problem.client_grad(i, x) - F) ** 2) for i in range(3)]
        found = dict(G=np.sqrt(np.mean(squares[1:])), xi_bar=np.sqrt(squares[0]))
        assert problem.constants[name].value == pytest.approx(found[name], rel=1e-7)


@pytest.mark.parametrize("classes", [3, 7])
def test_one_samples_gradients_reach_the_edge_of_their_ball(classes):
    """p at a vertex of the simplex, 1/classes its centre: two classes cannot show sqrt(1 -
    1/classes)."""
    module = sys.modules["fedtheory.problems.softmax"]
    problem = softmax([None, [[3.0, 4.0]]], [None, [1]], 0.0, classes=classes, bias=False)
    d = module._client_designs(problem.data)[1]
    x = np.zeros((2, classes))
    x[:, 0] = 100.0
    reach = module._gradient_reach(classes) * min(d.mean_norm, np.sqrt(d.top))
    assert np.linalg.norm(problem.grad(x.ravel()) - d.centre) == pytest.approx(reach, rel=1e-12)


def test_two_classes_are_logistic_regression():
    """With W = (v, -v) the scores differ by 2 a'v, and ridge ||W||^2 = (ridge / 2) ||2 v||^2."""
    X, y = arrays(classes=2, seed=4)
    soft = softmax(X, y, 0.3, bias=False, weights="samples")
    plain = logistic(X, [1 - labels for labels in y], 0.15, weights="samples")
    for v in np.random.default_rng(0).standard_normal((3, 2)):
        W = np.column_stack([v, -v]).ravel()
        assert soft.loss(W) == pytest.approx(plain.loss(2 * v), rel=1e-14)
    assert np.allclose(
        soft.minimizer().reshape(2, 2), np.outer(plain.minimizer(), [0.5, -0.5]), atol=1e-13
    )
    assert soft.constants["L"].value - 0.3 == pytest.approx(2 * (plain.constants["L"].value - 0.15))


@pytest.mark.parametrize("name", ["own", "shared"])
def test_the_minimiser_has_no_gradient(name):
    problem = PROBLEMS[name]
    assert np.linalg.norm(problem.grad(problem.minimizer())) < 1e-15


def test_without_ridge_there_is_no_minimiser_to_ask_for():
    with pytest.raises(InvalidInput, match="no known minimiser"):
        PROBLEMS["two"].minimizer()


def test_a_separable_problem_with_little_ridge_is_minimised():
    generator = np.random.default_rng(0)
    X = [10 * generator.standard_normal((12, 2)) for _ in range(3)]
    problem = softmax(X, [np.argmax(a @ [[1, 0, -1], [0, 2, 1]], axis=1) for a in X], 1e-8)
    assert np.linalg.norm(problem.grad(problem.minimizer())) < 1e-13


def test_reweighted_is_built_anew():
    X, y = arrays()
    moved, fresh = (softmax(X, y, 0.1, weights=w, batch=2) for w in ([1, 1, 1], [0, 3, 1]))
    moved = moved.reweighted([0, 3, 1])
    assert moved.constants == fresh.constants
    assert np.array_equal(moved.minimizer(), fresh.minimizer())


X, Y = arrays()
REFUSED = {
    "fraction": (dict(y=[Y[0] + 0.5, *Y[1:]]), "y must hold classes 0, 1, 2"),
    "negative": (dict(y=[Y[0] - 3, *Y[1:]]), "y must hold classes 0, 1, 2"),
    "nan": (dict(y=[Y[0] * np.nan, *Y[1:]]), "y must hold classes"),
    "infinite": (dict(y=[Y[0] * 1.0, Y[1] + np.inf, *Y[2:]]), "y must hold classes"),
    "classes": (dict(classes=2), "y must hold classes below 2; got 2"),
    "one class": (dict(classes=1), "classes must be an integer >= 2"),
    "shape": (dict(X=[X[0], X[1], X[2][:, :1], *X[3:]]), r"X\[1\] must have 2 features"),
    "ridge": (dict(ridge=-1), "ridge must be a finite number >= 0"),
    "sigma": (dict(sigma=1.0), "must be 0 under minibatch noise"),
}


@pytest.mark.parametrize("changes, words", REFUSED.values(), ids=list(REFUSED))
def test_refused(changes, words):
    with pytest.raises(InvalidInput, match=words):
        softmax(**{**dict(X=X, y=Y, ridge=0.1), **changes})
