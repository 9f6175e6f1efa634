"""`fedtheory diff`: a ledger altered by hand against itself, and hostile documents."""

import copy
import json

import pytest

from fedtheory import discover
from fedtheory.app import ledger, ledger_diff
from fedtheory.app.cli import main
from fedtheory.errors import InvalidInput

CLAIMS = ("mixed.stepD2", "fsl.h_lower", "lamb.lemma1")


@pytest.fixture(scope="module")
def made():
    claims = [discover.claim(name) for name in CLAIMS]
    verdicts = {claim.id: ledger.decide_claim(claim, 0.05, 0)["verdict"] for claim in claims}
    return ledger.build_ledger(claims, verdicts, 0.05, 0)[0]


@pytest.fixture
def files(made, tmp_path):
    """A function that writes a ledger and an altered one, and what they differ by."""

    def written(alter):
        altered = copy.deepcopy(made)
        alter({entry["id"]: entry for entry in altered["claims"]}, altered)
        for folder, document in (("old", made), ("new", altered)):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / "ledger.json").write_bytes(ledger.json_text(document))
        return tmp_path / "old", tmp_path / "new" / "ledger.json"

    return written


def test_a_ledger_does_not_differ_from_itself(files):
    data, text = ledger_diff.diff_ledgers(*files(lambda entries, all_: None))
    assert data == dict(claims=3, differ=0, counts={}, changes={})
    assert text == "0 of 3 claims differ."


def test_what_was_altered_by_hand_is_named(files, capsys):
    def alter(entries, all_):
        lemma, step = entries["lamb.lemma1"]["verdict"], entries["mixed.stepD2"]
        assert (lemma["status"], step["verdict"]["status"]) == ("violated", "violated")
        lemma.update(status="holds", tightness=0.25)
        step["verdict"]["printed"] = dict(step["verdict"], status="undecided")
        step["verdict"]["removals"] = [dict(name="convex", verdict=dict(status="violated"))]
        all_["claims"] = [e for e in all_["claims"] if e["id"] != "fsl.h_lower"]
        all_["claims"].append(dict(entries["fsl.h_lower"], id="fsl.h_new"))

    old, new = files(alter)
    data, text = ledger_diff.diff_ledgers(old, new)
    lemma = data["changes"]["lamb.lemma1"]
    assert lemma["as meant"] == ["violated", "holds"] and "as printed" not in lemma
    assert lemma["ratio"][1] == 0.25 and lemma["ratio"][0] != 0.25
    assert data["changes"]["mixed.stepD2"] == {
        "as printed": ["violated", "undecided"],
        "without of convex": ["absent", "violated"],
    }
    assert data["changes"]["fsl.h_lower"] == {"claim": ["there", "absent"]}
    assert data["changes"]["fsl.h_new"] == {"claim": ["absent", "new"]}
    assert data["counts"] == {"as meant": 1, "as printed": 1, "ratio": 1, "without": 1, "claim": 2}
    assert "lamb.lemma1: as meant violated -> holds; " in text
    assert text.endswith("4 of 4 claims differ: " + text.rpartition(": ")[2])
    assert main(["diff", str(old), str(new), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == data
    assert main(["diff", str(new), str(new)]) == 0
    assert capsys.readouterr().out == "0 of 3 claims differ.\n"


def test_what_is_needed_of_constants(tmp_path):
    part = dict(name="8", line=0, refuted="0.13", proved="0.21", follows=None, most=False)
    for name, refuted in (("old", "0.13"), ("new", "0.15")):
        answer = dict(claim="fsl.theorem1", parts=[dict(part, refuted=refuted)])
        (tmp_path / name).write_text(json.dumps(answer if name == "old" else [answer]))
    data, text = ledger_diff.diff_ledgers(tmp_path / "old", tmp_path / "new")
    assert data["changes"] == {"fsl.theorem1": {"refuted of 8 (line 0)": ["0.13", "0.15"]}}
    assert "refuted of 8 (line 0) 0.13 -> 0.15" in text


HOSTILE = [
    b"{}",
    b"5",
    b"nothing",
    b'{"format": "fedtheory ledger 4", "claims": 5}',
    b'{"format": "fedtheory ledger 4", "claims": [5]}',
    b'{"format": "fedtheory ledger 4", "claims": [{"id": ["a"]}]}',
    b'{"format": "fedtheory ledger 4", "claims": [{"id": "a"}, {"id": "a"}]}',
    b'{"format": ["fedtheory ledger 4"], "claims": []}',
    b'[{"parts": []}]',
    b"[" * 10**5,
    b'{"a": NaN}',
    b" " * (ledger.LARGEST + 1),
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_documents_are_refused_in_a_sentence(content, tmp_path):
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(InvalidInput, match="bad.json") as refused:
        ledger_diff.diff_ledgers(tmp_path / "bad.json", tmp_path / "bad.json")
    assert len(str(refused.value)) < 300


def test_what_a_document_holds_steers_no_terminal(tmp_path):
    """Values of any kind are compared, shown short, and escaped."""
    for name, status in (("old", "\x1b[31mred\nline"), ("new", ["x"] * 1000)):
        verdict = dict(status=status, lines={"a": 1}, removals=[5, dict(name={}, verdict=3)])
        entry = dict(
            id="a\x1b]0;b" + name[:0], verdict=verdict, finding=7, statement=[1, "b" * 999]
        )
        document = dict(format="fedtheory ledger 4", claims=[entry])
        (tmp_path / name).write_text(json.dumps(document))
    data, text = ledger_diff.diff_ledgers(tmp_path / "old", tmp_path / "new")
    assert text.isascii() and "\x1b" not in text and len(text) < 400 and data["differ"] == 1
    assert len(text.splitlines()) == 2
