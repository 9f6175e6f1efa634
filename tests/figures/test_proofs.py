"""Figures of proofs: documents that ship show what they are drawn for, nothing is called broken without
one or a search, and what is drawn is told apart."""

import copy

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.figures import _proofs, proof_flex
from fedtheory.verdicts import proof_graph
from fedtheory.verdicts.verdict import Verdict
from tests.figures import refresh_broken

DOCUMENTS = [(id, one) for id, some in _proofs.known_violations().items() for one in some]


@pytest.mark.parametrize("id, one", DOCUMENTS, ids=lambda v: v if isinstance(v, str) else v["line"])
def test_each_document_shows_that_its_line_fails(id, one):
    found = ft.replay(one)
    assert (found["status"], found["about"]) == ("violated", _proofs.RECORDED)
    assert one["claim"] == id and one["line"] in _proofs.violated_places(discover.claim(id))


def test_documents_are_of_lines_that_figures_go_through_and_each_is_there_once():
    """What no figure goes through is stale: python -m tests.figures.refresh_broken leaves it out."""
    shown = [(id, one["line"]) for id, one in DOCUMENTS]
    assert len(shown) == len(set(shown))
    assert set(shown) <= {(claim.id, n) for claim, n in refresh_broken.lines()}


def test_a_document_that_was_changed_breaks_nothing(monkeypatch):
    claim, (one, *_) = discover.claim("lamb.step_B2"), _proofs.known_violations()["lamb.step_B2"]
    other = copy.deepcopy(one)
    other["line"] = 2
    for wrong in (other, {}, {**one, "claim": "mine.own"}):
        monkeypatch.setattr(_proofs, "known_violations", lambda: {claim.id: [wrong]})
        assert _proofs.violated_places(claim) == set()


def test_theorem_3_2_of_flex_is_drawn_as_proved_with_half_of_its_constant():
    data = proof_flex.compute_arrays("smoke", lambda *_: None)
    status = dict(zip(data["name"].tolist(), data["status"].tolist()))
    assert {status[name] for name in status if "3_2" in name} == {"proved"}
    step = {data["name"][end].item(): how for end, how in zip(data["end"], data["step"].tolist())}
    assert {name for name, how in step.items() if how != "proved"} == {"flex.theorem3_1/1"}
    ratio = dict(zip(data["name"].tolist(), data["ratio"].tolist()))
    assert all(0.3 < ratio[f"flex.theorem3_2_{e}/1"] <= 0.5 for e in ("arrival", "departure"))


def test_a_line_keeps_its_number_however_long_its_place_is():
    assert _proofs.shorten_place("proof of D.9, term A, line 2") == "D.9, term A l.2"
    long = _proofs.shorten_place("a place of many words " * 9 + ", line 12")
    assert long.endswith("... l.12") and len(long) <= _proofs.LONGEST + 6


def test_what_fails_is_drawn_beyond_one_and_nothing_else():
    claim = discover.claim("lamb.step_B1")
    known = {claim.id: Verdict(claim.id, "violated", "", lines=[_proofs.FAILS])}
    told = lambda one, led: one is claim and ["violated"] or None
    nodes = proof_graph.build_graph(claim, told, known).nodes
    assert _proofs.largest_share(nodes["lamb.step_B1/1"]) == np.inf
    others = [
        _proofs.largest_share(node) for name, node in nodes.items() if name != "lamb.step_B1/1"
    ]
    assert others and np.isnan(others).all()


def test_a_step_is_as_heavy_as_what_is_needed_and_its_slack_is_told():
    data = dict(
        name=np.array(["mine.a/1", "textbook.young", "mine.b/1"]),
        status=np.array(["holds", "textbook", "violated"]),
        ratio=np.array([0.25, np.nan, np.inf]),
        start=np.array([1, 0]),
        end=np.array([0, 2]),
        step=np.array(["proved", "proved"]),
    )
    _, first, fact, fails = _proofs.table_rows(data)
    assert (first[-1], fact[-1], fails[-1]) == ("0.75", "", "")
    width = lambda needs: _proofs.step_look("proved", needs)["linewidth"]
    assert width(0.0) < width(0.25) < width(1.0) == _proofs.HEAVY
    assert width(np.nan) == width(np.inf) == _proofs.STEPS["proved"]["linewidth"]
