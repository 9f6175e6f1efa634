"""The execution of a plan: chunks of rounds, by blocks of trials.

Chunks allow progress reports, interruption and a stop on divergence; blocks allow threads. Neither
changes a bit of the result, because every draw is a function of (seed, trial, round, client, step).
"""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fedtheory import metrics
from fedtheory.errors import Diverged, Interrupted
from fedtheory.problem import NOISES, Problem
from fedtheory.runs import engine
from fedtheory.runs.groups import Chunk
from fedtheory.runs.machine import NO_PATH, NO_TABLE, Machine
from fedtheory.runs.planning import Plan, start_of
from fedtheory.runs.result import Run
from fedtheory.typing import Number

# Seconds of a round from which its clients may share the workers, and seconds that sharing must be
# able to save
LONG_ROUND, WORTH = 2e-4, 0.2
CHUNK_SECONDS = 0.2  # intended length of a chunk: short enough for progress and Ctrl-C
# most bytes of state that are copied before a long round, to be restored if the round is dropped
SAVED = 2**28
PATIENCE = 0.7  # seconds that Ctrl-C waits for the current chunk before the chunk is dropped
CHUNK_WORDS = 2**22  # most numbers that are drawn and recorded in a chunk


class Job:
    """A plan in execution: the machine, the recorded results, and the number of rounds done."""

    def __init__(
        self,
        plan: Plan,
        x_0: np.ndarray | Sequence[float | list[float]] | None = None,
        workers: int = 1,
        compiled: bool | None = None,
        resume: Run | None = None,
    ) -> None:
        self.plan, self.done, self.begun = plan, 0, time.perf_counter()
        self.shifts = [t for t in plan.participation.shifts if t < max(plan.rounds, 1)]
        if not plan.problem.in_pieces:
            workers = min(workers, max(plan.trials, plan.S))
        known = None if resume is None else resume.start
        self.start = np.array(start_of(plan.problem, x_0, plan.trials) if known is None else known)
        self.machine = Machine(
            plan.algorithm,
            self.objective(0),
            self.start,
            plan.S,
            plan.hyper[0],
            plan.wanted,
            workers,
            compiled,
            plan.every,
        )
        needed = {column for name in plan.names for column in metrics.ALL[name].needs}
        if plan.wanted & metrics.DISTANCE:
            needed.add("sq_distance")
        self.columns = [n for n, name in enumerate(metrics.BASIC) if name in needed]
        self.record = np.full((plan.trials, plan.rounds + 1, len(self.columns)), np.nan)
        self.path = (
            np.full((plan.trials, plan.rounds + 1, plan.problem.d), np.nan)
            if plan.keep == "x"
            else None
        )
        if resume is not None:
            self.takes(*(resume.rounds, resume._state, resume.diverged, resume._record, resume.x))
        else:
            self.record[:, 0] = self.machine.measure(plan.trials)[:, self.columns]
            if self.path is not None:
                self.path[:, 0] = self.machine.slabs.x

    def objective(self, t: int) -> Problem:
        """Return the objective from round t on (flex, section 3.3): the weights of the clients that
        are present keep their proportions."""
        problem = self.plan.problem
        there = self.plan.participation.members(t, problem.N)[1:]
        return problem if there.all() else problem.reweighted(problem.weights[1:] * there)

    def takes(
        self,
        done: Number,
        state: Sequence[np.ndarray],
        diverged: np.ndarray,
        record: np.ndarray,
        path: np.ndarray | None,
    ) -> None:
        """Set the job's state, so that it continues after `done` rounds."""
        self.done = done
        self.machine.slabs.restore(state)
        self.machine.diverged[:] = diverged
        self.record[:, : done + 1] = record
        if self.path is not None:
            self.path[:, : done + 1] = path
        if self.done < self.plan.rounds:
            self.machine.objective_is(self.objective(self.done), self.plan.hyper[self.done])

    def chunk(self, R: int) -> Chunk:
        """Return a Chunk of the next R rounds, or fewer where the objective changes or the random
        draws would exceed the memory limit."""
        plan, machine, t = self.plan, self.machine, self.done
        if t and t in self.shifts:
            machine.objective_is(self.objective(t), plan.hyper[t])
        edge = next((shift for shift in self.shifts if shift > t), plan.rounds)
        words = plan.trials * (
            2 * plan.S + engine.COLUMNS + (self.path is not None) * plan.problem.d
        )
        if any(event.boost for event in plan.participation.arrivals):
            words += plan.problem.N + 1
        R = min(R, edge - t, max(1, CHUNK_WORDS // words))
        first = plan.first_round + t
        cohort, work = plan.participation.draw(
            plan.seed,
            np.arange(plan.first_trial, plan.first_trial + plan.trials),
            first,
            R,
            plan.S,
            self.numbers(plan.algorithm.steps, t, R),
            plan.problem.N,
        )
        path = NO_PATH if self.path is None else np.full((plan.trials, R, plan.problem.d), np.nan)
        return Chunk(
            machine.slabs.hyper_handles(plan.hyper, t, R),
            cohort,
            work,
            self.numbers(plan.algorithm.server_steps, t, R),
            plan.participation.shares(machine.trained.weights, t, R),
            NOISES[machine.trained.noise],
            NO_TABLE,
            plan.seed,
            plan.first_trial,
            first,
            np.full((plan.trials, R, engine.COLUMNS), np.nan),
            path,
        )

    def numbers(self, which: int | str | None, t: int, R: int) -> np.ndarray:
        """Return the numbers of steps of a client, or of the server, in rounds t .. t + R - 1."""
        plan = self.plan
        rounds = [plan.hyper[t]] if plan.hyper.constant else plan.hyper[t : t + R]
        return np.array(
            np.broadcast_to([plan.algorithm.number(which, h) for h in rounds], (R,)), dtype=np.int64
        )

    def keep(self, chunk: Chunk) -> None:
        """Copy the record of a finished chunk into the job's record. Where every trial has
        diverged, the job is done."""
        R = len(chunk.hyper)
        self.record[:, self.done + 1 : self.done + 1 + R] = chunk.record[:, :, self.columns]
        if self.path is not None:
            self.path[:, self.done + 1 : self.done + 1 + R] = chunk.path
        self.done += R
        if np.all(self.machine.diverged >= 0):
            self.done = self.plan.rounds  # the rest of the record stays NaN

    def result(self) -> Run:
        """Return the Run of the rounds done so far: derived metrics, last points, and for each
        constant that holds in a ball whether each trial stayed inside."""
        plan, kept = self.plan, self.record[:, : self.done + 1]
        columns = {metrics.BASIC[n]: kept[:, :, place] for place, n in enumerate(self.columns)}
        nothing = np.full(kept.shape[:2], np.nan)
        columns.update({name: nothing for name in metrics.BASIC if name not in columns})
        gamma = getattr(plan.hyper[0], "gamma", 1.0)
        derive = lambda metric: (
            columns[metric.name] if metric.derive is None else metric.derive(columns, gamma)
        )
        farthest = np.sqrt(np.max(columns["sq_distance"], axis=1))
        inside = {
            name: farthest <= constant.radius
            for name, constant in plan.problem.constants.items()
            if constant.scope == "ball"
        }
        return Run(
            plan.problem,
            plan.algorithm,
            plan.hyper,
            self.done,
            plan.trials,
            {name: derive(metrics.ALL[name]).copy() for name in plan.names},
            self.machine.slabs.x.astype(np.float64),
            None if self.path is None else self.path[:, : self.done + 1],
            self.machine.diverged.copy(),
            inside,
            time.perf_counter() - self.begun,
            plan,
            self.machine.slabs.arrays,  # not copied, because the job ends with its result
            kept.copy(),
            self.start,
        )


class Pace:
    """Measured times of recent rounds, and the decision whether all workers should share the cohort
    of one trial: where rounds are long, and as long as sharing is faster. The first chunk of each
    kind is ignored, as its loops may have to be compiled, and old times are not compared, as other
    programs on the machine may slow down shared rounds."""

    def __init__(self) -> None:
        self.chunks, self.last = {False: 0, True: 0}, {False: math.inf, True: math.inf}
        self.alone = math.inf  # the least time of a round without sharing

    def record_time(self, seconds: float, together: bool) -> None:
        """Store the time of a round, in seconds, measured with or without sharing."""
        self.chunks[together] += 1
        if self.chunks[together] > 1:
            self.last[together] = seconds
            self.alone = self.alone if together else min(self.alone, seconds)

    def together(self, rounds: int) -> bool:
        """Tell whether workers should share the cohorts of the next chunk, with `rounds` rounds
        left."""
        if self.chunks[True] > 1:
            return self.last[True] < self.last[False]
        long = LONG_ROUND < self.alone < math.inf
        return long and (self.chunks[True] > 0 or self.alone * rounds > WORTH)


def carry_out(
    job: Any,
    progress: Callable[..., Any] | None = None,
    chunk: Number = None,
    checkpoint: Any = None,
) -> Run:
    """Run a job to its end, and return its Run.

    A chunk of rounds runs in a thread of its own, so that Ctrl-C is seen while machine code runs.
    Chunks grow up to CHUNK_SECONDS unless `chunk` fixes their rounds. After each chunk
    `progress(done, rounds, seconds)` is called and the checkpoint may be written. Raises
    Interrupted, with the finished rounds, on Ctrl-C.
    """
    plan, machine = job.plan, job.machine
    if checkpoint is not None:
        checkpoint.read(job)
    workers = len(machine.scratches)
    R, pace = chunk or 1, Pace()
    with (
        blas_alone(plan.problem.blas),
        ThreadPoolExecutor(workers) as pool,
        ThreadPoolExecutor(1) as conductor,
    ):
        while job.done < plan.rounds:
            begun, before, part, under_way, saved = time.perf_counter(), job.done, None, None, None
            try:
                together = plan.trials < workers and pace.together(plan.rounds - before)
                part = job.chunk(R)
                if len(part.hyper) == 1 and machine.slabs.bytes <= SAVED:
                    saved = machine.slabs.copy()
                under_way = conductor.submit(machine.carry, part, pool, together)
                under_way.result()
                job.keep(part)
                seconds = (time.perf_counter() - begun) / len(part.hyper)
                pace.record_time(seconds, together)
                if checkpoint is not None:
                    checkpoint.write(job, job.done == plan.rounds)
            except KeyboardInterrupt:
                if job.done > before:
                    under_way = None  # the results of the chunk are already stored
                raise finish_interrupted(job, part, under_way, saved) from None
            if progress is not None:
                progress(job.done, plan.rounds, time.perf_counter() - job.begun)
            if chunk is None:
                R = max(1, min(4 * len(part.hyper), int(CHUNK_SECONDS / max(seconds, 1e-9))))
    return job.result()


def warn_divergence(result: Any) -> Run:
    """Return the run, with a warning if trials of the run diverged."""
    lost, plan = result.diverged >= 0, result.settings
    if lost.any():
        warnings.warn(
            f"{plan.algorithm.name} diverged in {lost.sum()} of {plan.trials} trials, first in round "
            f"{result.diverged[lost].min()}; their metrics are NaN from there on",
            Diverged,
            stacklevel=3,
        )
    return result


def finish_interrupted(job: Job, part: Any, under_way: Any, saved: Any) -> Any:
    """Finish the chunk in progress if that takes no longer than PATIENCE, else drop the chunk. The
    results kept are whole rounds in either case."""
    if under_way is None:
        pass
    elif wait([under_way], PATIENCE).done:
        job.keep(part)
    else:
        job.machine.stop[0] = 1
        wait([under_way])
        if saved is None:
            return Interrupted(
                f"interrupted in the rounds after {job.done} of {job.plan.rounds} of "
                f"{job.plan.algorithm.name}; nothing to resume from was kept",
                None,
            )
        job.machine.slabs.restore(saved)
    return Interrupted(
        f"interrupted after {job.done} of {job.plan.rounds} rounds of {job.plan.algorithm.name}; the "
        "exception's .partial can be passed as resume=",
        job.result(),
    )


def blas_alone(called: bool) -> threadpool_limits | nullcontext:
    """Limit BLAS to one thread per worker, if kernels call BLAS (`called`), as more threads compete
    for the cores."""
    if not called:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, "blas")
