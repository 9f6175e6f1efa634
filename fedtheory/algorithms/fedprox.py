"""FedProx (Li et al. 2020, algorithm 2): each client's loss gains a quadratic term that keeps it
near the server's point.

Client i minimises f_i(y) + (mu_prox / 2) ||y - x||^2, mu_prox being the paper's mu, which is strong
convexity elsewhere:

    y_i <- y_i - eta_l (g_i(y_i) + mu_prox (y_i - x)), K times from x;   x <- mean_i y_i.

The paper asks for any gamma-inexact minimiser; here the client takes K SGD steps from x, as in the
paper's experiments. Line 7 of the listing is the plain mean over a cohort drawn by the weights;
`weighting` has the readings of FedAvg, and mu_prox = 0 is FedAvg.
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, choice, count, nonnegative
from fedtheory.algorithms.fedavg import sum_changes
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters; mu_prox is the mu of Li et al."""

    eta_l: float = nonnegative("step size of a client")
    mu_prox: float = nonnegative("weight of the quadratic term")
    K: int = count("local steps of a client", 1)
    weighting: int = choice("what each client of the cohort counts", "unbiased", "plain", "samples")


class State(NamedTuple):
    """The memory of a round: the server's point alone."""

    x: np.ndarray  # (d,) server point


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round."""
    return State(x_0.copy())


@jit
def local_step(state, i, k, y, g, local, h):
    """Take one SGD step on f_i(y) + (mu_prox / 2) ||y - x||^2 (line 5)."""
    for j in range(y.size):
        y[j] -= h.eta_l * (g[j] + h.mu_prox * (y[j] - state.x[j]))  # of h_i(y; x), line 5


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Add to x the mean of the cohort's changes (line 7), under the chosen weighting."""
    x, change = state.x, np.zeros(state.x.size)
    sum_changes(x, cohort, p, y, h.weighting, change)
    for j in range(x.size):
        x[j] += change[j] / cohort.size  # line 7


ALGORITHM = Algorithm(
    "fedprox",
    "Li et al. 2020, algorithm 2",
    Hyper,
    init,
    local_step,
    aggregate,
    meaning="local SGD with a proximal term, and averaging",
)
