"""Mutation testing of the checker: which mutants of a statement the checker refutes.

A killed mutant shows that the statement needs the changed part. A surviving mutant is evidence of
slack. A mutant that the statement provably implies is not wrong, and is not counted.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import sympy

from fedtheory import arguments, discover, terminal
from fedtheory.display import Shown
from fedtheory.language.claim import Claim
from fedtheory.models import fitting
from fedtheory.parallel import executors
from fedtheory.proofs import algebra
from fedtheory.search import optimizer, scheduler
from fedtheory.search.objective import Target
from fedtheory.search.optimizer import ShapeSearch
from fedtheory.verdicts import confirmation, dropped_hypotheses
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.combination import conclude
from fedtheory.verdicts.decision import decide_line
from fedtheory.verdicts.evidence import Implication, Trial
from fedtheory.verdicts.exploration import (
    Account,
    Explorer,
    climb,
    require_choice,
    require_relations,
)
from fedtheory.verdicts.exploration_parameters import PARAMETERS
from fedtheory.verdicts.instance_pool import Pool, RatedPopulation
from fedtheory.verdicts.perturbations import INEQUALITIES, Perturbation, list_mutants
from fedtheory.verdicts.status import VIOLATED
from fedtheory.verdicts.verdict import Verdict

HYPOTHESES = "condition", "ceiling"  # changed parts that belong to the hypotheses


@dataclass(repr=False)
class Mutant(Perturbation, Shown):
    """A perturbation that the checker tests.

    A mutant has one of four fates: killed by an exact counterexample, implied by the statement,
    unasked because no instance could refute it, or surviving, which is evidence of slack.
    """

    killed: bool = False
    implied: bool = False  # the statement implies it
    # Whether any instance could refute the mutant. None could if nothing measures the mutant, if
    # the mutant demands no more than the statement, or if no instance breaks the dropped
    # hypothesis.
    asked: bool = True
    verdict: Verdict | None = None

    def heading(self) -> str:
        return f"Mutant {self.change}"

    def facts(self) -> dict[str, str]:
        said = "refuted" if self.killed else "implied" if self.implied else "not refuted"
        why = {} if self.verdict is None else dict(why=self.verdict.why)
        return dict(it_is=said, claim=str(self.claim)) | why

    @property
    def of_bound(self) -> bool:
        """Whether the change is in a right side, and not in a hypothesis."""
        return self.at[0] not in HYPOTHESES

    @property
    def counts(self) -> bool:
        """Whether the mutant could be checked and is not implied."""
        return self.asked and not self.implied

    @property
    def witness(self) -> dict | None:
        """Return the instance that refutes the mutant, None for a mutant that was not killed."""
        return self.verdict.witness if self.killed and self.verdict else None

    def __str__(self) -> str:
        state = "implied" if self.implied else "killed" if self.killed else "survives"
        return f"{state if self.asked else 'unasked':9s}{self.change}"

    def as_dict(self) -> dict:
        names = ("killed", "implied", "asked", "witness")
        found = {name: getattr(self, name) for name in names}
        return dict(change=self.change, line=self.line, about=list(self.at), **found)


@dataclass(repr=False)
class Mutation(Shown):
    """The result of `mutate`: `mutants` holds one Mutant for each change."""

    claim: str
    mutants: list[Mutant] = field(default_factory=list)

    @property
    def score(self) -> float | None:
        """Return the share of mutants killed, among the mutants that could be checked and that the
        statement does not imply; None where there are none."""
        counted = [m for m in self.mutants if m.counts]
        return sum(m.killed for m in counted) / len(counted) if counted else None

    @property
    def survivors(self) -> list[Mutant]:
        """Return the mutants that could be checked, are not implied and were not refuted."""
        return [m for m in self.mutants if m.counts and not m.killed]

    def __str__(self) -> str:
        share = "no mutants"
        if self.score is not None:
            share = f"{self.score:.0%} of its false relatives refuted"
        return "\n".join([f"{self.claim}: {share}", *map(str, self.mutants)])

    def heading(self) -> str:
        return f"Mutants of {self.claim}"

    def facts(self) -> dict[str, str]:
        share = "none asked" if self.score is None else f"{self.score:.0%}"
        rest = "\n".join(mutant.change for mutant in self.survivors)
        return {"refuted": share, "mutants": str(len(self.mutants))} | (
            {"not refuted": rest} if rest else {}
        )

    def as_dict(self) -> dict:
        mutants = [mutant.as_dict() for mutant in self.mutants]
        return dict(claim=self.claim, score=self.score, mutants=mutants)


def mutate(
    claim: Claim | str,
    budget: float = 60.0,
    seed: int = 0,
    progress: Callable | bool | None = None,
    only: Callable[[Perturbation], bool] = lambda mutant: True,
    executor: Executor | str | None = None,
    seeds: int = 1,
) -> Mutation:
    """Change a claim in many small ways, and return which of the changed claims are refuted.

    A change drops or halves a term, changes an exponent, swaps two symbols, or drops or widens a
    hypothesis. If the changed claim is refuted, the claim needs the part as it is; otherwise the
    part may have slack. `budget` is in seconds of one core for all mutants together, counted as
    work; changes of terms and conditions get a larger share.

    `only` selects the mutants. `progress=True` shows the progress. With `seeds` above 1, all of
    these mutants are tested once per seed, from `seed` on, each time with the whole budget; a
    mutant is killed if one seed kills it. `executor` runs the tests, as for `check`, and never
    changes the result.

    The Mutation has a Mutant per change, and `score`, the share killed among the mutants that could
    be checked and that the statement does not imply; None without any. Raises InvalidInput for a
    claim that is no inequality or equation, and for an `only` that is not callable.

    >>> import fedtheory as ft
    >>> found = ft.mutate("fsl.h_lower", budget=2)
    >>> 0 <= found.score <= 1
    True
    """
    budget, seed = arguments.check_budget(budget), arguments.check_seed(seed)
    seeds = arguments.check_integer("seeds", seeds, 1)
    executors.executor_factory(executor)
    asked = discover.claim(claim)
    said = terminal.progress_callback(progress, f"mutants of {asked.id}")
    require_relations(asked, "mutate", "an inequality or an equation", (*INEQUALITIES, "=="))
    require_choice(only, "mutants")
    changes = [mutant.change for mutant in list_mutants(asked) if only(mutant)]
    if executor is None and seeds == 1:
        return mutate_once(asked, budget, seed, changes, said)
    tasks, found = [(asked, budget, seed + n, changes) for n in range(seeds)], []
    for one in executors.in_order(mutate_once, tasks, executor):
        found.append(one)
        if said:
            said(len(found), seeds, f"seed {seed + len(found) - 1}")
    return merge_mutations(found)


def merge_mutations(found: Sequence[Mutation]) -> Mutation:
    """Return the best Mutation from several of the same mutants. For each mutant, the first result that
    kills it is taken, else a result in which the mutant could be checked."""
    best = lambda one: (one.killed, one.implied, one.asked)
    mutants = [max(same, key=best) for same in zip(*(m.mutants for m in found))]
    return Mutation(found[0].claim, mutants)


def mutate_once(
    claim: Claim, budget: float, seed: int, changes: Sequence[str], progress: Callable | None = None
) -> Mutation:
    """Return the Mutation of a claim by some changes, from a seed."""
    wanted = set(changes)
    chosen = [Mutant(**vars(each)) for each in list_mutants(claim) if each.change in wanted]
    # Dropped terms come first: where a dropped term matters, other changes of the term are visible.
    made = sorted(chosen, key=lambda mutant: mutant.at[0] != "term")
    explorer = Explorer(claim, budget, seed)
    decide = lambda mutant, share: (mutant, judge_mutant(explorer, mutant, share))
    weight = lambda mutant: PARAMETERS.heavy if mutant.at[0] in ("term", "condition") else 1
    return Mutation(claim.id, explorer.explore(made, decide, weight, progress))


def judge_mutant(explorer: Explorer, mutant: Mutant, budget: float) -> float:
    """Set the mutant's verdict and whether the mutant is killed or implied, and return the units
    of work spent.

    A change of a right side is compared with the statement on the pool first. Where the mutant
    demands no more at any instance, algebra tries to show that the statement implies the mutant,
    and then no search follows. A mutant that no model measures is decided as a claim of its own.
    """
    claim, settings = explorer.claim, fitting(mutant.claim)
    targets = {setting.name: Target(mutant.claim, setting, mutant.line) for setting in settings}
    targets = {name: target for name, target in targets.items() if not target.impossible}
    near = explorer.pool.rate_populations(mutant.line, targets) if mutant.of_bound else []
    weaker = mutant.of_bound and not demands_more(claim, mutant, explorer.pool)
    if weaker and line_implies(claim, mutant):
        mutant.implied = True
        mutant.verdict = conclude(mutant.claim.id, Implication(premise=claim.id))
        return 0.0
    if not settings:
        case = Case.of(mutant.claim, budget, explorer.seed, line=mutant.line)
        mutant.verdict = decide_line(case)
        mutant.killed = mutant.asked = mutant.verdict.status == VIOLATED
        return budget
    search = MutantSearch(explorer, mutant, budget)
    search.run(near, targets)
    if search.verdict:
        explorer.remember(search.verdict.certificate)
    mutant.killed = search.verdict is not None
    mutant.asked = (
        mutant.killed or bool(search.cases) and not weaker and search.breaks_hypotheses(budget)
    )
    said = f"{search.cases} instances of {' and of '.join(setting.says for setting in settings)}"
    trial = Trial(kind=settings[0].kind, cases=search.cases, searched=said)
    mutant.verdict = search.verdict or conclude(mutant.claim.id, trial)
    return search.work_done


class MutantSearch:
    """The search for a violation of a mutant: earlier counterexamples, evaluation on the pool,
    optimisation from the best instances there, then an independent search.

    All steps share one account of work; `cases` counts evaluated instances.
    """

    def __init__(self, explorer: Explorer, mutant: Mutant, budget: float) -> None:
        self.explorer, self.mutant, self.cases = explorer, mutant, 0
        self.hunts: dict[ShapeSearch, None] = {}
        self.verdict, self.known = explorer.refute_by_known(mutant.claim, mutant.line, budget)
        self.account = Account(budget - self.known)

    @property
    def work_done(self) -> float:
        """The units of work spent; an independent search takes all the rest."""
        return self.known + (self.account.most if self.hunts else self.account.work_done)

    def breaks_hypotheses(self, budget: float) -> bool:
        """Tell whether the evaluated instances violate each relevant hypothesis that the mutant no
        longer assumes."""
        claim = self.mutant.claim
        found = dict.fromkeys(dropped_hypotheses.relevant_hypotheses(claim, budget), 0)
        dropped_hypotheses.count_breaking(
            found, claim, [hunt for hunt in self.hunts if hunt.top is not None]
        )
        return all(found.values())

    def run(self, near: list[RatedPopulation], targets: dict[str, Target]) -> None:
        """Search until the mutant is refuted, as `verdict` then says, or the budget is spent."""
        self.cases = 0 if self.verdict else sum(len(each.ratios) for each in near)
        for _ in () if self.verdict else self._steps(near, targets):
            if self.verdict:
                return

    def _steps(self, near: Any, targets: Any) -> Any:
        """Yield after each evaluation."""
        failing = [each for each in near if each.ratios.max() > PARAMETERS.wrong]
        # A population above 1 by rounding is no start.
        climbed = promising_populations(near[len(failing) :])
        for step, chosen in ((self._evaluate, failing), (self._climb, climbed)):
            for each in chosen:
                if not self.account.unspent():
                    return
                yield from step(each)
        share = self.account.unspent() / max(1, len(targets))
        for target in targets.values():
            last = None
            for hunt, ratio, row in scheduler.search_waves(target, share, self.explorer.seed):
                self.cases += optimizer.BATCH
                self.hunts[hunt] = None
                if last is not hunt:  # one exact evaluation per shape
                    last = hunt if self._look(hunt, ratio, row) else last
                yield

    def _evaluate(self, each: Any) -> Iterator[None]:
        """Evaluate exactly where a population seems to fail."""
        own = self.account.charge(each.population.at_target(each.target, self.cases))
        rows, ratios = own.drop_rounding_artifacts(each.population.fit_rows(own), each.ratios)
        for ratio, row in islice(zip(ratios, rows), PARAMETERS.looks):
            self._look(own, ratio, row)
            yield

    def _climb(self, each: Any) -> Iterator[None]:
        """Optimise from a population as long as the ratio grows."""
        looks = 0
        for step in climb(self.account, each.population, each.ratios, each.target, self.cases):
            self.cases += optimizer.BATCH
            looks += self._look(step.hunt, step.ratio, step.row)
            yield
            stale = step.before is not None and step.ratio < PARAMETERS.growth * step.before
            if looks == PARAMETERS.looks or stale:
                return

    def _look(self, hunt: ShapeSearch, ratio: float, row: np.ndarray) -> bool:
        """Tell whether the line seems to fail at a point. A failure that is certain sets `verdict`."""
        if ratio <= PARAMETERS.wrong:
            return False
        found = confirmation.confirm_violation(hunt, row, self.cases, effort=PARAMETERS.effort)
        self.verdict = conclude(self.mutant.claim.id, found) if found else None
        if self.verdict and self.mutant.of_bound:
            self.explorer.pool.learn(hunt, row)
        return True


def promising_populations(near: Sequence[RatedPopulation]) -> Iterator[RatedPopulation]:
    """Return the populations from which to optimise: alternately the largest ratio and the largest
    gain."""
    by_gain = sorted(near, key=lambda each: -each.gain)
    turns = {id(each): each for pair in zip(by_gain, near) for each in pair}
    return islice(turns.values(), PARAMETERS.mutant_starts)


def demands_more(claim: Claim, mutant: Mutant, pool: Pool) -> bool:
    """Tell whether the mutant is stronger than the statement at some instance, so that the
    statement does not imply the mutant."""
    old, new = (c.expand(c.lines[mutant.line][2]) for c in (claim, mutant.claim))
    upper = claim.lines[mutant.line][1] in ("<", "<=")
    return pool.exceeds_somewhere(mutant.line, *((old, new) if upper else (new, old)))


def line_implies(claim: Claim, mutant: Mutant) -> bool:
    """Tell whether the statement's line, under its hypotheses, provably implies the mutant's line.

    For lines left <= right and left <= other, the implication is right <= other under the claim's
    relations; for an equation the two right sides must be equal as polynomials.
    """
    if not mutant.of_bound:
        return False
    _, sign, right = claim.lines[mutant.line]
    _, _, other = mutant.claim.lines[mutant.line]
    if sign == "==":
        return claim.expand(right - other).expand() == 0
    relations = [a.relation for a in claim.assumptions if a.relation is not None]
    target = algebra.make_relation(right, {"<": "<=", ">": ">="}.get(sign, sign), other)
    plainly = claim.expand(target)
    if plainly in (sympy.true, sympy.false):
        return plainly == sympy.true
    seconds = PARAMETERS.implication_seconds
    return bool(algebra.prove(target, relations, claim.definitions, budget=seconds, refute=False))
