"""Untrusted documents of verdicts: which documents may be read at all, and how the check of a
document refuses.

A document is JSON of bounded size; its numbers are texts of digits. Checking a document spends from
a budget of steps (`arithmetic.work`), so that every check ends soon. Every refusal is a sentence
that is safe to print on a terminal.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from fedtheory.arithmetic import work
from fedtheory.arithmetic.work import Counted
from fedtheory.certificates import check_worst_case
from fedtheory.certificates.check_proof import Laborious, Refused, require
from fedtheory.errors import FedtheoryError, printable, show

BYTES, VALUES, DEPTH, LETTERS = (
    4_000_000,
    200_000,
    100,
    10_000,
)  # limits: of a file, in a document, of each text
DIGITS = 4000
# Steps of arithmetic that deriving a document anew may take; the longest shipped document takes a
# tenth.
STEPS = 120_000
NUMBER = re.compile(f"-?[0-9]{{1,{DIGITS}}}(/[0-9]{{1,{DIGITS}}})?")
EXISTENCE = "fedtheory existence 1"  # the format for a statement of existence


def plain_copy(document: Any) -> int | dict[str, Any] | None:
    """Return a copy of a document as JSON has it; raise Refused if the document is larger than a
    verdict's may be, or is not plain data."""
    waiting, seen = [(document, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        seen += 1
        parts = (
            [*value, *value.values()]
            if type(value) is dict
            else value
            if type(value) in (list, tuple)
            else ()
        )
        require(seen + len(waiting) + len(parts) <= VALUES, f"it holds more than {VALUES} values")
        require(depth <= DEPTH, f"it is nested more than {DEPTH} deep")
        wrong = why_impossible(value)
        require(wrong is None, wrong)
        waiting += [(part, depth + 1) for part in parts]
    return json.loads(json.dumps(document))


def why_impossible(value: Any) -> str | None:
    """Return why a document cannot contain this value, whatever its parts are; None where the
    document can."""
    kind = type(value)
    if kind is dict:
        return None if all(type(name) is str for name in value) else "a name in it is no text"
    if kind is str:
        return None if len(value) <= LETTERS else f"a text in it has more than {LETTERS} letters"
    if kind is int:
        return None if value.bit_length() <= 3 * DIGITS else "an integer in it is too long"
    if kind is float:
        return None if math.isfinite(value) else "a number in it is not finite"
    return None if value is None or kind in (list, tuple, bool) else f"it holds {show(value)}"


def check_file_size(path: Path) -> None:
    """Raise Refused if a JSON file has too many bytes or values; the file is checked before it is
    parsed."""
    require(path.stat().st_size <= BYTES, f"it has more than {BYTES} bytes")
    content = path.read_bytes()
    require(
        sum(map(content.count, (b",", b"[", b"{"))) <= 2 * VALUES,
        f"it holds more than {VALUES} values",
    )


def digest_of(document: Any) -> str:
    """Return the hash of a document's content, its own digest left out."""
    body = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(
        json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()


def check_sealed(document: Any, kind: str, *names: str, perhaps: Sequence[str] = ()) -> None:
    """Raise Refused unless a document has this format, exactly these entries (and perhaps those in
    `perhaps`), and the content with which it was written."""
    require(document.get("format") == kind, f"the document is not of the format {kind}")
    check_entries(document, "the document", "format", "digest", *names, perhaps=perhaps)
    require(
        document["digest"] == digest_of(document),
        "the document's content does not match its digest: the document was changed",
    )


def check_entries(part: Any, what: str, *names: str, perhaps: Sequence[str] = ()) -> None:
    """Raise Refused unless a part of a document has exactly these entries, and perhaps those in
    `perhaps`."""
    require(isinstance(part, dict), f"{what} is no object")
    for name in names:
        require(name in part, f"{what} lacks {name}")
    for name in part:
        require(
            name in names or name in perhaps,
            f"{what} has an entry that means nothing: {show(name)}",
        )


def parse_fraction(text: str) -> Counted:
    require(isinstance(text, str) and NUMBER.fullmatch(text), f"no number: {show(text)}")
    value = text.partition("/")[2]
    require(not value or int(value) != 0, f"no number: {show(text)}")
    return Counted(text)


def refuse_malformed(check: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a check of a document so that it raises Refused, in one sentence, for a malformed
    document or one that takes too much work."""

    @wraps(check)
    def checked(document: Any, *more: Any) -> Any:
        try:
            with work.limit_work(STEPS):
                return check(document, *more)
        except work.Spent as why:
            raise Laborious(one_sentence(why)) from None
        except (Refused, check_worst_case.Refused) as why:
            kind = Laborious if isinstance(why, Laborious) else Refused
            raise kind(one_sentence(why)) from None
        except Exception as error:
            said = (
                one_sentence(error)
                if isinstance(error, FedtheoryError)
                else f"{type(error).__name__} {show(error)}"
            )
            raise Refused(f"the document is not well formed: {said}") from None

    return checked


def one_sentence(why: Any) -> str:
    """Return a reason on one line without control characters."""
    text = printable(" ".join(str(why).split()))
    return text if len(text) <= 300 else text[:297] + "..."
