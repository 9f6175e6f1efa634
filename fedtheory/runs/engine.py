"""The loops over trials, rounds, clients and steps; no other module has such loops.

`advance` runs any algorithm on any problem. Both enter as function types and addresses (see
groups.py), so `advance` is compiled once. A block of trials runs without the interpreter's lock.
Blocks share only read-only data and a stop flag, so any number of threads gives the same bits.

A round is: `open_round` (the server's gradient at x, `begin`), `work_slots` (each client of the
cohort: `local_start`, its steps, `local_end`), `close_round` (`aggregate`, the server's steps,
`end`), `measure`. The names in backquotes that are no functions here are a method's seven kernels.
`ordinal` counts the gradient calls of a round in this order, so that prescribed noise (TABLE,
IMPULSE) reaches the intended call. `advance_together` does the same for few trials of long rounds,
with all workers in one round.
"""

import warnings
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba.core.errors import NumbaExperimentalFeatureWarning

from fedtheory import jit, metrics, rng
from fedtheory.problem import IMPULSE, MINIBATCH, RADEMACHER, ROWS, SPHERE, TABLE
from fedtheory.runs.barriers import ENDED, lay_out, take_piece
from fedtheory.runs.groups import (
    Chunk,
    Cohort,
    Draws,
    Law,
    Round,
    Rules,
    Scratch,
    Trials,
    Truth,
    types_of,
)
from fedtheory.runs.shared_gradients import wait_at_barrier

SERVER_GRAD, CLIENT_GRAD = 1, 2  # the gradients an algorithm asks for when a round begins
OBJECTIVE, SERVER, DISTANCE = metrics.OBJECTIVE, metrics.SERVER, metrics.DISTANCE
DISSIMILARITY, DRIFT = metrics.DISSIMILARITY, metrics.DRIFT
SEEN, SLOPE, TEST = metrics.SEEN, metrics.SLOPE, metrics.TEST
COLUMNS = len(metrics.BASIC)
# a literal 0 would have a type of its own, and all functions would be compiled twice
THE_SERVER = np.int64(0)
LIMIT = 1e150  # beyond this size squares overflow, and a trial counts as diverged


@jit.jit
def add_noise(kind, sigma, key, client, step, ordinal, table, g, noise):
    """Add noise n to g with E[n] = 0 and E||n||^2 = sigma^2; `ordinal` counts the gradient calls of
    this round."""
    d = g.size
    if kind == TABLE:  # outcomes prescribed by an enumeration
        for j in range(d):
            g[j] += table[ordinal, j]
    elif kind == IMPULSE:  # one prescribed vector at one call, to probe an affine map
        if np.int64(table[0, 0]) == ordinal:
            for j in range(d):
                g[j] += table[1, j]
    elif sigma > 0.0:
        if kind == RADEMACHER:
            rng.fair_signs(key, client, step, noise)
        else:
            rng.standard_normals(key, client, step, noise)
        scale = sigma / np.sqrt(np.float64(d))
        if kind == SPHERE:
            square = 0.0
            for j in range(d):
                square += noise[j] * noise[j]
            scale = sigma / np.sqrt(square)
        for j in range(d):
            g[j] += scale * noise[j]


@jit.jit
def sample_rows(kind, key, client, step, ordinal, table, replacement, deck, rows):
    """Draw the sample indices of one minibatch into `rows`."""
    if kind == ROWS:
        for b in range(rows.size):
            rows[b] = np.int64(table[ordinal, b])
    elif replacement:
        rng.uniform_indices(key, client, step, rng.BATCH, deck.size, 0, rows)
    else:
        rng.draw_subset(key, client, step, rng.BATCH, deck, rows)


@jit.jit
def stochastic_gradient(grad, batch, law, draws, i, x, step, ordinal, scratch):
    """Compute an unbiased estimate of grad f_i(x) into scratch.g (FSL, line 13)."""
    kind, key, table = draws.kind, draws.key, draws.table
    if kind == MINIBATCH or kind == ROWS:
        B, n = law.batch_size[i], law.sizes[i]
        if B == 0 and law.drawing:
            B = n
        if B > 0 and (B < n or law.replacement or law.drawing or kind == ROWS):
            deck, rows = scratch.deck[:n], scratch.rows[:B]
            sample_rows(kind, key, i, step, ordinal, table, law.replacement, deck, rows)
            draw = np.uint64(rng.gradient_key(key, i, step))  # interpreted code returns a plain int
            batch(law.data, i, rows, draw, x, scratch.g)
            return
    grad(law.data, i, x, scratch.g)
    add_noise(kind, law.sigma[i], key, i, step, ordinal, table, scratch.g, scratch.noise)


@jit.jit
def square_gap(a, b):
    """Return ||a - b||^2, summed in four accumulators in a fixed order."""
    s0 = s1 = s2 = s3 = 0.0
    n = a.size - a.size % 4
    for j in range(0, n, 4):
        s0 += (a[j] - b[j]) ** 2
        s1 += (a[j + 1] - b[j + 1]) ** 2
        s2 += (a[j + 2] - b[j + 2]) ** 2
        s3 += (a[j + 3] - b[j + 3]) ** 2
    for j in range(n, a.size):
        s0 += (a[j] - b[j]) ** 2
    return (s0 + s1) + (s2 + s3)


@jit.jit
def measure(rules, truth, wanted, x, row, g, g_0):
    """Compute the basic metrics at x into `row`, in the order of `metrics.BASIC`. Drifts and
    sampled gradients are computed during the round instead."""
    data, p = truth.data, truth.weights
    if wanted & OBJECTIVE and not wanted & SLOPE:
        row[0] = rules.value(data, p, x)
    elif wanted & OBJECTIVE:
        row[0] = rules.objective(data, p, x, g)
        fill(g_0, 0.0)
        row[2] = square_gap(g, g_0)
        if wanted & SERVER:
            row[1] = rules.true_loss(data, THE_SERVER, x)
            rules.true_grad(data, THE_SERVER, x, g_0)
            row[5] = square_gap(g, g_0)
            inner = 0.0
            square = 0.0
            for j in range(x.size):
                inner += g[j] * g_0[j]
                square += g_0[j] * g_0[j]
            row[3] = square
            row[4] = inner
        if wanted & DISSIMILARITY:
            total = 0.0
            for i in range(1, p.size):
                rules.true_grad(data, i, x, g_0)
                total += square_gap(g_0, g)
            row[7] = total / (p.size - 1)
    if wanted & DISTANCE:
        row[6] = square_gap(x, truth.x_star)
    if wanted & TEST:
        rules.test(data, x, row[13:17])


@jit.jit
def fill(a, value):  # a slice assignment would compile Numba's broadcasting, which takes seconds
    for j in range(a.size):
        a[j] = value


@jit.jit
def copy(a, to):
    """Write the entries of a into `to`."""
    for j in range(a.size):
        to[j] = a[j]


@jit.jit
def is_finite(x):
    """Tell whether every entry is a number below LIMIT in size."""
    good = True
    for j in range(x.size):
        good = good and abs(x[j]) < LIMIT  # false for NaN too
    return good


@jit.jit
def measure_sampled_gradients(rules, law, now, scratch):
    """Compute from the cohort's mean gradient at the round's start and the server's gradient, both
    sampled (mixed FL, (7)), their squared norms and inner product. The samples come from separate
    streams, so that this measurement does not change the run."""
    g, mean, S = scratch.g, scratch.before, now.cohort.size
    fill(mean, 0.0)
    for s in range(S):
        stochastic_gradient(
            rules.grad, rules.batch, law, now.draws, now.cohort[s], now.x, rng.LOOK, s, scratch
        )
        for j in range(mean.size):
            mean[j] += g[j] / S
    stochastic_gradient(
        rules.grad, rules.batch, law, now.draws, THE_SERVER, now.x, rng.LOOK, S, scratch
    )
    fill(scratch.g_0, 0.0)
    now.row[10] = square_gap(mean, scratch.g_0)
    now.row[11] = square_gap(g, scratch.g_0)
    inner = 0.0
    for j in range(mean.size):
        inner += mean[j] * g[j]
    now.row[12] = inner


@jit.jit
def open_round(rules, law, now, scratch):
    """Begin a round before the clients work: compute the server's gradient, where the method uses
    one."""
    if now.wanted & SEEN:
        measure_sampled_gradients(rules, law, now, scratch)
    if law.asks & SERVER_GRAD:
        stochastic_gradient(
            rules.grad,
            rules.batch,
            law,
            now.draws,
            THE_SERVER,
            now.x,
            rng.START,
            THE_SERVER,
            scratch,
        )
    rules.begin(now.state, now.t, scratch.g, now.h)


@jit.jit
def work_slots(rules, law, now, cohort, scratch, ordinal, low, high):
    """Do the local work of cohort slots low .. high - 1 (FSL, lines 5-7). Each slot writes only
    data of its own client: its row of y, its memory and its drift, sum_k ||y_k - x||^2. `ordinal`
    is the number of gradient calls before slot `low`. Return early where the run is stopped."""
    state, h, draws, grad, batch = now.state, now.h, now.draws, rules.grad, rules.batch
    for s in range(low, high):
        i, y, l = now.cohort[s], cohort.y[s], cohort.local[s]
        if law.asks & CLIENT_GRAD:
            stochastic_gradient(grad, batch, law, draws, i, now.x, rng.START, ordinal, scratch)
            ordinal += 1
        rules.local_start(state, i, y, scratch.g, l, h)
        cohort.drift[s] = 0.0
        for k in range(now.work[s]):
            if now.stop[0] != 0:
                return
            if now.wanted & DRIFT:
                cohort.drift[s] += square_gap(y, now.x)
            stochastic_gradient(grad, batch, law, draws, i, y, k, ordinal, scratch)
            ordinal += 1
            rules.local_step(state, i, k, y, scratch.g, l, h)
        rules.local_end(state, i, now.work[s], y, l, h)


@jit.jit
def close_round(rules, law, now, cohort, scratch, ordinal):
    """Aggregate (lines 8-9), do the server's steps (line 10), and record the drifts; return false
    if x is not finite."""
    row, h = now.row, now.h
    if now.wanted & DRIFT:
        total, steps = 0.0, 0
        for s in range(now.work.size):
            total += cohort.drift[s]
            steps += now.work[s]
        row[8] = total / steps if steps > 0 else 0.0
        row[9] = 0.0
        copy(now.x, scratch.before)
    rules.aggregate(now.state, now.cohort, now.work, now.shares, cohort.y, cohort.together, h)
    for k in range(now.server_work):
        if now.stop[0] != 0:
            return True
        if now.wanted & DRIFT:
            row[9] += square_gap(now.w, scratch.before) / now.server_work
        stochastic_gradient(
            rules.grad, rules.batch, law, now.draws, THE_SERVER, now.w, k, ordinal, scratch
        )
        ordinal += 1
        rules.server_step(now.state, k, scratch.g, h)
    rules.end(now.state, h)
    if not is_finite(now.x):
        fill(row, np.nan)
        return False
    return True


@jit.jit
def the_round(truth, trials, chunk, trial, r):
    """Return the Round record of round r of a chunk, for one trial."""
    t = chunk.first_round + r
    # interpreted code returns a plain int
    key = np.uint64(rng.stream_key(chunk.seed, chunk.first_trial + trial, t))
    table = chunk.table[trial % chunk.table.shape[0]]
    return Round(
        trials.state[trial],
        chunk.hyper[r],
        trials.x[trial],
        trials.w[trial],
        t,
        Draws(chunk.kind, key, table),
        chunk.cohort[trial, r],
        chunk.work[trial, r],
        chunk.server_work[r],
        chunk.shares[min(r, chunk.shares.shape[0] - 1)],
        truth.wanted if (t + 1) % truth.every == 0 else THE_SERVER,
        chunk.record[trial, r],
        trials.stop,
    )


@jit.jit
def end_round(rules, law, trials, chunk, cohort, scratch, now, trial, r):
    """Close a round and store its results, unless the run was stopped; return true if there is
    something to measure. `ordinal`, the number of gradient calls before the server's steps, is
    counted anew, since workers share the cohort."""
    ordinal = np.int64(law.asks & SERVER_GRAD)
    for s in range(now.work.size):
        ordinal += now.work[s] + (law.asks & CLIENT_GRAD) // CLIENT_GRAD
    fine = trials.stop[0] == 0 and close_round(rules, law, now, cohort, scratch, ordinal)
    if trials.stop[0] != 0:
        return False
    if not fine:
        trials.diverged[trial] = now.t
    if chunk.path.shape[1] > 0:
        copy(now.x, chunk.path[trial, r])
    return fine


@jit.jit
def advance(rules, law, truth, trials, chunk, cohort, scratch, low, high):
    """Run the rounds of a chunk for trials low .. high - 1. Trials with non-finite points are
    skipped, and their records are NaN."""
    S = np.int64(chunk.cohort.shape[2])
    for trial in range(low, high):
        for r in range(chunk.cohort.shape[1]):
            if trials.diverged[trial] >= 0:
                fill(chunk.record[trial, r], np.nan)
                continue
            now = the_round(truth, trials, chunk, trial, r)
            open_round(rules, law, now, scratch)
            first = np.int64(law.asks & SERVER_GRAD)
            work_slots(rules, law, now, cohort, scratch, first, THE_SERVER, S)
            if end_round(rules, law, trials, chunk, cohort, scratch, now, trial, r):
                measure(rules, truth, now.wanted, now.x, now.row, scratch.g, scratch.g_0)
            if trials.stop[0] != 0:
                return


@jit.jit
def advance_together(
    rules, law, truth, trials, chunk, cohort, scratch, gate, desk, worker, workers
):
    """Do what `advance` does for all trials, by workers that run this loop at the same time: each
    worker processes its part of the cohort, then pieces left by other workers, then pieces of
    gradients in progress (shared_gradients.py); worker 0 opens and closes rounds, and measures a
    round while the other workers begin the next. For few trials of long rounds, whose gradients may
    be computed in any order: points of neighbouring clients share cache lines, so the workers take
    separate parts."""
    for trial in range(trials.x.shape[0]):
        now = the_round(truth, trials, chunk, trial, THE_SERVER)
        due = False  # whether round `now` is still to be measured at its final x
        for r in range(chunk.cohort.shape[1]):
            if trials.diverged[trial] >= 0:
                if worker == 0:
                    fill(chunk.record[trial, r], np.nan)
                continue
            before, now = now, the_round(truth, trials, chunk, trial, r)
            if worker == 0:
                open_round(rules, law, now, scratch)
                lay_out(gate)
            wait_at_barrier(gate, desk, scratch.g, worker, workers)
            if due:
                measure(
                    rules, truth, before.wanted, scratch.left, before.row, scratch.g, scratch.g_0
                )
            for turn in range(workers):
                part = (worker + turn) % workers
                low = now.cohort.size * part // workers
                high = now.cohort.size * (part + 1) // workers
                s = low + take_piece(gate, part)
                while s < high:
                    work_slots(rules, law, now, cohort, scratch, THE_SERVER, s, s + 1)
                    s = low + take_piece(gate, part)
            wait_at_barrier(gate, desk, scratch.g, worker, workers)
            due = False
            if worker == 0:
                due = end_round(rules, law, trials, chunk, cohort, scratch, now, trial, r)
                copy(now.x, scratch.left)
                gate[ENDED] = trials.stop[0]
            wait_at_barrier(gate, desk, scratch.g, worker, workers)
            if gate[ENDED]:
                return
        if due:
            measure(rules, truth, now.wanted, scratch.left, now.row, scratch.g, scratch.g_0)


# The arguments of each loop after the groups.
_GROUPS = (Rules, Law, Truth, Trials, Chunk, Cohort, Scratch)
_I8 = jit.types.int64
_BEHIND = {"advance": (_I8, _I8), "advance_together": (jit.INTEGERS, _I8, _I8, _I8)}


@cache
def kernel(name: str = "advance", real: str = "float64") -> Callable[..., Any]:
    """Return one of the engine's loops as machine code for points of the type `real`, with groups
    passed as addresses. The loop is compiled, or read from the cache, on first use."""
    loop = globals()[name]
    if jit.DISABLED:
        return loop
    groups = [types_of(real)[group] for group in _GROUPS]
    with (
        warnings.catch_warnings()
    ):  # Numba calls function types experimental, although they are old and stable
        warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
        compiled = jit.erase(loop, jit.types.void, (*groups, *_BEHIND[name]))
    compiled.disable_compile()  # otherwise Numba would specialise the loop to each kernel
    return compiled


# Functions that take no kernel: they may be machine code where kernels are not.
LEAVES = (add_noise, sample_rows, square_gap, fill, copy, is_finite)


@cache
def interpret_source(name: str = "advance", leaves: bool = False) -> Callable[..., Any]:
    """Return the same loop for kernels that are not compiled: every helper that takes a kernel runs
    as Python, and so do the `leaves` unless `leaves` is true."""
    scope = dict(globals())
    for helper, value in globals().items():
        if leaves and any(value is leaf for leaf in LEAVES):
            continue
        if jit.compiled(value) and value.__module__ == __name__:
            scope[helper] = FunctionType(jit.python(value).__code__, scope)
    return scope[name]
