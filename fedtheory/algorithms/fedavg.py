"""Federated averaging (McMahan et al. 2017) with an aggregation step eta_g (FSL, lines 1-9 of
algorithm 1).

Each client i of the cohort takes K SGD steps from x, and the server adds the mean change:

    y_i <- y_i - eta_l g_i(y_i), K times from x;   x <- x + eta_g mean_i (y_i - x).
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, choice, count, nonnegative
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters; `weighting` chooses what mean_i is, see `sum_changes`."""

    eta_l: float = nonnegative("step size of a client")
    eta_g: float = nonnegative("aggregation step", 1.0)
    K: int = count("local steps of a client", 1)
    weighting: int = choice("what each client of the cohort counts", "unbiased", "plain", "samples")


class State(NamedTuple):
    """The memory of a round: the server's point alone."""

    x: np.ndarray  # (d,) server point


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round."""
    return State(x_0.copy())


@jit
def local_sgd_step(state, i, k, y, g, local, h):
    """Take one SGD step at a client, y <- y - eta_l g (FSL, line 14)."""
    for j in range(y.size):
        y[j] -= h.eta_l * g[j]  # FSL, line 14


@jit
def mean_of_cohort(state, cohort, work, p, y, local, h):
    """Add to x eta_g times the plain mean of the cohort's changes (FSL, lines 8-9)."""
    x, change = state.x, np.zeros(state.x.size)
    for s in range(cohort.size):
        for j in range(x.size):
            change[j] += y[s, j] - x[j]
    for j in range(x.size):
        x[j] += h.eta_g * change[j] / cohort.size


@jit
def sum_changes(x, cohort, p, y, weighting, change):
    """Add to `change` the cohort's changes, each times a factor; the three readings of the factor
    agree when p_i = 1/N. N p_i ("unbiased") makes the mean over a uniform cohort unbiased for F; 1
    ("plain") is FSL's line 8; S p_i / sum_cohort p ("samples") is McMahan's, by sample counts."""
    S, N = cohort.size, p.size - 1
    total = 0.0
    for s in range(S):
        total += p[cohort[s]]
    for s in range(S):
        factor = N * p[cohort[s]]
        if weighting == 1:
            factor = 1.0
        elif weighting == 2:
            factor = (
                S * p[cohort[s]] / total if total > 0.0 else 0.0
            )  # a cohort of weightless clients: no move
        for j in range(x.size):
            change[j] += factor * (y[s, j] - x[j])


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Add to x eta_g times the mean of the cohort's changes, under the chosen weighting."""
    x, change = state.x, np.zeros(state.x.size)
    sum_changes(x, cohort, p, y, h.weighting, change)
    for j in range(x.size):
        x[j] += h.eta_g * change[j] / cohort.size


ALGORITHM = Algorithm(
    "fedavg",
    "McMahan et al. 2017, algorithm 1",
    Hyper,
    init,
    local_sgd_step,
    aggregate,
    meaning="local SGD and averaging",
)
