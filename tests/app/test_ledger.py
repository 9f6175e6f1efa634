"""What defines a result, how it is kept, and the ledger that results make."""

import json
import os
from fractions import Fraction

import pytest

from fedtheory import discover
from fedtheory.app import ledger
from fedtheory.errors import InvalidInput
from fedtheory.models import methods
from fedtheory.verdicts import pipeline

CLAIM = discover.claim("fsl.theorem1")


def test_a_name_is_made_of_all_that_defines_a_result_and_of_nothing_else():
    same = ledger.result_key(CLAIM, 1.0, 0)
    assert ledger.result_key(CLAIM.replace(), 1, 0) == same
    others = [
        ledger.result_key(CLAIM, 2.0, 0),
        ledger.result_key(CLAIM, 1.0, 1),
        *(
            ledger.result_key(CLAIM.replace(**change), 1.0, 0)
            for change in (
                dict(name="another"),
                dict(bound=2 * CLAIM.bound),
                dict(relation="<"),
                dict(note="a remark"),
                dict(assumptions=CLAIM.assumes[1:]),
                dict(also=((CLAIM.bound, "<=", CLAIM.bound),)),
            )
        ),
    ]
    assert len({same, *others}) == 1 + len(others)


@pytest.mark.parametrize(
    "name, matters",
    [
        ("search/optimizer.py", True),
        ("arithmetic/intervals.py", True),
        ("models/fsl/quantities.py", True),
        ("algorithms/fsl.py", True),
        ("models/fsl/round.py", True),
        ("symbols/fsl.py", True),
        ("algorithms/flex_b.py", False),
        ("models/flex/run.py", False),
        ("claims/mixed/lemmas.py", False),
        ("claims/fsl/theorem1.py", False),
        ("app/package.py", False),
        ("app/cli.py", False),
    ],
)
def test_editing_what_decides_makes_a_new_name_and_editing_the_rest_does_not(edited, name, matters):
    before = ledger.result_key(CLAIM, 1.0, 0)
    edited(f"fedtheory/{name}", "# a remark")
    assert ledger.result_key(CLAIM, 1.0, 0) == before
    edited(f"fedtheory/{name}", "LATER = 1")
    assert (ledger.result_key(CLAIM, 1.0, 0) != before) == matters


def test_no_comment_anywhere_and_every_edit_of_the_checker_makes_new_names(edited):
    names = lambda: [ledger.result_key(claim, 1.0, 0) for claim in discover.claims()]
    before = names()
    edited("fedtheory/**/*.py", "# a remark")
    assert names() == before
    edited("fedtheory/verdicts/pipeline.py", "LATER = 1")
    assert not set(names()) & set(before)


def test_editing_a_method_makes_new_names_for_the_claims_about_it_and_no_others(edited):
    """Which these are is read off the records: a claim names its method, or is measured on runs of
    it."""
    before = {claim.id: ledger.result_key(claim, 1.0, 0) for claim in discover.claims()}
    edited("fedtheory/algorithms/flex_b.py", "LATER = 1")
    changed = {c.id for c in discover.claims() if ledger.result_key(c, 1.0, 0) != before[c.id]}
    about = {c.id for c in discover.claims() if "flex_b" in methods(c)}
    assert about and about <= changed
    assert all(c.paper == "flex" for c in discover.claims() if c.id in changed)
    assert not {c.id for c in discover.claims() if methods(c) == ("flex_c",)} & changed


def test_an_order_hangs_on_its_companion(monkeypatch):
    order = next(claim for claim in discover.claims() if claim.explicit)
    before, found = ledger.result_key(order, 1.0, 0), discover.claim
    companion = found(order.explicit)
    other = companion.replace(bound=2 * companion.bound, name=companion.id)
    monkeypatch.setattr(discover, "claim", lambda name: other if name == other.id else found(name))
    assert ledger.result_key(order, 1.0, 0) != before


def test_code_that_a_claim_computes_with_is_part_of_what_defines_it():
    structures = [claim for claim in discover.claims() if claim.compute]
    assert structures
    for claim in structures:
        name, code = ledger.claim_content(claim)["compute"]
        assert len(code) == 64 and name == claim.compute.__name__


def test_every_claim_has_a_name_of_its_own():
    keys = [ledger.result_key(claim, 0.05, 0) for claim in discover.claims()]
    assert len(set(keys)) == len(keys)


def test_results_come_back_as_kept_and_what_was_cut_short_is_absent(tmp_path):
    result = ledger.decide_claim(discover.claim("flex.table4_iid"), 0.01, 0)
    ledger.keep_result(tmp_path, "abc", result)
    assert ledger.load_result(tmp_path, "abc") == result
    file = tmp_path / "abc.sealed"
    for content in (
        file.read_bytes()[:-20],
        b"",
        b"[]",
        b'{"verdict": 3}',
        b"\xff\xfe",
        b"\0" * 40,
    ):
        file.write_bytes(content)
        assert ledger.load_result(tmp_path, "abc") is None
    assert ledger.load_result(tmp_path, "nothing") is None


def test_a_result_that_was_edited_or_is_anothers_counts_as_absent(tmp_path, monkeypatch):
    """Who hands in a folder of results hands in no verdicts: each is sealed for its name by a key
    of this user's."""
    result = dict(verdict=dict(status="holds"), seconds=0.1)
    ledger.keep_result(tmp_path, "abc", result)
    sealed = (tmp_path / "abc.sealed").read_bytes()
    (tmp_path / "abd.sealed").write_bytes(sealed)
    (tmp_path / "abe.sealed").write_bytes(sealed.replace(b"holds", b"proved"))
    assert ledger.load_result(tmp_path, "abc") == result
    assert ledger.load_result(tmp_path, "abd") is ledger.load_result(tmp_path, "abe") is None
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "of another user"))
    assert ledger.load_result(tmp_path, "abc") is None


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "kept"
    ledger.write_file(file, b"old")

    def fail(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError):
        ledger.write_file(file, b"new")
    assert file.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["kept"]


def test_numbers_that_json_lacks_become_texts():
    data = ledger.plain_data(
        dict(a=float("inf"), b=(Fraction(1, 3), float("nan")), c=[True, 2, None, 0.5])
    )
    assert data == dict(a="inf", b=["1/3", "nan"], c=[True, 2, None, 0.5])
    json.loads(ledger.json_text(data))


def test_a_check_that_fails_is_said_to_have_failed(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(pipeline, "decide_readings", broken)
    verdict = ledger.decide_claim(CLAIM, 0.01, 0)["verdict"]
    assert (verdict["status"], verdict["kind"]) == ("undecided", "error")
    assert "ZeroDivisionError: by nothing" in verdict["why"]


def test_what_it_took_is_beside_the_verdict_and_not_in_it():
    result = ledger.decide_claim(discover.claim("fsl.lemma3"), 0.01, 0)
    assert result["seconds"] > 0 and result["megabytes"] > 10
    assert "seconds" not in result["verdict"]


def verdict(status, certificate=None, lines=(), printed=None, removals=()):
    return dict(
        claim="",
        status=status,
        kind="exact",
        why="",
        tightness=None,
        cases=0,
        confidence=None,
        witness=None,
        certificate=certificate,
        lines=list(lines),
        notes=[],
        printed=printed,
        removals=[dict(name="", hypothesis="", saves=True, verdict=v) for v in removals],
    )


def test_certificates_of_what_is_printed_are_files_too():
    claim, format = discover.claim("fsl.lemma1"), lambda n: dict(format="x", n=n)
    printed, one, two = (verdict("violated", format(n)) for n in range(3))
    book, files = ledger.build_ledger(
        [claim], {claim.id: verdict("holds", None, (), printed, [one, printed, two])}, 1.0, 0
    )
    found, base = book["claims"][0]["verdict"], "certificates/fsl.lemma1"
    names = [found["printed"], *(removal["verdict"] for removal in found["removals"])]
    assert [part["certificate"] for part in names] == [
        f"{base}.printed.json",
        f"{base}.without1.json",
        f"{base}.printed.json",  # of the only hypothesis: one document
        f"{base}.without3.json",
    ]
    assert [files[f"{base}.{n}.json"]["n"] for n in ("printed", "without1", "without3")] == [
        0,
        1,
        2,
    ]


def test_certificates_are_files_of_their_own():
    claim = discover.claim("fsl.lemma1")
    broken = dict(format="x", n=1)
    lines = [verdict("proved", dict(format="y")), verdict("violated", broken), verdict("holds")]
    book, files = ledger.build_ledger(
        [claim], {claim.id: verdict("violated", broken, lines)}, 0.5, 3
    )
    found = book["claims"][0]["verdict"]
    assert (
        found["certificate"] == found["lines"][1]["certificate"] == "certificates/fsl.lemma1.json"
    )
    assert found["lines"][0]["certificate"] == "certificates/fsl.lemma1.line1.json"
    assert found["lines"][2]["certificate"] is None
    assert files == {
        "certificates/fsl.lemma1.json": broken,
        "certificates/fsl.lemma1.line1.json": dict(format="y"),
    }
    assert book["counts"] == dict(proved=0, holds=0, violated=1, vacuous=0, undecided=0)
    assert book["claims"][0]["command"] == "fedtheory check fsl.lemma1 --budget 0.5 --seed 3"


@pytest.mark.parametrize("name", ["../x", "<script>", ".hidden", "a/b", "x" * 200, "ünder"])
def test_an_id_that_is_no_plain_word_leads_to_no_odd_file(name):
    claim = CLAIM.replace(name=name)
    _, files = ledger.build_ledger([claim], {name: verdict("violated", dict(format="x"))}, 1.0, 0)
    assert files
    for file in files:
        assert file.startswith("certificates/claim-")
        stem = file[13:].removesuffix(".json").removesuffix(".graph")
        assert stem.replace("-", "").isalnum()


def test_statements_say_which_assumptions_the_text_leaves_out():
    said = {
        a["says"]: a["stated"]
        for claim in discover.claims()
        if claim.unstated
        for a in ledger.claim_statement(claim)["assumptions"]
    }
    assert set(said.values()) == {True, False}
    assert ledger.claim_statement(CLAIM)["latex"][0].count(r"\le ") == 1


@pytest.mark.parametrize(
    "content", ['{"a": NaN}', '{"a": 1, "a": 2}', "{", "[Infinity]", "[" * 100000]
)
def test_a_document_that_is_no_clean_json_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InvalidInput, match="x.json must be a JSON document"):
        ledger.read_json(tmp_path / "x.json")


def test_no_document_is_read_without_end():
    with pytest.raises(InvalidInput, match="x.json must be a JSON document; it has more than"):
        ledger.parse_json(b" " * (ledger.LARGEST + 1), "x.json")


def test_a_symbol_that_is_shown_as_its_formula_is_not_defined_again():
    found = ledger.claim_statement(discover.claim("mixed.theoremB2_strong_decreasing"))[
        "definitions"
    ]
    assert found == [r"\tilde\eta = K \eta \eta_s"]
