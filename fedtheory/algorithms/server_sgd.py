"""Training at the server alone: LOCALSGD on the server's own data (FSL, lines 11-14; the
pre-training of section IV-B).

A round is x <- x - eta_0 g_0(x), K_0 times; clients take no steps.
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, count, nonnegative
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters."""

    eta_0: float = nonnegative("step size of the server")
    K_0: int = count("steps of the server", 1)


class State(NamedTuple):
    """The memory of a round: the server's point alone."""

    x: np.ndarray  # (d,)


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round."""
    return State(x_0.copy())


@jit
def local_step(state, i, k, y, g, local, h):
    """Do nothing: clients take no steps."""


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Do nothing: there is nothing to average."""


@jit
def server_step(state, k, g, h):
    """Take one SGD step on f_0, x <- x - eta_0 g_0 (line 14)."""
    for j in range(g.size):
        state.x[j] -= h.eta_0 * g[j]


ALGORITHM = Algorithm(
    "server_sgd",
    "FSL, lines 11-14",
    Hyper,
    init,
    local_step,
    aggregate,
    server_step=server_step,
    steps=0,
    server_steps="K_0",
    server=True,
    meaning="the server learns alone; clients rest",
)
