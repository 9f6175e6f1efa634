"""`--replay`: a package derived anew, and every difference named.

Checksums, certificates, the records' statements, the page and a sample of the verdicts, or all of them. Nothing of
the package is run or unpickled.
"""

import sys
import tempfile
from pathlib import Path
from random import Random

from fedtheory import ledger, package
from fedtheory.errors import FedtheoryError, refuse
from verify import campaign

SAMPLE = 24    # verdicts that are looked for again


def replay(folder, every=False, workers=campaign.WORKERS, say=None):
    """Print what differs; the exit status."""
    if not folder.is_dir():
        refuse("--replay", "must be the folder of a package", str(folder))
    found, lines = differences(folder, every, workers, say)
    for sentence in found:
        print(f"differs: {_safe(sentence)}")
    print("; ".join(lines) + (f"; {len(found)} differences" if found else "; nothing differs"))
    return 1 if found else 0


def differences(folder, every=False, workers=campaign.WORKERS, say=None):
    """(sentences about what differs, sentences about what was done)."""
    found = package.unlike_sums(folder)
    done = ["checksums compared"]
    try:
        book = package.opened(folder)
    except FedtheoryError as error:
        return found + [f"ledger.json: {error}"], done
    found += _sources(folder, book)
    found += package.replayed(folder, book, _progress)
    done.append(f"{len(set(package.documents(book)))} certificates replayed")
    found += _page(folder, book)
    again, count = _verdicts(book, every, workers, say)
    done.append(f"{count} of {len(book['claims'])} verdicts found again")
    return list(dict.fromkeys(found + again)), done


def _progress(done, total, file):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done}/{total} certificates\033[K" + "\n" * (done == total))


def _sources(folder, book):
    """Files and libraries that are not those that made the package."""
    try:
        theirs = ledger.read(folder / "sources.json")
    except FedtheoryError as error:
        return [f"sources.json: {error}"]
    if not isinstance(theirs, dict) or ledger.digest(theirs) != book.get("sources"):
        return ["sources.json: it is not what ledger.json names as its sources"]
    ours = ledger.sources()
    found = [f"{name}: this source is not the one that made the package" for name in sorted({*ours, *theirs})
             if ours.get(name) != theirs.get(name)]
    more = [f"... and {len(found) - 5} further sources"] if len(found) > 5 else []
    libraries = book.get("libraries") if isinstance(book.get("libraries"), dict) else {}
    return found[:5] + more + [f"{name}: the package was made with {libraries.get(name)}, here is {version}"
                               for name, version in ledger.libraries().items() if libraries.get(name) != version]


def _page(folder, book):
    pictures = {path.stem: path for path in (folder / "figures").glob("*.svg")
                if path.is_file() and not path.is_symlink()}
    try:
        page = package.page(book, {name: pictures[name].read_bytes() for name in sorted(pictures)})
        same = (folder / "index.html").read_bytes() == page
    except Exception as error:    # a ledger that lacks what the page shows
        return [f"index.html: it cannot be made from ledger.json, {type(error).__name__}: {error}"]
    return [] if same else ["index.html: it is not the page that ledger.json gives"]


def _verdicts(book, every, workers, say):
    """Statements of all claims, and verdicts of a sample or of all, made again and compared."""
    from fedtheory import discover
    known, found = {claim.id: claim for claim in discover.claims()}, []
    found += [f"{e['id']}: no claim here has this id" for e in book["claims"] if e["id"] not in known]
    entries = {e["id"]: e for e in book["claims"] if e["id"] in known}
    sample = list(entries) if every else sorted(Random(0).sample(sorted(entries), min(SAMPLE, len(entries))))
    claims = [known[name] for name in sample]
    with tempfile.TemporaryDirectory(prefix="fedtheory-replay-") as store:
        results = campaign.run(claims, book["budget"], book["seed"], Path(store), workers, say) if claims else {}
    made, _ = ledger.made(list(map(known.get, entries)), {
        name: results[name]["verdict"] if name in results else dict(lines=[], certificate=None, status="")
        for name in entries}, book["budget"], book["seed"])
    for again in made["claims"]:
        theirs = entries[again["id"]]
        wrong = [name for name in again if name not in ("verdict", "finding", "plots", "key")
                 and again[name] != theirs.get(name)]
        if again["id"] in results:
            wrong += [f"verdict, {name}" for name in again["verdict"]
                      if again["verdict"][name] != theirs["verdict"].get(name)]
        found += [f"{again['id']}: its {name} is not what was derived here" for name in wrong]
    if book.get("counts") != ledger.counts(book["claims"]):
        found.append("ledger.json: its counts are not those of its claims")
    return found, len(results)


def _safe(text):
    return "".join(c if c.isprintable() else "?" for c in text)
