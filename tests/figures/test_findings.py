"""Findings are decided from seeds: what is true, false and tied, against numbers worked by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from fedtheory import discover
from fedtheory.errors import InvalidInput
from fedtheory.figures._findings import (
    INCONCLUSIVE,
    LEVEL,
    NO_POWER,
    NOT_REPRODUCED,
    REPRODUCED,
    _fit_slopes,
    _parse_number,
    compare_cells,
    confidence_ends,
    decide_means,
    judge_claim,
    judge_exactly,
    worst_verdict,
)
from fedtheory.language.claim import Comparison

LOW, HIGH = np.array([1.0, 1.1, 0.9, 1.05, 0.95]), np.array([3.0, 3.2, 2.9, 3.1, 2.8])
NOISY = np.array([1.0, -1.2, 0.9, -0.8, 0.1])


def claim(*compares):
    return SimpleNamespace(id="paper.sentence", compares=compares)


def verdict(relation, cells, other="b", where="", margin=0.5):
    return judge_claim(
        claim(Comparison("loss", "a", relation, other, where, margin)), cells
    ).verdict


def pair(one, other, where=""):
    return {("loss", "a", where): one, ("loss", "b", where): other}


def test_the_ends_are_students():
    # Mean 3, deviation sqrt(2.5), t(4) = 2.1318 beyond which 5 % lie: 3 -+ 2.1318 sqrt(2.5 / 5)
    low, high = confidence_ends(np.arange(1.0, 6), 0.05)
    assert low == pytest.approx(1.49256, abs=1e-5) and high == pytest.approx(4.50744, abs=1e-5)
    assert confidence_ends(2.5, 0.05) == (2.5, 2.5)
    assert np.array(confidence_ends([[0.1] * 5, [1.0, 2, 3, 4, 5]]))[:, 0].tolist() == [
        0.1,
        0.1,
    ]  # equal values leave no doubt


@pytest.mark.parametrize(
    "relation, forth, back, tie",
    [
        ("<", REPRODUCED, NOT_REPRODUCED, NOT_REPRODUCED),
        (">", NOT_REPRODUCED, REPRODUCED, NOT_REPRODUCED),
        ("<=", REPRODUCED, NOT_REPRODUCED, REPRODUCED),
        (">=", NOT_REPRODUCED, REPRODUCED, REPRODUCED),
        ("==", NOT_REPRODUCED, NOT_REPRODUCED, REPRODUCED),
        ("~", NOT_REPRODUCED, NOT_REPRODUCED, REPRODUCED),
    ],
)
def test_true_false_and_tied(relation, forth, back, tie):
    assert verdict(relation, pair(LOW, HIGH)) == forth
    assert verdict(relation, pair(HIGH, LOW)) == back
    assert verdict(relation, pair(LOW, LOW)) == tie


@pytest.mark.parametrize("relation", ["<", ">", "<=", ">="])
def test_noise_around_a_tie_decides_nothing(relation):
    assert verdict(relation, pair(NOISY, np.zeros(5))) == INCONCLUSIVE


def test_alike_is_within_a_margin_that_noise_does_not_move():
    base = np.tile([-1.0, 1.0], 50)  # deviation 1.005, the paired difference a constant
    assert verdict("~", pair(base + 0.4, base)) == REPRODUCED
    assert verdict("~", pair(base + 0.6, base)) == NOT_REPRODUCED
    assert (
        verdict("~", pair(base + 0.4, np.zeros(100))) == INCONCLUSIVE
    )  # .4 -+ .17: across the border
    assert verdict("~", pair(base, np.zeros(100))) == REPRODUCED
    assert (
        verdict("~", pair(5 * base, np.zeros(100))) == NO_POWER
    )  # 0 -+ .83: could not lie within .5 anywhere
    assert verdict("~", pair(5 * base + 9, np.zeros(100))) == NOT_REPRODUCED
    assert verdict("~", pair(base, base), margin=None) == INCONCLUSIVE
    assert "no margin was fixed" in compare_cells(base, "~", base).sentence


def test_a_printed_number_has_the_width_of_its_last_digit_and_its_own_noise():
    assert compare_cells(np.full(5, 0.954), "~", "0.95").verdict == REPRODUCED
    assert compare_cells(np.full(5, 0.956), "~", "0.95").verdict == NOT_REPRODUCED
    assert compare_cells(np.full(5, 0.956), "~", "0.95", 0.002).verdict == REPRODUCED
    assert verdict(">", {("loss", "a", ""): np.full(5, 0.96)}, other="0.95") == REPRODUCED
    assert compare_cells(np.full(5, 1), "~", "many").verdict == INCONCLUSIVE


def test_the_paper_is_not_refuted_by_its_own_noise():
    """Table 3 at |T| = 1, where all schemes are one: ours differ by exactly 0, and the paper prints
    -0.7 to 0.7."""
    cells = [c for c in discover.claims() if c.id.startswith("flex.table3") and "_T1_" in c.id]
    assert len(cells) == 12
    for cell in cells:
        (comparison,) = cell.compares
        assert (
            judge_claim(cell, {(comparison.quantity, comparison.one, ""): np.zeros(10)}).verdict
            == REPRODUCED
        )
        assert (
            judge_claim(cell, {(comparison.quantity, comparison.one, ""): np.full(10, 2.0)}).verdict
            == NOT_REPRODUCED
        )


def test_every_sentence_that_a_figure_judges_alike_has_a_margin():
    from fedtheory import figures

    for record in discover.claims():
        for c in record.compares:
            if c.relation == "~" and record.figure in figures.figure_ids():
                assert c.margin is not None or _parse_number(c.other) is not None, record.id


def test_seeds_pair_up():
    common = np.array(
        [0.0, 100, -50, 30, 8]
    )  # larger than the difference, and the same on both sides
    assert verdict("<", pair(common + LOW, common + HIGH)) == REPRODUCED
    assert verdict("<", pair(common + LOW, (common + HIGH)[::-1])) == INCONCLUSIVE


@pytest.mark.parametrize(
    "cells, why",
    [
        ({}, "not measured"),
        ({("loss", "a", ""): LOW}, "b was not measured"),
        (pair(LOW, np.array([3, 3, np.nan, 3, 3])), "1 values are not finite"),
        (pair(LOW, np.array([3, 3, np.inf, 3, 3])), "1 of 5 runs are censored"),
        (pair(LOW, np.array([3, 3, -np.inf, 3, 3])), "not finite"),
        (pair(LOW[:4], HIGH[:4]), "4 seeds, 5 are needed"),
        (pair(LOW, HIGH[:4]), "pair"),
        (pair(np.array([]), HIGH), "pair"),
        (pair(np.ones((2, 5)), HIGH), "pair"),
    ],
)
def test_what_is_missing_is_inconclusive_and_says_why(cells, why):
    outcome = judge_claim(claim(Comparison("loss", "a", "<", "b")), cells)
    assert outcome.verdict == INCONCLUSIVE and why in outcome.sentence


def test_comparisons_share_the_level_of_refuting_and_cells_all_of_it():
    # t = 2.5: beyond 2.132 (5 %), within 3.747 (1 %)
    one = 2.5 * np.sqrt(0.5) * np.ones(5) + np.array([-2, -1, 0, 1, 2.0]) * 1.0
    cells = {
        ("loss", name, str(n)): values
        for name, values in (("a", np.zeros(5)), ("b", one))
        for n in range(5)
    }
    ask = lambda relation, places, **more: (
        judge_claim(
            claim(*(Comparison("loss", "a", relation, "b", where) for where in places)),
            cells,
            **more,
        ).verdict
    )
    assert (
        ask("<", "0") == ask("<", "01234") == REPRODUCED
    )  # all must hold: each at the whole level
    assert (
        ask(">", "0") == NOT_REPRODUCED and ask(">", "01234") == INCONCLUSIVE
    )  # one may fail by chance
    assert ask("<", "0", family=5) == ask(">", "0", family=5) == INCONCLUSIVE
    assert (
        "shared by 5 cells"
        in judge_claim(claim(Comparison("loss", "a", "<", "b", "0")), cells, family=5).sentence
    )


def test_one_failure_decides_then_what_is_missing_then_noise():
    assert worst_verdict([REPRODUCED, NO_POWER, INCONCLUSIVE, NOT_REPRODUCED]) == NOT_REPRODUCED
    assert (
        worst_verdict([REPRODUCED, NO_POWER, INCONCLUSIVE]) == INCONCLUSIVE
        and worst_verdict([REPRODUCED, NO_POWER]) == NO_POWER
    )
    assert worst_verdict([REPRODUCED]) == REPRODUCED


def test_every_cell_is_asked_and_one_failure_decides():
    cells = pair(LOW, HIGH, "x") | pair(LOW, HIGH, "y")
    assert verdict("<", cells, where="every cell") == REPRODUCED
    assert verdict("<", cells | pair(HIGH, LOW, "z"), where="every cell") == NOT_REPRODUCED
    assert (
        "(z)"
        in judge_claim(
            claim(Comparison("loss", "a", "<", "b", "every cell")), cells | pair(HIGH, LOW, "z")
        ).sentence
    )
    assert verdict("<", cells | pair(LOW * np.nan, LOW, "z"), where="every cell") == INCONCLUSIVE


@pytest.mark.parametrize(
    "relation, rising, falling",
    [("increases in", REPRODUCED, NOT_REPRODUCED), ("decreases in", NOT_REPRODUCED, REPRODUCED)],
)
def test_trends(relation, rising, falling):
    levels = np.array([0.0, 1, 2]) + LOW[:, None]
    ask = lambda values: verdict(relation, {("loss", "a", ""): values}, other="tau_0")
    assert ask(levels) == rising and ask(levels[:, ::-1]) == falling
    assert ask(np.array([1.0, 2, 4])) == rising  # exact levels, without seeds
    assert ask(np.full(5, 0.1)) == NOT_REPRODUCED
    slopes = np.polyfit(np.arange(3), (LOW[:, None] * np.array([0.0, 1, 5])).T, 1)[0]
    assert _fit_slopes(LOW[:, None] * np.array([0.0, 1, 5]))[0] == pytest.approx(slopes)
    assert (
        ask(NOISY[:, None] * np.array([0.0, 1, 2])) == INCONCLUSIVE
        and ask(LOW[:, None]) == INCONCLUSIVE
    )


def test_truths_are_compared_as_such():
    ask = lambda values: compare_cells(np.array(values), "==", "True").verdict
    assert [ask([True] * 5), ask([False] * 5), ask([True] * 4 + [False])] == [
        REPRODUCED,
        NOT_REPRODUCED,
        INCONCLUSIVE,
    ]


def test_exact_numbers_need_no_seeds():
    assert (
        verdict("<", pair(1.0, 2.0)) == REPRODUCED
        and verdict("<", pair(2.0, 2.0)) == NOT_REPRODUCED
    )
    assert verdict(">", pair(HIGH, 1.0)) == REPRODUCED


# Error rates: how often a rule says what is false, of so many simulated experiments

DRAWS, MARGIN = 4000, 1.0
LARGEST = (
    LEVEL + 4 * (LEVEL * (1 - LEVEL) / DRAWS) ** 0.5
)  # four binomial errors above the declared level


def rates(truth, deviation, seeds, relation="~", paper=0.0, shared=1):
    """Shares of verdicts on experiments whose differences have this mean; the paper's number has
    noise as well."""
    random = np.random.Generator(
        np.random.Philox(key=[int(1000 * abs(truth)) + 17, int(1000 * deviation) + seeds])
    )
    differences = random.normal(truth, deviation, (DRAWS, seeds)) + paper * random.normal(
        size=(DRAWS, 1)
    )
    said = decide_means(differences, relation, MARGIN if relation == "~" else 0.0, shared=shared)
    return {
        name: float(np.mean(said == name))
        for name in (REPRODUCED, NOT_REPRODUCED, NO_POWER, INCONCLUSIVE)
    }


@pytest.mark.parametrize("seeds", [5, 10, 20, 100])
@pytest.mark.parametrize("deviation", [0.1, 1.0, 10.0, 100.0])
def test_errors_are_as_rare_as_the_level_says(seeds, deviation):
    for truth in (0.0, 0.5, 1.0, -1.0):  # alike, up to the margin
        assert rates(truth, deviation, seeds)[NOT_REPRODUCED] <= LARGEST
    for truth in (1.0, -1.0, 1.5, 10.0, 100.0):  # not alike, from the margin on
        assert rates(truth, deviation, seeds)[REPRODUCED] <= LARGEST
    for relation, sign in (("<", -1), ("<=", -1), (">", 1), (">=", 1)):
        for size in (0.0, 0.3, 3.0):
            assert (
                rates(-sign * size, deviation, seeds, relation)[REPRODUCED] <= LARGEST
            )  # false, or a tie
            assert (
                rates(sign * size, deviation, seeds, relation)[NOT_REPRODUCED] <= LARGEST
            )  # true, or a tie


def test_skew_and_rare_events_break_the_level_by_as_much_as_is_said():
    random = np.random.Generator(np.random.Philox(3))
    false = lambda differences, relation="~": np.mean(
        decide_means(differences, relation, MARGIN) == REPRODUCED
    )
    for seeds, most in ((5, 0.25), (20, 0.19)):
        skewed = np.exp(random.normal(size=(DRAWS, seeds))) - np.exp(0.5)  # of mean 0
        for sign in (1, -1):
            assert LARGEST < false(sign * (skewed + MARGIN)) < most
        assert LARGEST < false(skewed, "<") < most  # a tie
    rare = (
        random.random((DRAWS, 5)) < 0.1
    ) * 10.0  # of mean 1; 5 seeds miss it with probability .9^5 = .59
    assert false(rare) == pytest.approx(0.9**5, abs=4 * (0.24 / DRAWS) ** 0.5)
    assert "difference 0 at each of 5 seeds" in compare_cells(np.zeros(5), "~", "0").sentence


def power(truth, deviation, seeds):
    """P(|mean| + t s / sqrt(n) <= margin) of normal differences: mean and s are independent, so an
    integral over s."""
    error, t = deviation / seeds**0.5, stats.t.isf(LEVEL, seeds - 1)
    within = lambda room: max(
        0.0, stats.norm.cdf((room - truth) / error) - stats.norm.cdf((-room - truth) / error)
    )
    return quad(
        lambda s: stats.chi.pdf(s, seeds - 1) * within(MARGIN - t * error * s / (seeds - 1) ** 0.5),
        0,
        MARGIN / (t * error) * (seeds - 1) ** 0.5,
    )[0]


@pytest.mark.parametrize("seeds", [5, 10, 20, 100])
@pytest.mark.parametrize("truth, deviation", [(0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (0.0, 2**0.5)])
def test_the_power_is_the_integral(truth, deviation, seeds):
    expected = power(truth, deviation, seeds)
    error = 4 * (max(expected * (1 - expected), 1 / DRAWS) / DRAWS) ** 0.5
    assert rates(truth, deviation, seeds)[REPRODUCED] == pytest.approx(expected, abs=error)


@pytest.mark.parametrize("seeds", [5, 10, 20, 100])
def test_methods_that_are_one_are_told_apart_by_no_noise(seeds):
    """Two independent runs of one method, each with the margin's deviation: alike, the surer the
    more seeds."""
    random = np.random.Generator(np.random.Philox(8))
    differences = random.normal(size=(DRAWS, seeds)) - random.normal(size=(DRAWS, seeds))
    expected = power(0.0, 2**0.5, seeds)
    assert np.mean(decide_means(differences, "~", MARGIN) == REPRODUCED) == pytest.approx(
        expected, abs=4 * (max(expected * (1 - expected), 1 / DRAWS) / DRAWS) ** 0.5
    )
    assert np.mean(decide_means(differences, "~", MARGIN) == NOT_REPRODUCED) < 0.01
    for relation in ("<", ">", "<=", ">="):
        said = decide_means(differences, relation)
        assert max(np.mean(said == REPRODUCED), np.mean(said == NOT_REPRODUCED)) < LARGEST


@pytest.mark.parametrize("seeds", [5, 10, 20, 100])
def test_a_papers_number_with_noise_of_half_the_margin_is_seldom_refuted(seeds):
    assert (
        rates(0.0, 0.2, seeds, paper=MARGIN / 2)[NOT_REPRODUCED] <= LARGEST
    )  # a margin of two deviations


def test_true_cells_of_one_table_are_refuted_together_as_rarely_as_one():
    random = np.random.Generator(np.random.Philox(5))
    said = decide_means(random.normal(MARGIN, 1.0, (1000, 32, 10)), "~", MARGIN, LEVEL / 32)
    assert (
        np.mean((said == NOT_REPRODUCED).any(axis=1))
        <= LEVEL + 4 * (LEVEL * (1 - LEVEL) / 1000) ** 0.5
    )
    many = decide_means(random.normal(MARGIN, 1.0, (1000, 4, 10)), "~", MARGIN, LEVEL, shared=4)
    assert (
        np.mean((many == NOT_REPRODUCED).any(axis=1))
        <= LEVEL + 4 * (LEVEL * (1 - LEVEL) / 1000) ** 0.5
    )


def test_what_is_clear_is_said():
    """Deviation 1/10 of the margin, 10 seeds; and 1000 times as noisy, where nothing can be
    told."""
    assert rates(0.0, 0.1, 10)[REPRODUCED] > 0.999 and rates(2.0, 0.1, 10)[NOT_REPRODUCED] > 0.999
    assert rates(0.0, 100.0, 10)[NO_POWER] > 0.94 and rates(-1.0, 0.1, 10, "<")[REPRODUCED] > 0.999


def test_noise_buys_no_agreement():
    """Truth 50, printed 20, deviation 30, 20 seeds: within two deviations of a run 95 times in 100,
    and far from alike."""
    runs = np.random.Generator(np.random.Philox(7)).normal(50, 30, (500, 20))
    said = [compare_cells(run, "~", "20").verdict for run in runs]
    assert (
        REPRODUCED not in said
        and said.count(NOT_REPRODUCED) > 450
        and set(said) <= {NOT_REPRODUCED, NO_POWER}
    )


def test_all_relations_of_the_records_are_understood():
    relations = {c.relation for record in discover.claims() for c in record.compares}
    for relation in relations - {"increases in", "decreases in"}:
        compare_cells(1.0, relation, 1.0)
    with pytest.raises(InvalidInput, match="relation must be one of"):
        compare_cells(1.0, "!=", 1.0)


def test_computed_cells():
    assert judge_exactly({"x": True, "y": True}).verdict == REPRODUCED
    assert judge_exactly({"x": True, "y": False}) == (
        NOT_REPRODUCED,
        "not reproduced: 1 of 2 cells differ: y",
    )
    assert (
        judge_exactly({"x": True, "y": None}).verdict == judge_exactly({}).verdict == INCONCLUSIVE
    )
