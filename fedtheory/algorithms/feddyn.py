"""FedDyn (Acar et al. 2021, algorithm 1): each client's loss gains a linear and a quadratic term,
which are renewed every round.

Client i minimises f_i(y) - <h_i, y> + (alpha/2) ||y - x||^2 and h_i, which starts at 0, follows its
gradient at the minimiser. In K SGD steps from x, and then at the server:

    y_i <- y_i - eta_l (g_i(y_i) - h_i + alpha (y_i - x)), K times from x;
    h_i <- h_i - alpha (y_i - x) of the cohort,   h = sum_i p_i h_i;
    x <- mean_i y_i - h / alpha.

The paper assumes the exact minimiser; here the client takes K SGD steps, as in the paper's
experiments, and the updates of h_i and h are the listing's. The paper has F = (1/N) sum f_i and h
the mean of h_i; here a client's change counts N p_i and h = sum p_i h_i, which is the listing where
p_i = 1/N, so that fixed points are stationary points of F under any weights.
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, count, nonnegative, positive
from fedtheory.algorithms.scaffold import weigh_memory
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters, in the letters of Acar et al."""

    eta_l: float = nonnegative("step size of a client")
    alpha: float = positive("weight of the quadratic term")
    K: int = count("local steps of a client", 1)


class State(NamedTuple):
    """The server's point, the weighted mean h of the h_i, and the h_i."""

    x: np.ndarray  # (d,) server point
    h: np.ndarray  # (d,)
    h_i: np.ndarray  # (N + 1, d) clients' gradients at their last points; row 0 is not used


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round: h = h_i = 0."""
    return State(x_0.copy(), np.zeros_like(x_0), np.zeros((N + 1, len(x_0))))


@jit
def local_step(state, i, k, y, g, local, h):
    """Take one SGD step on the client's loss with its linear and quadratic term."""
    for j in range(y.size):
        y[j] -= h.eta_l * (g[j] - state.h_i[i, j] + h.alpha * (y[j] - state.x[j]))


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Renew h_i of the cohort and h, and set x to the mean of the clients' points less h / alpha."""
    x, h_i, change = state.x, state.h_i, np.zeros(state.x.size)
    S, N = cohort.size, p.size - 1
    for s in range(S):
        i = cohort[s]
        for j in range(x.size):
            gap = y[s, j] - x[j]
            change[j] += N * p[i] * gap
            h_i[i, j] -= h.alpha * gap
            state.h[j] -= h.alpha * p[i] * gap  # h - (alpha/N) sum_S (y_i - x)
    weigh_memory(p, h_i, state.h)
    for j in range(x.size):
        x[j] += change[j] / S - state.h[j] / h.alpha  # mean_S y_i - h / alpha


ALGORITHM = Algorithm(
    "feddyn",
    "Acar et al. 2021, algorithm 1",
    Hyper,
    init,
    local_step,
    aggregate,
    memory=True,
    meaning="dynamic regularisation aligns the clients' stationary points with F's",
)
