"""Training at the server alone: LOCALSGD on the server's own data (FSL, lines 11-14; the
pre-training of section IV-B)."""

from typing import NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, count, nonnegative
from fedtheory.jit import jit


class Hyper(NamedTuple):
    eta_0: float = nonnegative("step size of the server")
    K_0: int = count("steps of the server", 1)


class State(NamedTuple):
    x: np.ndarray  # (d,)


def init(x_0, N, layers, h):
    return State(x_0.copy())


@jit
def local_step(state, i, k, y, g, local, h):
    pass


@jit
def aggregate(state, cohort, work, p, y, local, h):
    pass


@jit
def server_step(state, k, g, h):
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
