"""Small instances in fractions, and the gradient function that an adapter calls."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments
from fedtheory.arithmetic.operations import ends_of, vector
from fedtheory.errors import refuse
from fedtheory.exact.traces import AT_X, Losses

Q = Fraction
CLOSE = 1e-5  # tolerance for single precision; a wrong line makes a far larger difference


class Task(NamedTuple):
    """The data that an adapter's `start` receives."""

    x_0: np.ndarray  # (d,)
    N: int
    weights: np.ndarray  # (N,), for clients 1 to N; their sum is 1
    hyper: dict[str, Any]
    # losses a_i ||x - b_i||^2 / 2, for code that takes its own gradients; row 0 is the server
    a: np.ndarray  # (N + 1,)
    b: np.ndarray  # (N + 1, d)


class Instance(NamedTuple):
    """An instance in which client i has the loss a_i ||x - b_i||^2 / 2; index 0 is the server."""

    says: str
    a: tuple[Any, ...]
    b: tuple[Any, ...]  # (N + 1,) points
    weights: tuple[Any, ...]
    cohorts: tuple[Any, ...]  # the cohort of each round
    x_0: tuple[Any, ...]
    work: tuple[Any, ...] | None = None  # the work of each round, where clients may do less
    noisy: bool = False

    @property
    def N(self) -> int:
        """Return the number of clients, without the server."""
        return len(self.weights)

    def steps(self, t: int, K: int) -> tuple[int, ...]:
        """Return the number of local steps of each client of round t's cohort, where K steps are
        asked for."""
        return self.work[t] if self.work else (K,) * len(self.cohorts[t])

    def task(self, hyper: Mapping[str, Any]) -> Task:
        """Return the Task for an adapter's `start`, with all numbers as floats."""
        return Task(
            to_floats(self.x_0),
            self.N,
            to_floats(self.weights),
            dict(hyper),
            to_floats(self.a),
            np.array([to_floats(point) for point in self.b]),
        )

    def grad(self, i: int, x: np.ndarray) -> np.ndarray:
        """Return a_i (x - b_i), the gradient without noise, in exact numbers."""
        return vector([self.a[i] * (z - o) for z, o in zip(x, self.b[i])])

    def noise(self, t: int, i: int, k: int) -> list[Fraction]:
        """Return the prescribed noise of client i's gradient in step k of round t: per coordinate
        -1/4, 0, 1/4 or 1/2, by a rule that gives neighbouring rounds, clients and steps different
        vectors; zero for an instance without noise."""
        d = len(self.x_0)
        if not self.noisy:
            return [Q(0)] * d
        sign = (7 * t + 5 * i + 3 * k) % 4
        return [Q((sign + j) % 4 - 1, 4) for j in range(d)]

    def losses(self, now: Callable[..., Any]) -> Losses:
        """Return the losses that a method's kernels see; `now()` returns the current round."""
        noise = lambda i, k: [(Q(1), vector(self.noise(now(), i, k)))]
        return Losses(self.grad, noise, (Q(0), *self.weights), len(self.x_0))

    def minimiser(self) -> list[Fraction]:
        """Return the minimiser of F = sum_i p_i f_i."""
        pulls = [p * a for p, a in zip(self.weights, self.a[1:])]
        columns = zip(*self.b[1:])
        return [sum(w * z for w, z in zip(pulls, column)) / sum(pulls) for column in columns]


def to_floats(numbers: np.ndarray | Sequence[Fraction]) -> np.ndarray:
    """Return exact numbers as an array of floats; an interval becomes its midpoint."""
    return np.array([float(sum(ends_of(n)) / 2) for n in numbers])


def place_points(*places: int) -> tuple[tuple[Fraction, ...], ...]:
    """Return whole numbers as points with a single coordinate."""
    return tuple((Q(place),) for place in places)


A = (Q(1), Q(1), Q(1, 2), Q(2))
B, FAR = place_points(1, 2, -1, 0), (Q(3),)
ALIKE, UNEQUAL = (Q(1, 3),) * 3, (Q(1, 2), Q(1, 3), Q(1, 6))
ONE = Instance("one client", A[:2], B[:2], (Q(1),), ((1,),) * 3, FAR)
TWO = Instance("two clients, all of them", A[:3], B[:3], (Q(1, 2),) * 2, ((1, 2),) * 3, FAR)
NOISY = Instance(
    "noise",
    A,
    tuple((z, z) for (z,) in B),
    ALIKE,
    ((2, 3), (1, 2), (1, 3)),
    (Q(3), Q(4)),
    noisy=True,
)
PAIRS = ((1, 2), (2, 3), (1, 3), (1, 2))
OTHER_PAIRS = ((1, 3), (2, 3), (1, 2), (2, 3))
INSTANCES = (
    ONE,
    TWO,
    Instance("three clients, two a round", A, B, ALIKE, PAIRS, FAR),
    Instance("unequal weights", A, B, UNEQUAL, OTHER_PAIRS, FAR),
    NOISY,
)
EVERYONE = (
    ONE,
    TWO,
    Instance(
        "unequal weights, incomplete work",
        A,
        B,
        UNEQUAL,
        ((1, 2, 3),) * 3,
        FAR,
        ((3, 1, 2), (1, 3, 0), (2, 3, 1)),
    ),
    NOISY._replace(cohorts=((1, 2, 3),) * 3),
)


class GradientRecorder:
    """A gradient function for an adapter, which records the points at which the adapter calls the
    function."""

    def __init__(self, instance: Instance) -> None:
        self.instance, self.t, self.asked, self.ever = instance, 0, [], False

    def at(self, t: int) -> None:
        """Begin round t: the noise is that of round t, and the list of calls is empty."""
        self.t, self.asked = t, []

    def __call__(self, i: int, y: np.ndarray, k: int) -> np.ndarray:
        """Return a_i (y - b_i) plus the prescribed noise, as floats of shape (d,), and record the
        call.

        Raises InvalidInput where i is neither a client nor 0, k is no step, or y has another shape.
        """
        N, d = self.instance.N, len(self.instance.x_0)
        if not isinstance(i, (int, np.integer)) or not 0 <= i <= N:
            refuse("gradient: i", f"must be a client 1..{N}, or 0, the server", i)
        if not isinstance(k, (int, np.integer)) or k < AT_X:
            refuse("gradient: k", "must be a step 0, 1, ..., or -1 for a gradient at x", k)
        y = np.array(arguments.check_array("y", y), dtype=float)
        if y.shape != (d,):
            refuse("gradient: y", f"must have shape ({d},)", y.shape)
        self.asked.append((int(i), int(k), y))
        self.ever = True
        slope = float(self.instance.a[i]) * (y - to_floats(self.instance.b[i]))
        return slope + to_floats(self.instance.noise(self.t, i, k))


def rows_of(name: str, value: Mapping[int, np.ndarray], N: int) -> list[tuple[int, np.ndarray]]:
    """Return [(client, row)] of a field of an adapter's state, which is a dict or a sequence whose
    first entry belongs to client 1."""
    rows = value if isinstance(value, dict) else dict(enumerate(value, 1))
    for i in rows:
        if i not in range(1, N + 1):
            refuse(f"state: {name}", f"must have rows of clients 1..{N}", i)
    return sorted(rows.items())


def nearly_equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Tell whether numbers of an adapter equal numbers of exact arithmetic up to rounding."""
    a, b = np.ravel(np.asarray(a, dtype=float)), np.ravel(b)
    b = b if b.dtype == float else to_floats(b)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= CLOSE * (1 + np.abs(b))))


def short_numbers(v: np.ndarray | Sequence[Fraction]) -> str:
    """Return a vector as text: fractions unchanged, floats with six significant figures."""
    return "[" + ", ".join(str(n) if isinstance(n, Q) else f"{float(n):.6g}" for n in v) + "]"


def _difference_text(point: Sequence[Fraction]) -> str:
    """Return x - point as text, with the sign simplified."""
    if not any(point):
        return "x"
    if len(point) > 1:
        return f"x - ({', '.join(map(str, point))})"
    return f"x {'+' if point[0] < 0 else '-'} {abs(point[0])}"


def describe_instance(instance: Instance, hyper: Mapping[str, Any]) -> str:
    """Return the description of an instance in small fractions."""
    pairs = list(zip(instance.a, instance.b))[1:]
    losses = ", ".join(
        f"f_{i} = {a / 2} ||{_difference_text(b)}||^2" for i, (a, b) in enumerate(pairs, 1)
    )
    noise = ", noise of fourths" if instance.noisy else ""
    given = ", ".join(f"{name} = {value}" for name, value in hyper.items())
    return (
        f"on {instance.says}: {losses}; weights {short_numbers(instance.weights)}; "
        f"from {short_numbers(instance.x_0)}{noise}; {given}"
    )
