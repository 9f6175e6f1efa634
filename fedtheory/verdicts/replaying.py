"""`replay`: a new derivation of what the document of a verdict shows, from the document alone, and
of which claim the result is about.

Each format has its own checker. A document that names a claim recorded here is compared with the
whole record: statement, domains, hypotheses, measured quantities and definitions. Only the instance
and its numbers may differ. Any other document proves or refutes the statement that it contains, and
the answer says so.
"""

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

from fedtheory.arithmetic.work import Counted
from fedtheory.certificates import (
    check_family,
    check_instance,
    check_proof,
    check_worst_case,
    documents,
)
from fedtheory.certificates.check_proof import WORK, Refused, Ring, require
from fedtheory.certificates.documents import EXISTENCE, check_entries, refuse_malformed
from fedtheory.errors import InvalidInput, NotExact, refuse, show
from fedtheory.language.claim import Claim
from fedtheory.language.names import RULE, well_formed
from fedtheory.language.variants import DENIED
from fedtheory.models import by_name, fitting
from fedtheory.proofs import algebra
from fedtheory.proofs.textbook import facts, proof_steps
from fedtheory.proofs.worstcase import methods
from fedtheory.proofs.worstcase.structure import require_method
from fedtheory.search import counterexample, divergent_families
from fedtheory.search.counterexample import find_recorded_claim, lookalike
from fedtheory.search.objective import Target
from fedtheory.typing import Document
from fedtheory.verdicts import proof_graph

PLACE = re.compile("[1-9][0-9]{0,3}")  # the number of a line in its claim
RECORDED, OWN = "the claim as it is recorded here", "a statement of its own"
ALONE = "fractions alone"  # the check uses no record, method or formula of this library


def replay(document: Document) -> dict[str, Any]:
    """Return what a verdict's document shows, derived anew from the document alone; raise Refused
    if the document shows nothing.

    `document` is a Verdict's `certificate`, or the JSON that was stored of it: a counterexample, a
    proof, a family that refutes an order, a worst case, two ways to run, or the steps of a proof.
    The search that found the document is not repeated, and nothing that the document says of its
    own result is believed.

    The returned entries are `status` ("proved", "violated" or "follows"), `says` or `shows` for
    most formats, the exact sides for a counterexample, `rests_on` (the code that the check trusts)
    and `about`: whether the statement is a claim as recorded here or the document's own. A document
    that names a recorded claim and has other content is refused. Raises InvalidInput for a
    `document` that is no mapping.

    >>> import fedtheory as ft
    >>> claim = ft.claim("fsl.theorem1")
    >>> v = ft.check(claim.replace(name="without noise", bound=claim.weakened), budget=1)
    >>> found = ft.replay(v.certificate)
    >>> found["status"], found["left"] > found["right"]
    ('violated', True)
    """
    if not isinstance(document, dict):
        refuse("certificate", "must be the JSON document of a verdict", type(document).__name__)
    document = plain_content(document)
    kind = document.get("format")
    if not isinstance(kind, str) or kind not in FORMATS:
        raise Refused(f"its format is none of {', '.join(FORMATS)}: {show(kind)}")
    for name in names_in_document(document):
        check_name(name)
    return FORMATS[kind](document)


@refuse_malformed
def plain_content(document: Document) -> Any:
    """Return a document as plain data of its own, refused where it is no JSON or too large."""
    return documents.plain_copy(document)


def names_in_document(document: Document) -> list[str]:
    """Return the names of the claims in a document, once each, parts of the document included."""
    parts = [document, document.get("denial"), *join_names(document.get("members"))]
    names_ = [part["claim"] for part in parts if isinstance(part, dict) and "claim" in part]
    return [name for n, name in enumerate(names_) if name not in names_[:n]]


def join_names(value: Sequence[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return value if isinstance(value, list) else []


@refuse_malformed
def check_name(name: int | str) -> None:
    """Refuse a document's claim name that is not well formed or that can be mistaken for a recorded
    claim's name."""
    require(well_formed(name), f"its claim {RULE}; got {show(name)}")
    other = lookalike(name)
    require(other is None, f"its claim {show(name)} can be taken for {other}, and is another")


def replay_violation(document: Document) -> dict[str, Any]:
    """Replay a counterexample."""
    found = check_instance.check(document)
    return dict(
        found, rests_on=describe_measurement(document["setting"]), about=check_recorded(document)
    )


def describe_measurement(name: str) -> str:
    """Return words for the arithmetic and the measurements on which a counterexample in a model
    rests."""
    setting = by_name(name)
    whose = f", by {setting.source[0] or 'what no file holds'}" if setting.source else ""
    return f"exact arithmetic, and what the model {name} measures: {setting.says}{whose}"


@refuse_malformed
def check_recorded(document: Document) -> str:
    """Return RECORDED or OWN; refuse a counterexample with the name of a recorded claim and the
    content of another claim."""
    claim = find_recorded_claim(document["claim"])
    if claim is None:
        return OWN
    wrong = counterexample.unlike_claim(document, claim)
    require(
        wrong is None,
        f"it names {claim.id}, and its entry `{wrong}` is not that of the claim as it is recorded here",
    )
    return RECORDED


def replay_growth(document: Document) -> dict[str, str | list[Counted]]:
    """Replay a family of instances that refutes an order."""
    found = check_family.check(document)
    setting = document["members"][0]["setting"]
    return dict(found, rests_on=describe_measurement(setting), about=alike_order(document))


@refuse_malformed
def alike_order(document: Document) -> str:
    """Return RECORDED or OWN; refuse a family with the name of a recorded claim and another
    content.
    """
    claim = find_recorded_claim(document["claim"])
    if claim is None:
        return OWN
    wrong = unlike_order(document, claim)
    require(
        wrong is None,
        f"it names {claim.id}, and its entry `{wrong}` is not that of the claim as it is recorded here",
    )
    return RECORDED


def unlike_order(document: Document, claim: Claim) -> Any:
    """Return the first entry in which a family does not match a line of this claim, in a model
    that fits the claim; None where every entry matches."""
    line, first = document["line"], document["members"][0]
    if type(line) is not int or not 0 <= line < len(claim.lines) or claim.lines[line][1] != "O":
        return "line"
    setting = by_name(first["setting"])
    if first["setting"] not in {s.name for s in fitting(claim)}:
        return "setting"
    for name, mine in dict(cites=claim.cites, says=str(claim)).items():
        if document[name] != mine:
            return name
    bounded = divergent_families.bound_by_constant(claim, line, None)
    return counterexample.first_difference(
        first, Target(bounded, setting, keep=divergent_families.hidden_symbols(claim))
    )


def replay_structure(document: Document) -> dict[str, Any]:
    """Replay two ways to run, or the cells of a table."""
    from fedtheory.verdicts import (
        structural_certificate,  # imported here: it loads the compiler, which others do not need
    )

    found = structural_certificate.check_structure(document)
    return dict(found, about=RECORDED if find_recorded_claim(found["claim"]) else OWN)


@refuse_malformed
def worst_case(document: Document) -> dict[str, Any]:
    """Replay a worst case of a first-order method. Where the document describes a method, the
    method's kernels are evaluated.

    The document holds a program's multipliers, which fractions alone check. `least` is the value
    that an instance reaches, None without one; `bound` is the proved upper bound.
    """
    least, bound = check_worst_case.check(document)
    entry, rests = document.get("method"), ALONE
    about = "of the recursion that is written there, which describes no method"
    if entry is not None:
        check_method(document, entry)
        about, rests = f"of {entry['name']}", f"{ALONE}, and {entry['name']} as it is here"
    measure, times = document["measure"]
    reached = (
        "" if least is None else f"; an instance reaches {check_instance.approximate_text(least)}"
    )
    said = (
        f"the worst case of the least {measure} at rounds {', '.join(map(str, times))} {about} is at most "
        f"{check_instance.approximate_text(bound)}{reached}"
    )
    return dict(status="proved", says=said, bound=bound, least=least, rests_on=rests, about=OWN)


def check_method(document: Document, entry: Mapping[str, Any]) -> None:
    """Refuse unless the method that a document describes has the recursion that the document uses."""
    try:
        require_method(document, methods.method_of_document(entry))
    except (InvalidInput, NotExact) as why:
        raise Refused(str(why)) from None


@refuse_malformed
def replay_proofs(document: Document) -> dict[str, Any]:
    """Replay the proofs of all lines of a claim; for a claim that is not recorded here, of the
    lines that the document carries."""
    check_entries(document, "the document", "format", "claim", "lines")
    name, lines = document["claim"], document["lines"]
    require(isinstance(name, str), "its claim is no text")
    require(isinstance(lines, list) and lines, "it proves no line")
    claim, ring = find_recorded_claim(name), Ring(WORK)
    found = [check_proof.check(line, ring) for line in lines]
    if claim is not None:
        require(
            len(lines) == len(claim.lines),
            f"it names {claim.id}, and has not the lines of the claim as it is recorded here",
        )
        for at, line in enumerate(lines):
            require(
                algebra.speaks_of(line, claim, at),
                f"it names {claim.id}, and its proof {at + 1} is not of that "
                "line of the claim as it is recorded here",
            )
    about = OWN if claim is None else RECORDED
    return dict(status="proved", claim=name, lines=found, rests_on=ALONE, about=about)


@refuse_malformed
def replay_proof(document: Document) -> dict[str, Any]:
    """Replay a proof by algebra."""
    return dict(status="proved", shows=check_proof.check(document), rests_on=ALONE, about=OWN)


@refuse_malformed
def replay_graph(document: Document) -> dict[str, str]:
    """Replay the steps of a proof: each document is derived anew, and its line and premises must be
    those of the claims as recorded here.

    A step says that a line follows from its premises; its hypotheses are documents which show that
    the line's own hypotheses imply the hypotheses of each premise. Textbook facts used as premises
    are proved in the document as well.
    """
    check_entries(document, "the document", "format", "claim", "edges", "textbook")
    steps, claim = document["edges"], find_recorded_claim(document["claim"])
    require(isinstance(steps, list) and steps, "it proves no step")
    for step in steps:
        check_entries(step, "a step", "line", "premises", "proof", "hypotheses")
        for proof in (step["proof"], *step["hypotheses"]):
            check_proof.check(proof, Ring(WORK))
    require(len({step["line"] for step in steps}) == len(steps), "it proves a step twice")
    lines = proof_graph.order_lines(proof_graph.claim_lines(claim)) if claim is not None else []
    lines = {proof_steps.premise_name(one): one for one in lines}
    for step in steps:
        about, *_ = [line_of(one) for one in (step["line"], *step["premises"])]
        if claim is not None:
            require(step["line"] in lines, f"no line of this proof: {show(step['line'])}")
            about = lines[step["line"]]
        if about is not None:  # a line of a recorded claim, also if the document's claim is its own
            alike_step(step, *about)
    replay_textbook(document["textbook"], {one for step in steps for one in step["premises"]})
    own = "" if claim is not None else ", under names that this document gives"
    return dict(
        status="follows",
        claim=document["claim"],
        says=f"each of these follows from what leads to it{own}: "
        + ", ".join(str(step["line"]) for step in steps),
        rests_on=f"{ALONE}, and what is said of the lines that no step leads to",
        about=OWN if claim is None else RECORDED,
    )


def line_of(label: str) -> tuple[int | Claim, ...] | None:
    """Return (claim, index) of a line of a recorded claim that a step names; None for a textbook
    fact or a line of the document's own claim, whose name must not be mistakable for another
    claim's."""
    require(isinstance(label, str), f"no line: {show(label)}")
    if facts.is_textbook_name(label):
        return None
    name, _, number = label.rpartition("/")
    check_name(name)
    if find_recorded_claim(name) is not None:
        return proof_steps.parse_line_name(label)
    require(PLACE.fullmatch(number), f"no line: {show(label)}")
    return None


def alike_step(step: Mapping[str, Any], claim: Claim, at: int) -> None:
    """Refuse a step that differs from the step recorded here."""
    edges, line = proof_steps, step["line"]
    some = [edges.premise_name(one) for one in edges.line_premises(claim, at)]
    require(step["premises"] == some, f"{line} is said to follow from something else here")
    require(edges.speaks_of(step["proof"], claim, at), f"its proof of {line} is of another step")
    needed = edges.needed_hypotheses(claim, at)
    require(needed is not None, f"a premise of {line} assumes more than it does")
    require(
        len(needed) == len(step["hypotheses"])
        and all(map(edges.states_implication, step["hypotheses"], needed)),
        f"it shows other hypotheses than the premises of {line} have",
    )


def replay_textbook(documents: Mapping[str, list[Any]], used: Set[str]) -> None:
    """Replay the proofs of textbook facts, part by part."""
    for name in sorted(used):
        if not facts.is_textbook_name(name):
            continue
        require(isinstance(documents, dict) and name in documents, f"it does not prove {name}")
        leaf = facts.NAMES[name]
        parts = () if isinstance(leaf, str) else leaf.parts
        require(len(parts) == len(documents[name]), f"it proves another {name}")
        for document, part in zip(documents[name], parts):
            check_proof.check(document, Ring(WORK))
            asked = (part.shows, part.given, {})
            require(proof_steps.states_implication(document, asked), f"it proves another {name}")


def replay_existence(document: Document) -> Any:
    """Replay an instance that proves a statement of existence, or the proof that there is no such
    instance."""
    of_exists(document)
    denial, name = document["denial"], document["claim"]
    claim = find_recorded_claim(name)
    found = FORMATS[denial["format"]](denial)
    if claim is not None:
        of_record(denial, claim)
    there = found["status"] == "violated"
    return dict(
        found,
        status="proved" if there else "violated",
        claim=name,
        says=f"{'there is an instance against' if there else 'no instance speaks against'}: "
        f"{found.get('says', 'the line that is proved')}",
        about=OWN if claim is None else RECORDED,
    )


@refuse_malformed
def of_exists(document: Document) -> None:
    """Refuse a document of existence whose denial is missing, of another format or of another
    claim.
    """
    check_entries(document, "the document", "format", "claim", "denial")
    name, denial = document["claim"], document["denial"]
    require(isinstance(name, str), "its claim is no text")
    require(isinstance(denial, dict), "it denies nothing")
    kind = denial.get("format")
    require(kind in (check_instance.FORMAT, check_proof.FORMAT), "its denial is of another format")
    if kind == check_instance.FORMAT:
        require(denial.get("claim") == name + DENIED, "its instance speaks of another claim")


@refuse_malformed
def of_record(denial: Any, claim: Claim) -> None:
    """Refuse a denial that differs from the denial of the claim as recorded here."""
    require(claim.denial is not None, f"{claim.id}, as it is recorded here, states no existence")
    if denial["format"] == check_proof.FORMAT:
        alike = algebra.speaks_of(denial, claim.denial, 0)
    else:
        alike = counterexample.unlike_claim(denial, claim.denial) is None
    require(alike, f"it names {claim.id}, and does not deny that claim as it is recorded here")


FORMATS = {
    EXISTENCE: replay_existence,
    check_instance.FORMAT: replay_violation,
    check_family.FORMAT: replay_growth,
    "fedtheory structure 1": replay_structure,
    **dict.fromkeys(check_worst_case.FORMATS, worst_case),
    "fedtheory proofs 1": replay_proofs,
    proof_graph.FORMAT: replay_graph,
    check_proof.FORMAT: replay_proof,
    check_proof.SCALAR_FORMAT: replay_proof,
}
