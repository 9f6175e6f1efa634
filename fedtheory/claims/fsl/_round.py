"""One round of FSL by enumeration: every quantity that appendix A names, from its definition.

Works on vectors of any numbers of `enclosure.arithmetic`; of Fractions, all values are exact. Noise has
finite support, so expectations are sums over cohorts and draws: for tiny instances only.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb
from typing import Callable, NamedTuple

from fedtheory.enclosure.arithmetic import maximum


class Instance(NamedTuple):
    """Losses f_0, ..., f_N, noise as [(probability, vector), ...] for each index, hyper-parameters, constants."""

    loss: Callable      # (i, x) -> number
    grad: Callable      # (i, x) -> array
    noise: Callable     # i -> [(probability, array), ...], mean zero
    N: int
    S: int
    K: int
    K_0: int
    eta_l: object
    eta_g: object
    eta_0: object
    gamma: object
    L: object
    sigma: object
    weights: tuple = None    # p_1, ..., p_N of F; 1/N each by default
    cohorts: tuple = None    # [(probability, members)]; uniform over subsets of S by default


def sq(v):
    return v.dot(v)


def mean(path, value):
    """Expectation of `value(outcome)` over [(probability, outcome), ...]."""
    return sum(probability * value(outcome) for probability, outcome in path)


def local_sgd(grad, noise, start, eta, steps):
    """Every way LOCALSGD can go: [(probability, (points y_0..y_steps, gradient estimates))]."""
    paths = [(Fraction(1), ((start,), ()))]
    for _ in range(steps):
        longer = []
        for p, (points, estimates) in paths:
            exact = grad(points[-1])
            for q, n in noise:
                longer.append((p * q, ((*points, points[-1] - eta * (exact + n)), (*estimates, exact + n))))
        paths = longer
    return paths


def client_paths(case, x, i):
    return local_sgd(lambda y: case.grad(i, y), case.noise(i), x, case.eta_l, case.K)


def every_round(case, x, paths):
    """[(probability, (cohort, its outcomes, x_bar, server points, server estimates))] of a round from x."""
    found = []
    cohorts = case.cohorts or [(Fraction(1, comb(case.N, case.S)), cohort)
                               for cohort in combinations(range(1, case.N + 1), case.S)]
    for chance, cohort in cohorts:
        for outcome in product(*(paths(i) for i in cohort)):
            p = chance
            for q, _ in outcome:
                p *= q
            ends = [o for _, o in outcome]
            x_bar = x + case.eta_g * sum(points[case.K] - x for points, _ in ends) / case.S
            for q, (w, g_0) in local_sgd(lambda y: case.grad(0, y), case.noise(0), x_bar, case.gamma * case.eta_0,
                                         case.K_0):
                found.append((p * q, (cohort, ends, x_bar, w, g_0)))
    return found


def quantities(case, x, wanted=None):
    """Symbol name -> value at the server point x, for the round that starts there; all of them, or those wanted."""
    N, S, K, K_0, gamma, step = case.N, case.S, case.K, case.K_0, case.gamma, case.K_0 * case.eta_0
    clients = range(1, N + 1)
    g = {i: case.grad(i, x) for i in range(N + 1)}
    average = (lambda value: sum(p * value(i) for p, i in zip(case.weights, clients))) if case.weights else (
        lambda value: sum(value(i) for i in clients) / N)
    F = lambda y: average(lambda i: case.loss(i, y))
    tilde_F = lambda y: (F(y) + gamma * case.loss(0, y)) / (1 + gamma)
    grad_F = average(lambda i: g[i])
    tilde_grad = (grad_F + gamma * g[0]) / (1 + gamma)

    @cache
    def paths(i):
        return client_paths(case, x, i)

    rounds = cache(lambda: every_round(case, x, paths))
    E = lambda value: mean(rounds(), lambda o: value(*o))
    # Gradient sums over a cohort and its steps: estimates, gradients there, gradients at x, changes of gradients
    estimates = lambda c, ends: sum(n for _, estimated in ends for n in estimated)
    there = lambda c, ends: sum(case.grad(i, y) for i, (points, _) in zip(c, ends) for y in points[:K])
    at_x = lambda c: K * sum(g[i] for i in c)
    changed = lambda c, ends: sum(case.grad(i, y) - g[i] for i, (points, _) in zip(c, ends) for y in points[:K])
    server_there = lambda w: sum(case.grad(0, y) for y in w[:K_0])
    server_changed = lambda w: sum(case.grad(0, y) - g[0] for y in w[:K_0])
    server_error = lambda g_0: sum(n - g[0] for n in g_0)
    named = dict(
        tilde_F_t=lambda: tilde_F(x), sq_grad=lambda: sq(grad_F), sq_server_grad=lambda: sq(g[0]),
        sq_tilde_grad=lambda: sq(tilde_grad), grad_inner=lambda: grad_F.dot(g[0]), sq_xi=lambda: sq(g[0] - grad_F),
        E_c=lambda: sum(mean(paths(i), lambda o: sum(sq(x - y) for y in o[0][:K])) for i in clients) / (K * N),
        drift_grad_c=lambda: sum(mean(paths(i), lambda o, i=i: sum(sq(g[i] - case.grad(i, y)) for y in o[0][:K]))
                                 for i in clients) / N,
        excess_29=lambda: maximum(*(
            mean(paths(i), lambda o, k=k: sq(o[0][k] - x))
            - Fraction(37, 20) * K * case.eta_l**2 * (2 * K * sq(g[i]) + case.sigma**2)
            for i in clients for k in range(K + 1))),
        tilde_F_next=lambda: E(lambda c, o, bar, w, g_0: tilde_F(w[K_0])),
        E_0=lambda: E(lambda c, o, bar, w, g_0: sum(sq(x - y) for y in w[:K_0])) / K_0,
        drift_grad_0=lambda: E(lambda c, o, bar, w, g_0: sum(sq(g[0] - case.grad(0, y)) for y in w[:K_0])),
        sq_move_bar=lambda: E(lambda c, o, bar, w, g_0: sq(x - bar)),
        inner_drift_0=lambda: E(lambda c, o, bar, w, g_0: sum(sq(y - bar) for y in w[:K_0])) / K_0,
        sq_server_grad_bar=lambda: E(lambda c, o, bar, w, g_0: sq(case.grad(0, bar))),
        T_1=lambda: E(lambda c, o, bar, w, g_0: tilde_grad.dot(w[K_0] - x)),
        T_2=lambda: E(lambda c, o, bar, w, g_0: sq(w[K_0] - x)) / 2,
        T_3=lambda: E(lambda c, o, bar, w, g_0: tilde_grad.dot(
            -case.eta_0 * gamma * server_error(g_0)
            + case.eta_g * case.eta_l * (K * grad_F - estimates(c, o) / S))),
        T_4=lambda: E(lambda c, o, bar, w, g_0: sq(server_error(g_0) / K_0)),
        T_4a=lambda: E(lambda c, o, bar, w, g_0: sq(sum(g_0) - server_there(w))) / K_0**2,
        T_4b=lambda: E(lambda c, o, bar, w, g_0: sq(server_changed(w))) / K_0**2,
        T_5=lambda: E(lambda c, o, bar, w, g_0: sq(estimates(c, o) / (K * S) - grad_F)),
        T_5a=lambda: E(lambda c, o, bar, w, g_0: sq(estimates(c, o) - there(c, o))) / S**2,
        T_5b=lambda: E(lambda c, o, bar, w, g_0: sq(changed(c, o))) / S**2,
        T_5c=lambda: E(lambda c, o, bar, w, g_0: sq(at_x(c) - K * S * grad_F)) / S**2,
        T_6=lambda: gamma**2 * value("E_0") + value("E_c"),
        T_7=lambda: (1 + 12 * step**2 * (gamma * case.L) ** 2) * value("E_c"),
    )
    value = cache(lambda name: named[name]())
    return {name: value(name) for name in (named if wanted is None else wanted)}


def server_quantities(case, w_0, wanted=None):
    """The quantities of section III-A: exact server steps of size eta_0 from w_0 (x_bar in the multi-step case)."""
    clients = range(1, case.N + 1)
    F = lambda y: sum(case.loss(i, y) for i in clients) / case.N
    grad_F = lambda y: sum(case.grad(i, y) for i in clients) / case.N
    w = [w_0]
    for _ in range(case.K_0):
        w.append(w[-1] - case.eta_0 * case.grad(0, w[-1]))
    pairs = [(grad_F(y), case.grad(0, y)) for y in w[:-1]]
    a, b = pairs[0]
    named = dict(F_w0=lambda: F(w_0), F_w1=lambda: F(w[1]), a_w0=lambda: sq(a), b_w0=lambda: sq(b),
                 inner_w0=lambda: a.dot(b), inner_move=lambda: a.dot(w[1] - w_0), sq_move=lambda: sq(w[1] - w_0),
                 xi_w0=lambda: sq(a - b), F_bar=lambda: F(w_0), F_next=lambda: F(w[-1]),
                 sum_a=lambda: sum(sq(a) for a, _ in pairs), sum_b=lambda: sum(sq(b) for _, b in pairs),
                 sum_xi=lambda: sum(sq(a - b) for a, b in pairs))
    return {name: named[name]() for name in (named if wanted is None else wanted)}
