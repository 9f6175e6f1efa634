"""FSL-p, non-incremental server learning (FSL, section II-B): the server is a client that takes
part in every round.

It runs LOCALSGD on f_0 from x_t beside the clients, and all changes are averaged. The paper gives
its model a weight without stating it; here the weight is gamma against 1 for the cohort's mean,
normalised:

    y_i <- y_i - eta_l g_i(y_i), K times from x_t;   w <- w - eta_0 g_0(w), K_0 times from x_t;
    x_{t+1} = x_t + (eta_g mean_i (y_i - x_t) + gamma (w_{K_0} - x_t)) / (1 + gamma).

Under the paper's K eta_l eta_g = K_0 eta_0 (section IV-A) this descends (F + gamma f_0) / (1 +
gamma), as FSL does; gamma = n_0 / n is averaging by sample counts, the "regular client" of the
text. The aggregation step eta_g scales the cohort only, or that balance would need other step sizes
than FSL's.
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, count, nonnegative
from fedtheory.algorithms.fedavg import local_sgd_step
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters, in the paper's letters."""

    eta_l: float = nonnegative("step size of a client")
    eta_g: float = nonnegative("aggregation step", 1.0)
    eta_0: float = nonnegative("step size of the server")
    gamma: float = nonnegative("weight of the server's model against the cohort's mean", 1.0)
    K: int = count("local steps of a client", 1)
    K_0: int = count("local steps of the server", 1)


class State(NamedTuple):
    """The server's point, the server's local point, and the cohort's change."""

    x: np.ndarray  # (d,) server point
    w: np.ndarray  # (d,) the server's local point
    change: np.ndarray  # (d,) eta_g times the cohort's mean change


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round."""
    return State(x_0.copy(), x_0.copy(), np.zeros_like(x_0))


@jit
def begin(state, t, g, h):
    """Start the server's local point at x_t (line 11)."""
    for j in range(state.x.size):
        state.w[j] = state.x[j]  # line 11, at x_t rather than at the clients' mean
        state.change[j] = 0.0


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Compute eta_g times the cohort's mean change (line 8); `end` adds it to x."""
    x, change = state.x, state.change
    for s in range(cohort.size):
        for j in range(x.size):
            change[j] += y[s, j] - x[j]
    for j in range(x.size):
        change[j] = h.eta_g * change[j] / cohort.size  # line 8; x waits for the server


@jit
def server_step(state, k, g, h):
    """Take one step of the server's local point, w <- w - eta_0 g_0(w) (line 14)."""
    for j in range(g.size):
        state.w[j] -= h.eta_0 * g[j]  # line 14


@jit
def end(state, h):
    """Average the server's change, with weight gamma, and the cohort's."""
    x = state.x
    for j in range(x.size):
        x[j] += (state.change[j] + h.gamma * (state.w[j] - x[j])) / (1.0 + h.gamma)


ALGORITHM = Algorithm(
    "fsl_parallel",
    "FSL, section II-B",
    Hyper,
    init,
    local_sgd_step,
    aggregate,
    begin=begin,
    server_step=server_step,
    end=end,
    server_steps="K_0",
    server=True,
    meaning="FSL-p: the server learns beside the clients and is averaged with them",
)
