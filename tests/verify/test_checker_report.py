"""Which checkers accept the certificates of a package: asked once, told on its page, derived again by
`--replay --rocq`, and named where somebody wrote down what was never said."""

import json

import pytest

from fedtheory.app import ledger, package
from fedtheory.rocq import coqc
from fedtheory.verify import checker_report
from fedtheory.verify.__main__ import main
from tests.verify.forging import begins, copied, found, sign

# one proved; a table of which there is no form for Rocq; one violated
CLAIMS, BUDGET = ("fsl.gradient_identity", "fsl.table3", "lamb.lemma1"), "0.02"
KERNEL = "a kernel, version 1"


@pytest.fixture(scope="module")
def kernel():
    """A kernel that accepts all but what speaks of lamb, and counts how often it was asked."""
    asked = []

    def judged(text, theorems):
        asked.append(text)
        good = "lamb" not in text
        return coqc.Answer(good, "" if good else "no such lemma", frozenset(), 0.0, KERNEL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coqc, "at_hand", lambda: "coqc")
        patch.setattr(coqc, "version", lambda: KERNEL)
        patch.setattr(coqc, "judge_file", judged)
        yield asked


@pytest.fixture(scope="module")
def made(kernel, tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "verify"
    command = [*CLAIMS, "--budget", BUDGET, "--workers", "0", "--rocq", "--out", str(out)]
    assert main(command) == 1  # what a kernel refuses is no success
    return out


def said(folder):
    return json.loads((folder / package.CHECKERS).read_bytes())


def test_each_certificate_says_who_accepted_it(made):
    told = said(made)["certificates"]
    assert set(told) == {f"certificates/{path.name}" for path in (made / "certificates").iterdir()}
    good = told["certificates/fsl.gradient_identity.json"]
    assert (good["replays"], good["rocq"], good["why"]) == ("proved", True, "")
    table = told["certificates/fsl.table3.json"]
    assert (table["replays"], table["rocq"]) == ("violated", None)
    assert table["why"].startswith("Rocq was not asked: ")
    bad = told["certificates/lamb.lemma1.json"]
    assert (bad["replays"], bad["rocq"], bad["why"]) == ("violated", False, "no such lemma")


def test_the_page_says_so_too(made):
    page = " ".join((made / "index.html").read_text().split())
    assert f"[accepted by its checker and by {KERNEL}]" in page
    assert f'<b class="violated">refused by {KERNEL}</b>: no such lemma]' in page
    assert "[accepted by its checker: Rocq was not asked: " in page


def test_nothing_is_asked_twice_and_without_the_option_nothing_at_all(made, kernel, capsys):
    before = len(kernel)
    again = [*CLAIMS, "--budget", BUDGET, "--workers", "0", "--out", str(made)]
    assert main([*again, "--rocq"]) == 1 and len(kernel) == before
    assert "nothing changed since" in capsys.readouterr().err
    keys = {name: one["sha256"] for name, one in said(made)["certificates"].items()}
    documents = {name: json.loads((made / name).read_bytes()) for name in keys}
    kept = checker_report.ask_checkers(documents, made / package.RESULTS)
    assert kept == said(made) and len(kernel) == before


def test_a_package_made_without_it_has_no_such_file(kernel, tmp_path):
    before = len(kernel)
    out = tmp_path / "verify"
    assert main([CLAIMS[0], "--budget", BUDGET, "--workers", "0", "--out", str(out)]) == 0
    assert not (out / package.CHECKERS).exists() and len(kernel) == before
    assert "accepted by its checker" not in (out / "index.html").read_text()


def test_replay_says_that_answers_are_unverified_or_asks_again(made, kernel):
    alone = found(made)
    assert alone.differs == []
    assert alone.unverified["answers of checkers (say --rocq)"] == [package.CHECKERS]
    again = found(made, rocq=True)
    assert again.differs == [] and again.derived["answers of checkers"] == len(
        said(made)["certificates"]
    )


def forged(folder, change):
    told = said(folder)
    change(told)
    (folder / package.CHECKERS).write_bytes(ledger.json_text(told))
    book = package.open_ledger((folder / "ledger.json").read_bytes())
    documents = package.certificate_documents(package.folder_contents(folder)[0])
    (folder / "index.html").write_bytes(package.render_page(book, {}, told, documents))
    sign(folder)


LAMB = "certificates/lamb.lemma1.json"


def test_an_acceptance_that_was_made_up_is_named_when_it_is_asked_for(made, kernel, tmp_path):
    copy = copied(made, tmp_path)
    forged(copy, lambda told: told["certificates"][LAMB].update(rocq=True, why=""))
    assert found(copy).differs == []  # unverified by name
    begins(
        found(copy, rocq=True), f"{package.CHECKERS}: of {LAMB} it does not say what was derived"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["certificates"].pop(LAMB),
        lambda told: told["certificates"][LAMB].update(sha256="0" * 64),
        lambda told: told["certificates"][LAMB].update(rocq="yes"),
        lambda told: told["certificates"].update({"certificates/none.json": {}}),
        lambda told: told.update(rocq=None),
        lambda told: told.update(more=1),
    ],
    ids=["one left out", "of another document", "no answer", "of no document", "nobody", "more"],
)
def test_what_is_not_of_these_certificates_is_refused(made, kernel, tmp_path, change):
    copy = copied(made, tmp_path)
    told = said(copy)
    change(told)
    (copy / package.CHECKERS).write_bytes(ledger.json_text(told))
    sign(copy)
    begins(found(copy), f"{package.CHECKERS} must say what checkers said of each certificate")


def test_a_document_that_shows_nothing_is_refused_by_its_checker(made, kernel, tmp_path):
    document = json.loads((made / LAMB).read_bytes())
    document["line"] = 7
    one = checker_report.ask_checkers({LAMB: document}, tmp_path)["certificates"][LAMB]
    assert one["replays"] is None and one["rocq"] is None
    assert one["why"].startswith("its checker refuses: ")


def test_without_coqc_it_is_refused_before_anything_runs(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(coqc, "at_hand", lambda: None)
    assert main(["fsl.table3", "--rocq", "--out", str(tmp_path / "verify")]) == 2
    assert "--rocq needs coqc (Debian: apt-get install coq)" in capsys.readouterr().err
    assert not (tmp_path / "verify").exists()


def test_a_kernel_that_does_not_end_has_not_refused(monkeypatch):
    late = coqc.Answer(False, "it takes more than 600 seconds", frozenset(), 600.0, KERNEL, False)
    monkeypatch.setattr(coqc, "judge_file", lambda text, theorems: late)
    monkeypatch.setattr(ledger, "load_result", lambda store, name: None)
    monkeypatch.setattr(ledger, "keep_result", lambda *a: pytest.fail("kept what says nothing"))
    assert checker_report._coqc_answer(("text", ""), KERNEL, None) == (None, late.why)


@pytest.mark.skipif(coqc.at_hand() is None, reason="coqc is not at hand")
def test_the_real_kernel_is_asked(tmp_path):
    import fedtheory as ft

    document = ft.check("mixed.stepD12_constants").certificate
    one = checker_report.ask_checkers({"a": document}, tmp_path)["certificates"]["a"]
    assert (one["replays"], one["rocq"], one["why"]) == ("proved", True, "")
