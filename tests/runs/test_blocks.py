"""Trials given to workers in blocks: the same to the bit, what diverges said once."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import Diverged
from fedtheory.runs import blocks
from tests.parallel.test_executors import Inline


@pytest.mark.parametrize("keep", ["x", "metrics"])
def test_trials_are_the_same_wherever_they_run(keep):
    problem = ft.problems.quadratic(d=3, clients=4, L=1.0, mu=0.5, sigma=1.0, G=1.0)
    ask = dict(rounds=3, trials=5, seed=2, S=2, K=2, eta_l=0.1, keep=keep)
    run = lambda executor: ft.run(problem, "scaffold", eta_g=1.0, executor=executor, **ask)
    whole, *parts = map(run, (None, Inline(), "threads:2"))
    for part in parts:
        assert all(
            np.array_equal(part.metrics[name], whole.metrics[name]) for name in whole.metrics
        )
        assert np.array_equal(part.final, whole.final)
        assert part.x is None if keep == "metrics" else np.array_equal(part.x, whole.x)
    ask["rounds"] = 5
    on = ft.run(problem, "scaffold", eta_g=1.0, resume=parts[0], **ask)
    assert np.array_equal(on.final, ft.run(problem, "scaffold", eta_g=1.0, **ask).final)


def test_trials_that_diverge_elsewhere_are_said_once():
    problem = ft.problems.quadratic(d=1, clients=2, L=1.0, mu=1.0)
    ask = dict(rounds=800, trials=3, x_0=[[1.0], [0.0], [2.0]], eta=5.0)
    with pytest.warns(Diverged) as alone:
        whole = ft.run(problem, "fedsgd", **ask)
    with pytest.warns(Diverged) as said:
        run = ft.run(problem, "fedsgd", executor=Inline(), **ask)
    assert [str(w.message) for w in said] == [str(w.message) for w in alone]
    assert np.array_equal(run.diverged, whole.diverged) and (run.diverged >= 0).sum() >= 2


def test_there_are_never_more_blocks_than_trials_nor_more_than_help():
    problem = ft.problems.quadratic(d=1, clients=2, L=1.0, mu=1.0)
    for trials in (1, blocks.BLOCKS + 1):
        workers = Inline()
        ft.run(problem, "fedsgd", rounds=1, trials=trials, eta=0.1, executor=workers)
        assert workers.calls == min(trials, blocks.BLOCKS)
