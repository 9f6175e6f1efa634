"""Parallel execution of tasks by workers: threads, processes, a dask cluster, MPI, or any executor
that a user passes.

A task is a function that can be found by its name, with plain arguments. Its caller stores the
result as soon as the result arrives. A task whose worker dies is submitted again. Ctrl-C is handled
by the caller: the library's own processes stop at once, and none of them outlives the caller.
Threads of this process stop at the next line of Python that they run.
"""

import ctypes
import multiprocessing
import os
import signal
import threading
import time
import uuid
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures._base import Future
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from typing import Any

from fedtheory import plugins
from fedtheory.errors import FedtheoryError, refuse
from fedtheory.parallel import shared_memory

LOOK = 0.5  # the longest wait in seconds before the caller can react to a signal
RETRIES = 3  # consecutive replacements of dead workers before giving up
MOST = 4096  # the largest number of workers on one machine
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SPECS = "serial, threads:N, processes:N, dask://HOST:PORT or mpi"
RULE = f"must be {SPECS}, or a concurrent.futures.Executor"


PATIENCE = 10.0  # seconds that a thread may stay in machine code after it was asked to stop


class Lost(FedtheoryError):
    """A failure: workers died repeatedly."""


class _Dropped(BaseException):
    """The exception raised in a thread whose result is no longer needed."""


# ---------------------------------------------------------------- executors


class Processes(ProcessPoolExecutor):
    """An executor of new processes with one thread each, which end with the parent process and read
    its large arrays from shared memory (shared_memory.py). Leaving the context by an exception
    stops the processes."""

    def __init__(self, workers: int) -> None:
        os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
        self.others, self.shared = set(multiprocessing.active_children()), shared_memory.Shared()
        super().__init__(workers, multiprocessing.get_context("spawn"), _prepare_worker)

    def submit(self, function: Callable[..., Any], /, *task: Any) -> Future:  # type: ignore[override]
        return super().submit(shared_memory.carried_out, self.shared.pickle_task((function, task)))

    def __exit__(self, kind: object, *_: object) -> None:
        for process in set(multiprocessing.active_children()) - self.others if kind else ():
            process.terminate()
        # The caller waits for all processes, and no other thread does: of two threads that wait for
        # one process, one may miss its end.
        with self.shared:
            self.shutdown(cancel_futures=True)


def _prepare_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


class Threads(ThreadPoolExecutor):
    """An executor of threads of this process. Leaving the context by an exception drops the tasks
    that have not begun."""

    def __exit__(self, kind: object, *_: object) -> None:
        self.shutdown(cancel_futures=bool(kind))


def executor_factory(
    executor: Any, name: str = "executor"
) -> Callable[..., Any] | type[nullcontext]:
    """Return a function that creates workers, and creates new ones after some died. For None or
    "serial" the function gives None, for an Executor that Executor.

    >>> from fedtheory.parallel import executors
    >>> with executors.executor_factory("threads:2")() as workers:
    ...     workers.submit(len, "ab").result()
    2
    """
    if executor is None or isinstance(executor, Executor):
        return partial(nullcontext, executor)
    kind, _, number = executor.partition(":") if isinstance(executor, str) else ("", "", "")
    if executor in ("serial", "mpi"):
        return nullcontext if executor == "serial" else _mpi_pool
    if kind == "dask" and number.startswith("//") and number.rpartition(":")[2].isdecimal():
        return partial(_dask_client, f"tcp:{number}")
    pool = dict(threads=Threads, processes=Processes).get(kind)
    if pool is None or number and not number.isdecimal() or executor.endswith(":"):
        refuse(name, RULE, executor)
    workers = int(number or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
    return partial(pool, workers) if 1 <= workers <= MOST else refuse(name, RULE, executor)


@contextmanager
def _dask_client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        refuse("executor", "needs the extra dask (pip install 'fedtheory[dask]')", address)
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except OSError:
        refuse("executor", "must be the address of a dask scheduler that answers", address)
    with client, client.get_executor(pure=False) as workers:
        yield workers


def _mpi_pool() -> Any:
    try:
        from mpi4py.futures import MPIPoolExecutor
    except (ImportError, RuntimeError):
        refuse("executor", "needs the extra mpi (pip install 'fedtheory[mpi]') and MPI", "mpi")
    return MPIPoolExecutor()


def add_options(parser: ArgumentParser) -> None:
    """Add the options that choose the workers to a parser."""
    parser.add_argument("--executor", metavar="SPEC", help=f"where the work is done: {SPECS}")
    parser.add_argument(
        "--workers", metavar="N", help="the same as --executor processes:N; 0 means serial"
    )


def chosen_executor(arguments: Namespace, otherwise: Any) -> Any:
    """Return the executor that the options of a command request."""
    spec, number = arguments.executor, arguments.workers
    if number is not None:
        if spec is not None:
            refuse("--workers", "goes without --executor", number)
        if not (number.isdecimal() and int(number) <= MOST):
            refuse("--workers", f"must be from 0 to {MOST}", number)
        spec = f"processes:{number}" if int(number) else "serial"
    executor_factory(otherwise if spec is None else spec, "--executor")
    return otherwise if spec is None else spec


# ---------------------------------------------------------------- tasks


def iter_completed(
    function: Callable[..., Any], tasks: Iterable[Sequence[Any]], executor: Any = None
) -> Generator[dict[int, Any]]:
    """Yield {index of a task: function(*task)} with the results completed since the previous yield,
    until all tasks are done. Raises Lost where workers died RETRIES times in a row.

    >>> from fedtheory.parallel import executors
    >>> dict(pair for found in executors.iter_completed(pow, [(2, 3), (3, 2)]) for pair in found.items())
    {0: 8, 1: 9}
    """
    left, tries, make = dict(enumerate(tasks)), 0, executor_factory(executor)
    told = os.environ.get(plugins.VARIABLE, "")
    while left:
        before = len(left)
        try:
            with make() as workers:
                for found in _iter_completed(
                    partial(_run_with_files, told, function), left, workers
                ):
                    for place in found:
                        del left[place]
                    yield found
        except Exception as error:
            if not _is_loss(error):
                raise
            tries = tries + 1 if len(left) == before else 0
            if tries >= RETRIES:
                raise Lost(f"workers died {tries} times in a row: {type(error).__name__}") from None


def _iter_completed(
    function: Callable[..., Any], tasks: Mapping[int, Sequence[Any]], workers: Any
) -> Generator[dict[int, Any]]:
    if workers is None:
        for place, task in list(tasks.items()):
            yield {place: function("", *task)}
        return
    giver = uuid.uuid4().hex  # a name that no other process uses for a caller
    _AT_WORK[giver] = set()
    waiting = {workers.submit(function, giver, *task): place for place, task in tasks.items()}
    try:
        while waiting:
            ended, _ = wait(waiting, timeout=LOOK, return_when=FIRST_COMPLETED)
            places = {waiting.pop(future): future for future in ended}
            yield {n: future.result() for n, future in places.items() if not _has_failed(future)}
            for future in ended:
                future.result()  # failures are raised after the successful results were stored
    finally:
        for future in waiting:
            future.cancel()
        _stop_tasks(giver)


def _has_failed(future: Future) -> bool:
    return future.cancelled() or future.exception() is not None


def _is_loss(error: Any) -> bool:
    """Tell whether an error means that workers were lost, and not that the task failed. dask and
    MPI have their own exceptions for lost workers."""
    own = type(error).__module__.partition(".")[0] in ("distributed", "mpi4py")
    return own or isinstance(error, BrokenExecutor)


def _run_with_files(told: str, function: Callable[..., Any], giver: str, *task: Any) -> Any:
    """Run a task in a worker, with the plugin files that the parent process was given."""
    if os.environ.get(plugins.VARIABLE, "") != told:
        os.environ[plugins.VARIABLE] = told
    with _at_work(giver), plugins.refuse_in_words():
        return function(*task)


# ---------------------------------------------------------------- stopping threads

_AT_WORK: dict = {}  # caller's name -> threads of this process that run its tasks
_TURN = threading.Lock()


@contextmanager
def _at_work(giver: str) -> Iterator[None]:
    """Register this thread as one that can be stopped while the context is active, if the call
    `giver` was made in this process."""
    threads, me = _AT_WORK.get(giver), threading.get_ident()
    if threads is None:
        yield
        return
    threads.add(me)
    try:
        yield
    finally:
        try:
            _leave_threads(threads, me)
        except _Dropped:  # the exception arrived while the thread was leaving
            _leave_threads(threads, me)


def _leave_threads(threads: set[int], me: int) -> None:
    with _TURN:
        threads.discard(me)  # no exception is sent from now on
    absorb_exception(_Dropped)


def _stop_tasks(giver: str) -> None:
    """Stop the threads that run tasks of the call `giver`, as Ctrl-C stops the main thread."""
    threads, until = _AT_WORK.pop(giver), time.monotonic() + PATIENCE
    while threads and time.monotonic() < until:
        with _TURN:
            for thread in threads:
                raise_in_thread(thread, _Dropped)
        time.sleep(LOOK / 10)


def raise_in_thread(thread: int, kind: Any) -> None:
    """Schedule an exception in a thread, raised before the thread's next line. The exception has to
    arrive: if it is taken back, CPython looks for it for ever, and traced code stands still."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def absorb_exception(kind: type[BaseException]) -> None:
    """Let an exception that was scheduled in this thread arrive, if one was."""
    try:
        for _ in range(10):
            time.sleep(0)
    except kind:
        pass


def in_order(
    function: Callable[..., Any], tasks: Iterable[Sequence[Any]], executor: Any = None
) -> Generator[Any]:
    """Yield function(*task) in the order of tasks, each as soon as all earlier results are there.
    Closing the generator early drops the remaining tasks."""
    tasks, found = list(tasks), {}
    with closing(iter_completed(function, tasks, executor)) as batches:
        for place in range(len(tasks)):
            while place not in found:
                found.update(next(batches))
            yield found.pop(place)
