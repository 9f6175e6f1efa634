"""A comparison of an implementation, given as three functions, with a method's own kernels, on
small instances with prescribed cohorts, work and noise.

The adapter requests gradients through a function of this library, so that the query points are
seen: the first point that differs from the listing's point identifies the line. The state after a
round is compared field by field. Only numbers must agree: code that organises its state differently
and computes the same iterates agrees.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments, discover
from fedtheory.algorithm import Algorithm
from fedtheory.conformance import listings
from fedtheory.conformance.instances import (
    EVERYONE,
    INSTANCES,
    GradientRecorder,
    Instance,
    Q,
    describe_instance,
    nearly_equal,
    rows_of,
    short_numbers,
)
from fedtheory.errors import refuse
from fedtheory.exact.traces import AT_X, Rounds
from fedtheory.typing import Exact

FUNCTIONS = ("start", "round", "state")


class Broken(NamedTuple):
    """The first line of a listing that the code violates, and the instance and round where the
    violation is seen."""

    line: str
    says: str
    instance: str


class Differs(Exception):
    """The first difference between code and listing. `key` names the line of the listing, as in
    listings.py; the text says what differs."""

    def __init__(self, key: str, says: str) -> None:
        super().__init__(says)
        self.key = key


class Conformance(NamedTuple):
    """The result of `conform`. `agreed` lists the instances before the first violation, in the
    order in which they were tried; `broken` is None where the code agrees on all of them. Instances
    that do not apply are in neither: noisy ones for code that takes its own gradients, unequal
    weights for code without weights."""

    method: str
    agreed: tuple[Any, ...]  # names of the instances on which the code agrees
    broken: Broken | None

    def __str__(self) -> str:
        good = f"{self.method}: agrees on {', '.join(self.agreed) or 'nothing'}"
        if self.broken is None:
            return good
        return (
            f"{self.method}: not obeyed is {self.broken.line}\n  {self.broken.says}\n"
            f"  {self.broken.instance}" + (f"\n  before: {good}" if self.agreed else "")
        )


def conform(
    method: Any,
    start: Callable[..., Any],
    round: Callable[..., Any],
    state: Callable[..., Any],
    hyper: Mapping[str, Any] | None = None,
    weighted: bool = True,
) -> Conformance:
    """Tell whether code follows the trajectory of a method, and return a Conformance.

    `start(task)` returns the code's own initial state and `round(state, cohort, work, gradient)`
    the next state. `state(state)` returns a dict with x, and with the other fields of the method's
    State that the code has. `gradient(i, y, k)` is client i's estimate at y in its local step k; k
    is -1 for a gradient at x that is taken apart from the steps, and i = 0 is the server. Code
    without weights of clients is not `weighted`.

    >>> from fedtheory.conformance import conform
    >>> def walk(x, cohort, work, gradient):
    ...     ends = []
    ...     for i, steps in zip(cohort, work):
    ...         y = x.copy()
    ...         for k in range(steps):
    ...             y -= 0.25 * gradient(i, y, k)
    ...         ends.append(y)
    ...     return sum(ends) / len(ends)
    >>> print(conform("fedavg", lambda task: task.x_0.copy(), walk, lambda x: dict(x=x),
    ...               dict(weighting="plain")))
    fedavg: agrees on one client, two clients, all of them, three clients, two a round, ...
    """
    method = discover.algorithm(method)
    for name, function in zip(FUNCTIONS, (start, round, state)):
        if not callable(function):
            refuse(name, "must be a function", function)
    if method.transform is not None:
        refuse(method.name, "must train on the problem's own losses to be compared", "a transform")
    weighted, given = arguments.check_flag("weighted", weighted), choose_hyper(method, hyper or {})
    agreed: list[str] = []
    apart = False  # whether the code takes its own gradients, which lack the instances' noise
    for instance in EVERYONE if method.everyone else INSTANCES:
        if instance.noisy and apart or not weighted and len(set(instance.weights)) > 1:
            continue
        broken, apart = try_instance(method, given, instance, start, round, state)
        if broken is not None:
            return Conformance(method.name, tuple(agreed), broken)
        agreed.append(instance.says)
    return Conformance(method.name, tuple(agreed), None)


def choose_hyper(method: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return {hyper-parameter: value} for the comparison: the given value; otherwise the first word
    of a choice, 3 for an integer such as the number of local steps, and the default or 1/4 for a
    real.

    Raises InvalidInput for a name that the method lacks and for a value out of range.
    """
    method.resolve(
        {**{n: f.default or 1 for n, f in method.hyper.items() if not f.choices}, **given}, 1
    )
    found = {}
    for name, field in method.hyper.items():
        if name in given:
            found[name] = given[name]
        elif field.choices:
            found[name] = field.choices[0]
        elif field.integer:
            found[name] = 3
        else:
            found[name] = 0.25 if field.default is None else field.default
    return found


def as_fraction(value: float | str) -> Exact | str:
    """Return a float as the fraction of its shortest decimal form (0.1 becomes 1/10); return any
    different value unchanged."""
    return Q(repr(value)) if isinstance(value, float) else value


def try_instance(
    method: Algorithm | str,
    hyper: Mapping[str, Any],
    instance: Instance,
    start: Callable[..., Any],
    round: Callable[..., Any],
    state: Callable[..., Any],
) -> tuple[Any, bool]:
    """Return (the Broken of an instance or None, whether the code computed its own gradients).

    In each round the kernels start from their own previous state and the code from its own, with
    the same cohort and work. The gradients that the code asked for are compared first, because they
    name the violated line most precisely; then the fields of the states. Code that never calls
    `gradient` is compared by its states alone.
    """
    seen = GradientRecorder(instance)
    rounds = rounds_of(method, hyper, instance, lambda: seen.t)
    known, theirs = rounds.start(list(instance.x_0)), start(instance.task(hyper))
    for t, cohort in enumerate(instance.cohorts):
        work = instance.steps(t, rounds.steps)
        rounds.at(t)
        seen.at(t)
        ((_, trace),) = rounds.of(known, [(Q(1), cohort, tuple(work))])
        try:
            theirs = round(theirs, list(cohort), list(work), seen)
            if seen.ever:  # code that takes its own gradients is compared after its rounds alone
                walk_gradients(method, rounds, trace, seen.asked)
            compare_fields(method, trace.after, state(theirs), instance.N)
        except Differs as found:
            line = listings.listing_line(method, found.key)
            broken = Broken(
                line if seen.ever else f"seen when the round is over: {line}",
                f"round {t + 1}, cohort {list(cohort)}: {found}",
                describe_instance(instance, hyper),
            )
            return broken, not seen.ever
        known = trace.after
    return None, not seen.ever


def rounds_of(
    method: Any, hyper: Mapping[str, Any], instance: Instance, now: Callable[..., Any]
) -> Rounds:
    """Return the rounds of a method's own kernels on an instance."""
    h = {name: as_fraction(value) for name, value in hyper.items()}
    return Rounds(method, instance.losses(now), h, ordered=True)


def walk_gradients(
    method: Any, rounds: Rounds, trace: Any, asked: Sequence[tuple[int, int, np.ndarray]]
) -> None:
    """Raise Differs at the first gradient that the code evaluates at another point or step than the
    listing.

    `asked` holds (client, step k, point y) of one round in the order of the calls; client 0 is the
    server and k = -1 a gradient at x apart from the steps. Differences are looked for in the order
    of the listing: cohort, server's gradient at x, clients' steps, server's steps.
    """
    members = dict(zip(trace.cohort, zip(trace.work, trace.clients)))
    for i, _, y in asked:
        if i and i not in members:
            raise Differs(
                "cohort", f"client {i}, who rests, is asked for a gradient at {short_numbers(y)}"
            )
    _server_gradient(
        method, rounds, trace, [(k, y) for i, k, y in asked if i == 0 and k == AT_X], True
    )
    ask_at_x = method.asks(method.client_grad, rounds.h)
    for i, (steps, walk) in members.items():
        mine = {k: y for j, k, y in asked if j == i}
        for k in sorted(mine):
            point = trace.before.x if k == AT_X else None if k >= steps else walk.points[k]
            if point is None or k == AT_X and not ask_at_x:
                raise Differs("steps", f"client {i} takes step {k}, of {steps}")
            if not nearly_equal(mine[k], point):
                key = "fresh" if k == AT_X else "step" if k else "start"
                where = f"after {k} steps" if k > 0 else "at first"
                raise Differs(
                    key,
                    f"client {i} is at {short_numbers(mine[k])} {where}, where the listing is at {short_numbers(point)}",
                )
        missing = set(range(steps)) - set(mine)
        if missing or ask_at_x and AT_X not in mine:
            raise Differs(
                "steps" if missing else "fresh",
                f"client {i} takes {len(set(mine) - {AT_X})} steps, of {steps}"
                if missing
                else f"client {i} takes no gradient at x",
            )
    _server_gradient(
        method, rounds, trace, [(k, y) for i, k, y in asked if i == 0 and k != AT_X], False
    )


def _server_gradient(
    method: Algorithm, rounds: Rounds, trace: Any, mine: Sequence[Any], at_x: bool
) -> None:
    """Raise Differs where the server's gradients differ from the listing: with `at_x` the gradient
    at x before the clients work, otherwise the gradients of the server's steps."""
    wanted = {} if at_x else dict(enumerate(trace.server.points[:-1]))
    if at_x and method.asks(method.server_grad, rounds.h):
        wanted[AT_X] = trace.before.x
    for k, y in mine:
        if k not in wanted:
            key = "server" if at_x else "server_steps"
            raise Differs(key, f"the server takes a gradient in a step {k} that is none")
        if not nearly_equal(y, wanted[k]):
            key = "server" if k == AT_X else "server_step" if k else "server_start"
            raise Differs(
                key,
                f"the server is at {short_numbers(y)}, where the listing is at {short_numbers(wanted[k])}",
            )
    if set(wanted) - {k for k, _ in mine}:
        key = "server" if at_x else "server_steps"
        raise Differs(key, f"the server takes {len(mine)} gradients, of {len(wanted)}")


def compare_fields(method: Any, after: Any, theirs: Mapping[str, np.ndarray], N: int) -> None:
    """Raise Differs at the first field whose value differs from the listing's. The clients' fields
    are compared first, because the remaining fields are computed from the clients' fields."""
    if not isinstance(theirs, dict) or "x" not in theirs:
        refuse("state", "must return a dict with x", theirs)
    told = listings.OF.get(method.name, after._fields)  # the listing's letters only
    fields = [name for name in after._fields if name in theirs and name in told]
    order = sorted(fields, key=lambda name: (getattr(after, name).ndim < 2, name == "x"))
    for name in order:
        mine, own = listings.listing_value(method, name, getattr(after, name)), theirs[name]
        if mine.ndim == 2 and len(mine) == N + 1:
            for i, row in rows_of(name, own, N):
                if not nearly_equal(row, mine[i]):
                    raise Differs(
                        name,
                        f"{name} of client {i} is {short_numbers(row)}, not {short_numbers(mine[i])}",
                    )
        elif not nearly_equal(np.ravel(own), np.ravel(mine)):
            raise Differs(
                name,
                f"{name} is {short_numbers(np.ravel(own))}, not {short_numbers(np.ravel(mine))}",
            )
