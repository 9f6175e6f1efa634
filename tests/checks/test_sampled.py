"""Verdicts from draws and their shared error budget: seldom wrong, never late, and never from what is no number."""

from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest

from fedtheory.checks.confidence import against_at_most
from fedtheory.checks.sampled import FRESH, Budget, sampled
from fedtheory.errors import InvalidInput
from tests.checks.test_confidence import UNIT_MEAN, generator, too_many, watched

# ---------------------------------------------------------------- the budget


def test_the_budget_is_never_exceeded():
    budget = Budget(0.05, {"a": 1.0, "b": 3.0, "c": 0.1, "d": 7e-9})
    spent = sum(Fraction(budget.level(name, k)) for name in budget.weights for k in range(1, 300))
    assert Fraction(0.05) * Fraction(99, 100) < spent <= Fraction(0.05)
    thirds = Budget(0.7, {"a": 1, "b": 1, "c": 1})
    assert all(Fraction(thirds.level("a", k)) <= Fraction(0.7) / 3 / (k * (k + 1)) for k in range(1, 30))
    assert Budget(0.5, {"a": 1, "b": 3}).level("a") == 0.5 / 4 / 2
    assert Budget(0.5, {"a": 1, "b": 3}).level("b", 2) == 0.5 * 3 / 4 / 6


def test_the_budget_does_not_depend_on_order():
    names = [f"claim {i}" for i in range(9)]
    weights = {name: 0.1 + i / 3 for i, name in enumerate(names)}
    back = Budget(0.05, {name: weights[name] for name in reversed(names)})
    assert [Budget(0.05, weights).level(n, 3) for n in names] == [back.level(n, 3) for n in names]


@pytest.mark.parametrize("alpha, weights, claim, attempt, named", [
    (0.0, {"a": 1}, "a", 1, "alpha"), (np.nan, {"a": 1}, "a", 1, "alpha"), (0.1, {"a": 1}, "b", 1, "claim must be one"),
    (0.1, {"a": 0}, "a", 1, "weight of a"), (0.1, {"a": np.nan}, "a", 1, "weight of a"),
    (0.1, {"a": 1}, "a", 0, "attempt"), (0.1, {"a": 1}, "a", 1.5, "attempt"),
])
def test_a_bad_budget_is_refused(alpha, weights, claim, attempt, named):
    with pytest.raises(InvalidInput, match=named):
        Budget(alpha, weights).level(claim, attempt)


def test_a_campaign_of_true_claims_seldom_raises_any_alarm():
    """1000 campaigns of 4 claims with 3 instances each, all at equality, all watched after every draw."""
    budget = Budget(0.2, {"a": 1, "b": 2, "c": 1, "d": 4})
    shared, unshared = np.zeros(1000, dtype=bool), np.zeros(1000, dtype=bool)
    for i, (claim, attempt) in enumerate(product(budget.weights, (1, 2, 3))):
        log_e = against_at_most(UNIT_MEAN["now and then"](generator(100 + i), (1000, 100)), 1.0)
        shared |= watched(log_e, budget.level(claim, attempt))
        unshared |= watched(log_e, 0.2)
    assert not too_many(shared, 0.2)
    assert too_many(unshared, 0.2)


# ---------------------------------------------------------------- the driver


def stream(x):
    return lambda first, count: x[first:first + count]


def noisy(mean, noise, seed, n=40_000):
    """Lognormal draws of the given mean and relative noise."""
    s = np.sqrt(np.log1p(noise**2))
    return mean * np.exp(s * generator(seed).standard_normal(n) - s**2 / 2)


@pytest.mark.parametrize("noise, excess, most", [(0.1, 0.02, 3000), (0.3, 0.02, 20_000), (1.0, 0.2, 10_000)])
def test_a_violation_is_found_within_so_many_draws(noise, excess, most):
    for seed in range(10):
        x, fresh = noisy(5 * (1 + excess), noise, seed), noisy(5 * (1 + excess), noise, 1000 + seed)
        found = sampled(stream(x), 5.0, 1e-3, most=most, fresh=stream(fresh))
        assert found.status == "violated" and found.e_value > 1e3 and found.draws <= 2 * most
        assert 1.0 < found.tightness == found.lower / 5.0 < 1 + excess


def test_a_true_claim_is_not_refuted_and_its_tightness_is_seen():
    for mean, low in ((1.0, 0.98), (0.5, 0.49)):
        found = sampled(stream(noisy(mean, 0.2, 7)), 1.0, 1e-3, most=40_000)
        assert found.status == "not refuted" and found.e_value < 2e3 and found.draws == 40_000
        assert low < found.lower == found.tightness < mean


def test_false_verdicts_are_rare_at_equality():
    verdicts = [sampled(stream(x), 1.0, 0.9, most=100, fresh=stream(y)).status
                for x, y in UNIT_MEAN["now and then"](generator(8), (1000, 2, 100))]
    assert set(verdicts) == {"violated", "not refuted"}
    assert not too_many(np.array([v == "violated" for v in verdicts]), 0.45**2)    # both looks must err


def test_the_other_direction_by_negation():
    """E X >= 0.5 for X <= 1."""
    assert sampled(lambda *a: -0.4 * np.ones(a[1]), -0.5, 0.01, least=-1.0, most=500).status == "violated"
    found = sampled(lambda *a: -0.6 * np.ones(a[1]), -0.5, 0.01, least=-1.0, most=500)
    assert found.status == "not refuted" and found.lower < -0.6 and found.tightness is None


def test_verdicts_do_not_depend_on_pieces():
    cases = [noisy(1.05, 0.3, 9, 3000), noisy(1.0, 0.3, 9, 3000), UNIT_MEAN["rare and large"](generator(9), 3000),
             np.where(np.arange(3000) == 777, np.nan, noisy(1.0, 0.3, 9, 3000)),
             np.where(np.arange(3000) == 2500, np.inf, noisy(1.05, 0.3, 9, 3000))]
    for x in cases:
        found = {sampled(stream(x), 1.0, 0.01, most=3000, fresh=stream(x[::-1]), piece=piece)
                 for piece in (1, 5, 64, 3000)}
        assert len(found) == 1


def test_an_excursion_between_pieces_is_a_decision():
    """Wealth that peaks at draw 3 and is lost again by draw 60: seen, though the first piece ends at 64."""
    x = np.zeros(64)
    x[:3] = 40.0
    found = sampled(stream(x), 1.0, 0.05, most=64, fresh=stream(x))
    assert found.status == "violated" and found.draws <= 6
    assert against_at_most(x, 1.0)[-1] < log(20)


def test_a_violation_needs_fresh_draws():
    asked = []

    def draw(first, count):
        asked.append(first)
        return np.full(count, 2.0 if first < FRESH else 0.9)

    found = sampled(draw, 1.0, 0.01, most=100)
    assert found.status == "not refuted" and "did not confirm" in found.reason and found.lower < 0.9
    assert asked[0] == 0 and FRESH in asked and 100 < found.draws < 200
    assert sampled(lambda first, count: np.full(count, 2.0), 1.0, 0.01, most=100).status == "violated"
    found = sampled(draw, 1.0, 0.01, most=100, fresh=stream(np.full(100, 3.0)))
    assert found.status == "violated"    # another stream may be given for the second look


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_neither_a_pass_nor_a_violation(bad):
    calm, wild = np.full(200, 0.5), np.full(200, 3.0)
    for x, fresh, trial in ((calm, calm, 150), (wild, wild, 0), (wild, calm, None)):
        x, fresh = x.copy(), fresh.copy()
        (fresh if trial is None else x)[trial or 0] = bad
        found = sampled(stream(x), 1.0, 0.01, most=200, fresh=stream(fresh))
        assert found.status == "undecided" and "diverged" in found.reason and f"trial {trial or 0} " in found.reason
        assert found.e_value is found.lower is found.tightness is None
    wild[100] = bad    # long after both looks were over
    assert sampled(stream(wild), 1.0, 0.01, most=200, fresh=stream(wild)).status == "violated"


def test_no_evidence_where_the_claim_s_own_terms_fail():
    found = sampled(stream(np.array([0.5, -0.25])), 1.0, 0.01, most=2)
    assert found.status == "undecided" and "trial 1 gave -0.25: below the least value 0.0" in found.reason
    assert sampled(stream(np.array([1e-33])), 0.0, 0.01, most=1).status == "undecided"    # rounding is no violation
    assert sampled(stream(np.full(50_000, 1 + 1e-9)), 1.0, 0.5, most=50_000).status == "not refuted"


@pytest.mark.parametrize("options, named", [
    (dict(alpha=1.0), "alpha"), (dict(bound=np.nan), "bound"), (dict(bound=np.inf), "bound"), (dict(most=0), "most"),
    (dict(draw=lambda first, count: np.ones(count + 1)), "draw must return 64 values"),
])
def test_a_bad_question_is_refused(options, named):
    with pytest.raises(InvalidInput, match=named):
        sampled(**{**dict(draw=lambda first, count: np.ones(count), bound=2.0, alpha=0.1), **options})
