"""A forger's tools: change one thing of a package, and make whatever follows from it anew,
checksums included."""

import json
import shutil

from fedtheory.app import ledger, package, package_archive
from fedtheory.errors import FedtheoryError
from fedtheory.verify import rederive_package

# proved; a line proved and one that holds; two that hold; a table and two statements violated; one
# holds; two ways to run that differ; findings
SOME = [
    "fsl.gradient_identity",
    "fsl.lemma2",
    "fsl.lemma3",
    "fsl.table3",
    "lamb.lemma1",
    "lamb.lemma2",
    "fsl.lemma5",
    "mixed.K1_equivalence",
    "flex.table4_EMNIST_10",
]
BUDGET, UNVERIFIED = "0.02", ["environment.json", "timings.json"]


def copied(folder, to):
    shutil.copytree(folder, to / "copy", ignore=shutil.ignore_patterns(package.RESULTS))
    return to / "copy"


def edit(folder, change):
    """Change the ledger and sign it anew, as a forger would; keys, counts and the page follow."""
    book = json.loads((folder / "ledger.json").read_bytes())
    change({entry["id"]: entry for entry in book["claims"]}, book)
    book["counts"] = ledger.count_statuses(book["claims"])
    (folder / "ledger.json").write_bytes(ledger.json_text(book))
    files, _ = package.folder_contents(folder)
    told = package.certificate_documents(files)
    (folder / "index.html").write_bytes(
        package.render_page(book, package.pictures(files), None, told)
    )
    sign(folder)


def sign(folder):
    """What follows from a package's ledger, certificates and timings, made anew, as far as these can
    be read; then the checksums."""
    files, _ = package.folder_contents(folder)
    try:
        read = lambda name: ledger.parse_json(files[name], name)
        book, timings = read("ledger.json"), read("timings.json")
        certificates = {name: read(name) for name in files if name.startswith("certificates/")}
        beside = package_archive.files_beside_ledger(
            book, certificates, timings, [n for n in files if n.startswith("figures/")]
        )
    except (FedtheoryError, KeyError, TypeError, AttributeError):
        beside = {}
    if beside:
        files = {n: c for n, c in files.items() if not n.startswith("derivations/")} | beside
        described = {
            n: c for n, c in files.items() if n not in (package_archive.CRATE, package.SUMS)
        }
        beside[package_archive.CRATE] = package_archive.describe_crate(
            book, described, package_archive.crate_date()
        )
        shutil.rmtree(folder / "derivations", ignore_errors=True)
    for name, content in beside.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    files, _ = package.folder_contents(folder)
    (folder / package.SUMS).write_bytes(package.checksum_listing(files))
    assert package.unlike_sums(package.folder_contents(folder)[0]) == []


def found(folder, **more):
    return rederive_package.differences(folder, **{"executor": "serial", "sample": 0, **more})


def begins(report, named):
    assert [sentence for sentence in report.differs if sentence.startswith(named)], report.differs


def exchange(folder, one, other):
    (folder / one).rename(folder / "kept")
    (folder / other).rename(folder / one)
    (folder / "kept").rename(folder / other)


def rewrite(folder, name, change):
    data = json.loads((folder / name).read_bytes())
    change(data)
    (folder / name).write_bytes(ledger.json_text(data))


def put(folder, name, content):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)


def replaced(folder, name, old, new):
    content = (folder / name).read_bytes()
    assert old in content
    (folder / name).write_bytes(content.replace(old, new))
