"""The law of a round's cohort and work as numbers: each outcome with its probability, or moments of
the participation indicators.

The law is that of draws by `fedtheory.participation`: S of N clients, each with its own work. A
client drawn twice (with replacement) works once, with one noise, and its result counts twice.
"""

from itertools import combinations, combinations_with_replacement, product
from math import comb, factorial, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.participation import Participation


class Law(NamedTuple):
    """The law of a round's cohort and work: S of N clients, and each client's own law of steps."""

    cohort: str  # "full", "without", "with"
    N: int
    S: int
    pmf: np.ndarray  # (N, E + 1) probabilities of 0 .. E steps

    @property
    def everyone(self) -> bool:
        """Return whether every client is in every cohort."""
        return self.cohort == "full" or self.cohort == "without" and self.S == self.N

    def possible_steps(self, i: Number) -> np.ndarray:
        """Return the numbers of steps that client i may do."""
        return np.flatnonzero(self.pmf[i - 1])

    @property
    def variance_factor(self) -> float:
        """Return rho with Var(sum_cohort v_i) = rho sum_i ||v_i - mean v||^2."""
        if self.everyone:
            return 0.0
        return (
            self.S / self.N
            if self.cohort == "with"
            else self.S * (self.N - self.S) / (self.N * (self.N - 1))
        )

    @property
    def square(self) -> float:
        """Return the second moment of the number of times that a client is in the cohort."""
        return self.S / self.N + (
            self.S * (self.S - 1) / self.N**2 if self.cohort == "with" else 0.0
        )

    @property
    def count(self) -> int:
        """Return the number of outcomes of cohort and work."""
        ways = [1] + [0] * self.S  # ways[v]: choices that fill v slots with the clients so far
        for i in range(1, self.N + 1):
            options = len(self.possible_steps(i))
            visits = range(1, (self.S if self.cohort == "with" else 1) + 1)
            ways = [
                ways[v] + options * sum(ways[v - c] for c in visits if c <= v)
                for v in range(self.S + 1)
            ]
        return ways[self.S]

    def outcomes(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return (probability, cohort, work) for every outcome, clients in increasing order; None
        if there are more than `most` outcomes."""
        if self.count > most:
            return None
        clients = range(1, self.N + 1)
        if self.cohort == "with":
            cohorts = combinations_with_replacement(clients, self.S)
            chance = lambda c: (
                factorial(self.S) / prod(factorial(c.count(i)) for i in set(c)) / self.N**self.S
            )
        else:
            cohorts, share = combinations(clients, self.S), 1.0 / comb(self.N, self.S)
            chance = lambda c: share
        found = []
        for c in cohorts:
            members = sorted(set(c))
            for steps in product(*(self.possible_steps(i) for i in members)):
                done = dict(zip(members, steps))
                found.append(
                    (
                        chance(c) * np.prod([self.pmf[i - 1, s] for i, s in done.items()]),
                        c,
                        [done[i] for i in c],
                    )
                )
        chances, cohort, work = zip(*found)
        return np.array(chances), np.array(cohort, dtype=np.int64), np.array(work, dtype=np.int64)

    def draw(self, generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw n cohorts with their work, each cohort in random order."""
        cohort = np.stack(
            [generator.choice(self.N, self.S, replace=self.cohort == "with") + 1 for _ in range(n)]
        )
        work = np.empty_like(cohort)
        for c, w in zip(cohort, work):
            done = {i: generator.choice(self.possible_steps(i)) for i in set(c)}
            w[:] = [done[i] for i in c]
        if self.cohort == "full":
            order = np.argsort(cohort, axis=1)
            cohort, work = np.take_along_axis(cohort, order, 1), np.take_along_axis(work, order, 1)
        return cohort, work


def law_of(participation: "Participation", t: int, N: int, S: int, E: int) -> Law:
    """Return the law of cohort and work in round t, where E steps are requested."""
    if E == 0 or participation.work is None:
        pmf = np.tile(np.arange(E + 1) == E, (N, 1)).astype(float)
    else:
        pmf = participation.work.table(N, E).copy()
    away = ~participation.active(t, N)[1:]
    pmf[away] = np.arange(E + 1) == 0
    return Law(participation.cohort, N, S, pmf)
