"""The only loops over trials, rounds, clients and steps.

`advance` runs any algorithm on any problem: it knows both through function types and addresses
(see jit.py), so it is compiled once. A block of trials runs without the interpreter's lock; blocks
share nothing but read-only data and a stop flag, so any number of threads gives the same bits.
"""

import warnings
from functools import cache
from types import FunctionType

import numpy as np
from numba.core.errors import NumbaExperimentalFeatureWarning

from fedtheory import jit, metrics, rng
from fedtheory.problem import IMPULSE, MINIBATCH, RADEMACHER, ROWS, SPHERE, TABLE

SERVER_GRAD, CLIENT_GRAD = 1, 2  # the gradients an algorithm asks for when a round begins
OBJECTIVE, SERVER, DISTANCE = metrics.OBJECTIVE, metrics.SERVER, metrics.DISTANCE
DISSIMILARITY, DRIFT = metrics.DISSIMILARITY, metrics.DRIFT
COLUMNS = len(metrics.BASIC)
THE_SERVER = np.int64(0)  # a bare 0 would be a type of its own, and compile everything twice
LIMIT = 1e150  # beyond it squares overflow: a trial has diverged


@jit.jit
def add_noise(kind, sigma, key, client, step, ordinal, table, g, noise):
    """g += n, E[n] = 0, E||n||^2 = sigma^2; `ordinal` counts the gradients of this round."""
    d = g.size
    if kind == TABLE:  # given outcomes, for enumeration
        for j in range(d):
            g[j] += table[ordinal, j]
    elif kind == IMPULSE:  # one given vector at one given call, for probing an affine map
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
def stochastic_gradient(
    grad,
    batch,
    data,
    i,
    x,
    kind,
    sigma,
    batch_size,
    sizes,
    replacement,
    key,
    step,
    ordinal,
    table,
    deck,
    rows,
    g,
    noise,
):
    """An unbiased estimate of grad f_i(x) in g (FSL, line 13)."""
    if kind == MINIBATCH or kind == ROWS:
        B = batch_size[i]
        if B > 0 and (B < sizes[i] or replacement or kind == ROWS):
            sample_rows(kind, key, i, step, ordinal, table, replacement, deck[: sizes[i]], rows[:B])
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
def fill(
    a, value
):  # a slice assignment would bring in Numba's broadcasting, seconds of compilation
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
        good = good and abs(x[j]) < LIMIT  # false for NaN too
    return good


@jit.jit
def work_slots(
    grad,
    batch,
    data,
    local_start,
    local_step,
    local_end,
    state,
    local,
    h,
    asks,
    x,
    y,
    cohort,
    work,
    sigma,
    batch_size,
    sizes,
    replacement,
    kind,
    table,
    key,
    ordinal,
    low,
    high,
    wanted,
    drift,
    deck,
    rows,
    g,
    noise,
    stop,
):
    """Local work of cohort slots low .. high - 1 (FSL, lines 5-7): each writes only what is its
    client's own."""
    for s in range(low, high):
        i, y_s, l_s = cohort[s], y[s], local[s]
        if asks & CLIENT_GRAD:
            stochastic_gradient(
                grad,
                batch,
                data,
                i,
                x,
                kind,
                sigma,
                batch_size,
                sizes,
                replacement,
                key,
                rng.START,
                ordinal,
                table,
                deck,
                rows,
                g,
                noise,
            )
            ordinal += 1
        local_start(state, i, y_s, g, l_s, h)
        drift[s] = 0.0
        for k in range(work[s]):
            if stop[0] != 0:
                return
            if wanted & DRIFT:
                drift[s] += square_gap(y_s, x)
            stochastic_gradient(
                grad,
                batch,
                data,
                i,
                y_s,
                kind,
                sigma,
                batch_size,
                sizes,
                replacement,
                key,
                k,
                ordinal,
                table,
                deck,
                rows,
                g,
                noise,
            )
            ordinal += 1
            local_step(state, i, k, y_s, g, l_s, h)
        local_end(state, i, work[s], y_s, l_s, h)


@jit.jit
def open_round(
    grad,
    batch,
    data,
    begin,
    state,
    h,
    asks,
    x,
    t,
    sigma,
    batch_size,
    sizes,
    replacement,
    kind,
    table,
    key,
    deck,
    rows,
    g,
    noise,
):
    if asks & SERVER_GRAD:
        stochastic_gradient(
            grad,
            batch,
            data,
            THE_SERVER,
            x,
            kind,
            sigma,
            batch_size,
            sizes,
            replacement,
            key,
            rng.START,
            THE_SERVER,
            table,
            deck,
            rows,
            g,
            noise,
        )
    begin(state, t, g, h)


@jit.jit
def close_round(
    grad,
    batch,
    data,
    objective,
    true_grad,
    true_loss,
    true_data,
    aggregate,
    server_step,
    end,
    state,
    locals_,
    h,
    asks,
    x,
    w,
    y,
    before,
    cohort,
    work,
    server_work,
    shares,
    p,
    sigma,
    batch_size,
    sizes,
    replacement,
    kind,
    table,
    key,
    ordinal,
    x_star,
    wanted,
    row,
    drift,
    deck,
    rows,
    g,
    g_0,
    noise,
    stop,
):
    """Aggregation (lines 8-9), the server's steps (line 10), and the round's metrics; false if x is
    not finite."""
    if wanted & DRIFT:
        total, steps = 0.0, 0
        for s in range(cohort.size):
            total += drift[s]
            steps += work[s]
        row[8] = total / steps if steps > 0 else 0.0
        row[9] = 0.0
        copy(x, before)
    aggregate(state, cohort, work, shares, y, locals_, h)
    for k in range(server_work):
        if stop[0] != 0:
            return True
        if wanted & DRIFT:
            row[9] += square_gap(w, before) / server_work
        stochastic_gradient(
            grad,
            batch,
            data,
            THE_SERVER,
            w,
            kind,
            sigma,
            batch_size,
            sizes,
            replacement,
            key,
            k,
            ordinal,
            table,
            deck,
            rows,
            g,
            noise,
        )
        ordinal += 1
        server_step(state, k, g, h)
    end(state, h)
    if not finite(x):
        fill(row, np.nan)
        return False
    measure(objective, true_grad, true_loss, true_data, p, x, x_star, wanted, row, g, g_0)
    return True


def advance(
    grad,
    batch,
    data,
    objective,
    true_grad,
    true_loss,
    true_data,
    begin,
    local_start,
    local_step,
    local_end,
    aggregate,
    server_step,
    end,
    state,
    local,
    locals_,
    hyper,
    asks,
    x,
    w,
    y,
    cohort,
    work,
    server_work,
    shares,
    p,
    sigma,
    batch_size,
    sizes,
    replacement,
    kind,
    table,
    seed,
    first_trial,
    first_round,
    low,
    high,
    x_star,
    wanted,
    record,
    path,
    diverged,
    stop,
):
    """Rounds first_round .. first_round + R - 1 of trials low .. high - 1.

    `shares` holds the aggregation coefficients of each round, `p` the objective's weights.
    `grad`, `batch`, `data` are what clients train on; `objective`, `true_*` what is measured (they
    differ under data sharing). Trials that left the finite numbers rest, their records NaN.
    """
    d = x.shape[1]
    R, S = cohort.shape[1], cohort.shape[2]
    g, g_0, noise, before, drift = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(S)
    most, largest = 0, 1
    for i in range(sizes.size):
        most = max(most, sizes[i])
        largest = max(largest, batch_size[i])
    deck, rows = np.empty(most, dtype=np.int64), np.empty(largest, dtype=np.int64)
    for i in range(most):
        deck[i] = i
    for trial in range(low, high):
        x_t, w_t, draws = x[trial], w[trial], table[trial % table.shape[0]]
        for r in range(R):
            t = first_round + r
            if diverged[trial] >= 0:
                fill(record[trial, r], np.nan)
                continue
            key = np.uint64(
                rng.stream(seed, first_trial + trial, t)
            )  # a bare int, where interpreted
            s_t, h = state[trial], hyper[r]
            open_round(
                grad,
                batch,
                data,
                begin,
                s_t,
                h,
                asks,
                x_t,
                t,
                sigma,
                batch_size,
                sizes,
                replacement,
                kind,
                draws,
                key,
                deck,
                rows,
                g,
                noise,
            )
            first = np.int64(asks & SERVER_GRAD)
            work_slots(
                grad,
                batch,
                data,
                local_start,
                local_step,
                local_end,
                s_t,
                local,
                h,
                asks,
                x_t,
                y,
                cohort[trial, r],
                work[trial, r],
                sigma,
                batch_size,
                sizes,
                replacement,
                kind,
                draws,
                key,
                first,
                THE_SERVER,
                np.int64(S),
                wanted,
                drift,
                deck,
                rows,
                g,
                noise,
                stop,
            )
            for s in range(S):
                first += work[trial, r, s] + (asks & CLIENT_GRAD) // CLIENT_GRAD
            if stop[0] == 0 and not close_round(
                grad,
                batch,
                data,
                objective,
                true_grad,
                true_loss,
                true_data,
                aggregate,
                server_step,
                end,
                s_t,
                locals_,
                h,
                asks,
                x_t,
                w_t,
                y,
                before,
                cohort[trial, r],
                work[trial, r],
                server_work[r],
                shares[r],
                p,
                sigma,
                batch_size,
                sizes,
                replacement,
                kind,
                draws,
                key,
                first,
                x_star,
                wanted,
                record[trial, r],
                drift,
                deck,
                rows,
                g,
                g_0,
                noise,
                stop,
            ):
                diverged[trial] = t
            if stop[0] != 0:
                return
            if path.shape[1] > 0:
                copy(x_t, path[trial, r])


# The engine's own signatures: function types for kernels, addresses for their tuples.
_T, _I8, _F8 = jit.types, jit.types.int64, jit.types.float64
_V, _M, _I, _A = jit.VECTOR, jit.MATRIX, jit.INTEGERS, jit.ADDRESS
_CUBE, _COUNTS, _KEY, _FLAG = _T.Array(_F8, 3, "C"), _T.Array(_I8, 3, "C"), _T.uint64, _T.boolean


def _function(returns, *arguments):
    return _T.FunctionType(returns(*arguments))


_GRAD, _BATCH = _function(_T.void, _A, _I8, _V, _V), _function(_T.void, _A, _I8, _I, _V, _V)
_OBJECTIVE, _LOSS = _function(_F8, _A, _V, _V, _V), _function(_F8, _A, _I8, _V)
_BEGIN = _function(_T.void, _A, _I8, _V, _A)
_LOCAL = (
    _function(_T.void, _A, _I8, _V, _V, _A, _A),
    _function(_T.void, _A, _I8, _I8, _V, _V, _A, _A),
    _function(_T.void, _A, _I8, _I8, _V, _A, _A),
)
_CLOSE = (
    _function(_T.void, _A, _I, _I, _V, _M, _A, _A),
    _function(_T.void, _A, _I8, _V, _A),
    _function(_T.void, _A, _A),
)
_NOISE = (_V, _I, _I, _FLAG, _I8)
_SIGNATURES = {
    "advance": _T.void(
        _GRAD,
        _BATCH,
        _A,
        _OBJECTIVE,
        _GRAD,
        _LOSS,
        _A,
        _BEGIN,
        *_LOCAL,
        *_CLOSE,
        _I,
        _I,
        _A,
        _I,
        _I8,
        _M,
        _M,
        _M,
        _COUNTS,
        _COUNTS,
        _I,
        _M,
        _V,
        *_NOISE,
        _CUBE,
        _KEY,
        _I8,
        _I8,
        _I8,
        _I8,
        _V,
        _I8,
        _CUBE,
        _CUBE,
        _I,
        _I,
    ),
    "open_round": _T.void(
        _GRAD, _BATCH, _A, _BEGIN, _A, _A, _I8, _V, _I8, *_NOISE, _M, _KEY, _I, _I, _V, _V
    ),
    "work_slots": _T.void(
        _GRAD,
        _BATCH,
        _A,
        *_LOCAL,
        _A,
        _I,
        _A,
        _I8,
        _V,
        _M,
        _I,
        _I,
        *_NOISE,
        _M,
        _KEY,
        _I8,
        _I8,
        _I8,
        _I8,
        _V,
        _I,
        _I,
        _V,
        _V,
        _I,
    ),
    "close_round": _FLAG(
        _GRAD,
        _BATCH,
        _A,
        _OBJECTIVE,
        _GRAD,
        _LOSS,
        _A,
        *_CLOSE,
        _A,
        _A,
        _A,
        _I8,
        _V,
        _V,
        _M,
        _V,
        _I,
        _I,
        _I8,
        _V,
        _V,
        *_NOISE,
        _M,
        _KEY,
        _I8,
        _V,
        _I8,
        _V,
        _V,
        _I,
        _I,
        _V,
        _V,
        _V,
        _I,
    ),
}


@cache
def kernel(name="advance"):
    """One of the engine's loops as machine code; compiled, or read from the cache, on first use."""
    compiled = jit.compile(jit.python(globals()[name]))
    if not jit.DISABLED:
        with (
            warnings.catch_warnings()
        ):  # function types are old and stable, if still called experimental
            warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
            compiled.compile(_SIGNATURES[name])
        compiled.disable_compile()  # or Numba would specialise it to each kernel it is given
    return compiled


@cache
def interpreted(name="advance"):
    """The same source for kernels that are not compiled: every helper that takes one runs as
    Python."""
    scope = dict(globals())
    for helper, value in globals().items():
        if jit.compiled(value) and value.__module__ == __name__:
            scope[helper] = FunctionType(jit.python(value).__code__, scope)
    scope["advance"] = FunctionType(advance.__code__, scope)
    return scope[name]
