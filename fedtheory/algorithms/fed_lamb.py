"""FED-LAMB: layerwise and dimensionwise local adaptivity (lamb, algorithm 1).

In layer l of client i's model theta, each of T steps from the server's point does

    m <- beta_1 m + (1 - beta_1) g,   v <- beta_2 v + (1 - beta_2) g^2,                  lines 9-10
    p = (m / (1 - beta_1^t)) / (sqrt(v_hat) + epsilon),   u = p + lambda theta,             line 11
    theta_l <- theta_l - alpha phi(||theta_l||) u_l / ||u_l||;                               line 13

the server then averages theta (line 15), and v_hat <- max(v_hat, mean_i v_i) (line 16).

Readings of the listing:
- Line 8 says "at theta^0"; the gradient is taken at theta^(t-1), or T steps would repeat one.
- m starts a round at 0: line 9 counts t from the round's start. The proof ((8)-(11)) carries m from
  round to round instead: `momentum` "kept".
- v starts a round at v_hat (line 6), so v^t is a mean of v_hat and squares with weights that add up
  to 1; v / (1 - beta_2^t) would multiply v_hat by 1 / (1 - beta_2) a round. So only m, which starts
  at 0, is corrected, and in a copy ("m"). "copies" corrects a copy of both, the v sent to the
  server included; "overwrite" is the listing to the letter, corrected values entering the next
  step; "none" is the proof.
- Line 11 divides by sqrt(v_hat_r^t), which no line defines. "round": v_hat as the server sent it,
  fixed during the round, as in local AMSGrad. "local": max(v_hat, v^t).
- Line 16 defines v_hat_{r+1} from v_hat_r, but line 6 uses v_hat_{r-1} and nothing defines v_hat_1:
  round r starts from v_hat_{r-1} and ends with v_hat_r = max(v_hat_{r-1}, mean v^T).
- Means are over the cohort D^r: with 1/n, n > |D^r|, the point would shrink. "plain" counts each
  client once, as (1) does; "samples" by its weight in F.
- A layer of zero weights never moves under phi = identity, as phi(0) = 0; "clipped" (H4) lets it.
  Where p + lambda theta = 0 there is no direction, and the layer rests.

One step thus moves a layer by exactly alpha phi(||theta||), whatever the gradients.
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
from fedtheory.errors import refuse
from fedtheory.jit import jit

M_ONLY, COPIES, OVERWRITE, PLAIN = range(4)


class Hyper(NamedTuple):
    """The hyper-parameters; words choose between the readings of the listing."""

    alpha: float = nonnegative("step size of a client")
    beta_1: float = fraction("decay of the first moment", 0.9)
    beta_2: float = fraction("decay of the second moment", 0.999)
    epsilon: float = positive("the first v_hat, and what is added to the root", 1e-8)._replace(
        fixed=True
    )
    lambda_: float = nonnegative("weight decay", 0.0)
    T: int = count("local steps of a client", 1)
    phi: int = choice("the scale of a layer's step, of its norm", "identity", "clipped")
    phi_m: float = positive("least scale, where clipped", 0.01)
    phi_M: float = positive("largest scale, where clipped", 10.0)
    momentum: int = choice("a client's m between rounds", "reset", "kept")
    bias_correction: int = choice(
        "what is divided by 1 - beta^t", "m", "copies", "overwrite", "none"
    )
    denominator: int = choice("the v_hat of a step", "round", "local")
    weighting: int = choice("what a client counts: 1, or its weight p_i", "plain", "samples")


class State(NamedTuple):
    """The server's model and v_hat, and each client's momentum where clients keep it."""

    x: np.ndarray  # (d,) global model
    v_hat: np.ndarray  # (d,) shared second moment
    m: np.ndarray  # (N + 1, d) clients' momentum where kept, else unused
    layers: np.ndarray  # (h + 1,) where layers start, and d


class Local(NamedTuple):
    """The moments and the update of one client during a round."""

    m: np.ndarray  # (d,)
    v: np.ndarray  # (d,)
    u: np.ndarray  # (d,) p + lambda theta
    powers: np.ndarray  # (2,) beta_1^t, beta_2^t


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round: v_hat = epsilon, m = 0."""
    d = x_0.size
    return State(
        x_0.copy(), np.full(d, h.epsilon), np.zeros((N + 1 if h.momentum else 1, d)), layers.copy()
    )


def local(d: int, layers: np.ndarray, h: Any) -> Any:
    """Return a client's empty memory for a round."""
    return Local(np.zeros(d), np.zeros(d), np.zeros(d), np.ones(2))


def check(h: Any, N: int, S: int) -> None:
    """Refuse phi_m > phi_M: H4 needs phi_m <= phi <= phi_M."""
    if h.phi_m > h.phi_M:
        refuse("phi_m", f"must be <= phi_M = {h.phi_M:g} (lamb, H4)", h.phi_m)


@jit
def local_start(state, i, y, g, local, h):
    """Start a client at the server's model with v = v_hat (lines 5-6), and m = 0 or the kept m."""
    copy_vector(state.x, y)  # line 5
    copy_vector(state.v_hat, local.v)  # line 6
    fill_vector(local.powers, 1.0)
    if h.momentum == 1:
        copy_vector(state.m[i], local.m)
    else:
        fill_vector(local.m, 0.0)


@jit
def layer_scale(norm, kind, low, high):
    """Return phi(norm): the norm itself where `kind` is 0, else the norm clipped to [low, high]."""
    return norm if kind == 0 else min(max(norm, low), high)


@jit
def local_step(state, i, k, y, g, local, h):
    """Take one step (lines 9-13): moments of the gradient, then a step of length alpha
    phi(||theta||) in every layer."""
    m, v, u = local.m, local.v, local.u
    local.powers[0] *= h.beta_1
    local.powers[1] *= h.beta_2
    first, second = 1.0 - local.powers[0], 1.0 - local.powers[1]
    for j in range(y.size):
        m[j] = h.beta_1 * m[j] + (1.0 - h.beta_1) * g[j]  # line 9
        v[j] = h.beta_2 * v[j] + (1.0 - h.beta_2) * g[j] * g[j]  # line 10
        if h.bias_correction == OVERWRITE:
            m[j] /= first
            v[j] /= second
        p = m[j] / first if h.bias_correction <= COPIES else m[j]
        own = v[j] / second if h.bias_correction == COPIES else v[j]
        v_hat = max(state.v_hat[j], own) if h.denominator == 1 else state.v_hat[j]
        u[j] = nan_where_overflowed(
            p / (np.sqrt(v_hat) + h.epsilon) + h.lambda_ * y[j], v[j]
        )  # line 11
    for layer in range(state.layers.size - 1):
        low, high = state.layers[layer], state.layers[layer + 1]
        weights = 0.0
        update = 0.0
        for j in range(low, high):
            weights += y[j] * y[j]
            update += u[j] * u[j]
        if update != 0.0:  # true for NaN, which must not pass for a layer at rest
            size = (
                h.alpha * layer_scale(np.sqrt(weights), h.phi, h.phi_m, h.phi_M) / np.sqrt(update)
            )
            for j in range(low, high):
                y[j] -= size * u[j]  # line 13


@jit
def local_end(state, i, s, y, local, h):
    """Correct the v that is sent to the server, under "copies" alone."""
    if h.bias_correction == COPIES and s > 0:
        for j in range(y.size):
            local.v[j] /= 1.0 - local.powers[1]


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Average models over the cohort (line 15), and let v_hat grow to the averaged v (line 16)."""
    share, v_hat, grown = of_cohort(cohort, p, h.weighting), state.v_hat, state.v_hat.copy()
    mean_point(y, share, state.x)  # line 15
    mean_point(local.v, share, grown)
    for j in range(v_hat.size):
        v_hat[j] = max(v_hat[j], grown[j])  # line 16
    if h.momentum == 1:
        for s in range(cohort.size):
            copy_vector(local.m[s], state.m[cohort[s]])


ALGORITHM = Algorithm(
    "fed_lamb",
    "lamb, algorithm 1",
    Hyper,
    init,
    local_step,
    aggregate,
    local_start=local_start,
    local_end=local_end,
    local=local,
    steps="T",
    memory=True,
    check=check,
    meaning="local steps of equal relative length in every layer, adaptive in each dimension",
)
