"""The round map of an algorithm, probed by running the compiled engine: states, cohorts, work and
noise in, states out.

No algorithm is written a second time: its own kernels run on chosen inputs. A state is a stack of
points: server point, variates, momenta, and every other array whose last axis is the problem's
dimension. All other parts of a state (weights, counters) keep their values, and must not depend on
random draws.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.errors import NotExact
from fedtheory.problem import IMPULSE, NONE, TABLE
from fedtheory.runs.machine import NO_TABLE
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.exact.batched_rounds import Round

FAR = 2.0**24  # size of a probe's displacement, so that rounding is relative to the displacement


class Prober:
    """A round as a map of points: state (n, m, d), cohort, work, noise -> state (n, m, d).

    Maps that are `coupled` mix the d coordinates; other maps treat each coordinate separately.
    `fold` reshapes a state to (n, 1, m d) if coupled and to (n, d, m) otherwise, and one probe then
    serves all coordinates. `turn` (d, d) expresses points in another orthonormal basis: state =
    turn @ point as seen by the prober. `which` lists the fields that are followed, and the fields
    that a round changes but that nothing reads.
    """

    def __init__(
        self,
        batch: Any,
        round: "Round",
        fields: Any,
        centre: np.ndarray | None,
        coupled: bool,
        turn: Any = None,
        which: Sequence[list[int]] | None = None,
    ) -> None:
        self.batch, self.round, self.fields, self.coupled, self.turn = (
            batch,
            round,
            fields,
            coupled,
            turn,
        )
        self.d = batch.slabs.x.shape[1]
        self.points = self._points()
        self.blocks, self.forgotten = self._split_blocks() if which is None else which
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
        self.start = self.turn_points(
            np.concatenate([fields[n].reshape(-1, self.d) for n in self.blocks])
        )
        self.centre = self.start.copy() if centre is None else np.zeros((self.m, self.d))
        if centre is not None:
            self.centre[self.x_row] = centre
        law, sigma = round.law, batch.machine.trained.sigma
        self.D, self.M = (1, self.m * self.d) if coupled else (self.d, self.m)
        self.e = self.d if coupled else 1  # noise directions per call
        calls = [0] * batch.asks_server + [None] * round.server_work
        self.server_calls = (
            [k - batch.asks_server if call is None else -1 for k, call in enumerate(calls)]
            if sigma[0] > 0
            else []
        )
        self.variance = sigma**2 / self.d  # the variance of each coordinate of one call's noise
        self.columns = self.M + 1 + len(self.server_calls) * self.e
        self.far = FAR * 2.0 ** np.ceil(np.log2(1.0 + np.abs(self.centre).max(initial=0.0)))
        self.law = law

    def turn_points(self, Z: np.ndarray) -> np.ndarray:
        """Return points in the prober's basis."""
        return Z if self.turn is None else Z @ self.turn

    def _points(self) -> list[int]:
        """Return the indices of the fields that are stacks of points: the fields whose last axis
        grows with the dimension d."""
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

    def _split_blocks(self) -> tuple[list[int], list[int]]:
        """Split the stacks of points that a round changes into those that the server point depends
        on, directly or through other stacks, and the rest. A stack that no round changes keeps its
        value."""
        batch, law, generator = self.batch, self.round.law, np.random.default_rng(1)
        cohort, work = law.draw(generator, min(8, batch.size))
        # idle clients read nothing, so half of the draws have full work
        for n in range(0, len(work), 2):
            work[n] = [law.possible_steps(i)[-1] for i in cohort[n]]
        random = lambda a: generator.standard_normal((len(cohort), *a.shape))
        before = [random(a) if n in self.points else a[None] for n, a in enumerate(self.fields)]
        after = lambda fields: [a.copy() for a in batch.run(self.round, fields, cohort, work)[0]]
        first = after(before)
        x = batch.names.index("x")
        changed = [n for n in self.points if n == x or not np.array_equal(before[n], first[n])]
        readers = {}
        for n in changed:
            second = after([*before[:n], random(self.fields[n]), *before[n + 1 :]])
            readers[n] = [k for k in changed if not np.array_equal(first[k], second[k])]
        read = {x}
        while more := {n for n in changed if read.intersection(readers[n])} - read:
            read |= more
        return sorted(read), sorted(set(changed) - read)

    def __call__(
        self,
        Z: np.ndarray,
        cohort: np.ndarray,
        work: np.ndarray,
        kind: int = NONE,
        table: np.ndarray = NO_TABLE,
    ) -> np.ndarray:
        out = np.empty_like(Z)
        Z = Z if self.turn is None else Z @ self.turn.T
        for low in range(0, len(Z), self.batch.size):
            part = slice(low, low + self.batch.size)
            n = len(Z[part])
            fields = [a[None] for a in self.fields]
            for index in self.forgotten:  # the values of these fields must not matter
                fields[index] = np.random.default_rng(6).standard_normal(fields[index].shape)
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
            self._keep(after)
        return out if self.turn is None else out @ self.turn

    def displaced_points(
        self,
        moves: tuple[np.ndarray, np.ndarray, np.ndarray],
        cohort: np.ndarray,
        work: np.ndarray,
        table: np.ndarray,
        wanted: np.ndarray | None,
    ) -> np.ndarray:
        """Return points after a round from the displaced centre, (n, w, d): the rows `wanted` (n,
        w), where each column stays within one field, or all rows for None. `moves` are (which of
        the n (k,), row (k,), displacement (k, d)), in increasing order of the first."""
        which, row, by = moves
        m, n = self.m, len(cohort)
        out = np.empty((n, m if wanted is None else wanted.shape[1], self.d))
        start = self.unseen_part(self.centre)
        points = start[row] + self.unseen_part(by)
        spans = [(n, self.rows[self.batch.names[n]]) for n in self.blocks]
        fields = [a[None] for a in self.fields]
        for index, span in spans:
            fields[index] = start[span].reshape(1, *self.fields[index].shape)
        for low in range(0, n, self.batch.size):
            part = slice(low, low + self.batch.size)
            here = slice(*np.searchsorted(which, [low, low + self.batch.size]))
            moved = []
            for index, span in spans:
                mine = np.flatnonzero((span.start <= row[here]) & (row[here] < span.stop))
                if len(mine):
                    mine += here.start
                    moved.append((index, which[mine] - low, row[mine] - span.start, points[mine]))
            after, _ = self.batch.run(
                self.round,
                fields,
                cohort[part],
                work[part],
                IMPULSE,
                table if len(table) == 1 else table[part],
                moved,
            )
            self._keep(after)
            some = np.arange(len(cohort[part]))
            for index, span in spans:
                field = after[index].reshape(len(some), -1, self.d)
                if wanted is None:
                    out[part, span] = field
                    continue
                for column, rows in enumerate(wanted[part].T):
                    if span.start <= rows[0] < span.stop:
                        out[part, column] = field[some, rows - span.start]
        return out if self.turn is None else out @ self.turn

    def _keep(self, after: Sequence[np.ndarray]) -> None:
        """Store the values after a round of the fields that are not followed, and refuse a method
        where these values differ between states: their law would have to be followed, too."""
        for index, field in enumerate(after):
            if index in self.blocks or index in self.forgotten:
                continue
            if (field != field[0]).any():
                raise NotExact(
                    f"{self.batch.machine.algorithm.name} keeps {self.batch.names[index]}, which is not "
                    "a point and depends on what is drawn"
                )
            self.next[index] = field[0].copy()

    def fold_state(self, Z: np.ndarray) -> np.ndarray:
        """Reshape states (n, m, d) to (n, D, M): all numbers together if coordinates mix, else one
        row for each coordinate."""
        n, m, d = Z.shape
        return Z.reshape(n, 1, m * d) if self.coupled else Z.transpose(0, 2, 1)

    def folded_indices(self, rows: np.ndarray) -> np.ndarray:
        """Return the indices in a folded state of the points `rows`."""
        return (rows[:, None] * self.e + np.arange(self.e)).ravel()

    def fold_noise(self, noise: np.ndarray) -> np.ndarray:
        """Reshape noise (calls, d) to (D, calls * e)."""
        return noise.reshape(1, -1) if self.coupled else noise.T

    def _vectors(self) -> np.ndarray:
        """Return the noise vectors to probe with, one for each probe."""
        return np.eye(self.d) if self.coupled else np.ones((1, self.d))

    def maps(
        self,
        cohorts: Number,
        works: np.ndarray,
        rows: np.ndarray,
        wanted: np.ndarray | None = None,
        server: bool = True,
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield for each cohort and its work the affine map of (state - centre, 1, server noise):
        column indices and values (D, rows, .). rows (V, .) are the points displaced for each
        cohort, `wanted` (V, .) the points that are read, all for None; columns of other points are
        not probed, nor columns of the server's noise without `server`."""
        vectors, e, calls = self._vectors(), self.e, self.server_calls if server else []
        states = rows.shape[1] * e
        probes = 1 + states + len(calls) * e
        count = self.m if wanted is None else wanted.shape[1]
        each = max(1, int(2**23 / (probes * count * self.d)))
        outer = np.arange(self.M, self.columns if server else self.M + 1)
        for low in range(0, len(cohorts), each):
            C, W, moved = cohorts[low : low + each], works[low : low + each], rows[low : low + each]
            n = len(C)
            table = np.zeros((n, probes if calls else 1, 2, self.d))
            table[:, :, 0, 0] = -1.0
            for v, work in enumerate(W):
                for c, step in enumerate(calls):
                    at = slice(1 + states + c * e, 1 + states + (c + 1) * e)
                    table[v, at, 0, 0] = (
                        0 if step < 0 else self.batch.ordinal(work, len(work), step)
                    )
                    table[v, at, 1] = self.far * self.unseen_part(vectors)
            which = np.arange(n)[:, None] * probes + np.arange(1, 1 + states)
            moves = which.ravel(), np.repeat(moved, e), np.tile(self.far * vectors, (moved.size, 1))
            kept = None if wanted is None else wanted[low : low + each]
            out = self.displaced_points(
                moves,
                np.repeat(C, probes, 0),
                np.repeat(W, probes, 0),
                table.reshape(-1, 2, self.d) if calls else table[0],
                None if kept is None else np.repeat(kept, probes, 0),
            ).reshape(n, probes, count, self.d)
            for v in range(n):
                centre = self.centre if kept is None else self.centre[kept[v]]
                level = self.fold_state(out[v, :1] - centre)[0]
                steps = np.moveaxis(self.fold_state((out[v, 1:] - out[v, 0]) / self.far), 0, -1)
                columns = np.concatenate([self.folded_indices(moved[v]), outer])
                yield (
                    columns,
                    np.concatenate(
                        [steps[:, :, :states], level[:, :, None], steps[:, :, states:]], axis=2
                    ),
                )

    def unseen_part(self, vectors: np.ndarray) -> np.ndarray:
        """Return vectors of the prober's basis in the problem's own basis."""
        return vectors if self.turn is None else vectors @ self.turn.T

    def noise_answers(
        self,
        cohorts: np.ndarray,
        works: np.ndarray,
        ordinals: np.ndarray,
        bases: np.ndarray,
        wanted: np.ndarray | None = None,
        vectors: np.ndarray | None = None,
    ) -> Iterator[np.ndarray]:
        """Yield the answers (R, D, rows, e) to noise at one client call each, in all rows or in the
        points `wanted` (R, .). bases (R, D, rows) are the maps' constants in these rows; `vectors`
        (R, e, d) replace the default noise, which is one unit vector per direction."""
        R = len(cohorts)
        if vectors is None:
            vectors = np.broadcast_to(self._vectors(), (R, self.e, self.d))
        e = vectors.shape[1]
        count = self.m if wanted is None else wanted.shape[1]
        each = max(1, int(2**23 / (e * count * self.d)))
        still = np.zeros(0, dtype=np.int64)
        for low in range(0, R, each):
            part = slice(low, low + each)
            C, W, O = cohorts[part], works[part], ordinals[part]
            table = np.zeros((len(C), e, 2, self.d))
            table[:, :, 0, 0] = O[:, None]
            table[:, :, 1] = self.far * self.unseen_part(vectors[part])
            kept = None if wanted is None else wanted[part]
            out = self.displaced_points(
                (still, still, np.zeros((0, self.d))),
                np.repeat(C, e, 0),
                np.repeat(W, e, 0),
                table.reshape(-1, 2, self.d),
                None if kept is None else np.repeat(kept, e, 0),
            )
            out -= self.centre if kept is None else np.repeat(self.centre[kept], e, 0)
            answers = self.fold_state(out).reshape(len(C), e, self.D, -1)
            answers = (answers - bases[part, None]) / self.far
            yield from np.moveaxis(answers, 1, -1)

    def noise_calls(self, i: Number, s: int) -> list[int]:
        """Return the gradient calls of a client that does s steps; -1 is the gradient at x. The
        list is empty for a client without noise."""
        if self.batch.machine.trained.sigma[i] == 0:
            return []
        return [-1] * self.batch.asks_client + list(range(s))

    def random_trial(
        self,
        generator: np.random.Generator,
        scale: float,
        linear: bool,
        cohort: np.ndarray,
        work: Number,
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """Run a round from a random state under random noise; return the inputs and the resulting
        state."""
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
            at = [batch.ordinal(work[0], slot, k) for k in self.noise_calls(i, s)]
            live[at] = True
            shown["slots"].append(noise[at])
        noise[~live] = 0.0
        out = self(
            Z[None],
            cohort,
            work,
            TABLE,
            self.unseen_part(noise)[None] if calls else np.zeros((1, 1, self.d)),
        )
        server = (
            self.fold_noise(noise[shown["server"]]) if shown["server"] else np.zeros((self.D, 0))
        )
        u = np.concatenate(
            [self.fold_state((Z - self.centre)[None])[0], np.ones((self.D, 1)), server], axis=1
        )
        return (
            u,
            [self.fold_noise(n) for n in shown["slots"]],
            self.fold_state(out - self.centre)[0],
        )
