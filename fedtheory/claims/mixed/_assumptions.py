"""Hypotheses that mixed FL's statements share. beta is L in problem.constants; f_c sits at index
0."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Eq, Max, Min, Rational, log, sqrt

from fedtheory import conditions
from fedtheory.conditions import DRAWN, Assumption, Condition
from fedtheory.symbols.mixed import B, D_sq, K, S, beta, eps, eta, eta_c, eta_m, eta_s, mu

if TYPE_CHECKING:
    import sympy

    from fedtheory.problem import Problem


def _vanishes(problem: "Problem", names: Sequence[str]) -> bool:
    return any(
        name in problem.constants and abs(problem.constants[name].value) <= 1e-12 for name in names
    )


SMOOTH_LOSSES = Condition(
    "smooth",
    "f_1, ..., f_N and f_c are beta-smooth (definition D.1)",
    conditions.LIPSCHITZ.holds,
    ("L",),
    conditions.SMOOTH.means,
)
HOMOGENEOUS = Condition(
    "homogeneous",
    "clients draw from one distribution: f_i = f_f for all i (assumption 4.1)",
    lambda problem, setup: problem.N == 1 or _vanishes(problem, ("sigma_f", "G")),
    met_by="ft.problems.mixed(..., sigma_f=0.0)",
)
NOISY = Condition(
    "noise",
    "gradient estimates are unbiased, with variance at most sigma^2 at clients and sigma_c^2 at "
    "the center",
    lambda problem, setup: problem.noise in DRAWN and "sigma" in problem.constants,
    ("sigma", "sigma_c"),
)
MU_CONVEX = Condition(
    "convex",
    "f_1, ..., f_N and f_c are mu-convex (definition D.4)",
    conditions.CONVEX.holds,
    ("mu",),
)
MU_STRONGLY = Condition(
    "strongly_convex",
    "f_1, ..., f_N and f_c are mu-convex with mu > 0",
    conditions.STRONGLY_CONVEX.holds,
    ("mu",),
    conditions.STRONGLY_CONVEX.means,
)
DISSIMILAR = Condition(
    "dissimilar",
    "f_f and f_c satisfy definition 4.2 with G and B at w_f = w_c = 1/2",
    lambda problem, setup: {"G_bgd", "B_bgd"} <= set(problem.constants),
    ("G_bgd", "B_bgd"),
)
EQUAL_WORK = Condition(
    "equal_steps", "clients all do K steps", lambda problem, setup: not setup.partial
)
PLAIN_SGD = Condition(
    "sgd", "all optimisers are SGD", lambda problem, setup: getattr(setup, "sgd", True)
)
TRUE_TRANSFER = Condition(
    "gradients_first",
    "the first transferred gradients are those at x^(0)",
    lambda problem, setup: getattr(setup, "warm", False),
    met_by="ft.problems.mixed(...) without noise, all of whose clients work",
)


def _sum_is_smooth(problem: "Problem", setup: SimpleNamespace) -> bool:
    """Tell whether grad f is beta-Lipschitz, which is known where f is a quadratic with Hessian H_f
    + A_c."""
    data = problem.data
    if not (problem.has_server and hasattr(data, "H") and hasattr(data, "A")):
        return False
    total = data.H + data.A[0]
    top = np.abs(total if total.ndim == 1 else np.linalg.eigvalsh(total)).max()
    return bool(top <= problem.constants["L"].value * (1 + 1e-12))


SMOOTH_SUM = Condition(
    "smooth_sum",
    "f = f_f + f_c is beta-smooth itself",
    _sum_is_smooth,
    ("L",),
    met_by="ft.problems.mixed(..., L=1.0).relaxed(L=2.0)",
)

OWN_SMOOTHNESS = Condition(
    "own_smoothness",
    "f = f_f + f_c is beta_f-smooth",
    conditions.Certified("beta_sum"),
    ("beta_sum",),
)

SMOOTH = Assumption(SMOOTH_LOSSES, "section 4.1, definition D.1")
A41 = Assumption(HOMOGENEOUS, "assumption 4.1")
NOISE = Assumption(NOISY, "(4), (6)")
CONVEX = Assumption(MU_CONVEX, "definition D.4")
STRONGLY = Assumption(MU_STRONGLY, "definition D.4, mu > 0")
BGD = Assumption(DISSIMILAR, "definition 4.2")
MINIMIZER = Assumption(conditions.BOUNDED_BELOW, "section 4.1")
SGD = Assumption(PLAIN_SGD, "appendix D.2")
EQUAL_STEPS = Assumption(EQUAL_WORK, "appendix D.2")
EQUAL_WEIGHTS = Assumption(conditions.EQUAL_WEIGHTS, "(2)")
SETTING = (SMOOTH, A41, NOISE, MINIMIZER, EQUAL_WEIGHTS)  # of every theorem

# (5) adds up variances over clients, D.9 over steps and the cohort's draw.
INDEPENDENT = Assumption(conditions.INDEPENDENT, "(5), lemma D.9", stated=False)
UNIFORM = Assumption(conditions.UNIFORM_COHORT, "lemma D.9, S out of N", stated=False)
DRAWS = (INDEPENDENT, UNIFORM)


def least(*terms: "sympy.Expr") -> "sympy.Expr":
    """Return the minimum of terms, unevaluated, because SymPy's comparison of long terms would take
    most of the loading time."""
    return Min(*terms, evaluate=False)


def most(*terms: "sympy.Expr") -> "sympy.Expr":
    return Max(*terms, evaluate=False)


# Theorem B.1 and B.3: steps of both sides
MERGE = Assumption(eta_m >= 1, "theorems B.1 and B.3")
SAME_STEPS = Assumption(
    Eq(eta_c, eta * eta_s),
    "C.2, eta_c = eta eta_s",
    stated=False,
    note="With other steps the merged direction is not along grad f_f + grad f_c.",
)
NO_SHORTER = Assumption(eta_s >= 1, "drift of a client, eta_s >= 1", stated=False)


def ceiling(bound: "sympy.Expr", cites: str) -> tuple[Any, Any]:
    """Return the assumptions that eta_c and eta eta_s are at most bound / (K eta_m)."""
    return (
        Assumption(eta_c <= bound / (K * eta_m), f"{cites}, eta_c"),
        Assumption(eta * eta_s <= bound / (K * eta_m), f"{cites}, eta eta_s"),
    )


PT_STEPS = ceiling(1 / (6 * (1 + B**2) * beta), "theorem B.1")
# "eta_s > sqrt 5 8 S" in the text's one-line radicals: 5/8 over eta_s^2 is to be below 1/S, so
# sqrt(5 S / 8).
SERVER_CONVEX = Assumption(eta_s > sqrt(5 * S / 8), "theorem B.2, eta_s")
SERVER_NONCONVEX = Assumption(eta_s >= sqrt(S), "theorem B.2, eta_s")
ONE_CONVEX = Assumption(eta <= 1 / (8 * beta * K * eta_s), "theorem B.2, eta")
ONE_NONCONVEX = Assumption(eta <= 1 / (18 * beta * K * eta_s), "theorem B.2, eta")
SEVERAL_STEPS = Assumption(K >= 2, "table 1, K >= 2")

# O~ of the strongly convex rates: "logarithmic terms" (footnote 16) are read as one factor, that of
# the start over what is to be reached, without which the rounds are not those of a constant step;
# log(1/epsilon) stands for a number that is at least 1, whatever the unit of a loss.
REACHED = Assumption(eps <= Rational(1, 3), "O~, log(1/epsilon) >= 1", stated=False)
LOGS = log(2 + mu * D_sq / eps)
