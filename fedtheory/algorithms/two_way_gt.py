"""Mixed FL by 2-way gradient transfer (mixed, algorithm 1 with its purple lines).

Parallel training in which each side adds the other's gradient of the round before; under SGD

    y_i <- y_i - eta (g_i(y_i) + g~_c), K times from x;
    x_c <- x_c - eta_c (g_c(x_c) + g~_f), K times from x;

then the deltas are added, and g~_c, g~_f become the average gradients of f_c and f_f over these
steps. Readings, beside those of parallel_training.py:
- g~_c and g~_f of the next round are to be average gradients of f_c and f_f over this round's steps
  (A.2). The listing recovers them from deltas, which is right for SGD only, and divides Delta_c by
  eta, the client's rate, although CENTRALOPT stepped with eta_c. `transfer` "gradients" averages
  the gradients themselves, whatever the optimisers; "deltas" is (8)-(10) by the rate used, equal to
  "gradients" under SGD; "listing" divides by eta. All three share their fixed points (the sum g~_c
  + g~_f vanishes there); only the first two agree on the way where eta_c differs from eta.
- The initial g~_c, g~_f are inputs of the listing: zero here. A first round with eta = eta_c = 0
  (both take schedules) moves nothing and leaves the exact gradients at x^(0), under "gradients".
- A cohort that did no step, or a rate of zero under the other two words, carries no gradient: the
  last ones stay.
"""

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, choice
from fedtheory.algorithms import parallel_training as pt
from fedtheory.algorithms._optimizers import (
    copy_vector,
    fill_vector,
    normalise_weights,
    reset_optimizer,
    take_mixed_step,
)
from fedtheory.algorithms.parallel_training import weigh_clients
from fedtheory.jit import jit
from fedtheory.typing import Number

GRADIENTS, DELTAS, LISTING = range(3)
CENTRAL = pt.CENTRAL
pt_aggregate, pt_end = pt.aggregate, pt.end


# Parallel training's, and one more.
Hyper = namedtuple(  # type: ignore[misc]
    "Hyper",
    [*pt.Hyper._fields, "transfer"],
    defaults=[
        *pt.Hyper._field_defaults.values(),
        choice("where the transferred gradients come from", "gradients", "deltas", "listing"),
    ],
)


class State(NamedTuple):
    """The models and optimisers of parallel training, and the transferred gradients."""

    x: np.ndarray  # (d,) global model
    w: np.ndarray  # (d,) central model x_c
    x_f: np.ndarray  # (d,) federated model
    u: np.ndarray  # (d,) what an optimiser is about to take for a gradient
    m: np.ndarray  # (3, d) memory of SERVEROPT, CENTRALOPT, MERGEOPT
    v: np.ndarray  # (3, d)
    powers: np.ndarray  # (3, 2)
    g_c: np.ndarray  # (d,) augmenting centralized gradient, for clients
    g_f: np.ndarray  # (d,) augmenting federated gradient, for the central steps
    next_f: np.ndarray  # (d,) g_f of the next round: this round's central steps need the old one
    total_c: np.ndarray  # (d,) sum of the round's central gradients


class Local(NamedTuple):
    """The memory of CLIENTOPT at one client, and the sum of the client's gradients."""

    m: np.ndarray  # (d,) memory of CLIENTOPT
    v: np.ndarray  # (d,)
    powers: np.ndarray  # (2,)
    u: np.ndarray  # (d,) augmented gradient
    total: np.ndarray  # (d,) sum of the round's gradients of the client's own loss


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round: both transferred gradients are zero."""
    zeros = [np.zeros(x_0.size) for _ in range(4)]
    return State(*pt.init(x_0, N, layers, h), *zeros)


def local(d: Number, layers: Number, h: Any) -> Any:
    """Return a client's empty memory for a round."""
    return Local(*pt.local(d, layers, h), np.zeros(d), np.zeros(d))


@jit
def begin(state, t, g, h):
    """Start the central model at x^(t), with an empty CENTRALOPT unless its memory is kept."""
    copy_vector(state.x, state.w)  # x_c^(t,0) = x^(t)
    fill_vector(state.total_c, 0.0)
    if h.central_memory == 0:
        reset_optimizer(state.m[CENTRAL], state.v[CENTRAL], state.powers[CENTRAL])


@jit
def local_start(state, i, y, g, local, h):
    """Start a client at x, with an empty CLIENTOPT and an empty sum of gradients."""
    copy_vector(state.x, y)
    fill_vector(local.total, 0.0)
    reset_optimizer(local.m, local.v, local.powers)


@jit
def local_step(state, i, k, y, g, local, h):
    """Take one step of CLIENTOPT on f_i's gradient plus g~_c, and add the former to the round's
    sum."""
    for j in range(y.size):
        local.total[j] += g[j]
        local.u[j] = g[j] + state.g_c[j]
    take_mixed_step(h.client_opt, y, local.u, h.eta, local.m, local.v, local.powers, h)


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Compute the federated model as parallel training does, and the next g~_f (10)."""
    pt_aggregate(state, cohort, work, p, y, local, h)
    # (10): sum_i (gradients of i) / sum_i K_i, each client weighed as in the aggregation.
    x, g_f = state.x, state.next_f
    share = normalise_weights(weigh_clients(cohort, work, p, h.weighting))
    known = False
    for s in range(cohort.size):
        known = known or share[s] > 0.0 and (h.transfer == GRADIENTS or h.eta > 0.0)
    if not known:
        copy_vector(state.g_f, g_f)
        return
    for j in range(x.size):
        g_f[j] = 0.0 if h.transfer == GRADIENTS else -state.g_c[j]
    for s in range(cohort.size):
        if share[s] > 0.0:
            for j in range(x.size):
                if h.transfer == GRADIENTS:
                    g_f[j] += share[s] * local.total[s, j] / work[s]
                else:
                    g_f[j] += share[s] * (x[j] - y[s, j]) / (h.eta * work[s])


@jit
def server_step(state, k, g, h):
    """Take one step of CENTRALOPT on f_c's gradient plus g~_f, and add the former to the round's
    sum."""
    for j in range(g.size):
        state.total_c[j] += g[j]
        state.u[j] = g[j] + state.g_f[j]
    take_mixed_step(
        h.central_opt,
        state.w,
        state.u,
        h.eta_c,
        state.m[CENTRAL],
        state.v[CENTRAL],
        state.powers[CENTRAL],
        h,
    )


@jit
def end(state, h):
    """Compute the next g~_c, and merge both models as parallel training does."""
    rate = h.eta if h.transfer == LISTING else h.eta_c
    for j in range(state.x.size):
        if h.transfer == GRADIENTS:
            state.g_c[j] = state.total_c[j] / h.K
        elif rate > 0.0:
            state.g_c[j] = (state.x[j] - state.w[j]) / (rate * h.K) - state.g_f[j]
    copy_vector(state.next_f, state.g_f)
    pt_end(state, h)


ALGORITHM = Algorithm(
    "two_way_gt",
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
    meaning="parallel training in which each side adds the other's last gradient",
)
