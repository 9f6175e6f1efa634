"""Methods with exact gradients and full participation, as recursions that do not care what a vector
is.

Those of the library are read from their kernels; textbook methods stand here.

`method(x, gradient)` yields x_0, x_1, ... without end; `gradient(i, x)` answers for client i >= 1,
or for the server, i = 0. The same lines run on arrays and on unknown vectors, so what a worst case
is about can be run. Write your own alike: a point is x plus multiples of answers, and the questions
asked do not depend on the answers.
"""

from fractions import Fraction

import numpy as np

from fedtheory import discover
from fedtheory.enclosure.arithmetic import Many, vector
from fedtheory.errors import refuse
from fedtheory.exact.traces import Losses, Rounds, uniform


def exact(argument, value):
    """The fraction that a number is: 0.1 is 3602879701896397/36028797018963968, "1/10" is 1/10."""
    try:
        return Fraction(value.item() if hasattr(value, "item") else value)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        refuse(argument, "must be a finite number, or a fraction as text", value)


def momentum(eta, beta):
    """Heavy ball; Nesterov's method has its gradient at the extrapolated point."""

    def method(x, gradient):
        last = x
        while True:
            yield x
            x, last = x + beta * (x - last) - eta * gradient(1, x), x

    return method


def nesterov(eta):
    """Nesterov (1983) with weights (t - 1) / (t + 2) for a convex loss."""

    def method(x, gradient):
        y, t = x, 1
        while True:
            yield x
            moved = y - eta * gradient(1, y)
            y, x, t = moved + (moved - x) * (t - 1) / (t + 2), moved, t + 1

    return method


def of(record, N, **h):
    """A method of the library, or one's own record, by its kernels: N clients, all in every round,
    no noise.

    A whole point is its only coordinate: what kernels do, they do to each coordinate alike.
    """
    record = discover.algorithm(record)

    def method(x, gradient):
        batched = isinstance(x, (float, np.ndarray))  # floats are no exact numbers
        whole, part = (
            (lambda y: Many(np.asarray(y)), lambda y: y.at) if batched else (lambda y: y,) * 2
        )
        seen = Losses(
            lambda i, y: vector([whole(gradient(i, part(y[0])))]),
            lambda i, k: [],
            (0, *[Fraction(1, N)] * N),
            1,
        )
        rounds = Rounds(record, seen, {name: number(value) for name, value in h.items()})
        law, state = uniform(N, N, rounds.steps), rounds.start([whole(x)])
        while True:
            yield part(state.x[0])
            ((_, trace),) = rounds.of(state, law)
            state = trace.after

    return method


def number(value):
    return value if isinstance(value, int) else exact("a method's number", value)


def gradient_descent(eta):
    return of("fedsgd", 1, eta=eta)


def fedavg(N, K, eta_l, eta_g=1):
    return of("fedavg", N, K=K, eta_l=eta_l, eta_g=exact("eta_g", eta_g))


def fsl(N, K, K_0, eta_l, eta_0, gamma, eta_g=1):
    """FSL, algorithm 1: FedAvg, then K_0 steps of the server on f_0."""
    return of(
        "fsl",
        N,
        K=K,
        K_0=K_0,
        eta_l=eta_l,
        eta_0=eta_0,
        gamma=exact("gamma", gamma),
        eta_g=exact("eta_g", eta_g),
    )


def one_way_gt(N, K, eta, eta_s=1):
    """Mixed FL, algorithm 2, with SGD on both sides: one gradient of f_0 at x_t joins every client
    step."""
    return of("one_way_gt", N, K=K, eta=eta, eta_s=exact("eta_s", eta_s))


def scaffold(N, K, eta_l, eta_g=1):
    """SCAFFOLD with option II: a client's variate is its mean gradient of the round before, zero at
    first."""
    return of("scaffold", N, K=K, eta_l=eta_l, eta_g=exact("eta_g", eta_g))
