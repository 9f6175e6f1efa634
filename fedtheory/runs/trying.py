"""A trial run of a user's method on a problem, before machine code runs the method: two rounds that
use the first and the last index of everything, on arrays as large as those of the run."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from fedtheory.algorithm import ROLES, Algorithm, NoLocal
from fedtheory.indexing import is_own, try_kernels

if TYPE_CHECKING:
    from fedtheory.problem import Problem

_TRIED: WeakKeyDictionary = WeakKeyDictionary()  # problem -> {(method, its counts)} that were tried


def try_method(
    algorithm: Algorithm,
    problem: "Problem",
    x_0: np.ndarray,
    S: int,
    h: Any,
    like: Callable[..., Any],
) -> None:
    """Refuse a method with a kernel that accesses an index outside of its arrays; `like(arrays)`
    allocates arrays as the run does."""
    kernels = {role: getattr(algorithm, role) for role in ROLES}
    counts = algorithm, S, tuple(value for value in h if isinstance(value, int))
    tried = _TRIED.setdefault(problem, set())
    if counts in tried or not any(map(is_own, kernels.values())):
        return
    play = lambda kernels: _try_rounds(kernels, algorithm, problem, x_0, S, h, like)
    try_kernels(f"method {algorithm.name}", kernels, play)
    tried.add(counts)


def _try_rounds(
    kernels: Mapping[str, Callable[..., Any]],
    algorithm: Algorithm,
    problem: "Problem",
    x_0: np.ndarray,
    S: int,
    h: Any,
    like: Callable[..., Any],
) -> None:
    """Run two rounds of the kernels, with the first cohort and the last: first and last slot, step
    and server step, on arrays of the run's sizes. Gradients are constant, as only indices matter.
    """
    d, N = problem.d, problem.N
    layers = np.array([layer.start for layer in problem.layers] + [d], dtype=np.int64)
    made = algorithm.init(x_0.copy(), N, layers, h)
    state = type(made)(*(a.copy() if a is x_0 else a for a in like(made)))
    slots = None if algorithm.local is None else algorithm.local(d, layers, h)
    K, K_0 = (algorithm.number(which, h) for which in (algorithm.steps, algorithm.server_steps))
    K = max(1, int(K))
    for t in (0, 1):
        g = np.full(d, 0.5, x_0.dtype)
        cohort = np.arange(1, S + 1) + t * (N - S)
        if slots is None:
            of, together = [np.zeros((S, 1))], NoLocal
        else:
            of, together = [np.zeros((S, *a.shape), a.dtype) for a in like(slots)], type(slots)
        y = np.zeros((S, d), x_0.dtype)
        kernels["begin"](state, t, g, h)
        for place in sorted({0, S - 1}):
            i, slot = int(cohort[place]), together(*(a[place] for a in of))
            kernels["local_start"](state, i, y[place], g, slot, h)
            for k in sorted({0, K - 1}):
                kernels["local_step"](state, i, k, y[place], g, slot, h)
            kernels["local_end"](state, i, K, y[place], slot, h)
        work = np.full(S, K)
        kernels["aggregate"](state, cohort, work, problem.weights.copy(), y, together(*of), h)
        for k in sorted({0, int(K_0) - 1} if K_0 else ()):
            kernels["server_step"](state, k, g, h)
        kernels["end"](state, h)
