"""FedSGD (McMahan et al. 2017, section 2): each client sends one gradient at x, and the server
takes one step.

The round is x <- x - eta mean_i g_i(x): FedAvg with one local step, in which `eta` is the only step
size.
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, choice, nonnegative
from fedtheory.algorithms.fedavg import sum_changes
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters."""

    eta: float = nonnegative("step size")
    weighting: int = choice("what each client of the cohort counts", "unbiased", "plain", "samples")


class State(NamedTuple):
    """The memory of a round: the server's point alone."""

    x: np.ndarray  # (d,) server point


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round."""
    return State(x_0.copy())


@jit
def local_step(state, i, k, y, g, local, h):
    """Take the client's one step, y <- x - eta g, from which the server reads the gradient."""
    for j in range(y.size):
        y[j] -= h.eta * g[j]


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Add to x the mean of the cohort's changes: minus eta times the mean gradient."""
    x, change = state.x, np.zeros(state.x.size)
    sum_changes(x, cohort, p, y, h.weighting, change)
    for j in range(x.size):
        x[j] += change[j] / cohort.size


ALGORITHM = Algorithm(
    "fedsgd",
    "McMahan et al. 2017, FedSGD",
    Hyper,
    init,
    local_step,
    aggregate,
    steps=1,
    meaning="one gradient a client, one step",
)
