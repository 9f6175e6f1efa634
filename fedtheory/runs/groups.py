"""The arguments of the engine's loops, in named groups, with the type of each group in machine
code.

Groups of numbers are passed to machine code as addresses (jit.py), and kernels as function types.
Where nothing is compiled, the same groups hold the kernels' own tuples in place of addresses.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fedtheory import jit

_I8, _A, _V, _M, _I = jit.types.int64, jit.ADDRESS, jit.VECTOR, jit.MATRIX, jit.INTEGERS
_TABLE = jit.types.Array(jit.types.int64, 2, "C")
_CUBE, _COUNTS = (jit.types.Array(of, 3, "C") for of in (jit.types.float64, jit.types.int64))
_VOID, _F8, _U8 = jit.types.void, jit.types.float64, jit.types.uint64


class Rules(NamedTuple):
    """The functions of a run: gradients that are trained on, the functions that measure, and a
    method's seven kernels."""

    grad: Any
    batch: Any
    objective: Any
    value: Any
    true_grad: Any
    true_loss: Any
    test: Any
    begin: Any
    local_start: Any
    local_step: Any
    local_end: Any
    aggregate: Any
    server_step: Any
    end: Any


class Law(NamedTuple):
    """The data that clients train on, and how their gradients are estimated."""

    data: Any
    sigma: np.ndarray  # (N + 1,)
    batch_size: np.ndarray  # (N + 1,)
    sizes: np.ndarray  # (N + 1,), numbers of samples
    replacement: bool
    drawing: bool
    asks: int  # which gradients the method requests at the beginning of a round


class Truth(NamedTuple):
    """The problem that metrics are computed on; under data sharing it differs from the problem that
    clients train on."""

    data: Any
    weights: np.ndarray  # (N + 1,), weights in the objective
    x_star: np.ndarray  # (d,)
    wanted: int  # which metrics to compute
    every: int  # rounds from one measurement to the next


class Trials(NamedTuple):
    """The state of all trials, and whether each trial has diverged."""

    state: Any  # a handle for each trial
    x: np.ndarray  # (trials, d)
    w: np.ndarray  # (trials, d), the points at which the server does its steps
    diverged: np.ndarray  # (trials,), the round in which a trial diverged, or -1
    stop: np.ndarray  # (1,), set from outside to stop the loop


class Chunk(NamedTuple):
    """Some rounds of all trials: random draws that are made beforehand, and the arrays for the
    results."""

    hyper: Any  # a handle for each round
    cohort: np.ndarray  # (trials, R, S)
    work: np.ndarray
    server_work: np.ndarray  # (R,)
    # (R or fewer, N + 1), aggregation coefficients; the last row holds for all later rounds
    shares: np.ndarray
    kind: int  # the kind of noise
    table: np.ndarray
    seed: int
    first_trial: int
    first_round: int
    record: np.ndarray  # (trials, R, columns)
    path: np.ndarray  # (trials, R, d), or (1, 0, 1)


class Draws(NamedTuple):
    """The source of a round's noise."""

    kind: int
    key: int  # the key of the random streams of this round of this trial
    table: np.ndarray  # prescribed outcomes, a row for each gradient


class Round(NamedTuple):
    """One round of one trial."""

    state: Any
    h: Any
    x: np.ndarray
    w: np.ndarray
    t: int
    draws: Draws
    cohort: np.ndarray  # (S,)
    work: np.ndarray  # (S,)
    server_work: int
    shares: np.ndarray  # (N + 1,)
    wanted: int
    row: np.ndarray  # the row of the record for this round
    stop: np.ndarray


class Cohort(NamedTuple):
    """The workspace of the clients of a round: one slot each."""

    y: np.ndarray  # (S, d)
    local: Any  # a handle for each slot
    together: Any  # one handle for the cohort
    drift: np.ndarray  # (S,)


class Desk(NamedTuple):
    """The work-sharing buffers of one worker among several that run a round together: the problem's
    gradients and data, and the buffers of all workers (shared_gradients.py). It is passed to
    kernels in place of a problem's data."""

    grad: Any
    batch: Any
    pieces: Any
    piece: Any
    data: Any
    worker: int  # the worker to which this Desk belongs
    counters: np.ndarray  # three for each worker
    asked: np.ndarray  # (workers, ...), the gradient whose pieces each worker offers
    rows: np.ndarray  # (workers, most samples)
    x: np.ndarray  # (workers, d or more), the point of the gradient
    g: np.ndarray  # (workers, d or more), the gradient
    room: np.ndarray  # (workers, numbers of workspace that the problem needs)


class Scratch(NamedTuple):
    """The workspace of one thread, whose content is not read after use."""

    deck: np.ndarray  # 0 .. most samples of a client - 1
    rows: np.ndarray
    g: np.ndarray
    g_0: np.ndarray
    noise: np.ndarray
    before: np.ndarray
    left: np.ndarray  # x after a round, until the round is measured


def _function_type(returns: Any, *arguments: Any) -> Any:
    """Return the type of functions with these argument types and this result."""
    return jit.types.FunctionType(returns(*arguments))


@cache
def types_of(real: str) -> dict[type, Any]:
    """Return the type of each group by name. Points have the type `real`, all other numbers are
    float64."""
    P, PP = jit.point_types(real)
    grad, draws = _function_type(_VOID, _A, _I8, P, P), jit.tuple_type(Draws, _I8, _U8, _M)
    batch = _function_type(_VOID, _A, _I8, _I, _U8, P, P)
    rules = (
        grad,
        batch,
        _function_type(_F8, _A, _V, P, P),
        _function_type(_F8, _A, _V, P),
        grad,
        _function_type(_F8, _A, _I8, P),
        _function_type(_VOID, _A, P, _V),
        _function_type(_VOID, _A, _I8, P, _A),
        _function_type(_VOID, _A, _I8, P, P, _A, _A),
        _function_type(_VOID, _A, _I8, _I8, P, P, _A, _A),
        _function_type(_VOID, _A, _I8, _I8, P, _A, _A),
        _function_type(_VOID, _A, _I, _I, _V, PP, _A, _A),
        _function_type(_VOID, _A, _I8, P, _A),
        _function_type(_VOID, _A, _A),
    )
    chunk = (_I, _COUNTS, _COUNTS, _I, _M, _I8, _CUBE, _U8, _I8, _I8, _CUBE, _CUBE)
    desk = (
        grad,
        batch,
        _function_type(_I8, _A, _I8, _I8, _I8),
        _function_type(_VOID, _A, _I8, _I, P, P, P, _I8, _I8),
        *(_A, _I8, _I, _TABLE, _TABLE, PP, PP, PP),
    )
    fields = {
        Rules: rules,
        Law: (_A, _V, _I, _I, _I8, _I8, _I8),
        Truth: (_A, _V, P, _I8, _I8),
        Trials: (_I, PP, PP, _I, _I),
        Chunk: chunk,
        Round: (_A, _A, P, P, _I8, draws, _I, _I, _I8, _V, _I8, _V, _I),
        Cohort: (PP, _I, _A, _V),
        Desk: desk,
        Scratch: (_I, _I, P, P, P, P, P),
    }
    return {group: jit.tuple_type(group, *of) for group, of in fields.items()}
