"""Hypotheses that flex's statements share."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Eq, Ne

from fedtheory import conditions
from fedtheory.conditions import DRAWN, Along, Assumption, Certified, Condition, Confined
from fedtheory.symbols.flex import E, eta, mu, ps, ratio_sup, tau, theta

if TYPE_CHECKING:
    import sympy

    from fedtheory.participation import Work
    from fedtheory.problem import Problem

IN_A_BALL = 'ft.problems.quadratic(..., noise="rademacher", radius=5.0)'


def _unevenly(problem: "Problem") -> "dict[str, Work]":
    from fedtheory.participation import Work  # wakes the compiler

    return dict(work=Work("uneven", _uneven))


def _uneven(N: int, E: int) -> np.ndarray:
    """Return the probabilities of 0, ..., E steps for each device, an array of shape (N, E + 1).
    The first device does all E steps; any number of steps is equally likely at the other devices.
    """
    rows = np.full((N, E + 1), 1 / (E + 1))
    rows[0] = np.eye(E + 1)[E]
    return rows


SMOOTH = Condition(
    "devices_smooth", "F_1, ..., F_N are L-smooth", Certified("L"), ("L",), conditions.SMOOTH.means
)
STRONGLY_CONVEX = Condition(
    "devices_strongly_convex",
    "F_1, ..., F_N are mu-strongly convex with mu > 0",
    lambda problem, setup: Certified("mu")(problem, setup) and problem.constants["mu"].value > 0,
    ("mu",),
    conditions.STRONGLY_CONVEX.means,
)
VARIANCE = Condition(
    "devices_noise",
    "stochastic gradients are unbiased, of variance at most sigma_k^2 at device k",
    lambda problem, setup: problem.noise in DRAWN,
    ("sigma_bar_sq",),
)
SECOND_MOMENT = Condition(
    "second_moment",
    "E||g_t^k||^2 is at most G^2 for all k and t",
    Certified("M"),
    ("M",),
    (Along("bounded", "M"),),  # it bounds the expected gradient
    met_by=IN_A_BALL,
)
STATIC = Condition(
    "static_law",
    "the distributions of s_tau^k do not vary with time",
    lambda problem, setup: getattr(setup, "static", True),
)
WORK_INDEPENDENT = Condition(
    "work_independent",
    "s_tau^k is independent of the gradients' noise and of earlier rounds",
    lambda problem, setup: getattr(setup, "work_independent", True),
)
STAYS = Condition(
    "stays",
    "iterates stay in a bounded set: only there strong convexity and bounded gradients coexist",
    lambda problem, setup: "M" in problem.constants and problem.constants["M"].scope != "global",
    means=(Confined(),),
    met_by=IN_A_BALL,
)
HOMOGENEOUS = Condition(
    "homogeneous",
    "all devices have the same distribution of s_tau^k",
    lambda problem, setup: getattr(setup, "homogeneous", True),
)
HETEROGENEOUS = Condition(
    "heterogeneous",
    "devices differ in their distributions of s_tau^k",
    lambda problem, setup: not getattr(setup, "homogeneous", True),
    settles=_unevenly,
)
DEVICES_INDEPENDENT = Condition(
    "devices_independent",
    "devices' s_tau^k are independent of each other",
    lambda problem, setup: getattr(setup, "devices_independent", True),
)
SOME_COMPLETE = Condition(
    "some_complete",
    "some device completes all E steps in every round (K_tau >= 1)",
    lambda problem, setup: getattr(setup, "some_complete", True),
)
ALL_ACTIVE = Condition(
    "all_active",
    "no device is ever inactive",
    lambda problem, setup: getattr(setup, "all_active", True),
)
FULL_WORK = Condition(
    "full_work",
    "every device completes all E steps in every round",
    lambda problem, setup: not setup.partial,
)

A1 = Assumption(SMOOTH, "assumption 3.1")
A2 = Assumption(STRONGLY_CONVEX, "assumption 3.2")
A3 = Assumption(VARIANCE, "assumption 3.3")
A4 = Assumption(SECOND_MOMENT, "assumption 3.4")
# Assumption 3.4 bounds g_t^k "for all k and t": gradients at iterates, not at every w. Read for every
# w, it and assumption 3.2 exclude each other, and nothing that follows speaks of anything.
BOUNDED_SET = Assumption(STAYS, "assumption 3.4, read along the run")
A5 = Assumption(ratio_sup <= theta, "assumption 3.5")
LAW = Assumption(STATIC, "before theorem 3.1")
WORK = Assumption(Ne(ps, 0), "before theorem 3.1, some work")

# No proof is in the text. That of Li et al. (2020b), which the text follows, takes expectations
# over noise given the work, and adds up variances over devices and steps.
INDEPENDENT = Assumption(conditions.INDEPENDENT, "theorem 3.1, sum of sigma_k^2", stated=False)
WORK_APART = Assumption(
    WORK_INDEPENDENT, "theorem 3.1, expectation of p_tau^k s_tau^k", stated=False
)
DEVICES_APART = Assumption(DEVICES_INDEPENDENT, "table 1, E[q / K_tau]", stated=False)

PROBLEM = (A1, A2, A3, A4, BOUNDED_SET)
UNSTATED = (INDEPENDENT, WORK_APART)


def learning_rate(
    ps: "sympy.Expr",
    gamma: "sympy.Symbol",
    where: str = "theorem 3.1, learning rate",
    since: "sympy.Expr | int" = 0,
) -> Any:
    """Return the assumption that the learning rate is eta_tau of theorem 3.1. `since` is the round
    at which eta was increased back."""
    return Assumption(Eq(eta, 16 * E / (mu * ps) / ((tau - since) * E + gamma)), where)
