"""Claims that measure nothing: decided by their parameters alone, whatever problems they
mention."""

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.models import by_name, conditions, fitting
from tests.models.agree import refuted, weakened


def test_only_claims_that_measure_nothing_fit():
    for claim in discover.claims():
        if claim.lines and claim.kind != "order":
            assert (by_name("numbers") in fitting(claim)) == (not claim.quantities), claim.id


@pytest.mark.parametrize(
    "name",
    [
        "fsl.h_lower",
        "fsl.phi_kappa_decrease",
        "fsl.step_G3_G4",
        "mixed.table5",
        "mixed.table4_two_way_strong",
        "mixed.stepD12_constants",
        "mixed.stepD13_constants",
        "lamb.communication_explicit",
        "lamb.communication_rounds_explicit",
        "lamb.communication_local_ams_explicit",
    ],
)
def test_false_variants_are_refuted(name):
    verdict = refuted(weakened(name), budget=4)
    assert verdict.certificate["instance"] == {} and verdict.certificate["setting"] == "numbers"


def test_conditions_count_that_certify_a_number_of_the_claim():
    claim = ft.claim("flex.corollary4_0_3")
    assert not conditions(claim) and "devices_smooth" in {a.name for a in claim.assumptions}
    assert set(conditions(ft.claim("fsl.theorem1"))) >= {"smooth", "noise"}
