"""The kernels of every network: an interpreter over a list of layers.

It is compiled once for each kind of reals. Layers stand behind a table of addresses (kernel_table.py),
what they need in rows of integers (network.py); parameters and gradients are of the same kind of
reals as the samples.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from fedtheory import jit as compiler
from fedtheory.experiments.layers._gemm import matrix_view
from fedtheory.experiments.network import REALS, Here, Step
from fedtheory.jit import jit
from fedtheory.kernel_table import call_kernel
from fedtheory.problem import Kernels
from fedtheory.rng import NO_DRAW
from fedtheory.typing import Number

ROWS = 512  # a full gradient sweeps a client's samples in blocks, so memory does not grow with them
WORDS = 2**22  # what layers write of a block stays below this many numbers, if that leaves a sample
AT, SIZE, INPUTS, OUTPUTS, SOURCE, TARGET = range(6)
KEEPS, KEPT, SKIP, ASKED, WRITES = range(6, len(Step._fields))
HEAP = 2**28
JUDGED = 4  # what a loss tells of a sample that was held out: loss, right, within the best, score


class Data(NamedTuple):
    X: np.ndarray  # (n, inputs)
    y: np.ndarray  # (n, labels of a sample)
    starts: np.ndarray  # (N + 2,) where each client's rows begin
    X_test: np.ndarray
    y_test: np.ndarray
    forward: np.ndarray  # (layers,) a table of kernels
    backward: np.ndarray
    judge: np.ndarray  # (1,), of the loss
    plan: np.ndarray  # (layers, a Step's fields)
    sizes: np.ndarray  # (layers, SIZES)
    numbers: np.ndarray  # (layers, NUMBERS)
    programs: (
        np.ndarray
    )  # (3,) where the clients' layers begin, the server's own, and where they end
    wide: int  # numbers a sample of all outputs
    keeps: int  # and of all that is kept
    block: int  # rows of a block


@cache
def keep_freed_memory() -> None:
    """Make the C library retain freed memory, up to HEAP bytes, for the next gradient.

    A convolutional network's workspace is tens of megabytes; handed back and asked for again at each
    step, its pages cost a third of the step. Where the C library is not GNU's nothing happens.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for parameter in (-3, -1):  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
        mallopt(parameter, HEAP)


@jit
def clear_array(out):
    for j in range(out.size):
        out[j] = 0.0


@jit
def gather_rows(X, y, first, rows, X_rows, y_rows):
    """Copy to X_rows and y_rows the given rows, which are counted from row `first` of X and y."""
    for b in range(rows.size):
        for j in range(y.shape[1]):
            y_rows[b, j] = y[first + rows[b], j]
        for j in range(X.shape[1]):
            X_rows[b, j] = X[first + rows[b], j]


# ---------------------------------------------------------------- one sweep through the layers


@jit
def layer_views(data, l, w, X, y, units, slopes, kept, G, draw, training, fresh):
    """Return the record `Here` of views and sizes that layer l receives for a block of samples."""
    step, n = data.plan[l], X.shape[0]
    A, E = X, X[:0]
    if step[SOURCE] >= 0:
        A = matrix_view(units, n * step[SOURCE], n, step[INPUTS])
        if step[ASKED] and slopes.size > 0:
            E = matrix_view(slopes, n * step[SOURCE], n, step[INPUTS])
    D = units[:0].reshape((0, 1))
    if slopes.size > 0:
        D = matrix_view(slopes, n * step[TARGET], n, step[OUTPUTS])
    other = A
    if step[SKIP] >= 0:
        other = matrix_view(units, n * data.plan[step[SKIP], TARGET], n, step[OUTPUTS])
    low, high = step[AT], step[AT] + step[SIZE]
    return Here(
        data.sizes[l],
        data.numbers[l],
        w[low:high],
        A,
        matrix_view(units, n * step[TARGET], n, step[OUTPUTS]),
        kept[n * step[KEEPS] : n * (step[KEEPS] + step[KEPT])],
        D,
        E,
        G[low:high] if G.size > 0 else G,
        other,
        y,
        draw,
        l,
        training,
        fresh * step[WRITES],
    )


@jit
def client_program(data, i):
    """Return (first, last), the layers of client i's network; a server (i = 0) may have layers of
    its own."""
    own = i == 0 and data.programs[2] > data.programs[1]
    return (data.programs[1], data.programs[2] - 1) if own else (0, data.programs[1] - 1)


@jit
def clear_others(data, i, out):
    """Set `out` to zero at every parameter whose derivative no layer of client i's program will
    write."""
    (first, last), end = client_program(data, i), 0
    for l in range(first, last + 1):  # layers with parameters of their own come in their order
        step = data.plan[l]
        if step[WRITES]:
            clear_array(out[end : step[AT]])
            end = step[AT] + step[SIZE]
    clear_array(out[end:])


@jit
def add_skipped(data, l, last, n, slopes):
    """Add to the derivative by layer l's output the derivatives that later layers took directly
    from that output through a shortcut."""
    for m in range(l + 1, last + 1):
        if data.plan[m, SKIP] == l:
            at, to = n * data.plan[m, TARGET], n * data.plan[l, TARGET]
            for j in range(n * data.plan[m, OUTPUTS]):
                slopes[to + j] += slopes[at + j]


@jit
def sweep_block(data, i, w, X, y, scale, G, draw, training, fresh, units, slopes, kept):
    """Return scale * the sum of the losses of a block, and add scale times its gradient to G,
    unless G is empty. Where `fresh` is 1, layers that write their derivative overwrite G instead of
    adding."""
    n, (first, last) = X.shape[0], client_program(data, i)
    for l in range(first, last + 1):
        here = layer_views(data, l, w, X, y, units, slopes, kept, G, draw, training, fresh)
        call_kernel(data.forward, l, here)
    total = 0.0
    at = n * data.plan[last, TARGET]
    for r in range(n):
        total += units[at + r]
    if G.size > 0:
        for r in range(n):
            slopes[at + r] = scale
        for l in range(last, first - 1, -1):
            here = layer_views(data, l, w, X, y, units, slopes, kept, G, draw, training, fresh)
            call_kernel(data.backward, l, here)
            if l > first:
                add_skipped(data, l - 1, last, n, slopes)
    return scale * total


@cache
def network_kernels(real: str) -> Kernels:
    """Return the kernels of networks in one kind of reals (a key of REALS)."""
    number = REALS[real]

    def over(data: Any, i: int, w: Any, weight: Any, G: Number) -> Any:
        """Add weight times the gradient of f_i to G, unless G is empty, and return weight * f_i."""
        first, last = data.starts[i], data.starts[i + 1]
        size = min(data.block, last - first)
        units, kept = np.empty(size * data.wide, number), np.empty(size * data.keeps, number)
        slopes = np.empty(size * data.wide if G.size > 0 else 0, number)
        total = 0.0
        for low in range(first, last, size):
            high = min(low + size, last)
            total += sweep_block(
                data,
                i,
                w,
                data.X[low:high],
                data.y[low:high],
                weight / (last - first),
                G,
                NO_DRAW,
                0,
                0,
                units,
                slopes,
                kept,
            )
        return total

    over = _compile_kernel(over, real)

    def grad(data: Any, i: int, x: np.ndarray, out: Path) -> Any:
        clear_array(out)
        over(data, i, x, 1.0, out)

    def loss(data: Any, i: int, x: np.ndarray) -> Any:
        nothing = np.empty(0, number)
        return over(data, i, x, 1.0, nothing)

    def objective(data: Any, p: np.ndarray, x: np.ndarray, out: Path) -> Any:
        clear_array(out)
        value = 0.0
        for i in range(1, p.size):
            if p[i] != 0.0:
                value += over(data, i, x, p[i], out)
        return value

    def batch(data: Any, i: int, rows: np.ndarray, draw: Random, x: np.ndarray, out: Path) -> Any:
        n = rows.size
        X = np.empty((n, data.X.shape[1]), number)
        y = np.empty((n, data.y.shape[1]), np.int64)
        gather_rows(data.X, data.y, data.starts[i], rows, X, y)
        units, slopes = np.empty(n * data.wide, number), np.empty(n * data.wide, number)
        kept = np.empty(n * data.keeps, number)
        clear_others(data, i, out)
        sweep_block(data, i, x, X, y, 1.0 / n, out, draw, 1, 1, units, slopes, kept)

    def test(data: Any, x: np.ndarray, row: np.ndarray) -> Any:
        """Write to `row` the means over the held-out samples, in the order of `metrics.TESTED`."""
        n, nothing = data.X_test.shape[0], np.empty(0, number)
        last = data.programs[1] - 1
        size = min(data.block, n)
        units, kept = np.empty(size * data.wide, number), np.empty(size * data.keeps, number)
        score, J = np.empty(n), np.empty((size, JUDGED), number)
        clear_array(row)
        for low in range(0, n, size):
            high = min(low + size, n)
            X, y = data.X_test[low:high], data.y_test[low:high]
            for l in range(last + 1):
                here = layer_views(data, l, x, X, y, units, nothing, kept, nothing, NO_DRAW, 0, 0)
                if l < last:
                    call_kernel(data.forward, l, here)
                else:
                    call_kernel(data.judge, 0, judging_view(here, J[: high - low]))
            for r in range(high - low):
                score[low + r] = J[r, 3]
                for c in range(JUDGED - 1):
                    row[c] += J[r, c]
        for c in range(JUDGED - 1):
            row[c] /= n
        row[JUDGED - 1] = roc_area(score, data.y_test) if np.isfinite(score[0]) else np.nan

    return Kernels(
        *(
            _compile_kernel(kernel, real, kernel.__name__)
            for kernel in (grad, loss, objective, batch)
        ),
        test=_compile_kernel(test, real, "test"),
    )


@jit
def judging_view(here, Z):
    """Return a copy of the record `here` with Z as the output, which has columns for the measures
    that a loss reports of each sample."""
    return Here(
        here.sizes,
        here.numbers,
        here.w,
        here.A,
        Z,
        here.kept,
        here.D,
        here.E,
        here.G,
        here.other,
        here.y,
        here.draw,
        here.place,
        here.training,
        here.fresh,
    )


@jit
def roc_area(score, y):
    """Return the area under the ROC curve: the share of pairs of samples with different labels
    whose scores are in the order of their labels 0 and 1, ties counting half; NaN where all labels
    are equal. Pairs are counted one by one, which for ten thousand samples takes less time than
    computing their scores."""
    pairs, twice = 0, 0
    for a in range(score.size):
        if y[a, 0] == 1:
            for b in range(score.size):
                if y[b, 0] == 0:
                    pairs += 1
                    twice += int(score[a] > score[b]) + int(score[a] >= score[b])
    return twice / (2.0 * pairs) if pairs > 0 else np.nan


def _compile_kernel(
    kernel: Callable[..., Any], real: str, part: str | None = None
) -> Callable[..., Any]:
    if compiler.DISABLED:
        return kernel
    identity = ("network", compiler.module_digest(__name__), kernel.__name__, real)
    return compiler.compile(kernel, identity=identity, maker=(network_kernels, (real,), part))
