"""The command `fedtheory diff OLD NEW`: the differences between two ledgers, claim by claim, or
between two answers of `fedtheory sharpen --json`, part by part.

Both documents may come from anybody. They are read as untrusted input, and only the fields that are
compared are read.

Times are no part of a ledger, so two runs of the same sources give no differences. Rows are plain
values, compared by type and value; a long text is cut off, with a digest of the whole.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from fedtheory.app import ledger
from fedtheory.errors import InvalidInput, printable
from fedtheory.verdicts.verdict import Verdict

Row = dict[str, Any]  # {field: value}, as compared
ABSENT = "absent"
LONG = 120  # characters of a value that are printed
LEDGER = "ledger.json"  # the ledger's name in a folder


def diff_ledgers(old: str | Path, new: str | Path) -> tuple[dict[str, Any], str]:
    """Return (data, text) of the differences between two files, or between the packages in two
    folders.

    The data have the number of claims, the number that differ, counts by kind of change, and {id:
    {field: [old, new]}}. Raises InvalidInput for a document that is neither a ledger nor an answer
    of `sharpen`.
    """
    was, now = ledger_rows(Path(old)), ledger_rows(Path(new))
    ids = [*was, *(name for name in now if name not in was)]
    changes = {name: compare_rows(was.get(name), now.get(name)) for name in ids}
    changes = {name: found for name, found in changes.items() if found}
    counts = Counter(kind_of_change(what) for found in changes.values() for what in found)
    data = dict(claims=len(ids), differ=len(changes), counts=dict(counts), changes=changes)
    return data, describe_changes(data)


def compare_rows(was: Row | None, now: Row | None) -> dict[str, list]:
    """Return {field: [old, new]} for the fields in which two rows differ. A row is None where the
    claim is absent."""
    if was is None or now is None:
        return {"claim": [ABSENT, "new"] if was is None else ["there", ABSENT]}
    names = [*was, *(name for name in now if name not in was)]
    pairs = {name: [was.get(name, ABSENT), now.get(name, ABSENT)] for name in names}
    return {name: pair for name, pair in pairs.items() if not same_value(*pair)}


def same_value(one: Any, other: Any) -> bool:
    """Tell whether two values are equal and of the same type, because 1 == True in Python."""
    return type(one) is type(other) and one == other


def kind_of_change(what: str) -> str:
    """Return the kind under which a change is counted: `ratio of line 2` counts as `ratio`."""
    return what.partition(" of ")[0]


def describe_changes(data: dict[str, Any]) -> str:
    """Return a line for each claim that differs, and a last line with the counts."""
    lines = [
        f"{name}: " + "; ".join(f"{what} {then} -> {now}" for what, (then, now) in found.items())
        for name, found in data["changes"].items()
    ]
    counted = ", ".join(f"{what} {n}" for what, n in data["counts"].items())
    last = f"{data['differ']} of {data['claims']} claims differ" + (
        f": {counted}" if counted else ""
    )
    return "\n".join([*lines, f"{last}."])


# ---------------------------------------------------------------- comparison


def ledger_rows(path: Path) -> dict[str, Row]:
    """Return {id: {field: value}} of a document, and refuse a document of any other kind."""
    path = path / LEDGER if path.is_dir() else path
    document = ledger.read_json(path)
    sharpened = [document] if isinstance(document, dict) and "parts" in document else document
    if isinstance(sharpened, list):
        return key_entries(path, sharpened, "claim", of_parts)
    if not str(value_at(document, "format")).startswith("fedtheory ledger "):
        refuse_ledger(path)
    return key_entries(path, value_at(document, "claims"), "id", of_entry)


def refuse_ledger(path: Path) -> NoReturn:
    """Raise InvalidInput that names the kinds of documents which can be compared."""
    raise InvalidInput(
        f"{printable(path.name)} must be a ledger, a folder with a {LEDGER}, or the output of fedtheory "
        "sharpen --json"
    )


def key_entries(path: Path, entries: Any, key: str, row: Callable[[Any], Row]) -> dict[str, Row]:
    """Return {name: row} of a list of entries; refuse entries without a name, or with a repeated
    name."""
    found = {}
    for entry in entries if isinstance(entries, list) else refuse_ledger(path):
        name = value_at(entry, key)
        if not isinstance(name, str):
            refuse_ledger(path)
        if (name := as_plain(name)) in found:
            raise InvalidInput(f"{printable(path.name)} has {name} twice")
        found[name] = row(entry)
    return found


def of_entry(entry: Any) -> Row:
    """Return the compared fields of a ledger entry: the statuses as meant and as printed, the
    ratios, the status after each removal of a hypothesis, and the finding, proof and statement."""
    verdict = Verdict.from_dict(value_at(entry, "verdict"))
    found: dict[str, Any] = {"as meant": verdict.status, "as printed": verdict.printed.status}
    found["ratio"] = verdict.tightness
    for n, line in enumerate(verdict.lines if len(verdict.lines) > 1 else (), 1):
        found[f"status of line {n}"] = line.status
        found[f"ratio of line {n}"] = line.tightness
    for removal in verdict.removals:
        found[f"without of {as_plain(removal.name)}"] = removal.verdict.status
    found["finding"] = value_at(entry, "finding", "verdict")
    found["proof"] = value_at(entry, "rests_on", "status")
    found["statement"] = "; ".join(
        str(as_plain(line)) for line in as_list(value_at(entry, "statement"))
    )
    return {what: as_plain(value) for what, value in found.items()}


def of_parts(entry: Any) -> Row:
    """Return, for each part of a statement, which values are refuted, proved, or follow.

    The fields are named by the value's kind, the part and its line, such as `proved of 4 (line 1)`.
    """
    found = {}
    for part in as_list(value_at(entry, "parts")):
        name, line = as_plain(value_at(part, "name")), as_plain(value_at(part, "line"))
        for what in ("refuted", "proved", "follows"):
            found[f"{what} of {name} (line {line})"] = as_plain(value_at(part, what))
    return found


def value_at(value: Any, *path: str) -> Any:
    """Return the value at a path of names, or None where the path does not exist."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def as_list(value: Any) -> list:
    """Return a list unchanged, and an empty list for any other value of an untrusted document."""
    return value if isinstance(value, list) else []


def as_plain(value: Any) -> Any:
    """Return a value in the form that is compared and printed: a number, a truth value, None or a
    short text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return ledger.plain_data(value)
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    text = value if isinstance(value, str) else f"a {type(value).__name__}"
    text = printable(text.replace("\n", " "))
    return text if len(text) <= LONG else f"{text[: LONG - 20]}... ({ledger.digest_of(text)[:12]})"
