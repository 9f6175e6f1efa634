"""Arrays that processes share: read from one memory, written to by nobody else, gone with the giver; copies
where there is no such memory."""

import os
from pathlib import Path

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.parallel import executors, shared_memory

LINUX = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="a system without such memory")
ARRAY = np.arange(2 * shared_memory.LARGE // 8, dtype=np.float64).reshape(2, -1)


def looked(array, place):
    """The sum, and whether it stands in shared memory; then it is overwritten."""
    shared = "memfd:fedtheory" in Path("/proc/self/maps").read_text()
    total = array.sum()
    array[...] = -1.0
    return total, shared, array[place]


@LINUX
def test_workers_read_one_memory_and_write_to_their_own():
    files = len(os.listdir("/proc/self/fd"))
    tasks = [(ARRAY, (0, 0)), (ARRAY, (1, 1)), (ARRAY, (1, 2))]
    found = list(executors.in_order(looked, tasks, "processes:2"))
    assert found == [(np.arange(ARRAY.size).sum(), True, -1.0)] * 3
    assert ARRAY.flat[-1] == ARRAY.size - 1
    assert len(os.listdir("/proc/self/fd")) <= files + 1  # the pool's own tracker may stay


@LINUX
def test_an_array_is_held_once_and_what_is_small_or_strided_crosses_as_it_is():
    with shared_memory.Shared() as shared:
        first, again = (shared.pickle_task((np.sum, (ARRAY,))) for _ in range(2))
        assert len(first) < 1000 and first == again and len(shared._places) == 1
        assert shared_memory.carried_out(first) == ARRAY.sum()
        for array in (ARRAY[:, ::2], ARRAY[0, :9], np.array([ARRAY, "a"], dtype=object)[1:]):
            message = shared.pickle_task((np.copy, (array,)))
            np.testing.assert_array_equal(shared_memory.carried_out(message), array)
        assert len(shared._places) == 1
    with pytest.raises(OSError):
        shared_memory.carried_out(first)


@pytest.mark.parametrize("what", ["memory", "leave"])
def test_without_such_memory_arrays_are_copied(monkeypatch, what):
    if what == "memory":
        monkeypatch.setattr(os, "memfd_create", None, raising=False)
        monkeypatch.delattr(os, "memfd_create")
    else:
        monkeypatch.setattr(shared_memory, "_can_open", lambda file: False)
    with shared_memory.Shared() as shared:
        message = shared.pickle_task((np.sum, (ARRAY,)))
        assert len(message) > ARRAY.nbytes and shared.pickle_task((np.sum, (ARRAY,))) == message
    assert shared_memory.carried_out(message) == ARRAY.sum()


def test_runs_over_processes_are_those_of_one_and_bring_no_problem_back():
    generator = np.random.default_rng(0)
    X = generator.random((4, 300, 256), dtype=np.float32)
    y = generator.integers(0, 3, X.shape[:2])
    layers = [ft.layers.dense(3)]
    problem = ft.problems.network(layers, [*X], [*y], batch=5, dtype="float32")
    assert problem.data.X.nbytes >= shared_memory.LARGE
    asked = dict(rounds=2, trials=3, S=2, K=2, eta_l=0.1, metrics=("loss",))
    alone = ft.run(problem, "fedavg", **asked)
    spread = ft.run(problem, "fedavg", executor="processes:2", **asked)
    np.testing.assert_array_equal(spread.final, alone.final)
    np.testing.assert_array_equal(spread.metrics["loss"], alone.metrics["loss"])
    assert spread.problem is problem
