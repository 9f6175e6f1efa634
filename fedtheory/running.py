"""Runs: what the user asks for, checked, then carried out in chunks of rounds by blocks of trials.

Chunks give progress, interruption and a stop on divergence; blocks give threads. Neither changes a
bit, because every draw is a function of (seed, trial, round, client, step).
"""

import os
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, field
from queue import SimpleQueue

import numpy as np

from fedtheory import discover, engine, jit, metrics, rng
from fedtheory.algorithm import NoLocal
from fedtheory.errors import Diverged, Interrupted, InvalidInput, refuse
from fedtheory.participation import Participation
from fedtheory.problem import NOISES

CHUNK_SECONDS = 0.2     # a chunk aims at this: often enough for progress and Ctrl-C
PATIENCE = 0.7          # seconds that Ctrl-C leaves the chunk under way before it is dropped
CHUNK_WORDS = 2**21     # cohorts and work of a chunk stay below this many numbers


@dataclass
class Run:
    """What a run kept. `metrics[name]` has shape (trials, rounds + 1)."""

    problem: object
    algorithm: object
    hyper: list              # one tuple a round
    rounds: int              # rounds finished
    trials: int
    metrics: dict
    final: np.ndarray        # (trials, d), x after the last round
    x: np.ndarray = None     # (trials, rounds + 1, d) with keep="x"
    diverged: np.ndarray = None    # (trials,) the round at which a trial diverged, or -1
    seconds: float = 0.0
    settings: dict = field(default_factory=dict)
    _state: object = None
    _record: object = None


def threads():
    """FEDTHEORY_NUM_THREADS, or the cores this process may use."""
    given = os.environ.get("FEDTHEORY_NUM_THREADS")
    if given is not None:
        if not given.isdigit() or int(given) < 1:
            refuse("FEDTHEORY_NUM_THREADS", "must be a positive integer", given)
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _integer(name, value, low):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        refuse(name, f"must be an integer >= {low}", value)
    return int(value)


def _wanted(names, problem):
    """Checked metric names and the engine's flags."""
    names = metrics.DEFAULT if names is None else tuple(names)
    unknown = [name for name in names if name not in metrics.ALL]
    if unknown:
        refuse("metrics", f"must be among {', '.join(metrics.ALL)}", unknown[0])
    flags = 0
    for name in names:
        for column in metrics.ALL[name].needs:
            flags |= metrics.GROUP[column]
    if not problem.has_server:
        flags &= ~metrics.SERVER
    if problem.minimize is None:
        flags &= ~metrics.DISTANCE
    return names, flags


class _Slabs:
    """State and workspace of all trials: arrays, and the handles by which kernels reach them."""

    def __init__(self, algorithm, problem, x_0, S, h, workers, packed):
        self.packed = packed
        layers = np.array([layer.start for layer in problem.layers] + [problem.d], dtype=np.int64)
        first = algorithm.init(x_0[0], problem.N, layers, h)
        trials = len(x_0)
        self.arrays = [np.repeat(np.ascontiguousarray(a)[None], trials, axis=0) for a in first]
        for trial in range(1, trials):
            if not np.array_equal(x_0[trial], x_0[0]):
                for slab, a in zip(self.arrays, algorithm.init(x_0[trial], problem.N, layers, h)):
                    slab[trial] = a
        self.type = type(first)
        self.states = [self.type(*(slab[t] for slab in self.arrays)) for t in range(trials)]
        named = dict(zip(self.type._fields, self.arrays))
        self.x, self.w = named["x"], named.get("w", named["x"])
        local = NoLocal(np.zeros(1)) if algorithm.local is None else algorithm.local(problem.d, layers, h)
        self.workers = []
        for _ in range(workers):
            stacked = type(local)(*(np.zeros((S, *a.shape), dtype=a.dtype) for a in local))
            slots = [type(local)(*(a[s] for a in stacked)) for s in range(S)]
            self.workers.append((np.zeros((S, problem.d)), slots, stacked))
        self._kept = []
        self.state_handles = self._handles(self.states)
        self.worker_handles = [(y, self._handles(slots), self._handles([stacked])[0])
                               for y, slots, stacked in self.workers]

    def _handles(self, values):
        if not self.packed:
            return values
        words = np.stack([jit.pack(value) for value in values])
        self._kept.append(words)
        return words.ctypes.data + np.arange(len(values), dtype=np.int64) * words.strides[0]

    def hyper_handles(self, hyper):
        if not self.packed:
            return hyper
        self._hyper = np.stack([jit.pack(h) for h in hyper])
        return self._hyper.ctypes.data + np.arange(len(hyper), dtype=np.int64) * self._hyper.strides[0]

    def copy(self):
        return [slab.copy() for slab in self.arrays]

    def restore(self, copies):
        for slab, copy in zip(self.arrays, copies):
            slab[...] = copy


class _Machine:
    """One algorithm on one problem, ready to advance: kernels, slabs and threads."""

    def __init__(self, algorithm, problem, x_0, S, h, wanted, workers=1, compiled=None):
        if algorithm.server and not problem.has_server:
            raise InvalidInput(f"{algorithm.name} ({algorithm.cites}) needs a problem with a server loss; "
                               f"{problem.name} has none")
        self.algorithm, self.wanted = algorithm, wanted
        can = algorithm.compiled and problem.kernels.compiled
        self.compiled = can if compiled is None else compiled and can
        self.packed = self.compiled and not jit.DISABLED
        self.slabs = _Slabs(algorithm, problem, x_0, S, h, workers, self.packed)
        self.diverged = np.full(len(x_0), -1, dtype=np.int64)
        self.stop = np.zeros(1, dtype=np.int64)
        self.asks = (engine.SERVER_GRAD * algorithm.asks(algorithm.server_grad, h)
                     + engine.CLIENT_GRAD * algorithm.asks(algorithm.client_grad, h))
        _, slots, stacked = self.slabs.workers[0]
        if self.packed:
            self.advance = engine.kernel()
            self.kernels = algorithm.kernels(self.slabs.states[0], slots[0], stacked, h)
        else:
            self.advance = engine.interpreted()
            self.kernels = [jit.python(getattr(algorithm, role)) for role in
                            ("begin", "local_start", "local_step", "local_end", "aggregate", "server_step", "end")]
        self.objective_is(problem, h)

    def objective_is(self, problem, h):
        """Point clients and metrics at a problem: at the start, and whenever the objective shifts."""
        self.problem = problem
        self.trained = problem if self.algorithm.transform is None else self.algorithm.transform(problem, h)
        self.x_star = problem.minimizer() if self.wanted & metrics.DISTANCE else np.zeros(problem.d)
        roles = lambda of, *names: [of.kernels.role(n, of.data) if self.packed else jit.python(getattr(of.kernels, n))
                                    for n in names]
        self.grad, self.batch = roles(self.trained, "grad", "batch")
        self.truth = roles(problem, "objective", "grad", "loss")
        self._words = [jit.pack(of.data) for of in (self.trained, problem)] if self.packed else None
        self.data, self.true_data = ([words.ctypes.data for words in self._words] if self.packed
                                     else (self.trained.data, problem.data))

    def measure(self, trials):
        rows = np.full((trials, engine.COLUMNS), np.nan)
        problem = self.problem
        g, g_0 = np.empty(problem.d), np.empty(problem.d)
        for trial in range(trials):
            x = self.slabs.x[trial]
            if self.wanted & metrics.OBJECTIVE:
                rows[trial, 0], g = problem.value_and_grad(x)
                rows[trial, 2] = g @ g
                if self.wanted & metrics.SERVER:
                    g_0 = problem.client_grad(0, x)
                    rows[trial, [1, 3, 4, 5]] = problem.client_loss(0, x), g_0 @ g_0, g @ g_0, (g - g_0) @ (g - g_0)
                if self.wanted & metrics.DISSIMILARITY:
                    gaps = [problem.client_grad(i, x) - g for i in range(1, problem.N + 1)]
                    rows[trial, 7] = np.mean([gap @ gap for gap in gaps])
            if self.wanted & metrics.DISTANCE:
                rows[trial, 6] = (x - self.x_star) @ (x - self.x_star)
            if self.wanted & metrics.DRIFT:
                rows[trial, 8:10] = 0.0
        return rows

    def task(self, worker, low, high, hyper, cohort, work, server_work, shares, kind, table, seed, first_trial,
             first_round, record, path):
        y, local, locals_ = self.slabs.worker_handles[worker]
        of = self.trained
        self.advance(
            self.grad, self.batch, self.data, *self.truth, self.true_data, *self.kernels,
            self.slabs.state_handles, local, locals_, hyper, self.asks, self.slabs.x, self.slabs.w, y,
            cohort, work, server_work, shares, self.problem.weights, of.sigma, of.batch_size, of.sizes,
            of.replacement, kind, table, np.uint64(seed), first_trial, first_round, low, high, self.x_star,
            self.wanted, record, path, self.diverged, self.stop)


NO_TABLE = np.zeros((1, 1, 1))
NO_PATH = np.zeros((1, 0, 1))


def _start(problem, x_0, trials):
    x_0 = np.zeros(problem.d) if x_0 is None and problem.start is None else problem.start if x_0 is None else x_0
    x_0 = np.asarray(x_0, dtype=np.float64)
    if x_0.shape not in ((problem.d,), (trials, problem.d)) or not np.all(np.isfinite(x_0)):
        refuse("x_0", f"must be finite of shape ({problem.d},) or ({trials}, {problem.d})",
               x_0.shape if np.all(np.isfinite(x_0)) else x_0)
    return np.ascontiguousarray(np.broadcast_to(x_0, (trials, problem.d)))


def pretrain(problem, x_0, steps, eta, seed=0, trials=1, first_trial=0):
    """Server pre-training (FSL, section IV-B): `steps` SGD steps of size `eta` on f_0, from x_0."""
    r = _run(problem, discover.algorithm("server_sgd"), 1, trials, seed, x_0, 1, Participation(), (), "metrics",
             None, None, None, None, None, dict(eta_0=eta, K_0=steps), rng.PRETRAIN, first_trial)
    return r.final


def run(problem, algorithm, *, rounds, trials=1, seed=0, x_0=None, S=None, participation=None, keep="metrics",
        metrics=None, pretrained=None, progress=None, workers=None, chunk=None, compiled=None, resume=None,
        **hyper):
    """Run an algorithm on a problem.

    S defaults to N. `participation` says who works how much (fedtheory.participation). `pretrained` is
    dict(steps=, eta=): the server first learns alone. `metrics` names what to record (ft.metrics), at
    the start and after each round. `keep="x"` keeps the trajectory too. `progress(done, rounds,
    seconds)` is called after each chunk. `resume` takes an earlier, shorter run of the same settings.
    `workers` and `chunk` (rounds a chunk) never change the result.
    """
    algorithm = discover.algorithm(algorithm)
    S = problem.N if S is None else S
    participation = participation or Participation()
    if pretrained is not None and resume is None:
        if set(pretrained) != {"steps", "eta"}:
            refuse("pretrained", "must be dict(steps=, eta=)", pretrained)
        x_0 = pretrain(problem, x_0, seed=seed, trials=_integer("trials", trials, 1), **pretrained)
    return _run(problem, algorithm, rounds, trials, seed, x_0, S, participation, metrics, keep, progress, workers,
                chunk, compiled, resume, hyper)


def _run(problem, algorithm, rounds, trials, seed, x_0, S, participation, names, keep, progress, workers, chunk,
         compiled, resume, given, first_round=0, first_trial=0):
    rounds, trials = _integer("rounds", rounds, 0), _integer("trials", trials, 1)
    seed = _integer("seed", seed, 0)
    if seed >= 2**64:
        refuse("seed", "must be below 2**64", seed)
    if keep not in ("metrics", "x"):
        refuse("keep", "must be 'metrics' or 'x'", keep)
    names, wanted = _wanted(names, problem)
    participation.check(problem.N, S)
    if participation.cohort == "with" and algorithm.memory:
        raise InvalidInput(f"cohort 'with' replacement needs clients without memory; {algorithm.name} keeps state "
                           "per client, which would be updated twice")
    if algorithm.everyone and (S != problem.N or participation.cohort == "with"):
        raise InvalidInput(f"{algorithm.name} ({algorithm.cites}) hears from every client in every round, so S must be "
                           f"{problem.N} without replacement; got S={S}, cohort {participation.cohort!r}")
    hyper = algorithm.resolve(given, max(rounds, 1))
    if algorithm.check is not None:
        algorithm.check(hyper[0], problem.N, S)
    begun = time.perf_counter()
    workers = min(threads() if workers is None else _integer("workers", workers, 1), trials)
    original = problem
    weights = problem.weights
    shifts = [t for t in participation.shifts if t < max(rounds, 1)]

    def objective(t):
        """The objective after round t's shift (flex, section 3.3): members keep their proportions."""
        there = participation.members(t, original.N)
        return original if there[1:].all() else original.reweighted((weights * there)[1:])

    start = _start(problem, x_0, trials)
    machine = _Machine(algorithm, objective(0), start, S, hyper[0], wanted, workers, compiled)
    record = np.full((trials, rounds + 1, engine.COLUMNS), np.nan)
    path = np.full((trials, rounds + 1, problem.d), np.nan) if keep == "x" else None
    settings = dict(seed=seed, trials=trials, S=S, metrics=names, keep=keep, participation=participation,
                    first_trial=first_trial)
    done = 0
    if resume is not None:
        done = _resume(resume, machine, settings, record, path, rounds, hyper)
    else:
        record[:, 0] = machine.measure(trials)
        if path is not None:
            path[:, 0] = machine.slabs.x

    kind = NOISES[problem.noise]
    E = np.array([algorithm.number(algorithm.steps, h) for h in hyper], dtype=np.int64)
    server_work = np.array([algorithm.number(algorithm.server_steps, h) for h in hyper], dtype=np.int64)
    handles = machine.slabs.hyper_handles(hyper)
    edges = [t for t in shifts if t > done] + [rounds]
    if done:
        machine.objective_is(objective(done), hyper[min(done, rounds - 1)])
    size = 1 if chunk is None else _integer("chunk", chunk, 1)
    most = max(1, CHUNK_WORDS // (trials * S))
    limit = _one_blas_thread() if problem.blas else nullcontext()
    everyone = np.arange(first_trial, first_trial + trials)

    def result():
        kept = record[:, :done + 1]
        return Run(original, algorithm, hyper, done, trials, _derive(names, kept, hyper[0]), machine.slabs.x.copy(),
                   None if path is None else path[:, :done + 1], machine.diverged.copy(),
                   time.perf_counter() - begun, settings, machine.slabs.copy(), kept.copy())

    with limit, ThreadPoolExecutor(workers) as pool:
        for edge in edges:
            if done in shifts and done:
                machine.objective_is(objective(done), hyper[done])
            while done < edge:
                R = min(size, edge - done, most)
                clock = time.perf_counter()
                cohort, work = participation.draw(seed, everyone, first_round + done, R, S, E[done:done + R],
                                                  problem.N)
                part = np.full((trials, R, engine.COLUMNS), np.nan)
                steps = NO_PATH if path is None else np.empty((trials, R, problem.d))
                shares = participation.shares(machine.trained.weights, done, R)
                saved = machine.slabs.copy() if R == 1 else None
                common = (handles[done:done + R], cohort, work, server_work[done:done + R], shares, kind, NO_TABLE,
                          seed, first_trial, first_round + done, part, steps)
                outcome = _spread(pool, machine, workers, trials, common)
                if outcome == CUT:
                    machine.slabs.restore(saved) if saved is not None else None
                else:
                    record[:, done + 1:done + 1 + R] = part
                    if path is not None:
                        path[:, done + 1:done + 1 + R] = steps
                    done += R
                if outcome != DONE:
                    partial = None if outcome == CUT and saved is None else result()
                    raise Interrupted(f"interrupted after {done} of {rounds} rounds of {algorithm.name}; pass "
                                      "the exception's .partial as resume= to go on", partial)
                if progress is not None:
                    progress(done, rounds, time.perf_counter() - begun)
                if chunk is None:
                    took = time.perf_counter() - clock
                    size = max(1, min(4 * size, int(size * CHUNK_SECONDS / max(took, 1e-9))))
                if np.all(machine.diverged >= 0):
                    done = rounds    # what is left of the record is NaN
            if done == rounds:
                break
    _report(result(), algorithm)
    return result()


DONE, LATE, CUT = range(3)    # a chunk ended; ended although Ctrl-C came; was dropped


def _spread(pool, machine, workers, trials, common):
    """One chunk on all trials. Blocks are smaller than a worker's share, so that a busy core costs little."""
    size = max(1, -(-trials // (4 * workers))) if workers > 1 else trials
    free = SimpleQueue()
    for worker in range(workers):
        free.put(worker)

    def block(low):
        worker = free.get()
        try:
            machine.task(worker, low, min(low + size, trials), *common)
        finally:
            free.put(worker)

    futures = [pool.submit(block, low) for low in range(0, trials, size)]
    outcome = DONE
    try:
        wait(futures)
    except KeyboardInterrupt:
        outcome = LATE
        if wait(futures, PATIENCE).not_done:
            machine.stop[0] = 1
            wait(futures)
            outcome = CUT
    for future in futures:
        future.result()
    return outcome


def _derive(names, record, h):
    columns = {name: record[:, :, n] for name, n in metrics.COLUMN.items()}
    gamma = getattr(h, "gamma", 1.0)
    derived = {}
    for name in names:
        metric = metrics.ALL[name]
        derived[name] = (columns[name] if metric.derive is None else metric.derive(columns, gamma)).copy()
    return derived


def _resume(partial, machine, settings, record, path, rounds, hyper):
    """Continue where an earlier run of the same settings stopped; says what differs otherwise."""
    if not isinstance(partial, Run):
        refuse("resume", "must be an earlier run", partial)
    for name, value in settings.items():
        if partial.settings.get(name) != value:
            refuse("resume", f"must have been run with the same {name} ({value!r})", partial.settings.get(name))
    if partial.algorithm is not machine.algorithm or partial.hyper[:partial.rounds] != hyper[:partial.rounds]:
        refuse("resume", "must be of the same algorithm and hyper-parameters", partial.algorithm.name)
    if partial.rounds > rounds:
        refuse("rounds", f"must be at least the {partial.rounds} already run", rounds)
    machine.slabs.restore(partial._state)
    machine.diverged[:] = partial.diverged
    done = partial.rounds
    record[:, :done + 1] = partial._record
    if path is not None:
        path[:, :done + 1] = partial.x
    return done


def _report(result, algorithm):
    lost = result.diverged >= 0
    if lost.any():
        warnings.warn(f"{algorithm.name} diverged in {lost.sum()} of {result.trials} trials, first in round "
                      f"{result.diverged[lost].min()}; their metrics are NaN from there on", Diverged, stacklevel=4)


def _one_blas_thread():
    from threadpoolctl import threadpool_limits
    return threadpool_limits(1, "blas")
