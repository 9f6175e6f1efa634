"""FedAdam: local SGD at clients, and Adam at the server (Reddi et al. 2020, algorithm 2).

The cohort's mean change is Adam's gradient, negated:

    y_i <- y_i - eta_l g_i(y_i), K times from x;   Delta = mean_i (y_i - x);
    m <- beta_1 m + (1 - beta_1) Delta,   v <- beta_2 v + (1 - beta_2) Delta^2;
    x <- x + eta m / (sqrt(v) + tau).

The paper's Adam has no bias correction and starts from v_{-1} >= tau^2, here with equality. With
`bias_correction` "yes" it is Kingma and Ba's, which starts from v = 0.
"""

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm, choice, count, fraction, nonnegative, positive
from fedtheory.algorithms._optimizers import ADAM, mean_change, of_cohort, take_step
from fedtheory.algorithms.fedavg import local_sgd_step
from fedtheory.jit import jit


class Hyper(NamedTuple):
    """The hyper-parameters, in the letters of Reddi et al.; eta is the server's step."""

    eta_l: float = nonnegative("step size of a client")
    eta: float = nonnegative("step size of the server")
    beta_1: float = fraction("decay of the first moment", 0.9)
    beta_2: float = fraction("decay of the second moment", 0.99)
    tau: float = positive("adaptivity: what is added to the root", 1e-3)._replace(fixed=True)
    K: int = count("local steps of a client", 1)
    bias_correction: int = choice("whether to divide out the bias of a start at zero", "no", "yes")
    weighting: int = choice("what a client counts: 1, or its weight p_i", "plain", "samples")


class State(NamedTuple):
    """The server's point, and Adam's moments."""

    x: np.ndarray  # (d,) server point
    u: np.ndarray  # (d,) minus the cohort's change
    m: np.ndarray  # (d,)
    v: np.ndarray  # (d,)
    powers: np.ndarray  # (2,) beta_1^t, beta_2^t


def init(x_0: np.ndarray, N: int, layers: np.ndarray, h: Any) -> Any:
    """Return the state before the first round: m = 0, and v = tau^2, or 0 with bias correction."""
    d = x_0.size
    return State(
        x_0.copy(),
        np.zeros(d),
        np.zeros(d),
        np.full(d, 0.0 if h.bias_correction else h.tau**2),
        np.ones(2),
    )


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Take one step of Adam against minus the cohort's mean change."""
    # the paper's Delta_t, negated: the step below descends
    mean_change(state.x, y, of_cohort(cohort, p, h.weighting), state.u)
    take_step(
        ADAM,
        state.x,
        state.u,
        h.eta,
        state.m,
        state.v,
        state.powers,
        h.beta_1,
        h.beta_2,
        h.tau,
        h.bias_correction == 1,
    )


ALGORITHM = Algorithm(
    "fedadam",
    "Reddi et al. 2020, algorithm 2",
    Hyper,
    init,
    local_sgd_step,
    aggregate,
    meaning="local SGD, and Adam on the server",
)
