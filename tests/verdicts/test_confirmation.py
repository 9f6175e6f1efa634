"""Exact looks at what a search has found in floats: what they decide, and what they may take."""

from fractions import Fraction
from types import NoneType, SimpleNamespace

import numpy as np
import pytest
import sympy

from fedtheory import discover
from fedtheory.arithmetic import NoInstance
from fedtheory.arithmetic.operations import root
from fedtheory.discover import claim as claim_of
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import BOUNDED_BELOW, STRONGLY_CONVEX
from fedtheory.models import by_name, fitting
from fedtheory.models.general.runs import within_range
from fedtheory.search import scheduler
from fedtheory.search.coordinates import LOOK
from fedtheory.search.coverage import Coverage
from fedtheory.search.objective import Target
from fedtheory.search.optimizer import search_at
from fedtheory.search.rational_points import Point
from fedtheory.symbols import run
from fedtheory.verdicts import confirmation
from fedtheory.verdicts.evidence import Counterexample, Doubt


def found(claim):
    """(hunt, row, coverage) of a point inside the hypotheses of lemma 4 of FSL, or of a relative,
    at which the lemma's ratio is beyond a tenth."""
    setting = fitting(claim)[0]
    looked = Coverage(setting)
    for hunt, ratio, row in scheduler.search_waves(Target(claim, setting), 2.0, 0):
        looked.add(hunt)
        if ratio > 0.1 and (Point.near(hunt, row).ratio(certified=True) or 0) > 0.1:
            return hunt, row, looked


@pytest.mark.parametrize("share, kind", [(1, None), (sympy.Rational(1, 1000), Counterexample)])
def test_what_floats_say_above_1_is_asked_exactly(share, kind, monkeypatch):
    """A line that holds where floats have it fail is not doubted; one that fails is refuted, also
    where the first look is too dear; and what takes more work than there is stays open."""
    claim = claim_of("fsl.lemma4")
    claim = claim.replace(bound=share * claim.lines[0][2], name="relative")
    hunt, row, looked = found(claim)
    ranked = [(1.5, hunt, row)]
    asked = lambda: confirmation.resolve_apparent_failures(
        ranked, looked, confirmation.ConfirmationWork(ranked, 1.0)
    )
    evidence = asked()
    assert isinstance(evidence, kind or NoneType)
    hunt.look = 10
    evidence = asked()
    assert isinstance(evidence, kind or NoneType) and hunt.look == LOOK
    hunt.look = 10
    monkeypatch.setattr(confirmation, "FEW", 0)
    evidence = asked()
    assert isinstance(evidence, Doubt)


def test_however_many_floats_doubt_all_are_looked_at_while_there_is_work():
    """A larger budget finds more instances at which rounding lets a true line seem to fail, and has
    the more work for them."""
    claim = claim_of("fsl.lemma4")
    hunt, row, _ = found(claim)
    ranked = [(1.5, hunt, row)] * (confirmation.LOOKS + 5)
    asked = lambda work: confirmation.resolve_apparent_failures(
        ranked, found(claim)[2], confirmation.ConfirmationWork(ranked, work)
    )
    assert asked(100.0) is None
    assert isinstance(asked(0.0), Doubt)


def test_without_work_left_the_cheapest_are_asked_until_one_answers():
    ranked = [
        (1 - n / 10, SimpleNamespace(work=0.0, cost=cost, look=7), n)
        for n, cost in enumerate((50, 40, 9, 30, 8, 7))
    ]
    ends = confirmation.ConfirmationWork(ranked, 1.0)
    hunts = [hunt for _, hunt, _ in ranked]
    seen = []
    for _, hunt, n in confirmation.affordable_looks(ranked, ends, lambda: len(seen) < 4):
        seen.append(n)
        hunt.work += 0.6 * ends.steps
    assert seen == [0, 1, 5, 4]  # two by their ratios, then two of the cheapest, then there is one
    assert [hunt.look for hunt in hunts] == [7, 7, 7, 7, LOOK, LOOK]


def stated(left, right, *assumes, by=None):
    return Claim(
        id="mine.stated",
        cites="made up",
        symbols=run.TABLE,
        measures=left,
        bound=right,
        assumes=assumes,
        algorithm=by,
    )


def ranked_at(claim, setting, shape, point, ratio):
    """(ranked, coverage) of a single instance that floats are said to rate so."""
    target = Target(claim, by_name(setting))
    hunt = search_at(target, shape, {}, 0)
    row = np.array([float(hunt.raw(name, point.get(name, 0.0))) for name in hunt.names])
    hunt.top, hunt.scores = row[None], np.array([[ratio, ratio]])
    return [(ratio, hunt, row)], Coverage(target.setting)


ONE = dict(d=1, pieces=1, alike=0, soft=0, own="tilt", convex=1, lipschitz=1)


def test_what_is_no_instance_ends_no_claim():
    """A loss that falls without end has no gap, and is no candidate however floats rate it."""
    claim = stated(run.sq_grad_x, 2 * run.L * run.gap_x, BOUNDED_BELOW)
    ranked, looked = ranked_at(claim, "run_points", ONE, dict(scale=1.0, tilt_0_0=1.0), 1.5)
    point = Point.near(*ranked[0][1:])
    assert point.answer() is None and point.why_unsettled() == ""
    assert (
        confirmation.resolve_apparent_failures(
            ranked, looked, confirmation.ConfirmationWork(ranked, 1.0)
        )
        is None
    )


def test_beside_what_fails_a_hypothesis_others_are_asked():
    """A curvature of 0 is not strongly convex; next to it there are some that are, and they refute."""
    claim = stated(run.L * run.sq_xy, run.mu * run.sq_xy, STRONGLY_CONVEX)
    point = dict(scale=1.0, slope_0_0=1.0, slope_1_0=0.0, x_0=1.0)
    ranked, looked = ranked_at(claim, "run_points", {**ONE, "d": 2}, point, 1.5)
    assert Point.near(*ranked[0][1:]).failing() and Point.near(*ranked[0][1:]).why_unsettled() == ""
    evidence = confirmation.resolve_apparent_failures(
        ranked, looked, confirmation.ConfirmationWork(ranked, 5.0)
    )
    assert isinstance(evidence, Counterexample)


def test_why_a_candidate_stays_open_is_said():
    """What nothing has the work to look at is neither confirmed nor none."""
    claim = stated(run.sq_grad_x, run.L * run.gap_x)
    ranked, looked = ranked_at(
        claim, "run_points", ONE, dict(scale=1.0, slope_0_0=1.0, x_0=1.0), 1.5
    )
    ranked[0][1].look = 1
    evidence = confirmation.resolve_apparent_failures(
        ranked, looked, confirmation.ConfirmationWork(ranked, 0.0)
    )
    assert isinstance(evidence, Doubt) and "takes more work than it may" in evidence.reason


def test_an_interval_is_inside_a_range_without_end():
    """The root of 2 as a step size; one below 0 is refused all the same."""
    field = discover.algorithm("fedsgd").hyper["eta"]
    value = root(Fraction(2))
    assert within_range(field, value) is value
    with pytest.raises(NoInstance):
        within_range(field, -value)
