"""Methods with exact gradients and full participation, as recursions that work on any kind of
vector.

The library's methods, and a user's own methods, are read from their kernels. Textbook methods are
defined here. `worstcase.structure` checks that kernels have the structure that a worst case
assumes.

`method(x, gradient)` yields x_0, x_1, ... without end. `gradient(i, x)` returns a gradient of
client i >= 1, or of the server, i = 0. The same code runs on arrays and on unknown vectors, so the
method of a worst case can also be run. A method of your own has the same form: each point is x plus
multiples of gradients, and the number and order of queries do not depend on the gradients' values.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory import discover
from fedtheory.algorithm import Algorithm
from fedtheory.arithmetic.operations import Many, vector
from fedtheory.errors import InvalidInput, refuse
from fedtheory.exact.kernel_interpreter import Kernels
from fedtheory.exact.linear import Linear
from fedtheory.exact.traces import Losses, Rounds, uniform_cohorts
from fedtheory.typing import Exact, Number


def exact_number(argument: str, value: Number | str) -> Fraction:
    """Return a number as a fraction: 0.1 is 3602879701896397/36028797018963968, "1/10" is 1/10."""
    try:
        return Fraction(value.item() if hasattr(value, "item") else value)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        refuse(argument, "must be a finite number, or a fraction as text", value)


@dataclass(frozen=True)
class Textbook:
    """A recursion on whole vectors that is written out in this file."""

    name: str
    numbers: dict[str, Any]
    recursion: Callable[..., Any]

    def __call__(self, x: np.ndarray | Linear, gradient: Callable[..., Any]) -> Iterator[Any]:
        return self.recursion(x, gradient)

    def describe(self) -> dict[str, Any]:
        """Describe the method for a document: its name, clients and numbers."""
        numbers = {name: str(exact_number(name, value)) for name, value in self.numbers.items()}
        return dict(name=self.name, clients=1, numbers=numbers)


def momentum(eta: Fraction | str, beta: Fraction) -> Textbook:
    """Return the heavy-ball method, whose gradient is taken at x_t. Nesterov's method instead takes
    its gradient at the extrapolated point.

    The step is x_{t+1} = x_t + beta (x_t - x_{t-1}) - eta grad f(x_t), with x_{-1} = x_0.
    """

    def recursion(
        x: np.ndarray | Linear, gradient: Callable[..., Any]
    ) -> Iterator[np.ndarray | Linear]:
        last = x
        while True:
            yield x
            x, last = x + beta * (x - last) - eta * gradient(1, x), x

    return Textbook("momentum", dict(eta=eta, beta=beta), recursion)


def nesterov(eta: Fraction) -> Textbook:
    """Return Nesterov's method (1983) with weights (t - 1) / (t + 2) for a convex loss.

    With y_1 = x_0, the points are x_t = y_t - eta grad f(y_t), and y_{t+1} = x_t + (t - 1)/(t + 2)
    (x_t - x_{t-1}).
    """

    def recursion(x: Linear, gradient: Callable[..., Any]) -> Iterator[Linear]:
        y, t = x, 1
        while True:
            yield x
            moved = y - eta * gradient(1, y)
            y, x, t = moved + (moved - x) * (t - 1) / (t + 2), moved, t + 1

    return Textbook("nesterov", dict(eta=eta), recursion)


TEXTBOOK = dict(momentum=momentum, nesterov=nesterov)


@dataclass(frozen=True)
class ByKernels:
    """A method given by its kernels, with N clients that all take part in every round, without
    noise.

    As a recursion, the method treats a whole point as a single coordinate. The function
    `structure.require_apart` checks that the kernels treat each coordinate like this single one.
    """

    record: Algorithm
    N: int
    given: dict[str, Any]

    @cached_property
    def numbers(self) -> dict[str, Any]:
        """Return numbers as fractions, counts or words. Refuses numbers that the record does not
        accept."""
        words = {name for name, field in self.record.hyper.items() if field.choices}
        found = {
            n: value if n in words else method_number(value) for n, value in self.given.items()
        }
        floats = {n: float(v) if isinstance(v, Fraction) else v for n, v in found.items()}
        resolved = self.record.resolve(floats, 1)
        if self.record.check is not None:
            self.record.check(resolved[0], self.N, self.N)
        return found

    def __call__(self, x: Linear, gradient: Callable[..., Any]) -> Iterator[Linear]:
        batched = isinstance(x, (float, np.ndarray))  # floats are not exact numbers
        whole, part = (
            (lambda y: Many(np.asarray(y)), lambda y: y.at) if batched else (lambda y: y,) * 2
        )
        asked = lambda i, y: vector([whole(gradient(i, part(y[0])))])
        for y in self.points(vector([whole(x)]), asked):
            yield part(y[0])

    def points(self, x_0: Number, gradient: Any, layers: Any = (0,)) -> Iterator[np.ndarray]:
        """Yield x_0, x_1, ... as vectors of numbers of any kind, given a function that returns
        gradients of such vectors."""
        p = (0, *[Fraction(1, self.N)] * self.N)
        seen = Losses(gradient, lambda i, k: [], p, len(x_0), layers)
        rounds = Rounds(self.record, seen, self.numbers)
        law, state, t = uniform_cohorts(self.N, self.N, rounds.steps), rounds.start(x_0), 0
        while True:
            yield state.x
            rounds.at(t)  # a method may depend on the round's number
            ((_, trace),) = rounds.of(state, law)
            state, t = trace.after, t + 1

    def describe(self) -> dict[str, Any]:
        """Describe the method for a document: its name, clients and all of its numbers."""
        h = Kernels(self.record).hyper(self.numbers)._asdict()
        numbers = {
            name: str(int(value) if isinstance(value, int) else exact_number(name, value))
            for name, value in h.items()
        }
        return dict(name=self.record.name, clients=self.N, numbers=numbers)


def kernel_method(record: str | Algorithm, N: int, **h: Number | str) -> ByKernels:
    """Return a method of the library, or a user's record, as a ByKernels."""
    record = discover.adopt_method(discover.algorithm(record))
    if record.transform is not None:
        refuse(
            record.name,
            "must train on the problem's own losses to have a worst case here",
            "a transform",
        )
    return ByKernels(record, N, h)


def method_of_document(entry: Mapping[str, Any]) -> ByKernels | Textbook:
    """Return the method that a document describes. Raises InvalidInput where no method here has
    that name and accepts these numbers."""
    name, numbers = entry["name"], entry["numbers"]
    if name in TEXTBOOK:
        return TEXTBOOK[name](**{key: Fraction(value) for key, value in numbers.items()})
    try:
        record = discover.algorithm(name)
    except InvalidInput:
        raise InvalidInput(
            f"the document names the method {name}, which is not known here: give the method's file by --with"
        ) from None
    given, hyper = {}, record.hyper
    for key, value in numbers.items():
        field = hyper.get(key)
        if field is not None and field.choices:
            given[key] = field.choices[int(value)]
        else:
            given[key] = int(value) if field is not None and field.integer else Fraction(value)
    return kernel_method(record, entry["clients"], **given)


def method_number(value: Exact) -> Exact:
    """Return an integer unchanged, and any other number as a fraction."""
    return value if isinstance(value, int) else exact_number("a method's number", value)


def gradient_descent(eta: Number | str) -> ByKernels:
    """Return gradient descent, x_{t+1} = x_t - eta grad f(x_t), by the kernels of FedSGD with one
    client."""
    return kernel_method("fedsgd", 1, eta=eta)


def fedavg(N: int, K: int, eta_l: Number, eta_g: float = 1) -> ByKernels:
    """Return FedAvg with N clients and K local steps eta_l each; the mean move is multiplied by
    eta_g."""
    return kernel_method("fedavg", N, K=K, eta_l=eta_l, eta_g=exact_number("eta_g", eta_g))


def fsl(
    N: int, K: int, K_0: int, eta_l: Number, eta_0: Number, gamma: Number, eta_g: float = 1
) -> ByKernels:
    """Return FSL, algorithm 1: FedAvg, then K_0 steps of the server on f_0."""
    return kernel_method(
        "fsl",
        N,
        K=K,
        K_0=K_0,
        eta_l=eta_l,
        eta_0=eta_0,
        gamma=exact_number("gamma", gamma),
        eta_g=exact_number("eta_g", eta_g),
    )


def one_way_gt(N: int, K: int, eta: Number, eta_s: float = 1) -> ByKernels:
    """Return Mixed FL, algorithm 2, with SGD on both sides: one gradient of f_0 at x_t is added to
    every client step."""
    return kernel_method("one_way_gt", N, K=K, eta=eta, eta_s=exact_number("eta_s", eta_s))


def scaffold(N: int, K: int, eta_l: Number, eta_g: float = 1) -> ByKernels:
    """Return SCAFFOLD with option II: a client's variate is its mean gradient of the previous
    round, and zero at first."""
    return kernel_method("scaffold", N, K=K, eta_l=eta_l, eta_g=exact_number("eta_g", eta_g))
