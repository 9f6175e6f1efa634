"""Accusations about stochastic gradients, cohorts and federated averaging."""

from fractions import Fraction as F
from itertools import product

from sympy import Eq

from fedtheory.language.conditions import (
    BOUNDED_BELOW,
    CONVEX,
    DISSIMILAR,
    EQUAL_WEIGHTS,
    EXACT_GRADIENTS,
    INDEPENDENT,
    NOISE,
    SMOOTH,
    STRONGLY_CONVEX,
    UNIFORM_COHORT,
)
from fedtheory.symbols import run as r
from tests.checker.accusation import Accusation, state

SIGNS = (1, -1)
ALL_WORK = Eq(r.S, r.N)
STRONG = (SMOOTH, STRONGLY_CONVEX, r.mu > 0)
STRONGLY = {"smooth": "statement", "strongly_convex": "statement", "mu > 0": "statement"}
start, first_rate = r.sq_distance_0, (1 - r.eta * r.mu) ** (2 * r.T)


def mean_square_gradient(sigma: int, T: int) -> F:
    """Return the mean of E|grad F(x_t)|^2 over t < T for F = x^2/2 from x_0 = 0 with eta = 1, by
    enumeration of noise of sigma or -sigma."""
    total = F(0)
    for noise in product(SIGNS, repeat=T):
        p = F(0)
        for e in noise:
            total += p**2
            p -= p + sigma * e
    return total / 2**T / T


def mean_of_clients(eta: F, K: int) -> F:
    """Return the server's point after a round of FedAvg from 0 with the losses (x - 3)^2/2 and
    3 (x + 1)^2/2, whose mean has its minimiser at 0."""
    ends = []
    for curvature, middle in ((1, 3), (3, -1)):
        p = F(0)
        for _ in range(K):
            p -= eta * curvature * (p - middle)
        ends.append(p)
    return sum(ends) / 2


ACCUSATIONS = (
    Accusation(
        "sgd_conventions",
        dict(
            statement="For mu-strongly convex (mu > 0), L-smooth F, one machine, unbiased gradients of "
            "variance at most sigma^2 and eta <= 1/L: E|x_1 - x*|^2 <= (1 - eta mu)^2 |x_0 - x*|^2 "
            "+ eta^2 sigma^2."
        ),
        {
            **STRONGLY,
            "noise": "statement",
            "L eta <= 1": "statement",
            "N = 1": "statement",
            "T = 1": "statement",
            "independent_noise": "convention",
        },
        lambda: state(
            "sgd_conventions",
            r.sq_distance_T,
            "<=",
            first_rate * start + r.eta**2 * r.sigma**2,
            *(*STRONG, NOISE, r.eta * r.L <= 1, Eq(r.N, 1), Eq(r.T, 1), INDEPENDENT),
            algorithm="fedsgd",
        ),
        "none",
        "That noise is drawn anew, whatever x_0 is, goes without saying.",
        dict(eta=F(1, 2), p=1, sigma=1),
        lambda eta, p, sigma: (
            sum((p - eta * (p + sigma * e)) ** 2 for e in SIGNS) / 2
            <= (1 - eta) ** 2 * p**2 + eta**2 * sigma**2
        ),
        quantifier="for all",
    ),
    Accusation(
        "sgd_no_floor",
        dict(
            statement="For mu-strongly convex (mu > 0), L-smooth F, unbiased independent gradients of "
            "variance at most sigma^2, one machine and all eta <= 1/L, SGD converges linearly: "
            "E|x_T - x*|^2 <= (1 - eta mu)^(2T) |x_0 - x*|^2."
        ),
        {
            **STRONGLY,
            "noise": "statement",
            "independent_noise": "statement",
            "L eta <= 1": "statement",
            "N = 1": "statement",
        },
        lambda: state(
            "sgd_no_floor",
            r.sq_distance_T,
            "<=",
            first_rate * start,
            *(*STRONG, NOISE, INDEPENDENT, r.eta * r.L <= 1, Eq(r.N, 1)),
            algorithm="fedsgd",
        ),
        "statement",
        "With a constant step noise drives SGD away even from the minimiser.",
        dict(eta=1, p=0, sigma=1),  # T = 1
        lambda eta, p, sigma: (
            F(sum((p - eta * (p + sigma * e)) ** 2 for e in SIGNS), 2) <= (1 - eta) ** 2 * p**2
        ),
        quantifier="for all",
    ),
    Accusation(
        "sgd_fresh_noise",
        dict(
            statement="For L-smooth F, one machine, unbiased gradients of variance at most sigma^2 "
            "and eta <= 1/L: (1/T) sum E|grad F(x_t)|^2 <= 2 (F(x_0) - F*)/(eta T) + L eta sigma^2.",
            listing="3: draw a sample and compute g_t",
            notation="F* > -infinity is the infimum of F.",
        ),
        {
            "smooth": "statement",
            "bounded_below": "text",
            "noise": "statement",
            "independent_noise": "convention",
            "L eta <= 1": "statement",
            "N = 1": "statement",
        },
        lambda: state(
            "sgd_fresh_noise",
            r.mean_sq_grad,
            "<=",
            2 * r.gap_0 / (r.eta * r.T) + r.L * r.eta * r.sigma**2,
            *(SMOOTH, BOUNDED_BELOW, NOISE, INDEPENDENT, r.eta * r.L <= 1, Eq(r.N, 1)),
            algorithm="fedsgd",
        ),
        "none",
        "By convention each step draws its own sample; the same noise at all steps is no SGD.",
        dict(sigma=1, T=3),
        lambda sigma, T: mean_square_gradient(sigma, T) <= sigma**2,
        quantifier="for all",
    ),
    Accusation(
        "sgd_floor_over_T",
        dict(
            statement="For L-smooth F, one machine, unbiased, independent noise of variance at most "
            "sigma^2, eta <= 1/L: (1/T) sum E|grad F(x_t)|^2 <= 2 (F(x_0) - F*)/(eta T) "
            "+ L eta sigma^2/T.",
            notation="F* > -infinity is the infimum of F.",
            after="For fixed eta the last term, L eta sigma^2, does not vanish as T grows.",
        ),
        {
            "smooth": "statement",
            "bounded_below": "text",
            "noise": "statement",
            "independent_noise": "statement",
            "L eta <= 1": "statement",
            "N = 1": "statement",
        },
        lambda: state(
            "sgd_floor_over_T",
            r.mean_sq_grad,
            "<=",
            2 * r.gap_0 / (r.eta * r.T) + r.L * r.eta * r.sigma**2 / r.T,
            *(SMOOTH, BOUNDED_BELOW, NOISE, INDEPENDENT, r.eta * r.L <= 1, Eq(r.N, 1)),
            algorithm="fedsgd",
        ),
        "misprint",
        "The sentence after prints the term without T and says that it stays.",
        dict(sigma=1, T=3),
        lambda sigma, T: mean_square_gradient(sigma, T) <= F(sigma**2, T),
        intended=lambda: state(
            "sgd_floor_over_T.meant",
            r.mean_sq_grad,
            "<=",
            2 * r.gap_0 / (r.eta * r.T) + r.L * r.eta * r.sigma**2,
            *(SMOOTH, BOUNDED_BELOW, NOISE, INDEPENDENT, r.eta * r.L <= 1, Eq(r.N, 1)),
            algorithm="fedsgd",
        ),
        meant=lambda sigma, T: mean_square_gradient(sigma, T) <= sigma**2,
        quantifier="for all",
    ),
    Accusation(
        "uniform_by_convention",
        dict(
            statement="For exact gradients, dissimilarity at most G^2 and F = (1/N) sum f_i, "
            "L-smooth: E F(x_1) <= F(x_0) - eta (1 - eta L/2) |grad F(x_0)|^2 "
            "+ L eta^2 rho_s G^2/(2 S).",
            listing="2: sample S of the N clients",
        ),
        {
            "smooth": "statement",
            "dissimilar": "statement",
            "exact_gradients": "statement",
            "equal_weights": "statement",
            "T = 1": "statement",
            "uniform_cohort": "convention",
        },
        lambda: state(
            "uniform_by_convention",
            r.loss_T,
            "<=",
            r.loss_0
            - r.eta * (1 - r.eta * r.L / 2) * r.sq_grad_0
            + r.L * r.eta**2 / 2 * r.rho_s * r.G**2 / r.S,
            *(SMOOTH, DISSIMILAR, EXACT_GRADIENTS, EQUAL_WEIGHTS, Eq(r.T, 1), UNIFORM_COHORT),
            algorithm="fedsgd",
        ),
        "none",
        "Who samples S of N clients and says no more, samples uniformly.",
        dict(eta=1, p=0, G=1),  # losses p^2/2 + G p and p^2/2 - G p; S = 1
        lambda eta, p, G: (
            F(sum((p - eta * (p + G * i)) ** 2 for i in SIGNS), 4)
            <= F(p**2, 2) - eta * (1 - F(eta, 2)) * p**2 + F(eta**2 * G**2, 2)
        ),
    ),
    Accusation(
        "fedavg_unbiased",
        dict(
            statement="With exact gradients, all clients working, mu-strongly convex (mu > 0), L-smooth "
            "losses, F = (1/N) sum f_i, eta_g = 1 and eta_l <= 1/L, FedAvg satisfies "
            "|x_T - x*|^2 <= (1 - eta_l mu)^(2 K T) |x_0 - x*|^2."
        ),
        {
            **STRONGLY,
            "exact_gradients": "statement",
            "S = N": "statement",
            "equal_weights": "statement",
            "eta_g = 1": "statement",
            "L eta_l <= 1": "statement",
        },
        lambda: state(
            "fedavg_unbiased",
            r.sq_distance_T,
            "<=",
            (1 - r.eta_l * r.mu) ** (2 * r.K * r.T) * start,
            *(*STRONG, EXACT_GRADIENTS, ALL_WORK, EQUAL_WEIGHTS),
            *(Eq(r.eta_g, 1), r.eta_l * r.L <= 1),
            algorithm="fedavg",
        ),
        "statement",
        "Two local steps on different losses lead away from the common minimiser.",
        dict(eta=F(1, 6), K=2, mu=1),  # from the minimiser, T = 1
        lambda eta, K, mu: mean_of_clients(eta, K) ** 2 <= (1 - eta * mu) ** (2 * K) * 0,
        quantifier="for all",
    ),
    Accusation(
        "fedavg_alike",
        dict(
            title="4. Warm-up: identical clients",
            statement="With exact gradients, convex, L-smooth losses, eta_g = 1 and eta_l = 1/L, "
            "FedAvg satisfies F(x_T) - F* <= L |x_0 - x*|^2/(4 K T + 2).",
        ),
        {
            "smooth": "statement",
            "convex": "statement",
            "exact_gradients": "statement",
            "eta_g = 1": "statement",
            "L eta_l = 1": "statement",
            "dissimilar": "text",
            "G = 0": "text",
        },
        lambda: state(
            "fedavg_alike",
            r.gap_T,
            "<=",
            r.L * start / (4 * r.K * r.T + 2),
            *(SMOOTH, CONVEX, EXACT_GRADIENTS, Eq(r.eta_g, 1), Eq(r.eta_l * r.L, 1)),
            *(DISSIMILAR, Eq(r.G, 0)),
            algorithm="fedavg",
        ),
        "none",
        "The section is about identical clients, for whom K T steps are gradient descent.",
        # f(x) = a x - a^2/2 from x = a on, where it joins x^2/2; L = x_0 = T = 1
        dict(K=2, a=F(1, 5)),
        lambda K, a: 1 - K * a >= a and a * (1 - K * a) - a**2 / 2 <= F(1, 4 * K + 2),
    ),
    Accusation(
        "drift_ignored",
        dict(
            statement="For one client with a mu-strongly convex (mu > 0), L-smooth loss, exact gradients, "
            "eta_g = T = 1, K = 2 and eta_l <= 1/L: |x_1 - x*|^2 <= (1 - eta_l mu)^2 |x_0 - x*|^2.",
            proof="K local steps are one step of K eta_l, so that |x_1 - x*|^2 <= "
            "(1 - K eta_l mu)^2 |x_0 - x*|^2, which is less.",
        ),
        {
            **STRONGLY,
            "exact_gradients": "statement",
            "N = 1": "statement",
            "eta_g = 1": "statement",
            "T = 1": "statement",
            "K = 2": "statement",
            "L eta_l <= 1": "statement",
        },
        lambda: state(
            "drift_ignored",
            r.sq_distance_T,
            "<=",
            (1 - r.K * r.eta_l * r.mu) ** 2 * start,
            *(*STRONG, EXACT_GRADIENTS, Eq(r.N, 1), Eq(r.eta_g, 1), Eq(r.T, 1), Eq(r.K, 2)),
            r.eta_l * r.L <= 1,
            algorithm="fedavg",
            kind="step",
        ),
        "step",
        "Each local step has its own gradient: K steps contract less than one long step.",
        dict(eta=F(1, 2), K=2, p=1),  # F = x^2/2
        lambda eta, K, p: ((1 - eta) ** K * p) ** 2 <= (1 - K * eta) ** 2 * p**2,
        intended=lambda: state(
            "drift_ignored.meant",
            r.sq_distance_T,
            "<=",
            (1 - r.eta_l * r.mu) ** 2 * start,
            *(*STRONG, EXACT_GRADIENTS, Eq(r.N, 1), Eq(r.eta_g, 1), Eq(r.T, 1), Eq(r.K, 2)),
            r.eta_l * r.L <= 1,
            algorithm="fedavg",
        ),
        meant=lambda eta, K, p: ((1 - eta) ** K * p) ** 2 <= (1 - eta) ** 2 * p**2,
    ),
)
