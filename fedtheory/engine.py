"""The only loops over trials, rounds, clients and steps.

`advance` runs any algorithm on any problem: it knows both through function types and addresses
(see jit.py), so it is compiled once. A block of trials runs without the interpreter's lock; blocks
share nothing but read-only data and a stop flag, so any number of threads gives the same bits.
"""

from types import FunctionType

import numpy as np

from fedtheory import jit, metrics, rng
from fedtheory.problem import GAUSSIAN, IMPULSE, MINIBATCH, RADEMACHER, ROWS, SPHERE, TABLE

SERVER_GRAD, CLIENT_GRAD = 1, 2    # the gradients an algorithm asks for when a round begins
OBJECTIVE, SERVER, DISTANCE = metrics.OBJECTIVE, metrics.SERVER, metrics.DISTANCE
DISSIMILARITY, DRIFT = metrics.DISSIMILARITY, metrics.DRIFT
COLUMNS = len(metrics.BASIC)
THE_SERVER = np.int64(0)    # a bare 0 would be a type of its own, and compile everything twice
LIMIT = 1e150    # beyond it squares overflow: a trial has diverged


@jit.jit
def add_noise(kind, sigma, key, client, step, ordinal, table, g, noise):
    """g += n, E[n] = 0, E||n||^2 = sigma^2; `ordinal` counts the gradients of this round."""
    d = g.size
    if kind == TABLE:    # given outcomes, for enumeration
        for j in range(d):
            g[j] += table[ordinal, j]
    elif kind == IMPULSE:    # one given vector at one given call, for probing an affine map
        if np.int64(table[0, 0]) == ordinal:
            for j in range(d):
                g[j] += table[1, j]
    elif sigma > 0.0:
        if kind == RADEMACHER:
            rng.signs(key, client, step, noise)
        else:
            rng.normals(key, client, step, noise)
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
    """The samples of one minibatch."""
    if kind == ROWS:
        for b in range(rows.size):
            rows[b] = np.int64(table[ordinal, b])
    elif replacement:
        for b in range(rows.size):
            rows[b] = rng.below(key, client, step, rng.BATCH, b, deck.size)
    else:
        rng.subset(key, client, step, rng.BATCH, deck, rows)


@jit.jit
def stochastic_gradient(grad, batch, data, i, x, kind, sigma, batch_size, sizes, replacement,
                        key, step, ordinal, table, deck, rows, g, noise):
    """An unbiased estimate of grad f_i(x) in g (FSL, line 13)."""
    if kind == MINIBATCH or kind == ROWS:
        B = batch_size[i]
        if B > 0 and (B < sizes[i] or replacement or kind == ROWS):
            sample_rows(kind, key, i, step, ordinal, table, replacement, deck[:sizes[i]], rows[:B])
            batch(data, i, rows[:B], x, g)
            return
    grad(data, i, x, g)
    add_noise(kind, sigma[i], key, i, step, ordinal, table, g, noise)


@jit.jit
def square_gap(a, b):
    """||a - b||^2 with four accumulators in a fixed order."""
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
def measure(objective, grad, loss, data, p, x, x_star, wanted, row, g, g_0):
    """The basic metrics at x, in the order of `metrics.BASIC`; drifts are the round's business."""
    if wanted & OBJECTIVE:
        row[0] = objective(data, p, x, g)
        fill(g_0, 0.0)
        row[2] = square_gap(g, g_0)
        if wanted & SERVER:
            row[1] = loss(data, 0, x)
            grad(data, 0, x, g_0)
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
                grad(data, i, x, g_0)
                total += square_gap(g_0, g)
            row[7] = total / (p.size - 1)
    if wanted & DISTANCE:
        row[6] = square_gap(x, x_star)


@jit.jit
def fill(a, value):    # a slice assignment would bring in Numba's broadcasting, seconds of compilation
    for j in range(a.size):
        a[j] = value


@jit.jit
def copy(a, to):
    for j in range(a.size):
        to[j] = a[j]


@jit.jit
def finite(x):
    good = True
    for j in range(x.size):
        good = good and abs(x[j]) < LIMIT    # false for NaN too
    return good


def advance(grad, batch, data, objective, true_grad, true_loss, true_data,
            begin, local_start, local_step, local_end, aggregate, server_step, end,
            state, local, locals_, hyper, asks, x, w, y,
            cohort, work, server_work, shares, p, sigma, batch_size, sizes, replacement, kind, table,
            seed, first_trial, first_round, low, high, x_star, wanted, record, path, diverged, stop):
    """Rounds first_round .. first_round + R - 1 of trials low .. high - 1.

    `shares` holds the aggregation coefficients of each round, `p` the objective's weights.
    `grad`, `batch`, `data` are what clients train on; `objective`, `true_*` what is measured (they
    differ under data sharing). Trials that left the finite numbers rest, their records NaN.
    """
    d = x.shape[1]
    R, S = cohort.shape[1], cohort.shape[2]
    g, g_0, noise = np.empty(d), np.empty(d), np.empty(d)
    most, largest = 0, 1
    for i in range(sizes.size):
        most = max(most, sizes[i])
        largest = max(largest, batch_size[i])
    deck, rows = np.empty(most, dtype=np.int64), np.empty(largest, dtype=np.int64)
    for i in range(most):
        deck[i] = i
    for trial in range(low, high):
        x_t, w_t = x[trial], w[trial]
        draws = table[trial % table.shape[0]]
        for r in range(R):
            t = first_round + r
            if diverged[trial] >= 0:
                fill(record[trial, r], np.nan)
                continue
            key = np.uint64(rng.stream(seed, first_trial + trial, t))    # a bare int, where interpreted
            s_t, h = state[trial], hyper[r]
            ordinal = np.int64(0)
            if asks & SERVER_GRAD:
                stochastic_gradient(grad, batch, data, THE_SERVER, x_t, kind, sigma, batch_size, sizes, replacement,
                                    key, rng.START, ordinal, draws, deck, rows, g, noise)
                ordinal += 1
            begin(s_t, t, g, h)
            drift = 0.0
            steps = 0
            if wanted & DRIFT:
                copy(x_t, g_0)
            for s in range(S):
                i = cohort[trial, r, s]
                y_s, l_s = y[s], local[s]
                if asks & CLIENT_GRAD:
                    stochastic_gradient(grad, batch, data, i, x_t, kind, sigma, batch_size, sizes, replacement,
                                        key, rng.START, ordinal, draws, deck, rows, g, noise)
                    ordinal += 1
                local_start(s_t, i, y_s, g, l_s, h)
                for k in range(work[trial, r, s]):
                    if stop[0] != 0:
                        return
                    if wanted & DRIFT:
                        drift += square_gap(y_s, g_0)
                        steps += 1
                    stochastic_gradient(grad, batch, data, i, y_s, kind, sigma, batch_size, sizes, replacement,
                                        key, k, ordinal, draws, deck, rows, g, noise)
                    ordinal += 1
                    local_step(s_t, i, k, y_s, g, l_s, h)
                local_end(s_t, i, work[trial, r, s], y_s, l_s, h)
            aggregate(s_t, cohort[trial, r], work[trial, r], shares[r], y, locals_, h)
            if wanted & DRIFT:
                record[trial, r, 8] = drift / steps if steps > 0 else 0.0
                drift = 0.0
            for k in range(server_work[r]):
                if stop[0] != 0:
                    return
                if wanted & DRIFT:
                    drift += square_gap(w_t, g_0)
                stochastic_gradient(grad, batch, data, THE_SERVER, w_t, kind, sigma, batch_size, sizes, replacement,
                                    key, k, ordinal, draws, deck, rows, g, noise)
                ordinal += 1
                server_step(s_t, k, g, h)
            end(s_t, h)
            if wanted & DRIFT:
                record[trial, r, 9] = drift / server_work[r] if server_work[r] > 0 else 0.0
            if finite(x_t):
                measure(objective, true_grad, true_loss, true_data, p, x_t, x_star, wanted, record[trial, r], g, g_0)
            else:
                diverged[trial] = t
                fill(record[trial, r], np.nan)
            if path.shape[1] > 0:
                copy(x_t, path[trial, r])


# The engine's own signature: function types for kernels, addresses for their tuples.
def _signature():
    t, i8, f8 = jit.types, jit.types.int64, jit.types.float64
    V, M, I, A = jit.VECTOR, jit.MATRIX, jit.INTEGERS, jit.ADDRESS
    F = lambda returns, *arguments: t.FunctionType(returns(*arguments))
    grad, batch = F(t.void, A, i8, V, V), F(t.void, A, i8, I, V, V)
    objective, loss = F(f8, A, V, V, V), F(f8, A, i8, V)
    cube, counts = t.Array(f8, 3, "C"), t.Array(i8, 3, "C")
    return t.void(grad, batch, A, objective, grad, loss, A,
                  F(t.void, A, i8, V, A), F(t.void, A, i8, V, V, A, A), F(t.void, A, i8, i8, V, V, A, A),
                  F(t.void, A, i8, i8, V, A, A), F(t.void, A, I, I, V, M, A, A), F(t.void, A, i8, V, A), F(t.void, A, A),
                  I, I, A, I, i8, M, M, M,
                  counts, counts, I, M, V, V, I, I, t.boolean, i8, cube,
                  t.uint64, i8, i8, i8, i8, V, i8, cube, cube, I, I)


_compiled = None


def kernel():
    """`advance` as machine code; compiled, or read from the cache, on first use."""
    global _compiled
    if _compiled is None:
        _compiled = jit.compile(advance)
        if not jit.DISABLED:
            _compiled.compile(_signature())
            _compiled.disable_compile()    # or Numba would specialise it to each kernel it is given
    return _compiled


def interpreted():
    """The same source for kernels that are not compiled: every helper that takes one runs as Python."""
    scope = dict(globals())
    for name in ("add_noise", "sample_rows", "stochastic_gradient", "square_gap", "measure", "fill", "copy", "finite", "advance"):
        scope[name] = FunctionType(jit.python(scope[name]).__code__, scope)
    return scope["advance"]
