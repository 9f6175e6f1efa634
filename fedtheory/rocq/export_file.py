"""The function `export`, which writes the document of a verdict as a file for the proof assistant
Rocq.

The document is replayed first. A proof by algebra becomes a theorem about real numbers whose proof
follows the document. A counterexample becomes a computation and a theorem that the line fails; a
family becomes one of these for each member. The file needs only the standard library, and prints at
its end the axioms on which each theorem rests.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fedtheory import arguments
from fedtheory.arithmetic.work import limit_work
from fedtheory.certificates import check_family, check_instance, check_worst_case
from fedtheory.certificates.check_proof import WORK, Refused, Ring
from fedtheory.certificates.documents import EXISTENCE, refuse_malformed
from fedtheory.errors import InvalidInput, show
from fedtheory.rocq import instances, proofs
from fedtheory.rocq.text import comment_lines, prelude_text
from fedtheory.typing import Document
from fedtheory.verdicts.replaying import replay

STEPS = 400_000  # budget for arithmetic that records its steps, which costs more than checking
HEAD = "From Coq Require Import Reals Lra.\nOpen Scope R_scope.\n"
KINDS = {
    "fedtheory structure 1": "runs two programs in floats, or counts cells of a table",
    EXISTENCE: "states an existence: its entry `denial` is the document to export",
    **dict.fromkeys(
        check_worst_case.FORMATS,
        "is a worst case, whose interpolation conditions are not written out yet",
    ),
}


class Unwritten(InvalidInput):
    """The error that a document cannot be written for Rocq; the message says why."""


def export(document: Document, to: str = "rocq") -> str:
    """Return the text of a file that Rocq's `coqc` accepts, and whose theorems state the result of
    the document.

    `document` is the certificate of a verdict (`v.certificate`), as a dictionary; `to` names the
    proof assistant, of which "rocq" is the only one. The document is replayed first. Raises
    `Refused` where the document proves nothing, and `Unwritten`, with one sentence, where the
    document has no form in Rocq.

    >>> import fedtheory as ft
    >>> text = ft.export(ft.check("fsl.gradient_identity").certificate)
    >>> "Theorem line_1 : forall (V : InnerProductSpace) (vec_0 vec_F : V)" in text
    True
    """
    arguments.check_word("to", to, ("rocq",))
    found = replay(document)
    try:
        parts, preludes = write_theorems(document)
    except Refused as why:
        raise Unwritten(f"this document cannot be written for Rocq: {why}") from None
    return assemble_file(found, parts, preludes)


@refuse_malformed
def write_theorems(document: Document) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return ([(name of a theorem, text)], names of the preludes that the theorems use)."""
    kind = document["format"]
    if kind == check_instance.FORMAT:
        return [write_member(document, "line_1")], ("squares", "between")
    if kind == check_family.FORMAT:
        members = [write_member(each, f"line_{n}") for n, each in enumerate(document["members"], 1)]
        return members, ("squares", "between")
    if kind in KINDS:
        raise Refused(f"it {KINDS[kind]}")
    lines = document["lines"] if kind == "fedtheory proofs 1" else [document]
    ring = Ring(4 * WORK)
    each = [
        (f"line_{n}", proofs.theorem_text(line, ring, f"line_{n}"))
        for n, line in enumerate(lines, 1)
    ]
    vectors = any("vector" in line["variables"].values() for line in lines)
    return each, ("lines", "squares", "roots") + ("vectors",) * vectors


def write_member(document: Document, name: str) -> tuple[str, str]:
    with limit_work(STEPS):
        text, _ = instances.refutation_text(document, name)
    module = name.replace("line", "Case")
    return f"{module}.{name}", f"Module {module}.\n{text}\nEnd {module}."


def assemble_file(
    found: Mapping[str, Any], parts: Sequence[tuple[str, str]], preludes: Sequence[str]
) -> str:
    """Return the text of the whole file."""
    claim = found.get("claim")
    said = f"{claim}, {found['status']}" if claim else f"A statement that is {found['status']}"
    head = [
        comment_lines(f"{said}. It carries {found.get('about', 'its lines')}."),
        comment_lines(
            "Written by fedtheory from the document of a verdict; the proof is that document's."
        ),
    ]
    used = "\n".join(text for _, text in parts)
    preludes = [name for name in preludes if name != "roots" or "root " in used]
    return "\n".join(
        [
            *head,
            HEAD,
            *(prelude_text(name) for name in preludes),
            *(f"{text}\n" for _, text in parts),
            *(f"Print Assumptions {name}." for name, _ in parts),
            "",
        ]
    )


def theorem_names(text: str) -> list[str]:
    """Return the names of the theorems whose axioms a file prints."""
    start = "Print Assumptions "
    return [line[len(start) : -1] for line in text.split("\n") if line.startswith(start)]


__all__ = ["Refused", "Unwritten", "export", "show", "theorem_names"]
