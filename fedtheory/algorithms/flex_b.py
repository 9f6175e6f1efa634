"""Scheme B of flexible participation (flex, section 4.1): incomplete work counts without rescaling,
p_tau^k = p^k.

The server's point moves by (2), w^G <- w^G + sum_k p^k (w^k - w^G), where w^k is where device k
stands after its s_tau^k steps (1).
"""

import numpy as np

from fedtheory.algorithms._flex import add_changes, make_scheme
from fedtheory.jit import jit


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Move x by the first line of (2) with p_tau^k = p^k."""
    coefficient = np.empty(cohort.size)
    for s in range(cohort.size):
        coefficient[s] = p[cohort[s]]
    add_changes(state.x, coefficient, y)


ALGORITHM = make_scheme(
    "flex_b", aggregate, "FedAvg that takes incomplete work at fixed coefficients"
)
