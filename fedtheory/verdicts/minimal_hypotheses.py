"""`minimise`: a test of which hypotheses a claim needs, by dropping the hypotheses one at a time.

A hypothesis is needed if the claim without this hypothesis has a counterexample. The counterexample
is stored with its certificate. The hypotheses that seem not to be needed are then dropped together,
as far as the claim still stands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fedtheory import arguments, discover
from fedtheory.errors import refuse
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Assumption
from fedtheory.verdicts.exploration import Explorer
from fedtheory.verdicts.exploration_parameters import PARAMETERS
from fedtheory.verdicts.perturbations import list_hypotheses, without_hypotheses
from fedtheory.verdicts.pipeline import as_meant
from fedtheory.verdicts.status import HOLDS, STANDS, UNDECIDED, VIOLATED
from fedtheory.verdicts.verdict import Verdict

WORDS = {"needed": "needed", "not needed": "seems not to be needed", "unknown": "cannot be judged"}


class Dropped(NamedTuple):
    """A hypothesis, and what the claim without this hypothesis says of the hypothesis."""

    hypothesis: Assumption
    found: str  # "needed", "not needed" or "unknown"
    verdict: Verdict


@dataclass
class Minimised:
    """The result of `minimise`.

    `needed`, `not_needed` and `unknown` list the hypotheses by what was found of each. `final` is
    None where the claim does not stand with all hypotheses, and then no hypothesis was dropped.
    """

    claim: str
    verdict: Verdict  # on the claim with all hypotheses
    rows: list[Dropped]  # one for each hypothesis
    # the smallest set of hypotheses found under which the claim stands
    smallest: list[Assumption] = field(default_factory=list)
    final: Verdict | None = None  # on the claim under the smallest set

    def of(self, kind: str) -> list[Assumption]:
        """Return the hypotheses of which this was found."""
        return [row.hypothesis for row in self.rows if row.found == kind]

    needed = property(lambda self: self.of("needed"))
    not_needed = property(lambda self: self.of("not needed"))
    unknown = property(lambda self: self.of("unknown"))

    def as_dict(self) -> dict:
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

    def __str__(self) -> str:
        if self.final is None:
            return f"{self.verdict}\nIts hypotheses are not dropped: it does not stand with all of them."
        lines = [f"{self.claim}: {self.verdict.status} with all hypotheses."]
        lines += [
            f"  {WORDS[found]}: {assumption}. Without it: {verdict.status}. {verdict.why}"
            for assumption, found, verdict in self.rows
        ]
        kept = "; ".join(map(str, self.smallest)) or "none"
        return "\n".join([*lines, f"The smallest set found ({self.final.status}): {kept}."])


def minimise(
    claim: Claim | str,
    budget: float = 60.0,
    seed: int = 0,
    progress: Callable[[Verdict], Any] | None = None,
) -> Minimised:
    """Drop the hypotheses of a claim one at a time, and return which of them the claim needs.

    A hypothesis is needed if a counterexample refutes the claim without this hypothesis. The others
    are then dropped together, as far as the claim still stands. `budget` is in seconds of one core
    for all checks together: a first share decides every hypothesis briefly, a second share goes to
    the undecided hypotheses, the rest to the joint drop. `progress` is called with each Verdict.

    The Minimised has a Dropped per hypothesis ("needed", "not needed" or "unknown", with the
    Verdict that says so), and the smallest set of hypotheses found. "not needed" is evidence by
    search unless the Verdict is a proof. No hypothesis is dropped from a claim that does not stand
    with all of them. Raises InvalidInput for a claim without lines, and for a `progress` that is
    not callable.

    >>> import fedtheory as ft
    >>> found = ft.minimise("fsl.h_lower", budget=2)
    >>> found.claim
    'fsl.h_lower'
    """
    budget, seed = arguments.check_budget(budget), arguments.check_seed(seed)
    asked = discover.claim(claim)
    if progress is not None and not callable(progress):
        refuse("progress", "must be a function of a Verdict", progress)
    if not asked.lines:
        refuse("claim", "must have lines", asked.id)
    explorer, every = Explorer(asked, budget, seed), list_hypotheses(asked)

    def judge(dropped: Sequence[Assumption], seconds: float) -> Verdict:
        """Return the Verdict on the claim without some hypotheses."""
        names = ", ".join(a.name for a in dropped)
        variant = without_hypotheses(asked, dropped, f"!without {names}" if names else "")
        verdict = as_meant(variant, seconds, seed, witnesses=explorer.known)
        if verdict.status == VIOLATED:
            explorer.remember(verdict.certificate)
        if progress:
            progress(verdict)
        return verdict

    first = budget * PARAMETERS.first_share / (1 + len(every))
    base = judge([], first)
    if base.status not in STANDS:
        return Minimised(asked.id, base, [])
    verdicts = {a: judge([a], first) for a in every}
    open_ = [a for a, verdict in verdicts.items() if verdict.status in (HOLDS, UNDECIDED)]
    for assumption in open_:  # the time of hypotheses decided early goes to the others
        verdicts[assumption] = judge([assumption], budget * PARAMETERS.second_share / len(open_))
    rows = [Dropped(a, hypothesis_status(v), v) for a, v in verdicts.items()]
    record = Minimised(asked.id, base, rows)
    rest = budget * (1 - PARAMETERS.first_share - PARAMETERS.second_share)
    last = rest / (1 + len(record.not_needed))
    dropped, record.final = drop_together(
        record.not_needed, lambda dropped: judge(dropped, last), base
    )
    record.smallest = [a for a in every if a not in dropped]
    return record


def hypothesis_status(verdict: Verdict) -> str:
    """Return what a Verdict without a hypothesis says of that hypothesis: "needed", "not needed" or
    "unknown"."""
    if verdict.status == VIOLATED:
        return "needed"
    return "not needed" if verdict.status in STANDS else "unknown"


def drop_together(
    candidates: list[Assumption], judge: Callable[[list[Assumption]], Verdict], verdict: Verdict
) -> tuple[list[Assumption], Verdict]:
    """Return (hypotheses that are dropped, Verdict without these): all candidates at once if the
    claim still stands, otherwise as many as possible one after another."""
    if not candidates:
        return [], verdict
    at_once = judge(candidates)
    if at_once.status in STANDS:
        return candidates, at_once
    dropped: list[Assumption] = []
    for candidate in candidates:
        found = judge([*dropped, candidate])
        if found.status in STANDS:
            dropped, verdict = [*dropped, candidate], found
    return dropped, verdict
