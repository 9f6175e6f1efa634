"""Rounds of mixed FL's three methods as algorithms 1 and 2 list them, all steps SGD, and what is
expected of a run.

Works on vectors of any numbers of `enclosure.arithmetic`. Noise of finite support is enumerated,
which few rounds allow; where both losses are quadratics in one dimension, means and covariances are
carried from round to round, for which variances suffice. Clients are homogeneous. Points are x^(0),
..., x^(T).
"""

from fractions import Fraction
from itertools import product
from typing import Callable, NamedTuple

import numpy as np

from fedtheory.enclosure.arithmetic import short, vector
from fedtheory.enclosure.work import counted, spend

# What a round's recursion takes off ||x - x*||^2, over mu times the effective step: the weights of
# theorems B.1 to B.3
CONTRACTIONS = dict(
    parallel_training=Fraction(1), one_way_gt=Fraction(3, 2), two_way_gt=Fraction(1)
)


class Case(NamedTuple):
    method: str
    grad_f: Callable
    grad_c: Callable
    S: int
    K: int
    T: int
    eta: object
    eta_s: object
    eta_c: object = None
    eta_m: object = Fraction(1)

    @property
    def central(self):
        """Central gradients of a round."""
        return 1 if self.method == "one_way_gt" else self.K

    @property
    def contraction(self):
        """Over mu."""
        return CONTRACTIONS[self.method] * self.K * self.eta_m * self.eta_s * self.eta


def walk(grad, x, eta, noise, augmenting):
    """(move of the steps, mean of the gradient estimates), one step for each noise."""
    move, total = 0 * x, 0
    for n in noise:
        g = grad(x + move) + n
        move, total = move - eta * (g + augmenting), total + g
    return move, total / len(noise)


def after(case, state, noise, noise_c):
    """The state after a round; noise: of each client's steps, noise_c: of the central gradients. A
    state is (x,), or (x, g_c, g_f) with the gradients transferred from the round before."""
    x, *transferred = state
    g_c, g_f = transferred or (0, 0)
    if case.method == "one_way_gt":
        g_c = case.grad_c(x) + noise_c[0]
    walks = [walk(case.grad_f, x, case.eta, each, g_c) for each in noise]
    delta = case.eta_s * sum(move for move, _ in walks) / len(walks)
    if case.method == "one_way_gt":
        return (x + delta,)
    central, next_c = walk(case.grad_c, x, case.eta_c, noise_c, g_f)
    x = x + case.eta_m * (central + delta)
    return (x, next_c, sum(mean for _, mean in walks) / len(walks)) if transferred else (x,)


def paths(case, state, noise, noise_c):
    """Every way a run can go, for noise [(probability, vector), ...]: [(probability, [x^(0), ...,
    x^(T)])]."""
    draws = [(noise, case.S * case.K), (noise_c, case.central)]
    rounds = []
    spend(sum(times for _, times in draws))
    for picks in counted(product(*(each for each, times in draws for _ in range(times)))):
        p, drawn = Fraction(1), [n for _, n in picks]
        for q, _ in picks:
            p = p * q
        clients = [drawn[s * case.K : (s + 1) * case.K] for s in range(case.S)]
        rounds.append((p, clients, drawn[case.S * case.K :]))
    found = [(Fraction(1), state, [state[0]])]
    for _ in range(case.T):
        longer = []
        for p, now, points in found:
            for q, clients, central in rounds:
                then = tuple(map(short, after(case, now, clients, central)))
                longer.append((p * q, then, [*points, then[0]]))
        found = longer
    return [(p, points) for p, _, points in found]


def moments(case, state, bends, tilts, variances, weights):
    """[(mean, variance) of x^(t)], and those of the points' mean with the weights, for losses bends
    y^2/2 + tilts y of f_f and f_c; state is of numbers, variances are those of a client's and of a
    central gradient."""
    n, K, central = len(state), case.K, case.central
    one, zero = Fraction(1), Fraction(0)
    unit = lambda k: vector([one if j == k else zero for j in range(n + 1 + K + central)])
    # Vectors are coefficients of the state, of 1 and of the round's noise: a round is linear in all
    # of them.
    linear = case._replace(
        grad_f=lambda y: bends[0] * y + tilts[0] * unit(n),
        grad_c=lambda y: bends[1] * y + tilts[1] * unit(n),
    )
    then = np.array(
        after(
            linear,
            tuple(unit(k) for k in range(n)),
            [[unit(n + 1 + k) for k in range(K)]],
            [unit(n + 1 + K + k) for k in range(central)],
        ),
        dtype=object,
    )
    carry, constant = then[:, :n], then[:, n]
    spread = [variances[0] / case.S] * K + [
        variances[1]
    ] * central  # the cohort's paths, averaged, are one path
    fresh = np.array(
        [
            [sum((a * b * v for a, b, v in zip(p, q, spread)), zero) for q in then[:, n + 1 :]]
            for p in then[:, n + 1 :]
        ],
        dtype=object,
    )
    along = lambda row: sum(
        row * fresh.dot(row)
    )  # what a round's noise adds to the variance of row . state
    mean, spread, row = vector(list(state)), zero, unit(0)[:n]
    found = [(mean[0], spread)]
    for _ in weights[1:]:
        mean, spread, row = (
            short(carry.dot(mean) + constant),
            short(spread + along(row)),
            short(row.dot(carry)),
        )
        found.append((mean[0], spread))
    row, variance = weights[-1] * unit(0)[:n], zero
    for w in weights[
        -2::-1
    ]:  # how the weighted sum depends on the state after each round, from the last
        variance, row = short(variance + along(row)), short(w * unit(0)[:n] + row.dot(carry))
    full = sum(weights)
    return found, (sum(w * m for w, (m, _) in zip(weights, found)) / full, variance / (full * full))
