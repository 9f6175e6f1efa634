"""The machine of one algorithm on one problem: state of all trials, kernels and threads."""

from collections.abc import Callable, Sequence
from concurrent.futures.thread import ThreadPoolExecutor
from functools import partial
from queue import LifoQueue
from typing import Any

import numpy as np

from fedtheory import jit, metrics
from fedtheory.algorithm import ROLES, Algorithm, NoLocal, Schedule
from fedtheory.errors import InvalidInput
from fedtheory.problem import BEHIND, Problem
from fedtheory.runs import engine, lazy_arrays, shared_gradients
from fedtheory.runs.barriers import LINE, make_counters
from fedtheory.runs.groups import Chunk, Cohort, Desk, Law, Rules, Scratch, Trials, Truth, types_of
from fedtheory.runs.trying import try_method

NO_TABLE = np.zeros((1, 1, 1))
NO_PATH = np.zeros((1, 0, 1))
# number of coordinates from which a call of machine code costs less than a loop in Python
LONG = 256


class Slabs:
    """The state and workspace of all trials: arrays, and the handles through which kernels access
    the arrays."""

    def __init__(
        self,
        algorithm: Algorithm,
        problem: Problem,
        x_0: np.ndarray,
        S: int,
        h: Any,
        workers: int,
        packed: bool,
    ) -> None:
        self.packed, self._kept = packed, []
        layers = np.array([layer.start for layer in problem.layers] + [problem.d], dtype=np.int64)
        x_0 = x_0.astype(problem.real, copy=False)
        points = lambda made: [_of_kind(a, problem) for a in made]
        made = algorithm.init(x_0[0], problem.N, layers, h)
        first = points(made)
        trials = len(x_0)
        self.arrays = [lazy_arrays.repeat_array(a, trials) for a in first]
        for trial in range(1, trials):
            if not np.array_equal(x_0[trial], x_0[0]):
                for slab, a in zip(self.arrays, algorithm.init(x_0[trial], problem.N, layers, h)):
                    lazy_arrays.put_array(np.ascontiguousarray(a), slab[trial])
        self.type = type(made)
        named = dict(zip(self.type._fields, self.arrays))
        self.x, self.w = named["x"], named.get("w", named["x"])
        local = (
            NoLocal(np.zeros(1))
            if algorithm.local is None
            else algorithm.local(problem.d, layers, h)
        )
        local = type(local)(*points(local))
        self.state_handles = self._handles(self.type, self.arrays, trials)
        # for each worker, the arrays to which a cohort's handles point
        self.stacked = [
            type(local)(*(np.zeros((S, *a.shape), dtype=a.dtype) for a in local))
            for _ in range(workers)
        ]
        self.cohorts = [self._cohort(stacked, S, problem) for stacked in self.stacked]
        self.desks = self._desk_fields(problem, workers)
        self.scratches = [self._scratch(problem, worker) for worker in range(workers)]

    def _cohort(self, stacked: Any, S: int, problem: Problem) -> Cohort:
        together = self._handles(type(stacked), [a[None] for a in stacked], 1)[0]
        return Cohort(
            # not initialised, because methods set the points at which clients begin
            np.empty((S, problem.d), problem.real),
            self._handles(type(stacked), stacked, S),
            together,
            np.zeros(S),
        )

    def _desk_fields(self, problem: Problem, workers: int) -> dict[str, np.ndarray]:
        """Return the fields of a Desk that all workers share. Each worker's part occupies cache
        lines of its own."""
        kind, whole = problem.real, lambda n: -(-n // (2 * LINE)) * 2 * LINE
        most = problem.sizes if problem.drawing or problem.room else problem.batch_size
        most = max(1, most.max(), problem.batch_size.max())
        asked = whole(problem.d + BEHIND) * (problem.room > 0)
        return dict(
            counters=np.zeros(shared_gradients.SPAN * workers, np.int64),
            asked=np.zeros((workers, LINE), np.int64),
            rows=np.zeros((workers, whole(most)), np.int64),
            x=np.zeros((workers, asked), kind),
            g=np.zeros((workers, whole(problem.d)), kind),
            room=np.empty((workers, whole(problem.room)), kind),
        )

    def _scratch(self, problem: Problem, worker: int) -> Scratch:
        deck, rows = np.arange(max(1, problem.sizes.max())), self.desks["rows"][worker]
        g, rooms = self.desks["g"][worker, : problem.d], np.empty((4, problem.d), problem.real)
        # buffers are not cleared, because they are written before they are read
        return Scratch(deck, rows, g, *rooms)

    def _handles(self, kind: type, slabs: Any, count: int) -> np.ndarray | list[Any]:
        """Return one handle for each of `count` tuples whose fields are rows of `slabs`."""
        tuples = [
            kind(*(slab[n] for slab in slabs)) for n in range(count if not self.packed else 1)
        ]
        if not self.packed:
            return tuples
        words = np.tile(jit.pack(tuples[0]), (count, 1))
        at = 0
        for slab in slabs:  # word 4 of an array is its address
            words[:, at + 4] += np.arange(count) * slab.strides[0]
            at += 5 + 2 * (slab.ndim - 1)
        return self._addresses(words)

    def _addresses(self, words: np.ndarray) -> np.ndarray:
        self._kept.append(words)
        return words.ctypes.data + np.arange(len(words), dtype=np.int64) * words.strides[0]

    def hyper_handles(self, hyper: Schedule, first: int, rounds: int) -> np.ndarray | list[Any]:
        """Return handles of the hyper-parameters of some rounds, valid until the next call."""
        if not self.packed:
            return hyper[first : first + rounds]
        tuples = [hyper[first]] if hyper.constant else hyper[first : first + rounds]
        self._hyper = np.stack([jit.pack(h) for h in tuples])
        return self._hyper.ctypes.data + np.arange(rounds) * (
            0 if hyper.constant else self._hyper.strides[0]
        )

    @property
    def bytes(self) -> int:
        """Return the size of the state of all trials in bytes."""
        return sum(slab.nbytes for slab in self.arrays)

    def copy(self) -> list[np.ndarray]:
        """Return copies of the state's arrays."""
        return [lazy_arrays.copy_array(slab) for slab in self.arrays]

    def restore(self, copies: Sequence[np.ndarray]) -> None:
        """Restore the state from copies made by `copy`."""
        for slab, copy in zip(self.arrays, copies):
            lazy_arrays.put_array(copy, slab)


def _of_kind(a: np.ndarray, problem: Problem) -> np.ndarray:
    """Return an array of a method converted to the floating-point type of points, if its last axis
    has the problem's dimension."""
    points = a.dtype == np.float64 and a.shape[-1:] == (problem.d,)
    return a.astype(problem.real, copy=False) if points else a


class Loops(dict):
    """The engine's loops by name, compiled on first access: most runs need only `advance`."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make

    def __missing__(self, name: str) -> Callable[..., Any]:
        self[name] = self.make(name)
        return self[name]


class Machine:
    """One algorithm on one problem, ready to run rounds: kernels, slabs and threads."""

    def __init__(
        self,
        algorithm: Algorithm,
        problem: Problem,
        x_0: np.ndarray,
        S: int,
        h: Any,
        wanted: int,
        workers: int = 1,
        compiled: bool | None = None,
        every: int = 1,
    ) -> None:
        if algorithm.server and not problem.has_server:
            raise InvalidInput(
                f"{algorithm.name} ({algorithm.cites}) needs a problem with a server loss; "
                f"{problem.name} has none"
            )
        self.algorithm, self.wanted, self.every = algorithm, wanted, every
        can = algorithm.compiled and problem.kernels.compiled
        self.compiled = can if compiled is None else compiled and can
        self.packed = self.compiled and not jit.DISABLED
        # Gradients run as Python, but points are so long that loops over coordinates are compiled.
        self.mixed = (
            not (self.packed or jit.DISABLED or compiled is False)
            and algorithm.compiled
            and problem.d >= LONG
        )
        erased = self.packed or self.mixed  # kernels are machine code, which takes addresses
        self.real = problem.real
        if erased:
            for of in (problem, self._trained_on(problem, h)):
                of.try_out()
            like = lambda made: [_of_kind(a, problem) for a in made]
            try_method(algorithm, problem, x_0[0].astype(problem.real), S, h, like)
        self.slabs = Slabs(algorithm, self._trained_on(problem, h), x_0, S, h, workers, erased)
        self.diverged = np.full(len(x_0), -1, dtype=np.int64)
        self.stop = np.zeros(1, dtype=np.int64)
        self.asks = engine.SERVER_GRAD * algorithm.asks(
            algorithm.server_grad, h
        ) + engine.CLIENT_GRAD * algorithm.asks(algorithm.client_grad, h)
        stacked = self.slabs.stacked[0]
        self.loops = Loops(
            partial(engine.kernel, real=self.real)
            if self.packed
            else partial(engine.interpret_source, leaves=self.mixed)
        )
        if erased:
            slot = type(stacked)(*(a[0] for a in stacked))
            state = self.slabs.type(*(slab[0] for slab in self.slabs.arrays))
            self.kernels = algorithm.kernels(state, slot, stacked, h, self.real)
        else:
            self.kernels = [jit.python(getattr(algorithm, role)) for role in ROLES]
        self._kept = {}
        slabs = self.slabs
        self.trials = self._hand_group(
            Trials(slabs.state_handles, slabs.x, slabs.w, self.diverged, self.stop), "trials"
        )
        self.cohorts = [self._hand_group(own, f"cohort {n}") for n, own in enumerate(slabs.cohorts)]
        self.scratches = [
            self._hand_group(own, f"scratch {n}") for n, own in enumerate(slabs.scratches)
        ]
        self.objective_is(problem, h)

    def _hand_group(self, group: Any, name: str) -> Any:
        """Return a group in the form that the engine's loops take. The memory behind the address
        stays valid until another group is passed under the same name."""
        if not self.packed:
            return group
        self._kept[name] = jit.pack(group, types_of(self.real)[type(group)])
        return self._kept[name].ctypes.data

    def _trained_on(self, problem: Problem, h: Any) -> Problem:
        """Return the problem for clients to train on: the method's transform of the problem (data
        sharing), or the problem itself."""
        return problem if self.algorithm.transform is None else self.algorithm.transform(problem, h)

    def objective_is(self, problem: Problem, h: Any) -> None:
        """Set the problem that clients train on and that metrics measure, at the start and whenever
        the objective changes."""
        self.problem = problem
        self.trained = self._trained_on(problem, h)
        x_star = problem.minimizer() if self.wanted & metrics.DISTANCE else np.zeros(0)
        self.x_star = x_star.astype(self.real, copy=False)
        roles = lambda of, *names: [
            of.kernels.role(n, of.data, self.real)
            if self.packed
            else jit.python(getattr(of.kernels, n))
            for n in names
        ]
        kernels = (
            *roles(self.trained, "grad", "batch"),
            *roles(problem, "objective", "value", "grad", "loss", "test"),
            *self.kernels,
        )
        self._rules, self._side_by_side = Rules(*kernels), None
        self.rules = self._hand_group(self._rules, "rules")
        of, self._words = (
            self.trained,
            [jit.pack(of.data) for of in (self.trained, problem)] if self.packed else None,
        )
        data, true_data = (
            [words.ctypes.data for words in self._words] if self.packed else (of.data, problem.data)
        )
        self._law = Law(
            data, of.sigma, of.batch_size, of.sizes, of.replacement, of.drawing, self.asks
        )
        self.law = self._hand_group(self._law, "law")
        self.truth = self._hand_group(
            Truth(true_data, problem.weights, self.x_star, self.wanted, self.every), "truth"
        )

    def measure(self, trials: int) -> np.ndarray:
        """Return the metrics before the first round."""
        rows = np.full((trials, engine.COLUMNS), np.nan)
        problem = self.problem
        if trials > 1 and (self.slabs.x == self.slabs.x[0]).all():
            rows[:] = self.measure(1)
            return rows
        g, g_0 = np.empty(problem.d), np.empty(problem.d)
        for trial in range(trials):
            x = self.slabs.x[trial]
            if self.wanted & metrics.OBJECTIVE:
                rows[trial, 0], g = problem.value_and_grad(x)
                rows[trial, 2] = g @ g
                if self.wanted & metrics.SERVER:
                    g_0 = problem.client_grad(0, x)
                    rows[trial, [1, 3, 4, 5]] = (
                        problem.client_loss(0, x),
                        g_0 @ g_0,
                        g @ g_0,
                        (g - g_0) @ (g - g_0),
                    )
                if self.wanted & metrics.DISSIMILARITY:
                    gaps = [problem.client_grad(i, x) - g for i in range(1, problem.N + 1)]
                    rows[trial, 7] = np.mean([gap @ gap for gap in gaps])
            if self.wanted & metrics.DISTANCE:
                rows[trial, 6] = (x - self.x_star) @ (x - self.x_star)
            if self.wanted & metrics.DRIFT:
                rows[trial, 8:10] = 0.0
            if self.wanted & metrics.TEST:
                problem.kernels.test(problem.data, x, rows[trial, 13:17])
        return rows

    def carry(self, chunk: Chunk, pool: ThreadPoolExecutor, together: bool = False) -> None:
        """Run a chunk of rounds for all trials: blocks of trials over the pool, or, if `together`,
        clients over the pool."""
        trials, workers = len(self.slabs.x), len(self.slabs.scratches)
        if together and self.packed:
            run_together(pool, workers, self.advancing_together(chunk))
            return
        size = trials if workers == 1 else max(1, -(-trials // (4 * workers)))
        run_blocks(pool, workers, trials, size, self.block_task(chunk))

    def block_task(self, chunk: Chunk) -> Callable[..., Any]:
        """Return a function (worker, low, high) that runs this block of trials through a chunk of
        rounds."""
        given, loop = self._hand_chunk(chunk), self.loops["advance"]
        return lambda worker, low, high: loop(
            *given, self.cohorts[worker], self.scratches[worker], low, high
        )

    def advancing_together(self, chunk: Chunk) -> Callable[..., Any]:
        """Return a function of the worker's number that runs that worker's part of all trials'
        rounds. All workers must run at the same time."""
        (_, _, *given), loop = self._hand_chunk(chunk), self.loops["advance_together"]
        workers = len(self.scratches)
        gate, (rules, laws, desks) = make_counters(workers), self.side_by_side()
        return lambda worker: loop(
            *(rules, laws[worker], *given, self.cohorts[0], self.scratches[worker]),
            *(gate, desks[worker], worker, workers),
        )

    def side_by_side(self) -> tuple[int | list[int], ...] | None:
        """Return the rules, and a law and a Desk for each worker. Desks are used where gradients
        are large, and the functions that compute pieces of gradients are compiled on first use."""
        if self._side_by_side is None:
            workers, of = range(len(self.scratches)), self.trained
            self._side_by_side = self.rules, [self.law for _ in workers], [0 for _ in workers]
            if of.in_pieces:
                pieces = [of.kernels.role(n, of.data, self.real) for n in ("pieces", "piece")]
                trained = self._rules.grad, self._rules.batch, *pieces, self._law.data
                desks = [
                    self._hand_group(Desk(*trained, n, **self.slabs.desks), f"desk {n}")
                    for n in workers
                ]
                laws = [
                    self._hand_group(self._law._replace(data=desks[n]), f"law {n}") for n in workers
                ]
                grad, batch = shared_gradients.desk_roles(self.real)
                rules = self._hand_group(
                    self._rules._replace(grad=grad, batch=batch), "rules at desks"
                )
                self._side_by_side = rules, laws, desks
        return self._side_by_side

    def _hand_chunk(self, chunk: Any) -> tuple[int, int, int, int, int]:
        """Return the arguments common to both loops: rules, law, truth, trials and the chunk."""
        rounds = self._hand_group(chunk._replace(seed=np.uint64(chunk.seed)), "chunk")
        return self.rules, self.law, self.truth, self.trials, rounds


def run_together(pool: ThreadPoolExecutor, workers: int, task: Callable[..., Any]) -> None:
    """Run task(worker) for all workers at the same time."""
    for future in [pool.submit(task, worker) for worker in range(workers)]:
        future.result()


def run_blocks(
    pool: ThreadPoolExecutor, workers: int, count: int, size: int, task: Callable[..., Any]
) -> None:
    """Run task(worker, low, high) over blocks of 0 .. count - 1. Blocks are smaller than a worker's
    share, so that a busy core delays little; Ctrl-C is raised once the blocks in progress have
    ended."""
    # last in, first out: few blocks then use the memory of few workers
    free: LifoQueue = LifoQueue()
    for worker in reversed(range(workers)):
        free.put(worker)

    def block(low: int) -> None:
        worker = free.get()
        try:
            task(worker, low, min(low + size, count))
        finally:
            free.put(worker)

    futures = [pool.submit(block, low) for low in range(0, count, size)]
    for future in futures:
        future.result()
