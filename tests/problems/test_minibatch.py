"""Minibatch noise: unbiased, of exactly the stated variance, drawn as the engine says."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import problems, rng
from fedtheory.errors import InvalidInput
from fedtheory.problems import _samples
from fedtheory.rng import NO_DRAW
from tests.problems.measured import clients, server_first

logistic, softmax = map(server_first, (problems.logistic, problems.softmax))


def arrays(sizes, seed=0):
    generator = np.random.default_rng(seed)
    X = [generator.standard_normal((n, 2)) for n in sizes]
    return X, [generator.integers(0, 2, n) for n in sizes]


MAKERS = dict(logistic=logistic, softmax=softmax)
SIZES = (3, 4, 5, 1)


def batches(problem, i):
    """All minibatches of client i, equally likely."""
    n, B = int(problem.sizes[i]), int(problem.batch_size[i])
    if problem.replacement:
        return list(itertools.product(range(n), repeat=B)) if B else [tuple(range(n))]
    return list(itertools.combinations(range(n), B if B else n))


def gradients(problem, i, x):
    out = np.empty((len(batches(problem, i)), problem.d))
    for g, rows in zip(out, batches(problem, i)):
        problem.kernels.batch(problem.data, i, np.array(rows), NO_DRAW, x, g)
    return out


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("batch", [1, 2, 3])
def test_enumerated_minibatches_have_the_stated_moments(kind, replacement, batch):
    problem = MAKERS[kind](*arrays(SIZES), 0.1, batch=batch, replacement=replacement)
    for x in np.random.default_rng(batch).standard_normal((3, problem.d)) * [[0.1], [1.0], [30.0]]:
        for i in clients(problem):
            g = gradients(problem, i, x)
            assert np.allclose(g.mean(axis=0), problem.client_grad(i, x), rtol=1e-12, atol=1e-14)
            variance = np.mean(np.sum((g - problem.client_grad(i, x)) ** 2, axis=1))
            assert _samples.minibatch_variance(problem, i, x) == pytest.approx(
                variance, rel=1e-11, abs=1e-28
            )
            bound = problem.constants["sigma" if i else "sigma_0"].value
            assert np.sqrt(variance) <= bound * (1 + 1e-14)


def test_the_finite_population_factor_in_rationals():
    """E||mean of B rows - mean||^2 = factor * population variance, exactly, over all
    minibatches."""
    values = [
        [Fraction(3), Fraction(-1)],
        [Fraction(5, 7), Fraction(2)],
        [Fraction(0), Fraction(-4, 3)],
        [Fraction(11), Fraction(1, 2)],
    ]
    n = len(values)
    mean = [sum(v[j] for v in values) / n for j in range(2)]
    spread = lambda rows: sum(
        (sum(values[r][j] for r in rows) / len(rows) - mean[j]) ** 2 for j in range(2)
    )
    population = sum(spread([r]) for r in range(n)) / n
    for B in range(1, n + 1):
        for replacement, ways in (
            (False, list(itertools.combinations(range(n), B))),
            (True, list(itertools.product(range(n), repeat=B))),
        ):
            exact = sum(map(spread, ways)) / len(ways) / population
            assert _samples.finite_factor(n, B, replacement) == pytest.approx(
                float(exact), rel=1e-15, abs=0
            )
    assert _samples.finite_factor(n, 0, False) == _samples.finite_factor(n, 9, False) == 0.0
    assert _samples.finite_factor(n, 9, True) == 1 / 9


@pytest.mark.parametrize("kind", MAKERS)
def test_the_uniform_bound_is_a_bound_and_no_loose_one(kind):
    problem = MAKERS[kind](*arrays((5, 6, 4), seed=2), 0.3, batch=2)
    worst, generator = np.zeros(3), np.random.default_rng(0)
    for scale in (0.0, 1.0, 5.0, 100.0):
        for x in scale * generator.standard_normal((20, problem.d)):
            worst = np.maximum(
                worst, [_samples.minibatch_variance(problem, i, x) for i in range(3)]
            )
    sigma, sigma_0 = problem.constants["sigma"].value, problem.constants["sigma_0"].value
    assert 0.5 * sigma < np.sqrt(worst[1:].max()) <= sigma
    assert 0.5 * sigma_0 < np.sqrt(worst[0]) <= sigma_0
    assert problem.constants["sigma"].scope == "global"


@pytest.mark.parametrize("kind", MAKERS)
def test_the_uniform_bound_is_attained_by_many_orthogonal_samples(kind):
    """All misclassified: each gradient is as long as it can be, and their mean is small."""
    n = 60
    problem = MAKERS[kind](
        [None, np.eye(n)],
        [None, np.ones(n)],
        0.0,
        batch=1,
        **(dict(classes=3, bias=False) if kind == "softmax" else {}),
    )
    x = np.full(n, -1e3) if kind == "logistic" else np.tile([1e3, 0.0, 0.0], n)
    variance, sigma = _samples.minibatch_variance(problem, 1, x), problem.constants["sigma"].value
    longest = dict(logistic=1.0, softmax=2.0)[kind]
    assert variance == pytest.approx(longest * (1 - 1 / n), rel=1e-12)
    assert variance <= sigma**2 <= longest * (1 + 1e-12)


def test_sizes_of_batches():
    X, y = arrays(SIZES)
    sizes = lambda **options: logistic(X, y, 0.1, **options).batch_size.tolist()
    assert sizes() == [0, 0, 0, 0]
    assert sizes(batch=4) == [3, 4, 4, 1]  # no more than there is
    assert sizes(batch=4, replacement=True) == [4, 4, 4, 4]
    assert sizes(batch=[1, 2, 3]) == [0, 1, 2, 1]
    assert sizes(batch=[1, 2, 3], batch_0=2) == [2, 1, 2, 1]
    assert sizes(batch=2, batch_0=1) == [1, 2, 2, 1]
    alone = logistic([None, *X[1:]], [None, *y[1:]], 0.1, batch=2)
    assert alone.batch_size.tolist() == [0, 2, 2, 1] and alone.sizes.tolist() == [0, 4, 5, 1]
    assert "sigma_0" not in alone.constants and not alone.has_server


def test_a_full_batch_has_no_noise():
    X, y = arrays(SIZES)
    whole, large = logistic(X, y, 0.1), logistic(X, y, 0.1, batch=99)
    assert whole.constants["sigma"].value == large.constants["sigma"].value == 0.0
    assert _samples.minibatch_variance(large, 2, np.ones(2)) == 0.0
    a, b = (
        ft.run(p, "fedavg", rounds=3, K=2, eta_l=0.1, keep="x", trials=2) for p in (whole, large)
    )
    assert np.array_equal(a.x, b.x) and np.array_equal(a.x[0], a.x[1])


@pytest.mark.parametrize("replacement", [False, True])
def test_the_engine_draws_the_rows_of_its_key(replacement):
    """One client, step 1: x_1 - x_0 = -(minibatch gradient), of rows fixed by (seed, trial, round,
    client, step)."""
    problem = logistic(*arrays((4, 6), seed=5), 0.1, batch=3, replacement=replacement)
    r = ft.run(
        problem,
        "fedavg",
        rounds=3,
        trials=4,
        seed=9,
        K=1,
        eta_l=1.0,
        keep="x",
        x_0=np.array([0.5, -1.0]),
    )
    for trial, t in itertools.product(range(4), range(3)):
        key, rows, g = (
            np.uint64(rng.stream_key(np.uint64(9), trial, t)),
            np.empty(3, dtype=np.int64),
            np.empty(2),
        )
        if replacement:
            rows[:] = [rng.uniform_below(key, 1, 0, rng.BATCH, b, 6) for b in range(3)]
        else:
            rng.draw_subset(key, 1, 0, rng.BATCH, np.arange(6), rows)
        problem.kernels.batch(problem.data, 1, rows, NO_DRAW, r.x[trial, t], g)
        assert np.allclose(r.x[trial, t + 1], r.x[trial, t] - g, rtol=0, atol=1e-15)


def test_minibatches_of_different_clients_are_independent():
    """The mean of two clients' first steps has a quarter of the sum of their variances; equal draws
    would not."""
    X, y = arrays((1, 6), seed=5)
    problem = logistic([None, X[1], X[1]], [None, y[1], y[1]], 0.1, batch=1)
    x, trials = np.array([0.5, -1.0]), 4000
    r = ft.run(
        problem, "fedavg", rounds=1, trials=trials, seed=1, K=1, eta_l=1.0, x_0=x, metrics=("loss",)
    )
    noise = x - r.final - problem.grad(x)
    square = np.sum(noise**2, axis=1)
    V = _samples.minibatch_variance(problem, 1, x)
    assert abs(square.mean() - V / 2) < 5 * square.std() / np.sqrt(trials)
    assert abs(square.mean() - V) > 5 * square.std() / np.sqrt(trials)
    assert np.all(abs(noise.mean(axis=0)) < 5 * noise.std(axis=0) / np.sqrt(trials))


def test_additive_noise_on_full_gradients():
    X, y = arrays(SIZES)
    problem = softmax(X, y, 0.1, noise="sphere", sigma=[0.1, 0.2, 0.3], sigma_0=0.4)
    assert problem.sigma.tolist() == [0.4, 0.1, 0.2, 0.3] and not problem.batch_size.any()
    assert (problem.constants["sigma"].value, problem.constants["sigma_0"].value) == (0.3, 0.4)
    one = softmax(X[:2], y[:2], 0.1, noise="sphere", sigma=0.25)
    r = ft.run(one, "fedavg", rounds=1, trials=5, K=1, eta_l=1.0, metrics=("loss",))
    noise = -r.final - one.grad(np.zeros(one.d))
    assert np.allclose(np.linalg.norm(noise, axis=1), 0.25, rtol=1e-13)
    with pytest.raises(InvalidInput, match="noise of softmax must be minibatch; got 'sphere'"):
        _samples.minibatch_variance(problem, 1, np.zeros(problem.d))


@pytest.mark.parametrize(
    "make",
    [
        lambda *a, **k: problems.logistic(*a, 0.1, **k),
        lambda *a, **k: problems.softmax(*a, 0.1, **k),
        problems.mlp,
    ],
)
def test_a_list_of_ten_is_ten_clients_and_the_server_is_given_by_name(make):
    """Lists used to begin with the server's: what is left of that would lose a client in silence."""
    X, y = arrays([3] * 10)
    alone, beside = make(X, y), make(X, y, server=(X[0], y[0]))
    assert (alone.N, alone.has_server) == (10, False) and list(alone.sizes) == [0] + [3] * 10
    assert (beside.N, beside.has_server) == (10, True) and beside.sizes[0] == 3
    for at in (0, 4):
        with pytest.raises(InvalidInput, match=rf"X\[{at}\] must be an array"):
            make([*X[:at], None, *X[at + 1 :]], y)
    for wrong in (X, X[0], (X[0],), (X[0], y[0], 1)):
        with pytest.raises(InvalidInput, match="server must be .* pair"):
            make(X, y, server=wrong)
