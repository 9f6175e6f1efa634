"""Scheme A of flexible participation (flex, section 4.1): only devices that complete all E steps
count.

After K steps w^k <- w^k - eta g^k of (1), the server's point moves by (2),

    w^G <- w^G + sum_k p_tau^k (w^k - w^G),   p_tau^k = (N p^k / K_tau) q_tau^k,

with q_tau^k = 1 for the K_tau devices that completed E steps, else 0.
"""

import numpy as np

from fedtheory.algorithms._flex import add_changes, make_scheme
from fedtheory.jit import jit


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Move x by the first line of (2) with p_tau^k = (N p^k / K_tau) q_tau^k; a round with K_tau =
    0 is discarded. Devices that F does not include count neither in N nor in K_tau."""
    q = np.zeros(cohort.size)
    N, K_tau = 0, 0
    for s in range(cohort.size):
        if p[cohort[s]] > 0.0:
            N += 1
            if work[s] == h.E:
                K_tau += 1
                q[s] = p[cohort[s]]
    if K_tau == 0:
        return  # the round is discarded
    for s in range(q.size):
        q[s] *= N / K_tau
    add_changes(state.x, q, y)


ALGORITHM = make_scheme("flex_a", aggregate, "FedAvg that drops incomplete work")
