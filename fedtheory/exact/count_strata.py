"""Clients coupled by a count: conditional on the count, the clients' parts of the map are additive
again.

Scheme A of flex divides by K_tau, the number of complete devices. Gradient transfer weighs clients
by their steps and divides by the total number of steps. Given such a count, a round is a sum over
its clients. The probabilities of cohorts and work follow from a Poisson-binomial recursion over
(clients, number in the cohort, count so far).
"""

from collections.abc import Callable, Iterator, Sequence
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.errors import NotExact
from fedtheory.exact.affine_maps import Part, compress_deviations, sparse_columns
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.exact.participation_law import Law
    from fedtheory.exact.round_probe import Prober

COUNTS = {  # contribution to the count of a client that does s of E steps
    "complete clients": lambda s, E: int(s == E),
    "active clients": lambda s, E: int(s > 0),
    "steps": lambda s, E: int(s),
}
LIMIT = 20_000_000  # most numbers in the maps of all strata


class Counted:
    """The law of cohort and work conditional on the count: probabilities of c visits of s steps
    each for every client.

    Clients are independent but for two sums: the visits add up to S and the contributions to the
    count. `after[i][v, k]` is the weight of all ways in which the clients i + 1 .. N reach v visits
    and a count of k; every conditional probability is a ratio of products of such tables.
    """

    def __init__(self, law: "Law", counted: np.ndarray, count: Callable[..., Any]) -> None:
        self.law, self.E = law, law.pmf.shape[1] - 1
        visits = [1] if law.everyone else range(2) if law.cohort == "without" else range(law.S + 1)
        self.options = []  # for each client, (weight, visits, steps, count)
        for i in range(1, law.N + 1):
            here = [
                (law.pmf[i - 1, s] / factorial(c), c, s, c * count(s, self.E) * int(counted[i]))
                for c in visits
                if c
                for s in law.possible_steps(i)
            ]
            self.options.append(here if law.everyone else [(1.0, 0, 0, 0), *here])
        self.items = [(i, s) for i in range(1, law.N + 1) for s in law.possible_steps(i)]
        self.place = {item: n for n, item in enumerate(self.items)}
        self.top = law.S * max(count(s, self.E) for s in range(self.E + 1))
        self.after = self._count_tables(self.options)
        self.chances = self.after[0][law.S] / self.after[0][law.S].sum()
        self.values = np.flatnonzero(self.chances)

    def _shift_table(self, table: np.ndarray, option: tuple[float, int, int, int]) -> np.ndarray:
        """Return a table after one client's option: moved by its visits and its count, times its
        weight."""
        weight, c, _, k = option
        out = np.zeros_like(table)
        out[c:, k:] = weight * table[: len(table) - c, : table.shape[1] - k]
        return out

    def _count_tables(
        self, options: Sequence[list[tuple[float, int, int, int]]]
    ) -> list[np.ndarray]:
        """Return the tables after[i][v, k]: the weight of v visits and a count of k among clients i
        + 1 .. N."""
        table = np.zeros((self.law.S + 1, self.top + 1))
        table[0, 0] = 1.0
        after = [table]
        for client in reversed(options):
            after.append(sum(self._shift_table(after[-1], option) for option in client))
        return after[::-1]

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return for each count the mean (n,) and the second moment (n, n) of the number of visits
        to every (client, steps)."""
        n, S = len(self.items), self.law.S
        first, second = np.zeros((self.top + 1, n)), np.zeros((self.top + 1, n, n))
        before = np.zeros_like(self.after[0])
        before[0, 0] = 1.0
        for i, client in enumerate(self.options):
            for option in client:
                if option[1] == 0:
                    continue
                a = self.place[i + 1, option[2]]
                f = self._shift_table(before, option)
                with_a = self._join_tables(f, self.after[i + 1])
                first[:, a] += option[1] * with_a
                second[:, a, a] += option[1] ** 2 * with_a
                for j in range(i + 1, self.law.N):
                    for other in self.options[j]:
                        if other[1]:
                            b = self.place[j + 1, other[2]]
                            both = (
                                option[1]
                                * other[1]
                                * self._join_tables(self._shift_table(f, other), self.after[j + 1])
                            )
                            second[:, a, b] += both
                            second[:, b, a] += both
                    f = sum(self._shift_table(f, other) for other in self.options[j])
            before = sum(self._shift_table(before, option) for option in client)
        total = self.after[0][S]
        total = np.where(total > 0, total, 1.0)
        return first / total[:, None], second / total[:, None, None]

    def _join_tables(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the weight of every count, with S visits in total over `left` and `right`."""
        found = np.zeros(self.top + 1)
        for v in np.flatnonzero(left.any(axis=1) & right[::-1].any(axis=1)):
            found += np.convolve(left[v], right[self.law.S - v])[: self.top + 1]
        return found

    def outcomes(
        self, generator: np.random.Generator, each: int
    ) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Return for each count distinct cohorts and works in which every possible (client, steps)
        occurs."""
        found = {k: set() for k in self.values}
        for item in [None] * each + self.items:
            options = list(self.options)
            if item is not None:
                options[item[0] - 1] = [o for o in options[item[0] - 1] if o[1] and o[2] == item[1]]
            after = self._count_tables(options)
            able = np.repeat([k for k in self.values if after[0][self.law.S, k] > 0], 2)
            for k, outcome in zip(able, self.sample(generator, able, options, after)):
                found[k].add(outcome)
        return {
            k: tuple(np.array(part, dtype=np.int64) for part in zip(*sorted(outcomes)))
            for k, outcomes in found.items()
        }

    def sample(
        self,
        generator: np.random.Generator,
        counts: Number,
        options: Sequence[list[tuple[float, int, int, int]]] | None = None,
        after: Sequence[np.ndarray] | None = None,
    ) -> list[Any]:
        """Draw a cohort and its work for each of the counts, with clients in increasing order."""
        options, after = options or self.options, after or self.after
        k, v = np.array(counts), np.full(len(counts), self.law.S)
        drawn = [([], []) for _ in counts]
        for i, client in enumerate(options):
            weight = np.zeros((len(client), len(k)))
            for row, (w, c, _, counted) in zip(weight, client):
                can = (c <= v) & (counted <= k)
                row[can] = w * after[i + 1][v[can] - c, k[can] - counted]
            share = np.cumsum(weight, axis=0)
            choice = np.minimum(
                (share <= generator.random(len(k)) * share[-1]).sum(axis=0), len(client) - 1
            )
            while not (
                weight[choice, np.arange(len(k))] > 0
            ).all():  # rounding picked an option of weight 0
                choice = np.where(weight[choice, np.arange(len(k))] > 0, choice, choice - 1)
            for (cohort, work), n in zip(drawn, choice):
                cohort += [i + 1] * client[n][1]
                work += [client[n][2]] * client[n][1]
            v = v - np.array([o[1] for o in client])[choice]
            k = k - np.array([o[3] for o in client])[choice]
        return [(tuple(cohort), tuple(work)) for cohort, work in drawn]


class Strata:
    """One additive round map for each value of a count of the cohort's work.

    `name` is a key of COUNTS. Refuses a law whose maps would have more than LIMIT numbers. With
    `linear` the maps' dependence on the state is probed, otherwise only the constant and the noise.
    """

    def __init__(self, prober: "Prober", linear: bool, name: str) -> None:
        self.prober, self.linear, law = prober, linear, prober.law
        self.counted = prober.round.shares > 0  # scheme A counts the devices that F includes
        self.count = COUNTS[name]
        self.law = Counted(law, self.counted, self.count)
        self.shape = (prober.D, prober.M, prober.columns)
        entries = (
            len(self.law.values)
            * len(self.law.items)
            * (int(np.prod(self.shape)) + len(self.law.items))
        )
        if entries > LIMIT:
            raise NotExact(
                f"its clients may be coupled by the number of {name}, whose values need {entries} "
                f"coefficients; at most {LIMIT} are followed"
            )
        self.outcomes = self.law.outcomes(np.random.default_rng(5), 8)
        self.first, self.second = self.law.moments()
        self.values, self.maps, self.noise = [], {}, {}

    def find(self, values: np.ndarray | Sequence[int]) -> "Strata":
        """Probe the rounds for the counts in `values` that have no map yet, and return self."""
        for k in values:
            if k not in self.maps:
                self._find(k, self.linear)
                self.values.append(k)
        return self

    def middle(self) -> list[int]:
        """Return a list of one count, the middle one, for a first test of the model."""
        return [self.law.values[len(self.law.values) // 2]]

    def _find(self, k: int, linear: bool) -> None:
        """Find the coefficients of every (client, steps) for rounds of count k: the minimum-norm
        solution that reproduces the probed rounds. Refuse a method where the probes do not
        determine all rounds of this count."""
        prober, (cohorts, works) = self.prober, self.outcomes[k]
        rows = np.tile(np.arange(prober.m if linear else 0), (len(cohorts), 1))
        answers = np.zeros((len(cohorts), *self.shape))
        for whole, (_, Y) in zip(answers, prober.maps(cohorts, works, rows)):
            whole[:, :, 0 if linear else prober.M :] = Y
        visits = np.zeros((len(cohorts), len(self.law.items)))
        requests = {}
        for n, (cohort, work) in enumerate(zip(cohorts, works)):
            for slot, item in enumerate(zip(cohort, work)):
                visits[n, self.law.place[item]] += 1
                requests.setdefault(item, (n, slot))
        inverse = np.linalg.pinv(visits, rcond=1e-10)
        seen = inverse @ visits
        if np.abs(self.second[k] - seen @ self.second[k]).max() > 1e-9:
            raise NotExact(f"rounds with a count of {k} were not all reached by probes")
        self.maps[k] = (inverse @ answers.reshape(len(cohorts), -1)).reshape(-1, *self.shape)
        calls = [
            (item, n, prober.batch.ordinal(works[n], slot, step))
            for item, (n, slot) in requests.items()
            for step in prober.noise_calls(*item)
        ]
        self.noise[k] = {item: [] for item in requests}
        if calls:
            n = np.array([n for _, n, _ in calls])
            for (item, *_), answer in zip(
                calls,
                prober.noise_answers(
                    cohorts[n],
                    works[n],
                    np.array([o for *_, o in calls], dtype=float),
                    answers[n, :, :, prober.M],
                ),
            ):
                self.noise[k][item].append(answer)

    def draw(self, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw a cohort with its work, of a count that has a map; in random order, except where the
        cohort is everyone."""
        k = self.values[generator.integers(len(self.values))]
        cohort, work = (np.array(part) for part in self.law.sample(generator, [k])[0])
        order = (
            np.arange(len(cohort))
            if self.prober.law.cohort == "full"
            else generator.permutation(len(cohort))
        )
        return cohort[order], work[order]

    def predict(
        self, cohort: np.ndarray, work: np.ndarray, u: np.ndarray, noises: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return the state after a round, (D, M), as the map of the cohort's count predicts it from
        u (D, columns), the state with 1 and server noise, and from each member's noise."""
        k = sum(self.count(s, self.law.E) * int(self.counted[i]) for i, s in zip(cohort, work))
        found = np.zeros(self.shape[:2])
        for i, s, n in zip(cohort, work, noises):
            found += np.einsum("dmc,dc->dm", self.maps[k][self.law.place[i, s]], u)
            if self.noise[k][i, s]:
                found += np.einsum("drk,dk->dr", np.concatenate(self.noise[k][i, s], axis=2), n)
        return found

    def parts(self) -> Iterator[Part]:
        """Yield the Part of each count: mean map first[k] . maps, deviations along the eigenvectors
        of Cov(visits | k), and Q from the clients' noise."""
        prober, first, second = self.prober, self.first, self.second
        every = np.arange(prober.columns)
        for k in self.values:
            maps = self.maps[k].reshape(len(self.law.items), -1)
            # Visits of clients are correlated; along the eigenvectors of their covariance they are
            # not.
            weights, along = np.linalg.eigh(second[k] - np.outer(first[k], first[k]))
            kept = weights > 1e-14 * max(1.0, weights.max())
            deviations = compress_deviations(
                weights[kept], (along.T[kept] @ maps).reshape(-1, *self.shape)
            )
            Q = np.zeros((prober.D, prober.M, prober.M))
            for item, found in self.noise[k].items():
                if found:
                    answer = np.concatenate(found, axis=2)
                    n = self.law.place[item]
                    Q += (
                        second[k][n, n]
                        * prober.variance[item[0]]
                        * (answer @ answer.transpose(0, 2, 1))
                    )
            yield Part(
                self.law.chances[k],
                (first[k] @ maps).reshape(self.shape),
                [
                    (1.0, sparse_columns(value, np.zeros_like(value), every, prober.columns))
                    for value in deviations
                ],
                Q,
            )
