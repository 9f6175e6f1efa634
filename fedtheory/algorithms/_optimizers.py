"""SGD, momentum and Adam, one step each: the CLIENTOPT, SERVEROPT, CENTRALOPT and MERGEOPT of mixed
FL.

An optimiser remembers m and v, shaped like the point, and `powers`, the pair beta_1^t, beta_2^t of
its t steps so far. A server's optimiser takes minus the aggregated change for a gradient (mixed,
algorithm 1), so that SGD of size 1 gives FedAvg.
"""

import numpy as np

from fedtheory.algorithm import choice
from fedtheory.jit import jit

SGD, MOMENTUM, ADAM = range(3)


def optimizer(meaning):
    return choice(meaning, "sgd", "momentum", "adam")


# Loops, not slices: Numba's broadcasting costs a second of compilation.
@jit
def copy(a, to):
    for j in range(a.size):
        to[j] = a[j]


@jit
def fill(a, value):
    for j in range(a.size):
        a[j] = value


@jit
def forget(m, v, powers):
    fill(m, 0.0)
    fill(v, 0.0)
    fill(powers, 1.0)


@jit
def moving(change, v):
    """A change that was divided by the root of v; no number where v overflowed, for there it would
    be 0 for ever after, and a method that is lost would pass for one that has arrived."""
    return change + 0.0 * v  # 0 times infinity; a batch of numbers has no `if`


@jit
def step(kind, x, g, eta, m, v, powers, beta_1, beta_2, epsilon, correct):
    """One step of size eta on x against g. `correct`: Adam divides out the bias of a start at
    zero."""
    if kind == SGD:
        for j in range(x.size):
            x[j] -= eta * g[j]
    elif kind == MOMENTUM:  # heavy ball, undamped: beta_1 = 0 is SGD
        for j in range(x.size):
            m[j] = beta_1 * m[j] + g[j]
            x[j] -= eta * m[j]
    else:  # Kingma and Ba 2015, algorithm 1
        powers[0] *= beta_1
        powers[1] *= beta_2
        first = 1.0 - powers[0] if correct else 1.0
        second = 1.0 - powers[1] if correct else 1.0
        for j in range(x.size):
            m[j] = beta_1 * m[j] + (1.0 - beta_1) * g[j]
            v[j] = beta_2 * v[j] + (1.0 - beta_2) * g[j] * g[j]
            x[j] -= moving(eta * (m[j] / first) / (np.sqrt(v[j] / second) + epsilon), v[j])


@jit
def optimize(kind, x, g, eta, m, v, powers, h):
    """One step of any of mixed FL's optimisers, which share their betas, epsilon and bias."""
    correct = h.bias_correction == 0
    step(kind, x, g, eta, m, v, powers, h.beta_1, h.beta_2, h.epsilon, correct)


@jit
def shares(weight):
    """weight / sum of weight; zeros where no weight is left."""
    total = 0.0
    for s in range(weight.size):
        total += weight[s]
    share = np.zeros(weight.size)
    if total > 0.0:
        for s in range(weight.size):
            share[s] = weight[s] / total
    return share


@jit
def of_cohort(cohort, p, weighting):
    """Shares of a cohort's clients: equal, or as their p_i ("plain" and "samples")."""
    weight = np.ones(cohort.size)
    if weighting == 1:
        for s in range(cohort.size):
            weight[s] = p[cohort[s]]
    return shares(weight)


@jit
def pull(x, y, share, out):
    """out = -Delta = sum_s share_s (x - y_s)."""
    fill(out, 0.0)
    for s in range(share.size):
        for j in range(x.size):
            out[j] += share[s] * (x[j] - y[s, j])


@jit
def mean(y, share, out):
    """out = sum_s share_s y_s, kept as it is where no weight is left."""
    total = 0.0
    for s in range(share.size):
        total += share[s]
    if total > 0.0:
        fill(out, 0.0)
        for s in range(share.size):
            for j in range(out.size):
                out[j] += share[s] * y[s, j]
