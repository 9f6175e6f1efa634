"""One round of 1-way gradient transfer by enumeration: every quantity that appendix D names, from
its definition.

Works on vectors of any numbers of `enclosure.arithmetic`; of Fractions, all values are exact. Noise
has finite support, so expectations are sums over draws: for tiny instances only. Clients are
homogeneous, so that one cohort stands for all.
"""

from fractions import Fraction
from functools import cache
from itertools import product
from typing import Callable, NamedTuple

import numpy as np

from fedtheory.enclosure.arithmetic import difference, maximum
from fedtheory.enclosure.work import counted


class Instance(NamedTuple):
    """Losses f_f and f_c, their noise as [(probability, vector), ...], hyper-parameters, constants,
    a minimiser."""

    loss_f: Callable
    loss_c: Callable
    grad_f: Callable
    grad_c: Callable
    noise_f: list
    noise_c: list
    x_star: np.ndarray
    N: int
    S: int
    K: int
    eta: object
    eta_s: object
    beta: object
    mu: object
    sigma: object
    sigma_c: object


def sq(v):
    return v.dot(v)


def mean(outcomes, value):
    """Expectation of `value(outcome)` over [(probability, outcome), ...]."""
    return sum(p * value(outcome) for p, outcome in outcomes)


def joined(g, h):
    """g + h, without what rounding leaves where they cancel."""
    return np.array([difference([a, b], []) for a, b in zip(g, h)], dtype=object)


def paths(case, x, g_c):
    """Every way a client can go: [(probability, (points, gradient estimates))], augmented by
    g_c."""
    found = [(Fraction(1), ((x,), ()))]
    for _ in range(case.K):
        longer = []
        for p, (points, estimates) in found:
            exact = case.grad_f(points[-1])
            for q, n in case.noise_f:
                g = exact + n
                longer.append(
                    (p * q, ((*points, points[-1] - case.eta * joined(g, g_c)), (*estimates, g)))
                )
        found = longer
    return found


def quantities(case, x, wanted=None):
    """Symbol name -> value at the global model x, for the round that starts there; all of them, or
    those wanted."""
    S, K, eta, beta = case.S, case.K, case.eta, case.beta
    step, noise = K * case.eta_s * eta, case.sigma * case.sigma
    f = lambda y: case.loss_f(y) + case.loss_c(y)
    g_f, g_c = case.grad_f(x), case.grad_c(x)
    g = g_f + g_c
    central = [(p, g_c + n) for p, n in case.noise_c]

    @cache
    def walks():
        return [paths(case, x, c) for _, c in central]

    @cache
    def single():
        """One client, all of whom are alike: (probability, (g_c, points, estimates))."""
        return [(p * q, (c, *path)) for (p, c), ways in zip(central, walks()) for q, path in ways]

    @cache
    def at():
        """Mean squared distances from x of a client's points."""
        return [mean(single(), lambda o, k=k: sq(o[1][k] - x)) for k in range(K + 1)]

    @cache
    def rounds():
        """(probability, (g_c, mean estimate, mean gradient at the points, x after the round))."""
        found = []
        for (p, c), ways in zip(central, walks()):
            # Per client: probability, sum of estimates, sum of gradients, end
            each = [
                (q, (sum(e), sum(case.grad_f(y) for y in points[:K]), points[-1]))
                for q, (points, e) in ways
            ]
            for outcome in counted(product(each, repeat=S)):
                chance = p
                for q, _ in outcome:
                    chance = chance * q
                taken, exact, ends = (sum(o[n] for _, o in outcome) for n in range(3))
                found.append(
                    (chance, (c, taken / (K * S), exact / (K * S), x + case.eta_s * (ends / S - x)))
                )
        return found

    E = lambda value: mean(rounds(), lambda o: value(*o))
    expected = cache(lambda: E(lambda c, taken, exact, end: exact))
    along = cache(lambda: E(lambda c, taken, exact, end: end - x))
    growth = Fraction(K + 1, K)
    named = dict(
        f_t=lambda: f(x),
        gap=lambda: f(x) - f(case.x_star),
        gap_f=lambda: case.loss_f(x) - case.loss_f(case.x_star),
        gap_c=lambda: case.loss_c(x) - case.loss_c(case.x_star),
        sq_grad=lambda: sq(g),
        sq_grad_f=lambda: sq(g_f),
        sq_grad_c=lambda: sq(g_c),
        sq_dist=lambda: sq(x - case.x_star),
        sq_augmented=lambda: mean(central, lambda c: sq(g_f + c)),
        drift=lambda: sum(at()[:K]) / K,
        ends=lambda: sum(at()[1:]) / K,
        furthest=lambda: maximum(*at()),
        mean_change=lambda: (
            mean(single(), lambda o: sum(sq(case.grad_f(y) - g_f) for y in o[1][:K])) / K
        ),
        excess_D11=lambda: maximum(
            *(
                difference(
                    [at()[k]],
                    [growth * at()[k - 1], 2 * K * eta**2 * value("sq_augmented"), eta**2 * noise],
                )
                for k in range(1, K + 1)
            )
        ),
        excess_D13=lambda: maximum(
            *(
                difference(
                    [at()[k]],
                    [
                        (growth + 2 * K * eta**2 * beta**2) * at()[k - 1],
                        4 * K * eta**2 * sq(g),
                        4 * K * eta**2 * case.sigma_c * case.sigma_c,
                        eta**2 * noise,
                    ],
                )
                for k in range(1, K + 1)
            )
        ),
        f_next=lambda: E(lambda c, taken, exact, end: f(end)),
        sq_dist_next=lambda: E(lambda c, taken, exact, end: sq(end - case.x_star)),
        sq_move=lambda: E(lambda c, taken, exact, end: sq(end - x)),
        term_A=lambda: 2 * step**2 * E(lambda c, taken, exact, end: sq(taken - g_f)),
        term_B=lambda: 2 * step**2 * value("sq_augmented"),
        term_C=lambda: 2 * along().dot(x - case.x_star),
        term_C1=lambda: 2 * step * g_c.dot(case.x_star - x),
        term_C2=lambda: 2 * step * expected().dot(case.x_star - x),
        change_mean=lambda: E(lambda c, taken, exact, end: sq(exact - g_f)),
        sq_mean_error=lambda: sq(expected() - g_f),
        inner_move=lambda: g.dot(along()),
    )
    value = cache(lambda name: named[name]())
    return {name: value(name) for name in (named if wanted is None else wanted)}


def at_point(case, x, wanted=None):
    """What propositions D.5 and D.6 speak of, at x."""
    star, beta = case.x_star, case.beta
    changes = [(case.loss_f, case.grad_f), (case.loss_c, case.grad_c)]
    change = [joined(grad(x), -grad(star)) for _, grad in changes]
    named = dict(
        gap=lambda: sum(loss(x) - loss(star) for loss, _ in changes),
        sq_grad=lambda: sq(case.grad_f(x) + case.grad_c(x)),
        mean_sq_change=lambda: sq(change[0]),
        sq_change_f=lambda: sq(change[0]),
        sq_change_c=lambda: sq(change[1]),
        excess_D5=lambda: maximum(
            *(
                difference(
                    [sq(moved) / (2 * beta), loss(star), grad(star).dot(x - star)], [loss(x)]
                )
                for moved, (loss, grad) in zip(change, changes)
            )
        ),
    )
    return {name: named[name]() for name in (named if wanted is None else wanted)}


def of_function(loss, grad, x, y, z, eta, wanted=None):
    """What lemmas D.7 and D.8 speak of."""
    g_x = grad(x)
    change = joined(g_x, -grad(y))
    named = dict(
        inner_zy=lambda: g_x.dot(z - y),
        inner_zx=lambda: g_x.dot(z - x),
        inner_xy=lambda: g_x.dot(x - y),
        h_x=lambda: loss(x),
        h_y=lambda: loss(y),
        h_z=lambda: loss(z),
        sq_yz=lambda: sq(y - z),
        sq_zx=lambda: sq(z - x),
        sq_xy=lambda: sq(x - y),
        sq_map=lambda: sq(x - y - eta * change),
        inner_change=lambda: change.dot(x - y),
    )
    return {name: named[name]() for name in (named if wanted is None else wanted)}
