"""An implementation against a method's own kernels: three functions of anybody's code, on small
instances with prescribed cohorts, work and noise.

The adapter asks for gradients through a function of ours, so that where it asks is seen: the first
point that is not the listing's names the line. What it holds after a round is compared field by
field. Agreement is of numbers: code that keeps its books otherwise and goes the same way agrees.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments, discover
from fedtheory.conformance import listings
from fedtheory.enclosure.arithmetic import pair, vector
from fedtheory.errors import FedtheoryError, InvalidInput, refuse
from fedtheory.exact.traces import AT_X, Losses, Rounds

Q = Fraction
CLOSE = 1e-5  # of single precision; what a wrong line does is far more
FUNCTIONS = ("start", "round", "state")


class Task(NamedTuple):
    """What an adapter's `start` is told."""

    x_0: np.ndarray  # (d,)
    N: int
    weights: np.ndarray  # (N,), of clients 1 to N; they sum to 1
    hyper: dict


class Instance(NamedTuple):
    """Client i's loss is sum_j a_i (x_j - b_i)^2 / 2; index 0 is the server."""

    says: str
    a: tuple
    b: tuple
    weights: tuple
    cohorts: tuple  # of each round
    work: tuple | None = None  # of each round, where clients may do less
    noisy: bool = False
    d: int = 1


A = (Q(1), Q(1), Q(1, 2), Q(2))
B = (Q(1), Q(2), Q(-1), Q(0))
INSTANCES = (
    Instance("one client", A[:2], B[:2], (Q(1),), ((1,),) * 3),
    Instance("two clients, all of them", A[:3], B[:3], (Q(1, 2),) * 2, ((1, 2),) * 3),
    Instance("three clients, two a round", A, B, (Q(1, 3),) * 3, ((1, 2), (2, 3), (1, 3), (1, 2))),
    Instance(
        "unequal weights", A, B, (Q(1, 2), Q(1, 3), Q(1, 6)), ((1, 3), (2, 3), (1, 2), (2, 3))
    ),
    Instance("noise", A, B, (Q(1, 3),) * 3, ((2, 3), (1, 2), (1, 3)), noisy=True, d=2),
)
EVERYONE = (
    INSTANCES[0],
    INSTANCES[1],
    Instance(
        "unequal weights, incomplete work",
        A,
        B,
        (Q(1, 2), Q(1, 3), Q(1, 6)),
        ((1, 2, 3),) * 3,
        ((3, 1, 2), (1, 3, 0), (2, 3, 1)),
    ),
    Instance("noise", A, B, (Q(1, 3),) * 3, ((1, 2, 3),) * 3, ((1, 2, 3),) * 3, noisy=True, d=2),
)


class Broken(NamedTuple):
    """The first line that is not obeyed, and where."""

    line: str
    says: str
    instance: str


class Differs(Exception):
    def __init__(self, key, says):
        super().__init__(says)
        self.key = key


class Conformance(NamedTuple):
    method: str
    agreed: tuple  # instances
    broken: Broken | None

    def __str__(self):
        good = f"{self.method}: agrees on {', '.join(self.agreed) or 'nothing'}"
        if self.broken is None:
            return good
        return (
            f"{self.method}: not obeyed is {self.broken.line}\n  {self.broken.says}\n"
            f"  {self.broken.instance}" + (f"\n  before: {good}" if self.agreed else "")
        )


def conform(method, start, round, state, hyper=None):
    """Whether code goes the way of a method; a Conformance.

    `start(task)` gives the code's own state, `round(state, cohort, work, gradient)` the next one,
    `state(state)` a dict with x, and the other fields of the method's State that the code has.
    `gradient(i, y, k)` is client i's estimate at y in its local step k, -1 for one at x that is taken
    apart from the steps; i = 0 is the server.

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
        refuse(method.name, "must train on the losses themselves to be compared", "a transform")
    given = chosen(method, hyper or {})
    agreed: list[str] = []
    for instance in EVERYONE if method.everyone else INSTANCES:
        broken = tried(method, given, instance, start, round, state)
        if broken is not None:
            return Conformance(method.name, tuple(agreed), broken)
        agreed.append(instance.says)
    return Conformance(method.name, tuple(agreed), None)


def chosen(method, given):
    """Hyper-parameters: what is given, defaults or small steps otherwise, three local steps."""
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


def exact(value):
    return Q(repr(value)) if isinstance(value, float) else value


class Seen:
    """Gradients as an adapter asks for them, and where it asked."""

    def __init__(self, instance):
        self.instance, self.t, self.asked = instance, 0, []

    def noise(self, i, k):
        if not self.instance.noisy:
            return [Q(0)] * self.instance.d
        sign = (7 * self.t + 5 * i + 3 * k) % 4
        return [Q((sign + j) % 4 - 1, 4) for j in range(self.instance.d)]

    def exact(self, i, x):
        return vector([self.instance.a[i] * (z - self.instance.b[i]) for z in x])

    def __call__(self, i, y, k):
        N, d = len(self.instance.weights), self.instance.d
        if not isinstance(i, (int, np.integer)) or not 0 <= i <= N:
            refuse("gradient: i", f"must be a client 1..{N}, or 0, the server", i)
        if not isinstance(k, (int, np.integer)) or k < AT_X:
            refuse("gradient: k", "must be a step 0, 1, ..., or -1 for a gradient at x", k)
        y = np.array(arguments.array("y", y), dtype=float)
        if y.shape != (d,):
            refuse("gradient: y", f"must have shape ({d},)", y.shape)
        self.asked.append((int(i), int(k), y))
        a, b = float(self.instance.a[i]), float(self.instance.b[i])
        return a * (y - b) + np.array(list(map(float, self.noise(i, k))))


def tried(method, hyper, instance, start, round, state):
    """The Broken of an instance, or None."""
    N, seen = len(instance.weights), Seen(instance)
    x_0 = [Q(3 + j) for j in range(instance.d)]
    h = {name: exact(value) for name, value in hyper.items()}
    p = (Q(0), *instance.weights)
    noise = lambda i, k: [(Q(1), vector(seen.noise(i, k)))]
    rounds = Rounds(method, Losses(seen.exact, noise, p, instance.d), h)
    known = rounds.start(x_0)
    weights = np.array(list(map(float, instance.weights)))
    theirs = start(Task(np.array(list(map(float, x_0))), N, weights, dict(hyper)))
    for t, cohort in enumerate(instance.cohorts):
        work = instance.work[t] if instance.work else (rounds.steps,) * len(cohort)
        rounds.at(t)
        seen.t, seen.asked = t, []
        ((_, trace),) = rounds.of(known, [(Q(1), cohort, tuple(work))])
        try:
            theirs = round(theirs, list(cohort), list(work), seen)
            walked(method, rounds, trace, seen.asked)
            held(method, trace.after, state(theirs), N)
        except Differs as found:
            return Broken(
                listings.line(method, found.key),
                f"round {t + 1}, cohort {list(cohort)}: {found}",
                told(instance, hyper),
            )
        known = trace.after
    return None


def near(a, b):
    """Whether numbers of an adapter are those of exact arithmetic, up to rounding."""
    b = np.array([float(sum(pair(n)) / 2) for n in b])
    return bool(np.all(np.abs(np.asarray(a, dtype=float) - b) <= CLOSE * (1 + np.abs(b))))


def short(v):
    return "[" + ", ".join(str(n) if isinstance(n, Q) else f"{float(n):.6g}" for n in v) + "]"


def walked(method, rounds, trace, asked):
    """Raise Differs at the first gradient that is not asked for where the listing does."""
    members = dict(zip(trace.cohort, zip(trace.work, trace.clients)))
    for i, _, y in asked:
        if i and i not in members:
            raise Differs("cohort", f"client {i}, who rests, is asked for a gradient at {short(y)}")
    _server(method, rounds, trace, [(k, y) for i, k, y in asked if i == 0 and k == AT_X], True)
    ask_at_x = method.asks(method.client_grad, rounds.h)
    for i, (steps, walk) in members.items():
        mine = {k: y for j, k, y in asked if j == i}
        for k in sorted(mine):
            point = trace.before.x if k == AT_X else None if k >= steps else walk.points[k]
            if point is None or k == AT_X and not ask_at_x:
                raise Differs("steps", f"client {i} takes step {k}, of {steps}")
            if not near(mine[k], point):
                key = "fresh" if k == AT_X else "step" if k else "start"
                where = f"after {k} steps" if k > 0 else "at first"
                raise Differs(
                    key,
                    f"client {i} is at {short(mine[k])} {where}, where the listing is at {short(point)}",
                )
        missing = set(range(steps)) - set(mine)
        if missing or ask_at_x and AT_X not in mine:
            raise Differs(
                "steps" if missing else "fresh",
                f"client {i} takes {len(set(mine) - {AT_X})} steps, of {steps}"
                if missing
                else f"client {i} takes no gradient at x",
            )
    _server(method, rounds, trace, [(k, y) for i, k, y in asked if i == 0 and k != AT_X], False)


def _server(method, rounds, trace, mine, at_x):
    """Of the server's gradients the one at x, before the clients work, or those of its steps."""
    wanted = {} if at_x else dict(enumerate(trace.server.points[:-1]))
    if at_x and method.asks(method.server_grad, rounds.h):
        wanted[AT_X] = trace.before.x
    for k, y in mine:
        if k not in wanted:
            key = "server" if at_x else "server_steps"
            raise Differs(key, f"the server takes a gradient in a step {k} that is none")
        if not near(y, wanted[k]):
            key = "server" if k == AT_X else "server_step" if k else "server_start"
            raise Differs(
                key, f"the server is at {short(y)}, where the listing is at {short(wanted[k])}"
            )
    if set(wanted) - {k for k, _ in mine}:
        key = "server" if at_x else "server_steps"
        raise Differs(key, f"the server takes {len(mine)} gradients, of {len(wanted)}")


def held(method, after, theirs, N):
    """Raise Differs at the first field that is not what the listing makes of it: clients' own first,
    for others are made of them."""
    if not isinstance(theirs, dict) or "x" not in theirs:
        refuse("state", "must return a dict with x", theirs)
    told = listings.OF.get(method.name, after._fields)  # the listing's letters, no more
    fields = [name for name in after._fields if name in theirs and name in told]
    order = sorted(fields, key=lambda name: (getattr(after, name).ndim < 2, name == "x"))
    for name in order:
        mine, own = getattr(after, name), theirs[name]
        if mine.ndim == 2 and len(mine) == N + 1:
            rows = {i: own[i] for i in own} if isinstance(own, dict) else dict(enumerate(own, 1))
            for i, row in sorted(rows.items()):
                if not near(row, mine[i]):
                    raise Differs(
                        name, f"{name} of client {i} is {short(row)}, not {short(mine[i])}"
                    )
        elif not near(np.ravel(own), np.ravel(mine)):
            raise Differs(name, f"{name} is {short(np.ravel(own))}, not {short(np.ravel(mine))}")


def told(instance, hyper):
    """An instance in small fractions."""
    at = lambda b: f"||x {'+' if b < 0 else '-'} {abs(b)}||^2" if b else "||x||^2"
    pairs = list(zip(instance.a, instance.b))[1:]
    losses = ", ".join(f"f_{i} = {a / 2} {at(b)}" for i, (a, b) in enumerate(pairs, 1))
    start = short([Q(3 + j) for j in range(instance.d)])
    noise = ", noise of fourths" if instance.noisy else ""
    given = ", ".join(f"{name} = {value}" for name, value in hyper.items())
    return f"on {instance.says}: {losses}; weights {short(instance.weights)}; from {start}{noise}; {given}"


def of_file(module, path):
    """The Conformance of an adapter's file: METHOD, start, round, state, and HYPER if any."""
    for name in ("METHOD", *FUNCTIONS):
        if not hasattr(module, name):
            raise InvalidInput(
                f"{path} must define METHOD, start, round and state; it lacks {name}"
            )
    three: list[Any] = [getattr(module, name) for name in FUNCTIONS]
    hyper = getattr(module, "HYPER", {})
    if not isinstance(hyper, dict):
        refuse(f"{path}: HYPER", "must be a dict", hyper)
    try:
        return conform(module.METHOD, *three, hyper=hyper)
    except FedtheoryError:
        raise
    except Exception as error:
        raise InvalidInput(f"{path} cannot be asked: {type(error).__name__}: {error}") from None
