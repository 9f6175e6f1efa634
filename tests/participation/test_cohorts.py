"""Cohorts: uniform subsets, draws with replacement, everyone; reproducible whatever the
chunking."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import rng
from fedtheory.errors import InvalidInput
from fedtheory.participation import Participation, uniform

PROBLEM = ft.problems.quadratic(2, 5, L=1.0, mu=1.0, G=1.0)


def draw(part, trials, rounds, S, N, seed=0, first=0, E=1):
    return part.draw(seed, np.arange(trials), first, rounds, S, np.full(rounds, E), N)


def chi_square(counts, cells):
    """Pearson's statistic against equal frequencies; every cell must have been seen to count."""
    counts = np.array([counts.get(cell, 0) for cell in cells])
    expected = counts.sum() / len(cells)
    return ((counts - expected) ** 2 / expected).sum()


def test_without_replacement_every_subset_is_as_likely():
    cohort, _ = draw(Participation(), 60, 100, 2, 5)
    cells = list(combinations(range(1, 6), 2))
    counts = Counter(tuple(sorted(c)) for c in cohort.reshape(-1, 2).tolist())
    assert set(counts) == set(cells)
    assert chi_square(counts, cells) < 27.9  # 9 degrees of freedom, one in a thousand
    assert chi_square({**counts, (1, 2): counts[1, 2] + 200}, cells) > 27.9
    ordered = Counter(map(tuple, cohort.reshape(-1, 2).tolist()))
    assert chi_square(ordered, [c for c in product(range(1, 6), repeat=2) if c[0] != c[1]]) < 43.8


@pytest.mark.parametrize("S, N", [(1, 1), (2, 5), (7, 7), (10, 1000), (999, 1000)])
def test_a_cohort_is_the_one_that_a_deck_of_all_clients_would_give(S, N):
    cohort, _ = draw(Participation(), 2, 5, S, N, seed=3, first=4)
    for trial in range(2):
        for r in range(5):
            key, slow = rng.stream_key(np.uint64(3), trial, 4 + r), np.empty(S, dtype=np.int64)
            rng.draw_subset(np.uint64(key), 0, 0, rng.COHORT, np.arange(1, N + 1), slow)
            np.testing.assert_array_equal(cohort[trial, r], slow)


def test_a_cohort_of_a_million_clients_is_uniform():
    cohort, _ = draw(Participation(), 20, 500, 100, 10**6)
    assert all(len(set(c)) == 100 for c in cohort.reshape(-1, 100).tolist())
    counts = np.bincount((cohort.ravel() - 1) // 10**5, minlength=10)
    assert chi_square(dict(enumerate(counts)), range(10)) < 27.9  # one in a thousand
    assert cohort.min() >= 1 and cohort.max() > 999_990


def test_with_replacement_every_pair_is_as_likely():
    cohort, _ = draw(Participation("with"), 60, 100, 2, 3)
    cells = list(product(range(1, 4), repeat=2))
    assert (
        chi_square(Counter(map(tuple, cohort.reshape(-1, 2).tolist())), cells) < 26.1
    )  # 8 degrees
    assert draw(Participation("with"), 1, 1, 7, 3)[0].shape == (1, 1, 7)  # S may exceed N


def test_everyone_stands_in_order_in_a_full_cohort():
    cohort, work = draw(Participation("full"), 3, 4, 5, 5, E=6)
    assert np.all(cohort == np.arange(1, 6)) and np.all(work == 6)
    permuted, _ = draw(Participation(), 3, 4, 5, 5)
    assert np.all(np.sort(permuted) == np.arange(1, 6)) and not np.all(permuted == cohort)


def test_draws_depend_on_seed_trial_and_round_alone():
    part = Participation(work=uniform())
    whole = draw(part, 4, 30, 3, 7, seed=2, E=5)
    for first, rounds in ((0, 30), (0, 1), (7, 12), (29, 1)):
        for a, b in zip(draw(part, 4, rounds, 3, 7, seed=2, first=first, E=5), whole):
            np.testing.assert_array_equal(a, b[:, first : first + rounds])
    other = part.draw(2, np.array([3, 1]), 0, 30, 3, np.full(30, 5), 7)
    for a, b in zip(other, whole):
        np.testing.assert_array_equal(a, b[[3, 1]])
    assert not np.array_equal(draw(part, 4, 30, 3, 7, seed=3, E=5)[0], whole[0])


@pytest.mark.parametrize(
    "part, S, words",
    [
        (Participation("some"), 2, "cohort must be one of full, without, with"),
        (Participation(), 6, "S must be an integer 1..5, the number of clients; got 6"),
        (Participation(), 0, "S must be an integer 1..5"),
        (Participation(), True, "S must be an integer 1..5"),
        (Participation(), 2.0, "S must be an integer 1..5"),
        (Participation("full"), 4, "S must be 5 in a full cohort; got 4"),
    ],
)
def test_bad_cohorts_are_refused(part, S, words):
    with pytest.raises(InvalidInput, match=words):
        ft.run(PROBLEM, "fedavg", rounds=1, S=S, eta_l=0.1, participation=part)


def test_a_cohort_with_replacement_is_unbiased_for_f():
    """E[x_1] is the full round's x_1, by enumeration over all pairs that can be drawn."""
    common = dict(rounds=1, eta_l=0.3, K=2, x_0=np.array([1.0, -1.0]), metrics=())
    full = ft.run(PROBLEM, "fedavg", **common).final[0]
    alone = [
        ft.run(PROBLEM.reweighted(np.eye(5)[i]), "fedavg", **common).final[0] for i in range(5)
    ]
    r = ft.run(PROBLEM, "fedavg", trials=40, S=2, participation=Participation("with"), **common)
    cohort, _ = draw(Participation("with"), 40, 1, 2, 5)
    np.testing.assert_allclose(
        r.final, [np.mean([alone[i - 1] for i in c], axis=0) for c in cohort[:, 0]], rtol=1e-12
    )
    np.testing.assert_allclose(
        np.mean(
            [np.mean([alone[i], alone[j]], axis=0) for i, j in product(range(5), repeat=2)], axis=0
        ),
        full,
        rtol=1e-12,
    )
