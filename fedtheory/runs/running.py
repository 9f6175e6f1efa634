"""Runs: what the user asks for, checked, then carried out in chunks of rounds by blocks of trials.

Chunks give progress, interruption and a stop on divergence; blocks give threads. Neither changes a
bit, because every draw is a function of (seed, trial, round, client, step).
"""

import math
import os
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from fedtheory import arguments, discover, metrics, rng, spreading, terminal
from fedtheory.algorithm import Schedule
from fedtheory.errors import Diverged, Interrupted, InvalidInput, refuse, show
from fedtheory.participation import Participation
from fedtheory.problem import NOISES, Problem, no_test
from fedtheory.runs import blocks, engine
from fedtheory.runs.groups import Chunk
from fedtheory.runs.keeping import Checkpoint
from fedtheory.runs.machine import NO_PATH, NO_TABLE, Machine
from fedtheory.shown import Shown, number

# seconds from which a round's clients may share the workers, and that this has to be able to save
LONG_ROUND, WORTH = 2e-3, 1.0
CHUNK_SECONDS = 0.2  # a chunk aims at this: often enough for progress and Ctrl-C
SAVED = 2**28  # bytes of state that are copied before a long round, to go back to
PATIENCE = 0.7  # seconds that Ctrl-C leaves the chunk under way before it is dropped
CHUNK_WORDS = 2**22  # what is drawn and recorded in a chunk stays below this many numbers


@dataclass(repr=False)
class Run(Shown):
    """What a run kept. `metrics[name]` has shape (trials, rounds + 1).

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic_from_arrays(A=[1.0], b=[[0.0], [0.0], [0.0]])
    >>> r = ft.run(problem, "fedsgd", rounds=2, x_0=[4.0], eta=0.5, keep="x")
    >>> r.x[0, :, 0]
    array([4., 2., 1.])
    """

    problem: object
    algorithm: object
    hyper: Schedule  # hyper-parameters: a tuple for each round
    rounds: int  # rounds finished
    trials: int
    metrics: dict
    final: np.ndarray  # (trials, d), x after the last round
    x: np.ndarray | None = None  # (trials, rounds + 1, d) with keep="x"
    diverged: np.ndarray | None = None  # (trials,) the round at which a trial diverged, or -1
    # constant that holds on a ball -> (trials,) whether the run stayed in it
    inside: dict | None = None
    seconds: float = 0.0
    settings: object = None  # the plan: everything that decides the result, but for x_0
    _state: object = None
    _record: object = None
    start: np.ndarray | None = None  # (trials, d), where the trials began

    def heading(self):
        return f"Run of {self.algorithm.name} on {self.problem.name}"

    def facts(self):
        last = {
            f"{name} at the end": number(curve[:, self.measured[-1]].mean())
            for name, curve in self.metrics.items()
        }
        lost = 0 if self.diverged is None else int((np.asarray(self.diverged) >= 0).sum())
        told = dict(rounds=self.rounds, trials=self.trials, **last)
        return told | ({"diverged": f"{lost} trials"} if lost else {})

    @property
    def measured(self):
        """The rounds at which metrics were recorded; the records of all others are NaN."""
        return np.arange(0, self.rounds + 1, self.settings.every if self.settings else 1)

    def plot(self, *metrics, ax=None):
        """Metrics (all that were recorded, by default) over rounds: means, and the band of 80 % of
        the trials. Draws into `ax`, or a new figure, and returns the axes.

        >>> import fedtheory as ft
        >>> problem = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5)
        >>> r = ft.run(problem, "fedavg", rounds=5, eta_l=0.1)
        >>> r.plot("loss").get_xlabel()
        'round $t$'
        """
        from fedtheory.runs import showing

        return showing.plot_run(self, metrics, ax)

    def to_dataframe(self):
        """A pandas DataFrame with a row for each trial and round, a column for each metric."""
        from fedtheory.runs import showing

        return showing.run_frame(self)


def threads():
    """FEDTHEORY_NUM_THREADS, or the cores this process may use."""
    given = os.environ.get("FEDTHEORY_NUM_THREADS")
    if given is not None:
        if not given.isdigit() or int(given) < 1:
            refuse("FEDTHEORY_NUM_THREADS", "must be a positive integer", given)
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(problem, x_0, trials):
    if x_0 is None:
        x_0 = np.zeros(problem.d) if problem.start is None else problem.start
    x_0 = arguments.array("x_0", x_0)
    if x_0.shape not in ((problem.d,), (trials, problem.d)) or not np.all(np.isfinite(x_0)):
        refuse(
            "x_0",
            f"must be finite of shape ({problem.d},) or ({trials}, {problem.d})",
            x_0.shape if np.all(np.isfinite(x_0)) else x_0,
        )
    return np.ascontiguousarray(np.broadcast_to(x_0, (trials, problem.d)))


def pretrain(problem, x_0=None, *, steps, eta, seed=0, trials=1):
    """Server pre-training (FSL, section IV-B): `steps` SGD steps of size `eta` on f_0, from x_0;
    (trials, d).

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic_from_arrays(A=[1.0], b=[[0.0], [1.0], [-1.0]])
    >>> ft.pretrain(problem, [8.0], steps=3, eta=0.5)     # f_0 = x^2 / 2: each step halves x
    array([[1.]])
    """
    plan = _plan(
        problem,
        "server_sgd",
        rounds=1,
        trials=trials,
        seed=seed,
        S=1,
        participation=None,
        keep="metrics",
        names=(),
        given=dict(eta_0=eta, K_0=steps),
    )
    return _warned(_carry_out(_Job(plan._replace(first_round=int(rng.PRETRAIN)), x_0))).final


def run(
    problem,
    algorithm,
    *,
    rounds,
    trials=1,
    seed=0,
    x_0=None,
    S=None,
    participation=None,
    keep="metrics",
    metrics=None,
    every=1,
    pretrained=None,
    progress=None,
    workers=None,
    chunk=None,
    compiled=None,
    resume=None,
    checkpoint=None,
    executor=None,
    **hyper,
):
    """Run an algorithm on a problem.

    S defaults to N. `participation` says who works how much (fedtheory.participation). `pretrained`
    is dict(steps=, eta=): the server first learns alone. `metrics` names what to record
    (ft.metrics), at the start and after each round, or after each
    `every` rounds: the others' records are NaN. `keep="x"` keeps the trajectory too.
    `progress(done, rounds, seconds)` is called after each chunk, and `progress=True` shows a line
    with the time left. `resume` takes an earlier, shorter
    run of the same settings; `checkpoint` is the path of an .npz file in which the run is kept every
    ten seconds, and from which the same request goes on. `executor` takes blocks of trials: any concurrent.futures.Executor, or a
    text such as "processes:8". It, `workers`, `chunk` (rounds a chunk) and `compiled` never change
    the result.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5)
    >>> r = ft.run(problem, "fedavg", rounds=5, trials=4, K=2, eta_l=0.1)
    >>> r.metrics["loss"].shape
    (4, 6)
    """
    plan = _plan(
        problem,
        algorithm,
        rounds=rounds,
        trials=trials,
        seed=seed,
        S=S,
        participation=participation,
        keep=keep,
        names=metrics,
        given=hyper,
        every=every,
    )
    alone = threads() if executor is None else 1
    workers = alone if workers is None else arguments.whole("workers", workers, 1)
    chunk = None if chunk is None else arguments.whole("chunk", chunk, 1)
    if pretrained is not None and (
        not isinstance(pretrained, dict) or set(pretrained) != {"steps", "eta"}
    ):
        refuse("pretrained", "must be dict(steps=, eta=)", pretrained)
    compiled = None if compiled is None else arguments.flag("compiled", compiled)
    progress = terminal.followed(progress, f"{plan.algorithm.name}, rounds")
    spreading.maker(executor)
    if resume is not None:
        _check_resume(resume, plan)
    elif pretrained is not None:
        x_0 = pretrain(problem, x_0, seed=seed, trials=trials, **pretrained)
    if checkpoint is not None:
        if executor is not None or resume is not None:
            refuse("checkpoint", "must be given without executor= and resume=", checkpoint)
        checkpoint = Checkpoint(checkpoint, plan)
    if executor is None or resume is not None:  # what is resumed is whole
        job = _Job(plan, x_0, workers, compiled, resume)
        return _warned(_carry_out(job, progress, chunk, checkpoint))
    carry = partial(_block, workers=workers, compiled=compiled, chunk=chunk)
    start = _start(problem, x_0, plan.trials)
    return _warned(blocks.spread(carry, plan, start, executor, progress))


def _block(plan, x_0, workers, compiled, chunk):
    """The run of a plan by itself: what a worker does."""
    return _carry_out(_Job(plan, x_0, workers, compiled), None, chunk)


# ---------------------------------------------------------------- from a request to a plan


class _Plan(NamedTuple):
    """A request that was found in order: everything that decides the result, but for x_0."""

    problem: object
    algorithm: object
    hyper: Schedule
    rounds: int
    trials: int
    seed: int
    S: int
    participation: Participation
    keep: str
    names: tuple
    wanted: int
    every: int = 1
    first_round: int = 0
    first_trial: int = 0


def _plan(
    problem, algorithm, *, rounds, trials, seed, S, participation, keep, names, given, every=1
):
    if not isinstance(problem, Problem):
        refuse("problem", "must be a Problem, such as ft.problems.quadratic makes", problem)
    algorithm = discover.algorithm(algorithm)
    rounds, trials = arguments.whole("rounds", rounds), arguments.whole("trials", trials, 1)
    seed, every = arguments.seed(seed, bits=64), arguments.whole("every", every, 1)
    if not isinstance(keep, str) or keep not in ("metrics", "x"):
        refuse("keep", "must be 'metrics' or 'x'", keep)
    names, wanted = _wanted(names, problem)
    arguments.fits(
        "rounds and trials", trials, rounds + 1, 2 * len(names) + (keep == "x") * problem.d + 1
    )
    arguments.fits("trials", trials, problem.d)
    participation = Participation() if participation is None else participation
    if not isinstance(participation, Participation):
        refuse(
            "participation",
            "must be a Participation (fedtheory.participation), or None",
            participation,
        )
    S = problem.N if S is None else S
    participation.check(problem.N, S)
    if participation.cohort == "with" and algorithm.memory:
        raise InvalidInput(
            f"cohort must be 'without' or 'full' for {algorithm.name}, whose clients keep state that a "
            "second visit would update twice; got 'with'"
        )
    if algorithm.everyone and (S != problem.N or participation.cohort == "with"):
        raise InvalidInput(
            f"{algorithm.name} ({algorithm.cites}) hears from every client in every round, so S must be "
            f"{problem.N} without replacement; got S={S}, cohort {participation.cohort!r}"
        )
    hyper = algorithm.resolve(given, max(rounds, 1))
    if algorithm.check is not None:
        algorithm.check(hyper[0], problem.N, S)
    return _Plan(
        problem,
        algorithm,
        hyper,
        rounds,
        trials,
        seed,
        S,
        participation,
        keep,
        names,
        wanted,
        every,
    )


def _wanted(names, problem):
    """Checked metric names and the engine's flags."""
    names = metrics.DEFAULT if names is None else arguments.words("metrics", names, metrics.ALL)
    flags = 0
    for name in names:
        for column in metrics.ALL[name].needs:
            flags |= metrics.GROUP[column]
    if any(constant.scope == "ball" for constant in problem.constants.values()):
        flags |= metrics.DISTANCE  # the run must tell whether it stayed inside
    if not problem.has_server:
        flags &= ~(metrics.SERVER | metrics.SEEN)
    if problem.minimize is None:
        flags &= ~metrics.DISTANCE
    if problem.kernels.test is no_test:
        flags &= ~metrics.TEST
    return names, flags


# ---------------------------------------------------------------- carrying it out


class _Job:
    """A plan under way: the machine, what was recorded, and how far it is."""

    def __init__(self, plan, x_0=None, workers=1, compiled=None, resume=None):
        self.plan, self.done, self.begun = plan, 0, time.perf_counter()
        self.shifts = [t for t in plan.participation.shifts if t < max(plan.rounds, 1)]
        workers = min(workers, max(plan.trials, plan.S))
        known = None if resume is None else resume.start
        self.start = np.array(_start(plan.problem, x_0, plan.trials) if known is None else known)
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

    def objective(self, t):
        """The objective from round t on (flex, section 3.3): its members keep their proportions."""
        problem = self.plan.problem
        there = self.plan.participation.members(t, problem.N)[1:]
        return problem if there.all() else problem.reweighted(problem.weights[1:] * there)

    def takes(self, done, state, diverged, record, path):
        """Goes on after `done` rounds."""
        self.done = done
        self.machine.slabs.restore(state)
        self.machine.diverged[:] = diverged
        self.record[:, : done + 1] = record
        if self.path is not None:
            self.path[:, : done + 1] = path
        if self.done < self.plan.rounds:
            self.machine.objective_is(self.objective(self.done), self.plan.hyper[self.done])

    def chunk(self, R):
        """The next R rounds, fewer where the objective shifts or the draws would fill the
        memory."""
        plan, machine, t = self.plan, self.machine, self.done
        if t and t in self.shifts:
            machine.objective_is(self.objective(t), plan.hyper[t])
        edge = next((shift for shift in self.shifts if shift > t), plan.rounds)
        words = plan.trials * (
            2 * plan.S + engine.COLUMNS + (self.path is not None) * plan.problem.d
        )
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

    def numbers(self, which, t, R):
        """Steps of a client or of the server in rounds t .. t + R - 1."""
        plan = self.plan
        rounds = [plan.hyper[t]] if plan.hyper.constant else plan.hyper[t : t + R]
        return np.array(
            np.broadcast_to([plan.algorithm.number(which, h) for h in rounds], (R,)), dtype=np.int64
        )

    def keep(self, chunk):
        R = len(chunk.hyper)
        self.record[:, self.done + 1 : self.done + 1 + R] = chunk.record[:, :, self.columns]
        if self.path is not None:
            self.path[:, self.done + 1 : self.done + 1 + R] = chunk.path
        self.done += R
        if np.all(self.machine.diverged >= 0):
            self.done = self.plan.rounds  # what is left of the record stays NaN

    def result(self):
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
            self.machine.slabs.x.copy(),
            None if self.path is None else self.path[:, : self.done + 1],
            self.machine.diverged.copy(),
            inside,
            time.perf_counter() - self.begun,
            plan,
            self.machine.slabs.arrays,  # the job ends with its result
            kept.copy(),
            self.start,
        )


class Pace:
    """How fast rounds go, and whether the clients of few trials should share the workers: where
    rounds are long, and as long as that is faster. The first chunk of a kind counts for nothing, as
    its loops may have to be compiled."""

    def __init__(self):
        self.chunks, self.fastest = {False: 0, True: 0}, {False: math.inf, True: math.inf}

    def took(self, seconds, together):
        self.chunks[together] += 1
        if self.chunks[together] > 1:
            self.fastest[together] = min(self.fastest[together], seconds)

    def together(self, rounds):
        alone = self.fastest[False]
        long = LONG_ROUND < alone < math.inf and alone * rounds > WORTH
        return long and (self.chunks[True] < 2 or self.fastest[True] < alone)


def _carry_out(job, progress=None, chunk=None, checkpoint=None):
    plan, machine = job.plan, job.machine
    if checkpoint is not None:
        checkpoint.read(job)
    workers = len(machine.scratches)
    R, pace = chunk or 1, Pace()
    with (
        _blas_alone(plan.problem),
        ThreadPoolExecutor(workers) as pool,
        ThreadPoolExecutor(1) as conductor,
    ):
        while job.done < plan.rounds:
            together = plan.trials < workers and pace.together(plan.rounds - job.done)
            begun, part = time.perf_counter(), job.chunk(R)
            small = len(part.hyper) == 1 and machine.slabs.bytes <= SAVED
            saved = machine.slabs.copy() if small else None
            under_way = conductor.submit(machine.carry, part, pool, together)
            try:
                under_way.result()
                job.keep(part)
            except KeyboardInterrupt:
                raise _interrupted(job, part, under_way, saved) from None
            seconds = (time.perf_counter() - begun) / len(part.hyper)
            pace.took(seconds, together)
            if checkpoint is not None:
                checkpoint.write(job, job.done == plan.rounds)
            if progress is not None:
                progress(job.done, plan.rounds, time.perf_counter() - job.begun)
            if chunk is None:
                R = max(1, min(4 * len(part.hyper), int(CHUNK_SECONDS / max(seconds, 1e-9))))
    return job.result()


def _warned(result):
    """A run; that trials of it diverged is said."""
    lost, plan = result.diverged >= 0, result.settings
    if lost.any():
        warnings.warn(
            f"{plan.algorithm.name} diverged in {lost.sum()} of {plan.trials} trials, first in round "
            f"{result.diverged[lost].min()}; their metrics are NaN from there on",
            Diverged,
            stacklevel=3,
        )
    return result


def _interrupted(job, part, under_way, saved):
    """Finish the chunk if that takes no time, drop it otherwise; either way what is kept is whole
    rounds."""
    if wait([under_way], PATIENCE).done:
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


def _check_resume(partial, plan):
    if not isinstance(partial, Run):
        refuse("resume", "must be an earlier run", partial)
    before, done = partial.settings, partial.rounds
    if done > plan.rounds:
        refuse("rounds", f"must be at least the {done} already run", plan.rounds)
    for name in (
        "problem",
        "algorithm",
        "trials",
        "seed",
        "S",
        "participation",
        "keep",
        "names",
        "every",
    ):
        if getattr(before, name) is not getattr(plan, name) and getattr(before, name) != getattr(
            plan, name
        ):
            refuse(
                "resume",
                f"must be a run with the same {name}, {show(getattr(plan, name))}",
                getattr(before, name),
            )
    if not before.hyper.begins_like(plan.hyper, done):
        refuse(
            "resume",
            f"must be a run with the same hyper-parameters, {show(plan.hyper[0])}",
            before.hyper[0],
        )


def _blas_alone(problem):
    """Problems that call BLAS get one BLAS thread per worker: more of them fight over the cores."""
    if not problem.blas:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, "blas")
