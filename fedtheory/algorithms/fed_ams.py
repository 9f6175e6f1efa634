"""Fed-AMS: local AMSGrad with periodic averaging (Chen, Li and Li 2020; the baseline of lamb).

Client i takes T steps from x with its own m_i and v_i under a shared v_hat, fixed during a round;
v_hat then grows to the mean of the clients' v_i, where that mean is larger:

    m_i <- beta_1 m_i + (1 - beta_1) g,   v_i <- beta_2 v_i + (1 - beta_2) g^2,
    y_i <- y_i - alpha m_i / sqrt(v_hat);
    x <- mean_i y_i,   v_hat <- max(v_hat, mean_i v_i).

In Chen et al. each client keeps its m and v from round to round ("kept"; a client that rests keeps
both too). In lamb's algorithm 1 without its layers, m starts a round at 0 and v at v_hat ("reset").
The first v_hat is epsilon, so the first round's steps are alpha m / sqrt(epsilon): hence no
default.
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, choice, count, fraction, nonnegative, positive
from fedtheory.algorithms._optimizers import (
    copy_vector,
    fill_vector,
    mean_point,
    nan_where_overflowed,
    of_cohort,
)
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters; `epsilon` is the start of v_hat, not an addition to the root."""

    alpha: float = nonnegative("step size of a client")
    epsilon: float = positive("the first v_hat, which scales the first round's steps")._replace(
        fixed=True
    )
    beta_1: float = fraction("decay of the first moment", 0.9)
    beta_2: float = fraction("decay of the second moment", 0.999)
    T: int = count("local steps of a client", 1)
    moments: int = choice("a client's m and v between rounds", "kept", "reset")
    weighting: int = choice("what a client counts: 1, or its weight p_i", "plain", "samples")


class State(NamedTuple):
    """The server's point and v_hat, and the moments of each client."""

    x: np.ndarray  # (d,) server point
    v_hat: np.ndarray  # (d,) shared second moment
    m: np.ndarray  # (N + 1, d) clients' moments where kept, else unused
    v: np.ndarray  # (N + 1, d), of a client that has taken part
    met: np.ndarray  # (N + 1,) 1 for a client that has taken part: its first v is epsilon


class Local(NamedTuple):
    """The moments of one client during a round."""

    m: np.ndarray  # (d,)
    v: np.ndarray  # (d,)


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round: v_hat = epsilon, no client has taken part."""
    d = x_0.size
    rows = 1 if h.moments else N + 1
    return State(
        x_0.copy(), np.full(d, h.epsilon), np.zeros((rows, d)), np.zeros((rows, d)), np.zeros(rows)
    )


def local(d: int, layers: np.ndarray, h: Any) -> Any:
    """Return a client's empty memory for a round."""
    return Local(np.zeros(d), np.zeros(d))


@jit
def local_start(state, i, y, g, local, h):
    """Start a client at x, with the moments of its last round ("kept") or with m = 0, v = v_hat
    ("reset")."""
    copy_vector(state.x, y)
    if h.moments == 0:
        copy_vector(state.m[i], local.m)
        if state.met[i] == 0.0:
            fill_vector(local.v, h.epsilon)
        else:
            copy_vector(state.v[i], local.v)
    else:
        fill_vector(local.m, 0.0)
        copy_vector(state.v_hat, local.v)


@jit
def local_step(state, i, k, y, g, local, h):
    """Take one step of local AMSGrad with the shared v_hat."""
    m, v = local.m, local.v
    for j in range(y.size):
        m[j] = h.beta_1 * m[j] + (1.0 - h.beta_1) * g[j]
        v[j] = h.beta_2 * v[j] + (1.0 - h.beta_2) * g[j] * g[j]
        y[j] -= nan_where_overflowed(h.alpha * m[j] / np.sqrt(state.v_hat[j]), v[j])


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Average points and second moments over the cohort, and let v_hat grow to the averaged v."""
    share, v_hat, grown = of_cohort(cohort, p, h.weighting), state.v_hat, state.v_hat.copy()
    mean_point(y, share, state.x)
    mean_point(local.v, share, grown)
    for j in range(v_hat.size):
        v_hat[j] = max(v_hat[j], grown[j])
    if h.moments == 0:
        for s in range(cohort.size):
            copy_vector(local.m[s], state.m[cohort[s]])
            copy_vector(local.v[s], state.v[cohort[s]])
            state.met[cohort[s]] = 1.0


ALGORITHM = Algorithm(
    "fed_ams",
    "Chen, Li and Li 2020, local AMSGrad",
    Hyper,
    init,
    local_step,
    aggregate,
    local_start=local_start,
    local=local,
    steps="T",
    memory=True,
    meaning="local AMSGrad and averaging",
)
