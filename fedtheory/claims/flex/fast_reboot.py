"""Flex, corollary 4.0.2: near the old optimum, an extra update from the arriving device helps."""

from sympy import sqrt

from fedtheory.claim import Claim
from fedtheory.claims.flex._assumptions import A1, A2
from fedtheory.conditions import Assumption, Condition
from fedtheory.symbols.flex import (
    TABLE,
    Gamma_l,
    L,
    W,
    dist_new,
    dist_old,
    dist_reboot,
    gap_new,
    inner_l,
    mu,
    p_l,
)

BOUNDED = Condition(
    "bounded_by_W",
    "grad F is continuous; ||grad F|| and ||Hessian of F|| are positive and at most W",
    lambda problem, setup: {"M", "L"} <= set(problem.constants),
    ("W",),
)
# What yields (7): <grad F_l(w), w - w~*> differs from its value at w* by at most W ||w - w*|| (||w*
# - w~*|| + 1).
BOUNDED_L = Condition(
    "bounded_by_W_l",
    "||grad F_l|| and ||Hessian of F_l|| are at most W as well",
    BOUNDED.holds,
    BOUNDED.constants,
)
radius = gap_new / ((2 * sqrt(2 * L) / mu * p_l * sqrt(Gamma_l) + 1) * p_l * W)
EQ7 = Assumption(dist_old < radius, "(7)")

CLAIM = Claim(
    id="flex.corollary4_0_2",
    cites="flex, corollary 4.0.2",
    algorithm="flex_c",
    symbols=TABLE,
    assumes=(A1, A2, Assumption(BOUNDED, "corollary 4.0.2"), EQ7),
    unstated=(Assumption(BOUNDED_L, "corollary 4.0.2, of F_l", stated=False),),
    measures=inner_l,  # positive: then w' is closer for small delta^l
    relation=">",
    bound=0,
    also=((dist_reboot, "<", dist_new),),
    weakened=3 * gap_new / p_l,
    meaning="Close enough to the old optimum, some extra step along the arriving device's gradient approaches the new "
    "one.",
    note="W bounds a gradient and a Hessian. W for all w and assumption 3.2 exclude each other on all of R^d, and 0 < ||grad F(w)|| excludes w = w*.",
)
