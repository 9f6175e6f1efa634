"""Figures of proofs: documents that ship show what they are drawn for, nothing is called broken without
one or a search, and what is drawn is told apart."""

import copy

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover
from figures import _proofs, proof_flex

DOCUMENTS = [(id, one) for id, some in _proofs.violations().items() for one in some]


@pytest.mark.parametrize("id, one", DOCUMENTS, ids=lambda v: v if isinstance(v, str) else v["line"])
def test_each_document_shows_that_its_line_fails(id, one):
    found = ft.replay(one)
    assert (found["status"], found["about"]) == ("violated", _proofs.RECORDED)
    assert one["claim"] == id and one["line"] in _proofs.violated(discover.claim(id))


def test_a_document_that_was_changed_breaks_nothing(monkeypatch):
    claim, (one, *_) = discover.claim("lamb.step_B2"), _proofs.violations()["lamb.step_B2"]
    other = copy.deepcopy(one)
    other["line"] = 2
    for wrong in (other, {}, {**one, "claim": "mine.own"}):
        monkeypatch.setattr(_proofs, "violations", lambda: {claim.id: [wrong]})
        assert _proofs.violated(claim) == set()


def test_theorem_3_2_of_flex_is_drawn_as_proved_with_half_of_its_constant():
    data = proof_flex.compute("smoke", lambda *_: None)
    status = dict(zip(data["name"].tolist(), data["status"].tolist()))
    assert {status[name] for name in status if "3_2" in name} == {"proved"}
    step = {data["name"][end].item(): how for end, how in zip(data["end"], data["step"].tolist())}
    assert {name for name, how in step.items() if how != "proved"} == {"flex.theorem3_1/1"}
    ratio = dict(zip(data["name"].tolist(), data["ratio"].tolist()))
    assert all(0.3 < ratio[f"flex.theorem3_2_{e}/1"] <= 0.5 for e in ("arrival", "departure"))


def test_a_line_keeps_its_number_however_long_its_place_is():
    assert _proofs.shortened("proof of D.9, term A, line 2") == "D.9, term A l.2"
    long = _proofs.shortened("a place of many words " * 9 + ", line 12")
    assert long.endswith("... l.12") and len(long) <= _proofs.LONGEST + 6


def test_what_fails_is_drawn_beyond_one_and_nothing_else():
    claim = discover.claim("lamb.step_B1")
    known = {claim.id: dict(status="violated", lines=[_proofs.FAILS])}
    assert _proofs.ratio("lamb.step_B1/1", known) == np.inf
    assert np.isnan(_proofs.ratio("lamb.step_B1/2", known))
    assert np.isnan(_proofs.ratio("textbook.young", known))
