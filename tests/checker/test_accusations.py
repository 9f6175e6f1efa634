"""The labels of the accusations agree with arithmetic in fractions that is written beside them, and
every accusation can be judged: its claim builds, and every hypothesis has a place in the text."""

from collections import Counter
from fractions import Fraction

import pytest

from fedtheory.language.claim import Claim
from tests.checker.accusation import LABELS, PARTS, PLACES, QUANTIFIERS, TABLE, TEXT, WHOSE
from tests.checker.accusations import ACCUSATIONS

# Multiples of the constant of a false order's witness, none of which may be enough.
CONSTANTS = (1, 10**2, 10**3)
each = pytest.mark.parametrize("accusation", ACCUSATIONS, ids=lambda accusation: accusation.name)


def test_there_are_enough_of_every_label():
    counts = Counter(accusation.label for accusation in ACCUSATIONS)
    assert len(ACCUSATIONS) >= 60 and set(counts) == set(LABELS)
    assert all(counts[label] >= least for label, least in LABELS.items())


def test_names_are_unique():
    assert len({accusation.name for accusation in ACCUSATIONS}) == len(ACCUSATIONS)


@each
def test_a_claim_builds_with_a_place_for_each_hypothesis(accusation):
    claim = accusation.claim()
    assert isinstance(claim, Claim) and claim.id == f"invented.{accusation.name}"
    assert {each.name for each in (*claim.assumes, *claim.unstated)} == set(accusation.hypotheses)
    said = {"statement", "text", "convention"}
    assert all(accusation.hypotheses[each.name] in said for each in claim.assumes)
    assert all(accusation.hypotheses[each.name] not in said for each in claim.unstated)


@each
def test_what_a_record_says_of_its_text_is_in_the_text(accusation):
    text, places = accusation.text, set(accusation.hypotheses.values())
    assert "statement" in text and text.keys() <= set(PARTS) and places <= set(PLACES)
    assert "text" not in places or text.keys() & set(TEXT)
    assert places & {"proof", "source"} <= text.keys()
    assert accusation.why.endswith(".") and accusation.quantifier in QUANTIFIERS
    assert accusation.whose in WHOSE
    assert all(letter in TABLE for letter in (*accusation.grows, *accusation.hides))
    assert bool(accusation.grows) == (accusation.claim().kind == "order")


@each
def test_a_witness_agrees_with_the_label(accusation):
    witness = accusation.witness
    assert all(isinstance(number, int | Fraction) for number in witness.values())
    assert accusation.holds(**witness) is (accusation.label == "none")
    if accusation.grows and accusation.label != "none":
        for constant in CONSTANTS:
            assert not accusation.holds(**{**witness, "constant": constant})


@each
def test_a_label_has_its_second_sentence(accusation):
    """By hand: what is meant, or stands all the same, is true at the witness of what is false; a
    witness of a missing hypothesis lacks this hypothesis."""
    meant = accusation.label in ("misprint", "reading", "step")
    assert bool(accusation.meant) is meant
    assert bool(accusation.intended) is meant
    assert not meant or accusation.intended().id == f"invented.{accusation.name}.meant"
    assert bool(accusation.needs) is (accusation.label == "hypothesis")
    assert not meant or accusation.meant(**accusation.witness)
    assert not accusation.needs or not accusation.needs(**accusation.witness)
    if accusation.label == "hypothesis":
        assert {"proof", "source"} & set(accusation.hypotheses.values())
