"""Scheme B of flexible participation (flex, section 4.1): incomplete work counts without rescaling,
p_tau^k = p^k."""

import numpy as np

from fedtheory.algorithms._flex import add_changes, scheme
from fedtheory.jit import jit


@jit
def aggregate(state, cohort, work, p, y, local, h):
    coefficient = np.empty(cohort.size)
    for s in range(cohort.size):
        coefficient[s] = p[cohort[s]]
    add_changes(state.x, coefficient, y)


ALGORITHM = scheme("flex_b", aggregate, "FedAvg that takes incomplete work at fixed coefficients")
