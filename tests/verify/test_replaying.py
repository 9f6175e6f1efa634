"""`--replay`: a package derives anew, and whatever was changed in it is named, re-signed or not."""

import json
import shutil

import pytest

from fedtheory import ledger, package
from verify import replaying
from verify.__main__ import main

SOME = ["fsl.lemma3", "lamb.lemma1", "flex.table4_EMNIST_10"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "verify"
    assert main([*SOME, "--budget", "0.01", "--workers", "0", "--out", str(out)]) == 0
    return out


@pytest.fixture
def copy(made, tmp_path):
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy"


def edit(folder, change):
    """Change the ledger and sign it anew, as a forger would; the page follows."""
    book = ledger.read(folder / "ledger.json")
    change({entry["id"]: entry for entry in book["claims"]}, book)
    (folder / "ledger.json").write_bytes(ledger.text(book))
    (folder / "index.html").write_bytes(package.page(book))
    sign(folder)


def sign(folder):
    names = package.sums(folder)
    (folder / package.SUMS).write_text("".join(f"{package._hash(folder / name)}  {name}\n" for name in names))


def test_a_package_derives_anew(made, capsys):
    assert main(["--replay", str(made), "--all", "--workers", "0"]) == 0
    told = capsys.readouterr().out
    count = len(package.opened(made)["claims"])
    assert told.endswith(f"{count} of {count} verdicts found again; nothing differs\n")


def test_one_flipped_byte_is_found_and_named(copy, capsys):
    file = copy / "timings.json"
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)
    (copy / "more.py").write_text("raise SystemExit")
    assert main(["--replay", str(copy), "--workers", "0"]) == 1
    told = capsys.readouterr().out
    assert "differs: timings.json: its content is not that of SHA256SUMS" in told
    assert "differs: more.py: it is not in SHA256SUMS" in told and "; 2 differences" in told


@pytest.mark.parametrize("change, named", [
    (lambda of, book: of["fsl.lemma3"]["verdict"].update(tightness=0.5), "fsl.lemma3: its verdict, tightness is not"),
    (lambda of, book: of["fsl.lemma3"]["verdict"].update(status="vacuous"), "fsl.lemma3: its verdict, status is not"),
    (lambda of, book: of["fsl.lemma3"].update(statement=["0 <= 1"]), "fsl.lemma3: its statement is not"),
    (lambda of, book: of["lamb.lemma1"]["assumptions"].pop(), "lamb.lemma1: its assumptions is not"),
    (lambda of, book: book["claims"].append(dict(of["fsl.lemma3"], id="fsl.mine")), "fsl.mine: no claim here has"),
    (lambda of, book: book["counts"].update(proved=99), "ledger.json: its counts are not"),
    (lambda of, book: book["libraries"].update(numpy="1.0"), "numpy: the package was made with 1.0, here is")])
def test_what_a_forger_changed_and_signed_is_named(copy, change, named):
    edit(copy, change)
    assert package.unlike_sums(copy) == []
    found, _ = replaying.differences(copy, workers=0)
    assert [sentence for sentence in found if sentence.startswith(named)], found


def test_a_page_that_says_something_else_is_named(copy):
    page = (copy / "index.html").read_text()
    (copy / "index.html").write_text(page.replace("violated", "proved"))
    sign(copy)
    assert replaying.differences(copy, workers=0)[0] == ["index.html: it is not the page that ledger.json gives"]


def test_a_source_that_differs_is_named(copy):
    theirs = json.loads((copy / "sources.json").read_text())
    theirs["checks/adversary.py"] = "0" * 64
    (copy / "sources.json").write_bytes(ledger.text(theirs))
    edit(copy, lambda of, book: book.update(sources=ledger.digest(theirs)))
    found, _ = replaying.differences(copy, workers=0)
    assert found == ["checks/adversary.py: this source is not the one that made the package"]


def test_what_is_no_package_is_named_and_nothing_is_done(tmp_path, capsys):
    assert main(["--replay", str(tmp_path), "--workers", "0"]) == 1
    assert "differs: ledger.json" in capsys.readouterr().out
