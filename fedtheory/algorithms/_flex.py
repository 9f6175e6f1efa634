"""The parts that schemes A, B and C share (flex, section 3.1): E local steps are asked of a device,
s are done, and one aggregation (2) follows.

The two lines of (2) differ in the last summand, i <= s against i < s; the second follows from (1),
after whose s steps the device stands at w_{tau E + s}. Every device takes part in every round, s =
0 included. The coefficient p^k that a scheme scales carries the boost of an arriving device
(section 4.2).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, count, nonnegative
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters of schemes A, B and C."""

    eta: float = nonnegative(
        "learning rate; the paper's decays with the round (participation.staircase)"
    )
    E: int = count("local steps asked of each device", 1)


class State(NamedTuple):
    """The memory of a round: the server's point alone."""

    x: np.ndarray  # (d,) global weight w^G


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round."""
    return State(x_0.copy())


@jit
def local_step(state, i, k, y, g, local, h):
    """Take one SGD step on F_k, (1): y <- y - eta g."""
    for j in range(y.size):
        y[j] -= h.eta * g[j]  # (1)


@jit
def add_changes(x, coefficient, y):
    """Add sum_k p_tau^k (y_k - x) to x, the first line of (2); `coefficient` and y are in the
    cohort's order."""
    change = np.zeros(x.size)
    for s in range(coefficient.size):
        if coefficient[s] != 0.0:
            for j in range(x.size):
                change[j] += coefficient[s] * (y[s, j] - x[j])
    for j in range(x.size):
        x[j] += change[j]


def make_scheme(name: str, aggregate: Callable[..., Any], meaning: str) -> Algorithm:
    """Return the Algorithm of a scheme, which is (1) followed by the scheme's `aggregate`."""
    return Algorithm(
        name,
        "flex, section 4.1",
        Hyper,
        init,
        local_step,
        aggregate,
        steps="E",
        everyone=True,
        meaning=meaning,
    )
