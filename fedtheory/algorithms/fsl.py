"""Federated learning with server learning (FSL, algorithm 1 of the long paper).

The listing and appendix A-A agree: K client steps of size eta_l from x_t, a plain mean over the
cohort scaled by eta_g, then K_0 server steps of size gamma eta_0. The short paper prints eta_0
where the long one has gamma eta_0, and eta_g = 1: it is this method with gamma = 1.
"""

from typing import NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, count, nonnegative
from fedtheory.algorithms.fedavg import local_sgd_step, mean_of_cohort
from fedtheory.jit import jit


class Hyper(NamedTuple):
    eta_l: float = nonnegative("step size of a client")
    eta_g: float = nonnegative("aggregation step", 1.0)
    eta_0: float = nonnegative("step size of the server, before its weight gamma")
    gamma: float = nonnegative("weight of the server's loss", 1.0)
    K: int = count("local steps of a client", 1)
    K_0: int = count("local steps of the server", 1)


class State(NamedTuple):
    x: np.ndarray  # (d,) server point


def init(x_0, N, layers, h):
    return State(x_0.copy())


@jit
def server_step(state, k, g, h):
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
