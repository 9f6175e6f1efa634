"""Scheme C of flexible participation (flex, section 4.1): incomplete work is scaled up, p_tau^k =
(E / s) p^k."""

import numpy as np

from fedtheory.algorithms._flex import add_changes, scheme
from fedtheory.jit import jit


@jit
def aggregate(state, cohort, work, p, y, local, h):
    coefficient = np.zeros(cohort.size)
    for s in range(cohort.size):
        if work[s] > 0:  # p_tau^k = 0 for an inactive device
            coefficient[s] = p[cohort[s]] * h.E / work[s]
    add_changes(state.x, coefficient, y)


ALGORITHM = scheme("flex_c", aggregate, "FedAvg that scales incomplete work up")
