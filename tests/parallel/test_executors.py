"""Work spread over workers: taken in as it is done, whole though one task fails, given away again
where a worker dies, and stopped at once; what comes of it is what one alone finds."""

import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction

import mpmath
import pytest

import fedtheory as ft
from fedtheory import plugins
from fedtheory.arithmetic.intervals import Enclosures
from fedtheory.errors import InvalidInput
from fedtheory.parallel import executors


class Inline(Executor):
    """Does what it is given at once; fails like workers that died where `dies` says so."""

    def __init__(self, dies=lambda call: False):
        self.calls, self.dies = 0, dies

    def submit(self, function, *args):
        self.calls += 1
        future = Future()
        if self.dies(self.calls):
            future.set_exception(BrokenExecutor("a worker died"))
            return future
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


def test_every_task_is_done_once_and_an_error_comes_after_what_was_done():
    found = {}
    for results in executors.iter_completed(
        math.isqrt, [(n * n,) for n in range(9)], "processes:2"
    ):
        assert not found.keys() & results.keys()
        found.update(results)
    assert found == {n: n for n in range(9)}
    for executor in ("processes:1", "threads:1", "serial"):
        found = {}
        with pytest.raises(ValueError, match="nonnegative"):
            for results in executors.iter_completed(math.isqrt, [(9,), (-1,)], executor):
                found.update(results)
        assert found == {0: 3}


def test_who_leaves_early_leaves_no_process_behind():
    begun, before = time.monotonic(), set(multiprocessing.active_children())
    tasks = [(0,), (600,), (600,)]
    with closing(executors.iter_completed(time.sleep, tasks, "processes:2")) as batches:
        assert any(results == {0: None} for results in batches)
        assert set(multiprocessing.active_children()) - before
    assert time.monotonic() - begun < 60 and not set(multiprocessing.active_children()) - before


def test_what_a_lost_worker_was_at_is_given_away_again():
    first, found = Inline(lambda call: call in (2, 3)), {}
    for results in executors.iter_completed(math.isqrt, [(1,), (4,), (9,)], first):
        found.update(results)
    assert found == {0: 1, 1: 2, 2: 3} and first.calls == 5  # the two that died, once more
    with pytest.raises(executors.Lost, match="workers died 3 times in a row: BrokenExecutor"):
        list(executors.iter_completed(math.isqrt, [(1,)], Inline(lambda call: True)))


def test_results_come_in_the_order_of_tasks_and_the_rest_is_dropped():
    with ThreadPoolExecutor(3) as pool:
        naps = [(0.2,), (0.0,), (0.1,)]
        assert list(executors.in_order(nap, naps, pool)) == [0.2, 0.0, 0.1]
    begun = time.monotonic()
    with closing(executors.in_order(nap, [(0.0,)] + 20 * [(1.0,)], "threads:1")) as found:
        assert next(found) == 0.0
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("executor", ["threads:2", "own", "processes:2"])
def test_a_search_under_workers_stops_with_its_giver(executor):
    """Ctrl-C: threads would search on for as long as their budgets last, and Python waits for them."""
    own = "concurrent.futures.ThreadPoolExecutor(2)"
    program = (
        "import concurrent.futures, fedtheory as ft, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # where a shell had it ignored
        f"executor = {own if executor == 'own' else repr(executor)}\n"
        "ft.check('flex.jensen_s', budget=0.05)\n"
        "print('now', flush=True)\n"
        "ft.check('flex.jensen_s', budget=200, seeds=4, executor=executor)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "now\n"
    time.sleep(2.0 if executor != "processes:2" else 4.0)
    child.send_signal(signal.SIGINT)
    begun = time.monotonic()
    told = child.communicate(timeout=60)[1]
    assert child.returncode != 0 and told.rstrip().endswith("KeyboardInterrupt"), told
    assert "_Dropped" not in told and time.monotonic() - begun < 10


def test_threads_that_are_left_early_are_stopped_and_work_on_for_others():
    begun, count = time.monotonic(), threading.active_count()
    with ThreadPoolExecutor(2) as pool:
        with closing(executors.in_order(busy, [(0.0,), (60.0,), (60.0,)], pool)) as found:
            assert next(found) == 0.0
        assert time.monotonic() - begun < 20
        assert list(executors.in_order(busy, [(0.0,), (0.01,)], pool)) == [0.0, 0.01]
    assert threading.active_count() == count and not executors._AT_WORK


def busy(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
    return seconds


def nap(seconds):
    time.sleep(seconds)
    return seconds


def test_workers_have_the_files_that_their_giver_was_given(monkeypatch, tmp_path):
    monkeypatch.setenv(plugins.VARIABLE, str(tmp_path / "mine.py"))
    tasks = [(plugins.VARIABLE,)]
    (there,) = executors.in_order(os.getenv, tasks, "processes:1")
    assert there == str(tmp_path / "mine.py")


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "thread",
        "threads:",
        "threads:0",
        "threads:x",
        "processes:9999",
        "dask",
        "dask://here",
        3,
    ],
)
def test_who_works_is_refused_in_one_sentence(spec):
    with pytest.raises(
        InvalidInput, match="^executor must be serial, threads:N, processes:N, dask"
    ):
        executors.executor_factory(spec)


def test_what_is_not_installed_or_does_not_answer_is_said(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(InvalidInput, match=r"executor needs the extra dask"):
        executors.executor_factory("dask://127.0.0.1:1")().__enter__()


@pytest.mark.parametrize("name", ["flex.jensen_s", "lamb.lemma1"])  # holds; violated
def test_seeds_find_the_same_wherever_they_are_searched(name):
    serial = ft.check(name, budget=0.1, seeds=3).as_dict()
    assert ft.check(name, budget=0.1, seeds=3, executor=Inline()).as_dict() == serial
    assert ft.check(name, budget=0.1, seeds=3, executor="threads:3").as_dict() == serial
    assert ft.check(name, budget=0.1, seeds=1).as_dict() == ft.check(name, budget=0.1).as_dict()


def test_a_claim_that_holds_has_looked_at_what_each_seed_did():
    each = [ft.check("flex.jensen_s", budget=0.1, seed=seed) for seed in (4, 5)]
    both = ft.check("flex.jensen_s", budget=0.1, seed=4, seeds=2)
    assert both.cases == sum(one.cases for one in each)
    assert both.tightness == max(one.tightness for one in each)


def test_threads_round_as_one_alone_does(monkeypatch):
    """mpmath has one precision for all threads: while one thread is inside, no other may change it,
    or what is to be a fine enclosure is a coarse number that is called fine."""
    argument = (Fraction(1, 3), Fraction(1, 3))
    tasks = [(bits, argument) for bits in (400, 20, 400, 20)]
    alone, exp = [enclosed(*task) for task in tasks], mpmath.exp

    def slow(value):
        time.sleep(0.02)  # the others come in now, if they can
        return exp(value)

    monkeypatch.setattr(mpmath, "exp", slow)
    assert list(executors.in_order(enclosed, tasks, "threads:4")) == alone


def enclosed(bits, argument):
    return Enclosures(bits).exp(argument)


def test_code_can_be_traced_after_threads_were_stopped():
    """An exception that is sent to a thread and taken back makes traced code stand still."""
    program = (
        "import sys, time\n"
        "from contextlib import closing\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from fedtheory import indexing\n"
        "from fedtheory.parallel import executors\n"
        "def busy(seconds):\n"
        "    until = time.monotonic() + seconds\n"
        "    while time.monotonic() < until:\n"
        "        pass\n"
        "with ThreadPoolExecutor(2) as pool:\n"
        "    with closing(executors.in_order(busy, [(0.0,), (60.0,)], pool)) as found:\n"
        "        next(found)\n"
        "    list(executors.in_order(busy, [(0.01,)] * 4, pool))\n"
        "with indexing._limit_time(0.01):\n"
        "    pass\n"
        "lines = []\n"
        "def trace(frame, event, argument):\n"
        "    lines.append(event)\n"
        "    return trace\n"
        "sys.settrace(trace)\n"
        "busy(0.01)\n"
        "sys.settrace(None)\n"
        "print(len(lines) > 2)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "True\n"
