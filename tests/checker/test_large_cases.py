"""False statements that only large instances show are false: each at the instance worked out for it,
in fractions and enclosures; and a search finds some of them by itself."""

import pytest

from fedtheory.verdicts import pipeline
from tests.checker import power
from tests.checker.known_statements import FALSE as SMALLER
from tests.checker.large_cases import BASES, FAILING, FALSE, TRUE, certainly_fails


def test_there_are_many_and_each_differs_from_what_it_was_made_of():
    assert len(FALSE) >= 80 and not set(FALSE) & set(SMALLER)
    assert all(FALSE[name].lines != BASES[name].lines for name in FALSE)
    assert set(FALSE) <= set(power.FALSE) and set(SMALLER) <= set(power.FALSE)
    assert {name.partition(".")[0] for name in FALSE} >= set(TRUE)


@pytest.mark.parametrize("name", FAILING)
def test_a_false_statement_fails_where_it_is_said_to(name):
    assert certainly_fails(name)


@pytest.mark.parametrize("name", TRUE)
def test_a_true_statement_with_room_is_not_refuted(name):
    verdict = pipeline.check(TRUE[name], budget=0.3)
    assert verdict.status in ("holds", "proved"), verdict
    assert verdict.tightness is None or verdict.tightness <= 1


@pytest.mark.parametrize(
    "name",
    [
        "fedavg_rounds.noise_over_NT",
        "sgd_cohorts.noise_over_SS",
        "gd_long.square",
        "cohort_room.over_SS",
        "lemmaD11.client_constant",
    ],
)
def test_some_are_found(name):
    verdict, replays = power.refute_claim(FALSE[name], budget=20.0)
    assert replays, verdict
