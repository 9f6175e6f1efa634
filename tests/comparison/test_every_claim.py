"""Every claim is set against a run on a small problem, or says in one sentence why it cannot be."""

import numpy as np
import pytest

from fedtheory import discover
from fedtheory.comparison.lines import line_of
from fedtheory.errors import InvalidInput
from tests.comparison import walk

# Statements that bound, with constants, what a run of T rounds does.
THEOREMS = {
    "fsl.theorem1",
    "fsl.theorem2",
    "fsl.theorem2_mean",
    "fsl.theorem2_summed",
    *(f"fsl.corollary{n}_explicit" for n in ("1", "2a", "2b", "2c")),
    "fsl.special_sgd_explicit",
    *(
        f"mixed.theoremB{n}_{case}_explicit"
        for n in (1, 2, 3)
        for case in ("strong", "convex", "nonconvex")
    ),
    *(f"mixed.theoremB{n}_{case}_mean" for n in (1, 2, 3) for case in ("convex", "nonconvex")),
    "mixed.theoremB2_nonconvex_sum",
    "mixed.theoremB2_strong_decreasing",
    "lamb.theorem1_explicit",
    "lamb.corollary1_explicit",
    "flex.theorem3_1",
    "flex.theorem3_1_printed",
    "flex.fedavg_special",
    *(f"flex.table1_{scheme}_{kind}_explicit" for scheme in "ABC" for kind in ("hom", "het")),
}
CLAIMS = discover.claims()


def able(claim):
    try:
        return line_of(claim) is not None
    except InvalidInput:
        return False


@pytest.mark.parametrize("claim", [c for c in CLAIMS if able(c)], ids=lambda c: c.id)
def test_a_claim_about_a_run_is_compared(claim):
    found, why = walk.outcome(claim)
    if claim.id in walk.REFUSED:
        assert found is None and walk.REFUSED[claim.id] in why
        return
    assert found is not None, why
    assert len(found.T) and np.isfinite(found.left).all() and np.isfinite(found.right).all()
    assert found.exceeded is None, str(found)
    if found.left_exact is not None and found.runs[0].trials > 1:
        inside = (found.low <= found.left_exact * (1 + 1e-9) + 1e-12).mean()
        assert inside > 0  # exact and sampled are of one quantity


def test_all_theorems_about_runs_are_among_them():
    assert {c.id for c in CLAIMS if able(c)} >= THEOREMS
    assert not THEOREMS & set(walk.REFUSED)


@pytest.mark.parametrize("claim", [c for c in CLAIMS if not able(c)], ids=lambda c: c.id)
def test_another_claim_says_why_not(claim):
    with pytest.raises(InvalidInput) as refusal:
        line_of(claim)
    sentence = str(refusal.value)
    assert sentence.startswith(claim.title) and "\n" not in sentence
