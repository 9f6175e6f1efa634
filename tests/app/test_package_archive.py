"""A package as an archive: what follows from its ledger, a description that archives read, one file
of the same bytes, and a checker that names whatever was altered, added, removed or swapped."""

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import zipfile

import pytest

import fedtheory as ft
from fedtheory.app import ledger, package, package_archive
from fedtheory.certificates import alone

CLAIMS = ("lamb.lemma1", "mixed.stepD2", "fsl.gradient_identity")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A package of two violated claims and a proved one."""
    folder = tmp_path_factory.mktemp("package") / "out"
    claims = [ft.claim(name) for name in CLAIMS]
    results = {claim.id: ledger.decide_claim(claim, 0.1, 0) for claim in claims}
    verdicts = {name: result["verdict"] for name, result in results.items()}
    book, certificates = ledger.build_ledger(claims, verdicts, 0.1, 0)
    timings = {name: dict(seconds=1.5, megabytes=None) for name in CLAIMS}
    package.build_package(folder, book, certificates, {"timings.json": timings})
    return folder


@pytest.fixture
def mine(made, tmp_path):
    return shutil.copytree(made, tmp_path / "mine")


def asked(folder):
    """(exit status, what the checker in the folder says)."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", folder / "check.py"], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_the_checker_accepts_every_certificate(made):
    status, told = asked(made)
    number = len(list((made / "certificates").iterdir()))
    assert number >= 3
    assert (status, told) == (0, f"{number} certificates accepted, 0 not judged, 0 differences\n")


def test_a_report_that_cannot_be_written_out_is_no_good_report(made):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-I", "-S", made / "check.py"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr == "the system refuses: No space left on device\n"


def test_what_is_altered_added_removed_or_swapped_is_named(mine):
    one, other = mine / "certificates/lamb.lemma1.json", mine / "certificates/mixed.stepD2.json"
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    (mine / "claims.csv").write_text("id\n")
    (mine / "more.txt").write_text("mine")
    (mine / "LICENSE").unlink()
    status, told = asked(mine)
    assert status == 1
    for sentence in (
        "LICENSE: it is missing",
        "claims.csv: it is changed",
        "more.txt: it is added",
        "certificates/lamb.lemma1.json: it is changed",
        "certificates/lamb.lemma1.json: it is of 'mixed.stepD2', not of lamb.lemma1",
    ):
        assert f"differs: {sentence}\n" in told
    files, _ = package.folder_contents(mine)
    (mine / package.SUMS).write_bytes(package.checksum_listing(files))  # the checksums fit again
    status, told = asked(mine)
    assert status == 1 and "not of lamb.lemma1" in told and "is changed" not in told


def test_a_verdict_without_its_evidence_is_named(mine):
    book = json.loads((mine / "ledger.json").read_text())
    entry = next(e for e in book["claims"] if e["id"] == "mixed.stepD2")
    entry["verdict"].update(certificate=None, lines=[])
    (mine / "ledger.json").write_bytes(ledger.json_text(book))
    assert "differs: mixed.stepD2: it is violated without evidence\n" in asked(mine)[1]


def swapped(name, old, new):
    def change(folder):
        content = (folder / name).read_text()
        assert old in content
        (folder / name).write_text(content.replace(old, new, 1))

    return change


def in_the_ledger(change):
    def changed(folder):
        book = json.loads((folder / "ledger.json").read_text())
        change({entry["id"]: entry for entry in book["claims"]}, book)
        (folder / "ledger.json").write_bytes(ledger.json_text(book))

    return changed


def of_a_finding(said):
    def changed(folder):
        (folder / "figures").mkdir()
        row = dict(figure="f", scale="smoke", verdict="reproduced", sentence="It is.")
        row = dict(claim="lamb.lemma1", **row)
        (folder / "figures" / "findings.json").write_text(json.dumps([row]))
        entry = {name: text for name, text in row.items() if name != "claim"}
        look = lambda entries, book: entries["lamb.lemma1"].update(finding=dict(entry, **said))
        in_the_ledger(look)(folder)

    return changed


@pytest.mark.parametrize(
    "change, says",
    [
        (
            swapped("index.html", 'data-status="violated"', 'data-status="holds"'),
            "index.html: of lamb.lemma1 it does not say what ledger.json does",
        ),
        (
            swapped("index.html", '<span class="badge violated">violated', '<span class="b">holds'),
            "index.html: of lamb.lemma1 it does not say what ledger.json does",
        ),
        (
            swapped("index.html", '<tbody data-id="', '<tbody class="" data-id="'),
            "index.html: it has 2 claims, and ledger.json 3",
        ),
        (
            swapped("claims.csv", "violated", "holds"),
            "claims.csv: it is not the table of ledger.json and timings.json",
        ),
        (
            swapped("timings.json", "1.5", "0.5"),
            "claims.csv: it is not the table of ledger.json and timings.json",
        ),
        (
            in_the_ledger(lambda entries, book: book["counts"].update(proved=3, violated=0)),
            "ledger.json: its counts are not those of its claims",
        ),
        (
            in_the_ledger(lambda entries, book: entries["lamb.lemma1"].update(plots=["f"])),
            "lamb.lemma1: its figures are not those of figures/figures.json",
        ),
        (
            in_the_ledger(
                lambda entries, book: entries["mixed.stepD2"]["verdict"].update(status="proved")
            ),
            "mixed.stepD2: it is said to be proved, which certificates/mixed.stepD2.json does not",
        ),
        (
            lambda folder: (folder / "certificates" / "lamb.lemma1.json").rename(
                folder / "certificates" / "other.json"
            ),
            "certificates/other.json: no claim names it",
        ),
        (
            lambda folder: (folder / "certificates" / "lamb.lemma1.json").unlink(),
            "derivations/lamb.lemma1.json: it derives no certificate that is here",
        ),
        (
            of_a_finding(dict(verdict="not reproduced")),
            "lamb.lemma1: its finding is not that of figures/findings.json",
        ),
        (of_a_finding({}), "index.html: of lamb.lemma1 it does not say what ledger.json does"),
        (in_the_ledger(lambda entries, book: book.update(claims=5)), "ledger.json: TypeError"),
    ],
)
def test_files_that_say_different_things_are_named_though_their_checksums_fit(mine, change, says):
    change(mine)
    (mine / package.SUMS).write_bytes(package.checksum_listing(package.folder_contents(mine)[0]))
    status, told = asked(mine)
    assert status == 1 and f"differs: {says}" in told


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t", "\r", "\uff1d", "a;=", "a\n="])
def test_no_text_of_a_claim_is_a_formula_of_a_spreadsheet_or_a_word_of_a_shell(begins):
    name = begins + "1+1; touch x"
    claim = dict(id=name, paper=name, cites=name, kind=name, command="")
    claim["verdict"] = dict(status="holds", printed=None, tightness=-0.5, certificate=None)
    book = dict(claims=[claim])
    (row,) = csv.DictReader(io.StringIO(alone.table(book, {name: dict(seconds=1, megabytes=None)})))
    for field in ("id", "paper", "where", "kind"):
        text = row[field]
        assert text.replace("'", "").split() == name.split() and not re.search(r"[^\S ]", text)
        for part in re.split("[;\n\r]", text):
            assert part.strip()[0] not in "=+-@\uff1d"
    assert row["ratio"] == "-0.5"  # numbers stay numbers


def test_a_command_quotes_what_a_shell_would_read():
    claim = ft.claim("lamb.lemma1").replace(name="mine")
    object.__setattr__(claim, "id", "=1+1; touch x")
    command = ledger.repro_command(claim, 1.0, 0)
    assert shlex.split(command)[2] == claim.id
    assert ledger.repro_command(ft.claim("lamb.lemma1"), 1.0, 0).startswith(
        "fedtheory check lamb.lemma1 -"
    )


def test_the_crate_describes_every_file(made):
    crate = json.loads((made / package_archive.CRATE).read_text())
    parts = {part["@id"]: part for part in crate["@graph"]}
    root, files = parts["./"], package.folder_contents(made)[0]
    assert crate["@context"] == "https://w3id.org/ro/crate/1.2/context"
    assert parts[package_archive.CRATE]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.2"}
    assert {part["@id"] for part in root["hasPart"]} == set(files) - {package_archive.CRATE}
    for name in set(files) - {package_archive.CRATE}:
        assert parts[name]["contentSize"] == str(len(files[name]))
    for part in crate["@graph"]:  # whatever is mentioned is described
        for value in part.values():
            for link in value if isinstance(value, list) else [value]:
                if isinstance(link, dict) and not link["@id"].startswith("https://w3id.org"):
                    assert link["@id"] in parts
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", root["datePublished"])
    assert package_archive.day_of(files) == root["datePublished"]


def test_the_day_may_be_given(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert package_archive.crate_date() == "1970-01-02"


def test_every_claim_has_its_command_and_its_cost(made):
    rows = list(csv.DictReader(io.StringIO((made / "claims.csv").read_text())))
    assert [row["id"] for row in rows] == list(CLAIMS)
    for row in rows:
        assert row["command"] == f"fedtheory check {row['id']} --budget 0.1 --seed 0"
        assert row["seconds"] == "1.5" and (made / row["certificate"]).is_file()
    text = (made / "README.md").read_text()
    assert "All claims took 4 s" in text and "figures/" not in text


def test_one_file_holds_it_all_in_the_same_bytes(made):
    files = package.folder_contents(made)[0]
    content = package_archive.zip_package(files)
    assert content == package_archive.zip_package(dict(reversed(files.items())))
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        assert opened.testzip() is None
        inside = {n.removeprefix("fedtheory-package/"): opened.read(n) for n in opened.namelist()}
    assert inside == files


def test_a_paper_without_a_year_has_none_in_the_bibliography():
    papers = ledger.paper_facts([dict(paper="fsl"), dict(paper="mixed")])
    papers["fsl"]["year"] = None
    text = package_archive.write_bibtex(papers)
    assert "@misc{fsl," in text and "Van Sy Mai and Richard J. La and Tao Zhang" in text
    assert text.count("year") == 1 and "year = {2022}" in text
