"""Federated learning with server learning (FSL, algorithm 1 of the long paper).

A round of FedAvg, then K_0 steps of the server on its own loss:

    y_i <- y_i - eta_l g_i(y_i), K times from x_t;                               lines 5-7, 11-14
    x <- x_t + eta_g mean_i (y_i - x_t);                                                lines 8-9
    x <- x - gamma eta_0 g_0(x), K_0 times, which gives x_{t+1}.                          line 10

The listing and appendix A-A agree on this. The short paper prints eta_0 where the long one has
gamma eta_0, and eta_g = 1: it is this method with gamma = 1.
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, count, nonnegative
from fedtheory.algorithms.fedavg import local_sgd_step, mean_of_cohort
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters, in the paper's letters."""

    eta_l: float = nonnegative("step size of a client")
    eta_g: float = nonnegative("aggregation step", 1.0)
    eta_0: float = nonnegative("step size of the server, before its weight gamma")
    gamma: float = nonnegative("weight of the server's loss", 1.0)
    K: int = count("local steps of a client", 1)
    K_0: int = count("local steps of the server", 1)


class State(NamedTuple):
    """The memory of a round: the server's point alone."""

    x: np.ndarray  # (d,) server point


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round."""
    return State(x_0.copy())


@jit
def server_step(state, k, g, h):
    """Take one of the server's K_0 steps, x <- x - gamma eta_0 g_0 (line 10)."""
    for j in range(g.size):
        state.x[j] -= h.gamma * h.eta_0 * g[j]  # line 10


ALGORITHM = Algorithm(
    "fsl",
    "FSL, algorithm 1",
    Hyper,
    init,
    local_sgd_step,
    mean_of_cohort,
    server_step=server_step,
    server_steps="K_0",
    server=True,
    meaning="FedAvg, then the server learns on its own data",
)
