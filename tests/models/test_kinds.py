"""Clients of a few kinds against a list of all clients."""

from fractions import Fraction as Q
from random import Random

import pytest

from fedtheory.models.kinds import Kinds, count_members, draw_count, draw_kinds, is_shared


@pytest.mark.parametrize("seed", range(20))
def test_drawn_kinds_are_all_clients(seed):
    random = Random(seed)
    N = draw_count(random, 1)
    members = count_members(dict(N=str(N), **draw_kinds(random, N)))
    assert sum(members) == N and min(members) >= 1


def test_means_and_variances_are_those_of_a_list_of_clients():
    kinds, values = Kinds([3, 1, 2]), [Q(1), Q(5), Q(-2)]
    every = [Q(1)] * 3 + [Q(5)] + [Q(-2)] * 2
    mean = sum(every) / 6
    assert kinds.mean(values) == mean
    pairs = kinds.pairs(values)
    assert sum(w * (a - b) ** 2 for w, a, b in pairs) == sum((v - mean) ** 2 for v in every) / 6


def test_the_variance_of_a_cohort_s_mean_is_enumerated():
    """Of clients 0, 0, 3, cohorts of two have means 0, 3/2, 3/2: variance 1/2, of 2 overall."""
    kinds = Kinds([2, 1])
    total = sum(w * (a - b) ** 2 for w, a, b in kinds.pairs([Q(0), Q(3)]))
    assert total == 2 and kinds.left_over(2) * total / 2 == Q(1, 2)
    assert kinds.left_over(3) == 0 and Kinds([1]).left_over(1) == 0


def test_equal_numbers():
    assert is_shared([Q(1), Q(1)]) and not is_shared([Q(1), Q(2)])
