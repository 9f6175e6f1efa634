"""One round of FSL by enumeration: every quantity that appendix A names, as a function of the
round's traces.

The traces come from the kernels of `fedtheory.algorithms.fsl`, which users run. Works on vectors of
any numbers of `enclosure.arithmetic`; of Fractions, all values are exact. Noise has finite support,
so expectations are sums over cohorts and draws: for tiny instances only.
"""

from fractions import Fraction
from functools import cache
from typing import Callable, NamedTuple

from fedtheory.algorithms import fsl
from fedtheory.enclosure.arithmetic import maximum
from fedtheory.exact.traces import Losses, Rounds, uniform


class Instance(NamedTuple):
    """Losses f_0, ..., f_N, noise as [(probability, vector), ...] for each index, hyper-parameters,
    constants."""

    loss: Callable  # (i, x) -> number
    grad: Callable  # (i, x) -> array
    noise: Callable  # i -> [(probability, array), ...], mean zero
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
    weights: tuple = None  # p_1, ..., p_N of F; 1/N each by default
    cohorts: tuple = None  # [(probability, members)]; uniform over subsets of S by default


def sq(v):
    return v.dot(v)


def mean(path, value):
    """Expectation of `value(outcome)` over [(probability, outcome), ...]."""
    return sum(probability * value(outcome) for probability, outcome in path)


def rounds_of(case):
    """The round of fedtheory.algorithms.fsl on the instance's losses."""
    p = case.weights or [Fraction(1, case.N)] * case.N
    h = dict(
        eta_l=case.eta_l,
        eta_g=case.eta_g,
        eta_0=case.eta_0,
        gamma=case.gamma,
        K=case.K,
        K_0=case.K_0,
    )
    return lambda d: Rounds(fsl.ALGORITHM, Losses(case.grad, case.noise, (Fraction(0), *p), d), h)


def law(case):
    """[(probability, cohort, work)]."""
    if case.cohorts:
        return [(chance, cohort, (case.K,) * len(cohort)) for chance, cohort in case.cohorts]
    return uniform(case.N, case.S, case.K)


def quantities(case, x, wanted=None):
    """Symbol name -> value at the server point x, for the round that starts there; all of them, or
    those wanted."""
    N, S, K, K_0, gamma, step = case.N, case.S, case.K, case.K_0, case.gamma, case.K_0 * case.eta_0
    clients = range(1, N + 1)
    g = {i: case.grad(i, x) for i in range(N + 1)}
    average = (
        (lambda value: sum(p * value(i) for p, i in zip(case.weights, clients)))
        if case.weights
        else (lambda value: sum(value(i) for i in clients) / N)
    )
    F = lambda y: average(lambda i: case.loss(i, y))
    tilde_F = lambda y: (F(y) + gamma * case.loss(0, y)) / (1 + gamma)
    grad_F = average(lambda i: g[i])
    tilde_grad = (grad_F + gamma * g[0]) / (1 + gamma)

    rounds = rounds_of(case)(len(x))
    start = rounds.start(x)
    paths = cache(lambda i: rounds.walks(start, i, K))
    traces = cache(lambda: rounds.of(start, law(case), lambda state, i, steps: paths(i)))
    E = lambda value: mean(traces(), value)
    # Gradient sums over a cohort and its steps: estimates, gradients there, gradients at x, changes
    # of gradients
    estimates = lambda o: sum(n for walk in o.clients for n in walk.estimates)
    there = lambda o: sum(n for walk in o.clients for n in walk.gradients)
    at_x = lambda o: K * sum(g[i] for i in o.cohort)
    changed = lambda o: sum(
        n - g[i] for i, walk in zip(o.cohort, o.clients) for n in walk.gradients
    )
    server_there = lambda o: sum(o.server.gradients)
    server_changed = lambda o: sum(n - g[0] for n in o.server.gradients)
    server_error = lambda o: sum(n - g[0] for n in o.server.estimates)
    named = dict(
        tilde_F_t=lambda: tilde_F(x),
        sq_grad=lambda: sq(grad_F),
        sq_server_grad=lambda: sq(g[0]),
        sq_tilde_grad=lambda: sq(tilde_grad),
        grad_inner=lambda: grad_F.dot(g[0]),
        sq_xi=lambda: sq(g[0] - grad_F),
        E_c=lambda: (
            sum(mean(paths(i), lambda o: sum(sq(x - y) for y in o.points[:K])) for i in clients)
            / (K * N)
        ),
        drift_grad_c=lambda: (
            sum(
                mean(paths(i), lambda o, i=i: sum(sq(g[i] - n) for n in o.gradients))
                for i in clients
            )
            / N
        ),
        excess_29=lambda: maximum(
            *(
                mean(paths(i), lambda o, k=k: sq(o.points[k] - x))
                - Fraction(37, 20) * K * case.eta_l**2 * (2 * K * sq(g[i]) + case.sigma**2)
                for i in clients
                for k in range(K + 1)
            )
        ),
        tilde_F_next=lambda: E(lambda o: tilde_F(o.after.x)),
        E_0=lambda: E(lambda o: sum(sq(x - y) for y in o.server.points[:K_0])) / K_0,
        drift_grad_0=lambda: E(lambda o: sum(sq(g[0] - n) for n in o.server.gradients)),
        sq_move_bar=lambda: E(lambda o: sq(x - o.middle)),
        inner_drift_0=lambda: (
            E(lambda o: sum(sq(y - o.middle) for y in o.server.points[:K_0])) / K_0
        ),
        sq_server_grad_bar=lambda: E(lambda o: sq(o.server.gradients[0])),
        T_1=lambda: E(lambda o: tilde_grad.dot(o.after.x - x)),
        T_2=lambda: E(lambda o: sq(o.after.x - x)) / 2,
        T_3=lambda: E(
            lambda o: tilde_grad.dot(
                -case.eta_0 * gamma * server_error(o)
                + case.eta_g * case.eta_l * (K * grad_F - estimates(o) / S)
            )
        ),
        T_4=lambda: E(lambda o: sq(server_error(o) / K_0)),
        T_4a=lambda: E(lambda o: sq(sum(o.server.estimates) - server_there(o))) / K_0**2,
        T_4b=lambda: E(lambda o: sq(server_changed(o))) / K_0**2,
        T_5=lambda: E(lambda o: sq(estimates(o) / (K * S) - grad_F)),
        T_5a=lambda: E(lambda o: sq(estimates(o) - there(o))) / S**2,
        T_5b=lambda: E(lambda o: sq(changed(o))) / S**2,
        T_5c=lambda: E(lambda o: sq(at_x(o) - K * S * grad_F)) / S**2,
        T_6=lambda: gamma**2 * value("E_0") + value("E_c"),
        T_7=lambda: (1 + 12 * step**2 * (gamma * case.L) ** 2) * value("E_c"),
    )
    value = cache(lambda name: named[name]())
    return {name: value(name) for name in (named if wanted is None else wanted)}


def server_quantities(case, w_0, wanted=None):
    """The quantities of section III-A: exact server steps of size eta_0 from w_0 (x_bar in the
    multi-step case)."""
    clients = range(1, case.N + 1)
    F = lambda y: sum(case.loss(i, y) for i in clients) / case.N
    grad_F = lambda y: sum(case.grad(i, y) for i in clients) / case.N
    w = [w_0]
    for _ in range(case.K_0):
        w.append(w[-1] - case.eta_0 * case.grad(0, w[-1]))
    pairs = [(grad_F(y), case.grad(0, y)) for y in w[:-1]]
    a, b = pairs[0]
    named = dict(
        F_w0=lambda: F(w_0),
        F_w1=lambda: F(w[1]),
        a_w0=lambda: sq(a),
        b_w0=lambda: sq(b),
        inner_w0=lambda: a.dot(b),
        inner_move=lambda: a.dot(w[1] - w_0),
        sq_move=lambda: sq(w[1] - w_0),
        xi_w0=lambda: sq(a - b),
        F_bar=lambda: F(w_0),
        F_next=lambda: F(w[-1]),
        sum_a=lambda: sum(sq(a) for a, _ in pairs),
        sum_b=lambda: sum(sq(b) for _, b in pairs),
        sum_xi=lambda: sum(sq(a - b) for a, b in pairs),
    )
    return {name: named[name]() for name in (named if wanted is None else wanted)}
