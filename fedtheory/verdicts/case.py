"""A case: what a strategy is asked, with everything that it may use."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

from fedtheory.language.claim import Claim
from fedtheory.models import Model, fitting
from fedtheory.search.witnesses import Witness


@dataclass(frozen=True)
class Case:
    """A claim under one reading, or one line of the claim, with everything that its decision may
    use.

    A Case holds no result. Its models are found once, when the case is made, so that the proof, the
    search and the user's witnesses all see the same models.
    """

    claim: Claim
    budget: float  # units of work, in seconds of the machine on which work is counted
    seed: int
    models: tuple[Model, ...]  # the models in which the claim can be decided
    line: int = 0  # the line that is asked, for strategies that decide a line
    proofs: bool = True  # whether proofs by algebra are sought
    witnesses: tuple[Witness, ...] = ()  # instances that are evaluated before any search
    progress: Callable | None = None
    seeds: int = 1  # searches, by as many seeds from `seed` on
    executor: Executor | str | None = None  # runs the searches of several seeds

    @classmethod
    def of(cls, claim: Claim, budget: float, seed: int = 0, **more: Any) -> "Case":
        """Return the case of a claim; refuse a run whose method the claim does not name."""
        models = tuple(fitting(claim)) if claim.lines else ()
        return cls(claim, budget, seed, models, **more)

    def of_line(self, line: int, budget: float) -> "Case":
        """Return the case of a single line."""
        return replace(self, line=line, budget=budget)

    def of_reading(self, claim: Claim, budget: float) -> "Case":
        """Return the case of the claim under another reading, without progress and, where algebra
        cannot prove more, without proofs."""
        return Case.of(
            claim,
            budget,
            self.seed,
            proofs=self.proofs,
            witnesses=self.witnesses,
            seeds=self.seeds,
            executor=self.executor,
        )
