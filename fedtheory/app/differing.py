"""`fedtheory diff OLD NEW`: what changed from one ledger to another, claim by claim; or from one answer
of `fedtheory sharpen --json` to another, part by part.

Both documents are somebody's: they are read as such, and no more is looked at than what is compared.
"""

from collections import Counter
from pathlib import Path

from fedtheory.app import ledger
from fedtheory.errors import InvalidInput, printable

ABSENT = "absent"
LONG = 120  # characters of a value that are shown
LEDGER = "ledger.json"  # of a folder that holds one


def diff(old, new):
    """(data, text) of what differs between two files, or the packages in two folders."""
    was, now = rows(Path(old)), rows(Path(new))
    ids = [*was, *(name for name in now if name not in was)]
    changes = {name: changed(was.get(name), now.get(name)) for name in ids}
    changes = {name: found for name, found in changes.items() if found}
    counts = Counter(kind(what) for found in changes.values() for what in found)
    data = dict(claims=len(ids), differ=len(changes), counts=dict(counts), changes=changes)
    return data, told(data)


def changed(was, now):
    """{what: [then, now]} of two rows, None for a claim that is not there."""
    if was is None or now is None:
        return {"claim": [ABSENT, "new"] if was is None else ["there", ABSENT]}
    names = [*was, *(name for name in now if name not in was)]
    pairs = {name: [was.get(name, ABSENT), now.get(name, ABSENT)] for name in names}
    return {name: pair for name, pair in pairs.items() if not same(*pair)}


def same(one, other):
    """1 and True are equal to Python."""
    return type(one) is type(other) and one == other


def kind(what):
    """What counts together: `ratio of line 2` is a ratio."""
    return what.partition(" of ")[0]


def told(data):
    lines = [
        f"{name}: " + "; ".join(f"{what} {then} -> {now}" for what, (then, now) in found.items())
        for name, found in data["changes"].items()
    ]
    counted = ", ".join(f"{what} {n}" for what, n in data["counts"].items())
    last = f"{data['differ']} of {data['claims']} claims differ" + (
        f": {counted}" if counted else ""
    )
    return "\n".join([*lines, f"{last}."])


# ---------------------------------------------------------------- what is compared


def rows(path):
    """id -> {what: value} of a document; a document of another kind is refused."""
    path = path / LEDGER if path.is_dir() else path
    document = ledger.read(path)
    sharpened = [document] if isinstance(document, dict) and "parts" in document else document
    if isinstance(sharpened, list):
        return keyed(path, sharpened, "claim", of_parts)
    if not str(at(document, "format")).startswith("fedtheory ledger "):
        refused(path)
    return keyed(path, at(document, "claims"), "id", of_entry)


def refused(path):
    raise InvalidInput(
        f"{printable(path.name)} must be a ledger, a folder with its {LEDGER}, or what fedtheory "
        "sharpen --json says"
    )


def keyed(path, entries, key, row):
    found = {}
    for entry in entries if isinstance(entries, list) else refused(path):
        name = at(entry, key)
        if not isinstance(name, str):
            refused(path)
        if (name := shown(name)) in found:
            raise InvalidInput(f"{printable(path.name)} has {name} twice")
        found[name] = row(entry)
    return found


def of_entry(entry):
    """As meant, as printed, ratios, what saves it, and what is said of it elsewhere."""
    verdict = at(entry, "verdict")
    printed = at(verdict, "printed") or verdict
    found = {"as meant": at(verdict, "status"), "as printed": at(printed, "status")}
    found["ratio"] = at(verdict, "tightness")
    lines = listed(at(verdict, "lines"))
    for n, line in enumerate(lines if len(lines) > 1 else (), 1):
        found[f"status of line {n}"] = at(line, "status")
        found[f"ratio of line {n}"] = at(line, "tightness")
    for removal in listed(at(verdict, "removals")):
        found[f"without of {shown(at(removal, 'name'))}"] = at(removal, "verdict", "status")
    found["finding"] = at(entry, "finding", "verdict")
    found["proof"] = at(entry, "rests_on", "status")
    found["statement"] = "; ".join(str(shown(line)) for line in listed(at(entry, "statement")))
    return {what: shown(value) for what, value in found.items()}


def of_parts(entry):
    """What each part of a statement needs: what is refuted, and what is proved."""
    found = {}
    for part in listed(at(entry, "parts")):
        name, line = shown(at(part, "name")), shown(at(part, "line"))
        for what in ("refuted", "proved", "follows"):
            found[f"{what} of {name} (line {line})"] = shown(at(part, what))
    return found


def at(value, *path):
    """What stands there, None where nothing does."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def listed(value):
    return value if isinstance(value, list) else []


def shown(value):
    """A value as it is compared and printed: a number, a truth, None or a short text."""
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    text = value if isinstance(value, str) else f"a {type(value).__name__}"
    text = printable(text.replace("\n", " "))
    return text if len(text) <= LONG else f"{text[: LONG - 20]}... ({ledger.digest(text)[:12]})"
