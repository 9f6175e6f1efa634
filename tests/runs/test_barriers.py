"""Workers that meet in machine code: nobody goes on before all are there, no piece is taken twice."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fedtheory import jit
from fedtheory.runs.barriers import lay_out, make_counters, take_piece
from fedtheory.runs.shared_gradients import wait_at_barrier

WORKERS, ROUNDS, PIECES = 3, 200, 7
NO_DESK = np.int64(0)  # nobody has anything to be helped with


@jit.jit
def share(gate, worker, who, sums):
    """Each round: pieces are taken, a worker's own first, all meet, the first worker adds up what stands
    there."""
    for r in range(ROUNDS):
        for turn in range(WORKERS):
            part = (worker + turn) % WORKERS
            n = take_piece(gate, part)
            while n < PIECES:
                who[r, part, n] += 10**worker
                n = take_piece(gate, part)
        wait_at_barrier(gate, NO_DESK, sums, worker, WORKERS)
        if worker == 0:
            for part in range(WORKERS):
                for n in range(PIECES):
                    sums[r] += who[r, part, n] > 0
            lay_out(gate)
        wait_at_barrier(gate, NO_DESK, sums, worker, WORKERS)


@pytest.mark.skipif(jit.DISABLED, reason="loops on one thread meet nobody")
def test_every_piece_is_taken_once_and_done_before_all_go_on():
    gate = make_counters(WORKERS)
    who = np.zeros((ROUNDS, WORKERS, PIECES), dtype=np.int64)
    sums = np.zeros(ROUNDS)
    with ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(share, gate, w, who, sums) for w in range(WORKERS)]:
            done.result()
    assert (sums == WORKERS * PIECES).all()
    assert set(who.ravel()) <= {1, 10, 100}  # one worker's mark, no sum of two
