"""Accusations about orders, quantifiers over step sizes, and ratios of definitions."""

from fractions import Fraction as F

from sympy import Eq, Rational, log, sqrt

from fedtheory.language.conditions import BOUNDED_BELOW, SMOOTH
from fedtheory.language.statements import Theta
from fedtheory.symbols import run as r
from tests.checker.accusation import Accusation, b, c, m, n, order, state, v, x

POWERS = tuple(10**exponent for exponent in range(1, 16))
halved = (1 - r.eta * r.L) ** 2  # what a step leaves of a squared distance where the curvature is L
regret = 1 / (r.eta * r.T) + r.eta


ACCUSATIONS = (
    Accusation(
        "hidden_constant",
        dict(statement="The cost 100 n + 5 is O(n) as n goes to infinity."),
        {},
        lambda: order("hidden_constant", 100 * n + 5, n),
        "none",
        "That 100 n + 5 > n refutes nothing: an O hides the constant 105.",
        dict(constant=105),
        lambda constant: all(100 * t + 5 <= constant * t for t in POWERS),
        grows=("n",),
    ),
    Accusation(
        "hidden_letter",
        dict(statement="The error c/n is O(1/n).", notation="O(.) hides c."),
        {},
        lambda: order("hidden_letter", c / n, 1 / n),
        "none",
        "The notation says that O hides c, which stays fixed while n grows.",
        dict(constant=7, fixed=7),
        lambda constant, fixed: all(F(fixed, t) <= F(constant, t) for t in POWERS),
        grows=("n",),
        hides=("c",),
    ),
    Accusation(
        "unhidden_product",
        dict(
            statement="The cost n m is O(n + m) as n and m go to infinity.",
            notation="O(.) hides absolute constants alone.",
        ),
        {},
        lambda: order("unhidden_product", n * m, n + m),
        "statement",
        "Along n = m the cost is a square and the shape is linear.",
        dict(constant=1),
        lambda constant: all(t * t <= constant * (t + t) for t in POWERS),
        grows=("n", "m"),
    ),
    Accusation(
        "shape_of_noise",
        dict(
            statement="The error (1 + v)/n is O(v/n).",
            notation="O(.) hides what depends on the problem alone, such as v.",
            assumption="Assumption 1: the variance v is positive.",
        ),
        {"v > 0": "text"},
        lambda: order("shape_of_noise", (1 + v) / n, v / n, v > 0),
        "none",
        "The problem is fixed with v > 0, and O hides 1 + 1/v; that v = 0 fails is nobody's claim.",
        dict(constant=101, noise=F(1, 100)),
        lambda constant, noise: all((1 + noise) / t <= constant * noise / t for t in POWERS),
        grows=("n",),
        hides=("v",),
    ),
    Accusation(
        "first_round",
        dict(statement="The number n of messages is O(n - 1) as n goes to infinity."),
        {},
        lambda: order("first_round", n, n - 1),
        "none",
        "At n = 1 the shape is 0, but an O speaks of large n, where 2 is enough.",
        dict(constant=2),
        lambda constant: all(t <= constant * (t - 1) for t in POWERS),
        grows=("n",),
    ),
    Accusation(
        "tuned_step",
        dict(
            statement="With eta = Theta(1/sqrt(T)) the regret 1/(eta T) + eta is O(1/T) as T goes to "
            "infinity."
        ),
        {},
        lambda: order("tuned_step", regret, 1 / r.T, regime=(Theta(r.eta, 1 / sqrt(r.T)),)),
        "statement",
        "Both terms are of the order 1/sqrt(T) for this step.",
        dict(constant=1),  # T = t^2 and eta = 1/t
        lambda constant: all(F(t, t**2) + F(1, t) <= F(constant, t**2) for t in POWERS),
        grows=("T",),
    ),
    Accusation(
        "tuned_step_root",
        dict(
            statement="With eta = Theta(1/sqrt(T)) the regret 1/(eta T) + eta is O(1/sqrt(T)) as T "
            "goes to infinity."
        ),
        {},
        lambda: order(
            "tuned_step_root", regret, 1 / sqrt(r.T), regime=(Theta(r.eta, 1 / sqrt(r.T)),)
        ),
        "none",
        "The step is tied to T; a fixed step, which makes the second term constant, is no instance.",
        dict(constant=2),  # T = t^2 and eta = 1/t
        lambda constant: all(F(t, t**2) + F(1, t) <= F(constant, t) for t in POWERS),
        grows=("T",),
    ),
    Accusation(
        "rate_exponent",
        dict(
            statement="The error c/n is O(1/n^2).",
            before="We recover the rate O(1/n) of gradient descent:",
            notation="O(.) hides c.",
        ),
        {},
        lambda: order("rate_exponent", c / n, 1 / n**2),
        "misprint",
        "The sentence before announces O(1/n); the exponent is a slip.",
        dict(constant=1),
        lambda constant: all(F(1, t) <= F(constant, t**2) for t in POWERS),
        intended=lambda: order("rate_exponent.meant", c / n, 1 / n),
        meant=lambda constant: all(F(1, t) <= F(constant, t) for t in POWERS),
        grows=("n",),
        hides=("c",),
    ),
    Accusation(
        "hidden_logarithm",
        dict(
            statement="The error log(n)/n is of the order 1/n as n goes to infinity.",
            notation="All orders are up to logarithms.",
        ),
        {},
        lambda: order("hidden_logarithm", log(n) / n, 1 / n),
        "reading",
        "Read as O the sentence is false; the notation says that orders omit logarithms.",
        dict(constant=1),  # n = 2^t, logarithms to the base 2
        lambda constant: all(F(t, 2**t) <= F(constant, 2**t) for t in range(1, 5000, 499)),
        intended=lambda: order("hidden_logarithm.meant", log(n) / n, 1 / n, logs=log(n)),
        whose="reader",
        meant=lambda constant: all(F(t, 2**t) <= F(constant * t, 2**t) for t in range(1, 99)),
        grows=("n",),
    ),
    Accusation(
        "some_step",
        dict(statement="There is a step size eta > 0 with (1 - eta L)^2 <= 1/4."),
        {},
        lambda: state("some_step", halved, "<=", Rational(1, 4), kind="existence"),
        "none",
        "The step size 1/L does it; that 3/L does not refutes no sentence about one step size.",
        dict(L=2, eta=F(1, 2)),
        lambda L, eta: (1 - eta * L) ** 2 <= F(1, 4),
        quantifier="there is",
    ),
    Accusation(
        "all_steps",
        dict(statement="For all step sizes eta > 0, (1 - eta L)^2 <= 1/4."),
        {},
        lambda: state("all_steps", halved, "<=", Rational(1, 4)),
        "statement",
        "The step size 2/L leaves the whole distance.",
        dict(L=1, eta=2),
        lambda L, eta: (1 - eta * L) ** 2 <= F(1, 4),
        quantifier="for all",
    ),
    Accusation(
        "suitable_step",
        dict(statement="With a suitable step size eta, (1 - eta L)^2 <= 1/4."),
        {},
        lambda: state("suitable_step", halved, "<=", Rational(1, 4)),
        "reading",
        "A suitable step size is one that there is; read for all step sizes the sentence is false.",
        dict(L=1, eta=2),
        lambda L, eta: (1 - eta * L) ** 2 <= F(1, 4),
        intended=lambda: state(
            "suitable_step.meant", halved, "<=", Rational(1, 4), kind="existence"
        ),
        whose="reader",
        meant=lambda L, eta: (1 - F(1, L) * L) ** 2 <= F(1, 4),
        quantifier="there is",
    ),
    Accusation(
        "half_cohort",
        dict(
            statement="With S = N/2 sampling without replacement halves the variance: rho_s = 1/2.",
            notation="rho_s = (N - S)/(N - 1).",
        ),
        {"N = 2 S": "statement"},
        lambda: state("half_cohort", r.rho_s, "==", Rational(1, 2), Eq(r.N, 2 * r.S)),
        "statement",
        "By its definition rho_s is S/(2 S - 1) at N = 2 S, which is above 1/2.",
        dict(N=4, S=2),
        lambda N, S: F(N - S, N - 1) == F(1, 2),
    ),
    Accusation(
        "condition_number",
        dict(
            statement="The condition number L/mu is at least 1.",
            assumption="Assumption 1: 0 < mu <= L.",
        ),
        {"mu > 0": "text", "mu <= L": "text"},
        lambda: state("condition_number", r.L / r.mu, ">=", 1, r.mu > 0, r.mu <= r.L),
        "none",
        "Assumption 1 excludes mu > L and the quotient by 0.",
        dict(L=3, mu=2),
        lambda L, mu: F(L, mu) >= 1,
    ),
    Accusation(
        "ratio_at_minimiser",
        dict(
            statement="For L-smooth f, |grad f(x)|^2/(2 L (f(x) - f*)) <= 1.",
            before="Let f* > -infinity be the infimum of f, and f(x) > f*.",
        ),
        {"smooth": "statement", "bounded_below": "text", "gap_x > 0": "text"},
        lambda: state(
            "ratio_at_minimiser",
            r.sq_grad_x / (2 * r.L * r.gap_x),
            "<=",
            1,
            *(SMOOTH, BOUNDED_BELOW, r.gap_x > 0),
        ),
        "none",
        "The sentence before excludes minimisers, where the ratio would be 0/0.",
        dict(L=2, p=3),
        lambda L, p: F((L * p) ** 2) / (2 * L * F(L * p**2, 2)) <= 1,
    ),
    Accusation(
        "linear_speedup",
        dict(
            statement="For every variance v > 0 and bias b > 0, n clients divide the error v + b by n: "
            "(v + b)/(v/n + b) = n."
        ),
        {"v > 0": "statement"},
        lambda: state("linear_speedup", (v + b) / (v / n + b), "==", n, v > 0),
        "statement",
        "Only the variance is divided; the bias stays.",
        dict(noise=1, bias=1, t=2),
        lambda noise, bias, t: (noise + bias) / (F(noise, t) + bias) == t,
    ),
    Accusation(
        "many_rounds_proof",
        dict(
            statement="The error m/n + 1/n is at most 2.",
            proof="Since the number n of rounds is at least the number m of clients, m/n <= 1.",
        ),
        {"m <= n": "proof"},
        lambda: state("many_rounds_proof", m / n + 1 / n, "<=", 2, unstated=(m <= n,)),
        "hypothesis",
        "One round with five clients has the error 6; only the proof has n >= m.",
        dict(clients=5, rounds=1),
        lambda clients, rounds: F(clients, rounds) + F(1, rounds) <= 2,
        needs=lambda clients, rounds: rounds >= clients,
    ),
    Accusation(
        "power_step",
        dict(
            statement="For 0 <= x <= 1 and every n, (1 - x)^n <= 1/(1 + n x).",
            proof="By Bernoulli's inequality (1 - x)^n <= 1 - n x, which is at most 1/(1 + n x).",
        ),
        {"x >= 0": "statement", "x <= 1": "statement"},
        lambda: state("power_step", (1 - x) ** n, "<=", 1 - n * x, x >= 0, x <= 1, kind="step"),
        "step",
        "Bernoulli's inequality has the other sign; the lemma is true all the same.",
        dict(p=F(1, 2), t=5),
        lambda p, t: (1 - p) ** t <= 1 - t * p,
        intended=lambda: state(
            "power_step.meant", (1 - x) ** n, "<=", 1 / (1 + n * x), x >= 0, x <= 1
        ),
        meant=lambda p, t: (1 - p) ** t <= 1 / (1 + t * p),
    ),
)
