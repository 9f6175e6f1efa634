"""Every layer in a small network: derivatives by finite differences, single precision beside double,
and dropout against a network in NumPy under masks drawn again from the counter."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import rng
from fedtheory.errors import InvalidInput
from fedtheory.experiments import layers
from fedtheory.experiments.layers import (
    add,
    bag,
    batchnorm,
    conv,
    cross_entropy,
    dense,
    dropout,
    embedding,
    groupnorm,
    gru,
    hinge,
    hinge_spread,
    pool,
    relu,
    reshape,
    spreadout,
)
from fedtheory.experiments.network import Fitted, plan_layers
from tests.experiments.layers import slow
from tests.problems.brute import finite_difference

network = ft.problems.network
# Lists in which each layer stands behind parameters, so that its derivative by its input counts.
STACKS = {
    "dense": [dense(4), relu(), dense(3), dropout(0.5), cross_entropy(3, top=2)],
    "conv": [
        *(dense(32), reshape(4, 4, 2), conv(3, 3), relu(), pool(2)),
        *(conv(2, 2, padding="valid"), dense(3)),
    ],
    "tiles": [
        *(dense(240), reshape(5, 6, 8), conv(9, 3), relu(), conv(8, 3, padding="valid")),
        *(conv(19, 3, padding="valid"), dense(3)),
    ],
    "strided": [dense(35), reshape(5, 7, 1), conv(2, 3, stride=2), pool(2), dense(3)],
    "shortcut": [
        *(dense(12), reshape(2, 3, 2), conv(2, 1).called("before"), conv(2, 3), relu()),
        *(add("before"), relu(), dense(3)),
    ],
    "groups": [dense(16), reshape(2, 2, 4), groupnorm(2), conv(2, 1), dense(3)],
    "batches": [dense(12), reshape(2, 2, 3), batchnorm(), conv(2, 1), dense(3)],
    "recurrent": [dense(6), reshape(3, 2), gru(3), gru(2), dense(3, each=True)],
    "reshape": [dense(6), reshape(3, 2), reshape(6), dense(3)],
}


def arrays(inputs=5, classes=3, sizes=(6, 7, 4), places=()):
    generator = np.random.default_rng(8)
    return (
        [generator.standard_normal((n, inputs)) for n in sizes],
        [generator.integers(0, classes, (n, *places)) for n in sizes],
    )


X, Y = arrays()


# Networks on words: places of a sequence have labels each, a bag has one.
WORDS = {
    "language": ([embedding(5, 3), gru(4), dense(5, each=True)], (4,), 5),
    "encoder": (
        [embedding(5, 3), bag(), dense(3), relu().called("tower"), dense(3), hinge(5, 3, top=2)],
        (),
        5,
    ),
    "baseline": ([embedding(5, 3), bag(), dense(3), hinge_spread(5, 3, top=2)], (), 5),
}


def words(name):
    """A network on the numbers of rows, -1 among them; of the encoder the server spreads rows out."""
    layers, places, classes = WORDS[name]
    generator = np.random.default_rng(7)
    rows = [generator.integers(-1, 5, (n, 4)) for n in (6, 3)]
    labels = [generator.integers(0, classes, (n, *places)) for n in (6, 3)]
    given = dict(server=(rows[1], labels[1]), test=(rows[1], labels[1]), classes=classes)
    if name == "encoder":
        given["server_layers"] = [spreadout(5, 3)]
    return network(layers, rows[:1], labels[:1], batch=None, **given)


def made(name):
    if name in WORDS:
        return words(name)
    labels = [np.tile(part[:, None], 3) for part in Y] if name == "recurrent" else Y
    return network(STACKS[name], X[:1], labels[:1], batch=None)


@pytest.mark.parametrize("name", [*STACKS, *WORDS])
def test_gradients_are_the_derivatives_of_losses(name):
    problem = made(name)
    x = problem.start + 0.1 * np.random.default_rng(3).standard_normal(problem.d)
    for i in range(1 - problem.has_server, 2):
        difference = finite_difference(lambda z, i=i: problem.client_loss(i, z), x)
        np.testing.assert_allclose(problem.client_grad(i, x), difference, atol=2e-8)
        assert np.linalg.norm(difference) > 1e-2


@pytest.mark.parametrize("name", [*STACKS, "language"])
def test_losses_are_those_of_a_network_in_numpy(name):
    problem = made(name)
    layers, inputs = WORDS[name][0] if name in WORDS else STACKS[name], problem.data.X
    n = int(problem.sizes[1])
    inputs, labels = inputs[-n:], problem.data.y[-n:]
    x = problem.start + 0.1 * np.random.default_rng(3).standard_normal(problem.d)
    steps, fitted, _, _ = plan_layers(layers, inputs.shape[1:])
    Z = slow.outputs(layers, steps, fitted, x, inputs)[-1]
    labels = labels if labels.shape[1] > 1 else labels[:, 0]
    assert problem.client_loss(1, x) == pytest.approx(slow.losses(Z, labels).mean(), rel=1e-11)


def test_an_encoder_pulls_by_the_hinge_and_spreads_at_the_server():
    problem = made("encoder")
    layers, data = WORDS["encoder"][0], problem.data
    x = problem.start + 0.1 * np.random.default_rng(3).standard_normal(problem.d)
    steps, fitted, _, _ = plan_layers(layers, (4,))
    C = []
    for rows, labels in ((data.X[-6:], data.y[-6:, 0]), (data.X_test, data.y_test[:, 0])):
        u = slow.outputs(layers, steps, fitted, x, rows)[-1]
        C.append((slow.cosines(fitted[-1], x[:15], u), labels))
    own = C[0][0][np.arange(6), C[0][1]]
    loss = np.mean(np.maximum(0, 0.9 - own) ** 2)
    assert problem.client_loss(1, x) == pytest.approx(loss, rel=1e-9)
    pairs = slow.spreadout(Fitted((1,), sizes=(5, 3)), x[:15], [0])[0]
    assert problem.client_loss(0, x) == pytest.approx(pairs, rel=1e-9)
    cosines, labels = C[1]
    ranks = (cosines > cosines[np.arange(3), labels][:, None]).sum(axis=1)
    run = ft.run(
        problem, "parallel_training", rounds=0, eta=0.1, eta_c=0.1, x_0=x, metrics=["test_recall"]
    )
    assert run.metrics["test_recall"][0, 0] == pytest.approx(np.mean(ranks < 2))


def test_the_baselines_clients_compute_both_losses():
    """The sum of the two losses of networks that compute one each, on the same samples."""
    problem = made("baseline")
    rows, labels = problem.data.X[-6:], problem.data.y[-6:, 0]
    stack = [*WORDS["baseline"][0][:-1], hinge(5, 3, top=2)]
    apart = network(
        stack, [rows], [labels], (rows, labels), batch=None, classes=5,
        server_layers=[spreadout(5, 3)],
    )  # fmt: skip
    x = problem.start + 0.1 * np.random.default_rng(3).standard_normal(problem.d)
    both = apart.client_loss(1, x) + apart.client_loss(0, x)
    assert problem.client_loss(1, x) == pytest.approx(both, rel=1e-9)


def test_every_layer_is_in_a_list_above():
    tried = {layer.name for stack in STACKS.values() for layer in stack} | {"spreadout"}
    tried |= {layer.name for stack, _, _ in WORDS.values() for layer in stack}
    assert tried >= {*layers.MAKERS}


def test_masks_are_the_counters_and_methods_share_them():
    """One step of FedAvg and one of FSL by the chain rule in NumPy, under masks drawn from (seed,
    trial, round, client, step)."""
    p = 0.25
    stack = [dense(4), relu(), dropout(p), dense(3)]
    problem = network(stack, X[:2], Y[:2], (X[2], Y[2]), batch=3)
    W_1, b_1, W_2, b_2 = np.split(problem.start, [20, 24, 36])
    W_1, W_2 = W_1.reshape(5, 4), W_2.reshape(4, 3)
    ends = []
    for i in (1, 2):
        rows, mask = np.empty(3, dtype=np.int64), np.empty(12)
        key = rng.stream_key(5, 0, 0)
        rng.draw_subset(key, i, 0, rng.BATCH, np.arange(len(X[i - 1])), rows)
        rng.fill_masked(np.uint64(rng.gradient_key(key, i, 0)), 2, p, 1 / (1 - p), mask)
        A, y, mask = X[i - 1][rows], Y[i - 1][rows], mask.reshape(3, 4)
        H = np.maximum(A @ W_1 + b_1, 0)
        Z = (H * mask) @ W_2 + b_2
        delta = np.exp(Z) / np.exp(Z).sum(1, keepdims=True) - np.eye(3)[y]
        back = (delta @ W_2.T) * mask * (H > 0)
        parts = ((A.T @ back), back.sum(0), (H * mask).T @ delta, delta.sum(0))
        ends.append(problem.start - 0.3 * np.concatenate([part.ravel() for part in parts]) / 3)
    mean = np.mean(ends, axis=0)
    run = ft.run(problem, "fedavg", rounds=1, eta_l=0.3, seed=5, metrics=())
    np.testing.assert_allclose(run.final[0], mean, rtol=1e-12, atol=1e-14)
    still = ft.run(problem, "fsl", rounds=1, eta_l=0.3, eta_0=1e-140, seed=5, metrics=())
    np.testing.assert_allclose(still.final[0], mean, rtol=1e-12, atol=1e-14)


def test_a_mask_drops_the_share_it_is_told():
    mask = np.empty(40_003)
    rng.fill_masked(np.uint64(9), 1, 0.3, 2.0, mask)
    assert {*mask} == {0.0, 2.0} and abs((mask == 0).mean() - 0.3) < 4 * np.sqrt(0.21 / mask.size)
    again = np.empty(7)
    rng.fill_masked(np.uint64(9), 1, 0.3, 2.0, again)  # a shorter one begins alike, its odd end too
    assert np.array_equal(again, mask[:7])
    other = np.empty(40_003)
    rng.fill_masked(np.uint64(9), 2, 0.3, 2.0, other)
    assert abs(((other == 0) & (mask == 0)).mean() - 0.09) < 0.01


def test_all_samples_are_dropped_out_too():
    """batch=None takes every row, and drops units in it: not the gradient of the loss."""
    problem = network([dense(8), relu(), dropout(0.5), dense(3)], X, Y, batch=None)
    run = ft.run(problem, "fedavg", rounds=1, eta_l=0.5, seed=2, metrics=())
    plain = problem.start - 0.5 * problem.grad(problem.start)
    assert np.abs(run.final[0] - plain).max() > 1e-3


def test_single_precision_follows_double():
    """Both from the same start; 2^-24 apart in each number, 1e-5 in what they add up to."""
    single, double = (
        network([dense(4), relu(), dense(3)], X[:2], Y[:2], test=(X[2], Y[2]), dtype=kind, batch=3)
        for kind in ("float32", "float64")
    )
    x = double.start + 0.1
    assert single.data.X.dtype == np.float32
    assert single.loss(x) == pytest.approx(double.loss(x), rel=1e-6)
    np.testing.assert_allclose(single.grad(x), double.grad(x), rtol=1e-4, atol=1e-6)
    runs = [
        ft.run(each, "fedavg", rounds=20, K=3, eta_l=0.1, metrics=("loss", "test_loss"), every=5)
        for each in (single, double)
    ]
    for name in ("loss", "test_loss"):
        np.testing.assert_allclose(*(run.metrics[name] for run in runs), rtol=1e-5)
    assert not np.array_equal(runs[0].final, runs[1].final)


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: dense(0), "width must be an integer >= 1; got 0"),
        (lambda: dropout(1.0), "p must be a probability below 1; got 1"),
        (lambda: dropout(-0.1), "p must be a finite number >= 0"),
        (lambda: network([dense], X, Y), "layers must be a list of layers"),
        (lambda: network("alexnet", X, Y), "layers must be one of fsl_emnist, "),
        (lambda: network([reshape(2, 2), dense(3)], X, Y), "as many numbers as what comes in, 5"),
        (lambda: network([dense(4)], X, Y), "must end in logits of 3 classes"),
        (lambda: network([dense(3)], X, Y, dtype="float16"), "dtype must be one of float64"),
        (lambda: network([dense(3)], X, Y, test=X[0]), "test must be a pair of arrays"),
        (lambda: network([dense(3)], X, Y, server=(None, Y[0])), "server must be a pair of arrays"),
        (
            lambda: network([dense(3)], X, Y, test=(X[0][:, :4], Y[0])),
            "test: X must have 5 features",
        ),
        (
            lambda: ft.run(network([dense(3)], X, Y), "fedavg", rounds=1, eta_l=0.1, every=0),
            "every must be an integer >= 1; got 0",
        ),
    ],
)
def test_refusals(make, says):
    with pytest.raises(InvalidInput, match=says):
        make()
