"""Replay of a package (`--replay`): derives the package anew, names every difference, and reports
as unverified everything that was not derived anew.

No part of a package is trusted because it fits the package's own checksums. The claims and their
statements come from the records here, certificates and ratios from `evidence`, a sample of the
searches from the campaign, figures from their arrays, and the page from all of these. Nothing of
the package is run or unpickled.
"""

import json
import secrets
import tempfile
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from fedtheory import terminal
from fedtheory.app import ledger, package, package_archive
from fedtheory.errors import FedtheoryError, printable, refuse
from fedtheory.parallel import executors
from fedtheory.terminal import Line, duration_text
from fedtheory.verdicts.verdict import FIELDS, Verdict, find_fault
from fedtheory.verify import (
    build_package,
    campaign,
    checker_report,
    judge_verdicts,
    rederive_figures,
)

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

SECONDS = 120.0  # seconds of one core for a sample of searches, where its size is not given
EVIDENCE = 0.03  # seconds that a claim takes without a search, including its part of the page
SHOWN, NAMES = 200, 6  # differences that are printed, and names of absent files
OURS = (
    "ledger.json",
    "index.html",
    "sources.json",
    "environment.json",
    "timings.json",
    package_archive.CRATE,
    package.SUMS,
)


class Report:
    """The report of a replay: what differs, what was derived anew, and what was not."""

    def __init__(self) -> None:
        self.differs, self.derived, self.unverified, self.absent, self.sample = [], {}, {}, {}, None

    def differ(self, *sentences: Any) -> None:
        self.differs += [sentence for sentence in sentences if sentence not in self.differs]

    def as_dict(self) -> dict[str, Any]:
        return dict(
            differs=self.differs,
            derived=self.derived,
            absent=self.absent,
            unverified=self.unverified,
            sample=self.sample,
        )

    def text(self) -> str:
        """Return sentences for a terminal, one to a line or a paragraph; no text from the package
        can send control characters to the terminal."""
        lines = [
            f"absent: {what}: {', '.join(names[:NAMES])}"
            + f", and {len(names) - NAMES} more: say --json" * (len(names) > NAMES)
            for what, names in self.absent.items()
            if names
        ]
        lines += [
            f"unverified: {what}: {', '.join(names)}"
            for what, names in self.unverified.items()
            if names
        ]
        if self.sample:
            lines.append(
                "searched again: {} of {} claims (--sample {} --sample-seed {})".format(
                    *self.sample.values()
                )
            )
        lines += [f"differs: {sentence}" for sentence in self.differs[:SHOWN]]
        lines += [f"... and {len(self.differs) - SHOWN} further differences"] * (
            len(self.differs) > SHOWN
        )
        counts = [f"{count} {what}" for what, count in self.derived.items() if count]
        counts = (
            ", ".join(counts[:-1]) + " and " * (len(counts) > 1) + "".join(counts[-1:]) or "nothing"
        )
        gone, left = (
            [f"{len(names)} {what}" for what, names in some.items() if names]
            for some in (self.absent, self.unverified)
        )
        lines.append(
            f"{counts} derived anew: "
            + (f"{len(self.differs)} differences." if self.differs else "nothing differs.")
            + f" Absent: {', '.join(gone)}." * bool(gone)
            + f" Unverified: {', '.join(left)}."
        )
        return "\n".join(
            textwrap.fill(
                printable(line),
                118,
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            for line in lines
        )


def replay(
    folder: Path,
    every: bool = False,
    executor: str = campaign.EXECUTOR,
    sample: int | None = None,
    seed: int | None = None,
    figures: bool = False,
    as_json: bool = False,
    say: Callable[..., Any] | None = None,
    rocq: bool = False,
) -> int:
    """Print the differences of a package from what is derived anew, and return the exit status."""
    if not folder.is_dir():
        refuse("--replay", "must be the folder of a package", str(folder))
    if rocq:
        checker_report.coqc_version()  # raises at once where coqc is missing
    begun = time.monotonic()
    report = differences(folder, every, executor, sample, seed, figures, say, rocq)
    print(json.dumps(report.as_dict(), indent=1) if as_json else report.text())
    terminal.say(f"replay: it took {duration_text(time.monotonic() - begun)}")
    return 1 if report.differs else 0


def differences(
    folder: Path,
    every: bool = False,
    executor: str = campaign.EXECUTOR,
    sample: int | None = None,
    seed: int | None = None,
    figures: bool = False,
    say: Callable[..., Any] | None = None,
    rocq: bool = False,
) -> Report:
    """Return the Report on a package."""
    from fedtheory import discover

    report = Report()
    files, unread = package.folder_contents(folder)
    report.differ(*unread, *package.unlike_sums(files))
    report.derived["checksums"] = len(files)
    report.unverified["files that nothing follows from"] = ["environment.json", "timings.json"]
    report.unverified["folders beside the package"] = [package.RESULTS] * (
        folder / package.RESULTS
    ).is_dir()
    try:
        book = package.open_ledger(files.get("ledger.json", b""))
    except FedtheoryError as error:
        report.differ(f"ledger.json: {error}")
        return report
    records = {claim.id: claim for claim in discover.claims()}
    wanted = [
        name for name in records if not book["asked"] or name.startswith(tuple(book["asked"]))
    ]
    entries = {entry["id"]: entry for entry in book["claims"]}
    report.absent["claims that were not asked for"] = [
        name for name in records if name not in wanted
    ]
    report.differ(
        *(
            f"{prefix}: no claim's id begins so, and the package says that those were asked for"
            for prefix in book["asked"]
            if not any(name.startswith(prefix) for name in records)
        ),
        *(f"{name}: the package leaves out this claim" for name in wanted if name not in entries),
        *(f"{name}: no claim here has this id" for name in entries if name not in records),
        *(
            f"{name}: it is none of the claims that were asked for"
            for name in entries
            if name in records and name not in wanted
        ),
    )
    report.differ(*_sources(files, book), *_beside(files, book))
    claims = [records[name] for name in wanted if name in entries]
    verdicts = {claim.id: _with_documents(entries[claim.id]["verdict"], files) for claim in claims}
    searchable = _evidence(report, claims, verdicts, book)
    again = _searches(
        report, searchable, verdicts, book, _timings(files), every, executor, sample, seed, say
    )
    report.unverified["fields of the ledger"] = ["asked"] * bool(book["asked"]) + [
        "budget",
        "seed",
    ] * bool(report.sample)  # they determine the searches that were not repeated
    drawn = {
        name.removeprefix("figures/"): content
        for name, content in files.items()
        if name.startswith("figures/")
    }
    drawn, made, absent = rederive_figures.draw_again(drawn, report.differ, every or figures)
    report.derived["figures"], report.absent["figures"] = len(made), absent
    report.unverified["figures' arrays (say --figures)"] = [] if every or figures else made
    report.derived["figures' arrays"] = len(made) if every or figures else 0
    checkers = _checkers(report, files, rocq)
    sliders = _sliders(claims, executor)
    _remade(report, files, book, entries, claims, {**verdicts, **again}, drawn, sliders, checkers)
    return report


def _checkers(
    report: Report, files: Mapping[str, bytes], rocq: bool
) -> dict[str, str | dict[str, dict[str, Any]]] | None:
    """Return the package's recorded answers of the checkers, or None where there are none; with
    `rocq`, ask both checkers again and report differences."""
    try:
        theirs = checker_report.read_acceptance(files)
    except FedtheoryError as error:
        report.differ(str(error))
        return None
    if theirs is not None and rocq:
        found, report.derived["answers of checkers"] = checker_report.describe_differences(
            theirs, files
        )
        report.differ(*found)
    elif theirs is not None:
        report.unverified["answers of checkers (say --rocq)"] = [package.CHECKERS]
    return theirs


def _with_documents(verdict: dict[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return a verdict in which the names of certificate files are replaced by the certificates, or
    by None where no such file exists."""
    verdict = dict(verdict)
    if isinstance(verdict.get("lines"), list):
        verdict["lines"] = [
            _with_documents(line, files) if isinstance(line, dict) else line
            for line in verdict["lines"]
        ]
    if isinstance(verdict.get("printed"), dict):
        verdict["printed"] = _with_documents(verdict["printed"], files)
    if isinstance(verdict.get("removals"), list):
        verdict["removals"] = [
            dict(removal, verdict=_with_documents(removal["verdict"], files))
            if isinstance(removal, dict) and isinstance(removal.get("verdict"), dict)
            else removal
            for removal in verdict["removals"]
        ]
    if isinstance(file := verdict.get("certificate"), str):
        try:
            verdict["certificate"] = (
                ledger.parse_json(files[file], file) if file.startswith("certificates/") else None
            )
        except (FedtheoryError, KeyError):
            verdict["certificate"] = None
    return verdict


def _evidence(
    report: Report,
    claims: "Sequence[Claim]",
    verdicts: Mapping[str, dict[str, Any]],
    book: Mapping[str, Any],
) -> "dict[Claim, str]":
    """Judge everything that needs no search; return {claim: what is left to a search}."""
    left, ratios, certificates = {}, 0, 0
    line = Line()
    look = line.progress("claims without a search")
    for done, claim in enumerate(claims, 1):
        found = judge_verdicts.judge_verdict(
            claim, verdicts[claim.id], book["budget"], book["seed"]
        )
        report.differ(*(f"{claim.id}: {sentence}" for sentence in found.wrong))
        ratios += found.ratios
        if not find_fault(verdicts[claim.id]):
            parts = Verdict.from_dict(verdicts[claim.id]).parts()
            certificates += sum(part.certificate is not None for part in parts)
        if found.rests or found.wrong:
            left[claim] = found.rests
        look(done, len(claims))
    line.clear()
    report.derived.update(statements=len(claims), certificates=certificates, ratios=ratios)
    return left


def _searches(
    report: Report,
    left: "Mapping[Claim, str]",
    verdicts: Mapping[str, dict[str, Any]],
    book: Mapping[str, Any],
    timings: Mapping[str, dict[str, float]],
    every: bool,
    executor: str,
    sample: int,
    seed: int,
    say: Callable[..., Any],
) -> dict[str, Any]:
    """Search again for a sample of claims (drawn afresh each time) or for all claims, and return
    the verdicts that were found."""
    most = int(SECONDS / book["budget"]) if sample is None else sample
    seed = secrets.randbelow(2**32) if seed is None else seed
    ids = {claim.id: claim for claim in left}
    chosen = sorted(ids) if every else sorted(Random(seed).sample(sorted(ids), min(most, len(ids))))
    if len(chosen) < len(ids):
        report.sample = dict(searched=len(chosen), of=len(ids), sample=most, seed=seed)
    found = {}
    took = sum(timings.get(name, {}).get("seconds", book["budget"]) for name in chosen)
    rest = (campaign.SLIDERS + EVIDENCE) * len(verdicts)
    terminal.say(
        f"replay: next {len(chosen)} of {len(ids)} searches, and the page: "
        f"about {duration_text(min(took + rest, 1e9))} of one core"
    )
    if chosen:
        with tempfile.TemporaryDirectory(prefix="fedtheory-replay-") as store:
            results = campaign.run_campaign(
                [ids[name] for name in chosen],
                book["budget"],
                book["seed"],
                Path(store),
                executor,
                say,
            )
        found = {name: result["verdict"] for name, result in results.items()}
    for name, mine in found.items():
        theirs = verdicts[name]
        report.differ(
            *(
                f"{name}: its verdict, {field} is not what was derived here"
                for field in FIELDS
                if field not in theirs
                or not judge_verdicts.written_alike(theirs[field], mine[field])
            )
        )
    report.derived["searches"] = len(found)
    for kind, what in (
        ("search", "searches (say --all)"),
        ("cases", "counts of cases until a line failed"),
    ):
        report.unverified[what] = [
            claim.id for claim, rests in left.items() if rests == kind and claim.id not in found
        ]
    return found


def _sliders(claims: "Sequence[Claim]", executor: str) -> dict[str, Any]:
    """Return {id: slider data of a claim}, computed again by workers."""
    names, made, line = [claim.id for claim in claims if claim.lines], {}, Line()
    look = line.progress("sliders of the page")
    tasks = [(name,) for name in names]
    with closing(executors.iter_completed(package.slider_json, tasks, executor)) as batches:
        for found in batches:
            made.update({names[n]: text for n, text in found.items()})
            look(len(made), len(names))
    line.clear()
    return made


def _remade(
    report: Report,
    files: Mapping[str, bytes],
    book: Mapping[str, Any],
    entries: Mapping[str, dict[str, str | list[str]]],
    claims: "Sequence[Claim]",
    verdicts: Mapping[str, dict[str, Any]],
    drawn: Mapping[str, bytes],
    sliders: Mapping[str, Any],
    checkers: Mapping[str, str | dict[str, dict[str, Any]]] | None = None,
) -> None:
    """Make ledger, certificates and page again from the derived data, and compare these files with
    the package's."""
    shaped = {name: verdict for name, verdict in verdicts.items() if not find_fault(verdict)}
    made, certificates = ledger.build_ledger(
        [claim for claim in claims if claim.id in shaped],
        shaped,
        book["budget"],
        book["seed"],
        build_package.findings(drawn),
        build_package.plots(drawn),
        book["asked"],
    )
    aside = (
        {"verdict"} if book.get("sources") == made["sources"] else {"verdict", "key"}
    )  # different sources are reported above
    for mine in made["claims"]:
        theirs = entries[mine["id"]]
        report.differ(
            *(
                f"{mine['id']}: its {name} is not what was derived here"
                for name in mine
                if name not in aside and (name not in theirs or theirs[name] != mine[name])
            )
        )
        report.differ(
            *(
                f"{mine['id']}: its verdict names other files than its certificates'"
                for part, other in zip(
                    Verdict.from_dict(mine["verdict"]).parts(),
                    Verdict.from_dict(theirs["verdict"]).parts(),
                )
                if part.certificate != other.certificate
            )
        )
    if book.get("counts") != ledger.count_statuses(made["claims"]):
        report.differ("ledger.json: its counts are not those of its claims")
    if not report.differs and files["ledger.json"] != ledger.json_text(made):
        report.differ("ledger.json: it holds more, or in another order, than what was derived here")
    if isinstance(book.get("sources"), str) and isinstance(
        book.get("libraries"), dict
    ):  # differences are reported above
        made.update(sources=book["sources"], libraries=book["libraries"])
    for name, document in certificates.items():
        if name in files and files[name] != ledger.json_text(document):
            report.differ(f"{name}: it is not written as certificates are here")
    beside = package_archive.files_beside_ledger(made, certificates, _timings(files), drawn)
    report.differ(
        *(
            f"{name}: it is not what was derived here"
            for name, content in beside.items()
            if name in files and files[name] != content
        )
    )
    expected = {*OURS, *certificates, *beside, *({package.CHECKERS} & files.keys())}
    report.differ(
        *(
            f"{name}: it is no part of this package"
            for name in files
            if name not in expected and not name.startswith("figures/")
        ),
        *(f"{name}: it is missing" for name in sorted(expected) if name not in files),
    )
    page = package.render_page(
        made,
        package.pictures({f"figures/{name}": content for name, content in drawn.items()}),
        checkers,
        certificates,
        sliders,
    )
    if package.unpacked(files.get("index.html", b"")) != package.unpacked(page):
        report.differ("index.html: it is not the page that was derived here")
    if package_archive.CRATE in files:
        day = package_archive.day_of(files) or package_archive.crate_date()
        if files[package_archive.CRATE] != package_archive.describe_crate(made, _apart(files), day):
            report.differ(f"{package_archive.CRATE}: it is not of these files")


def _apart(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that a package's crate describes."""
    return {
        n: content for n, content in files.items() if n not in (package_archive.CRATE, package.SUMS)
    }


def _timings(files: Mapping[str, bytes]) -> dict[str, dict[str, float]]:
    """Return the timings of claims that the package records; entries of the wrong shape are
    reported elsewhere."""
    try:
        found = ledger.parse_json(files["timings.json"], "timings.json")
        return {name: dict(row) for name, row in found.items() if row["seconds"] >= 0}
    except (FedtheoryError, KeyError, TypeError, ValueError, AttributeError):
        return {}


def _sources(files: Mapping[str, bytes], book: Mapping[str, Any]) -> list[str]:
    """Return sentences about source files and libraries that differ from those that made the
    package."""
    try:
        theirs = ledger.parse_json(files.get("sources.json", b""), "sources.json")
    except FedtheoryError as error:
        return [f"sources.json: {error}"]
    if not isinstance(theirs, dict) or ledger.digest_of(theirs) != book.get("sources"):
        return ["sources.json: it is not what ledger.json names as its sources"]
    ours = ledger.source_hashes()
    found = [
        f"{name}: this source is not the one that made the package"
        for name in sorted({*ours, *theirs})
        if ours.get(name) != theirs.get(name)
    ]
    more = [f"... and {len(found) - 5} further sources"] if len(found) > 5 else []
    if not found and files["sources.json"] != ledger.json_text(ours):
        found = ["sources.json: it is not written as sources are here"]
    libraries = book.get("libraries") if isinstance(book.get("libraries"), dict) else {}
    names = dict.fromkeys([*ledger.library_versions(), *libraries])
    return (
        found[:5]
        + more
        + [
            f"{name}: the package was made with {libraries.get(name)}, here is "
            f"{ledger.library_versions().get(name)}"
            for name in names
            if libraries.get(name) != ledger.library_versions().get(name)
        ]
    )


def _beside(files: Mapping[str, bytes], book: Mapping[str, Any]) -> list[str]:
    """Return sentences about the environment and timings files where their shape is wrong; no
    result follows from these files."""
    found, number = [], lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and v >= 0
    for name, good in (
        (
            "timings.json",
            lambda data: (
                set(data) == {entry["id"] for entry in book["claims"]}
                and all(
                    set(row) == {"seconds", "megabytes"}
                    and number(row["seconds"])
                    and (row["megabytes"] is None or number(row["megabytes"]))
                    for row in data.values()
                )
            ),
        ),
        (
            "environment.json",
            lambda data: (
                set(data) == ENVIRONMENT
                and isinstance(data["processor"], dict)
                and set(data["processor"]) == {"model", "features"}
                and all(data[library] == version for library, version in book["libraries"].items())
            ),
        ),
    ):
        try:
            data = ledger.parse_json(files.get(name, b""), name)
            if not good(data) or files[name] != ledger.json_text(data):
                found.append(f"{name}: it has not the shape that it is made in")
            elif name == "environment.json":
                found += [
                    f"{name}: the package was drawn with {data[name]}, here is {ours}"
                    for name, ours in package.drawing_versions().items()
                    if data[name] != ours
                ]
        except FedtheoryError as error:
            found.append(f"{name}: {error}")
        except Exception as error:  # any error that a malformed document causes
            found.append(f"{name}: it has not the shape that it is made in, {type(error).__name__}")
    return found


ENVIRONMENT = {
    "python",
    *ledger.LIBRARIES,
    *package.DRAWERS,
    "llvmlite",
    "svml",
    "machine",
    "libc",
    "jit",
    "system",
    "processor",
    "cores",
}
