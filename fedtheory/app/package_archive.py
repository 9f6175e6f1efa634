"""The files that make a package a self-contained archive: a README for a reviewer, the licence, the
papers as a bibliography, a table of claims with commands and costs, the one-file checker with its
derivations, and a description for archives (RO-Crate 1.2).

All of these files follow from the ledger, the certificates and the timings, so a replay of the
package derives them anew. Only the crate's date is read from the package.
"""

import datetime
import io
import json
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from fedtheory import __version__
from fedtheory.app import ledger
from fedtheory.certificates import alone

CRATE = "ro-crate-metadata.json"
PLAIN = ("README.md", "LICENSE", "OFL.txt", "references.bib", "claims.csv", "check.py", CRATE)
KINDS = {
    ".json": "application/json",
    ".html": "text/html",
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".pdf": "application/pdf",
    ".npz": "application/zip",
    ".tex": "application/x-tex",
    ".bib": "application/x-bibtex",
}
WHAT = {
    "index.html": "the page: claims, verdicts, evidence, figures",
    "ledger.json": "the same as data",
    "claims.csv": "one row for each claim: verdict, certificate, the command that decides it again, its cost",
    "check.py": "a checker in one file, for Python 3.11 or newer and nothing else",
    "certificates/": "a document for each verdict that has evidence of its own",
    "derivations/": "how what a counterexample measures comes from its instance, step by step",
    "figures/": "figures and tables, with the arrays that they are drawn from",
    "timings.json": "processor time and memory of each claim, where the package was made",
    "environment.json": "what the package was made with",
    "sources.json": "hashes of the sources that decided",
    "references.bib": "the papers",
    "LICENSE": "the licence of all of it but the font",
    "OFL.txt": "the licence of the font in which the page sets formulas, a part of STIX Two Math",
    CRATE: "a description that archives read",
    "SHA256SUMS": "hashes of all other files",
}


def files_beside_ledger(
    book: Mapping[str, Any],
    certificates: Mapping[str, dict[str, Any]],
    timings: Mapping[str, dict[str, Any]],
    figures: Mapping[str, Any] | Sequence[str] | None = (),
    derived: Mapping[str, list[Any]] | None = None,
) -> dict[str, bytes]:
    """Return {name: bytes} of the files that follow from a ledger, its certificates, the cost of
    each claim and the figures; `derived` maps hashes of certificates to derivations, where known.
    """
    from fedtheory.rocq import derivations

    files = {
        "LICENSE": read_licence(),
        "OFL.txt": Path(__file__).with_name("package_math.txt").read_bytes(),
        "references.bib": write_bibtex(book["papers"]).encode(),
        "claims.csv": alone.table(book, timings).encode(),
        "check.py": derivations.standing_alone(certificates.values()).encode(),
    }
    for name, document in certificates.items():
        known = (derived or {}).get(ledger.digest_of(document))
        if found := derivations.list_derivations(document) if known is None else known:
            text = json.dumps(found, separators=(",", ":")) + "\n"
            files[name.replace("certificates/", "derivations/", 1)] = text.encode()
    files["README.md"] = write_readme(book, certificates, timings, figures).encode()
    return files


def read_licence() -> bytes:
    """Return the licence of the whole package, which is the licence of the sources."""
    here = Path(ledger.PACKAGE).parent / "LICENSE"
    if here.is_file():
        return here.read_bytes()
    try:
        for file in distribution("fedtheory").files or ():
            if file.name == "LICENSE":
                return Path(str(file.locate())).read_bytes()
    except PackageNotFoundError:
        pass
    return b"MIT License\n"


def write_bibtex(papers: Mapping[str, dict[str, Any]]) -> str:
    """Return the papers as BibTeX; facts that a paper's own text does not give are left out.

    A paper is a @misc entry under its name here, with title in braces so that its case is kept.
    """
    parts = []
    for name, paper in papers.items():
        fields = dict(
            author=" and ".join(paper["authors"]),
            title="{" + paper["title"] + "}",
            year=paper["year"],
            howpublished=paper["where"],
            url=paper["link"],
        )
        told = [f"  {field} = {{{value}}}," for field, value in fields.items() if value]
        parts.append("\n".join([f"@misc{{{name},", *told, "}"]))
    return "\n\n".join(parts) + "\n"


def write_readme(
    book: Mapping[str, Any],
    certificates: Mapping[str, dict[str, Any]],
    timings: Mapping[str, dict[str, Any]],
    figures: Mapping[str, Any] | Sequence[str] | None,
) -> str:
    """Return the text that a reviewer reads first.

    The text names the counts by paper, the commands that check the package, their costs, and the
    files.
    """
    total = sum(cost["seconds"] for cost in timings.values())
    dear = sorted(timings, key=lambda name: -timings[name]["seconds"])[:5]
    count = {}
    for entry in book["claims"]:
        row = count.setdefault(entry["paper"], dict.fromkeys(book["counts"], 0))
        row[entry["verdict"]["status"]] += 1
    title = lambda name: book["papers"][name]["title"] if name in book["papers"] else name
    lines = [
        f"# {len(book['claims'])} claims of {len(count)} papers, checked",
        "",
        "Each claim is a statement, a line of a proof, a count or a finding of a paper, written once in SymPy. Its verdict",
        f"was found by machine, with a budget of {book['budget']:g} s a claim and seed {book['seed']}. Begin with `index.html`.",
        "",
        "| paper | " + " | ".join(book["counts"]) + " |",
        "| --- " * (1 + len(book["counts"])) + "|",
        *(
            f"| {title(n)} | " + " | ".join(map(str, row.values())) + " |"
            for n, row in count.items()
        ),
        "",
        "## In a minute",
        "",
        "```",
        "sha256sum -c SHA256SUMS | grep -v ': OK$'       # says nothing where nothing was changed",
        f"python check.py                                 # {len(certificates)} certificates, with Python alone",
        "```",
        "",
        "`check.py` computes each proof and each counterexample again, exactly, and names what differs, what it does",
        "not judge, and any file that was altered, added, removed or swapped. What it takes from elsewhere stands at",
        "its head; it is one file, to be read first.",
        "",
        f"With fedtheory {__version__} installed, in any folder:",
        "",
        "```",
        "fedtheory replay certificates/NAME.json         # one document, also against the claim as recorded",
        "fedtheory verify PREFIX --smoke                 # claims whose ids begin so, searched shallowly: seconds",
        "fedtheory verify --replay FOLDER                # this package, derived anew; --all: every search too",
        "```",
        "",
        "## What it costs",
        "",
        f"All claims took {total:.0f} s of processor time where this was made. `claims.csv` has the command and the cost of each;",
        "the dearest: " + ", ".join(f"`{n}` ({timings[n]['seconds']:.1f} s)" for n in dear) + ".",
        "",
        "## What lies here",
        "",
        *(f"- `{name}`: {what}" for name, what in WHAT.items() if name != "figures/" or figures),
        "",
        "The papers belong to their authors.",
    ]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- metadata for archives


def crate_date() -> str:
    """Return the date of a crate: SOURCE_DATE_EPOCH if set, and today otherwise."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.datetime.now(datetime.UTC)
    when = datetime.datetime.fromtimestamp(int(given), datetime.UTC) if given.isdecimal() else now
    return when.date().isoformat()


def day_of(files: dict[str, Any]) -> str | None:
    """Return the date that a package's crate states, or None where the crate states none."""
    try:
        graph = ledger.parse_json(files[CRATE], CRATE)["@graph"]
        (root,) = (part for part in graph if part["@id"] == "./")
        told = root["datePublished"]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    good = isinstance(told, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", told)
    return told if good else None


def describe_crate(book: Mapping[str, Any], files: Mapping[str, bytes], day: str) -> bytes:
    """Return the description of a package of these files, as RO-Crate 1.2 requires.

    The size of SHA256SUMS is computed from the names alone, because the file has to list the crate
    too.
    """
    names = sorted({*files, "SHA256SUMS"} - {CRATE})
    # a line of SHA256SUMS: a hash of 64 digits, two blanks, a name, a line feed
    summed = sum(64 + 2 + len(name.encode()) + 1 for name in {*files, CRATE} - {"SHA256SUMS"})
    papers = [
        {
            "@id": f"#{name}",
            "@type": "ScholarlyArticle",
            "name": paper["title"],
            **({"author": ", ".join(paper["authors"])} if paper["authors"] else {}),
            **({"datePublished": str(paper["year"])} if paper["year"] else {}),
            **({"url": paper["link"]} if paper["link"] else {}),
        }
        for name, paper in book["papers"].items()
    ]
    data = [
        {
            "@id": name,
            "@type": "File",
            "name": name,
            "description": describe_file(name),
            "encodingFormat": KINDS.get(Path(name).suffix, "text/plain"),
            "contentSize": str(len(files[name]) if name in files else summed),
        }
        for name in names
    ]
    counted = ", ".join(f"{n} {status}" for status, n in book["counts"].items() if n)
    graph = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.2"},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"{len(book['claims'])} claims of {len(papers)} papers on federated optimisation, checked",
            "description": f"Exact verdicts ({counted}) with certificates that replay, figures, and a checker "
            "that needs nothing but Python.",
            "datePublished": day,
            "license": {"@id": "https://spdx.org/licenses/MIT"},
            "author": {"@id": "#authors"},
            "publisher": {"@id": "#authors"},
            "mentions": [{"@id": paper["@id"]} for paper in papers] + [{"@id": "#campaign"}],
            "hasPart": [{"@id": name} for name in names],
        },
        {
            "@id": "https://spdx.org/licenses/MIT",
            "@type": "CreativeWork",
            "name": "MIT License",
            "description": "Its text is in LICENSE.",
        },
        {"@id": "#authors", "@type": "Organization", "name": "The fedtheory authors"},
        {
            "@id": "#fedtheory",
            "@type": "SoftwareApplication",
            "name": "fedtheory",
            "version": __version__,
            "url": {"@id": "README.md"},
        },
        {
            "@id": "#campaign",
            "@type": "CreateAction",
            "name": f"python -m verify --budget {book['budget']:g} --seed {book['seed']}",
            "instrument": {"@id": "#fedtheory"},
            "object": [{"@id": paper["@id"]} for paper in papers],
            "result": [{"@id": "ledger.json"}, {"@id": "index.html"}],
        },
        *papers,
        *data,
    ]
    return ledger.json_text({"@context": "https://w3id.org/ro/crate/1.2/context", "@graph": graph})


def describe_file(name: str) -> str:
    place = name.partition("/")[0] + "/" if "/" in name else name
    return WHAT.get(place, WHAT.get(name, f"the file {name} of the package"))


def zip_package(files: Mapping[str, bytes]) -> bytes:
    """Return a package as one zip archive; the same files give the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"fedtheory-package/{name}")
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return stream.getvalue()
