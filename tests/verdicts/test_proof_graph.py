"""What a claim rests on: proved, resting on what only holds by search, broken, or not shown at all."""

import copy
import json

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.errors import Contradiction
from fedtheory.language.claim import Claim
from fedtheory.proofs.textbook import proof_steps
from fedtheory.symbols import fsl as f
from fedtheory.verdicts import proof_graph, replaying
from fedtheory.verdicts.verdict import Verdict


def own(bound, name="mine.a", left=f.T_6, **more):
    return Claim(
        id=name,
        cites=f"mine, ({name[-1]})",
        algorithm="fsl",
        symbols=f.TABLE,
        measures=left,
        bound=bound,
        **more,
    )


ALL = lambda status: lambda claim, led: [status] * len(claim.lines)
TRUE = own(f.E_c + f.gamma**2 * f.E_0, "mine.d", follows=("textbook.definition",))


def test_proved_all_the_way_down():
    found = proof_graph.build_graph(
        own(2 * (f.E_c + f.gamma**2 * f.E_0), follows=(TRUE,)), ALL(None)
    )
    assert found.status == "proved" and found.steps == {"mine.d/1": "proved"}
    assert str(found) == "proved from 1 textbook fact (definition)"
    assert set(found.axioms) == {"inner_product", "definition"} and found.violated_lines == []


def test_what_only_holds_by_search_is_named():
    base = own(f.E_c, "mine.s")
    claim = own(2 * f.E_c + f.gamma**2 * f.E_0, follows=(base, TRUE))
    found = proof_graph.build_graph(own(2 * f.E_c, follows=(base,)), lambda claim, led: ["holds"])
    assert found.status == "holds"
    assert str(found) == "proved from (s), of which (s) only holds by search"
    assert proof_graph.build_graph(claim, ALL("holds")).nodes["mine.d/1"].status == "proved"


def test_a_false_step_shows_as_violated():
    """A step replaced by a false one: what follows from it is not proved, and the proof is broken."""
    wrong = own(f.E_c / 2, "mine.f")
    claim = own(f.E_c, follows=(wrong,))
    found = ft.check(claim, budget=1).rests_on
    assert found.violated_lines[0] == "mine.f/1" and str(found).startswith("broken at")
    assert found.status != "proved" and found.nodes["mine.a/1"].edge.status == "proved"


def test_a_step_that_was_not_shown_says_so():
    claim = own(f.E_c, follows=(TRUE,))
    found = proof_graph.build_graph(claim, ALL("holds"))
    assert found.status == "holds" and not found.nodes["mine.a/1"].leads
    assert str(found).startswith("not shown to follow from (d): algebra found no proof")
    alone = proof_graph.build_graph(own(f.E_c), ALL("holds"))
    assert str(alone) == "no step is named that leads to (a)"


def test_proved_and_violated_at_once_is_an_error_with_both_documents(monkeypatch):
    found = proof_graph.build_graph(TRUE, ALL("violated"))
    assert found.status == "violated" and found.contradicted == ["mine.d/1"]
    assert "errs" in str(found) and "both documents" in str(found)
    wrong = proof_steps.Edge("mine.d/1", ("textbook.definition",), "proved", "", ({},))
    monkeypatch.setattr(proof_steps, "step_of", lambda claim, at: wrong)
    refuted = Verdict(TRUE.id, "violated", "exact", "", certificate=dict(shows="a counterexample"))
    leads = own(f.E_c, "mine.d").replace(follows=("textbook.definition",))
    with pytest.raises(Contradiction, match="errs") as error:
        proof_graph.rests_on(leads, refuted, None)
    assert error.value.counterexample == refuted.certificate
    assert error.value.proof["edges"][0]["line"] == "mine.d/1"
    again = copy.copy(error.value)  # made of its parts, as where a worker's crosses
    assert (str(again), again.proof) == (str(error.value), error.value.proof)


def test_theorem_1_of_fsl_rests_on_its_two_recursions():
    own_of = {"fsl.step29": "holds", "fsl.step31": "holds"}
    proved = ("fsl.step_G3_G4", "fsl.gradient_identity", "fsl.step_L0")
    status = lambda claim: own_of.get(claim.id) or ("proved" if claim.id in proved else None)
    found = proof_graph.build_graph(
        discover.claim("fsl.theorem1"), lambda claim, led: [status(claim)] * len(claim.lines)
    )
    assert found.status == "holds" and str(found).endswith(
        "of which (29) and (31) only hold by search"
    )
    assert all(edge.status == "proved" for edge in found.edges)
    assert found.nodes["fsl.step24/1"].status == "proved"
    assert {n for n, s in found.steps.items() if s == "holds"} >= {"fsl.step29/1", "fsl.lemma5/1"}
    broken = proof_graph.build_graph(
        discover.claim("fsl.theorem1"),
        lambda claim, led: (
            ["violated" if claim.id == "fsl.step29" else status(claim)] * len(claim.lines)
        ),
    )
    assert str(broken) == "broken at (29)"


def test_check_tells_what_a_claim_rests_on():
    verdict = ft.check("fsl.step21", budget=0.5)
    assert verdict.rests_on.status == "proved" and verdict.status == "holds"
    assert verdict.as_dict()["rests_on"]["steps"] == {"fsl.lemma3/1": "proved"}
    assert ft.check("fsl.h_lower", budget=0.5).rests_on is None


@pytest.mark.parametrize(
    "line, slack",
    [
        (dict(status="holds", tightness=0.25), 0.75),
        (dict(status="holds", tightness=1.0), 0.0),
        (dict(status="holds", tightness=None), None),
        (dict(status="violated", tightness=3.0), None),
        (None, None),
    ],
)
def test_the_slack_of_a_step_is_what_its_line_was_not_found_to_need(line, slack):
    claim = own(2 * (f.E_c + f.gamma**2 * f.E_0), follows=(TRUE,))
    whole = Verdict.from_dict(dict(status="holds", lines=[line]))
    known = {claim.id: whole} if line else {}
    found = proof_graph.build_graph(claim, ALL(None), known).as_dict()["edges"]
    assert {one["line"]: one["slack"] for one in found} == {"mine.a/1": slack, "mine.d/1": None}


def test_slack_is_of_what_a_check_found():
    verdict = ft.check("fsl.step21", budget=0.5)
    found = {one["line"]: one["slack"] for one in verdict.as_dict()["rests_on"]["edges"]}
    needs = float(verdict.lines[0].tightness)
    assert 0 <= needs <= 1 and found["fsl.step21/1"] == 1 - needs


def certificate(name="fsl.step24"):
    claim = discover.claim(name)
    return json.loads(json.dumps(proof_graph.build_graph(claim, ALL("holds")).certificate))


def test_the_steps_replay_from_the_document_alone():
    found = ft.replay(certificate())
    assert found["status"] == "follows" and found["claim"] == "fsl.step24"
    assert found["about"] == replaying.RECORDED and "fsl.step24/1" in found["says"]


TAMPERED = {
    "another premise": lambda d: d["edges"][0]["premises"].append("fsl.step30/1"),
    "a premise less": lambda d: d["edges"][0]["premises"].pop(),
    "an assumption less": lambda d: d["edges"][0]["proof"]["assumes"].pop(),
    "another line": lambda d: d["edges"][0].update(line="fsl.step16/1"),
    "a line of another proof": lambda d: d["edges"][0].update(line="mixed.lemmaD9/1"),
    "a false line": lambda d: d["edges"][0]["proof"].update(shows=["<=", "1", "0"]),
    "no proof": lambda d: d["edges"][0]["proof"].update(proof=dict(scale="1", terms=[])),
    "hypotheses of its own": lambda d: d["edges"][0]["hypotheses"].append(d["edges"][0]["proof"]),
    "no steps": lambda d: d.update(edges=[]),
    "no textbook facts": lambda d: d.update(textbook={}),
    "textbook facts of another kind": lambda d: d["textbook"].update(
        dict.fromkeys(d["textbook"], d["textbook"]["textbook.cohort"])
    ),
    "a text": lambda d: d.update(edges="all of them"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_document_that_was_changed_is_refused(how):
    document = certificate()
    TAMPERED[how](document)
    with pytest.raises(replaying.Refused):
        ft.replay(document)


def test_hypotheses_of_premises_are_part_of_the_document():
    document = certificate("fsl.step_T7")
    step = next(s for s in document["edges"] if s["line"] == "fsl.step_T7/1")
    assert step["hypotheses"] and ft.replay(document)["status"] == "follows"
    step["hypotheses"].pop()
    with pytest.raises(replaying.Refused, match="hypotheses"):
        ft.replay(document)
