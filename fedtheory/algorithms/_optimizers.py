"""One step each of SGD, momentum and Adam: the CLIENTOPT, SERVEROPT, CENTRALOPT and MERGEOPT of
mixed FL.

An optimiser remembers m and v, shaped like the point, and `powers`, the pair beta_1^t, beta_2^t of
its t steps so far. A server's optimiser takes minus the aggregated change for a gradient (mixed,
algorithm 1), so that SGD of size 1 gives FedAvg.
"""

import numpy as np

from fedtheory.algorithm import Field, choice
from fedtheory.jit import jit

SGD, MOMENTUM, ADAM = range(3)


def choose_optimizer(meaning: str) -> Field:
    """Return the field of a hyper-parameter that chooses an optimiser."""
    return choice(meaning, "sgd", "momentum", "adam")


# Loops, not slices: Numba's broadcasting costs a second of compilation.
@jit
def copy_vector(a, to):
    """Copy a vector into another one."""
    for j in range(a.size):
        to[j] = a[j]


@jit
def fill_vector(a, value):
    """Set all coordinates of a vector to a value."""
    for j in range(a.size):
        a[j] = value


@jit
def reset_optimizer(m, v, powers):
    """Reset an optimiser's memory to that before its first step: m = v = 0, beta^0 = 1."""
    fill_vector(m, 0.0)
    fill_vector(v, 0.0)
    fill_vector(powers, 1.0)


@jit
def nan_where_overflowed(change, v):
    """Return `change`, which was divided by the root of v, or NaN where v overflowed. There the
    change would be 0 in all later steps, and a method that has diverged would look as if it had
    converged."""
    return change + 0.0 * v  # 0 times infinity; a batch of numbers has no `if`


@jit
def take_step(kind, x, g, eta, m, v, powers, beta_1, beta_2, epsilon, correct):
    """Take one step of size eta on x against the gradient g, in place.

    SGD is x <- x - eta g. Momentum is m <- beta_1 m + g, x <- x - eta m. Adam is

        m <- beta_1 m + (1 - beta_1) g,   v <- beta_2 v + (1 - beta_2) g^2,
        x <- x - eta m / (sqrt(v) + epsilon),

    with m / (1 - beta_1^t) and v / (1 - beta_2^t) in place of m and v where `correct` is true: that
    divides out the bias of a start at zero.
    """
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
            x[j] -= nan_where_overflowed(
                eta * (m[j] / first) / (np.sqrt(v[j] / second) + epsilon), v[j]
            )


@jit
def take_mixed_step(kind, x, g, eta, m, v, powers, h):
    """Take one step of any of mixed FL's optimisers, which share their betas, epsilon and bias
    correction."""
    correct = h.bias_correction == 0
    take_step(kind, x, g, eta, m, v, powers, h.beta_1, h.beta_2, h.epsilon, correct)


@jit
def normalise_weights(weight):
    """Return weight / sum of weight; zeros where the sum is 0."""
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
    """Return the shares of a cohort's clients: equal ("plain"), or in proportion to their p_i
    ("samples")."""
    weight = np.ones(cohort.size)
    if weighting == 1:
        for s in range(cohort.size):
            weight[s] = p[cohort[s]]
    return normalise_weights(weight)


@jit
def mean_change(x, y, share, out):
    """Compute out = -Delta = sum_s share_s (x - y_s)."""
    fill_vector(out, 0.0)
    for s in range(share.size):
        for j in range(x.size):
            out[j] += share[s] * (x[j] - y[s, j])


@jit
def mean_point(y, share, out):
    """Compute out = sum_s share_s y_s; `out` stays as it is where all shares are 0."""
    total = 0.0
    for s in range(share.size):
        total += share[s]
    if total > 0.0:
        fill_vector(out, 0.0)
        for s in range(share.size):
            for j in range(out.size):
                out[j] += share[s] * y[s, j]
