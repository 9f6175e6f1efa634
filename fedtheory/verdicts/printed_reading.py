"""The statement as printed, with only the hypotheses that its text states, and, where these do not
suffice, the unstated hypotheses that the statement needs.

A claim is first judged as meant, with the hypotheses that only its proof uses. It is then judged
without all of these hypotheses and, where the two verdicts differ, without one of them at a time. A
verdict with fewer hypotheses rests on instances that break the omitted hypotheses, which
`verdicts.dropped_hypotheses` counts. An instance that refutes one reading is also evaluated for the
other readings, so that it is searched only once.
"""

from functools import partial

from fedtheory.certificates import check_family, check_instance
from fedtheory.certificates.check_proof import Refused
from fedtheory.models import by_name, fitting
from fedtheory.search import counterexample, divergent_families
from fedtheory.verdicts import dropped_hypotheses
from fedtheory.verdicts.verdict import Removal, Tightness, Verdict

# SHARE: a multiple of the budget, on top of the budget, for all readings with fewer hypotheses.
# Half of it is for the reading without any unstated hypothesis. The other half is divided among up
# to five readings that lack one hypothesis: with less than a tenth of the budget each, a search no
# longer showed which hypotheses are needed. LEAST: seconds; below this budget, no reading is
# searched.
SHARE, LEAST = 1.0, 1.0
STANDS = ("proved", "holds")
SHORT = f"It is searched as printed from a budget of {LEAST:g} s on."


def judge_printed(claim, verdict, budget, seed, decide):
    """Set the part of a Verdict that concerns the statement as printed; `decide` returns a Verdict
    as meant."""
    if not claim.unstated:
        return
    printed, share = claim.as_printed, SHARE * budget
    # An instance that meets all hypotheses also meets fewer hypotheses.
    verdict.as_printed = reuse_counterexample(claim, verdict, printed)
    if verdict.as_printed is not None:
        return
    if budget < LEAST:
        verdict.as_printed = small_budget_reading(printed, verdict.kind)
        return
    # If algebra proves nothing with more hypotheses, it proves nothing with fewer.
    proofs = verdict.status in ("proved", "vacuous")
    decided = partial(decide, proofs=proofs)
    if verdict.status in ("violated", "vacuous"):
        verdict.as_printed = decided(printed, share, seed)
    else:
        search_printed(claim, verdict, share, seed, decided)


def small_budget_reading(reading, kind):
    """Return the Verdict on a reading for which the budget is too small."""
    return Verdict(reading.id, "undecided", kind, SHORT)


def search_printed(claim, verdict, share, seed, decide):
    """Search for violations of the printed statement of a claim that is not refuted as meant, and
    set which unstated hypotheses save the statement."""
    printed = claim.as_printed
    broken = breakable_hypotheses(printed, seed)
    share /= 2 if len(claim.unstated) > 1 else 1
    if broken or not claim.lines:
        verdict.as_printed = decide(printed, share, seed)
    if not broken and verdict.printed.status != "violated":
        verdict.as_printed = undecided_reading(printed, verdict)
    if not same_conclusion(verdict, verdict.as_printed):
        set_removals(claim, verdict, broken, share / max(1, len(broken)), seed, decide)


def set_removals(claim, verdict, broken, budget, seed, decide):
    """Set the Removals of a Verdict: the verdicts on its statement without each unstated hypothesis
    alone. Readings without a hypothesis in `broken` are searched with this budget."""
    printed = claim.as_printed
    for hypothesis, reading in claim.lacking.items():
        if reading is printed:
            found = verdict.as_printed
        elif hypothesis not in broken:
            found = undecided_reading(reading, verdict)
        else:
            found = reuse_counterexample(printed, verdict.as_printed, reading) or decide(
                reading, budget, seed
            )
        verdict.removals.append(Removal(hypothesis.name, str(hypothesis), found))
    if verdict.as_printed.status != "violated":
        refuted = (
            reuse_counterexample(reading, removal.verdict, printed)
            for reading, removal in zip(claim.lacking.values(), verdict.removals)
        )
        verdict.as_printed = next(filter(None, refuted), verdict.as_printed)


def breakable_hypotheses(reading, seed):
    """Return the missing hypotheses of a reading for which a drawn instance violates the
    hypothesis, or for which no violation is needed. The result is empty for a structure, which has
    no lines."""
    if not reading.lines:
        return set()
    telling = dropped_hypotheses.relevant_hypotheses(reading, 1.0)
    found = {a for a in reading.dropped if a not in telling}
    lines = [at for at, (_, sign, _) in enumerate(reading.lines) if sign != "O"]
    if not lines:
        return set(reading.dropped)
    for setting in fitting(reading):
        if left := [a for a in telling if a not in found]:
            found |= dropped_hypotheses.breakable_hypotheses(reading, lines[0], setting, left, seed)
    return found


def undecided_reading(reading, like):
    """Return the Verdict "undecided" on a reading of which no drawn instance violates the missing
    hypotheses."""
    none = "; ".join(dropped_hypotheses.hypothesis_text(a) for a in reading.dropped)
    return Verdict(
        reading.id,
        "undecided",
        like.kind,
        f"Nothing that is drawn here breaks what is not assumed any more: {none}.",
    )


def same_conclusion(one, other):
    """Tell whether two Verdicts agree on whether a statement stands."""
    return one.status == other.status or {one.status, other.status} <= set(STANDS)


def reuse_counterexample(claim, verdict, other):
    """Return the Verdict on another reading of a claim by the instance that refutes this reading;
    None where that instance violates the other reading's hypotheses, or no instance refutes the
    claim."""
    document = verdict.certificate
    if verdict.status != "violated":
        return None
    try:
        if document["format"] == check_family.FORMAT:
            family = divergent_families.restate_family(document, claim, other)
            return family and refute_by_family(other, family, verdict)
        if document["format"] != check_instance.FORMAT:
            return None
        found = counterexample.restate_counterexample(document, claim, other)
    except Refused:  # equations of one reading fix a free symbol of the other
        return None
    return found and verdict_by_document(other, *found, verdict)


def refute_by_family(claim, document, like):
    """Return the Verdict by a family of instances that refutes another reading of a claim and grows
    in the same way."""
    witness = dict(like.witness, first=document["members"][0]["values"])
    return Verdict(
        claim.id, "violated", like.kind, like.why, None, like.cases, 1.0, witness, document
    )


def verdict_by_document(claim, document, ratio, like):
    """Return the Verdict by a document, with what was searched until the document was found."""
    setting = by_name(document["setting"])
    return Verdict(
        claim.id,
        "violated",
        setting.kind,
        f"It fails in {setting.says}: left {document['left']}, right {document['right']}.",
        ratio and Tightness(ratio, document["numbers"]),
        like.cases,
        1.0,
        dict(instance=document["instance"], numbers=document["numbers"]),
        document,
        decided_on=like.decided_on,
        searched=like.searched,
    )
