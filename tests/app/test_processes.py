"""Work in processes: taken in as it is done, whole though one task fails, and stopped at once."""

import math
import multiprocessing
import time
from contextlib import closing

import pytest

from fedtheory.app import processes


def test_every_task_is_done_once_and_an_error_comes_after_what_was_done():
    found = {}
    for results in processes.done(math.isqrt, [(n * n,) for n in range(9)]):
        assert not found.keys() & results.keys()
        found.update(results)
    assert found == {n: n for n in range(9)}
    found = {}
    with pytest.raises(ValueError, match="nonnegative"):
        for results in processes.done(math.isqrt, [(9,), (-1,)], workers=1):
            found.update(results)
    assert found == {0: 3}


def test_who_leaves_early_leaves_no_process_behind():
    begun, before = time.monotonic(), set(multiprocessing.active_children())
    with closing(processes.done(time.sleep, [(0,), (600,), (600,)])) as batches:
        assert any(results == {0: None} for results in batches)
        assert set(multiprocessing.active_children()) - before
    assert time.monotonic() - begun < 60 and not set(multiprocessing.active_children()) - before
