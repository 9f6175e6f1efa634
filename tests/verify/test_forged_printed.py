"""What a package says of statements as they are printed: a forger's changes to it are named."""

import json

import pytest

from fedtheory.app import ledger
from fedtheory.verify.__main__ import main
from tests.verify.forging import begins, copied, edit, found, rewrite, sign

NAME = "mixed.propD5"  # holds as meant, false as printed
OTHER = "flex.corollary4_0_2"  # likewise, with two lines
PRINTED = "certificates/{}.printed.json"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    out = tmp_path_factory.mktemp("printed") / "verify"
    assert main([NAME, OTHER, "--budget", "1.5", "--workers", "0", "--out", str(out)]) == 0
    return out


@pytest.fixture
def copy(both, tmp_path):
    return copied(both, tmp_path)


def test_both_verdicts_are_derived_anew(both, capsys):
    book = json.loads((both / "ledger.json").read_bytes())
    for entry in book["claims"]:
        verdict = entry["verdict"]
        assert (verdict["status"], verdict["printed"]["status"]) == ("holds", "violated")
        assert verdict["printed"]["certificate"] == PRINTED.format(entry["id"])
        assert [removal["saves"] for removal in verdict["removals"]] == [True]
    report = found(both)
    assert not report.differs and report.derived["certificates"] >= 2
    assert main(["--replay", str(both), "--all", "--workers", "0"]) == 0
    assert "nothing differs" in capsys.readouterr().out


def test_the_summary_names_what_saves_a_claim(both, capsys):
    args = [NAME, OTHER, "--budget", "1.5", "--workers", "0", "--out", str(both)]
    assert main(args) == 0
    told = capsys.readouterr().out
    assert "false as printed" in told and f"  {NAME}: f_0, ..., f_N are convex" in told


def printed(**change):
    return lambda of, book: of[NAME]["verdict"]["printed"].update(change)


def meant(**change):
    return lambda of, book: of[NAME]["verdict"].update(change)


def removal(**change):
    return lambda of, book: of[NAME]["verdict"]["removals"][0].update(change)


def removal_verdict(**change):
    return lambda of, book: of[NAME]["verdict"]["removals"][0]["verdict"].update(change)


CHANGES = {
    "it holds as printed": (
        printed(status="holds", tightness=None, witness=None),
        "!printed: its verdict, holds: a certificate that decides nothing",
    ),
    "it holds as printed, and is saved by nothing": (
        lambda of, book: of[NAME]["verdict"].update(
            printed=dict(
                of[NAME]["verdict"]["printed"], status="holds", tightness=None, witness=None
            ),
            removals=[],
        ),
        "!printed: its verdict, holds: a certificate that decides nothing",
    ),
    "why it fails as printed": (printed(why="It fails at 7."), "!printed: its verdict, why"),
    "by how much": (printed(tightness=7.0), "!printed: its verdict, tightness"),
    "how sure": (printed(confidence=0.5), "!printed: its verdict, confidence"),
    "where it fails": (printed(witness={}), "!printed: its verdict, witness"),
    "no certificate": (
        printed(certificate=None),
        "!printed: its verdict, violated: no certificate",
    ),
    "another's certificate": (
        printed(certificate=PRINTED.format(OTHER)),
        "!printed: its verdict, violated: its certificate speaks of something else",
    ),
    "of another claim": (printed(claim=NAME), "!printed: its verdict names another claim"),
    "nothing of what is printed": (
        meant(printed=None, removals=[]),
        "its verdict does not say how its claim stands as printed",
    ),
    "nothing of what saves it": (meant(removals=[]), "its verdict does not say what saves it"),
    "something else saves it": (
        removal(hypothesis="f is smooth"),
        "its verdict does not say what saves it",
    ),
    "it saves nothing": (removal(saves=False), "its verdict does not say what saves it"),
    "a removal that refutes nothing": (
        removal_verdict(status="holds", tightness=None, witness=None),
        "its verdict does not say what saves it",
    ),
    "readings of readings": (
        printed(printed=dict(status="proved")),
        "its verdict has not the shape of one",
    ),
    "a removal of no shape": (removal(note="x"), "its verdict has not the shape of one"),
}


@pytest.mark.parametrize("change, named", CHANGES.values(), ids=CHANGES.keys())
def test_a_forged_reading_is_named(copy, change, named):
    edit(copy, change)
    begins(found(copy), f"{NAME}: {named}")


def test_a_certificate_of_what_is_printed_shows_nothing_of_what_is_meant(copy):
    """The instance breaks the hypothesis that saves the statement."""

    def change(of, book):
        verdict = of[NAME]["verdict"]
        false = {**verdict["printed"], "claim": NAME}
        verdict.update(
            {field: false[field] for field in false if field not in ("printed", "removals")},
            removals=[],
        )

    edit(copy, change)
    begins(found(copy), f"{NAME}: its verdict, violated: ")


@pytest.mark.parametrize("field", ["claim", "values", "instance", "left"])
def test_a_forged_document_of_what_is_printed_is_named(copy, field):
    from fedtheory.certificates.documents import digest_of

    def change(document):
        document[field] = NAME if field == "claim" else "0" if field == "left" else {}
        document["digest"] = digest_of(document)

    rewrite(copy, PRINTED.format(NAME), change)
    sign(copy)
    begins(found(copy), f"{NAME}: !printed: its verdict, violated: ")


def test_a_statement_without_unstated_hypotheses_has_no_other_reading(made, tmp_path):
    copy = copied(made, tmp_path)
    name = "fsl.gradient_identity"

    def change(of, book):
        of[name]["verdict"]["printed"] = {**of[name]["verdict"], "certificate": None}

    book = json.loads((copy / "ledger.json").read_bytes())
    entry = next(e for e in book["claims"] if e["id"] == name)
    assert entry["verdict"]["printed"] is None and ledger.FORMAT == book["format"]
    edit(copy, change)
    begins(found(copy), f"{name}: its verdict does not say how its claim stands as printed")
