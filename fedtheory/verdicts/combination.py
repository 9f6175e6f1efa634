"""From evidence to verdicts: the one place that gives a status and words its reason, and that merges
models, lines and seeds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, assert_never

from fedtheory.certificates import check_instance, check_proof
from fedtheory.certificates.documents import EXISTENCE
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Assumption
from fedtheory.language.variants import DENIED
from fedtheory.models import Model, tacit
from fedtheory.search.counterexample import document_title
from fedtheory.verdicts import evidence as ev
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.dropped_hypotheses import (
    ENOUGH,
    ViolationCounts,
    hypothesis_text,
    violated_laws,
)
from fedtheory.verdicts.status import FINAL, HOLDS, ORDER, PROVED, UNDECIDED, VACUOUS, VIOLATED
from fedtheory.verdicts.verdict import Tightness, Verdict

FORMATS = check_instance.FORMAT, check_proof.FORMAT  # of documents that decide a denial


def conclude(claim: str, evidence: ev.Evidence) -> Verdict:
    """Return the Verdict on a claim from a single piece of evidence.

    The fields that every kind of evidence has (cases, searched, notes, document, the model's code)
    are copied; `derive_fields` gives the status and the reason. Nothing is evaluated here.
    """
    of_all: dict[str, Any] = dict(
        cases=evidence.cases,
        searched=evidence.searched,
        notes=list(evidence.notes),
        certificate=evidence.document,
        decided_on=evidence.model.by if evidence.model else "",
    )
    return Verdict(claim, **(of_all | derive_fields(evidence)))


def derive_fields(evidence: ev.Evidence) -> dict[str, Any]:
    """Return the status from evidence, the reason in words, and the other fields of a Verdict
    that depend on the kind of evidence."""
    match evidence:
        case ev.Proof():
            why = f"It follows from its hypotheses ({evidence.says})."
            return dict(status=PROVED, kind="algebra", why=why, confidence=1.0)
        case ev.Implication():
            why = f"{evidence.premise} implies it."
            return dict(status=PROVED, kind="algebra", why=why, confidence=1.0)
        case ev.Vacuity():
            kind = "exact" if evidence.model else "algebra"
            return dict(status=VACUOUS, kind=kind, why=evidence.says, confidence=1.0)
        case ev.Counterexample():
            return counterexample_fields(evidence)
        case ev.Search():
            return search_fields(evidence)
        case ev.Trial():
            return dict(status=HOLDS, kind=evidence.kind, why="It was not refuted.")
        case ev.Doubt():
            says = f"It seems to fail at an instance of {evidence.model.says}, and exact numbers "
            why = f"{says}do not confirm that: {evidence.reason}."
            kind, witness = evidence.model.kind, evidence.witness
            return dict(status=UNDECIDED, kind=kind, why=why, witness=witness)
        case ev.Gap():
            found = dict(kind=evidence.kind, why=evidence.says, witness=evidence.witness)
            return dict(status=UNDECIDED, **found)
        case ev.Family():
            return family_fields(evidence)
        case ev.Companion():
            return companion_fields(evidence)
        case ev.Misprint() | ev.Difference() | ev.Agreement():
            return dict(kind="structure", **structure_fields(evidence))
        case ev.Draws():
            return draws_fields(evidence)
    raise TypeError(f"{type(evidence).__name__} is no kind of evidence that gives a verdict")


def counterexample_fields(found: ev.Counterexample) -> dict[str, Any]:
    """Return the fields of a Verdict by a counterexample, whose instance and numbers are the
    witness."""
    document = found.document
    return dict(
        status=VIOLATED,
        kind=found.model.kind,
        why=describe_failure(found.model, document),
        tightness=found.ratio and Tightness(found.ratio, document["numbers"]),
        confidence=1.0,
        witness=dict(instance=document["instance"], numbers=document["numbers"]),
    )


def describe_failure(model: Model, document: Mapping) -> str:
    """Return the sentence on an instance of a model at which a line fails."""
    return f"It fails in {model.says}: left {document['left']}, right {document['right']}."


def search_fields(found: ev.Search) -> dict[str, Any]:
    """Return the fields of a Verdict by a search without a counterexample, with the largest ratio
    found."""
    why = f"No counterexample among {found.cases} instances of {found.model.says}."
    fields = dict(status=HOLDS, kind=found.model.kind, why=why)
    if found.tightest is None:
        return fields
    ratio, numbers, witness = found.tightest
    return dict(fields, tightness=Tightness(ratio, numbers), witness=witness)


def family_fields(found: ev.Family) -> dict[str, Any]:
    """Return the fields of a Verdict on an order that a family of instances refutes for every
    constant."""
    first, moves = found.document["members"][0], found.document["moves"]
    by = ", ".join(f"{name} times {factor}" for name, factor in moves.items())
    growth, says = found.growth, found.model.says
    if not moves:
        why = f"Its shape is 0 where what it measures is not, in {says}."
    elif first["left"] == "infinite":
        why = (
            f"What it measures has no end in {says}, whatever the constant and however "
            f"small the step: as each step takes {by}, it stays so."
        )
    else:
        why = (
            f"Left over shape grows without bound in {says} as each step takes {by}: "
            f"{growth[0]}, {growth[1]}, ..., {growth[-1]}."
        )
    witness = dict(moves=moves, growth=growth, first=first["values"])
    fields = dict(status=VIOLATED, kind="order", why=why, confidence=1.0, witness=witness)
    return dict(fields, decided_on="")


def companion_fields(found: ev.Companion) -> dict[str, Any]:
    """Return the fields of a Verdict on an order that follows from an explicit bound along
    sweeps."""
    explicit = found.verdict
    said = f"{found.name} {'is proved' if explicit.status == PROVED else 'holds'}"
    why = (
        f"{said}, and its bound is at most {found.constant:.6g} "
        f"times the shape along all sweeps, its regime's coefficients held at {found.held:g}."
    )
    there = f"{said}: {explicit.searched}" if explicit.searched else said
    searched = f"{there}; its bound over the shape along {found.sweeps}"
    return dict(status=HOLDS, kind="order", why=why, searched=searched)


def structure_fields(found: ev.Misprint | ev.Difference | ev.Agreement) -> dict[str, Any]:
    """Return the fields of a Verdict on printed cells, or on two methods that are said to
    coincide."""
    match found:
        case ev.Misprint():
            cell, printed, computed = found.first
            why = f"{cell}: printed {printed}, computed {computed}."
            return dict(status=VIOLATED, why=why, confidence=1.0, witness=found.witness)
        case ev.Difference():
            one, other, instance = found.one, found.other, found.instance
            why = (
                f"{one} and {other} differ by {found.gap:.3g} of their largest coordinate "
                f"after {instance['rounds']} rounds."
            )
            witness = dict(instance, one=one, other=other, points=found.points)
            return dict(status=VIOLATED, why=why, witness=witness)
        case ev.Agreement():
            cells, drawn = found.cells, found.cases
            runs = f"{drawn} drawn problems, quadratic, run both ways ({found.sizes})"
            printed = f"all {cells} printed cells"
            why = (
                f"{cells} printed cells are those computed."
                if cells
                else f"Points agree to {found.tolerance:g} of their largest coordinate on "
                f"{drawn} drawn problems."
            )
            return dict(
                status=HOLDS,
                why=why,
                cases=drawn or cells,
                confidence=None if drawn else 1.0,
                searched="; ".join([runs] * bool(drawn) + [printed] * bool(cells)),
            )
    assert_never(found)


def draws_fields(found: ev.Draws) -> dict[str, Any]:
    """Return the fields of a Verdict by sampled runs, with confidence 1 - alpha."""
    bound, alpha = found.bound, found.alpha
    why = (
        f"Its left side lies above its right side {bound:.6g} with confidence {1 - alpha:g}, "
        "confirmed by fresh draws."
        if found.refuted
        else f"Draws do not refute it: at least {found.least / bound:.3g} of its right side is "
        f"reached, with confidence {1 - alpha / 2:g}."
    )
    return dict(
        status=VIOLATED if found.refuted else HOLDS,
        kind="sampled",
        why=why,
        tightness=Tightness(found.least / bound, found.witness) if bound > 0 else None,
        confidence=1 - alpha,
        witness=found.witness,
    )


def conclude_denial(claim: Claim, found: Verdict) -> Verdict:
    """Return the Verdict on a statement of existence from the Verdict on its denial: an instance
    that violates the denial proves the statement, and a proof of the denial refutes it."""
    document = found.certificate
    found = replace(found, claim=claim.id, tightness=None, confidence=None, lines=[])
    if found.status == VACUOUS:
        return replace(found, why=f"Of its denial: {found.why}")
    if document is None or document["format"] not in FORMATS:
        why = f"No such instance was found. {found.why}"
        return replace(found, status=UNDECIDED, why=why, certificate=None)
    title = document_title(claim.denial).replace(DENIED, "", 1)
    written = dict(format=EXISTENCE, claim=title, denial=document)
    if found.status == VIOLATED:
        status = PROVED
        why = f"An instance shows it: left {document['left']}, right {document['right']}."
    else:
        status, why = VIOLATED, f"There is none. The denial: {found.why}"
    return replace(found, status=status, why=why, confidence=1.0, certificate=written)


def combine_models(case: Case, found: Sequence[ev.Evidence], unmet: ViolationCounts) -> Verdict:
    """Return the Verdict on a line from searches of several models, and from how many of the
    searched instances violate what the claim does not assume."""
    merged = merge_models([conclude(case.claim.id, each) for each in found])
    return qualify_laws(qualify_dropped(merged, unmet.dropped), unmet.laws, case)


def merge_models(found: list[Verdict]) -> Verdict:
    """Return the Verdict on a line from the Verdicts of searches of several models: a Verdict that
    refutes or is undecided decides.

    A model in which no instance meets the hypotheses says nothing. If this is true of all models,
    the line is undecided.
    """
    refuted = [v for v in found if v.status in (VIOLATED, VACUOUS)]
    doubtful = [v for v in found if v.status == UNDECIDED and v.witness is not None]
    holding = [v for v in found if v.status == HOLDS]
    one = next(iter([*refuted, *doubtful, *holding, *found]))
    one = replace(
        one, cases=sum(v.cases for v in found), searched=join_words(v.searched for v in found)
    )
    if one.status != VIOLATED:  # a violation rests on one instance, in one model
        one = replace(one, decided_on=join_words(v.decided_on for v in found))
    if one.status != HOLDS or len(found) == 1:
        return one
    tight = max((v.tightness for v in holding if v.tightness is not None), default=None)
    best = next(v for v in holding if v.tightness is tight)
    why = " ".join(dict.fromkeys(v.why for v in holding))
    return replace(one, why=why, tightness=tight, witness=best.witness)


def join_words(words: Iterable[str]) -> str:
    """Return words of several verdicts, each once."""
    return "; ".join(dict.fromkeys(filter(None, words)))


def qualify_dropped(verdict: Verdict, dropped: Mapping[Assumption, int]) -> Verdict:
    """Return the Verdict on a variant with the number of instances that violate each dropped
    hypothesis; a line that no instance refutes is undecided where none violates one of them."""
    if verdict.status != HOLDS or not dropped:
        return verdict
    if none := [hypothesis_text(a) for a, n in dropped.items() if not n]:
        missing = f"None that was looked at breaks what is not assumed any more: {'; '.join(none)}."
        return leave_open(verdict, f"{verdict.why} {missing}")
    counted = "; ".join(
        f"{n}{' or more' if n >= ENOUGH else ''} without: {hypothesis_text(a)}"
        for a, n in dropped.items()
    )
    return replace(
        verdict,
        why=f"{verdict.why} Some of them break what is not assumed any more.",
        searched=f"{verdict.searched}; among them {counted}",
    )


def leave_open(verdict: Verdict, why: str) -> Verdict:
    """Return a Verdict as undecided, with a reason."""
    return replace(verdict, status=UNDECIDED, tightness=None, witness=None, why=why)


def qualify_laws(verdict: Verdict, laws: Mapping[Assumption, int], case: Case) -> Verdict:
    """Return a Verdict with sentences on the probability laws that its claim does not mention; the
    Verdict is undecided where no instance violates one of these laws."""
    if verdict.status == VIOLATED:
        gone = [hypothesis_text(a) for a in violated_laws(verdict.certificate or {}, laws)]
        more = f" The instance does not meet what the claim does not assume: {'; '.join(gone)}."
        return replace(verdict, why=verdict.why + more) if gone else verdict
    if verdict.status != HOLDS or not laws:
        return verdict
    meant = frozenset().union(*(tacit(model, case.claim) for model in case.models))
    text = lambda chosen: "; ".join(hypothesis_text(a) for a, n in laws.items() if chosen(a, n))
    if read := text(lambda a, n: a.name in meant):
        first = f"It does not say so, and is read so: {read}."
        verdict = replace(verdict, notes=[first, *verdict.notes])
    if broken := text(lambda a, n: n):
        more = f"some of them break what the claim does not assume: {broken}"
        verdict = replace(verdict, searched=f"{verdict.searched}; {more}")
    if not (met := text(lambda a, n: not n and a.name not in meant)):
        return verdict
    why = f"Every instance that was looked at met what the claim does not assume: {met}."
    return leave_open(verdict, f"{why} {verdict.why}")


def add_given(verdict: Verdict, given: ev.Given) -> Verdict:
    """Return the Verdict of a search with the result of the user's instances, if the search found
    no violation."""
    if verdict.status != HOLDS or not given.says:
        return verdict
    verdict = replace(verdict, searched="; ".join(filter(None, (given.says, verdict.searched))))
    best = given.tightest
    if best is None or verdict.tightness is None or best.ratio <= verdict.tightness:
        return verdict
    tightness = Tightness(best.ratio, best.numbers)
    return replace(verdict, tightness=tightness, witness=best.witness)


def combine_lines(claim: Claim, lines: list[Verdict]) -> Verdict:
    """Return the Verdict on a statement from the Verdicts on all lines."""
    if len(lines) == 1:
        return replace(lines[0], claim=claim.id)
    worst = min(lines, key=lambda v: ORDER.index(v.status))
    proved = worst.status == PROVED
    documents = [v.certificate for v in lines]
    whole = dict(format="fedtheory proofs 1", claim=document_title(claim), lines=documents)
    return replace(
        worst,
        claim=claim.id,
        why=worst.why if proved else f"Line {lines.index(worst) + 1}: {worst.why}",
        tightness=max((v.tightness for v in lines if v.tightness is not None), default=None),
        cases=sum(v.cases for v in lines),
        certificate=whole if proved else worst.certificate,
        lines=lines,
        notes=[note for v in lines for note in v.notes],
        decided_on=worst.decided_on
        if worst.status == VIOLATED
        else join_words(v.decided_on for v in lines),
        searched=join_words(v.searched for v in lines),
    )


def combine_seeds(claim: Claim, found: list[Verdict]) -> Verdict:
    """Return the Verdict on a statement from searches by several seeds: the last, if it decides the
    statement; otherwise all of them, merged line by line."""
    if found[-1].status in FINAL:
        return found[-1]
    if len(found) == 1 or not all(v.searched or v.lines for v in found):
        return found[0]  # no part of this Verdict depends on a seed
    if not found[0].lines:
        return merge_models(found)
    proved = lambda each: next((v for v in each if v.status == PROVED), None)
    lines = [proved(each) or merge_models([*each]) for each in zip(*(v.lines for v in found))]
    return replace(combine_lines(claim, lines), notes=found[0].notes)


def note_contradiction(line: int, status: str) -> str:
    """Return the note on a user's instance against a proved line, or against a line of a vacuous
    claim."""
    return (
        f"An instance that was handed in refutes line {line + 1}, which is {status}: one of the two "
        "errs. That is a mistake of fedtheory, to be reported with the instance's document and the "
        "certificate."
    )
