"""Expectations by enumeration: every cohort, every work and every outcome of the noise, each run by
the compiled engine.

Enumeration serves noise with finite support, on instances that are small enough. If several
outcomes reach the same state, the state is followed once, with the sum of their probabilities.
"""

from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fedtheory.errors import NotExact
from fedtheory.exact import cohorts
from fedtheory.exact.kernel_interpreter import of_library
from fedtheory.problem import ROWS, TABLE
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.exact.batched_rounds import Batch, Round

BUDGET = 2_000_000  # most rounds, summed over paths
SERVER = 0
AGREE = 1e-9  # two orders of a cohort give the same state up to this difference


def _refuse_noise(problem: Any, clients: Sequence[Any]) -> None:
    """Refuse noise with infinitely many outcomes for any of the clients that draw noise."""
    if problem.noise in ("gaussian", "sphere") and problem.sigma[clients].any():
        raise NotExact(
            f"{problem.noise} noise has a continuum of outcomes, which cannot be enumerated"
        )
    if problem.noise == "minibatch" and problem.sigma[clients].any():
        raise NotExact("minibatches with further noise on top have a continuum of outcomes")


def _call_outcomes(problem: Any, i: Number) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the probabilities (o,) and the table rows (o, width) of one gradient call of client i;
    None where the gradient is exact."""
    if problem.noise == "minibatch":
        B, n = int(problem.batch_size[i]), int(problem.sizes[i])
        if B == 0:
            return None
        if not problem.replacement:
            return np.full(comb(n, B), 1.0 / comb(n, B)), np.array(
                list(combinations(range(n), B)), dtype=float
            )
        rows = list(combinations_with_replacement(range(n), B))
        ways = [factorial(B) / prod(factorial(b.count(r)) for r in set(b)) for b in rows]
        return np.array(ways) / float(n) ** B, np.array(rows, dtype=float)
    if problem.noise == "none" or problem.sigma[i] == 0:
        return None
    d = problem.d
    signs = 1.0 - 2.0 * ((np.arange(2**d)[:, None] >> np.arange(d)) & 1)
    return np.full(2**d, 0.5**d), problem.sigma[i] / np.sqrt(d) * signs


def _count_outcomes(problem: Any, i: Number) -> int:
    """Return the number of outcomes of one gradient call of client i, without listing the outcomes."""
    if problem.noise == "minibatch":
        B, n = int(problem.batch_size[i]), int(problem.sizes[i])
        return 1 if B == 0 else comb(n + B - 1, B) if problem.replacement else comb(n, B)
    return 1 if problem.noise == "none" or problem.sigma[i] == 0 else 2**problem.d


def _gradient_calls(
    batch: "Batch", cohort: np.ndarray, work: np.ndarray, server_work: int
) -> list[tuple[int, int]]:
    """Return (client, step) for every gradient call of a round, in order; step -1 is a gradient at
    x."""
    calls = [(SERVER, -1)] * batch.asks_server
    for i, s in zip(cohort, work):
        calls += [(i, -1)] * batch.asks_client + [(i, k) for k in range(s)]
    return calls + [(SERVER, k) for k in range(server_work)]


def _outcome_tables(
    problem: Any,
    calls: Sequence[Any],
    width: int,
    low: int,
    high: int,
    names: Sequence[Any] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and tables of the outcomes low .. high - 1 of a round's calls, numbered
    by `names`. A client that is drawn twice uses the same noise in both visits."""
    names = names or list(dict.fromkeys(calls))
    options = {i: _call_outcomes(problem, i) for i, _ in names}
    index = np.arange(low, high)
    chance, found = np.ones(high - low), {}
    for i, step in names:
        if options[i] is not None:
            index, which = np.divmod(index, len(options[i][0]))
            chance *= options[i][0][which]
            found[i, step] = options[i][1][which]
    table = np.zeros((high - low, max(1, len(calls)), width))
    for ordinal, call in enumerate(calls):
        if call in found:
            table[:, ordinal, : found[call].shape[1]] = found[call]
    return chance, table


class Paths:
    """All states that a run can reach, with their probabilities.

    `chance` (paths,) are the probabilities and `fields` the states, one row for each path. States
    that agree in every bit are one path. `left` counts down the rounds of single paths that the
    budget still allows; NotExact is raised before a round that would exceed it.
    """

    def __init__(self, batch: "Batch", budget: int) -> None:
        self.batch, self.left, self.budget = batch, budget, budget
        self.doubted = not of_library(batch.machine.algorithm)
        self.chance = np.ones(1)
        self.fields = [a[None].copy() for a in batch.first]

    def round(self, round: "Round") -> np.ndarray | float:
        """Advance every path by one round, and return the expected record."""
        batch, problem = self.batch, self.batch.machine.trained
        clients = [SERVER] * bool(batch.asks_server or round.server_work) + list(
            range(1, round.law.N + 1)
        )
        _refuse_noise(problem, clients)
        outcomes = round.law.outcomes(self.left // len(self.chance))
        if outcomes is None:
            self._refuse_work()
        plans = []
        for chance, cohort, work in zip(*outcomes):
            calls = _gradient_calls(batch, cohort, work, round.server_work)
            plans.append(
                (
                    chance,
                    cohort,
                    work,
                    calls,
                    prod(_count_outcomes(problem, i) for i, _ in dict.fromkeys(calls)),
                )
            )
        needed = len(self.chance) * sum(plan[-1] for plan in plans)
        if needed > self.left:
            self._refuse_work()
        self.left -= needed
        kind = ROWS if problem.noise == "minibatch" else TABLE
        width = max(1, int(problem.batch_size.max())) if kind == ROWS else problem.d
        total, chances, ends = 0.0, [], []
        for chance, cohort, work, calls, count in plans:
            for low in range(0, count, batch.size):
                weight, table = _outcome_tables(
                    problem, calls, width, low, min(count, low + batch.size)
                )
                n = len(weight)
                each = max(1, batch.size // n)
                for start in range(0, len(self.chance), each):
                    part = slice(start, start + each)
                    p = (
                        np.repeat(self.chance[part], n)
                        * np.tile(weight, len(self.chance[part]))
                        * chance
                    )
                    after, record = batch.run(
                        round,
                        [np.repeat(f[part], n, axis=0) for f in self.fields],
                        np.tile(cohort, (len(p), 1)),
                        np.tile(work, (len(p), 1)),
                        kind,
                        table,
                    )
                    total = total + p @ record
                    chances.append(p)
                    ends.append([f.copy() for f in after])
                if self.doubted and round.law.cohort != "full":
                    outcome = cohort, work, calls, low, n
                    self._require_set(round, outcome, kind, width, ends[-1], start)
        self._merge_paths(
            np.concatenate(chances), [np.concatenate(fields) for fields in zip(*ends)]
        )
        return total

    def _require_set(
        self,
        round: "Round",
        outcome: tuple[np.ndarray, np.ndarray, list[tuple[int, int]], int, int],
        kind: int,
        width: int,
        ends: Sequence[np.ndarray],
        start: int,
    ) -> None:
        """Refuse a method for which a permuted cohort leads to another state, checked on the states
        that were propagated last."""
        batch, (cohort, work, calls, low, n) = self.batch, outcome
        size = max(1.0, *(np.abs(f[np.isfinite(f)]).max(initial=0.0) for f in ends))
        for order in cohorts.generating_orders(len(cohort)):
            moved, steps = cohort[order], work[order]
            other = _gradient_calls(batch, moved, steps, round.server_work)
            names, part = list(dict.fromkeys(calls)), slice(start, start + len(ends[0]) // n)
            _, table = _outcome_tables(batch.machine.trained, other, width, low, low + n, names)
            count = len(ends[0])
            after, _ = batch.run(
                round,
                [np.repeat(f[part], n, axis=0) for f in self.fields],
                np.tile(moved, (count, 1)),
                np.tile(steps, (count, 1)),
                kind,
                table,
            )
            for one, there in zip(ends, after):
                if not np.allclose(one, there, rtol=AGREE, atol=AGREE * size, equal_nan=True):
                    raise NotExact("its round depends on the order of the cohort, which is drawn")

    def _refuse_work(self) -> NoReturn:
        """Raise NotExact: the outcomes are more than the budget allows."""
        raise NotExact(f"enumeration needs more than {self.budget} rounds of single paths")

    def _merge_paths(self, chance: Number, fields: Sequence[np.ndarray]) -> None:
        """Store the paths, with equal states merged and their probabilities added. States are
        compared byte by byte."""
        flat = np.concatenate(
            [np.ascontiguousarray(f).reshape(len(chance), -1).view(np.uint8) for f in fields],
            axis=1,
        )
        keys = np.ascontiguousarray(flat).view(np.dtype((np.void, flat.shape[1]))).ravel()
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        self.chance = np.bincount(which, weights=chance)
        self.fields = [f[first] for f in fields]

    @property
    def mean(self) -> np.ndarray:
        """Return E x, (d,)."""
        return self.chance @ self.fields[self.batch.names.index("x")]

    @property
    def covariance(self) -> np.ndarray:
        """Return the covariance of x, (d, d)."""
        gap = self.fields[self.batch.names.index("x")] - self.mean
        return (self.chance[:, None] * gap).T @ gap
