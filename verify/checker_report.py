"""Checker answers: which certificates of a package are accepted by the checker of their format, and
by Rocq's kernel.

A document never says which checkers accept it. `python -m verify --rocq` runs both checkers on each
document, and writes their answers, with the hash of the document, beside the certificates.
"""

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from fedtheory.app import ledger, package
from fedtheory.errors import FedtheoryError, refuse
from fedtheory.typing import Document

FILE = package.CHECKERS
FORMAT = "fedtheory checkers 1"
FIELDS = dict(sha256=str, replays=(str, type(None)), rocq=(bool, type(None)), why=str)


class CheckerAnswers(NamedTuple):
    """The answers of both checkers on one document."""

    sha256: str
    replays: str | None  # the status that the checker derives; None: the checker refuses
    rocq: bool | None  # whether coqc accepts it; None: coqc was not run, or did not end
    why: str = ""  # the reason, where either checker does not accept


def coqc_version() -> str:
    """Return the version of coqc; refuse where coqc is not installed."""
    from fedtheory.rocq import coqc

    if coqc.at_hand() is None:
        refuse("--rocq", "needs coqc (Debian: apt-get install coq)", "no coqc on the path")
    return coqc.version()


def ask_checkers(
    certificates: Mapping[str, dict[str, Any]],
    store: Path,
    workers: int = 1,
    say: Callable[..., Any] | None = None,
) -> dict[str, str | dict[str, dict[str, Any]]]:
    """Return the answers of both checkers on each certificate, given {file: document}. Answers of
    coqc are stored in `store` under the hash of its input."""
    by, done = coqc_version(), 0
    store.mkdir(parents=True, exist_ok=True)
    names = sorted(certificates)
    with ThreadPoolExecutor(max(1, workers)) as pool:
        texts = [_rocq_file(certificates[name]) for name in names]
        answers = pool.map(lambda one: _coqc_answer(one, by, store), texts)
        found = {}
        for name, (accepted, why) in zip(names, answers):
            found[name] = _python_answer(certificates[name], accepted, why)._asdict()
            done += 1
            if say is not None:
                say(f"{done}/{len(names)} certificates before two checkers")
    return dict(format=FORMAT, rocq=by, certificates=found)


def _rocq_file(document: Document) -> tuple[Any, str]:
    """Return (text of the file for coqc, ""), or (None, the reason why there is no such file)."""
    # a late import, like all imports here that load formulas
    from fedtheory.rocq import export_file

    try:
        return export_file.export(document), ""
    except (export_file.Unwritten, export_file.Refused) as why:
        return None, str(why)


def _coqc_answer(one: tuple[str, str], by: str, store: Path) -> tuple[None, str]:
    """Return (accepted or None, reason) of coqc for an exported document."""
    from fedtheory.rocq import coqc, export_file

    text, why = one
    if text is None:
        return None, f"Rocq was not asked: {why}"
    name = ledger.digest_of([FORMAT, by, text])[:40]
    if (kept := ledger.load_result(store, name)) is not None:
        return tuple(kept)
    answer = coqc.judge_file(text, export_file.theorem_names(text))
    found = answer.accepted if answer.ended else None, answer.why
    if answer.ended:
        ledger.keep_result(store, name, found)
    return found


def _python_answer(document: Document, accepted: bool | None, why: str) -> CheckerAnswers:
    from fedtheory.certificates.check_proof import Refused
    from fedtheory.verdicts.replaying import replay

    content = hashlib.sha256(ledger.json_text(document)).hexdigest()
    try:
        return CheckerAnswers(content, replay(document)["status"], accepted, why)
    except Refused as refused:
        return CheckerAnswers(content, None, accepted, f"its checker refuses: {refused}")


def describe_refused(found: Mapping[str, str | dict[str, dict[str, Any]]]) -> list[str]:
    """Return sentences about the certificates that a checker does not accept."""
    return [
        f"{name}: {one['why']}"
        for name, one in found["certificates"].items()
        if one["replays"] is None or one["rocq"] is False
    ]


def describe_accepted(found: Mapping[str, str | dict[str, dict[str, Any]]]) -> str:
    """Return one sentence that says how many certificates each checker accepts."""
    some = found["certificates"].values()
    count = lambda good: sum(map(good, some))
    return (
        f"{len(some)} certificates: {count(lambda one: one['replays'] is not None)} accepted by the "
        f"checker of their format, {count(lambda one: one['rocq'] is True)} by {found['rocq']} as well, "
        f"{count(lambda one: one['rocq'] is None)} of which it was not asked or did not end"
    )


def read_acceptance(
    files: Mapping[str, bytes],
) -> dict[str, str | dict[str, dict[str, Any]]] | None:
    """Return the checkers' answers in the files of a package, or None where the package has no such
    file. Refuse a file that is not about the package's certificates, or has another shape."""
    if FILE not in files:
        return None
    found = ledger.parse_json(files[FILE], FILE)
    try:
        good = (
            set(found) == {"format", "rocq", "certificates"}
            and found["format"] == FORMAT
            and isinstance(found["rocq"], str)
            and set(found["certificates"])
            == {name for name in files if name.startswith("certificates/")}
            and all(
                set(one) == set(FIELDS)
                and all(isinstance(one[field], kind) for field, kind in FIELDS.items())
                and one["sha256"] == hashlib.sha256(files[name]).hexdigest()
                for name, one in found["certificates"].items()
            )
            and files[FILE] == ledger.json_text(found)
        )
    except (TypeError, AttributeError, KeyError):
        good = False
    if not good:
        refuse(FILE, "must say what checkers said of each certificate that is here", FORMAT)
    return found


def describe_differences(
    theirs: Mapping[str, str | dict[str, dict[str, Any]]], files: Mapping[str, bytes]
) -> tuple[list[str], int]:
    """Return sentences about the answers in the package that checkers do not give here, and the
    number of answers that were derived anew."""
    documents = {}
    for name in theirs["certificates"]:
        try:
            documents[name] = ledger.parse_json(files[name], name)
        except FedtheoryError:
            return [f"{name}: it cannot be read"], 0
    with tempfile.TemporaryDirectory(prefix="fedtheory-checkers-") as store:
        mine = ask_checkers(documents, Path(store))
    found = [f"{FILE}: it is of {theirs['rocq']}, here is {mine['rocq']}"] * (
        theirs["rocq"] != mine["rocq"]
    )
    found += [
        f"{FILE}: of {name} it does not say what was derived here"
        for name, one in mine["certificates"].items()
        if theirs["certificates"][name] != one
    ]
    return found, len(documents)
