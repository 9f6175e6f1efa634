"""Statements of existence, such as lower bounds: an instance that violates the denial proves the
statement, and a proof of the denial refutes it."""

from fedtheory.certificates import check_instance, check_proof
from fedtheory.certificates.documents import EXISTENCE
from fedtheory.errors import refuse
from fedtheory.language.variants import DENIED
from fedtheory.search.counterexample import document_title
from fedtheory.verdicts.verdict import Verdict

FORMATS = check_instance.FORMAT, check_proof.FORMAT


def decide_existence(claim, budget, seed, judge):
    """Return the Verdict on a statement of existence; `judge(claim, budget, seed)` decides its
    denial."""
    denial = claim.denied
    if denial.left_open:
        refuse(f"{claim.id}: {', '.join(denial.left_open)}", "must not be left open", claim)
    found = judge(denial, budget, seed)
    told = dict(
        cases=found.cases,
        decided_on=found.decided_on,
        searched=found.searched,
        notes=found.notes,
        witness=found.witness,
    )
    if found.status == "vacuous":
        why = f"Of its denial: {found.why}"
        return Verdict(claim.id, "vacuous", found.kind, why, certificate=found.certificate, **told)
    document = found.certificate
    if found.status not in ("violated", "proved") or document["format"] not in FORMATS:
        why = f"No such instance was found. {found.why}"
        return Verdict(claim.id, "undecided", found.kind, why, **told)
    there = found.status == "violated"
    written = dict(
        format=EXISTENCE, claim=document_title(denial).replace(DENIED, "", 1), denial=document
    )
    why = (
        f"An instance shows it: left {document['left']}, right {document['right']}."
        if there
        else f"There is none. The denial: {found.why}"
    )
    status = "proved" if there else "violated"
    return Verdict(claim.id, status, found.kind, why, confidence=1.0, certificate=written, **told)
