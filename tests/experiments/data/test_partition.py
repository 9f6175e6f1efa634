"""Partitions: every sample goes to one client at most, and each file keeps what its docstring says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.experiments.data import partition

SEEDS = st.integers(0, 2**32)
few = settings(max_examples=25, deadline=None)


@st.composite
def labels(draw):
    """Labels of a few classes, each with 12 samples or more."""
    sizes = draw(st.lists(st.integers(12, 40), min_size=2, max_size=6))
    return np.repeat(np.arange(len(sizes)) * 3, sizes)[:: draw(st.sampled_from([1, -1]))]


def whole(split, n):
    rows = np.concatenate(split.rows)
    assert len(rows) == len(set(rows.tolist())) and rows.min() >= 0 and rows.max() < n
    assert all(len(mine) for mine in split.rows)
    return rows


@few
@given(y=labels(), data=st.data(), seed=SEEDS)
def test_classes(y, data, seed):
    """C labels each, equally many of each, and clients of a class differ by one at most."""
    count = len(np.unique(y))
    clients, C = data.draw(st.integers(1, 12)), data.draw(st.integers(1, count))
    split = partition.classes(y, clients, C, seed=seed)
    whole(split, len(y))
    has = split.counts > 0
    assert (has.sum(axis=1) == C).all() and len({*split.counts[has].tolist()}) == 1
    assert np.ptp(has.sum(axis=0)) <= 1
    # no more could be had: some class's samples are all but used up
    left = np.bincount(np.unique(y, return_inverse=True)[1]) - split.counts.sum(axis=0)
    assert np.any(left[has.any(axis=0)] < has.sum(axis=0)[has.any(axis=0)])


@few
@given(y=labels(), clients=st.integers(1, 10), balanced=st.booleans(), seed=SEEDS)
def test_one_label(y, clients, balanced, seed):
    sizes = np.arange(1, clients + 1)
    split = partition.one_label(y, clients, sizes, balanced, seed)
    whole(split, len(y))
    assert ((split.counts > 0).sum(axis=1) == 1).all()
    assert (split.counts.sum(axis=1) <= sizes).all()
    if balanced:
        assert np.ptp((split.counts > 0).sum(axis=0)) <= 1


@few
@given(y=labels(), clients=st.integers(1, 8), alpha=st.floats(0.05, 100), seed=SEEDS)
def test_dirichlet_deals_all_out(y, clients, alpha, seed):
    try:
        split = partition.dirichlet(y, clients, alpha, seed=seed)
    except InvalidInput as error:  # 1000 draws left a client without samples
        assert "alpha must be so large" in str(error) and alpha < 0.5
        return
    assert len(whole(split, len(y))) == len(y)


def test_dirichlet_has_its_variance():
    """A share of Dirichlet(a, .., a) among N has variance (N - 1) / (N^2 (N a + 1))."""
    y = np.repeat(np.arange(600), 400)
    for alpha in (0.3, 2.0):
        shares = partition.dirichlet(y, 4, alpha, seed=3).counts / 400
        assert shares.var() == pytest.approx(3 / (16 * (4 * alpha + 1)), rel=0.1)


@few
@given(y=labels(), clients=st.integers(1, 12), seed=SEEDS)
def test_iid(y, clients, seed):
    split = partition.iid(y, clients, seed=seed)
    assert (
        len(whole(split, len(y))) == len(y)
        and split.statistics()["most"] - split.statistics()["least"] <= 1
    )
    sizes = partition.lognormal(clients, len(y), 1.0, seed)
    assert (partition.iid(y, clients, sizes, seed).counts.sum(axis=1) == sizes).all()


@few
@given(y=labels(), data=st.data(), seed=SEEDS)
def test_by_writer(y, data, seed):
    who = np.array(data.draw(st.lists(st.integers(5, 9), min_size=len(y), max_size=len(y))))
    split = partition.by_writer(y, who, seed=seed)
    assert len(whole(split, len(y))) == len(y)
    assert [{*who[rows].tolist()} for rows in split.rows] == [{w} for w in np.unique(who).tolist()]
    fewer = partition.by_writer(y, who, clients=1, seed=seed)
    assert len(fewer.rows[0]) == len(y)


@few
@given(clients=st.integers(1, 50), more=st.integers(0, 5000), spread=st.floats(0.01, 5), seed=SEEDS)
def test_sizes_add_up(clients, more, spread, seed):
    for found in (
        partition.pareto(clients, clients + more, seed=seed),
        partition.lognormal(clients, clients + more, spread, seed),
    ):
        assert found.sum() == clients + more and found.min() >= 1 and len(found) == clients


def test_sizes_follow_their_laws():
    """Truncated at 100 low, P(n > t) = ((low / t)^0.5 - 0.1) / 0.9; logarithms of the other have
    their deviation."""
    found = partition.pareto(4000, 4 * 10**7, seed=1)
    low = found.min()
    for times in (2, 10, 40):
        expected = (times**-0.5 - 0.1) / 0.9
        assert np.mean(found > times * low) == pytest.approx(expected, abs=0.03)
    assert np.log(partition.lognormal(4000, 10**9, 0.7, 1)).std() == pytest.approx(0.7, rel=0.05)


@few
@given(y=labels(), data=st.data(), seed=SEEDS)
def test_server_iid(y, data, seed):
    """No class has two samples fewer than another, unless it has no more."""
    n_0 = data.draw(st.integers(1, len(y)))
    rows = partition.server_iid(y, n_0, seed)
    assert len({*rows.tolist()}) == n_0
    index = np.unique(y, return_inverse=True)[1]
    taken, there = (np.bincount(index[r], minlength=index.max() + 1) for r in (rows, slice(None)))
    assert all(t == m or t >= taken.max() - 1 for t, m in zip(taken, there))


@few
@given(y=labels(), data=st.data(), seed=SEEDS)
def test_server_from_clients(y, data, seed):
    split = partition.iid(y, 4, seed=seed)
    c, s = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    rows = partition.server_from_clients(split, c, s, seed)
    by_client = [len({*rows.tolist()} & {*mine.tolist()}) for mine in split.rows]
    assert sorted(by_client) == [0] * (4 - c) + [s] * c


@few
@given(y=labels(), each=st.integers(1, 12), seed=SEEDS)
def test_server_other(y, each, seed):
    rows = partition.server_other(y, each, absent=0, seed=seed)
    assert set(np.unique(y[rows], return_counts=True)[1].tolist()) == {each} and 0 not in y[rows]


def test_statistics_by_hand():
    """Clients (a a a) and (a b): all have 4/5 a; the distances are 1/5 and 3/10."""
    split = partition.Split("hand", np.array([0, 0, 0, 0, 1]), (np.arange(3), np.arange(3, 5)))
    told = split.statistics()
    assert told["distance"] == pytest.approx(0.25) and told["labels_each"] == 1.5
    assert (told["size"], told["size_deviation"], told["least"], told["most"]) == (2.5, 0.5, 2, 3)
    assert split.picture() == "samples █▆ labels ▄█" and "\n" not in repr(split)
    X, y = split.arrays(np.arange(10).reshape(5, 2))
    assert X[1].tolist() == [[6, 7], [8, 9]] and y[1].tolist() == [0, 1]
    assert split.plot().get_title() == "hand"


def test_the_papers_splits():
    """FSL's scenario 1 on CIFAR-10's labels and EMNIST's; flex's 100 devices of one label."""
    cifar, emnist = np.repeat(np.arange(10), 5000), np.repeat(np.arange(45), 2400)
    told = partition.classes(cifar, 10, 2).statistics()
    assert (told["size"], told["labels_each"], told["distance"]) == (5000, 2, pytest.approx(0.8))
    told = partition.classes(emnist, 45, 5).statistics()
    assert (told["N"], told["size"], told["labels_each"]) == (45, 2400, 5)
    rows = partition.server_iid(emnist, 225)
    assert set(np.bincount(emnist[rows]).tolist()) == {5}
    sizes = partition.pareto(100, 20000)
    assert partition.one_label(cifar, 100, sizes).statistics()["labels_each"] == 1


def test_seeds_and_refusals():
    y = np.repeat(np.arange(4), 30)
    draws = [np.concatenate(partition.classes(y, 6, 2, seed=seed).rows) for seed in (0, 0, 1)]
    assert np.array_equal(draws[0], draws[1]) and not np.array_equal(draws[0], draws[2])
    for words, call in (
        ("C must be an integer <= 4", lambda: partition.classes(y, 6, 5)),
        ("each must be at most", lambda: partition.classes(y, 6, 2, each=100)),
        ("clients must be at most the 120 samples", lambda: partition.iid(y, 121)),
        ("y must hold whole numbers", lambda: partition.iid([0.5, float("nan")], 1)),
        ("alpha must be a finite number > 0", lambda: partition.dirichlet(y, 2, 0)),
        ("sizes must add up", lambda: partition.iid(y, 2, sizes=100)),
        ("writers must be one for each", lambda: partition.by_writer(y, [1])),
        ("n_0 must be an integer <= 120", lambda: partition.server_iid(y, 121)),
        ("split must be a Split", lambda: partition.server_from_clients(y, 1, 1)),
        ("absent must leave one class or more", lambda: partition.server_other(y, 1, [0, 1, 2, 3])),
        ("total must be at least 5", lambda: partition.pareto(5, 4)),
    ):
        with pytest.raises(InvalidInput, match=words):
            call()


@pytest.mark.parametrize("name", partition.__all__)
def test_each_has_an_example(name):
    assert ">>>" in getattr(ft.data.partition, name).__doc__
