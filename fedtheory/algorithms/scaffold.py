"""SCAFFOLD (Karimireddy et al. 2020, algorithm 1): control variates c_i correct the drift of each
client.

    y_i <- y_i - eta_l (g_i(y_i) - c_i + c), K times from x;                              line 10
    c_i+ = g_i(x) (option I) or c_i - c + (x - y_i) / (K eta_l) (option II);              line 12
    x <- x + eta_g mean_i (y_i - x),   c <- c + (S/N) mean_i (c_i+ - c_i).            lines 16-17

The paper has f = (1/N) sum f_i and c the plain mean of c_i. Here F = sum p_i f_i: the cohort's
changes count N p_i / S and c = sum p_i c_i throughout, which is the listing where p_i = 1/N. A
client that did s < K of its steps divides by s in option II (its variate is the mean gradient along
its path), and keeps its variate where s = 0.
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, choice, count, nonnegative, positive
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters, in the letters of Karimireddy et al."""

    eta_l: float = positive("step size of a client")
    eta_g: float = nonnegative("aggregation step", 1.0)
    K: int = count("local steps of a client", 1)
    option: int = choice(
        "how c_i is renewed: II, the mean gradient of the local steps; I, a fresh gradient at x",
        "II",
        "I",
    )


class State(NamedTuple):
    """The server's point and variate, and the clients' variates."""

    x: np.ndarray  # (d,) server point
    c: np.ndarray  # (d,) server variate
    c_i: np.ndarray  # (N + 1, d) clients' variates; row 0 is not used


class Local(NamedTuple):
    """The next variate of one client."""

    c_plus: np.ndarray  # (d,) the client's next variate


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round: all variates are zero."""
    return State(x_0.copy(), np.zeros_like(x_0), np.zeros((N + 1, len(x_0))))


def local(d: int, layers: np.ndarray, h: Any) -> Any:
    """Return a client's empty memory for a round."""
    return Local(np.zeros(d))


@jit
def local_start(state, i, y, g, local, h):
    """Start a client at x; under option I, take its gradient there as the next variate (line 12)."""
    for j in range(y.size):
        y[j] = state.x[j]
        if h.option == 1:
            local.c_plus[j] = g[j]  # line 12, option I; g was drawn apart from those of the steps


@jit
def local_step(state, i, k, y, g, local, h):
    """Take one corrected SGD step, y <- y - eta_l (g - c_i + c) (line 10)."""
    for j in range(y.size):
        y[j] -= h.eta_l * (g[j] - state.c_i[i, j] + state.c[j])  # line 10


@jit
def local_end(state, i, s, y, local, h):
    """Compute the next variate under option II (line 12); a client without a step keeps its
    variate."""
    for j in range(y.size):
        if s == 0:
            local.c_plus[j] = state.c_i[i, j]
        elif h.option == 0:  # line 12, option II
            local.c_plus[j] = state.c_i[i, j] - state.c[j] + (state.x[j] - y[j]) / (s * h.eta_l)


@jit
def weigh_memory(p, memory, mean):
    """Compute mean = sum_i p_i memory_i anew in a round whose weights differ from those of the
    round before (p[0] is not 0); in other rounds `mean` stays."""
    if p[0] != 0.0:
        for j in range(mean.size):
            mean[j] = 0.0
            for i in range(1, p.size):
                mean[j] += p[i] * memory[i, j]


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Add the cohort's mean change to x, and renew the cohort's variates and their mean (lines
    16-17)."""
    x, c, c_i, change = state.x, state.c, state.c_i, np.zeros(state.x.size)
    S, N = cohort.size, p.size - 1
    for s in range(S):
        i = cohort[s]
        for j in range(x.size):
            change[j] += N * p[i] * (y[s, j] - x[j])
            c[j] += p[i] * (
                local.c_plus[s, j] - c_i[i, j]
            )  # line 17: c + (S/N) mean of the changes
            c_i[i, j] = local.c_plus[s, j]
    for j in range(x.size):
        x[j] += h.eta_g * change[j] / S
    weigh_memory(p, c_i, c)


def _first_option(h: Any) -> bool:
    return h.option == 1


ALGORITHM = Algorithm(
    "scaffold",
    "Karimireddy et al. 2020, algorithm 1",
    Hyper,
    init,
    local_step,
    aggregate,
    local_start=local_start,
    local_end=local_end,
    local=local,
    client_grad=_first_option,
    memory=True,
    meaning="control variates against client drift",
)
