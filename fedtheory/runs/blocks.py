"""Blocks of trials, each computed by one worker, and the run that joins the blocks.

A draw is a function of (seed, trial, round, client, step). A block therefore computes the same
trials in whichever worker it runs, and the joined result is the same to the bit.
"""

import dataclasses
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures._base import Executor
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.errors import Diverged
from fedtheory.parallel import executors

if TYPE_CHECKING:
    from fedtheory.runs.planning import Plan
    from fedtheory.runs.result import Run

BLOCKS = 32  # at most: enough to show progress, few enough that sending the problem costs little


def spread_blocks(
    carry: Callable[..., Any],
    plan: "Plan",
    x_0: np.ndarray,
    executor: str | Executor,
    progress: Callable[..., Any] | None = None,
) -> "Run":
    """Compute the run of a plan in blocks of trials on an executor, where `carry(plan, x_0)` runs
    one block. `x_0` has a row for each trial."""
    begun, parts = time.perf_counter(), [None] * min(BLOCKS, plan.trials)
    tasks = []
    for some in np.array_split(np.arange(plan.trials), len(parts)):
        part = plan._replace(trials=len(some), first_trial=int(some[0]))
        tasks.append((carry, part, x_0[some]))
    for found in executors.iter_completed(run_quietly, tasks, executor):
        for n, run in found.items():
            parts[n] = run
        if progress is not None:
            finished = sum(run is not None for run in parts)
            progress(plan.rounds * finished // len(parts), plan.rounds, time.perf_counter() - begun)
    return dataclasses.replace(join_blocks(parts, plan), seconds=time.perf_counter() - begun)


def run_quietly(carry: Callable[..., Any], plan: "Plan", x_0: np.ndarray) -> "Run":
    """Run a block without the problem and the settings in its result, and without the warning about
    divergence. `join_blocks` restores these, and divergence is reported once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Diverged)
        return dataclasses.replace(carry(plan, x_0), problem=None, settings=None)


def join_blocks(parts: Sequence[Any], plan: "Plan") -> "Run":
    """Join the runs of the blocks of trials into one run."""
    rows = lambda which: np.concatenate([which(part) for part in parts])
    one = parts[0]
    rounds = max(part.rounds for part in parts)
    return dataclasses.replace(
        one,
        problem=plan.problem,
        rounds=rounds,
        trials=plan.trials,
        metrics={name: rows(lambda part, name=name: part.metrics[name]) for name in one.metrics},
        final=rows(lambda part: part.final),
        x=None if one.x is None else rows(lambda part: part.x),
        diverged=rows(lambda part: part.diverged),
        inside={name: rows(lambda part, name=name: part.inside[name]) for name in one.inside},
        settings=plan,
        _state=[np.concatenate(slabs) for slabs in zip(*(part._state for part in parts))],
        _record=rows(lambda part: part._record),
        start=rows(lambda part: part.start),
    )
