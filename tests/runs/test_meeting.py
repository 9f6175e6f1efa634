"""Workers that meet in machine code: nobody goes on before all are there, no piece is taken twice."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fedtheory import jit
from fedtheory.runs.meeting import COUNTERS, TAKEN, meet, take

WORKERS, ROUNDS, PIECES = 3, 200, 7


@jit.jit
def share(gate, worker, who, sums):
    """Each round: pieces are taken, all meet, the first worker adds up what stands there."""
    for r in range(ROUNDS):
        n = take(gate)
        while n < PIECES:
            who[r, n] += 10**worker
            n = take(gate)
        meet(gate, WORKERS)
        if worker == 0:
            for n in range(PIECES):
                sums[r] += who[r, n] > 0
            gate[TAKEN] = 0
        meet(gate, WORKERS)


@pytest.mark.skipif(jit.DISABLED, reason="loops on one thread meet nobody")
def test_every_piece_is_taken_once_and_done_before_all_go_on():
    gate = np.zeros(COUNTERS, dtype=np.int64)
    who, sums = np.zeros((ROUNDS, PIECES), dtype=np.int64), np.zeros(ROUNDS, dtype=np.int64)
    with ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(share, gate, w, who, sums) for w in range(WORKERS)]:
            done.result()
    assert (sums == PIECES).all()
    assert set(who.ravel()) <= {1, 10, 100}  # one worker's mark, no sum of two
