"""`minimise`: a test of which hypotheses a claim needs, by dropping the hypotheses one at a time.

A hypothesis is needed if the claim without this hypothesis has a counterexample. The counterexample
is stored with its certificate. The hypotheses that seem not to be needed are then dropped together,
as far as the claim still stands.
"""

from dataclasses import dataclass, field

from fedtheory import arguments, discover
from fedtheory.certificates import check_instance
from fedtheory.errors import refuse
from fedtheory.search import witnesses
from fedtheory.verdicts.pipeline import as_meant
from fedtheory.verdicts.verdict import Verdict

STANDS = ("proved", "holds")
# Both are shares of the budget. FIRST: for a first check without each hypothesis. SECOND: for a
# second check without each hypothesis that the first check left open.
FIRST, SECOND = 0.25, 0.5
WORDS = {"needed": "needed", "not needed": "seems not to be needed", "unknown": "cannot be judged"}


@dataclass
class Minimised:
    claim: str
    verdict: Verdict  # on the claim with all hypotheses
    rows: list  # one (Assumption, "needed" | "not needed" | "unknown", Verdict) per hypothesis
    smallest: list = field(
        default_factory=list
    )  # the Assumptions of the smallest set found under which the claim stands
    final: Verdict | None = None  # on the claim under these Assumptions

    def of(self, kind):
        return [assumption for assumption, found, _ in self.rows if found == kind]

    needed = property(lambda self: self.of("needed"))
    not_needed = property(lambda self: self.of("not needed"))
    unknown = property(lambda self: self.of("unknown"))

    def as_dict(self):
        return dict(
            claim=self.claim,
            verdict=self.verdict.as_dict(),
            hypotheses=[
                dict(hypothesis=str(a), name=a.name, found=found, dropped=verdict.as_dict())
                for a, found, verdict in self.rows
            ],
            smallest=[str(a) for a in self.smallest],
            final=self.final and self.final.as_dict(),
        )

    def __str__(self):
        if not self.rows:
            return f"{self.verdict}\nIts hypotheses are not dropped: it does not stand with all of them."
        lines = [f"{self.claim}: {self.verdict.status} with all hypotheses."]
        lines += [
            f"  {WORDS[found]}: {assumption}. Without it: {verdict.status}. {verdict.why}"
            for assumption, found, verdict in self.rows
        ]
        kept = "; ".join(map(str, self.smallest)) or "none"
        return "\n".join([*lines, f"The smallest set found ({self.final.status}): {kept}."])


def minimise(claim, budget=60.0, seed=0, progress=None):
    """Return the Minimised record of a claim, or of an id; `budget` is in seconds of one core for
    all checks together.

    >>> import fedtheory as ft
    >>> found = ft.minimise("fsl.h_lower", budget=2)
    >>> found.claim
    'fsl.h_lower'
    """
    budget, seed = arguments.check_budget(budget), arguments.check_seed(seed)
    claim = discover.claim(claim)
    if progress is not None and not callable(progress):
        refuse("progress", "must be a function of a Verdict", progress)
    if not claim.lines:
        refuse("claim", "must have lines", claim.id)
    all_of_them = [*claim.assumes, *claim.unstated]
    first = budget * FIRST / (1 + len(all_of_them))

    known = []  # counterexamples without some hypothesis; they are tried first without others

    def judged(kept, seconds):
        """Return the Verdict on the claim under the hypotheses `kept` alone."""
        lacking = [a.name for a in all_of_them if a not in kept]
        name = claim.called(f"!without {', '.join(lacking)}" if lacking else "")
        verdict = as_meant(claim.under(kept, name), seconds, seed, witnesses=known)
        if verdict.status == "violated" and verdict.certificate["format"] == check_instance.FORMAT:
            known[:] = [*witnesses.read_witnesses([verdict.certificate]), *known][: witnesses.MOST]
        if progress:
            progress(verdict)
        return verdict

    base = judged(all_of_them, first)
    if base.status not in STANDS:
        return Minimised(claim.id, base, [])
    without = lambda assumption: [a for a in all_of_them if a is not assumption]
    verdicts = {a: judged(without(a), first) for a in all_of_them}
    open_ = [a for a, verdict in verdicts.items() if verdict.status in ("holds", "undecided")]
    for assumption in open_:  # the time of hypotheses decided early goes to the others
        verdicts[assumption] = judged(without(assumption), budget * SECOND / len(open_))
    record = Minimised(claim.id, base, [(a, hypothesis_status(v), v) for a, v in verdicts.items()])
    last = budget * (1 - FIRST - SECOND) / (1 + len(record.not_needed))
    record.smallest, record.final = dropped_together(
        all_of_them, record.not_needed, lambda kept: judged(kept, last), base
    )
    return record


def hypothesis_status(verdict):
    """Return what a Verdict without a hypothesis says of that hypothesis: "needed", "not needed" or
    "unknown"."""
    if verdict.status == "violated":
        return "needed"
    return "not needed" if verdict.status in STANDS else "unknown"


def dropped_together(kept, candidates, judged, verdict):
    """Return (hypotheses, Verdict) after dropping all candidates at once if the claim still stands,
    otherwise one after another."""
    if not candidates:
        return kept, verdict
    fewest = [a for a in kept if a not in candidates]
    at_once = judged(fewest)
    if at_once.status in STANDS:
        return fewest, at_once
    for candidate in candidates:
        fewer = [a for a in kept if a is not candidate]
        found = judged(fewer)
        if found.status in STANDS:
            kept, verdict = fewer, found
    return kept, verdict
