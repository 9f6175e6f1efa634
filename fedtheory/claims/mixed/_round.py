"""One round of 1-way gradient transfer by enumeration: every quantity that appendix D names, from its definition.

Works on NumPy arrays of floats or of Fractions (dtype=object), where all values are then exact. Noise has finite
support, so expectations are sums over cohorts and draws: for tiny instances only. Clients are homogeneous.
"""

from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Callable, NamedTuple

import numpy as np


class Instance(NamedTuple):
    """Losses f_f and f_c, their noise as [(probability, vector), ...], hyper-parameters, constants, a minimiser."""

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


def paths(case, x, g_c):
    """Every way a client can go: [(probability, (points, gradient estimates))], augmented by g_c."""
    found = [(Fraction(1), ((x,), ()))]
    for _ in range(case.K):
        longer = []
        for p, (points, estimates) in found:
            for q, n in case.noise_f:
                g = case.grad_f(points[-1]) + n
                longer.append((p * q, ((*points, points[-1] - case.eta * (g + g_c)), (*estimates, g))))
        found = longer
    return found


def quantities(case, x):
    """Symbol name -> value at the global model x, for the round that starts there."""
    N, S, K, eta, beta, star = case.N, case.S, case.K, case.eta, case.beta, case.x_star
    step = K * case.eta_s * eta
    f = lambda y: case.loss_f(y) + case.loss_c(y)
    g_f, g_c = case.grad_f(x), case.grad_c(x)
    g = g_f + g_c
    central = [(p, g_c + n) for p, n in case.noise_c]
    walks = {tuple(c): paths(case, x, c) for _, c in central}
    # One client, all of whom are alike: (probability, (g_c, points, estimates))
    single = [(p * q, (c, *path)) for p, c in central for q, path in walks[tuple(c)]]
    E_1 = lambda value: mean(single, lambda o: value(*o))
    at = [E_1(lambda c, points, g, k=k: sq(points[k] - x)) for k in range(K + 1)]
    augmented = mean(central, lambda c: sq(g_f + c))
    noise = case.sigma**2
    found = dict(
        f_t=f(x), gap=f(x) - f(star), gap_f=case.loss_f(x) - case.loss_f(star),
        gap_c=case.loss_c(x) - case.loss_c(star), sq_grad=sq(g), sq_grad_f=sq(g_f), sq_grad_c=sq(g_c),
        sq_dist=sq(x - star), sq_augmented=augmented, drift=sum(at[:K]) / Fraction(K), ends=sum(at[1:]) / Fraction(K),
        furthest=max(at),
        mean_change=E_1(lambda c, points, e: sum(sq(case.grad_f(y) - g_f) for y in points[:K])) / K,
        excess_D11=max(at[k] - Fraction(K + 1, K) * at[k - 1] - 2 * K * eta**2 * augmented - eta**2 * noise
                       for k in range(1, K + 1)),
        excess_D13=max(at[k] - (Fraction(K + 1, K) + 2 * K * eta**2 * beta**2) * at[k - 1] - 4 * K * eta**2 * sq(g)
                       - 4 * K * eta**2 * case.sigma_c**2 - eta**2 * noise for k in range(1, K + 1)),
    )
    rounds = []    # (probability, (g_c, mean estimate, mean gradient at the points, x after the round))
    for p, c in central:
        for cohort in combinations(range(N), S):
            for outcome in product(walks[tuple(c)], repeat=S):
                chance = p / comb(N, S)
                for q, _ in outcome:
                    chance *= q
                taken = sum(e for _, (_, estimates) in outcome for e in estimates) / Fraction(K * S)
                exact = sum(case.grad_f(y) for _, (points, _) in outcome for y in points[:K]) / Fraction(K * S)
                delta = sum(points[-1] - x for _, (points, _) in outcome) / Fraction(S)
                rounds.append((chance, (c, taken, exact, x + case.eta_s * delta)))
    E = lambda value: mean(rounds, lambda o: value(*o))
    expected = E(lambda c, taken, exact, end: exact)
    along = E(lambda c, taken, exact, end: end - x)
    C_1 = 2 * step * g_c.dot(star - x)
    found.update(
        f_next=E(lambda c, taken, exact, end: f(end)),
        sq_dist_next=E(lambda c, taken, exact, end: sq(end - star)),
        sq_move=E(lambda c, taken, exact, end: sq(end - x)),
        term_A=2 * step**2 * E(lambda c, taken, exact, end: sq(taken - g_f)), term_B=2 * step**2 * augmented,
        term_C=2 * along.dot(x - star), term_C1=C_1, term_C2=2 * step * expected.dot(star - x),
        change_mean=E(lambda c, taken, exact, end: sq(exact - g_f)), sq_mean_error=sq(expected - g_f),
        inner_move=g.dot(along),
    )
    return found


def at_point(case, x):
    """What propositions D.5 and D.6 speak of, at x."""
    star, beta = case.x_star, case.beta
    changes = [(case.loss_f, case.grad_f), (case.loss_c, case.grad_c)]
    tilted = [(grad(x) - grad(star), loss(x) - loss(star) - grad(star).dot(x - star)) for loss, grad in changes]
    (change_f, _), (change_c, _) = tilted
    gap = sum(loss(x) - loss(star) for loss, _ in changes)
    return dict(gap=gap, sq_grad=sq(case.grad_f(x) + case.grad_c(x)), mean_sq_change=sq(change_f),
                sq_change_f=sq(change_f), sq_change_c=sq(change_c),
                excess_D5=max(sq(change) / (2 * beta) - rise for change, rise in tilted))


def of_function(loss, grad, x, y, z, eta):
    """What lemmas D.7 and D.8 speak of."""
    g_x, g_y = grad(x), grad(y)
    return dict(inner_zy=g_x.dot(z - y), inner_zx=g_x.dot(z - x), inner_xy=g_x.dot(x - y), h_x=loss(x), h_y=loss(y),
                h_z=loss(z), sq_yz=sq(y - z), sq_zx=sq(z - x), sq_xy=sq(x - y),
                sq_map=sq(x - eta * g_x - y + eta * g_y), inner_change=(g_x - g_y).dot(x - y))
