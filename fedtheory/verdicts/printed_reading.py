"""The statement as printed, with only the hypotheses that its text states, and, where these do not
suffice, the unstated hypotheses that the statement needs.

A claim is first judged as meant, with the hypotheses that only its proof uses. It is then judged
without all of these hypotheses and, where the two verdicts differ, without one of them at a time. A
verdict with fewer hypotheses rests on instances that break the omitted hypotheses, which
`verdicts.dropped_hypotheses` counts. An instance that refutes one reading is also evaluated for the
other readings, so that it is searched only once.
"""

from dataclasses import replace

from fedtheory.certificates import check_family, check_instance
from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Assumption
from fedtheory.models import by_name
from fedtheory.search import counterexample, divergent_families
from fedtheory.verdicts import dropped_hypotheses
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.combination import conclude
from fedtheory.verdicts.decision import decide
from fedtheory.verdicts.evidence import Counterexample, Evidence, Family, Gap
from fedtheory.verdicts.status import PROVED, STANDS, VACUOUS, VIOLATED
from fedtheory.verdicts.verdict import Removal, Verdict

# SHARE: a multiple of the budget, on top of the budget, for all readings with fewer hypotheses.
# Half of it is for the reading without any unstated hypothesis. The other half is divided among up
# to five readings that lack one hypothesis: with less than a tenth of the budget each, a search no
# longer showed which hypotheses are needed. LEAST: seconds; below this budget, no reading is
# searched.
SHARE, LEAST = 1.0, 1.0
SHORT = f"It is searched as printed from a budget of {LEAST:g} s on."


def add_readings(case: Case, verdict: Verdict) -> Verdict:
    """Return the Verdict on a case with the Verdict on the statement as printed, and the unstated
    hypotheses that save the statement."""
    claim, share = case.claim, SHARE * case.budget
    if not claim.unstated:
        return verdict
    # An instance that meets all hypotheses also meets fewer hypotheses.
    printed = reuse_counterexample(claim, verdict, claim.as_printed)
    if printed is None and case.budget < LEAST:
        printed = small_budget_reading(claim.as_printed, verdict.kind)
    if printed is not None:
        return replace(verdict, as_printed=printed)
    # If algebra proves nothing with more hypotheses, it proves nothing with fewer.
    fewer = replace(case, proofs=verdict.status in (PROVED, VACUOUS))
    if verdict.status in (VIOLATED, VACUOUS):
        return replace(verdict, as_printed=decide(fewer.of_reading(claim.as_printed, share)))
    return search_printed(fewer, verdict, share)


def small_budget_reading(reading: Claim, kind: str) -> Verdict:
    """Return the Verdict on a reading beyond the budget."""
    return conclude(reading.id, Gap(says=SHORT, kind=kind))


def search_printed(case: Case, verdict: Verdict, share: float) -> Verdict:
    """Return the Verdict on a claim that is not refuted as meant, with the result of a search for
    violations of the printed statement, and with the unstated hypotheses that save the statement."""
    claim = case.claim
    share /= 2 if len(claim.unstated) > 1 else 1
    reading = case.of_reading(claim.as_printed, share)
    broken, printed = breakable_hypotheses(reading), None
    if broken or not claim.lines:
        printed = decide(reading)
    if printed is None or not broken and printed.status != VIOLATED:
        printed = unbroken_reading(claim.as_printed, verdict)
    verdict = replace(verdict, as_printed=printed)
    if same_conclusion(verdict.status, printed.status):
        return verdict
    return add_removals(case, verdict, broken, share / max(1, len(broken)))


def add_removals(case: Case, verdict: Verdict, broken: set[Assumption], budget: float) -> Verdict:
    """Return a Verdict with its Removals: the Verdicts on the statement without each unstated
    hypothesis alone. Readings without a hypothesis in `broken` are searched with this budget."""
    claim, printed, removals = case.claim, verdict.printed, []
    for hypothesis, reading in claim.lacking.items():
        if reading is claim.as_printed:
            found = printed
        elif hypothesis not in broken:
            found = unbroken_reading(reading, verdict)
        else:
            known = reuse_counterexample(claim.as_printed, printed, reading)
            found = known or decide(case.of_reading(reading, budget))
        removals.append(Removal(hypothesis.name, str(hypothesis), found))
    if printed.status != VIOLATED:
        refuted = (
            reuse_counterexample(reading, removal.verdict, claim.as_printed)
            for reading, removal in zip(claim.lacking.values(), removals)
        )
        printed = next(filter(None, refuted), printed)
    return replace(verdict, as_printed=printed, removals=removals)


def breakable_hypotheses(case: Case) -> set[Assumption]:
    """Return the missing hypotheses of a reading for which a drawn instance violates the
    hypothesis, or for which no violation is needed. The result is empty for a structure, which has
    no lines."""
    reading = case.claim
    if not reading.lines:
        return set()
    needed = dropped_hypotheses.relevant_hypotheses(reading, 1.0)
    found = {a for a in reading.dropped if a not in needed}
    lines = [at for at, (_, sign, _) in enumerate(reading.lines) if sign != "O"]
    if not lines:
        return set(reading.dropped)
    for model in case.models:
        if left := [a for a in needed if a not in found]:
            found |= dropped_hypotheses.breakable_hypotheses(
                reading, lines[0], model, left, case.seed
            )
    return found


def unbroken_reading(reading: Claim, like: Verdict) -> Verdict:
    """Return the Verdict on a reading of which no drawn instance violates the missing hypotheses."""
    none = "; ".join(dropped_hypotheses.hypothesis_text(a) for a in reading.dropped)
    says = f"Nothing that is drawn here breaks what is not assumed any more: {none}."
    return conclude(reading.id, Gap(says=says, kind=like.kind))


def same_conclusion(one: str, other: str) -> bool:
    """Tell whether two statuses agree on whether a statement stands."""
    return one == other or {one, other} <= set(STANDS)


def reuse_counterexample(claim: Claim, verdict: Verdict, other: Claim) -> Verdict | None:
    """Return the Verdict on another reading of a claim by the instance that refutes this reading;
    None where that instance violates the other reading's hypotheses, or no instance refutes the
    claim."""
    if verdict.status != VIOLATED or verdict.certificate is None:
        return None
    try:
        found = restate_evidence(verdict.certificate, claim, verdict, other)
    except Refused:  # equations of one reading fix a free symbol of the other
        return None
    return conclude(other.id, found) if found else None


def restate_evidence(
    document: dict, claim: Claim, verdict: Verdict, other: Claim
) -> Evidence | None:
    """Return the document of what refutes a claim, as evidence against another reading of the claim; None where it
    does not refute this reading."""
    cases = verdict.cases
    if document["format"] == check_family.FORMAT:
        family = divergent_families.restate_family(document, claim, other)
        if not family:
            return None
        model = by_name(family["members"][0]["setting"])
        growth = (verdict.witness or {})["growth"]
        return Family(model=model, document=family, growth=growth, cases=cases)
    if document["format"] != check_instance.FORMAT:
        return None
    found = counterexample.restate_counterexample(document, claim, other)
    if not found:
        return None
    restated, ratio = found
    model, searched = by_name(restated["setting"]), verdict.searched
    return Counterexample(
        model=model, document=restated, ratio=ratio, cases=cases, searched=searched
    )
