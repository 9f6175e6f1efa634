"""Models of how a round depends on cohort and work: the forms that are tried, and how each form is
identified from probes.

In most methods clients' parts add up (`Additive`). In some methods they add up given a count
(count_strata.py). In all other methods every cohort with its work has a map of its own
(`Outcomes`). A model is accepted when it predicts fresh rounds of the engine, from random states
under random noise.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.errors import NotExact
from fedtheory.exact import eigenbasis_noise
from fedtheory.exact.affine_maps import (
    Part,
    Sparse,
    add_to,
    centre_items,
    combine_sparse,
    sparse_columns,
)
from fedtheory.exact.count_strata import COUNTS, Strata
from fedtheory.exact.kernel_interpreter import of_library
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.exact.participation_law import Law
    from fedtheory.exact.round_probe import Prober

AGREE = 1e-9  # largest relative error of a prediction by an accepted model
PAIRED = 400  # most cohorts that cover the pairs of clients, for a user's method
FEW = 3  # number of calls whose answers are probed coordinate by coordinate
OUTCOMES = 4096  # most cohorts with work that are computed one by one where clients are coupled


class Exchange:
    """Cohorts and works that identify the effect of each client and each number of steps: a base
    cohort, and cohorts that differ from it in one slot.

    The contribution of client i with s steps is sum_v coefficient[item, v] (round_v - round_0), up
    to a term that is common to all clients.
    """

    def __init__(self, law: Any) -> None:
        first = {i: law.possible_steps(i)[0] for i in range(1, law.N + 1)}
        self.home = (
            np.ones(law.S, dtype=np.int64) if law.cohort == "with" else np.arange(1, law.S + 1)
        )
        home_work = np.array([first[i] for i in self.home])
        members = sorted(set(self.home))
        outside = [i for i in range(1, law.N + 1) if i not in members]
        self.items = [(i, s) for i in range(1, law.N + 1) for s in law.possible_steps(i)]
        self.place = {item: n for n, item in enumerate(self.items)}
        changes = [(0, i, s) for i in outside for s in law.possible_steps(i)]
        for slot, i in enumerate(members):
            if outside and slot > 0:  # an outsider replaces the member of this slot
                changes.append((slot, outside[0], first[outside[0]]))
            changes += [(slot, i, s) for s in law.possible_steps(i)[1:]]
        V = 1 + len(changes)
        self.cohorts, self.works = np.tile(self.home, (V, 1)), np.tile(home_work, (V, 1))
        self.coefficient = np.zeros((len(self.items), V))
        self.where = {(i, first[i]): (0, slot) for slot, i in enumerate(self.home)}
        self.moved = []  # the clients that are exchanged, for each change
        for v, (slot, i, s) in enumerate(changes, 1):
            self.cohorts[v, slot], self.works[v, slot] = i, s
            self.moved.append((i, self.home[slot]))
            mine, went = self.coefficient[self.place[i, s]], self.home[slot]
            if i in members:
                mine[:] = self.coefficient[self.place[i, first[i]]]
                mine[v] = 1.0
                self.where[i, s] = v, slot
            elif slot == 0:
                mine[v] = 1.0
                self.where[i, s] = v, slot
            else:
                self.coefficient[self.place[went, first[went]]] = mine - np.eye(V)[v]
        self.home_items = [self.place[i, first[i]] for i in self.home]


class Additive:
    """An additive model: base plus one item for each slot. If `local`, an exchange of two clients
    is assumed to change the map only in the rows and columns of states that the two clients own or
    that all clients share, and to leave the answers to the server's noise unchanged."""

    def __init__(self, prober: Any, linear: bool, local: bool = True) -> None:
        self.prober, plan = prober, Exchange(prober.law)
        every = np.arange(prober.m)
        near = lambda *clients: np.concatenate([prober.shared, *prober.own[list(clients)]])
        seen = np.array([near(*pair) if local else every for pair in plan.moved])
        bases = np.zeros((len(plan.cohorts), prober.D, prober.M))
        first = plan.cohorts[:1], plan.works[:1]
        moved = every if linear else every[:0]
        # whether a client's states are read and written by this client only
        parted = local and linear and prober.coupled
        (reference,) = prober.maps(*first, (prober.shared if parted else moved)[None])
        self.base = np.zeros((prober.D, prober.M, prober.columns))
        self.base[:, :, reference[0]] = reference[1]
        if parted and prober.own.size:
            seen_by = np.array([near(i) for i in range(len(prober.own))])
            alike = (np.repeat(part, len(seen_by), axis=0) for part in first)
            for rows, (columns, Y) in zip(
                seen_by, prober.maps(*alike, prober.own, seen_by, server=False)
            ):
                self.base[:, prober.folded_indices(rows)[:, None], columns[:-1]] = Y[:, :, :-1]
        bases[0] = self.base[:, :, prober.M]
        changes = [None]
        for columns, Y in (
            prober.maps(
                plan.cohorts[1:],
                plan.works[1:],
                seen if linear else seen[:, :0],
                seen if local else None,
                server=not local,
            )
            if len(seen)
            else ()
        ):
            rows = prober.folded_indices(seen[len(changes) - 1])
            bases[len(changes)][:, rows] = Y[:, :, columns == prober.M][:, :, 0]
            before = self.base[:, rows[:, None], columns]
            scale = np.abs(Y) + np.abs(before)
            changes.append(sparse_columns(Y - before, scale, columns, prober.columns, rows))
        none = Sparse(np.zeros(0, dtype=np.int64), np.zeros((prober.D, 0)))
        self.items = {
            item: combine_sparse([(row[v], changes[v]) for v in np.flatnonzero(row)])
            if row.any()
            else none
            for item, row in zip(plan.items, plan.coefficient)
        }
        for n in plan.home_items:
            add_to(self.base, -1.0, self.items[plan.items[n]])
        self._noise(plan, bases, {i: near(i) if local else every for i, _ in plan.items})

    def _noise(self, plan: Exchange, bases: np.ndarray, seen: Mapping[int, Any]) -> None:
        """Find the answers to noise at each gradient call of each item, in the rows that are `seen`
        for the item's client: {item: (rows, (D, rows, calls * e))}."""
        prober = self.prober
        calls = {item: prober.noise_calls(*item) for item in plan.where}
        requests = [
            (*plan.where[item], item[0], step) for item, steps in calls.items() for step in steps
        ]
        answers = iter(())
        if requests:
            v, slots, clients, steps = np.array(requests).T
            order = [prober.batch.ordinal(plan.works[n], s, k) for n, s, k in zip(v, slots, steps)]
            rows = np.array([seen[i] for i in clients])
            folded = np.array([prober.folded_indices(each) for each in rows])
            asked = (
                plan.cohorts[v],
                plan.works[v],
                np.array(order, dtype=float),
                bases[v[:, None, None], np.arange(prober.D)[:, None], folded[:, None]],
                rows,
            )
            answers = None
            if prober.coupled and len(v) > FEW:
                last = next(len(steps) for steps in calls.values() if steps) - 1
                answers = eigenbasis_noise.noise_answers(prober, clients, asked, last)
            if answers is None:
                answers = prober.noise_answers(*asked)
        self.noise = {}
        for (i, s), steps in calls.items():
            folded = prober.folded_indices(seen[i])
            whole = np.zeros((prober.D, len(folded), len(steps), prober.e))
            for k, answer in zip(range(len(steps)), answers):
                whole[:, :, k] = answer
            whole = whole.reshape(prober.D, len(folded), len(steps) * prober.e)
            kept = whole.any(axis=(0, 2))
            order = np.argsort(folded[kept])
            self.noise[i, s] = folded[kept][order], whole[:, kept][:, order]

    def draw(self, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw a cohort with its work from the law of the round."""
        cohort, work = self.prober.law.draw(generator, 1)
        return cohort[0], work[0]

    def predict(
        self, cohort: np.ndarray, work: np.ndarray, u: Number, noises: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return the state after a round, (D, M): base u, plus each member's item at u, plus each
        member's answer to its noise. u (D, columns) is the state with 1 and the server's noise."""
        found = (self.base @ u[:, :, None])[:, :, 0]
        for i, s, n in zip(cohort, work, noises):
            item = self.items[i, s]
            rows, columns = np.divmod(item.index, self.base.shape[2])
            np.add.at(found, (slice(None), rows), item.value * u[:, columns])
            rows, answer = self.noise[i, s]
            found[:, rows] += np.einsum("drk,dk->dr", answer, n)
        return found

    def parts(self) -> list[Part]:
        """Return the map as a list of Parts. The model cannot be used afterwards, as its arrays are
        changed in place."""
        law, prober = self.prober.law, self.prober
        mean, self.base = self.base, None
        deviations, Q = [], np.zeros((prober.D, prober.M, prober.M))
        each = []
        for i in range(1, law.N + 1):
            works = [(law.pmf[i - 1, s], s) for s in law.possible_steps(i)]
            average = combine_sparse([(chance, self.items[i, s]) for chance, s in works])
            each.append(average)
            add_to(mean, law.S / law.N, average)
            for chance, s in works:
                if len(works) > 1:
                    deviations.append(
                        (
                            law.square * chance,
                            combine_sparse([(1.0, self.items[i, s]), (-1.0, average)]),
                        )
                    )
                rows, answer = self.noise[i, s]
                if answer.size:
                    Q[:, rows[:, None], rows] += (
                        law.square
                        * chance
                        * prober.variance[i]
                        * (answer @ answer.transpose(0, 2, 1))
                    )
        if law.variance_factor > 0:
            *each, left = centre_items(each)
            deviations += [(law.variance_factor, s) for s in each] + [
                (-law.variance_factor * law.N, left)
            ]
        return [Part(1.0, mean, deviations, Q)]


class Outcomes:
    """A model with one map for each outcome of cohort and work, for clients that are coupled."""

    def __init__(
        self, prober: "Prober", linear: bool, outcomes: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> None:
        self.prober, (self.chances, self.cohorts, self.works) = prober, outcomes
        rows = np.tile(np.arange(prober.m if linear else 0), (len(self.cohorts), 1))
        self.maps = np.zeros((len(rows), prober.D, prober.M, prober.columns))
        for whole, (_, Y) in zip(self.maps, prober.maps(self.cohorts, self.works, rows)):
            whole[:, :, 0 if linear else prober.M :] = Y
        self.place = {
            (tuple(c), tuple(w)): n for n, (c, w) in enumerate(zip(self.cohorts, self.works))
        }
        requests = [
            (n, slot, prober.batch.ordinal(w, slot, k))
            for n, (c, w) in enumerate(zip(self.cohorts, self.works))
            for slot, (i, s) in enumerate(zip(c, w))
            for k in prober.noise_calls(i, s)
        ]
        self.noise = {
            (n, slot): [] for n in range(len(self.chances)) for slot in range(prober.law.S)
        }
        if requests:
            v = np.array([n for n, *_ in requests])
            answers = prober.noise_answers(
                self.cohorts[v],
                self.works[v],
                np.array([o for *_, o in requests], dtype=float),
                self.maps[v, :, :, prober.M],
            )
            for (n, slot, _), answer in zip(requests, answers):
                self.noise[n, slot].append(answer)
        empty = np.zeros((prober.D, prober.M, 0))
        self.noise = {
            key: np.concatenate(found, axis=2) if found else empty
            for key, found in self.noise.items()
        }

    def draw(self, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw one of the outcomes, in random order, except where the cohort is everyone."""
        n = generator.integers(len(self.chances))
        S = self.prober.law.S
        order = np.arange(S) if self.prober.law.cohort == "full" else generator.permutation(S)
        return self.cohorts[n, order], self.works[n, order]

    def predict(
        self, cohort: np.ndarray, work: np.ndarray, u: np.ndarray, noises: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return the state after a round, (D, M), by the map of this cohort and work as a set."""
        order = np.argsort(cohort, kind="stable")
        n = self.place[tuple(cohort[order]), tuple(work[order])]
        found = np.einsum("dmc,dc->dm", self.maps[n], u)
        for slot, at in enumerate(order):
            found += np.einsum("drk,dk->dr", self.noise[n, slot], noises[at])
        return found

    def parts(self) -> Iterator[Part]:
        """Yield the Part of each outcome: its map, no deviation, and Q from the noise of its
        clients."""
        for n, (chance, cohort) in enumerate(zip(self.chances, self.cohorts)):
            Q = np.zeros((self.prober.D, self.prober.M, self.prober.M))
            for i in sorted(set(cohort)):  # a client drawn twice has a single noise
                answer = sum(self.noise[n, slot] for slot in np.flatnonzero(cohort == i))
                Q += self.prober.variance[i] * (answer @ answer.transpose(0, 2, 1))
            yield Part(chance, self.maps[n], [], Q)


def predicts_rounds(model: Additive | Outcomes, prober: "Prober", linear: bool) -> bool:
    """Tell whether a probed model predicts rounds from random states, under random noise, at
    several scales. For an additive model of a method outside this library, the cohorts also cover
    every pair of clients."""
    generator = np.random.default_rng(2)
    size = 1.0 + np.abs(prober.start - prober.centre).max()
    law = prober.law
    draws = [model.draw(generator) for _ in range(min(60, max(6, 2 * law.N // law.S)))]
    if isinstance(model, Additive) and not of_library(prober.batch.machine.algorithm):
        draws += meeting_designs(law, generator, PAIRED)
    for n, (cohort, work) in enumerate(draws):  # the draws contain most clients
        u, noises, seen = prober.random_trial(
            generator, size * 10.0 ** (n % 3 - 1), linear, cohort, work
        )
        found = model.predict(cohort, work, u, noises)
        # Each row is compared on its own scale: a variate may be smaller than the point that it
        # comes from.
        scale = np.abs(seen).max(axis=0) if not prober.coupled else np.abs(seen)
        scale = np.maximum(scale, 1e-3 * np.abs(u).max())
        if not np.all(np.abs(found - seen) <= AGREE * scale):
            return False
    return True


def meeting_designs(
    law: "Law", generator: np.random.Generator, most: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return at most `most` cohorts with their works that together contain every possible pair of
    clients; where more are needed, the first pairs are covered."""
    if law.everyone or law.S < 2:
        return []
    seen, found = np.eye(law.N + 1, dtype=bool), []
    seen[0], seen[:, 0] = True, True
    while len(found) < most and not seen.all():
        i, j = np.argwhere(~seen)[0]
        others = generator.permutation(np.setdiff1d(np.arange(1, law.N + 1), [i, j]))
        cohort = generator.permutation(np.concatenate([[i, j], others[: law.S - 2]]))
        seen[np.ix_(cohort, cohort)] = True
        found.append((cohort, np.array([generator.choice(law.possible_steps(n)) for n in cohort])))
    return found


def model_of(prober: Any, given: Any, linear: bool) -> Additive | Outcomes:
    """Return the first form of model that predicts the rounds of `given`, a prober of the problem
    itself.

    Forms are tried from cheap to dear: additive with local effects, additive, one map for each
    outcome, additive given a count. Before outcomes are listed, one of them is tested, so that a
    round without an affine map is refused early. Raises NotExact, saying which property fails.
    """
    for local in (True, False) if prober.own.size or prober.server_calls else (True,):
        model = Additive(prober, linear, local)
        if predicts_rounds(model, given, linear):
            return model
    law = prober.law
    cohort, work = law.draw(np.random.default_rng(4), 1)
    order = np.argsort(cohort[0], kind="stable")
    if not predicts_rounds(
        Outcomes(prober, linear, (np.ones(1), cohort[:, order], work[:, order])), given, linear
    ):
        raise NotExact("its round is not an affine map of points and noise")
    most = min(OUTCOMES, int(2**25 / (prober.D * prober.M * prober.columns)))
    outcomes = law.outcomes(most)
    if outcomes is not None:
        model = Outcomes(prober, linear, outcomes)
        if not predicts_rounds(model, given, linear):
            raise NotExact("its round depends on the order of the cohort")
        return model
    for name in COUNTS:
        model = Strata(prober, linear, name)
        if predicts_rounds(model.find(model.middle()), given, linear) and predicts_rounds(
            model.find(model.law.values), given, linear
        ):
            return model
    raise NotExact(
        "its clients' parts neither add up nor do so given the number of "
        f"{' or of '.join(COUNTS)}, and cohorts with their work have more than {most} outcomes"
    )
