"""Evidence on a claim's lines from instances that the user gives with the claim."""

from typing import NamedTuple

from fedtheory.proofs import algebra
from fedtheory.search import counterexample, optimizer
from fedtheory.search.witnesses import Found, ask_witnesses
from fedtheory.verdicts.verdict import Tightness, Verdict

# Seconds of a core, for an attempt to prove a line that an instance seems to refute.
PROOF = 0.05


class Tried(NamedTuple):
    """The result of evaluating the given instances on a line."""

    verdict: Verdict | None  # "violated", if one of the instances refutes the line
    best: Found | None  # the instance with the largest ratio
    says: str

    def beside(self, verdict):
        """Add the result to the Verdict of a search that found no violation."""
        if verdict.status != "holds" or not self.says:
            return
        verdict.searched = "; ".join(filter(None, (self.says, verdict.searched)))
        if self.best and verdict.tightness is not None and self.best.ratio > verdict.tightness:
            witness, numbers = self.best.witness, counterexample.texts(self.best.witness.numbers)
            verdict.tightness = Tightness(self.best.ratio, numbers)
            shown = (
                dict(instance=witness.instance) if witness.instance else dict(shape=witness.shape)
            )
            verdict.witness = dict(
                setting=witness.setting.name, **counterexample.texts(shown), numbers=numbers
            )


def try_witnesses(claim, at, witnesses):
    """Return the result, a Tried, of evaluating a line at the given instances."""
    found = [each for each, _ in ask_witnesses(claim, at, witnesses) if each is not None]
    says = f"{len(found)} of {len(witnesses)} instances that were handed in" if found else ""
    document = next((each for each in found if each.document), None)
    verdict = document and refuted_by(claim, document, says)
    rated = [each for each in found if each.ratio is not None and each.ratio <= 1]
    return Tried(verdict, max(rated, key=lambda each: each.ratio, default=None), says)


def refute_by_witness(claim, at, witnesses, seconds):
    """Return (the Verdict by the first given instance that refutes a line, the seconds spent),
    where the Verdict is None if no instance refutes the line or the line is proved. The seconds
    stay at about `seconds`."""
    work = 0.0
    for found, steps in ask_witnesses(claim, at, witnesses):
        work += steps
        if found is not None and found.document:
            if algebra.line(claim, at, budget=PROOF, refute=False):  # the instance is wrong
                break
            verdict = refuted_by(claim, found, "an instance that was found before")
            return verdict, work / optimizer.PER_SECOND
        if work > seconds * optimizer.PER_SECOND:
            break
    return None, work / optimizer.PER_SECOND


def refuted_by(claim, found, says):
    """Return the Verdict by a given instance at which a line fails."""
    setting, shown = found.witness.setting, found.document
    return Verdict(
        claim.id,
        "violated",
        setting.kind,
        f"It fails in {setting.says}: left {shown['left']}, right {shown['right']}.",
        found.ratio and Tightness(found.ratio, shown["numbers"]),
        1,
        1.0,
        dict(instance=shown["instance"], numbers=shown["numbers"]),
        shown,
        decided_on=setting.by,
        searched=says,
    )
