"""The explorer of a statement's perturbations, which `mutate`, `sharpen` and `minimise` share.

An explorer owns a budget, which each perturbation takes a share of, one pool of instances, and the
counterexamples that were found so far: what refutes one perturbation often refutes another.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from fedtheory.certificates import check_instance
from fedtheory.errors import InvalidInput, article, refuse
from fedtheory.language.claim import Claim
from fedtheory.search import optimizer, witnesses
from fedtheory.search.objective import Target
from fedtheory.search.optimizer import PER_SECOND, ShapeSearch
from fedtheory.search.witnesses import Witness
from fedtheory.verdicts import given_witnesses
from fedtheory.verdicts.exploration_parameters import PARAMETERS
from fedtheory.verdicts.instance_pool import Pool, Population
from fedtheory.verdicts.verdict import Verdict

Task = TypeVar("Task")
Found = TypeVar("Found")


class Account:
    """The work that one perturbation may take, and has taken, in units of PER_SECOND elementary
    steps."""

    def __init__(self, most: float) -> None:
        self.most, self.other = most, 0.0
        self.hunts: dict[ShapeSearch, None] = {}

    def charge(self, hunt: ShapeSearch) -> ShapeSearch:
        """Charge the work of a search to this account, and return the search."""
        self.hunts[hunt] = None
        return hunt

    @property
    def work_done(self) -> float:
        return self.other + sum(hunt.work for hunt in self.hunts) / PER_SECOND

    def unspent(self, share: float = 1.0) -> float:
        """Return the unspent part of a share of the budget."""
        return max(0.0, share * self.most - self.work_done)


class Climb(NamedTuple):
    """A generation of the optimisation from a population."""

    hunt: ShapeSearch
    ratio: float  # of the best point
    row: np.ndarray  # the best point
    before: float | None  # the ratio `patience` generations ago; None in the first generations


class Refutation(NamedTuple):
    """The Verdict by a counterexample that was found before, if any, and the work it took."""

    verdict: Verdict | None
    spent: float


class Explorer:
    """Decides the perturbations of one claim one after another. The pool of instances takes its
    shares of `budget`; all perturbations take what the pool leaves of `work`, in units of work."""

    def __init__(self, claim: Claim, budget: float, seed: int, work: float | None = None) -> None:
        self.claim, self.budget, self.seed = claim, budget, seed
        self.work = budget if work is None else work
        # Counterexamples to earlier perturbations, the latest first.
        self.known: tuple[Witness, ...] = ()

    @cached_property
    def pool(self) -> Pool:
        """The instances for the evaluation of every changed right side."""
        return Pool(self.claim, self.budget, self.seed)

    def explore(
        self,
        tasks: Sequence[Task],
        decide: Callable[[Task, float], tuple[Found, float]],
        weight: Callable[[Task], float] = lambda task: 1,
        progress: Callable[[int, int, Found], object] | None = None,
    ) -> list[Found]:
        """Return what `decide` finds of each task. `decide` maps a task and its share of the work
        that is left, in proportion to its weight, to what it finds and the work spent."""
        left, weights, found = self.work - self.pool.work / PER_SECOND, [*map(weight, tasks)], []
        for n, task in enumerate(tasks):
            one, spent = decide(task, max(0.0, left) * weights[n] / sum(weights[n:]))
            left -= spent
            found.append(one)
            if progress:
                progress(n + 1, len(tasks), one)
        return found

    def remember(self, document: dict | None) -> None:
        """Store a counterexample, which is tried first on the perturbations that follow."""
        if document is not None and document["format"] == check_instance.FORMAT:
            read = witnesses.read_witnesses([document])
            self.known = (*read, *self.known)[: PARAMETERS.remembered]

    def refute_by_known(self, claim: Claim, line: int, budget: float) -> Refutation:
        """Return the Refutation of a variant's line by an earlier counterexample."""
        share = PARAMETERS.known_share * budget
        return Refutation(*given_witnesses.refute_by_witness(claim, line, self.known, share))


def require_relations(claim: Claim, verb: str, words: str, relations: Sequence[str]) -> None:
    """Refuse a claim without a line with any of the relations."""
    if not any(line.relation in relations for line in claim.lines):
        raise InvalidInput(
            f"{verb} takes a claim with {words}; {claim.id} is {article(claim.kind)}"
        )


def require_choice(only: object, what: str) -> None:
    """Refuse anything but a function for picking parts or mutants."""
    if not callable(only):
        refuse("only", f"must be a function that picks {what}", only)


def climb(
    account: Account, population: Population, ratios: np.ndarray, target: Target, key: int = 0
) -> Iterator[Climb]:
    """Yield the generations of the optimisation of a target from a rated population."""
    own, reached = account.charge(population.at_target(target, key)), []
    start = population.fit_rows(own)[np.argsort(-ratios, kind="stable")][: optimizer.BATCH // 2]
    for ratio, row in own.climb_generations(PARAMETERS.generations, start):
        reached.append(ratio)
        patient = len(reached) > PARAMETERS.patience
        yield Climb(own, ratio, row, reached[-PARAMETERS.patience] if patient else None)
