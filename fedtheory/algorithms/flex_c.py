"""Scheme C of flexible participation (flex, section 4.1): incomplete work is scaled up, p_tau^k =
(E / s) p^k.

The server's point moves by (2), w^G <- w^G + sum_k (E / s_tau^k) p^k (w^k - w^G), where w^k is
where device k stands after its s_tau^k steps (1); a device without a step counts 0.
"""

import numpy as np

from fedtheory.algorithms._flex import add_changes, make_scheme
from fedtheory.jit import jit


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Move x by the first line of (2) with p_tau^k = (E / s_tau^k) p^k, 0 for an inactive device."""
    coefficient = np.zeros(cohort.size)
    for s in range(cohort.size):
        if work[s] > 0:  # p_tau^k = 0 for an inactive device
            coefficient[s] = p[cohort[s]] * h.E / work[s]
    add_changes(state.x, coefficient, y)


ALGORITHM = make_scheme("flex_c", aggregate, "FedAvg that scales incomplete work up")
