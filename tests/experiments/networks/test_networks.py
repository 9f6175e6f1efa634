"""The papers' networks have the sizes that their tables print, and what is held out is measured as
one would by hand."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.experiments.layers import dense, relu
from fedtheory.experiments.network import plan_layers

WIDTHS = (3, 64, 128, 128, 128, 256, 512, 512, 512)
PAIRS = [(9 * a * b + b, 2 * b) for a, b in zip(WIDTHS, WIDTHS[1:])]
RESNET = [size for pair in PAIRS for size in pair] + [512 * 10 + 10]
# name -> numbers of parameters, as the papers print them or as the arithmetic of their shapes gives
# them
SIZES = {
    "mnist_mlp": [784 * 200 + 200, 200 * 10 + 10],  # 159,010
    "mnist_2nn": [784 * 200 + 200, 200 * 200 + 200, 200 * 10 + 10],  # McMahan et al.: 199,210
    "smiles": [784 * 64 + 64, 64 * 2 + 2],
    "fsl_emnist": [320, 18_496, 1_384_576, 5_805],  # table II
    "fsl_cifar": [896, 18_496, 524_416, 1_290],  # table III
    # McMahan et al.: 1,663,370 in all
    "mcmahan_cnn": [832, 51_264, 7 * 7 * 64 * 512 + 512, 512 * 10 + 10],
    "lamb_mnist": [10 * 25 + 10, 20 * 250 + 20, 320 * 50 + 50, 50 * 10 + 10],
    "language": [96 * 256, 3 * 1024 * (256 + 1024 + 2), 1024 * 96 + 96],
    "encoder": [3952 * 16, 16 * 16 + 16, 16 * 16 + 16],
    "encoder_baseline": [3952 * 16, 16 * 16 + 16, 16 * 16 + 16],
    # windows of 3 x 3 and the two numbers a channel that follow them
    "resnet9": RESNET,
    "resnet9_groups": RESNET,
    "lamb_cifar": [896, 18_496, 9 * 64 * 64 + 64, 4 * 4 * 64 * 64 + 64, 64 * 10 + 10],
}


@pytest.mark.parametrize("name", SIZES)
def test_parameters_are_as_many_as_printed(name):
    record = ft.networks[name]
    sizes: dict = {}
    for parameter, size in record.parameters():
        layer = parameter.partition("/")[0]
        sizes[layer] = sizes.get(layer, 0) + size
    assert [*sizes.values()] == SIZES[name]


def test_shapes_are_as_printed():
    shapes = lambda name: [
        fitted.shape
        for fitted in plan_layers(ft.networks[name].layers(45), ft.networks[name].shape)[1]
    ]
    emnist, cifar = shapes("fsl_emnist"), shapes("fsl_cifar")
    assert emnist[0] == (28, 28, 32) and emnist[2] == (26, 26, 64) and emnist[4] == (13, 13, 64)
    assert cifar[0] == (32, 32, 32) and cifar[3] == (16, 16, 64) and cifar[5] == (8, 8, 64)


def test_every_network_is_counted_or_is_a_small_twin():
    twins = {record.twin for record in map(ft.networks.__getitem__, ft.networks)} - {""}
    assert {*ft.networks} == {*SIZES, *twins}
    for name in SIZES:
        full, twin = ft.networks[name], ft.networks[ft.networks[name].twin]
        size = lambda record: sum(count for _, count in record.parameters())
        assert size(twin) < size(full) / 4 and twin.judges and full.cites


GENERATOR = np.random.default_rng(4)
X = [GENERATOR.standard_normal((n, 6)) for n in (9, 8, 700)]  # more than a block is held out
Y = [GENERATOR.integers(0, 4, len(rows)) for rows in X]


def scores(x, features, width=5, classes=4):
    W_1, b_1, W_2, b_2 = np.split(x, np.cumsum([6 * width, width, width * classes]))
    hidden = np.maximum(features @ W_1.reshape(6, width) + b_1, 0)
    return hidden @ W_2.reshape(width, classes) + b_2


def test_what_is_held_out_is_measured_every_so_many_rounds():
    problem = ft.problems.network(
        [dense(5), relu(), dense(4)], X[:2], Y[:2], test=(X[2], Y[2]), batch=4, top=2
    )
    names = ("test_loss", "test_accuracy", "test_recall", "test_perplexity", "test_auc", "loss")
    run = ft.run(
        problem, "fedavg", rounds=7, trials=2, eta_l=0.3, K=2, every=3, keep="x", metrics=names
    )
    assert run.measured.tolist() == [0, 3, 6]
    for name in names[:-2]:
        assert np.isnan(run.metrics[name][:, [1, 2, 4, 5, 7]]).all()
    for trial in range(2):
        for t in run.measured:
            Z = scores(run.x[trial, t], X[2])
            own = Z[np.arange(700), Y[2]]
            above = np.argmax(np.argsort(-Z, axis=1, kind="stable") == Y[2][:, None], axis=1)
            losses = np.log(np.exp(Z).sum(axis=1)) - own
            measured = {name: run.metrics[name][trial, t] for name in names}
            assert measured["test_loss"] == pytest.approx(losses.mean(), rel=1e-12)
            assert measured["test_perplexity"] == pytest.approx(np.exp(losses.mean()), rel=1e-12)
            assert measured["test_accuracy"] == pytest.approx((above == 0).mean(), rel=1e-12)
            assert measured["test_recall"] == pytest.approx((above < 2).mean(), rel=1e-12)
            assert np.isnan(measured["test_auc"])  # four classes
            assert measured["loss"] == pytest.approx(problem.loss(run.x[trial, t]), rel=1e-12)
    assert run.facts()["loss at the end"] != "nan"


def test_the_area_under_the_curve_counts_pairs():
    """Of 1 feature and 2 classes, with ties: the share of pairs in order, by brute force."""
    features, labels = np.round(GENERATOR.standard_normal((60, 1)), 1), GENERATOR.integers(0, 2, 60)
    problem = ft.problems.network([dense(2)], [features], [labels], test=(features, labels))
    x = np.array([0.0, 1.0, 0.0, 0.0])
    run = ft.run(problem, "fedavg", rounds=0, eta_l=0.1, x_0=x, metrics=["test_auc"])
    ones, zeros = features[labels == 1, 0], features[labels == 0, 0]
    gaps = ones[:, None] - zeros[None, :]
    assert run.metrics["test_auc"][0, 0] == pytest.approx(
        (gaps > 0).mean() + (gaps == 0).mean() / 2, rel=1e-12
    )


def test_a_resumed_run_measures_at_the_same_rounds():
    problem = ft.problems.network([dense(4)], X[:2], Y[:2], test=(X[2], Y[2]), batch=4)
    settings = dict(eta_l=0.3, every=4, metrics=["test_loss"], trials=2, seed=3)
    whole = ft.run(problem, "fedavg", rounds=9, **settings)
    part = ft.run(problem, "fedavg", rounds=5, **settings)
    on = ft.run(problem, "fedavg", rounds=9, resume=part, **settings)
    assert np.array_equal(on.final, whole.final)
    np.testing.assert_array_equal(on.metrics["test_loss"], whole.metrics["test_loss"])


def test_what_a_round_sampled_is_seen_without_touching_it():
    """(7) of mixed FL, of full gradients: those of F, of f_0 and their sum, before the round."""
    problem = ft.problems.network(
        [dense(4)], X[:2], Y[:2], (X[2][:50], Y[2][:50]), batch=None, test=(X[2], Y[2])
    )
    names = ("sq_G_t", "sq_B_t", "sq_seen", "sq_server_seen", "seen_inner")
    looked, blind = (
        ft.run(problem, "parallel_training", rounds=2, K=2, eta=0.1, eta_c=0.1, metrics=m, keep="x")
        for m in (names, ())
    )
    assert np.array_equal(looked.x, blind.x)
    for t in (0, 1):
        f, c = problem.grad(looked.x[0, t]), problem.client_grad(0, looked.x[0, t])
        G = 2 * f @ f + 2 * c @ c - (f + c) @ (f + c)
        B = (2 * f @ f + 2 * c @ c) / ((f + c) @ (f + c))
        assert looked.metrics["sq_G_t"][0, t + 1] == pytest.approx(G, rel=1e-10)
        assert looked.metrics["sq_B_t"][0, t + 1] == pytest.approx(B, rel=1e-10)


def gradients(layers, width, classes):
    """The gradient of a minibatch of all samples into an array that holds NaN, and that of the loss."""
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((2, 6, width)), generator.integers(0, classes, (2, 6))
    problem = ft.problems.network(layers, X, y, batch=6)
    x = generator.standard_normal(problem.d)
    found, wanted = np.full(problem.d, np.nan), np.zeros(problem.d)
    rows = np.arange(6)
    problem.kernels.batch(problem.data, 1, rows, np.uint64(0), x, found)
    problem.kernels.grad(problem.data, 1, x, wanted)
    return found, wanted


def test_what_layers_write_need_not_be_cleared():
    found, wanted = gradients([dense(5), relu(), dense(3)], 4, 3)
    assert np.array_equal(found, wanted)


def test_layers_with_the_same_parameters_add_to_one_derivative():
    fit = lambda shape: dense(4).fit(shape)._replace(parameters=())
    tied = dense(4)._replace(name="tied", shares="dense", fit=fit)
    found, wanted = gradients([dense(4), relu(), tied, relu(), dense(3)._replace(name="top")], 4, 3)
    assert np.array_equal(found, wanted) and np.abs(found[:20]).max() > 0
