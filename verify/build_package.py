"""Writing the package: from the results of a campaign to a folder, and the summary that is printed
at the end."""

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory import plugins, terminal
from fedtheory.app import ledger, package, package_archive
from fedtheory.errors import InvalidInput, printable, refuse
from fedtheory.store import files, outputs, private_cache
from fedtheory.verdicts.status import VIOLATED
from fedtheory.verify import campaign, checker_report

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

# In the campaign's store: the inputs from which the package was made, and its checksums.
STAMP = "made.sealed"


class CampaignSettings(NamedTuple):
    """The settings of a campaign, except its output folder."""

    budget: float
    seed: int
    prefixes: tuple[Any, ...] = ()
    executor: Any = campaign.EXECUTOR
    figures: bool = False
    rocq: bool = False
    shard: tuple[Any, ...] | None = None  # (number of the shard, number of shards)
    merge: tuple[Any, ...] = ()  # folders of campaigns over parts of the claims
    json: bool = False  # whether the answer is one JSON document
    zip: Path | None = None  # the package as one file, for an archive


def make(out: Path, asked: CampaignSettings, say: Callable[..., Any] | None = None) -> int:
    """Check claims, write the package to `out`, print the summary, and return the exit status."""
    budget, seed, prefixes, executor, figures, rocq, shard, merge, as_json, _ = asked
    _ours(out)
    if asked.zip:
        folder, name = outputs.folder_for(asked.zip, "--zip")
        folder.check([name])
    if shard:
        return _part(out, asked, say)
    if merge:
        _merge_shards(out, asked)
    kernel = checker_report.coqc_version() if rocq else None
    pictures = out.parent / "figures"
    store = out / package.RESULTS
    if figures:  # claims first, since figures take longer
        claims = _claims(prefixes)
        results = campaign.run_campaign(claims, budget, seed, _store(out), executor, say)
        terminal.say(f"{count_statuses(results)}; figures are drawn next")
        _draw(pictures)
    drawn = package.figure_files(pictures)
    made_from = ledger.digest_of(
        [
            ledger.FORMAT,
            budget,
            seed,
            sorted(prefixes),
            ledger.library_versions(),
            ledger.source_hashes(),
            [file.source for file in plugins.list_files()],
            _assets(),
            package.drawing_versions(),
            package.checksum_listing(drawn).decode(),
            kernel,
        ]
    )
    kept, unread = package.folder_contents(out) if (store / STAMP).is_file() else ({}, [])
    if (
        kept
        and not unread
        and not package.unlike_sums(kept)
        and _stamp(store) == _made_from_digest(made_from, kept)
    ):
        book = package.open_ledger(kept["ledger.json"])
        terminal.say(f"nothing changed since {out} was made")
    else:
        claims = _claims(prefixes)
        results = campaign.run_campaign(
            claims, budget, seed, _store(out), executor, say, pages=True
        )
        # of two concurrent campaigns one makes the package, then the other
        with files.file_lock(store / "lock"):
            book = _anew(out, store, drawn, asked, claims, results)
            kept, _ = package.folder_contents(out)
            ledger.write_file(
                store / STAMP, private_cache.seal(STAMP, _made_from_digest(made_from, kept))
            )
    if asked.zip:
        folder, name = outputs.folder_for(asked.zip, "--zip")
        folder.write({name: package_archive.zip_package(kept)})
    wrong = any(verdict.kind == "error" for verdict in ledger.verdicts_of(book).values())
    print(as_data(book, out) if as_json else summary(book, out))
    if rocq:
        said, where = checker_report.read_acceptance(kept), sys.stderr if as_json else sys.stdout
        print(
            "\n".join(
                [checker_report.describe_accepted(said), *checker_report.describe_refused(said)]
            ),
            file=where,
        )
        wrong = wrong or bool(checker_report.describe_refused(said))
    return 1 if wrong else 0


def _made_from_digest(made_from: str, files: Mapping[str, bytes]) -> bytes:
    """Return the bytes that identify the inputs and the content of a package; nothing is to be done
    where both are unchanged."""
    return f"{made_from} {ledger.digest_of(files[package.SUMS].decode())}".encode()


def _stamp(store: Path) -> bytes:
    return private_cache.unseal(STAMP, (store / STAMP).read_bytes())


def _claims(prefixes: Sequence[str]) -> "list[Claim]":
    from fedtheory import discover

    claims = [claim for claim in discover.claims() if claim.id.startswith(tuple(prefixes) or "")]
    return claims or refuse("PREFIX", "must begin the id of a claim", ", ".join(prefixes))


def _part(out: Path, asked: CampaignSettings, say: Callable[..., Any]) -> int:
    """Check the claims of one shard and store their results; no package is made from a single
    shard."""
    claims = campaign.claims_of_shard(_claims(asked.prefixes), *asked.shard)
    campaign.run_campaign(claims, asked.budget, asked.seed, _store(out), asked.executor, say)
    which, of = asked.shard
    told = dict(shard=which, of=of, claims=len(claims), out=str(out))
    text = f"shard {which}/{of}: {len(claims)} claims are decided in {out}"
    print(json.dumps(told, indent=2) if asked.json else text)
    return 0


def _merge_shards(out: Path, asked: CampaignSettings) -> None:
    """Copy the results of other shards' folders into the store of `out`."""
    for folder in asked.merge:
        if not (folder / package.RESULTS).is_dir():
            refuse("--merge", "must be folders of campaigns over shards", str(folder))
    others = [folder / package.RESULTS for folder in asked.merge]
    claims, store = _claims(asked.prefixes), _store(out)
    missing = campaign.merge_folders(claims, asked.budget, asked.seed, store, others)
    if missing:
        some = ", ".join(missing[:3]) + ", ..." * (len(missing) > 3)
        raise campaign.Broken(
            f"{len(missing)} of {len(claims)} claims are kept in none of these folders, with this "
            f"budget, seed, user's key and sources ({some}): run their shards again"
        )


def _anew(
    out: Path,
    store: Path,
    drawn: Mapping[str, bytes],
    asked: CampaignSettings,
    claims: "Sequence[Claim]",
    results: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    from fedtheory import jit

    book, certificates = ledger.build_ledger(
        claims,
        {name: result["verdict"] for name, result in results.items()},
        asked.budget,
        asked.seed,
        findings(drawn),
        plots(drawn),
        asked.prefixes,
        {name: result["key"] for name, result in results.items()},
    )
    timings = {
        name: dict(seconds=result["seconds"], megabytes=result["megabytes"])
        for name, result in results.items()
    }
    aside = package.build_package(
        out,
        book,
        certificates,
        {
            "timings.json": timings,
            "sources.json": ledger.source_hashes(),
            "environment.json": dict(
                jit.float_settings(),
                **ledger.library_versions(),
                **package.drawing_versions(),
                system=platform.platform(),
                processor=_processor(),
                cores=os.cpu_count(),
            ),
        },
        drawn,
        checker_report.ask_checkers(certificates, store, os.cpu_count(), _progress)
        if asked.rocq
        else None,
        {name: result["explored"] for name, result in results.items() if "explored" in result},
        {key: one for result in results.values() for key, one in result["derived"].items()},
    )
    for sentence in aside:
        terminal.say(f"verify: this was changed, and is moved aside: {sentence}")
    return book


def _progress(line: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{line}\033[K")


def _ours(out: Path) -> None:
    """Refuse an output folder that holds files of somebody else."""
    if os.path.lexists(out) and (out.is_symlink() or not out.is_dir()):
        refuse("--out", "must be a folder", str(out))
    store = out / package.RESULTS
    there = [path for path in (*_inside(out), *_inside(store)) if path != store]
    if there and (store.is_symlink() or not private_cache.bears_mark(store)):
        refuse(
            "--out",
            "must be a new or an empty folder, or one of an earlier campaign of this user's",
            str(out),
        )
    package.refuse_links(out)


def _inside(folder: Path) -> list[Path]:
    """Return the paths in a folder, except temporary files that a killed process left."""
    found = folder.iterdir() if folder.is_dir() else ()
    return [path for path in found if not files.PART.fullmatch(path.name)]


def _store(out: Path) -> Path:
    """Return the folder in which a campaign stores its results, marked as this user's before any
    result is written."""
    store = out / package.RESULTS
    store.mkdir(parents=True, exist_ok=True)
    if not private_cache.claim_folder(store):
        refuse("--out", "must be a folder of this user's campaigns", str(out))
    return store


def _draw(pictures: Any) -> None:
    """Draw all figures at smoke scale into a folder, by the `figures` command in a process of its
    own."""
    status = subprocess.run(
        [sys.executable, "-m", "fedtheory", "figures", "--scale", "smoke", "--out", str(pictures)],
        stdout=sys.stderr,
    ).returncode
    if status == 130:
        raise KeyboardInterrupt
    if status:
        terminal.say("verify: some figures were not made; the package goes without them")


def _assets() -> list[str]:
    names = ("package_page.html", "package_math.txt", package.FONT, *package.SCRIPTS)
    content = (Path(package.__file__).with_name(name).read_bytes() for name in names)
    return [hashlib.sha256(one).hexdigest() for one in content]


def findings(drawn: Mapping[str, bytes]) -> dict[str, dict[str, str]]:
    """Return {claim id: what its figure says} from the findings that figures wrote; `drawn` is
    {name: bytes} of the figures' files."""
    return {
        entry["claim"]: {
            name: str(entry[name]) for name in ("figure", "scale", "verdict", "sentence")
        }
        for entry in _entries(
            drawn, "findings.json", "claim", "figure", "scale", "verdict", "sentence"
        )
    }


def plots(drawn: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Return {claim id: names of the figures that show the claim}."""
    found = {}
    for entry in _entries(drawn, "figures.json", "figure", "claims"):
        for claim in entry["claims"]:
            found.setdefault(str(claim), []).append(str(entry["figure"]))
    return found


def _entries(drawn: Mapping[str, Any], file: str, *names: str) -> list[Any]:
    """Return the well-formed entries of an index of figures; malformed entries count as absent."""
    try:
        entries = ledger.parse_json(drawn.get(file, b"[]"), file)
    except InvalidInput:
        return []
    return (
        [
            entry
            for entry in entries
            if isinstance(entry, dict)
            and set(names) <= set(entry)
            and all(isinstance(entry[name], list if name == "claims" else str) for name in names)
        ]
        if isinstance(entries, list)
        else []
    )


def _processor() -> dict[str, str | list[str]]:
    """Return the processor's model and features, which decide the last bits of numerical libraries."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return dict(model=platform.processor(), features=[])
    value = lambda name: next(
        (line.partition(":")[2].strip() for line in lines if line.startswith(name)), ""
    )
    return dict(
        model=value("model name"), features=sorted((value("flags") or value("Features")).split())
    )


def open_page(page: Path) -> str:
    """Open a page in the browser of a desktop, and return in words what happened. A terminal's
    browser is not started."""
    import webbrowser

    desktop = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    done = desktop and webbrowser.open(page.resolve().as_uri())
    return (
        "the page is opened in a browser"
        if done
        else "no desktop's browser was found: open the page yourself"
    )


def count_statuses(results: Mapping[str, dict[str, Any]]) -> str:
    """Return in words how many claims have each status."""
    counts = Counter(result["verdict"]["status"] for result in results.values())
    told = (f"{counts[status]} {status}" for status in sorted(counts))
    return f"{len(results)} claims: {', '.join(told)}"


def as_data(book: Mapping[str, Any], out: Path) -> str:
    """Return the result of a campaign as one JSON document; the ledger has the full results."""
    verdicts = {name: verdict.status for name, verdict in ledger.verdicts_of(book).items()}
    told = dict(
        counts=book["counts"], verdicts=verdicts, out=str(out), page=str(out / "index.html")
    )
    return json.dumps(told, indent=2)


def summary(book: Mapping[str, Any], out: Path) -> str:
    """Return the summary: counts by status, and every violated claim with its reason."""
    lines = [
        f"{len(book['claims'])} claims: "
        + ", ".join(f"{n} {status}" for status, n in book["counts"].items())
    ]
    verdicts = ledger.verdicts_of(book)
    say = lambda some: [f"  {_short(name)}: {_short(text)}" for name, text in some.items()]
    for title, chosen in (
        ("violated", lambda verdict: verdict.status == VIOLATED),
        ("could not be checked", lambda verdict: verdict.kind == "error"),
    ):
        some = {name: verdict.why for name, verdict in verdicts.items() if chosen(verdict)}
        lines += ["", f"{title}:", *say(some)] if some else []
    if saved := {name: text for name, v in verdicts.items() if (text := saves(v))}:
        lines += ["", "false as printed, and saved by what the text does not state:", *say(saved)]
    return "\n".join([*lines, "", f"the page: {out / 'index.html'}"])


def saves(verdict: Any) -> str:
    """Return in words which hypotheses save a statement that is false as printed; "" for any other
    statement."""
    if verdict.status == VIOLATED or verdict.printed.status != VIOLATED:
        return ""
    return "; ".join(verdict.saved_by) or "several hypotheses together"


def _short(text: str, most: int = 150) -> str:
    """Shorten a text to one line for a terminal, without control characters."""
    text = printable(" ".join(text.split()))
    return text if len(text) <= most else text[: most - 3] + "..."
