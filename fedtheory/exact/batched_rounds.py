"""Rounds of an algorithm run by the compiled engine for many states, cohorts and noises at once."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from fedtheory import jit
from fedtheory.algorithm import Algorithm
from fedtheory.exact.participation_law import Law
from fedtheory.problem import NONE, Problem
from fedtheory.runs import engine
from fedtheory.runs.groups import Chunk
from fedtheory.runs.machine import NO_PATH, NO_TABLE, Machine, run_blocks
from fedtheory.runs.running import thread_count

WORDS = 2**22  # most numbers in the states of one batch
SPREAD_WORK = 1e6  # coordinates times steps above which the cores share a batch


class Round(NamedTuple):
    """The data that fix a round apart from its state, cohort, work and noise."""

    t: int
    h: tuple[Any, ...]
    shares: np.ndarray  # (N + 1,)
    server_work: int
    law: Law


class Batch:
    """A batch runner: runs rounds of an algorithm on a problem for many states at once.

    The trials of one Machine serve as states: each call overwrites them, runs one round and returns
    views. `size` is the most states of a call, and `first` holds the fields of the state at x_0.
    """

    def __init__(
        self,
        problem: Problem,
        algorithm: Algorithm,
        x_0: np.ndarray,
        S: int,
        h: Any,
        size: int,
        wanted: int = 0,
    ) -> None:
        self.size, self.workers = size, min(thread_count(), size)
        self.machine = Machine(
            algorithm, problem, np.tile(x_0, (size, 1)), S, h, wanted, self.workers
        )
        self.slabs = self.machine.slabs
        self.first = [slab[0].copy() for slab in self.slabs.arrays]
        self.names = self.slabs.type._fields
        self.asks_server = bool(self.machine.asks & engine.SERVER_GRAD)
        self.asks_client = bool(self.machine.asks & engine.CLIENT_GRAD)
        self._hyper = (None,)

    def objective_is(self, problem: Problem, h: Any) -> None:
        """Set the objective, with its weights, that rounds are run on from here on."""
        self.machine.objective_is(problem, h)

    def run(
        self,
        round: Round,
        fields: Sequence[np.ndarray],
        cohort: np.ndarray,
        work: np.ndarray,
        kind: int = NONE,
        table: np.ndarray = NO_TABLE,
        moved: Sequence[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = (),
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Run one round for len(cohort) <= size trials. Each field is (n, ...), or (1, ...) for one
        value shared by all trials, except that `moved` = (field, trials, rows, points) replaces
        some points; the fields are returned as views, valid until the next call, together with the
        record."""
        n, S = cohort.shape
        machine, slabs = self.machine, self.slabs
        for slab, field in zip(slabs.arrays, fields):
            slab[:n] = field
        for index, trials, rows, points in moved:
            slabs.arrays[index].reshape(self.size, -1, points.shape[1])[trials, rows] = points
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
        advance = machine.block_task(chunk)
        if (
            self.workers > 1
            and slabs.x.shape[1] * (work.sum() + n * round.server_work) > SPREAD_WORK
        ):
            with ThreadPoolExecutor(self.workers) as pool:
                run_blocks(pool, self.workers, n, max(1, -(-n // (4 * self.workers))), advance)
        else:
            advance(0, 0, n)
        return [slab[:n] for slab in slabs.arrays], record[:, 0]

    def ordinal(self, work: np.ndarray, slot: int, step: int) -> int:
        """Return the ordinal of a gradient call within the round: `step` of a slot, -1 for the
        slot's gradient at x. Slot S is the server after the clients."""
        calls = self.asks_server + work[:slot].sum() + slot * self.asks_client + step
        return int(calls + (self.asks_client if slot < len(work) else 0))
