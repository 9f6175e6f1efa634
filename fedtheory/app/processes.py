"""Work given to processes of our own and taken in as it is done: campaigns' claims, figures'
arrays.

Ctrl-C is the giver's affair: it stops all processes at once, and none of them outlives the giver.
What a process is at is lost then; whatever it finished, its function has kept.
"""

import multiprocessing
import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait

WORKERS = 2
LOOK = 0.5  # seconds after which the giver is heard at the latest
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def done(function, tasks, workers=WORKERS):
    """Yield {place of a task: function(*task)} of what was finished since the last time, again and
    again, until all is; each process uses one thread. Raises BrokenProcessPool where one died."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    others, finished = set(multiprocessing.active_children()), False
    executor = ProcessPoolExecutor(
        min(workers, len(tasks)), multiprocessing.get_context("spawn"), _prepare
    )
    try:
        waiting = {executor.submit(function, *task): n for n, task in enumerate(tasks)}
        while waiting:
            ended, _ = wait(waiting, timeout=LOOK, return_when=FIRST_COMPLETED)
            places = {waiting.pop(future): future for future in ended}
            yield {n: future.result() for n, future in places.items() if not future.exception()}
            for future in ended:
                future.result()  # what failed is raised after what did not
        finished = True
    finally:
        if not finished:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
        executor.shutdown(
            cancel_futures=True
        )  # waits for all, and alone: of two who wait for one, one may miss its end


def _prepare():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow():
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
