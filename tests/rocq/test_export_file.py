"""Documents as files for Rocq: what they state, what is refused, and what `coqc` says, where it is at
hand."""

import copy
import json
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory.app.cli import main
from fedtheory.certificates import check_proof
from fedtheory.errors import InvalidInput
from fedtheory.rocq import coqc, export_file
from fedtheory.rocq.export_file import Refused, Unwritten, export, theorem_names
from tests.checker.rocq_kernel import BROKEN
from tests.second_opinion import opinion

SHIPPED = Path(opinion.__file__).parent
PROOFS = json.loads((SHIPPED / "proofs.json").read_text())
INSTANCES = json.loads((SHIPPED / "certificates.json").read_text())
needs_coqc = pytest.mark.skipif(coqc.at_hand() is None, reason="coqc is not at hand")
YOUNG = {
    "format": "fedtheory proof 1",
    "variables": {"a": "real", "b": "real"},
    "nodes": {},
    "assumes": [],
    "shows": ["<=", ["*", "2", "a", "b"], ["+", ["^", "a", 2], ["^", "b", 2]]],
    "proof": {"scale": "1", "terms": [{"by": "1", "square": ["+", "a", ["*", "-1", "b"]]}]},
}


def stated(text):
    """Theorems as a file states them, without its preludes' lemmas."""
    flat = " ".join(text.split())
    return [part.split(" Proof.")[0] for part in flat.split("Theorem ")[1:]]


def test_a_proof_states_its_line_of_real_numbers():
    text = export(YOUNG)
    assert stated(text) == ["line_1 : forall (a b : R), 2 * a * b <= a ^ 2 + b ^ 2."]
    assert theorem_names(text) == ["line_1"] and text.endswith("Print Assumptions line_1.\n")


def test_premises_are_the_hypotheses_and_definitions():
    (said,) = stated(export(PROOFS["fsl.step_G3_G4/1"]))
    assert "1 <= N ->" in said and "(if Rle_dec" in said.replace("Rge_dec", "Rle_dec")
    (said,) = stated(export(PROOFS["fsl.lemma2/1"]))
    assert said.startswith("line_1 : forall (V : InnerProductSpace) (vec_i vec_j : V)")
    assert said.endswith("sq_pair <= sq_i * (1 + a_split) + sq_j * (1 + 1 / a_split).")


def test_hostile_names_stay_names():
    """Names of a document may be words of the language, and letters of any alphabet."""
    hostile = copy.deepcopy(YOUNG)
    text = json.dumps(hostile).replace('"a"', '"Qed"').replace('"b"', '"R"')
    said = stated(export(json.loads(text)))[0]
    assert said == "line_1 : forall (Qed R_ : R), 2 * Qed * R_ <= Qed ^ 2 + R_ ^ 2."
    text = json.dumps(hostile).replace('"a"', '"aä"').replace('"b"', '"exists"')
    assert export(json.loads(text)).isascii()


def test_words_of_a_document_do_not_reach_the_file():
    wild = {"format": "fedtheory proofs 1", "claim": "*) Axiom f : False. (*", "lines": [YOUNG]}
    text = export(wild)
    assert "*) Axiom" not in text and text.count("(*") == text.count("*)")


def test_what_shows_nothing_is_refused_before_it_is_written():
    wrong = copy.deepcopy(YOUNG)
    wrong["shows"][2] = ["+", ["^", "a", 2], ["*", "99/100", ["^", "b", 2]]]
    with pytest.raises(Refused, match="the sum is not the goal"):
        export(wrong)
    with pytest.raises(InvalidInput, match="must be one of rocq; got 'lean'"):
        export(YOUNG, to="lean")


def test_infinite_sides_and_floats_have_no_form_there():
    infinite = {
        "format": "fedtheory proof 1",
        "variables": {"a": "real", "b": "nonnegative"},
        "nodes": {},
        "assumes": [["<=", "a", ["^", "b", -1]]],
        "shows": ["<=", ["*", "a", "b"], "1"],
        "proof": {"scale": "1", "terms": [{"by": "1", "facts": ["assumed:0"]}]},
    }
    assert check_proof.check(infinite) == infinite["shows"]
    with pytest.raises(Unwritten, match="what may be zero"):
        export(infinite)
    with pytest.raises(Unwritten, match="counts cells of a table"):
        export(INSTANCES["fsl.table3"])


def test_a_computation_is_followed_from_its_instance():
    """(2) as printed, at one device with noise 1 after one step: worked by hand, the gap is 1."""
    text = export(INSTANCES["flex.eq2_printed"])
    assert "Taken from the document" not in text and "Variable" not in text
    assert "Definition left_side : R := sq_gap_printed." in text
    assert "left_side <> right_side" in text


def test_what_prints_the_axioms_is_read_whole():
    out = "Axioms:\nlie : False\nClassicalDedekindReals.sig_not_dec : forall P : Prop,\n  {~ P}\n"
    assert set(coqc.axioms(out)) == {"lie", "ClassicalDedekindReals.sig_not_dec"}
    assert coqc.said_of(out + coqc.CLOSED + "\n") == 2


def test_the_command_writes_a_file(tmp_path, capsys):
    source, out = tmp_path / "young.json", tmp_path / "young.v"
    source.write_text(json.dumps(YOUNG))
    assert main(["export", str(source), "--to", "rocq", "--out", str(out)]) == 0
    assert out.read_text() == export(YOUNG)
    assert main(["export", str(source)]) == 0
    assert "Theorem line_1" in capsys.readouterr().out
    assert main(["export", str(source), "--out", str(tmp_path / "young.txt")]) == 2
    assert "ends in .v" in capsys.readouterr().err
    source.write_text(json.dumps(YOUNG).replace("-1", "-2"))
    assert main(["export", str(source)]) == 2
    assert "does not" in capsys.readouterr().err


@needs_coqc
def test_replay_says_that_rocq_accepts(tmp_path, capsys):
    source = tmp_path / "young.json"
    source.write_text(json.dumps(YOUNG))
    assert main(["replay", str(source), "--rocq"]) == 0
    assert "accepted by The Coq Proof Assistant" in capsys.readouterr().out


@needs_coqc
@pytest.mark.parametrize("name", ["fsl.lemma2/1", "mixed.table5/2", "flex.eq2_printed"])
def test_coqc_accepts_and_refuses_what_is_broken(name):
    """A document of each kind: a proof in vectors, one with a root, a counterexample."""
    text = export({**PROOFS, **INSTANCES}[name])
    answer = coqc.judge_file(text, theorem_names(text))
    assert answer.accepted, answer.why
    assert answer.axioms <= coqc.STANDARD
    for what, broken in BROKEN.items():
        assert broken(text) != text
        assert not coqc.judge_file(broken(text), theorem_names(text)).accepted, what


@needs_coqc
def test_an_axiom_is_seen():
    """A file that helps itself to what it needs compiles, and is refused."""
    text = export(YOUNG)
    cheating = text.replace("Theorem line_1", "Axiom lie : False.\nTheorem line_1")
    at = cheating.rindex("Proof.")
    cheating = cheating[:at] + "Proof. destruct lie. Qed.\nPrint Assumptions line_1.\n"
    answer = coqc.judge_file(cheating, ["line_1"])
    assert not answer.accepted and "it rests on lie" in answer.why
    assert not coqc.judge_file(cheating.replace("Print Assumptions", "Print"), ["line_1"]).accepted


def test_export_is_public():
    assert ft.export is export and export_file.export is export
