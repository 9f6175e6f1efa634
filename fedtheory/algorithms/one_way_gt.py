"""Mixed FL by 1-way gradient transfer (mixed, algorithm 2).

One gradient of f_c, taken at x^(t), joins every client gradient of the round; under SGD

    y_i <- y_i - eta (g_i(y_i) + g_c), K times from x;   x <- x + eta_s mean_i (y_i - x),

with g_c = g_c(x^(t)). The server's steps are those of its optimiser alone. Readings as in
parallel_training.py.
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, choice, count, fraction, nonnegative, positive
from fedtheory.algorithms._optimizers import (
    choose_optimizer,
    copy_vector,
    mean_change,
    normalise_weights,
    reset_optimizer,
    take_mixed_step,
)
from fedtheory.algorithms.parallel_training import weigh_clients
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters; CLIENTOPT and SERVEROPT share their betas and epsilon."""

    eta: float = nonnegative("step size of a client")
    eta_s: float = nonnegative("step size of the server", 1.0)
    K: int = count("local steps of a client", 1)
    client_opt: int = choose_optimizer("CLIENTOPT")
    server_opt: int = choose_optimizer("SERVEROPT")
    beta_1: float = fraction("decay of momentum, and of Adam's first moment", 0.9)
    beta_2: float = fraction("decay of Adam's second moment", 0.999)
    epsilon: float = positive("what Adam adds to the root", 1e-8)
    bias_correction: int = choice(
        "whether Adam divides out the bias of its start at zero", "yes", "no"
    )
    weighting: int = choice("what a client counts, by its steps or its samples", "steps", "samples")


class State(NamedTuple):
    """The server's point, the transferred gradient, and the memory of SERVEROPT."""

    x: np.ndarray  # (d,) global model
    g_c: np.ndarray  # (d,) augmenting gradient
    u: np.ndarray  # (d,) what SERVEROPT is about to take for a gradient
    m: np.ndarray  # (d,) memory of SERVEROPT
    v: np.ndarray  # (d,)
    powers: np.ndarray  # (2,)


class Local(NamedTuple):
    """The memory of CLIENTOPT at one client during a round."""

    u: np.ndarray  # (d,) augmented gradient
    m: np.ndarray  # (d,) memory of CLIENTOPT
    v: np.ndarray  # (d,)
    powers: np.ndarray  # (2,)


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round."""
    d = x_0.size
    return State(x_0.copy(), np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d), np.ones(2))


def local(d: int, layers: np.ndarray, h: Any) -> Any:
    """Return a client's empty memory for a round."""
    return Local(np.zeros(d), np.zeros(d), np.zeros(d), np.ones(2))


@jit
def begin(state, t, g, h):
    """Take the gradient of f_c at x^(t), for all clients of the round."""
    copy_vector(g, state.g_c)  # g_c at x^(t), for the whole round


@jit
def local_start(state, i, y, g, local, h):
    """Start a client at x, with an empty CLIENTOPT."""
    copy_vector(state.x, y)
    reset_optimizer(local.m, local.v, local.powers)


@jit
def local_step(state, i, k, y, g, local, h):
    """Take one step of CLIENTOPT on the client's gradient plus the transferred one."""
    for j in range(y.size):
        local.u[j] = g[j] + state.g_c[j]
    take_mixed_step(h.client_opt, y, local.u, h.eta, local.m, local.v, local.powers, h)


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Take one step of SERVEROPT against minus the cohort's mean change."""
    mean_change(state.x, y, normalise_weights(weigh_clients(cohort, work, p, h.weighting)), state.u)
    take_mixed_step(h.server_opt, state.x, state.u, h.eta_s, state.m, state.v, state.powers, h)


ALGORITHM = Algorithm(
    "one_way_gt",
    "mixed, algorithm 2",
    Hyper,
    init,
    local_step,
    aggregate,
    begin=begin,
    local_start=local_start,
    local=local,
    server_grad=True,
    server=True,
    meaning="clients add one gradient of the central loss to their own",
)
