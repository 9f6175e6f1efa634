"""Traces: every possible course of a round of a method, computed by the method's own kernels on
numbers of any kind.

A `Trace` holds the quantities that a proof refers to: the points of every client and of the server,
the gradients at these points, and the estimates that the method used. Kernels are called in the
order of `engine.advance`; a contract test compares the two orders. Clients of a cohort do not
change the state, so each client's sequences of steps are enumerated once and then combined. A
cohort is a set, so only one order of a cohort is computed (`cohorts.py`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.arithmetic.operations import Many, vector
from fedtheory.arithmetic.work import Counted, count_ways, spend_work
from fedtheory.exact import cohorts
from fedtheory.exact.kernel_interpreter import (
    Count,
    Kernels,
    copy_memory,
    count_vector,
    of_library,
    refuse_floats,
    stack_memories,
)
from fedtheory.exact.path_recorder import RecordedOutcome, Track, record_if_watched
from fedtheory.typing import Number

ONE = Fraction(1)
AT_X = -1  # the step number of a gradient at x that is taken before any step
A_STEP = 10  # the cost of calling a kernel, in arithmetic operations


class Losses(NamedTuple):
    """The data that a method sees: gradients, their noise, and the clients' weights."""

    grad: Callable[..., Any]  # (i, x) -> vector; i = 0 is the server
    # (i, k) -> [(probability, vector), ...] in step k, -1 for the gradient at x; [] without noise
    noise: Callable[..., Any]
    p: tuple[Any, ...]  # (N + 1,) weights of the objective, p_0 = 0
    d: int
    layers: tuple[Any, ...] = (0,)
    alike: bool = False  # whether all clients have the same loss and noise, hence the same Walks
    # a client's estimate also has an error of plus or minus this times its gradient
    growth: Any = None


class Walk(NamedTuple):
    """One possible sequence of steps of a client or of the server."""

    points: tuple[Any, ...]  # y_0, ..., y_s
    gradients: tuple[Any, ...]  # at y_0, ..., y_{s-1}
    estimates: tuple[Any, ...]  # the gradients with noise, which the method used
    fresh: Any  # the estimate at x before any step, where the method requests one
    memory: tuple[Any, ...]  # the client's memory after its steps


class Trace(NamedTuple):
    """One possible course of a round."""

    before: tuple[Any, ...]  # the state before the round
    cohort: tuple[Any, ...]  # clients, from 1
    work: tuple[Any, ...]  # the number of steps of each client in the cohort
    clients: tuple[Any, ...]  # one Walk for each client in the cohort
    middle: Any  # x after the aggregation, before the server's steps
    server: Walk
    after: tuple[Any, ...]  # the state after the round


def uniform_cohorts(N: int, S: int, steps: int) -> list[Any]:
    """Return [(probability, cohort, work)] for cohorts of S clients drawn without replacement, all
    doing the same number of steps."""
    return [
        (Fraction(1, comb(N, S)), cohort, (steps,) * S)
        for cohort in count_ways(combinations(range(1, N + 1), S))
    ]


def by_weight(p: Sequence[Number], S: int, steps: int) -> Any:
    """Return [(probability, cohort, work)] for S draws with replacement, of clients with
    probabilities p."""
    found = []
    for cohort in count_ways(combinations_with_replacement(range(1, len(p) + 1), S)):
        chance = Fraction(factorial(S))
        for i in sorted({*cohort}):
            times = cohort.count(i)
            chance = chance * p[i - 1] ** times / factorial(times)
        found.append((chance, cohort, (steps,) * S))
    return found


class Rounds:
    """Rounds of a method on losses, under hyper-parameters `h` ({name: number}). `ordered` states
    that the order of a cohort is given and not drawn."""

    def __init__(
        self,
        method: Algorithm,
        losses: Losses,
        h: Mapping[str, Any],
        t: int = 0,
        ordered: bool = False,
    ) -> None:
        self.kernels, self.losses, self.t = Kernels(method), losses, t
        self.method, self.h = method, self.kernels.hyper(h)
        self.doubted = not (ordered or of_library(method))
        self.layers = np.array([*losses.layers, losses.d], dtype=np.int64)
        self.N = len(losses.p) - 1
        self.p = vector([Fraction(p) if isinstance(p, int) else p for p in losses.p])
        self.steps = method.number(method.steps, self.h)
        self.server_steps = method.number(method.server_steps, self.h)

    def start(self, x_0: np.ndarray | Sequence[Fraction | Counted]) -> Any:
        """Return the state before the first round."""
        return self.kernels.state(x_0, self.N, self.layers, self.h)

    def at(self, t: int) -> None:
        """Set the number of the current round to t, which methods may use in `begin`."""
        self.t = t

    @cached_property
    def zero_vector(self) -> np.ndarray:
        """Return d exact zeros."""
        return vector([Fraction(0)] * self.losses.d)

    def estimates(
        self, i: int, k: int, x: np.ndarray, wanted: bool = True
    ) -> list[tuple[Fraction, Any, np.ndarray]]:
        """Return [(probability, gradient, estimate)] of a gradient call; a single placeholder with
        estimate 0 if the call is not `wanted`."""
        if not wanted:
            return [(ONE, None, self.zero_vector)]
        g = self.losses.grad(i, x)
        found = [(q, g, g + n) for q, n in self.losses.noise(i, k)] or [(ONE, g, g)]
        if i == 0 or self.losses.growth is None:
            return found
        more = self.losses.growth * g
        return [(q / 2, g, each) for q, _, e in found for each in (e + more, e - more)]

    def walks(self, state: Any, i: Number, steps: Number) -> list[tuple[Fraction, Walk]]:
        """Return [(probability, Walk)] for a client that does `steps` steps from a state."""
        k, h, found = self.kernels, self.h, []
        asked = self.method.asks(self.method.client_grad, h)
        for q, _, fresh in self.estimates(i, AT_X, state.x, asked):
            y, memory = self.zero_vector.copy(), k.local(self.losses.d, self.layers, h)
            k.local_start(state, i, y, fresh.copy(), memory, h)
            found.append((q, Walk((y,), (), (), fresh, memory)))
        found = self._take_steps(
            found,
            i,
            steps,
            lambda step, y, g, memory: k.local_step(state, i, step, y, g, memory, h),
        )
        for _, walk in found:
            k.local_end(state, i, Count(steps), walk.points[-1], walk.memory, h)
            refuse_floats((walk.points[-1], *walk.memory), f"a step of {self.method.name}")
        return found

    def _take_steps(
        self, walks: Sequence[tuple[Number, Walk]], i: int, steps: int, kernel: Callable[..., Any]
    ) -> Any:
        """Return the walks, each continued in every possible way by `steps` steps of `kernel(step,
        y, estimate, memory)`, which moves y in place."""
        for step in range(steps):
            longer = []
            for p, walk in walks:
                spend_work(A_STEP)
                for q, g, estimate in self.estimates(i, step, walk.points[-1]):
                    y, memory = walk.points[-1].copy(), copy_memory(walk.memory)
                    kernel(step, y, estimate.copy(), memory)
                    longer.append(
                        (
                            p * q,
                            walk._replace(
                                points=(*walk.points, y),
                                memory=memory,
                                gradients=(*walk.gradients, g),
                                estimates=(*walk.estimates, estimate),
                            ),
                        )
                    )
            walks = longer
        return walks

    def of(
        self, state: Any, law: Sequence[Any], walks: Callable[..., Any] | None = None
    ) -> list[tuple[Number, Trace]]:
        """Return [(probability, Trace)] of the round that starts at a state. `law` is
        [(probability, cohort, work)], and `walks` (state, client, steps) replaces the computation
        of the clients' walks."""
        k, h, found, walks = self.kernels, self.h, [], walks or self.walks
        asked = self.method.asks(self.method.server_grad, h)
        at_x = self.estimates(0, AT_X, state.x, asked)
        for p, _, g in at_x:
            begun, known = copy_memory(state), {}
            k.begin(begun, self.t, g.copy(), h)
            kept = copy_memory(begun) if self.doubted else begun
            for chance, cohort, work in law:
                # a client drawn twice does its steps once
                members = list(dict.fromkeys(zip(cohort, work)))
                for i, steps in members:
                    if (i, steps) not in known:
                        first = 1 if self.losses.alike else i
                        if (first, steps) not in known:
                            known[first, steps] = walks(begun, first, steps)
                            cohorts.require_unwritten(self.method, kept, begun)
                        known[i, steps] = known[first, steps]
                for ways in count_ways(product(*(known[key] for key in members))):
                    q, walk = p * chance, dict(zip(members, (walk for _, walk in ways)))
                    for part, _ in ways:
                        q = q * part
                    chosen = tuple(walk[key] for key in zip(cohort, work))
                    found += self._close_round(state, begun, q, cohort, work, chosen)
        if found:
            record_if_watched(lambda: self._record_first(found, at_x[0][2] if asked else None))
        return found

    def _record_first(self, found: Sequence[tuple[Fraction, Trace]], central: Any) -> Any:
        """Return the first course of a round as a RecordedOutcome, for an active recording."""
        chance, trace = found[0]
        fresh = self.method.asks(self.method.client_grad, self.h)
        walks = {**dict(zip(trace.cohort, trace.clients)), 0: trace.server}
        tracks = tuple(
            Track(i, w.points, w.estimates, central if i == 0 else w.fresh if fresh else None)
            for i, w in walks.items()
            if w.estimates or i == 0 and central is not None
        )
        ends = trace.before.x, trace.after.x, trace.before, trace.after
        return RecordedOutcome("round", self.t, chance, len(found), tracks, *ends)

    def _close_round(
        self, before: Any, begun: Any, q: Number, cohort: Any, work: Any, walks: Any
    ) -> Iterator[tuple[Number, Trace]]:
        """Yield (probability, Trace) for each way to complete a round whose cohort has done its
        steps: aggregation, the server's steps, the end of the round."""
        k, h, state = self.kernels, self.h, copy_memory(begun)
        self._aggregate_walks(state, cohort, work, walks)
        exact = self.doubted and not any(isinstance(n, Many) for n in state.x)
        for order in cohorts.generating_orders(len(walks)) if exact else ():
            other = copy_memory(begun)
            self._aggregate_walks(
                other, *([each[n] for n in order] for each in (cohort, work, walks))
            )
            cohorts.require_set(self.method, state, other)
        middle, ways = state.x.copy(), [(q, Walk((self._server_at(state),), (), (), None, state))]

        def step(number: Number, w: np.ndarray, g: Number, memory: Any) -> None:
            k.server_step(memory, number, g, h)
            w[:] = self._server_at(memory)

        for chance, walk in self._take_steps(ways, 0, self.server_steps, step):
            after = walk.memory
            k.end(after, h)
            refuse_floats(after, f"a round of {self.method.name}")
            yield (
                chance,
                Trace(before, cohort, work, walks, middle, walk._replace(memory=()), after),
            )

    def _aggregate_walks(
        self, state: Any, cohort: Sequence[Any], work: Sequence[int], walks: Sequence[Walk]
    ) -> None:
        """Run the method's `aggregate` on the state, in place, with the last points and memories of
        the cohort's walks."""
        if walks:
            self.kernels.aggregate(
                state,
                count_vector(cohort),
                count_vector(work),
                self.p,
                np.stack([walk.points[-1] for walk in walks]),
                stack_memories([walk.memory for walk in walks]),
                self.h,
            )

    @staticmethod
    def _server_at(state: Any) -> np.ndarray:
        """Return the point at which the server takes its gradients."""
        return getattr(state, "w", state.x).copy()

    def after(self, state: Any, law: Sequence[Any]) -> list[tuple[Number, Any]]:
        """Return [(probability, state)] after a round."""
        return [(p, trace.after) for p, trace in self.of(state, law)]


def follow_rounds(
    after: Callable[..., Any],
    law: Sequence[Any],
    start: Any,
    T: int,
    kept: Callable[..., Any] = lambda state: state,
    at: Callable[..., Any] = lambda t: None,
) -> list[Any]:
    """Return levels t = 0, ..., T of [(probability, (x_0, ..., x_t), state)]: all possible courses
    of T rounds, each round computed by `after(state, law)`. `kept` shortens the numbers of a state,
    which grow; `at` is called with the number of each round before the round."""
    levels = [[(ONE, (start.x,), start)]]
    for t in range(T):
        at(t)
        levels.append(
            [
                (p * q, (*path, then.x), then)
                for p, path, state in levels[-1]
                for q, reached in after(state, law)
                for then in (kept(reached),)
            ]
        )
    return levels


def expect_over(
    ways: Sequence[tuple[Fraction | Counted, Any]], value: Callable[..., Any]
) -> Number | Counted:
    """Return the mean of `value(trace)` over [(probability, trace)]."""
    return sum(p * value(trace) for p, trace in ways)
