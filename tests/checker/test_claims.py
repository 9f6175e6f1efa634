"""Property tests of every claim that a setting measures: the claim's lines hold at drawn cases, or
its counterexample replays.

`pytest tests/checker/test_claims.py` draws the same few cases every time; FEDTHEORY_VERIFY=random draws many fresh cases
and shrinks them.
"""

import json
import os
from functools import cache

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import fedtheory as ft
from fedtheory import discover
from fedtheory.models import fitting
from fedtheory.search.exact_instances import answer_at
from fedtheory.search.strategies import cases, measure
from fedtheory.verdicts.pipeline import as_meant

QUIET = dict(deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
SAME = dict(max_examples=3, derandomize=True, database=None)
DRAWS = settings(
    **QUIET,
    **dict(max_examples=50)
    if os.environ.get("FEDTHEORY_VERIFY") == "random"
    else dict(SAME, phases=[Phase.explicit, Phase.generate]),
)
pytestmark = pytest.mark.slow  # each claim is searched

# seconds of search: for all claims, and for claims known to be false
SHORT, LONG = 0.1, (1.0, 10.0)
MEASURED = [
    claim
    for claim in discover.claims()
    if claim.kind in ("exact", "step")
    and claim.lines
    and fitting(claim)
    and all(sign != "O" for _, sign, _ in claim.lines)
]
WITH_WEAKENED = [claim for claim in MEASURED if claim.weakened is not None]
named = dict(ids=lambda claim: claim.id)


@cache
def verdict(claim):
    return as_meant(claim, SHORT, 0)


def replay_violation(verdict):
    """Derive a violation anew from the document's text, and check that the violation is of this
    claim."""
    found = ft.replay(json.loads(json.dumps(verdict.certificate)))
    assert found["status"] == "violated" and found["claim"] == verdict.claim


def refute_claim(claim):
    """Tell whether a search, with more time where the first search fails, refutes a claim by a
    document that replays."""
    for budget in (SHORT, *LONG):
        found = as_meant(claim, budget, 0, proofs=False)  # no proof is sought for a false claim
        if found.status == "violated":
            replay_violation(found)
            return True
    return False


@pytest.mark.parametrize("claim", MEASURED, **named)
@DRAWS
@given(data=st.data())
def test_what_is_measured_stays_below_the_bound(claim, data):
    if verdict(claim).status == "violated":
        return replay_violation(verdict(claim))
    case = data.draw(cases(claim))
    for line, (_, sign, _) in enumerate(claim.lines):
        found = answer_at(claim, case, line)
        assert not any(found.failing()), "a case outside the assumptions"
        if found.certainly_fails:  # then the checker must find a failure, too, given time
            assert refute_claim(claim), f"line {line + 1} fails at {case}, and no search finds it"
            return None
        if sign == "<=":
            # The hypotheses were checked above, exactly; a number behind a root is an enclosure's
            # end in `values`, which may lie below 0 by less than 2^-300.
            right = claim.evaluate(case.values, strict=False, line=line)
            assert measure(claim, case, line).lower <= right


@pytest.mark.parametrize("claim", WITH_WEAKENED, **named)
def test_weakened_bounds_are_refuted(claim):
    assert refute_claim(claim.replace(f"{claim.id}!weakened", bound=claim.weakened))
