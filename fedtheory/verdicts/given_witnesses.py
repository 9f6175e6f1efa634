"""Evidence on a claim's lines from instances that the user gives with the claim."""

from fedtheory.language.claim import Claim
from fedtheory.models.instances import texts
from fedtheory.proofs import algebra
from fedtheory.search import optimizer
from fedtheory.search.witnesses import ConfirmedWitness, Witness, ask_witnesses
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.combination import conclude
from fedtheory.verdicts.evidence import Counterexample, Given, Tightest
from fedtheory.verdicts.verdict import Verdict

# Seconds of a core, for an attempt to prove a line that an instance seems to refute.
PROOF = 0.05


def try_witnesses(case: Case) -> Given:
    """Return the result of evaluating a line at the user's instances.

    The Given has the counterexample of the first instance with a refuting document, and the largest
    ratio of at most 1 among the other instances.
    """
    asked = ask_witnesses(case.claim, case.line, case.witnesses, case.models)
    found = [each for each, _ in asked if each is not None]
    says = f"{len(found)} of {len(case.witnesses)} instances that were handed in" if found else ""
    refuting = next((each for each in found if each.document), None)
    rated = [each for each in found if each.ratio is not None and each.ratio <= 1]
    best = max(rated, key=lambda each: each.ratio, default=None)
    return Given(refuting and counterexample_at(refuting, says), best and tightest_at(best), says)


def tightest_at(found: ConfirmedWitness) -> Tightest:
    """Return the ratio at a given instance."""
    given, numbers, ratio = found.witness, texts(found.witness.numbers), found.ratio or 0.0
    there = dict(instance=given.instance) if given.shape is None else dict(shape=given.shape)
    witness = dict(setting=given.setting.name, **texts(there), numbers=numbers)
    return Tightest(ratio, numbers, witness)


def counterexample_at(found: ConfirmedWitness, says: str) -> Counterexample | None:
    """Return the counterexample at a given instance; None where the line does not fail there."""
    model, document = found.witness.setting, found.document
    if not document:
        return None
    return Counterexample(model=model, document=document, ratio=found.ratio, cases=1, searched=says)


def refute_by_witness(
    claim: Claim, at: int, witnesses: tuple[Witness, ...], seconds: float
) -> tuple[Verdict | None, float]:
    """Return (the Verdict by the first given instance that refutes a line, the seconds spent),
    where the Verdict is None if no instance refutes the line or the line is proved. The seconds
    stay at about `seconds`."""
    work = 0.0
    for found, steps in ask_witnesses(claim, at, witnesses):
        work += steps
        refuting = found and counterexample_at(found, "an instance that was found before")
        if refuting:
            if algebra.prove_line(claim, at, budget=PROOF, refute=False):  # the instance is wrong
                break
            return conclude(claim.id, refuting), work / optimizer.PER_SECOND
        if work > seconds * optimizer.PER_SECOND:
            break
    return None, work / optimizer.PER_SECOND
