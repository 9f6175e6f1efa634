"""Mixed FL by parallel training (PT; mixed, algorithm 1 without its purple lines).

A round of FedAvg on f_f and K central steps on f_c start from the same x; their deltas are added.
Under SGD:

    y_i <- y_i - eta g_i(y_i), K times from x;   x_f = x + eta_s mean_i (y_i - x);
    x_c <- x_c - eta_c g_c(x_c), K times from x;   x <- x + eta_m ((x_f - x) + (x_c - x)).

Readings of the listing:
- x_c^(t,J) is the end of the K central steps: J is K, of which the paper knows no other.
- Client and server optimisers are given t, not k. CLIENTOPT starts each round afresh, for clients
  are stateless; SERVEROPT and MERGEOPT remember. CENTRALOPT forgets too unless `central_memory` is
  "kept": the analysis takes f_c for one of two like meta-clients, and so A.3 (K = 1) stays true
  under momentum.
- p_i counts samples, hence steps where batches are equal ("steps"); where they are proportional to
  the client's data, steps times the client's weight ("samples").
- A cohort that did no step at all (0/0 in the listing) sends a zero change.
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
from fedtheory.jit import jit

SERVER, CENTRAL, MERGE = range(3)  # rows of the optimisers' memory


class Hyper(NamedTuple):
    """The hyper-parameters; the four optimisers share their betas and epsilon."""

    eta: float = nonnegative("step size of a client")
    eta_s: float = nonnegative("step size of the server", 1.0)
    eta_c: float = nonnegative(
        "step size of the central steps; eta eta_s puts both losses on one scale"
    )
    eta_m: float = nonnegative("step size of the merge", 1.0)
    K: int = count("local steps of a client, and central steps", 1)
    client_opt: int = choose_optimizer("CLIENTOPT")
    server_opt: int = choose_optimizer("SERVEROPT")
    central_opt: int = choose_optimizer("CENTRALOPT")
    merge_opt: int = choose_optimizer("MERGEOPT")
    beta_1: float = fraction("decay of momentum, and of Adam's first moment", 0.9)
    beta_2: float = fraction("decay of Adam's second moment", 0.999)
    epsilon: float = positive("what Adam adds to the root", 1e-8)
    bias_correction: int = choice(
        "whether Adam divides out the bias of its start at zero", "yes", "no"
    )
    central_memory: int = choice("CENTRALOPT's memory when a round ends", "reset", "kept")
    weighting: int = choice("what a client counts, by its steps or its samples", "steps", "samples")


class State(NamedTuple):
    """The global, central and federated model, and the memory of three optimisers."""

    x: np.ndarray  # (d,) global model
    w: np.ndarray  # (d,) central model x_c
    x_f: np.ndarray  # (d,) federated model
    u: np.ndarray  # (d,) what an optimiser is about to take for a gradient
    m: np.ndarray  # (3, d) memory of SERVEROPT, CENTRALOPT, MERGEOPT
    v: np.ndarray  # (3, d)
    powers: np.ndarray  # (3, 2)


class Local(NamedTuple):
    """The memory of CLIENTOPT at one client during a round."""

    m: np.ndarray  # (d,) memory of CLIENTOPT
    v: np.ndarray  # (d,)
    powers: np.ndarray  # (2,)


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round."""
    d = x_0.size
    return State(
        x_0.copy(),
        x_0.copy(),
        x_0.copy(),
        np.zeros(d),
        np.zeros((3, d)),
        np.zeros((3, d)),
        np.ones((3, 2)),
    )


def local(d: int, layers: np.ndarray, h: Any) -> Any:
    """Return a client's empty memory for a round."""
    return Local(np.zeros(d), np.zeros(d), np.ones(2))


@jit
def begin(state, t, g, h):
    """Start the central model at x^(t), with an empty CENTRALOPT unless its memory is kept."""
    copy_vector(state.x, state.w)  # x_c^(t,0) = x^(t)
    if h.central_memory == 0:
        reset_optimizer(state.m[CENTRAL], state.v[CENTRAL], state.powers[CENTRAL])


@jit
def local_start(state, i, y, g, local, h):
    """Start a client at x, with an empty CLIENTOPT."""
    copy_vector(state.x, y)
    reset_optimizer(local.m, local.v, local.powers)


@jit
def local_step(state, i, k, y, g, local, h):
    """Take one step of CLIENTOPT on f_i."""
    take_mixed_step(h.client_opt, y, g, h.eta, local.m, local.v, local.powers, h)


@jit
def weigh_clients(cohort, work, p, weighting):
    """Return the paper's p_i of each client of the cohort: its number of steps done ("steps"), or
    that number times the client's weight ("samples")."""
    weight = np.empty(cohort.size)
    for s in range(cohort.size):
        weight[s] = work[s] * p[cohort[s]] if weighting == 1 else work[s]
    return weight


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Compute the federated model: one step of SERVEROPT against minus the cohort's mean change."""
    mean_change(state.x, y, normalise_weights(weigh_clients(cohort, work, p, h.weighting)), state.u)
    copy_vector(state.x, state.x_f)
    take_mixed_step(
        h.server_opt,
        state.x_f,
        state.u,
        h.eta_s,
        state.m[SERVER],
        state.v[SERVER],
        state.powers[SERVER],
        h,
    )


@jit
def server_step(state, k, g, h):
    """Take one step of CENTRALOPT on f_c."""
    take_mixed_step(
        h.central_opt,
        state.w,
        g,
        h.eta_c,
        state.m[CENTRAL],
        state.v[CENTRAL],
        state.powers[CENTRAL],
        h,
    )


@jit
def end(state, h):
    """Merge: take one step of MERGEOPT against minus the sum of both deltas."""
    x, u = state.x, state.u
    for j in range(x.size):
        u[j] = (x[j] - state.w[j]) + (x[j] - state.x_f[j])  # -Delta = -(Delta_c + Delta_f)
    take_mixed_step(
        h.merge_opt, x, u, h.eta_m, state.m[MERGE], state.v[MERGE], state.powers[MERGE], h
    )


ALGORITHM = Algorithm(
    "parallel_training",
    "mixed, algorithm 1",
    Hyper,
    init,
    local_step,
    aggregate,
    begin=begin,
    local_start=local_start,
    server_step=server_step,
    end=end,
    local=local,
    server_steps="K",
    server=True,
    meaning="FedAvg and central training side by side, their deltas added",
)
