"""SYNTHETIC(alpha, beta): the law of Li et al. 2018, and the sizes of flex."""

import numpy as np
import pytest
from scipy import stats

from fedtheory.errors import InvalidInput
from fedtheory.problems.softmax import accuracy
from fedtheory.problems.synthetic import pareto_sizes, synthetic, synthetic_data


def test_shapes_and_splits():
    data = synthetic_data(1, 1, 3, samples=[5, 8, 1], test=0.25, server=7)
    assert [len(X) for X in data.X] == [7, 5, 8, 1] and [len(y) for y in data.y] == [7, 5, 8, 1]
    assert [len(X) for X in data.X_test[1:]] == [2, 2, 1] and data.X_test[0] is data.y_test[
        0
    ] is None
    assert all(X.shape[1] == 60 for X in data.X + data.X_test[1:])
    assert all(y.min() >= 0 and y.max() < 10 for y in data.y)
    assert synthetic_data(1, 1, 2, samples=4).X[0] is None


def test_one_seed_one_data_set():
    first, again, other = (synthetic_data(1, 1, 2, samples=6, seed=s) for s in (3, 3, 4))
    assert all(
        np.array_equal(a, b) for a, b in zip(first.X[1:] + first.y[1:], again.X[1:] + again.y[1:])
    )
    assert not np.array_equal(first.X[1], other.X[1]) and not np.array_equal(first.X[1], first.X[2])


def test_a_clients_samples_depend_on_no_other_choice():
    """More clients, more samples, a test set or a server change nothing that was there."""
    small, large = (
        synthetic_data(1, 1, 2, samples=6),
        synthetic_data(1, 1, 4, samples=9, test=2.0, server=3),
    )
    for i in (1, 2):
        assert np.array_equal(small.X[i], large.X[i][:6]) and np.array_equal(
            small.y[i], large.y[i][:6]
        )


def test_covariance_is_diagonal_and_falls():
    X = synthetic_data(0, 0, 1, samples=40000, iid=False).X[1]
    expected = np.arange(1.0, 61) ** -1.2
    covariance = np.cov(X.T) / np.sqrt(np.outer(expected, expected))
    assert np.max(abs(covariance - np.eye(60))) < 6 * np.sqrt(2 / 40000)


@pytest.mark.parametrize("beta", [0.0, 4.0])
def test_means_have_the_variances_of_the_formula(beta):
    """v_k's entries have variance 1 around B_k, and B_k variance beta."""
    data = synthetic_data(1, beta, 300, samples=40, iid=False)
    v = np.array([X.mean(axis=0) for X in data.X[1:]])[
        :, 20:
    ]  # there, 40 samples err by less than 0.03
    assert np.mean(v.var(axis=1, ddof=1)) == pytest.approx(
        1.0, abs=5 * np.sqrt(2 / (300 * 39)) + 1e-3
    )
    B = v.mean(axis=1)
    assert stats.kstest(B, stats.norm(0, np.sqrt(beta + 1 / 40)).cdf).pvalue > 1e-3


def test_iid_clients_share_one_model():
    """One labelling rule fits all clients under iid, and does not by the formula."""
    for iid in (None, False):
        data = synthetic_data(0, 0, 6, samples=80, iid=iid, features=3, classes=3)
        rest = synthetic(
            0, 0, 6, ridge=1e-6, batch=None, samples=80, iid=iid, features=3, classes=3
        )
        alone = rest.reweighted([1, 0, 0, 0, 0, 0])
        others = [accuracy(rest, alone.minimizer(), data.X[i], data.y[i]) for i in range(2, 7)]
        assert (min(others) > 0.9) == (iid is None)
        if iid is None:
            assert max(
                np.max(abs(X.mean(axis=0)) / np.arange(1, 4) ** -0.6) for X in data.X[1:]
            ) < 5 / np.sqrt(80)


def test_alpha_moves_no_label():
    """u_k adds u_k (sum_j x_j + 1) to every class's score, so argmax does not see it."""
    near, far = synthetic_data(0, 1, 4, samples=50), synthetic_data(25, 1, 4, samples=50)
    for i in range(1, 5):
        assert np.array_equal(near.X[i], far.X[i]) and np.array_equal(near.y[i], far.y[i])


def test_the_servers_samples_are_the_clients_mixture():
    """Two clients with 30 and 10 samples, told apart by their means."""
    data = synthetic_data(0, 400, 2, samples=[30, 10], server=400)
    middle = [X.mean() for X in data.X[1:]]
    share = np.mean(
        abs(data.X[0].mean(axis=1) - middle[0]) < abs(data.X[0].mean(axis=1) - middle[1])
    )
    assert abs(middle[0] - middle[1]) > 5 and abs(share - 0.75) < 5 * np.sqrt(3 / 16 / 400)


@pytest.mark.parametrize("low, high, index", [(20, 2000, 0.5), (5, 50, 2.0), (7, 7, 0.5)])
def test_sizes_are_pareto_below_their_cap(low, high, index):
    sizes = pareto_sizes(20000, low, high, index)
    assert sizes.dtype.kind == "i" and low <= sizes.min() and sizes.max() <= high
    for t in np.unique(np.geomspace(low, high, 9).astype(int)):  # P(n > t), n rounded down
        tail = (
            ((low / (t + 1)) ** index - (low / high) ** index) / (1 - (low / high) ** index)
            if t < high
            else 0.0
        )
        assert abs(np.mean(sizes > t) - max(tail, 0.0)) <= 5 * np.sqrt(0.25 / 20000)
    if (low, high) == (20, 2000):
        assert sizes.mean() == pytest.approx(np.sqrt(low * high), rel=0.05)


def test_the_problem_holds_the_data():
    options = dict(low=3, high=12, server=4, features=5, classes=4, seed=8)
    problem, data = synthetic(1, 0.5, 4, batch=3, **options), synthetic_data(1, 0.5, 4, **options)
    assert problem.sizes.tolist() == [4, *(len(X) for X in data.X[1:])] and problem.has_server
    assert np.allclose(problem.weights[1:], problem.sizes[1:] / problem.sizes[1:].sum())
    assert problem.batch_size.tolist() == np.minimum(3, problem.sizes).tolist()
    assert problem.d == 6 * 4 and problem.constants["mu"].value == 1e-4
    x = np.random.default_rng(0).standard_normal(problem.d)
    W, b = x[:20].reshape(5, 4), x[20:]
    z = data.X[2] @ W + b
    loss = np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(z)), data.y[2]]) + 0.5e-4 * x @ x
    assert problem.client_loss(2, x) == pytest.approx(loss, rel=1e-13)
    assert synthetic(0, 0, 2, samples=4, weights=None).weights.tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize(
    "changes, words",
    [
        (dict(alpha=-1), "alpha must be a finite number >= 0; got -1"),
        (dict(beta=np.nan), "beta must be"),
        (dict(clients=0), "clients must be an integer >= 1"),
        (dict(samples=0), "samples must be a positive integer, or 3"),
        (dict(samples=[1, 2]), "samples must be"),
        (dict(samples=2.5), "samples must be"),
        (dict(low=0), "low must be"),
        (dict(low=30, high=20), "high must be >= low = 30; got 20"),
        (dict(index=0), "index must be a finite number > 0"),
        (dict(server=-1), "server must be"),
        (dict(iid=True), "iid needs alpha = beta = 0"),
        (dict(classes=1), "classes must be"),
        (dict(features=0), "features must be"),
    ],
)
def test_refused(changes, words):
    with pytest.raises(InvalidInput, match=words):
        synthetic_data(**{**dict(alpha=1, beta=1, clients=3), **changes})
