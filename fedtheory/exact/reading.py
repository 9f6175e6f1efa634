"""The round map of an algorithm, asked of the engine itself: states, cohorts, work and noise in,
states out.

Nothing of any algorithm is retyped: its own kernels run, on chosen inputs. A state is a stack of
points (server point, variates, momenta: every array whose last axis is the problem's); what else a
state holds (weights, counters) is kept at its value, and must not depend on what is random.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from fedtheory import jit
from fedtheory.errors import NotExact
from fedtheory.exact.laws import Law
from fedtheory.problem import IMPULSE, NONE, TABLE
from fedtheory.runs import engine
from fedtheory.runs.groups import Chunk
from fedtheory.runs.machine import NO_PATH, NO_TABLE, Machine, run_blocks
from fedtheory.runs.running import threads

FAR = 2.0**24  # probes reach this far, so that rounding is relative to what they find
WORDS = 2**22  # numbers that the states of one batch may fill
SPREAD_WORK = 1e6  # coordinates times steps above which a batch is shared by the cores


class Round(NamedTuple):
    """What fixes a round but for its state, cohort, work and noise."""

    t: int
    h: tuple
    shares: np.ndarray  # (N + 1,)
    server_work: int
    law: Law


class Batch:
    """Rounds of an algorithm on a problem, for batches of states."""

    def __init__(self, problem, algorithm, x_0, S, h, size, wanted=0):
        self.size, self.workers = size, min(threads(), size)
        self.machine = Machine(
            algorithm, problem, np.tile(x_0, (size, 1)), S, h, wanted, self.workers
        )
        self.slabs = self.machine.slabs
        self.first = [slab[0].copy() for slab in self.slabs.arrays]
        self.names = self.slabs.type._fields
        self.asks_server = bool(self.machine.asks & engine.SERVER_GRAD)
        self.asks_client = bool(self.machine.asks & engine.CLIENT_GRAD)
        self._hyper = (None,)

    def objective_is(self, problem, h):
        self.machine.objective_is(problem, h)

    def run(self, round, fields, cohort, work, kind=NONE, table=NO_TABLE):
        """One round of len(cohort) <= size trials. Each field is (n, ...), or (1, ...) for one
        value in all. Returns the fields as views, to be read before the next call, and the
        record."""
        n, S = cohort.shape
        machine, slabs = self.machine, self.slabs
        for slab, field in zip(slabs.arrays, fields):
            slab[:n] = field
        machine.diverged[:n] = -1
        if self._hyper[0] != round.h:
            words = jit.pack(round.h) if machine.packed else None
            self._hyper = (
                round.h,
                words,
                np.array([words.ctypes.data]) if machine.packed else [round.h],
            )
        record = np.full((n, 1, engine.COLUMNS), np.nan)
        chunk = Chunk(
            self._hyper[2],
            cohort.reshape(n, 1, S),
            work.reshape(n, 1, S),
            np.array([round.server_work]),
            round.shares[None],
            kind,
            table,
            0,
            0,
            round.t,
            record,
            NO_PATH,
        )
        advance = machine.advancing(chunk)
        if (
            self.workers > 1
            and slabs.x.shape[1] * (work.sum() + n * round.server_work) > SPREAD_WORK
        ):
            with ThreadPoolExecutor(self.workers) as pool:
                run_blocks(pool, self.workers, n, max(1, -(-n // (4 * self.workers))), advance)
        else:
            advance(0, 0, n)
        return [slab[:n] for slab in slabs.arrays], record[:, 0]

    def ordinal(self, work, slot, step):
        """Which gradient call of the round it is: `step` of a slot, -1 for its gradient at x. Slot
        S is the server after the clients."""
        calls = self.asks_server + work[:slot].sum() + slot * self.asks_client + step
        return int(calls + (self.asks_client if slot < len(work) else 0))


class Prober:
    """A round as a map of points: state (n, m, d), cohort, work, noise -> state (n, m, d).

    `coupled` maps mix the d coordinates, others treat each by itself: `fold` gives a state as (n,
    1, m d) or (n, d, m), and one probe then serves all coordinates. `turn` (d, d) views points in
    another orthonormal basis: state = turn @ what is seen from here.
    """

    def __init__(self, batch, round, fields, centre, coupled, turn=None, blocks=None):
        self.batch, self.round, self.fields, self.coupled, self.turn = (
            batch,
            round,
            fields,
            coupled,
            turn,
        )
        self.d = batch.slabs.x.shape[1]
        self.points = self._points()
        self.blocks = self._varying() if blocks is None else blocks
        self.rows, self.m = {}, 0
        for n in self.blocks:
            count = fields[n].size // self.d
            self.rows[batch.names[n]] = slice(self.m, self.m + count)
            self.m += count
        self.x_row = self.rows["x"].start
        N = batch.machine.problem.N
        memories = [
            self.rows[batch.names[n]].start for n in self.blocks if fields[n].shape[:-1] == (N + 1,)
        ]
        self.own = np.array(
            [[start + i for start in memories] for i in range(N + 1)], dtype=np.int64
        )
        self.shared = np.setdiff1d(np.arange(self.m), self.own)
        self.next = list(fields)
        self.start = self.seen(np.concatenate([fields[n].reshape(-1, self.d) for n in self.blocks]))
        self.centre = self.start.copy() if centre is None else np.zeros((self.m, self.d))
        if centre is not None:
            self.centre[self.x_row] = centre
        law, sigma = round.law, batch.machine.trained.sigma
        self.D, self.M = (1, self.m * self.d) if coupled else (self.d, self.m)
        self.e = self.d if coupled else 1  # noise directions a call
        calls = [0] * batch.asks_server + [None] * round.server_work
        self.server_calls = (
            [k - batch.asks_server if call is None else -1 for k, call in enumerate(calls)]
            if sigma[0] > 0
            else []
        )
        self.variance = sigma**2 / self.d  # of a coordinate of a call's noise
        self.columns = self.M + 1 + len(self.server_calls) * self.e
        self.far = FAR * 2.0 ** np.ceil(np.log2(1.0 + np.abs(self.centre).max(initial=0.0)))
        self.law = law

    def seen(self, Z):
        return Z if self.turn is None else Z @ self.turn

    def _points(self):
        """Fields that are stacks of points: those that a wider problem would widen."""
        machine, d = self.batch.machine, self.d
        layers = np.array(
            [layer.start for layer in machine.problem.layers] + [d + 1], dtype=np.int64
        )
        wider = machine.algorithm.init(np.zeros(d + 1), machine.problem.N, layers, self.round.h)
        return [
            n
            for n, (a, b) in enumerate(zip(self.batch.first, wider))
            if a.dtype == np.float64 and a.ndim and a.shape != b.shape == (*a.shape[:-1], d + 1)
        ]

    def _varying(self):
        """Stacks of points that a round changes; the others keep their value."""
        batch, generator = self.batch, np.random.default_rng(1)
        cohort, work = self.round.law.draw(generator, min(4, batch.size))
        before = [
            generator.standard_normal((len(cohort), *a.shape)) if n in self.points else a[None]
            for n, a in enumerate(self.fields)
        ]
        after, _ = batch.run(self.round, before, cohort, work)
        return [
            n
            for n in self.points
            if batch.names[n] == "x" or not np.array_equal(before[n], after[n])
        ]

    def __call__(self, Z, cohort, work, kind=NONE, table=NO_TABLE):
        out = np.empty_like(Z)
        Z = Z if self.turn is None else Z @ self.turn.T
        for low in range(0, len(Z), self.batch.size):
            part = slice(low, low + self.batch.size)
            n = len(Z[part])
            fields = [a[None] for a in self.fields]
            for index in self.blocks:
                fields[index] = Z[part, self.rows[self.batch.names[index]]].reshape(
                    n, *self.fields[index].shape
                )
            after, _ = self.batch.run(
                self.round,
                fields,
                cohort[part],
                work[part],
                kind,
                table if len(table) == 1 else table[part],
            )
            for index, field in enumerate(after):
                if index in self.blocks:
                    out[part, self.rows[self.batch.names[index]]] = field.reshape(n, -1, self.d)
                elif (field != field[0]).any():
                    raise NotExact(
                        f"{self.batch.machine.algorithm.name} keeps {self.batch.names[index]}, which is not "
                        "a point and depends on what is drawn"
                    )
                else:
                    self.next[index] = field[0].copy()
        return out if self.turn is None else out @ self.turn

    def fold(self, Z):
        return Z.reshape(len(Z), 1, self.M) if self.coupled else Z.transpose(0, 2, 1)

    def fold_noise(self, noise):
        """(calls, d) -> (D, calls * e)"""
        return noise.reshape(1, -1) if self.coupled else noise.T

    def _vectors(self):
        """Noise vectors, one a probe."""
        return np.eye(self.d) if self.coupled else np.ones((1, self.d))

    def maps(self, cohorts, works, rows):
        """For each cohort and its work, the affine map of (state - centre, 1, server noise):
        columns and values (D, M, .). rows (V, .) are the points of the state that are displaced for
        each; other columns are not asked.
        """
        vectors, e, calls = self._vectors(), self.e, len(self.server_calls)
        states = rows.shape[1] * e
        probes = 1 + states + calls * e
        each = max(1, int(2**23 / (probes * self.m * self.d)))
        for low in range(0, len(cohorts), each):
            C, W, moved = cohorts[low : low + each], works[low : low + each], rows[low : low + each]
            n = len(C)
            Z = np.tile(self.centre, (n, probes, 1, 1))
            table = np.zeros((n, probes, 2, self.d))
            table[:, :, 0, 0] = -1.0
            for v, work in enumerate(W):
                for c, row in enumerate(moved[v]):
                    Z[v, 1 + c * e : 1 + (c + 1) * e, row] += self.far * vectors
                for c, step in enumerate(self.server_calls):
                    at = slice(1 + states + c * e, 1 + states + (c + 1) * e)
                    table[v, at, 0, 0] = (
                        0 if step < 0 else self.batch.ordinal(work, len(work), step)
                    )
                    table[v, at, 1] = self.far * self.unseen(vectors)
            out = self(
                Z.reshape(-1, self.m, self.d),
                np.repeat(C, probes, 0),
                np.repeat(W, probes, 0),
                IMPULSE,
                table.reshape(-1, 2, self.d),
            ).reshape(n, probes, self.m, self.d)
            for v in range(n):
                level = self.fold(out[v, :1] - self.centre)[0]
                steps = np.moveaxis(self.fold((out[v, 1:] - out[v, 0]) / self.far), 0, -1)
                columns = np.concatenate(
                    [
                        (moved[v, :, None] * e + np.arange(e)).ravel(),
                        np.arange(self.M, self.columns),
                    ]
                )
                yield (
                    columns,
                    np.concatenate(
                        [steps[:, :, :states], level[:, :, None], steps[:, :, states:]], axis=2
                    ),
                )

    def unseen(self, vectors):
        return vectors if self.turn is None else vectors @ self.turn.T

    def impulses(self, cohorts, works, ordinals, bases):
        """The answers (R, D, M, e) to noise at one client call each; bases (R, D, M) are the maps'
        constants."""
        vectors, e, R = self._vectors(), self.e, len(cohorts)
        each = max(1, int(2**23 / (e * self.m * self.d)))
        for low in range(0, R, each):
            C, W, O = cohorts[low : low + each], works[low : low + each], ordinals[low : low + each]
            table = np.zeros((len(C), e, 2, self.d))
            table[:, :, 0, 0] = O[:, None]
            table[:, :, 1] = self.far * self.unseen(vectors)
            out = self(
                np.tile(self.centre, (len(C) * e, 1, 1)),
                np.repeat(C, e, 0),
                np.repeat(W, e, 0),
                IMPULSE,
                table.reshape(-1, 2, self.d),
            )
            answers = self.fold(out - self.centre).reshape(len(C), e, self.D, self.M)
            answers = (answers - bases[low : low + each, None]) / self.far
            yield from np.moveaxis(answers, 1, -1)

    def noises(self, i, s):
        """The calls of a client that does s steps: -1 stands for its gradient at x."""
        if self.batch.machine.trained.sigma[i] == 0:
            return []
        return [-1] * self.batch.asks_client + list(range(s))

    def trial(self, generator, scale, linear, cohort, work):
        """A random state under random noise: what was put in, and what came out."""
        batch, cohort, work = self.batch, cohort[None], work[None]
        Z = self.centre + (scale * generator.standard_normal((self.m, self.d)) if linear else 0.0)
        calls = batch.ordinal(work[0], len(work[0]), self.round.server_work)
        noise = scale * generator.standard_normal((calls, self.d))
        live = np.zeros(calls, dtype=bool)
        shown = dict(server=[], slots=[])
        for step in self.server_calls:
            at = 0 if step < 0 else batch.ordinal(work[0], len(work[0]), step)
            live[at] = True
            shown["server"].append(at)
        for slot, (i, s) in enumerate(zip(cohort[0], work[0])):
            at = [batch.ordinal(work[0], slot, k) for k in self.noises(i, s)]
            live[at] = True
            shown["slots"].append(noise[at])
        noise[~live] = 0.0
        out = self(
            Z[None],
            cohort,
            work,
            TABLE,
            self.unseen(noise)[None] if calls else np.zeros((1, 1, self.d)),
        )
        server = (
            self.fold_noise(noise[shown["server"]]) if shown["server"] else np.zeros((self.D, 0))
        )
        u = np.concatenate(
            [self.fold((Z - self.centre)[None])[0], np.ones((self.D, 1)), server], axis=1
        )
        return u, [self.fold_noise(n) for n in shown["slots"]], self.fold(out - self.centre)[0]
