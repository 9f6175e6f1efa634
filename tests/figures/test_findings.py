"""Findings are decided from seeds: what is true, false and tied, against numbers worked by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from fedtheory import discover
from fedtheory.claim import Comparison
from fedtheory.errors import InvalidInput
from figures._findings import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, _slopes, compare, exactly, interval, judge

LOW, HIGH = np.array([1., 1.1, .9, 1.05, .95]), np.array([3., 3.2, 2.9, 3.1, 2.8])
NOISY = np.array([1., -1.2, .9, -.8, .1])


def claim(*compares):
    return SimpleNamespace(id="paper.sentence", compares=compares)


def verdict(relation, cells, other="b", where=""):
    return judge(claim(Comparison("loss", "a", relation, other, where)), cells).verdict


def pair(one, other, where=""):
    return {("loss", "a", where): one, ("loss", "b", where): other}


def test_the_interval_is_students():
    # Mean 3, deviation sqrt(2.5), t(4) = 2.7764: 3 -+ 2.7764 sqrt(2.5 / 5)
    mean, low, high = interval(np.arange(1., 6), .05)
    assert mean == 3 and low == pytest.approx(1.03676, abs=1e-5) and high == pytest.approx(4.96324, abs=1e-5)
    assert interval(2.5, .05) == (2.5, 2.5, 2.5)


@pytest.mark.parametrize("relation, forth, back, tie", [
    ("<", REPRODUCED, NOT_REPRODUCED, NOT_REPRODUCED), (">", NOT_REPRODUCED, REPRODUCED, NOT_REPRODUCED),
    ("<=", REPRODUCED, NOT_REPRODUCED, REPRODUCED), (">=", NOT_REPRODUCED, REPRODUCED, REPRODUCED),
    ("==", NOT_REPRODUCED, NOT_REPRODUCED, REPRODUCED), ("~", NOT_REPRODUCED, NOT_REPRODUCED, REPRODUCED)])
def test_true_false_and_tied(relation, forth, back, tie):
    assert verdict(relation, pair(LOW, HIGH)) == forth
    assert verdict(relation, pair(HIGH, LOW)) == back
    assert verdict(relation, pair(LOW, LOW)) == tie


@pytest.mark.parametrize("relation", ["<", ">", "<=", ">="])
def test_noise_around_a_tie_decides_nothing(relation):
    assert verdict(relation, pair(NOISY, np.zeros(5))) == INCONCLUSIVE


def test_alike_is_within_two_deviations_of_a_run():
    base = np.tile([-1., 1.], 50)    # deviation 1.005, the paired difference a constant
    assert verdict("~", pair(base + 1.5, base)) == REPRODUCED
    assert verdict("~", pair(base + 2.5, base)) == NOT_REPRODUCED
    assert verdict("~", pair(base + 2., np.zeros(100))) == INCONCLUSIVE    # the border lies in the interval


def test_a_printed_number_has_the_width_of_its_last_digit():
    assert compare(np.full(5, .954), "~", "0.95").verdict == REPRODUCED
    assert compare(np.full(5, .956), "~", "0.95").verdict == NOT_REPRODUCED
    assert verdict(">", {("loss", "a", ""): np.full(5, .96)}, other="0.95") == REPRODUCED
    assert compare(np.full(5, 1), "~", "many").verdict == INCONCLUSIVE


def test_seeds_pair_up():
    common = np.array([0., 100, -50, 30, 8])    # larger than the difference, and the same on both sides
    assert verdict("<", pair(common + LOW, common + HIGH)) == REPRODUCED
    assert verdict("<", pair(common + LOW, (common + HIGH)[::-1])) == INCONCLUSIVE


@pytest.mark.parametrize("cells, why", [
    ({}, "not measured"), ({("loss", "a", ""): LOW}, "b was not measured"),
    (pair(LOW, np.array([3, 3, np.nan, 3, 3])), "1 values are not finite"),
    (pair(LOW, np.array([3, 3, np.inf, 3, 3])), "not finite"),
    (pair(LOW[:4], HIGH[:4]), "4 seeds, 5 are needed"), (pair(LOW, HIGH[:4]), "pair"),
    (pair(np.array([]), HIGH), "pair"), (pair(np.ones((2, 5)), HIGH), "pair")])
def test_what_is_missing_is_inconclusive_and_says_why(cells, why):
    outcome = judge(claim(Comparison("loss", "a", "<", "b")), cells)
    assert outcome.verdict == INCONCLUSIVE and why in outcome.sentence


def test_comparisons_share_the_level():
    # t = 3.1: beyond 2.776 (one comparison), within 4.604 (five of them)
    one = 3.1 * np.sqrt(.5) * np.ones(5) + np.array([-2, -1, 0, 1, 2.]) * 1.
    cells = pair(np.zeros(5), one) | {("loss", "a", str(n)): np.zeros(5) for n in range(4)}
    cells |= {("loss", "b", str(n)): one for n in range(4)}
    alone = claim(Comparison("loss", "a", "<", "b"))
    many = claim(*(Comparison("loss", "a", "<", "b", where) for where in ("", "0", "1", "2", "3")))
    assert judge(alone, cells).verdict == REPRODUCED
    assert judge(many, cells).verdict == INCONCLUSIVE


def test_every_cell_is_asked_and_one_failure_decides():
    cells = pair(LOW, HIGH, "x") | pair(LOW, HIGH, "y")
    assert verdict("<", cells, where="every cell") == REPRODUCED
    assert verdict("<", cells | pair(HIGH, LOW, "z"), where="every cell") == NOT_REPRODUCED
    assert "(z)" in judge(claim(Comparison("loss", "a", "<", "b", "every cell")), cells | pair(HIGH, LOW, "z")).sentence
    assert verdict("<", cells | pair(LOW * np.nan, LOW, "z"), where="every cell") == INCONCLUSIVE


@pytest.mark.parametrize("relation, rising, falling", [
    ("increases in", REPRODUCED, NOT_REPRODUCED), ("decreases in", NOT_REPRODUCED, REPRODUCED)])
def test_trends(relation, rising, falling):
    levels = np.array([0., 1, 2]) + LOW[:, None]
    ask = lambda values: verdict(relation, {("loss", "a", ""): values}, other="tau_0")
    assert ask(levels) == rising and ask(levels[:, ::-1]) == falling
    assert ask(np.array([1., 2, 4])) == rising    # exact levels, without seeds
    assert ask(np.full(5, .1)) == NOT_REPRODUCED
    slopes = np.polyfit(np.arange(3), (LOW[:, None] * np.array([0., 1, 5])).T, 1)[0]
    assert _slopes(LOW[:, None] * np.array([0., 1, 5]))[0] == pytest.approx(slopes)
    assert ask(NOISY[:, None] * np.array([0., 1, 2])) == INCONCLUSIVE and ask(LOW[:, None]) == INCONCLUSIVE


def test_truths_are_compared_as_such():
    ask = lambda values: compare(np.array(values), "==", "True").verdict
    assert [ask([True] * 5), ask([False] * 5), ask([True] * 4 + [False])] == [REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE]


def test_exact_numbers_need_no_seeds():
    assert verdict("<", pair(1., 2.)) == REPRODUCED and verdict("<", pair(2., 2.)) == NOT_REPRODUCED
    assert verdict(">", pair(HIGH, 1.)) == REPRODUCED


def test_false_alarms_are_as_rare_as_the_level_says():
    draws = np.random.Generator(np.random.Philox(3)).normal(size=(2000, 2, 5))
    decided = [compare(one, "<", other).verdict != INCONCLUSIVE for one, other in draws]
    assert .03 < np.mean(decided) < .07    # 5 %, standard error 0.5 %


def test_all_relations_of_the_records_are_understood():
    relations = {c.relation for record in discover.claims() for c in record.compares}
    for relation in relations - {"increases in", "decreases in"}:
        compare(1., relation, 1.)
    with pytest.raises(InvalidInput, match="relation must be one of"):
        compare(1., "!=", 1.)


def test_computed_cells():
    assert exactly({"x": True, "y": True}).verdict == REPRODUCED
    assert exactly({"x": True, "y": False}) == (NOT_REPRODUCED, "not reproduced: 1 of 2 cells differ: y")
    assert exactly({"x": True, "y": None}).verdict == exactly({}).verdict == INCONCLUSIVE
