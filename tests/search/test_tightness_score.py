"""How near a line is to failing, against fractions worked by hand: what the weakened bound has
tells nothing, and above 1 is exactly what fails."""

from fractions import Fraction as Q
from random import Random

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory.search.tightness_score import LOW, Rating, terms_beyond

F, F_NEXT, GAIN, NOISE, DRIFT, D, D_NEXT = sympy.symbols("F F_next gain noise drift D D_next")
LOSSES = frozenset({"F", "F_next"})
BOUND = F - GAIN + 5 * NOISE + 8 * DRIFT
LINES = {
    "losses": Rating(F_NEXT, BOUND, 1, LOSSES),
    "weakened bound": Rating(F_NEXT, BOUND, 1, LOSSES, F - GAIN),
    "one part": Rating(F_NEXT, BOUND, 1, LOSSES, over=(8 * DRIFT,)),
    "from below": Rating(BOUND, F_NEXT, -1, LOSSES, F_NEXT + NOISE),
    "squares": Rating(D_NEXT, D / 2 + NOISE, 1, frozenset(), D / 2),
    "plain": Rating(D_NEXT, D / 2 + NOISE, 1, frozenset()),
    "one term": Rating(F_NEXT, F, 1, LOSSES),
    "weakened bound of one term": Rating(F_NEXT, sympy.Integer(0), 1, LOSSES, -NOISE),
}


def exactly(rating, at, violated):
    return rating.exactly(lambda e: Q(str(e.subs(at))), violated, False)


def in_floats(rating, at):
    value = lambda e: np.full(1, float(e.subs(at)))
    return rating.scores(value, 1, False)[0]


def test_a_gain_is_no_part_of_what_a_theorem_of_one_round_is_rated_over():
    """F' = 10 - 3 + 2 of 10 - 3 + 5 * 1 + 8 * 1: the truth needs 2 of 13, though the plain ratio is
    that of what falls, 3 of 3 + ... ."""
    at = {F: 10, F_NEXT: 9, GAIN: 3, NOISE: 1, DRIFT: 1}
    for name in ("losses", "weakened bound"):
        assert exactly(LINES[name], at, False) == 2 / 13
        assert in_floats(LINES[name], at) == pytest.approx([2 / 13, 3 / 14])
    assert exactly(LINES["one part"], at, False) == 0  # 5 * 1 is enough for it
    at[F_NEXT] = 14  # 2 of the 8 * 1 are needed beside 5 * 1
    assert exactly(LINES["one part"], at, False) == 2 / 8
    assert in_floats(LINES["one part"], at)[0] == pytest.approx(2 / 8)


def test_a_fall_as_promised_without_noise_tells_nothing():
    """F' = F - gain: plainly the ratio is 1, and nothing is asked of 5 and 8."""
    at = {F: 10, F_NEXT: 7, GAIN: 3, NOISE: 0, DRIFT: 0}
    found = in_floats(LINES["weakened bound"], at)
    assert (found[0], found[1]) == (LOW, 1.0)


def test_what_both_sides_have_is_nothing():
    both = Rating(D_NEXT + 7 * D, NOISE + 7 * D, 1, frozenset())
    at = {D_NEXT: 1, D: 1000, NOISE: 4}
    assert exactly(both, at, False) == 1 / 4 and in_floats(both, at)[0] == 1 / 4
    whole = Rating(2 * NOISE / 3, NOISE, 1, frozenset())
    assert exactly(whole, at, False) == 2 / 3  # of one term the ratio is its constants', not 0


def test_nothing_equals_nothing():
    equation = Rating(D_NEXT, D, 0, frozenset())
    for d, d_next, found in ((0, 0, 1.0), (2, 2, 1.0), (1, 2, 1 + 1 / 3)):
        assert in_floats(equation, {D: d, D_NEXT: d_next}) == pytest.approx([found])


def test_one_term_is_compared_with_nothing():
    assert LINES["one term"].mute and not LINES["weakened bound of one term"].mute
    assert not any(rating.mute for name, rating in LINES.items() if name != "one term")


def test_the_ratio_of_one_term_is_counted_over_its_weakened_bound():
    """F' <= 0 beside F' <= -4: at F' = -1 the bound is 3/4 of the way."""
    at = {F_NEXT: -1, NOISE: 4}
    assert exactly(LINES["weakened bound of one term"], at, False) == 3 / 4


@pytest.mark.parametrize("name", LINES)
def test_above_one_is_what_fails(name):
    rating, random = LINES[name], Random(name)
    signed = {F, F_NEXT}
    for _ in range(300):
        at = {
            s: Q(random.randint(-9 if s in signed else 0, 9), random.choice((1, 2, 3, 1000)))
            for s in (F, F_NEXT, GAIN, NOISE, DRIFT, D, D_NEXT)
        }
        numbers = {s: sympy.Rational(v.numerator, v.denominator) for s, v in at.items()}
        gap = sum(Q(str(e.subs(numbers))) for e in (*rating.terms, *rating.net))
        found, scores = exactly(rating, numbers, gap < 0), in_floats(rating, numbers)
        if found is not None:
            assert (found > 1) == (gap < 0), numbers
            assert np.isnan(scores[0]) or (scores[0] > 1 + 1e-9) == (gap < 0), numbers
            if 1e-3 < found < 1e3 and scores[0] > 0:
                assert scores[0] == pytest.approx(found, rel=1e-6)
        else:
            assert gap >= 0


def test_a_weakened_bound_that_halves_a_bound_is_no_part_of_it():
    nothing = ((), ())
    assert (
        terms_beyond(BOUND, BOUND / 2) == nothing
        and terms_beyond(BOUND, sympy.Integer(0)) == nothing
    )
    over, kept = terms_beyond(BOUND, F - GAIN + 2 * NOISE)
    assert set(over) == {5 * NOISE, 8 * DRIFT} and set(kept) == {F, -GAIN}
    assert terms_beyond(4 * (D + NOISE), 4 * D) == ((4 * NOISE,), (4 * D,))
    assert terms_beyond(NOISE - DRIFT, 2 * NOISE - DRIFT, -1) == ((), (-NOISE, DRIFT))


@pytest.mark.parametrize("name", LINES)
def test_what_a_line_is_rated_over_and_the_rest_are_its_gap(name):
    rating = LINES[name]
    if rating.over:
        gap = sympy.Add(*rating.terms, *rating.net)
        assert sympy.expand(gap - sympy.Add(*rating.over, *rating.rest)) == 0


def test_what_only_a_weakened_bound_mentions_is_measured():
    """Teeth of the proof of proposition D.5 are -gap/2, and its line is excess <= 0."""
    claim = ft.claim("mixed.stepD5")
    verdict = ft.check(claim, budget=0.1)
    assert verdict.status == "holds" and 0 < verdict.tightness <= 1


def test_the_last_digits_of_a_loss_are_no_failure():
    """F' = F - gain + noise for certain, 2e-16 of F too much in floats, where noise is 1.5e-7 of F: as
    a share of the noise that is 1 + 1.5e-9."""
    at = {F: 1.0, GAIN: 0.0, NOISE: 0.3e-7, DRIFT: 0.0}
    fallen = 1.0 + 5 * 0.3e-7 + 2.0**-52
    assert fallen > 1.0 + 5 * at[NOISE]
    assert in_floats(LINES["weakened bound"], {**at, F_NEXT: fallen}).max() <= 1.0
    assert in_floats(LINES["weakened bound"], {**at, F_NEXT: fallen + 1e-14}).max() > 1.0
