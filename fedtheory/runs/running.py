"""Runs as a user requests them: planned (planning.py) and executed (execution.py)."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures._base import Executor
from functools import partial
from typing import Any

import numpy as np

from fedtheory import arguments, rng, terminal
from fedtheory.algorithm import Algorithm
from fedtheory.errors import refuse, show
from fedtheory.parallel import executors
from fedtheory.participation import Participation
from fedtheory.problem import Problem
from fedtheory.runs import blocks
from fedtheory.runs.checkpoints import Checkpoint
from fedtheory.runs.execution import Job, carry_out, warn_divergence
from fedtheory.runs.planning import Plan, plan_of, start_of
from fedtheory.runs.result import Run
from fedtheory.typing import Hyper, Points


def thread_count() -> int:
    """Return FEDTHEORY_NUM_THREADS, or the number of cores that this process may use."""
    given = os.environ.get("FEDTHEORY_NUM_THREADS")
    if given is not None:
        if not given.isdigit() or int(given) < 1:
            refuse("FEDTHEORY_NUM_THREADS", "must be a positive integer", given)
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pretrain(
    problem: Problem,
    x_0: Points | None = None,
    *,
    steps: int,
    eta: float,
    seed: int = 0,
    trials: int = 1,
) -> np.ndarray:
    """Take `steps` SGD steps of size `eta` on f_0 from x_0 (FSL, section IV-B: pre-training on the
    server) and return the points that the trials reach, an array (trials, d).

    `x_0` is one start (d,) or a start for each trial; without it, trials start where `ft.run` does.
    The draws come from a stream of their own, so that a run with the same seed draws other noise.
    Raises InvalidInput where the problem has no server loss, or where a number is out of range.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic_from_arrays(A=[1.0], b=[[0.0], [1.0], [-1.0]])
    >>> ft.pretrain(problem, [8.0], steps=3, eta=0.5)     # f_0 = x^2 / 2: each step halves x
    array([[1.]])
    """
    plan = plan_of(
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
    return warn_divergence(carry_out(Job(plan._replace(first_round=int(rng.PRETRAIN)), x_0))).final


def run(
    problem: Problem,
    algorithm: str | Algorithm,
    *,
    rounds: int,
    trials: int = 1,
    seed: int = 0,
    x_0: Points | None = None,
    S: int | None = None,
    participation: Participation | None = None,
    keep: str = "metrics",
    metrics: Sequence[str] | None = None,
    every: int = 1,
    pretrained: Mapping[str, float] | None = None,
    progress: Callable[..., Any] | bool | None = None,
    workers: int | None = None,
    chunk: int | None = None,
    compiled: bool | None = None,
    resume: Run | None = None,
    checkpoint: Any = None,
    executor: str | Executor | None = None,
    **hyper: Hyper,
) -> Run:
    """Run an algorithm on a problem, and return the Run: metrics by round, and the last points.

    `problem` is a Problem (ft.problems), `algorithm` a name (ft.algorithms()) or a record, and
    `hyper` the algorithm's hyper-parameters in the paper's letters: numbers, or one value for each
    round. What is sampled:

    - `rounds`, `trials` and `seed`: the numbers of rounds and of independent trials, and the seed
      that with them fixes every draw;
    - `x_0`: one start (d,) or a start for each trial (trials, d); by default the problem's own
      start, else zero;
    - `S`: the number of clients in a round, by default N;
    - `participation`: which clients work in a round, and how much (fedtheory.participation);
    - `pretrained`: dict(steps=, eta=) makes the server train alone first (`ft.pretrain`).

    What is stored:

    - `metrics`: the names of the recorded quantities (ft.metrics), recorded at the start and after
      each round, or after each `every` rounds, with NaN for the rounds between;
    - `keep`: "x" stores the whole trajectory too;
    - `checkpoint`: the path of an .npz file in which the run is saved every ten seconds, and from
      which the same call resumes;
    - `resume`: an earlier, shorter run with the same settings, which is continued;
    - `progress`: a function (done, rounds, seconds) called after each chunk, or True for a line
      with the remaining time.

    The arguments `executor`, `workers`, `chunk` (rounds per chunk) and `compiled` never change the
    result. `executor` takes blocks of trials: any concurrent.futures.Executor, or a text such as
    "processes:8".

    Raises InvalidInput, before anything runs, where an argument is unknown, missing or out of
    range, and Interrupted, with the finished rounds, on Ctrl-C. Trials that leave the finite
    numbers are recorded as NaN from then on, with a warning.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5)
    >>> r = ft.run(problem, "fedavg", rounds=5, trials=4, K=2, eta_l=0.1)
    >>> r.metrics["loss"].shape
    (4, 6)
    """
    plan = plan_of(
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
    alone = thread_count() if executor is None else 1
    workers = alone if workers is None else arguments.check_integer("workers", workers, 1)
    chunk = None if chunk is None else arguments.check_integer("chunk", chunk, 1)
    if pretrained is not None and (
        not isinstance(pretrained, dict) or set(pretrained) != {"steps", "eta"}
    ):
        refuse("pretrained", "must be dict(steps=, eta=)", pretrained)
    compiled = None if compiled is None else arguments.check_flag("compiled", compiled)
    progress = terminal.progress_callback(progress, f"{plan.algorithm.name}, rounds")
    executors.executor_factory(executor)
    if resume is not None:
        _check_resume(resume, plan)
    elif pretrained is not None:
        x_0 = pretrain(problem, x_0, seed=seed, trials=trials, **pretrained)
    if checkpoint is not None:
        if executor is not None or resume is not None:
            refuse("checkpoint", "must be given without executor= and resume=", checkpoint)
        checkpoint = Checkpoint(checkpoint, plan)
    if executor is None or resume is not None:  # a resumed run is not split into blocks
        job = Job(plan, x_0, workers, compiled, resume)
        return warn_divergence(carry_out(job, progress, chunk, checkpoint))
    carry = partial(_run_block, workers=workers, compiled=compiled, chunk=chunk)
    start = start_of(problem, x_0, plan.trials)
    return warn_divergence(blocks.spread_blocks(carry, plan, start, executor, progress))


def _run_block(
    plan: Plan, x_0: "np.ndarray", workers: int, compiled: bool | None, chunk: Any
) -> Run:
    """Run a plan in a single process, as a worker does with its block of trials."""
    return carry_out(Job(plan, x_0, workers, compiled), None, chunk)


def _check_resume(partial: int | Run, plan: Plan) -> None:
    """Refuse to continue a run that is longer than the plan, or that differs from the plan in
    anything but the number of rounds."""
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
