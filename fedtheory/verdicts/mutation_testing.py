"""Mutation testing of the checker: which mutants of a statement the checker refutes.

A killed mutant shows that the statement needs the changed part. A surviving mutant is evidence of
slack. A mutant that the statement provably implies is not wrong, and is not counted. The
measurements at an instance do not depend on the claim. So a pool of instances is measured once, and
every mutant with the statement's hypotheses is evaluated on the pool before a search of its own.
"""

from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np
import sympy

from fedtheory import arguments, discover, terminal
from fedtheory.arithmetic.operations import Many
from fedtheory.display import Shown
from fedtheory.errors import InvalidInput, article, refuse
from fedtheory.models import fitting
from fedtheory.parallel import executors
from fedtheory.proofs import algebra
from fedtheory.search import optimizer, scheduler, witnesses
from fedtheory.search.objective import Target, as_array
from fedtheory.search.rational_points import Point
from fedtheory.verdicts import confirmation, dropped_hypotheses, given_witnesses
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.combination import conclude
from fedtheory.verdicts.decision import decide_line
from fedtheory.verdicts.mutants import list_mutants
from fedtheory.verdicts.verdict import Verdict

# Shares of the budget: for drawn instances of all shapes, and for a search for instances at which
# the statement is tight.
SHAPES = (0.25, 0.1)
MOST = 400  # populations in one block of the pool
# CLIMBED: populations from which a mutant's ratio is optimised. GENERATIONS: the most generations
# for each of them.
CLIMBED, GENERATIONS = 4, 80
# The optimisation continues as long as the last PATIENCE generations multiply the ratio by GROWTH.
PATIENCE, GROWTH = 10, 1.1
# KEPT: stored counterexamples of mutants. KNOWN: the share of a mutant's budget for trying them.
KEPT, KNOWN = 40, 0.2
LOOKS = 3  # exact evaluations at one population
EFFORT = 40  # the limit on the attempts to make a counterexample smaller
HEAVY = 4  # weight of a dropped term or hypothesis; a changed constant has weight 1
WRONG = 1 + 1e-9  # a ratio above which a line seems to fail
HYPOTHESES = "condition", "ceiling"  # changed parts that belong to the hypotheses


@dataclass(repr=False)
class Mutation(Shown):
    claim: str
    mutants: list = field(default_factory=list)

    @property
    def score(self):
        """Return the share of mutants killed, among the mutants that could be checked and that the
        statement does not imply; None where there are none."""
        counted = [m for m in self.mutants if m.asked and not m.implied]
        return sum(m.killed for m in counted) / len(counted) if counted else None

    @property
    def survivors(self):
        return [m for m in self.mutants if m.asked and not m.killed and not m.implied]

    def __str__(self):
        share = (
            "no mutants"
            if self.score is None
            else f"{self.score:.0%} of its false relatives refuted"
        )
        return "\n".join([f"{self.claim}: {share}", *map(str, self.mutants)])

    def heading(self):
        return f"Mutants of {self.claim}"

    def facts(self):
        share = "none asked" if self.score is None else f"{self.score:.0%}"
        rest = "\n".join(mutant.change for mutant in self.survivors)
        return {
            "refuted": share,
            "mutants": len(self.mutants),
            **({"not refuted": rest} if rest else {}),
        }

    def as_dict(self):
        return dict(
            claim=self.claim,
            score=self.score,
            mutants=[
                dict(
                    change=m.change,
                    line=m.line,
                    about=list(m.at),
                    killed=m.killed,
                    implied=m.implied,
                    asked=m.asked,
                    witness=m.witness,
                )
                for m in self.mutants
            ],
        )


def mutate(
    claim, budget=60.0, seed=0, progress=None, only=lambda mutant: True, executor=None, seeds=1
):
    """Return the Mutation of a claim, in which each mutant is killed or not; `budget` is in seconds
    of one core, counted as work.

    `only` selects the mutants. `progress=True` shows the progress. With `seeds` above 1, all of
    these mutants are tested once per seed, from `seed` on, each time with the whole budget; a
    mutant is killed if one seed kills it. `executor` runs the tests, as for `check`, and never
    changes the result.

    >>> import fedtheory as ft
    >>> found = ft.mutate("fsl.h_lower", budget=2)
    >>> 0 <= found.score <= 1
    True
    """
    budget, seed = arguments.check_budget(budget), arguments.check_seed(seed)
    seeds = arguments.check_integer("seeds", seeds, 1)
    executors.executor_factory(executor)
    claim = discover.claim(claim)
    progress = terminal.progress_callback(progress, f"mutants of {claim.id}")
    if not any(sign != "O" for _, sign, _ in claim.lines):
        raise InvalidInput(
            f"mutate takes a claim with an inequality or an equation; {claim.id} is {article(claim.kind)}"
        )
    if not callable(only):
        refuse("only", "must be a function that picks mutants", only)
    changes = [mutant.change for mutant in list_mutants(claim) if only(mutant)]
    if executor is None and seeds == 1:
        return mutate_once(claim, budget, seed, changes, progress)
    tasks, found = [(claim, budget, seed + n, changes) for n in range(seeds)], []
    for one in executors.in_order(mutate_once, tasks, executor):
        found.append(one)
        if progress:
            progress(len(found), seeds, f"seed {seed + len(found) - 1}")
    return merge_mutations(found)


def merge_mutations(found):
    """Return one Mutation from several of the same mutants. For each mutant, the first result that
    kills it is taken, else a result in which the mutant could be checked."""
    best = lambda one: (one.killed, one.implied, one.asked)
    return Mutation(
        found[0].claim, [max(same, key=best) for same in zip(*(m.mutants for m in found))]
    )


def mutate_once(claim, budget, seed, changes, progress=None):
    """Return the Mutation of a claim by these changes, from one seed."""
    wanted = set(changes)
    chosen = [mutant for mutant in list_mutants(claim) if mutant.change in wanted]
    # Dropped terms come first: where a dropped term matters, other changes of the term are visible.
    made = sorted(chosen, key=lambda mutant: mutant.at[0] != "term")
    pool = Pool(claim, budget, seed)
    left, weights = (
        budget - pool.work / optimizer.PER_SECOND,
        [mutant_weight(mutant) for mutant in made],
    )
    for n, mutant in enumerate(made):
        share = max(0.0, left) * weights[n] / sum(weights[n:])
        left -= judge_mutant(claim, mutant, pool, share, seed)
        if progress:
            progress(n + 1, len(made), mutant)
    return Mutation(claim.id, made)


def mutant_weight(mutant):
    return HEAVY if mutant.at[0] in ("term", "condition") else 1


class Population(NamedTuple):
    """The instances of one shape that satisfy the statement's hypotheses, with all measured values."""

    hunt: object
    rows: np.ndarray
    values: dict
    good: np.ndarray


class Block:
    """The populations of one line in one setting, concatenated."""

    def __init__(self, target):
        self.target, self.populations, self._joined = target, [], None

    def add(self, hunt, rows, edge=False):
        rows, values, good = hunt.evaluate_feasible(rows.copy(), edge)
        if good.any():
            self.populations.append(Population(hunt, rows, values, good))
            self._joined = None

    def drop_rounding_failures(self):
        """Drop instances at which only rounding violates the statement itself."""
        for ratios, population in self.rated(self.target):
            if ratios.max() > WRONG:
                worst = Point.near(population.hunt, population.rows[ratios.argmax()])
                if worst is None or worst.breaks() is None:
                    population.good[ratios > WRONG] = False
        self._joined = None

    def joined(self):
        """Return (values by name, mask of admitted instances, first index of each population)."""
        if self._joined is None:
            sizes = [len(p.rows) for p in self.populations]
            names = set.intersection(*(set(p.values) for p in self.populations))
            each = lambda name: [
                as_array(p.values[name], n) for p, n in zip(self.populations, sizes)
            ]
            values = {
                name: self._inside(name, np.concatenate(each(name))) for name in sorted(names)
            }
            self._joined = (
                values,
                np.concatenate([p.good for p in self.populations]),
                np.cumsum([0, *sizes]),
            )
        return self._joined

    def _inside(self, name, values):
        """Return the values of a symbol as a batch. For a domain that begins at 0, values that
        rounding made negative become 0."""
        table = self.target.claim.table
        signed = name in table and table[name].domain in ("positive", "nonnegative")
        return Many(np.maximum(values, 0.0) if signed else values)

    def rated(self, target):
        """Return [(ratios of left to right, population)] of a target with the same hypotheses;
        inadmissible instances have ratio -1."""
        if not self.populations:
            return []
        values, good, at = self.joined()
        ratios = np.nan_to_num(np.where(good, target.ratio(values, len(good)), np.nan), nan=-1.0)
        return [(ratios[i:j], population) for population, i, j in zip(self.populations, at, at[1:])]

    def exceeded(self, smaller, larger):
        """Tell whether the expression `smaller` exceeds `larger` at some instance by more than
        rounding."""
        if not self.populations:
            return False
        values, good, _ = self.joined()
        with np.errstate(all="ignore"):
            small, large = (
                as_array(self.target.value(e, values), len(good)) for e in (smaller, larger)
            )
            return bool(np.any(good & (small - large > 1e-9 * (abs(small) + abs(large)))))


class Pool:
    """The instances on which mutants are evaluated: instances of many shapes, instances near which
    the statement is tight, and instances where earlier mutants failed."""

    def __init__(self, claim, budget, seed):
        self.blocks, self.work = {}, 0.0
        self.witnesses = []  # counterexamples to other mutants, the latest first
        settings, lines = (
            fitting(claim),
            [n for n, (_, sign, _) in enumerate(claim.lines) if sign != "O"],
        )
        each = optimizer.PER_SECOND * budget / max(1, len(lines) * len(settings))
        for line in lines:
            for setting in settings:
                target = Target(claim, setting, line)
                if not target.impossible:
                    self.blocks[line, setting.name] = block = Block(target)
                    for hunt in {
                        hunt: None
                        for hunt, _, _ in scheduler.search_waves(
                            target, SHAPES[1] * budget / (len(lines) * len(settings)), seed
                        )
                    }:
                        block.add(hunt, hunt.top)
                        self.work += hunt.work
                    self._shapes(block, SHAPES[0] * each, seed)
                    block.drop_rounding_failures()

    def _shapes(self, block, work, seed):
        for hunt in scheduler.generate_hunts(block.target, seed, block.target.relaxed):
            for edge in (False, True):
                block.add(hunt, hunt.draw(optimizer.BATCH), edge)
            work -= hunt.work
            self.work += hunt.work
            if work <= 0 or len(block.populations) >= MOST:
                return

    def learn(self, hunt, rows):
        """Add the population of a mutant's search, with the variables of the statement itself."""
        block = self.blocks.get((hunt.target.line, hunt.target.setting.name))
        if block is None or set(block.target.counts) != set(hunt.numbers):
            return
        own = optimizer.hunt_at(block.target, hunt.shape, hunt.numbers, 0)
        column = [hunt.column.get(name) for name in own.names]
        if all(n is not None or name.startswith("slack ") for n, name in zip(column, own.names)):
            block.add(
                own, np.array([np.zeros(len(rows)) if n is None else rows[:, n] for n in column]).T
            )

    def keep(self, document):
        """Store a counterexample, which is tried first on the mutants that follow."""
        self.witnesses = [*witnesses.read_witnesses([document]), *self.witnesses][:KEPT]

    def at(self, line, targets):
        """Return (ratios, gain, population, target) of a mutant's line for each population, the
        largest ratio first.

        The gain says by how much the change raises the ratio. A population in which the removed
        part matters gains most.
        """
        found = []
        for name, target in targets.items():
            if (line, name) in self.blocks:
                block = self.blocks[line, name]
                for (was, population), (now, _) in zip(
                    block.rated(block.target), block.rated(target)
                ):
                    both = (was > 0) & np.isfinite(was) & (now > 0)
                    with np.errstate(over="ignore"):
                        gain = np.max(now[both] / was[both], initial=0.0)
                    found.append((now, gain, population, target))
        return sorted(found, key=lambda each: -each[0].max())

    def exceeded(self, line, smaller, larger):
        return any(
            block.exceeded(smaller, larger) for (at, _), block in self.blocks.items() if at == line
        )


def judge_mutant(claim, mutant, pool, budget, seed):
    """Set the mutant's verdict and whether the mutant is killed or implied, and return the cost in
    seconds."""
    settings, spent = fitting(mutant.claim), 0.0
    targets = {setting.name: Target(mutant.claim, setting, mutant.line) for setting in settings}
    targets = {name: target for name, target in targets.items() if not target.impossible}
    same = mutant.at[0] not in HYPOTHESES
    near = pool.at(mutant.line, targets) if same else []
    weaker = same and not asks_more(claim, mutant, pool)
    if weaker and line_implies(claim, mutant):
        mutant.implied = True
        mutant.verdict = Verdict(
            mutant.claim.id, "proved", "algebra", f"{claim.id} implies it.", confidence=1.0
        )
        return spent
    if not settings:
        mutant.verdict = decide_line(Case.of(mutant.claim, budget, seed, line=mutant.line))
        mutant.killed = mutant.asked = mutant.verdict.status == "violated"
        return budget
    search = Search(mutant, pool)
    found, known = given_witnesses.refute_by_witness(
        mutant.claim, mutant.line, pool.witnesses, KNOWN * budget
    )
    search.verdict = found
    for spent in search.steps(near, targets, budget - known, seed) if found is None else ():
        if search.verdict:
            break
    spent += known
    if search.verdict:
        pool.keep(search.verdict.certificate)
    mutant.killed = search.verdict is not None
    mutant.asked = mutant.killed or bool(search.cases) and not weaker and search.broken(budget)
    mutant.verdict = search.verdict or Verdict(
        mutant.claim.id,
        "holds",
        settings[0].kind,
        "It was not refuted.",
        cases=search.cases,
        searched=f"{search.cases} instances of "
        + " and of ".join(setting.says for setting in settings),
    )
    return spent


class Search:
    """The search for a violation of a mutant: evaluation on the pool, optimisation from the best
    instances there, then an independent search."""

    def __init__(self, mutant, pool):
        self.mutant, self.pool, self.cases, self.verdict = mutant, pool, 0, None
        self.hunts = {}

    def broken(self, budget):
        """Tell whether the evaluated instances violate each relevant hypothesis that the mutant no
        longer assumes."""
        claim = self.mutant.claim
        found = dict.fromkeys(dropped_hypotheses.relevant_hypotheses(claim, budget), 0)
        dropped_hypotheses.count_breaking(
            found, claim, [hunt for hunt in self.hunts if hunt.top is not None]
        )
        return all(found.values())

    def steps(self, near, targets, budget, seed):
        """Yield the seconds spent, after each evaluation; `verdict` is set when the mutant is
        refuted."""
        spent = 0.0
        self.cases = sum(len(ratios) for ratios, *_ in near)
        failing = [each for each in near if each[0].max() > WRONG]
        for ratios, _, population, target in failing:
            if spent >= budget:
                return
            own = at_shape(population, target, self.cases)
            rows, rates = own.drop_rounding_artifacts(fit_rows(population, own), ratios)
            for rate, row in islice(zip(rates, rows), LOOKS):
                self.look(own, rate, row)
                yield spent + own.work / optimizer.PER_SECOND
            spent += own.work / optimizer.PER_SECOND
        for ratios, _, population, target in promising_rows(
            near[len(failing) :]
        ):  # a population above 1 by rounding is no start
            if spent >= budget:
                return
            own, looks, reached = at_shape(population, target, self.cases), 0, []
            start = fit_rows(population, own)[np.argsort(-ratios, kind="stable")][
                : optimizer.BATCH // 2
            ]
            for rate, row in own.climb(GENERATIONS, start):
                self.cases += optimizer.BATCH
                looks += self.look(own, rate, row)
                reached.append(rate)
                yield spent + own.work / optimizer.PER_SECOND
                if looks == LOOKS or len(reached) > PATIENCE and rate < GROWTH * reached[-PATIENCE]:
                    break
            spent += own.work / optimizer.PER_SECOND
        for target in targets.values():
            last, seconds = None, (budget - spent) / len(targets)
            for hunt, rate, row in scheduler.search_waves(target, max(0.0, seconds), seed):
                self.cases += optimizer.BATCH
                self.hunts[hunt] = None
                if last is not hunt:  # one exact evaluation per shape
                    last = hunt if self.look(hunt, rate, row) else last
                yield budget

    def look(self, hunt, rate, row):
        """Tell whether the line seems to fail at a point. A failure that is certain sets `verdict`."""
        if rate <= WRONG:
            return False
        found = confirmation.confirm_violation(hunt, row, self.cases, effort=EFFORT)
        self.verdict = found and conclude(self.mutant.claim.id, found)
        if self.verdict and self.mutant.at[0] not in HYPOTHESES:
            self.pool.learn(hunt, row[None, :] if hunt.top is None else hunt.top)
        return True


def at_shape(population, target, key):
    """Return the search of a target at a population's shape."""
    hunt = population.hunt
    numbers = {name: n for name, n in hunt.numbers.items() if name in target.counts}
    return optimizer.hunt_at(target, hunt.shape, numbers, key)


def fit_rows(population, own):
    """Return the population's rows in the columns of another search, where equations may fix
    another symbol."""
    column, rows = population.hunt.column, population.rows
    raw = lambda name: (
        rows[:, column[name]]
        if name in column
        else own.raw(name, as_array(population.values[name], len(rows)))
    )
    return np.array([raw(name) for name in own.names]).T.reshape(len(rows), len(own.names))


def promising_rows(near):
    """Return the populations from which to optimise: alternately the largest ratio and the largest
    gain."""
    by_gain = sorted(near, key=lambda each: -each[1])
    turns = {id(each): each for pair in zip(by_gain, near) for each in pair}
    return list(turns.values())[:CLIMBED]


def asks_more(claim, mutant, pool):
    """Tell whether the mutant is stronger than the statement at some instance, so that the
    statement does not imply the mutant."""
    old, new = (c.expand(c.lines[mutant.line][2]) for c in (claim, mutant.claim))
    upper = claim.lines[mutant.line][1] in ("<", "<=")
    return pool.exceeded(mutant.line, *((old, new) if upper else (new, old)))


def line_implies(claim, mutant):
    """Tell whether the statement's line, under its hypotheses, provably implies the mutant's line."""
    if mutant.at[0] in HYPOTHESES:
        return False
    _, sign, right = claim.lines[mutant.line]
    _, _, other = mutant.claim.lines[mutant.line]
    if sign == "==":
        return claim.expand(right - other).expand() == 0
    relations = [a.relation for a in claim.assumptions if a.relation is not None]
    target = algebra.relate(right, {"<": "<=", ">": ">="}.get(sign, sign), other)
    plainly = claim.expand(target)
    if plainly in (sympy.true, sympy.false):
        return plainly == sympy.true
    return bool(algebra.prove(target, relations, claim.definitions, budget=0.3, refute=False))
