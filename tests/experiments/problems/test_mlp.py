"""The multilayer perceptron against a NumPy network that handles one sample at a time."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import problems, rng
from fedtheory.errors import InvalidInput
from fedtheory.experiments.problems import _network
from fedtheory.experiments.problems.mlp import accuracy, examples
from tests.problems.brute import finite_difference
from tests.problems.measured import server_first

mlp = server_first(problems.mlp)

EXAMPLES = examples()


def arrays(seed=0, inputs=12, classes=3, sizes=(6, 9, 5)):
    generator = np.random.default_rng(seed)
    return (
        [generator.standard_normal((n, inputs)) for n in sizes],
        [generator.integers(0, classes, n) for n in sizes],
    )


X, Y = arrays()
SMALL = mlp(X, Y, hidden=(5,), batch=4, classes=3, seed=1)  # 12-5-3
DEEP = mlp(X, Y, hidden=(5, 4), batch=4, classes=3, seed=2)
SHARP = np.random.default_rng(9).standard_normal(SMALL.d)


def reference(problem, x, features, label, widths):
    """One sample's loss, gradient and logits, by the chain rule in plain NumPy."""
    at, layers = 0, []
    for a, b in zip(widths, widths[1:]):
        layers.append((x[at : at + a * b].reshape(a, b), x[at + a * b : at + a * b + b]))
        at += a * b + b
    outputs = [features]
    for n, (W, b) in enumerate(layers):
        z = outputs[-1] @ W + b
        outputs.append(np.where(z > 0, z, 0) if n + 1 < len(layers) else z)
    z = outputs[-1]
    loss = np.log(np.sum(np.exp(z - z.max()))) + z.max() - z[label]
    delta = np.exp(z - z.max()) / np.sum(np.exp(z - z.max())) - np.eye(z.size)[label]
    pieces = []
    for n in range(len(layers) - 1, -1, -1):
        pieces = [np.outer(outputs[n], delta).ravel(), delta, *pieces]
        delta = (layers[n][0] @ delta) * (outputs[n] > 0)
    return loss, np.concatenate(pieces), z


@pytest.mark.parametrize(
    "problem, widths", [(SMALL, (12, 5, 3)), (DEEP, (12, 5, 4, 3))], ids=["small", "deep"]
)
def test_losses_and_gradients_agree_with_numpy(problem, widths):
    for x in (problem.start, np.random.default_rng(3).standard_normal(problem.d)):
        F, slope = 0.0, np.zeros(problem.d)
        for i in range(3):
            each = [reference(problem, x, f, label, widths) for f, label in zip(X[i], Y[i])]
            loss, grad = np.mean([e[0] for e in each]), np.mean([e[1] for e in each], axis=0)
            assert problem.client_loss(i, x) == pytest.approx(loss, rel=1e-13)
            assert np.allclose(problem.client_grad(i, x), grad, rtol=1e-11, atol=1e-14)
            if i > 0:
                F, slope = F + loss / 2, slope + grad / 2
        assert problem.loss(x) == pytest.approx(F, rel=1e-13)
        assert np.allclose(problem.grad(x), slope, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(
    "problem", [SMALL, DEEP, *EXAMPLES.values()], ids=["small", "deep", *EXAMPLES]
)
def test_gradients_are_the_derivatives_of_losses(problem):
    x = problem.start + 0.1 * np.random.default_rng(4).standard_normal(problem.d)
    for i in range(0 if problem.has_server else 1, problem.N + 1):
        difference = finite_difference(lambda z: problem.client_loss(i, z), x)
        assert np.allclose(problem.client_grad(i, x), difference, atol=1e-8)


def test_a_batch_is_the_mean_of_its_samples():
    rows = np.array([7, 2, 2, 0])
    out = np.empty(SMALL.d)
    SMALL.kernels.batch(SMALL.data, 1, rows, rng.NO_DRAW, SHARP, out)
    each = [reference(SMALL, SHARP, X[1][r], Y[1][r], (12, 5, 3))[1] for r in rows]
    assert np.allclose(out, np.mean(each, axis=0), rtol=1e-11, atol=1e-14)
    single = np.zeros(SMALL.d)
    for r in rows:
        one = np.empty(SMALL.d)
        SMALL.kernels.batch(SMALL.data, 1, np.array([r]), rng.NO_DRAW, SHARP, one)
        single += one / 4
    assert np.allclose(out, single, rtol=1e-11, atol=1e-14)


def test_blocks_of_rows_change_nothing():
    """A client with more rows than one block against the mean over its halves."""
    n = _network.ROWS + 37
    big, labels = arrays(5, 4, 3, (2, n))
    whole = mlp(big, labels, hidden=(3,), classes=3)
    halves = mlp(
        [big[0], big[1][:300], big[1][300:]],
        [labels[0], labels[1][:300], labels[1][300:]],
        hidden=(3,),
        classes=3,
        weights=[300, n - 300],
    )
    x = whole.start
    assert whole.client_loss(1, x) == pytest.approx(halves.loss(x), rel=1e-13)
    assert np.allclose(whole.client_grad(1, x), halves.grad(x), rtol=1e-11, atol=1e-14)
    assert accuracy(whole, x, big[1], labels[1]) == pytest.approx(
        (
            300 * accuracy(whole, x, big[1][:300], labels[1][:300])
            + (n - 300) * accuracy(whole, x, big[1][300:], labels[1][300:])
        )
        / n,
        rel=1e-14,
    )


def test_extreme_logits_stay_finite():
    x = 1e3 * SHARP
    with np.errstate(over="ignore"):
        assert np.isfinite(SMALL.loss(x)) and np.all(np.isfinite(SMALL.grad(x)))
    assert SMALL.client_loss(1, 0 * x) == pytest.approx(np.log(3), rel=1e-14)  # equal logits


def test_one_full_batch_round_by_hand():
    problem = mlp(X, Y, hidden=(5,), batch=None, classes=3, seed=1)
    x, eta, eta_0 = problem.start, 0.3, 0.2
    mean = lambda x, i: np.mean(
        [reference(problem, x, f, y, (12, 5, 3))[1] for f, y in zip(X[i], Y[i])], axis=0
    )
    ends = [x - eta * mean(x, i) for i in (1, 2)]
    middle = (ends[0] + ends[1]) / 2
    run = ft.run(problem, "fsl", rounds=1, K=1, K_0=1, eta_l=eta, eta_0=eta_0, gamma=1.0)
    assert np.allclose(run.final[0], middle - eta_0 * mean(middle, 0), rtol=1e-12, atol=1e-14)


def test_one_minibatch_step_by_hand():
    """The rows are those that the stream of (seed, trial 0, round 0) deals to client i at step
    0."""
    run = ft.run(SMALL, "fedavg", rounds=1, K=1, eta_l=0.3, seed=11)
    ends = []
    for i in (1, 2):
        rows = np.empty(4, dtype=np.int64)
        rng.draw_subset(rng.stream_key(11, 0, 0), i, 0, rng.BATCH, np.arange(len(X[i])), rows)
        assert len(set(rows)) == 4
        g = np.mean(
            [reference(SMALL, SMALL.start, X[i][r], Y[i][r], (12, 5, 3))[1] for r in rows], axis=0
        )
        ends.append(SMALL.start - 0.3 * g)
    assert np.allclose(run.final[0], (ends[0] + ends[1]) / 2, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "algorithm, steps",
    [("fedavg", dict(K=3, eta_l=0.2)), ("fsl", dict(K=3, K_0=2, eta_l=0.2, eta_0=0.1, S=1))],
)
def test_runs_learn_and_do_not_depend_on_workers(algorithm, steps):
    runs = [
        ft.run(SMALL, algorithm, rounds=20, trials=4, seed=5, workers=w, chunk=c, **steps)
        for w, c in ((1, None), (2, 3), (2, None))
    ]
    for run in runs[1:]:
        assert np.array_equal(runs[0].final, run.final)
        assert all(
            np.array_equal(runs[0].metrics[name], run.metrics[name], equal_nan=True)
            for name in run.metrics
        )
    assert np.all(runs[0].metrics["loss"][:, -1] < runs[0].metrics["loss"][:, 0])
    assert (
        len({final.tobytes() for final in runs[0].final}) == 4
    )  # trials differ by their minibatches


@pytest.mark.parametrize("label", EXAMPLES)
def test_compiled_runs_equal_interpreted_ones(label):
    problem = EXAMPLES[label]
    algorithm, more = ("fsl", dict(K_0=2, eta_0=0.1)) if problem.has_server else ("fedavg", {})
    compiled, slow = (
        ft.run(problem, algorithm, rounds=3, trials=2, seed=3, K=2, eta_l=0.1, compiled=c, **more)
        for c in (True, False)
    )
    assert np.allclose(compiled.final, slow.final, rtol=1e-12, atol=1e-15)
    assert np.allclose(compiled.metrics["loss"], slow.metrics["loss"], rtol=1e-12)
    assert np.any(compiled.final != problem.start)


def test_layers_and_start():
    assert [(layer.name, layer.stop - layer.start) for layer in DEEP.layers] == [
        ("fc1/W", 60),
        ("fc1/b", 5),
        ("fc2/W", 20),
        ("fc2/b", 4),
        ("fc3/W", 12),
        ("fc3/b", 3),
    ]
    wide = mlp([np.ones((1, 400))] * 2, [np.array([0])] * 2, hidden=(200,), classes=10)
    W, b = wide.start[:80000], wide.start[80000:80200]
    assert wide.d == 400 * 200 + 200 + 200 * 10 + 10 and np.all(b == 0)
    assert (
        np.std(W) == pytest.approx(np.sqrt(2 / 400), rel=0.02) and abs(np.mean(W)) < 0.001
    )  # 80000 draws
    assert np.array_equal(mlp(X, Y, hidden=5, seed=1).start, SMALL.start)
    assert not np.array_equal(mlp(X, Y, hidden=5, seed=2).start, SMALL.start)


def test_accuracy():
    logits = np.array([reference(SMALL, SHARP, f, 0, (12, 5, 3))[2] for f in X[1]])
    right = np.argmax(logits, axis=1)
    assert (
        accuracy(SMALL, SHARP, X[1], right) == 1.0
        and accuracy(SMALL, SHARP, X[1], (right + 1) % 3) == 0.0
    )
    assert accuracy(SMALL, SHARP, X[1], Y[1]) == np.mean(right == Y[1])


def test_samples_and_sizes():
    assert np.array_equal(SMALL.sizes, [6, 9, 5]) and np.array_equal(SMALL.batch_size, [4, 4, 4])
    alone = EXAMPLES["deep"]
    assert (
        not alone.has_server
        and alone.sizes[0] == 0
        and np.allclose(alone.weights, [0, 5 / 9, 4 / 9])
    )
    with pytest.raises(InvalidInput, match="needs a problem with a server loss"):
        ft.run(alone, "fsl", rounds=1, eta_l=0.1, eta_0=0.1)


def with_(part, i, value):
    changed = [*part]
    changed[i] = value
    return changed


@pytest.mark.parametrize(
    "arguments, says",
    [
        (dict(X=with_(X, 2, X[2][:, :5])), r"X\[1\] must have 12 features"),
        (
            dict(X=with_(X, 2, X[2][0])),
            r"X\[1\] must have shape \(samples, features\), .*; got \(12,\)",
        ),
        (dict(X=with_(X, 2, X[2] * np.nan)), r"X\[1\] must be finite; got nan"),
        (dict(X=with_(X, 2, X[2][:0]), y=with_(Y, 2, Y[2][:0])), r"X\[1\] must have shape"),
        (dict(X=X[:2]), "X and y must be lists of equal length"),
        (
            dict(y=with_(Y, 1, Y[1][:-1])),
            r"y\[0\] must hold one label for each of 9 samples; got \(8,\)",
        ),
        (dict(y=with_(Y, 1, Y[1] + 0.5)), r"y must hold classes 0, 1, 2, ..; got \d.5"),
        (dict(y=with_(Y, 1, Y[1] * np.nan)), "y must hold classes 0, 1, 2, ..; got nan"),
        (dict(y=with_(Y, 1, Y[1] + 1)), "y must hold classes 0..2; got 3"),
        (dict(y=with_(Y, 1, Y[1] - 1)), "y must hold classes 0, 1, 2, ..; got -1"),
        (dict(classes=1), "classes must be an integer >= 2; got 1"),
        (dict(hidden=(5, 0)), "hidden must be an integer >= 1; got 0"),
        (dict(hidden=2.5), "hidden must be an integer >= 1; got 2.5"),
        (dict(batch=0), "batch must be a positive integer, or 2 of them; got 0"),
        (dict(weights=[1.0, -1.0]), "weights must be 2 nonnegative numbers"),
    ],
)
def test_refusals(arguments, says):
    with pytest.raises(InvalidInput, match=says):
        mlp(**{**dict(X=X, y=Y, hidden=(5,), batch=4, classes=3), **arguments})


def test_refusals_of_accuracy():
    for arguments, says in (
        ((SHARP, X[1][:, :3], Y[1]), "X must have shape"),
        ((SHARP, X[1], Y[2]), "y must have shape"),
        ((SHARP[:3], X[1], Y[1]), "x must have shape"),
        ((SHARP * np.nan, X[1], Y[1]), "x must be finite"),
    ):
        with pytest.raises(InvalidInput, match=says):
            accuracy(SMALL, *arguments)
