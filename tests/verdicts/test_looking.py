"""Exact looks at what a search has found in floats: what they decide, and what they may take."""

from types import SimpleNamespace

import pytest
import sympy

from fedtheory.discover import claim as claim_of
from fedtheory.search import waves
from fedtheory.search.columns import LOOK
from fedtheory.search.coverage import Coverage
from fedtheory.search.rationals import Point
from fedtheory.search.target import Target
from fedtheory.settings import fitting
from fedtheory.verdicts import looking


def found(claim):
    """(hunt, row, coverage) of a point inside the hypotheses of lemma 4 of FSL, or of a relative,
    at which the lemma's ratio is beyond a tenth."""
    setting = fitting(claim)[0]
    looked = Coverage(setting)
    for hunt, ratio, row in waves.searched(Target(claim, setting), 2.0, 0):
        looked.add(hunt)
        if ratio > 0.1 and (Point.near(hunt, row).ratio(certified=True) or 0) > 0.1:
            return hunt, row, looked


@pytest.mark.parametrize("share, status", [(1, None), (sympy.Rational(1, 1000), "violated")])
def test_what_floats_say_above_1_is_asked_exactly(share, status, monkeypatch):
    """A line that holds where floats have it fail is not doubted; one that fails is refuted, also
    where the first look is too dear; and what takes more work than there is stays open."""
    claim = claim_of("fsl.lemma4")
    claim = claim.replace(bound=share * claim.lines[0][2], name="relative")
    hunt, row, looked = found(claim)
    ranked = [(1.5, hunt, row)]
    asked = lambda: looking.unexplained(claim, ranked, looked, looking.Ends(ranked, 1.0))
    verdict = asked()
    assert (verdict and verdict.status) == status
    hunt.look = 10
    verdict = asked()
    assert (verdict and verdict.status) == status and hunt.look == LOOK
    hunt.look = 10
    monkeypatch.setattr(looking, "FEW", 0)
    verdict = asked()
    assert verdict.status == "undecided" and "seems to fail" in verdict.why


def test_however_many_floats_doubt_all_are_looked_at_while_there_is_work():
    """A larger budget finds more instances at which rounding lets a true line seem to fail, and has
    the more work for them."""
    claim = claim_of("fsl.lemma4")
    hunt, row, _ = found(claim)
    ranked = [(1.5, hunt, row)] * (looking.LOOKS + 5)
    asked = lambda work: looking.unexplained(
        claim, ranked, found(claim)[2], looking.Ends(ranked, work)
    )
    assert asked(100.0) is None
    assert asked(0.0).status == "undecided"


def test_without_work_left_the_cheapest_are_asked_until_one_answers():
    ranked = [
        (1 - n / 10, SimpleNamespace(work=0.0, cost=cost, look=7), n)
        for n, cost in enumerate((50, 40, 9, 30, 8, 7))
    ]
    ends = looking.Ends(ranked, 1.0)
    hunts = [hunt for _, hunt, _ in ranked]
    seen = []
    for _, hunt, n in looking.affordable(ranked, ends, lambda: len(seen) < 4):
        seen.append(n)
        hunt.work += 0.6 * ends.steps
    assert seen == [0, 1, 5, 4]  # two by their ratios, then two of the cheapest, then there is one
    assert [hunt.look for hunt in hunts] == [7, 7, 7, 7, LOOK, LOOK]
