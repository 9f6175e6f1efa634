"""The slow and obvious version of `ft.expected`, in rationals: every cohort and work, one after the
other.

Noise stays symbolic: a number is a constant plus coefficients of independent unit variables, so
that second moments are exact whatever the noise's law. Methods are written from their papers,
clients as plain loops.
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np


class Sum:
    """constant + sum of coefficient * independent unit variable."""

    def __init__(self, constant, noise=None):
        self.constant, self.noise = Fraction(constant), noise or {}

    def __add__(self, other):
        if not isinstance(other, Sum):
            return Sum(self.constant + other, dict(self.noise))
        noise = dict(self.noise)
        for name, coefficient in other.noise.items():
            noise[name] = noise.get(name, 0) + coefficient
        return Sum(self.constant + other.constant, noise)

    def __mul__(self, scale):
        return Sum(
            self.constant * scale,
            {name: scale * coefficient for name, coefficient in self.noise.items()},
        )

    def __sub__(self, other):
        return self + other * -1

    def __rsub__(self, other):
        return self * -1 + other

    def __truediv__(self, scale):
        return self * (1 / Fraction(scale))

    __radd__, __rmul__ = __add__, __mul__


def dot(a, b):
    """E[a b]."""
    return a.constant * b.constant + sum(
        c * b.noise[name] for name, c in a.noise.items() if name in b.noise
    )


def exact(numbers):
    return np.array([Fraction(float(n)) for n in np.ravel(numbers)], dtype=object).reshape(
        np.shape(numbers)
    )


class Instance:
    """Quadratics with Hessians A (N + 1, d, d), minimisers b and noise of standard deviation s_i a
    coordinate."""

    def __init__(self, A, b, p, s):
        self.A, self.b, self.p, self.s = (
            exact(A),
            exact(b),
            [Fraction(0), *map(Fraction, p)],
            exact(s),
        )
        self.N, self.d = len(self.b) - 1, self.b.shape[1]
        self.H = sum(p * A for p, A in zip(self.p[1:], self.A[1:]))
        pull = sum(p * A.dot(b) for p, A, b in zip(self.p[1:], self.A[1:], self.b[1:]))
        self.x_star = (
            pull / self.H[0, 0]
            if self.d == 1
            else np.array(
                [
                    self.H[1, 1] * pull[0] - self.H[0, 1] * pull[1],
                    self.H[0, 0] * pull[1] - self.H[1, 0] * pull[0],
                ],
                dtype=object,
            )
            / (self.H[0, 0] * self.H[1, 1] - self.H[0, 1] * self.H[1, 0])
        )

    def grad(self, i, x, *name):
        g = self.A[i].dot(x - self.b[i])
        if name and self.s[i]:
            g = g + np.array([Sum(0, {(*name, j): self.s[i]}) for j in range(self.d)], dtype=object)
        return g

    def losses(self, x):
        """E of loss, server_loss, sq_grad_norm, sq_distance at a random x."""
        f = lambda i: sum(dot(g, z) for g, z in zip(self.grad(i, x), x - self.b[i])) / 2
        gap = x - self.x_star
        G = self.H.dot(gap)
        return np.array(
            [
                sum(self.p[i] * f(i) for i in range(1, self.N + 1)),
                f(0),
                sum(dot(g, g) for g in G),
                sum(dot(g, g) for g in gap),
            ],
            dtype=object,
        )


def outcomes(N, S, cohort, works):
    """(chance, cohort, work) with works = {s: chance}; a client drawn twice works once."""
    if cohort == "with":
        for drawn in product(range(1, N + 1), repeat=S):
            members = sorted(set(drawn))
            for steps in product(works, repeat=len(members)):
                done = dict(zip(members, steps))
                chance = Fraction(1, N**S)
                for s in steps:
                    chance *= works[s]
                yield chance, drawn, [done[i] for i in drawn]
        return
    cohorts = list(combinations(range(1, N + 1), S))
    for drawn, steps in product(cohorts, product(works, repeat=S)):
        chance = Fraction(1, len(cohorts))
        for s in steps:
            chance *= works[s]
        yield chance, drawn, steps


def expectations(instance, method, h, rounds, x_0, S, cohort, works):
    """(rounds + 1, 4) expected losses and (rounds + 1, d) means."""
    d, N = instance.d, instance.N
    point = lambda: np.array([Sum(0) for _ in range(d)], dtype=object)
    start = dict(
        x=np.array([Sum(Fraction(float(n))) for n in x_0], dtype=object),
        c=point(),
        m=point(),
        c_i=[point() for _ in range(N + 1)],
    )
    paths, found, means = [(Fraction(1), start)], [], []
    for t in range(rounds + 1):
        found.append(sum(chance * instance.losses(state["x"]) for chance, state in paths))
        means.append(
            sum(
                chance * np.array([z.constant for z in state["x"]], dtype=object)
                for chance, state in paths
            )
        )
        if t < rounds:
            paths = [
                (
                    chance * p,
                    method(instance, h, dict(state, c_i=list(state["c_i"])), t, drawn, done),
                )
                for chance, state in paths
                for p, drawn, done in outcomes(N, S, cohort, works)
            ]
    return np.array(found, dtype=float), np.array(means, dtype=float)


# ---------------------------------------------------------------- methods, from their papers


def _walk(q, i, x, eta, s, t, extra=None):
    y = x
    for k in range(s):
        y = y - eta * (q.grad(i, y, t, i, k) + (0 if extra is None else extra(y)))
    return y


def fedavg(q, h, state, t, cohort, work):
    """x + eta_g (N / S) sum_S p_i (y_i - x)."""
    x = state["x"]
    change = sum(
        q.N * q.p[i] * (_walk(q, i, x, h["eta_l"], s, t) - x) for i, s in zip(cohort, work)
    )
    return dict(state, x=x + h["eta_g"] * change / len(cohort))


def fsl(q, h, state, t, cohort, work):
    """Algorithm 1 of FSL: the cohort's plain mean, then K_0 steps on f_0."""
    x = state["x"]
    change = sum(_walk(q, i, x, h["eta_l"], s, t) - x for i, s in zip(cohort, work))
    x = x + h["eta_g"] * change / len(cohort)
    return dict(state, x=_walk(q, 0, x, h["gamma"] * h["eta_0"], h["K_0"], t))


def scaffold(q, h, state, t, cohort, work):
    """Karimireddy et al. 2020, algorithm 1, option II, with means weighted by p."""
    x, c, c_i = state["x"], state["c"], state["c_i"]
    moved, shift = 0, 0
    for i, s in zip(cohort, work):
        y = _walk(q, i, x, h["eta_l"], s, t, lambda _: c - c_i[i])
        plus = c_i[i] - c + (x - y) / (s * h["eta_l"])
        moved, shift = moved + q.N * q.p[i] * (y - x), shift + q.p[i] * (plus - c_i[i])
        c_i[i] = plus
    return dict(state, x=x + h["eta_g"] * moved / len(cohort), c=c + shift)


def feddyn(q, h, state, t, cohort, work):
    """Acar et al. 2021, algorithm 1, its local problem by gradient steps, means weighted by p."""
    x, c, h_i, alpha = state["x"], state["c"], state["c_i"], h["alpha"]
    moved, shift = 0, 0
    for i, s in zip(cohort, work):
        gap = _walk(q, i, x, h["eta_l"], s, t, lambda y: alpha * (y - x) - h_i[i]) - x
        h_i[i] = h_i[i] - alpha * gap
        moved, shift = moved + q.N * q.p[i] * gap, shift + q.p[i] * gap
    c = c - alpha * shift
    return dict(state, x=x + moved / len(cohort) - c / alpha, c=c)


def one_way_gt(q, h, state, t, cohort, work):
    """Algorithm 2 of mixed FL, clients weighted by their steps, the server taking heavy-ball
    steps."""
    x = state["x"]
    g_c = q.grad(0, x, t, 0, "start")
    ends = [_walk(q, i, x, h["eta"], s, t, lambda _: g_c) for i, s in zip(cohort, work)]
    if not sum(work):
        pull = 0 * x
    else:
        pull = sum(s * (x - y) for s, y in zip(work, ends)) / sum(work)
    m = h["beta_1"] * state["m"] + pull
    return dict(state, x=x - h["eta_s"] * m, m=m)


def _flex(coefficient):
    def scheme(q, h, state, t, cohort, work):
        x = state["x"]
        changes = [
            coefficient(q.p[i], s, h["E"], [*work]) * (_walk(q, i, x, h["eta"], s, t) - x)
            for i, s in zip(cohort, work)
        ]
        return dict(state, x=x + sum(changes))

    return scheme


# flex, section 4.1: the coefficient p_tau^k of a device that did s of E steps
flex_a = _flex(lambda p, s, E, work: p * len(work) / work.count(E) if s == E else 0)
flex_b = _flex(lambda p, s, E, work: p)
flex_c = _flex(lambda p, s, E, work: p * Fraction(E, s) if s else 0)
