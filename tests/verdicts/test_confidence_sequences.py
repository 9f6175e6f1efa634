"""E-processes and confidence sequences, against rationals, enumeration and many streams watched at
every draw."""

from fractions import Fraction
from itertools import product
from math import log, prod

import numpy as np
import pytest
from scipy.stats import binom, norm

from fedtheory.errors import InvalidInput
from fedtheory.verdicts.confidence_sequences import (
    BETS,
    against_at_least,
    against_at_most,
    betting_bounds,
    checkpoint_sizes,
    empirical_bernstein,
    lower_mean,
    lower_sequence,
    stitched_boundary,
)

STREAMS, LENGTH, ALPHA = 1500, 300, 0.05
CHANCE = 1e-6  # of a test that fails by bad luck, were the rate alpha itself


def generator(seed):
    return np.random.Generator(np.random.Philox(key=seed))


def two_point(top):
    """0, or `top` with chance 1 / top."""
    return lambda g, shape: top * (g.random(shape) < 1.0 / top)


UNIT_MEAN = {  # nonnegative, of mean exactly 1
    "constant": lambda g, shape: np.ones(shape),
    "exponential": lambda g, shape: g.exponential(size=shape),
    "rare and large": two_point(100.0),
    "now and then": two_point(4.0),
    "rarely zero": two_point(1.01),
    "lognormal": lambda g, shape: np.exp(2.0 * g.standard_normal(shape) - 2.0),
    "Pareto without variance": lambda g, shape: 0.2 * g.pareto(1.2, size=shape),
}
UNIT_INTERVAL = {  # in [0, 1], with the mean
    "uniform": (lambda g, shape: g.random(shape), 0.5),
    "rarely one": (lambda g, shape: 1.0 * (g.random(shape) < 0.02), 0.02),
    "rarely zero": (lambda g, shape: 1.0 * (g.random(shape) < 0.98), 0.98),
    "hardly any noise": (lambda g, shape: 0.3 + 0.01 * g.standard_normal(shape).clip(-2, 2), 0.3),
}


def too_many(alarms, alpha):
    """Whether so many of the streams giving an alarm refutes that each does with chance alpha or
    less."""
    assert alarms.ndim == 1 and alarms.size >= 1000
    return alarms.sum() > binom.isf(CHANCE, alarms.size, alpha)


def watched(log_e, alpha=ALPHA):
    """Streams whose e-process ever exceeds 1 / alpha."""
    assert not np.isnan(log_e).any()
    return np.any(log_e > -np.log(alpha), axis=-1)


def z_interval(x, alpha):
    """What not to do: a fixed-time interval, looked at after every draw."""
    t = np.arange(1, x.shape[-1] + 1)
    mean = np.cumsum(x, -1) / t
    spread = np.sqrt(np.maximum(np.cumsum(x**2, -1) / t - mean**2, 0.0) / t) * norm.isf(alpha / 2)
    return mean - spread, mean + spread


# ---------------------------------------------------------------- e-processes


def wealth_in_rationals(x, m):
    """The mixture's wealth after each draw, bet by bet and draw by draw."""
    bets = [Fraction(b) for b in BETS.tolist()]
    return [
        sum(prod(1 - b + b * y / m for y in x[:t]) for b in bets) / len(bets)
        for t in range(1, len(x) + 1)
    ]


def test_wealth_is_that_of_rational_arithmetic():
    x, m = [Fraction(n, 8) for n in (3, 0, 40, 7, 1, 0, 16)], Fraction(3, 4)
    expected = [log(w) for w in wealth_in_rationals(x, m)]
    draws = np.array([float(v) for v in x])
    assert against_at_most(draws, 0.75) == pytest.approx(expected, abs=1e-13)
    assert against_at_most(draws - 2.0, -1.25, least=-2.0) == pytest.approx(expected, abs=1e-13)
    assert against_at_least(5.0 - draws, 4.25, most=5.0) == pytest.approx(expected, abs=1e-13)


def test_wealth_is_a_martingale_and_rarely_grows_by_enumeration():
    """0 or 5 with chances 4/5 and 1/5: all sequences of six draws, with exact chances."""
    mean, alarm, alpha = Fraction(0), Fraction(0), Fraction(1, 5)
    for x in product((0, 5), repeat=6):
        chance = prod(Fraction(1, 5) if v else Fraction(4, 5) for v in x)
        wealth = wealth_in_rationals([Fraction(v) for v in x], Fraction(1))
        mean += chance * wealth[-1]
        alarm += chance * any(w > 1 / alpha for w in wealth)
        assert against_at_most(np.array(x, dtype=float), 1.0)[-1] == pytest.approx(
            log(wealth[-1]), abs=1e-12
        )
    assert mean == 1
    assert 0 < alarm <= alpha


@pytest.mark.parametrize("name", UNIT_MEAN)
def test_false_alarms_are_rare_at_equality_while_peeking(name):
    x = UNIT_MEAN[name](generator(1), (STREAMS, LENGTH))
    log_e = against_at_most(x, 1.0)
    assert log_e.shape == x.shape
    for alpha in (0.2, ALPHA, 0.01):
        assert not too_many(watched(log_e, alpha), alpha)


@pytest.mark.parametrize("name", UNIT_INTERVAL)
def test_false_alarms_are_rare_below_a_cap(name):
    draw, mean = UNIT_INTERVAL[name]
    x = draw(generator(2), (STREAMS, LENGTH))
    assert not too_many(watched(against_at_least(x, mean, most=1.0)), ALPHA)
    assert not too_many(watched(against_at_most(x, mean)), ALPHA)


def test_wrong_procedures_fail_the_same_tests():
    x = UNIT_MEAN["now and then"](generator(1), (STREAMS, LENGTH))
    below, _ = z_interval(x, 2 * ALPHA)
    assert too_many(np.any(below > 1.0, axis=-1), ALPHA)
    hindsight = np.max([np.cumsum(np.log1p(b * (x - 1.0)), axis=-1) for b in BETS], axis=0)
    assert too_many(watched(hindsight, 0.2), 0.2)  # the best bet, chosen after the draws
    assert too_many(
        watched(against_at_most(1.2 * x, 1.0)), ALPHA
    )  # and a mean that is larger is seen


# ---------------------------------------------------------------- confidence sequences


def missed(lower_bounds, upper_bounds, mean):
    assert not np.isnan(lower_bounds).any() and not np.isnan(upper_bounds).any()
    return np.any((lower_bounds > mean) | (upper_bounds < mean), axis=-1)


@pytest.mark.parametrize("name", UNIT_INTERVAL)
def test_intervals_cover_the_mean_at_all_times(name):
    draw, mean = UNIT_INTERVAL[name]
    x = draw(generator(3), (1000, 200))
    low, high = empirical_bernstein(3 * x - 1, ALPHA, -1.0, 2.0)
    assert low.shape == high.shape == x.shape
    assert np.all(np.diff(low) >= 0) and np.all(np.diff(high) <= 0)
    assert not too_many(missed(low, high, 3 * mean - 1), ALPHA)
    times = checkpoint_sizes(200)[::4]
    low, high = betting_bounds(3 * x - 1, ALPHA, -1.0, 2.0, times)
    assert low.shape == high.shape == (1000, times.size)
    assert np.all(np.diff(low) >= 0) and np.all(np.diff(high) <= 0)
    assert not too_many(missed(low, high, 3 * mean - 1), ALPHA)
    assert np.all(low[:, 0] >= -1.0) and np.all(high[:, 0] <= 2.0)


def test_a_peeked_at_interval_does_not_cover():
    x = generator(3).random((1000, 200))
    assert too_many(missed(*(b[:, 1:] for b in z_interval(x, ALPHA)), 0.5), ALPHA)
    assert too_many(missed(*empirical_bernstein(x, ALPHA, 0.0, 1.0), 0.7), ALPHA)


def test_intervals_shrink():
    x = generator(4).random(20_000)
    narrow = 2 * 1.96 * np.sqrt(1 / 12 / x.size)
    for low, high in (
        empirical_bernstein(x, ALPHA, 0, 1),
        betting_bounds(x, ALPHA, 0, 1, [200, x.size]),
    ):
        assert narrow < high[-1] - low[-1] < 3 * narrow


@pytest.mark.parametrize("name", [name for name in UNIT_MEAN if name != "constant"])
def test_the_lower_bound_is_the_largest_mean_that_the_wealth_refutes(name):
    x = 7.0 * UNIT_MEAN[name](generator(5), (20, 60)) + 1.0
    for t in (1, 2, 60):
        for stream, m in zip(x, lower_mean(x[:, :t], ALPHA, least=1.0)):
            if m == 1.0:  # nothing but zeros
                assert np.all(stream[:t] == 1.0)
            else:
                assert against_at_most(stream[:t], m, least=1.0)[-1] == pytest.approx(
                    -log(ALPHA), abs=1e-9
                )
                assert against_at_most(stream[:t], 1 + 0.99 * (m - 1), least=1.0)[-1] > -log(ALPHA)


def test_the_lower_sequence_passes_the_mean_when_the_wealth_does():
    x, times = UNIT_MEAN["exponential"](generator(6), (500, 100)), np.arange(1, 101, 3)
    log_e, bounds = against_at_most(x, 0.8), lower_sequence(x, ALPHA, times)
    over = np.maximum.accumulate(log_e[:, times - 1], axis=-1) > -log(ALPHA)
    assert np.array_equal(bounds > 0.8, over)
    assert 50 < over[:, -1].sum() < 450
    assert lower_sequence(x[0], ALPHA, times) == pytest.approx(
        bounds[0], rel=1e-12
    )  # streams apart or together


def test_the_stitched_boundary_is_the_paper_s():
    """Howard et al. (2021), equation 2: 1.7 sqrt(v (log log 2v + 0.72 log(5.2 / alpha))) for c = 0,
    rounded up."""
    v, alpha = 1e12, 0.025
    expected = 1.7 * np.sqrt(v * (np.log(np.log(2 * v)) + 0.72 * np.log(5.2 / alpha)))
    assert 0.99 * expected < stitched_boundary(v, alpha, 1.0) < expected
    ell = log(
        3.1055473 / alpha
    )  # at v = c^2 the iterated logarithms cancel: zeta(1.4) = 3.1055473 is left
    assert stitched_boundary(1.0, alpha, 1.0) == pytest.approx(
        (2.0606602 * ell + (1.2071068 * ell) ** 2) ** 0.5 + 1.2071068 * ell, rel=1e-6
    )
    assert stitched_boundary(0.3, alpha, 1.0) == stitched_boundary(
        1.0, alpha, 1.0
    )  # intrinsic time starts at c^2
    assert stitched_boundary(12.0, alpha, 2.0) == pytest.approx(
        2 * stitched_boundary(3.0, alpha, 1.0), rel=1e-14
    )


def test_empirical_bernstein_the_slow_way():
    x, alpha, low, high = generator(11).random(400), 0.1, -0.5, 1.5
    V, below, above = 0.0, low, high
    bounds = empirical_bernstein(x, alpha, low, high)
    for t in range(1, 401):
        guess = (
            0.5 + sum(x[: t - 1])
        ) / t  # of draw t: the mean before it and of one draw at (low + high) / 2
        V += (x[t - 1] - guess) ** 2
        radius = stitched_boundary(V, alpha / 2, 2.0) / t  # either side errs with chance alpha / 2
        below, above = max(below, np.mean(x[:t]) - radius), min(above, np.mean(x[:t]) + radius)
        assert (bounds[0][t - 1], bounds[1][t - 1]) == pytest.approx((below, above), abs=1e-12)
    assert low < below < np.mean(x) < above < high


def test_either_side_of_the_betting_interval_has_half_of_alpha():
    x = generator(12).random(100)
    low, high = betting_bounds(x, 0.1, 0.0, 1.0, [100])
    for bound, log_e in (
        (low[0], against_at_most(x, low[0])),
        (high[0], against_at_least(x, high[0], most=1.0)),
    ):
        assert log_e[-1] == pytest.approx(log(20), abs=1e-9)


def test_checkpoints_do_not_depend_on_the_end():
    assert checkpoint_sizes(1).tolist() == [1]
    assert checkpoint_sizes(25).tolist() == [*range(1, 21), 22, 24, 25]
    assert checkpoint_sizes(26).tolist() == [*range(1, 21), 22, 24, 26]


def test_huge_and_tiny_draws_stay_numbers():
    x = np.array([1e308, 1e308, 1e-308, 0.0])
    log_e = against_at_most(x, 1e-300)
    assert np.all(np.isfinite(log_e)) and np.all(log_e > 600)
    assert 0 < lower_mean(x, ALPHA) < 1e308
    assert lower_mean([0.0, 0.0], ALPHA) == 0.0


@pytest.mark.parametrize(
    "call, named",
    [
        (lambda: against_at_most([1.0, np.nan], 1.0), "x must be finite"),
        (lambda: against_at_most([1.0, -0.1], 1.0), "x must be finite and in [0.0, inf]"),
        (lambda: against_at_most([], 1.0), "x must hold at least one"),
        (lambda: against_at_most([1.0], 0.0), "m must be finite and above"),
        (lambda: against_at_most([1.0], np.nan), "m must be finite and above"),
        (lambda: against_at_least([1.0], 1.0, most=1.0), "m must be finite and below"),
        (lambda: against_at_least([1.1], 0.5, most=1.0), "x must be finite and in [-inf, 1.0]"),
        (lambda: lower_mean([1.0], 0.0), "alpha must lie in (0, 1)"),
        (lambda: lower_sequence([1.0, 2.0], 0.1, [1, 3]), "times must rise within 1 .. 2"),
        (lambda: betting_bounds([0.5], 1.5, 0, 1, [1]), "alpha must lie in (0, 1)"),
        (lambda: empirical_bernstein([1.5], 0.1, 0, 1), "x must be finite and in [0, 1]"),
    ],
)
def test_bad_input_is_refused(call, named):
    with pytest.raises(InvalidInput) as refusal:
        call()
    assert named in str(refusal.value)
