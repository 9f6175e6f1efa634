"""The command `fedtheory export`, and the option `fedtheory replay --rocq`, which checks a document
with a second kernel.

A second kernel never changes a verdict: its answer stands beside the replay. `coqc` is looked up on
this machine and is not needed for anything else.
"""

from pathlib import Path
from typing import Any

from fedtheory.app.check_command import read_document
from fedtheory.errors import printable, refuse
from fedtheory.store import outputs


def export_document(path: Path, to: str, out: Path | None) -> tuple[dict[str, Any], str]:
    """Return (data, text) of a document written as a file for a proof assistant. Without `out`, the
    text is the file's content.

    `to` names the proof assistant. The data have the file, the names of its theorems and its text.
    Raises InvalidInput for an `out` without the ending .v, and for a document that does not replay.
    """
    from fedtheory.rocq import export_file

    if out is not None and out.suffix != ".v":
        refuse("out", "must be a file whose name ends in .v", str(out))
    try:
        text = export_file.export(read_document(path), to)
    except export_file.Refused as why:
        refuse(
            "export",
            f"takes a document that replays, and {printable(path.name)} does not",
            str(why),
        )
    names = export_file.theorem_names(text)
    data = dict(file=None if out is None else str(out), theorems=names, text=text)
    if out is None:
        return data, text.rstrip("\n")
    folder, file = outputs.folder_for(out)
    folder.write({file: text.encode()})
    return data, f"{out}: {len(names)} theorem{'s' * (len(names) != 1)}; ask `coqc {out}`"


def ask_rocq(path: Path) -> Any:
    """Return (data, lines) of Rocq's answer about a document that replayed.

    `accepted` is True or False by the kernel's answer, and None where Rocq was not asked: coqc is
    absent, or the document has no form in Rocq.
    """
    from fedtheory.rocq import coqc, export_file

    if coqc.at_hand() is None:
        return dict(checker="rocq", accepted=None, why="coqc is not at hand"), [
            "  Rocq was not asked: coqc is not at hand"
        ]
    try:
        text = export_file.export(read_document(path))
    except export_file.Unwritten as why:
        return dict(checker="rocq", accepted=None, why=str(why)), [f"  Rocq was not asked: {why}"]
    answer = coqc.judge_file(text, export_file.theorem_names(text))
    data = dict(
        checker=answer.version,
        accepted=answer.accepted,
        why=answer.why,
        axioms=sorted(answer.axioms),
        not_shown=unshown_parts(text),
    )
    if not answer.accepted:
        return data, [f"  refused by {answer.version}: {printable(answer.why)}"]
    return data, [
        f"  accepted by {answer.version}, on the standard library's axioms",
        *(f"  {line}" for line in data["not_shown"]),
    ]


def unshown_parts(text: str) -> Any:
    """Return the sentences of a file that name the parts that the file takes from its document, or
    does not prove."""
    flat = " ".join(text.split())
    return [
        start + flat.split(start, 1)[1].split(" *)")[0]
        for start in ("Taken from the document", "Not shown here")
        if start in flat
    ]
