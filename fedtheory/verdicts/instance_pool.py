"""The instances on which all perturbations of a statement are evaluated.

The measurements at an instance do not depend on the claim, so a pool is measured once, and every
variant with the statement's hypotheses is evaluated on the pool before a search of its own.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.arithmetic.operations import Many
from fedtheory.language.claim import Claim
from fedtheory.models import fitting
from fedtheory.search import optimizer, scheduler
from fedtheory.search.objective import Target, as_array
from fedtheory.search.optimizer import ShapeSearch
from fedtheory.search.rational_points import Point
from fedtheory.typing import Number
from fedtheory.verdicts.exploration_parameters import PARAMETERS


class Population(NamedTuple):
    """The instances of one shape that satisfy the statement's hypotheses, with all measured values."""

    hunt: ShapeSearch
    rows: np.ndarray
    values: dict
    good: np.ndarray

    def at_target(self, target: Target, key: int = 0) -> ShapeSearch:
        """Return the search of a target at the population's shape."""
        numbers = {name: n for name, n in self.hunt.numbers.items() if name in target.counts}
        return optimizer.search_at(target, self.hunt.shape, numbers, key)

    def fit_rows(self, own: ShapeSearch) -> np.ndarray:
        """Return the rows in the columns of another search, where equations may fix another
        symbol."""
        column, rows = self.hunt.column, self.rows
        raw = lambda name: (
            rows[:, column[name]]
            if name in column
            else own.raw(name, as_array(self.values[name], len(rows)))
        )
        return np.array([raw(name) for name in own.names]).T.reshape(len(rows), len(own.names))


class JoinedPopulations(NamedTuple):
    """The populations of a block one after another."""

    values: dict[str, Many]
    good: np.ndarray
    starts: np.ndarray  # the first index of each population, and the end


class RatedPopulation(NamedTuple):
    """A population with its ratios for a variant's line."""

    ratios: np.ndarray
    # The factor by which the variant raises the ratio: largest where the changed part matters.
    gain: float
    population: Population
    target: Target


class Block:
    """The populations of one line in one model, concatenated."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.populations: list[Population] = []
        self._joined: JoinedPopulations | None = None

    def add(self, hunt: ShapeSearch, rows: np.ndarray, edge: bool = False) -> None:
        """Add the admitted instances among rows of a search."""
        rows, values, good = hunt.evaluate_feasible(rows.copy(), edge)
        if good.any():
            self.populations.append(Population(hunt, rows, values, good))
            self._joined = None

    def drop_rounding_failures(self) -> None:
        """Drop instances where only rounding violates the statement."""
        for ratios, population in self.rate_populations(self.target):
            if ratios.max() > PARAMETERS.wrong:
                worst = Point.near(population.hunt, population.rows[ratios.argmax()])
                if worst is None or worst.breaks() is None:
                    population.good[ratios > PARAMETERS.wrong] = False
        self._joined = None

    def join_populations(self) -> JoinedPopulations:
        """Return the populations as arrays over all instances."""
        if self._joined is None:
            sizes = [len(p.rows) for p in self.populations]
            names = set.intersection(*(set(p.values) for p in self.populations))
            each = lambda name: np.concatenate(
                [as_array(p.values[name], n) for p, n in zip(self.populations, sizes)]
            )
            self._joined = JoinedPopulations(
                {name: self._inside(name, each(name)) for name in sorted(names)},
                np.concatenate([p.good for p in self.populations]),
                np.cumsum([0, *sizes]),
            )
        return self._joined

    def _inside(self, name: str, values: np.ndarray) -> Many:
        """Return the values of a symbol as a batch. For a domain that begins at 0, values that
        rounding made negative become 0."""
        table = self.target.claim.table
        signed = name in table and table[name].domain in ("positive", "nonnegative")
        return Many(np.maximum(values, 0.0) if signed else values)

    def rate_populations(self, target: Target) -> list[tuple[np.ndarray, Population]]:
        """Return [(ratios of left to right, population)] of a target with the same hypotheses;
        inadmissible instances have ratio -1."""
        if not self.populations:
            return []
        values, good, at = self.join_populations()
        ratios = np.nan_to_num(np.where(good, target.ratio(values, len(good)), np.nan), nan=-1.0)
        return [(ratios[i:j], population) for population, i, j in zip(self.populations, at, at[1:])]

    def exceeds_somewhere(self, smaller: sympy.Expr, larger: sympy.Expr) -> bool:
        """Tell whether the expression `smaller` exceeds `larger` at some instance by more than
        rounding."""
        if not self.populations:
            return False
        values, good, _ = self.join_populations()
        with np.errstate(all="ignore"):
            small, large = (
                as_array(self.target.value(e, values), len(good)) for e in (smaller, larger)
            )
            return bool(np.any(good & (small - large > 1e-9 * (abs(small) + abs(large)))))


class Pool:
    """Instances of many shapes, instances near which the statement is tight, and instances where
    variants failed; `work` is in elementary steps."""

    def __init__(self, claim: Claim, budget: float, seed: int) -> None:
        self.blocks: dict[tuple[int, str], Block] = {}
        self.work = 0.0
        settings = fitting(claim)
        lines = [n for n, (_, sign, _) in enumerate(claim.lines) if sign != "O"]
        share = budget / max(1, len(lines) * len(settings))
        for line in lines:
            for setting in settings:
                target = Target(claim, setting, line)
                if not target.impossible:
                    self.blocks[line, setting.name] = self._fill(target, share, seed)

    def _fill(self, target: Target, budget: float, seed: int) -> Any:
        """Return the Block of a line in a model."""
        block = Block(target)
        waves = scheduler.search_waves(target, PARAMETERS.tight_share * budget, seed)
        for hunt in {hunt: None for hunt, _, _ in waves}:
            block.add(hunt, hunt.top)
            self.work += hunt.work
        self._add_shapes(block, PARAMETERS.shapes_share * optimizer.PER_SECOND * budget, seed)
        block.drop_rounding_failures()
        return block

    def _add_shapes(self, block: bytes, work: Number, seed: Number) -> None:
        for hunt in scheduler.generate_hunts(block.target, seed, block.target.relaxed):
            for edge in (False, True):
                block.add(hunt, hunt.draw(optimizer.BATCH), edge)
            work -= hunt.work
            self.work += hunt.work
            if work <= 0 or len(block.populations) >= PARAMETERS.populations:
                return

    def learn(self, hunt: ShapeSearch, row: np.ndarray) -> None:
        """Add the best rows of a variant's search, or this row, with the variables of the statement
        itself."""
        rows = row[None, :] if hunt.top is None else hunt.top
        block = self.blocks.get((hunt.target.line, hunt.target.setting.name))
        if block is None or set(block.target.counts) != set(hunt.numbers):
            return
        own = optimizer.search_at(block.target, hunt.shape, hunt.numbers, 0)
        column = [hunt.column.get(name) for name in own.names]
        if all(n is not None or name.startswith("slack ") for n, name in zip(column, own.names)):
            block.add(
                own, np.array([np.zeros(len(rows)) if n is None else rows[:, n] for n in column]).T
            )

    def of_line(self, line: int) -> Iterator[Block]:
        """Yield the blocks of a line, a block for each model."""
        return (block for (at, _), block in self.blocks.items() if at == line)

    def rate_populations(self, line: int, targets: dict[str, Target]) -> list[RatedPopulation]:
        """Return each population rated for a variant's line, the largest ratio first; `targets`
        maps a model's name to the variant's Target."""
        found = []
        for name, target in targets.items():
            if (line, name) in self.blocks:
                block = self.blocks[line, name]
                for (was, population), (now, _) in zip(
                    block.rate_populations(block.target), block.rate_populations(target)
                ):
                    both = (was > 0) & np.isfinite(was) & (now > 0)
                    with np.errstate(over="ignore"):
                        gain = np.max(now[both] / was[both], initial=0.0)
                    found.append(RatedPopulation(now, gain, population, target))
        return sorted(found, key=lambda each: -each.ratios.max())

    def exceeds_somewhere(self, line: int, smaller: sympy.Expr, larger: sympy.Expr) -> bool:
        """Tell whether `smaller` exceeds `larger` at some instance of a line."""
        return any(block.exceeds_somewhere(smaller, larger) for block in self.of_line(line))
