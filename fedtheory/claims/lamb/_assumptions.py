"""Hypotheses that FED-LAMB's statements share."""

from typing import TYPE_CHECKING

from sympy import Eq

from fedtheory import conditions
from fedtheory.arithmetic import float_above
from fedtheory.conditions import DRAWN, Along, Assumption, Certified, Condition
from fedtheory.symbols.lamb import M, T, beta_1, lambda_

if TYPE_CHECKING:
    from fedtheory.problem import Problem

LAYER_SMOOTH = Condition(
    "layer_smooth",
    "each client's gradient is L_l-Lipschitz in layer l",
    Certified("L"),
    ("L",),
    (Along("curved", "L", within="layer"),),
)
BOUNDED = Condition(
    "bounded_gradient",
    "stochastic gradients are unbiased and of norm at most M",
    lambda problem, setup: "M" in problem.constants and problem.noise in DRAWN,
    ("M",),
    (Along("bounded", "M"),),  # it bounds the expected gradient
    met_by="ft.problems.bounded(..., M=1.0)",
)
VARIANCE = Condition(
    "coordinate_variance",
    "each coordinate of a stochastic gradient has variance at most sigma^2",
    Certified("sigma_coordinate"),
    ("sigma_coordinate",),
)
SCALE = Condition(
    "bounded_scale",
    "phi_m <= phi(a) <= phi_M for all a > 0",
    lambda problem, setup: getattr(setup, "phi", "clipped") == "clipped",
    ("phi_m", "phi_M"),
    settles=lambda problem: dict(phi="clipped"),
)


def _plainly(problem: "Problem") -> dict[str, float | str]:
    """Return the words and numbers with which moments are plain: v starts at an epsilon that is
    above every squared gradient, so that no gradient changes v."""
    M = problem.constants.get("M")
    above_all = {} if M is None else dict(epsilon=float_above(float(M) * float(M)))
    return dict(momentum="kept", bias_correction="none", **above_all)


EVERYONE = Condition(
    "everyone",
    "all n clients take part in every round",
    lambda problem, setup: setup.cohort == "full" and not setup.partial,
)
PLAIN_MOMENTS = Condition(
    "plain_moments",
    "m is kept from round to round, moments are not corrected for bias, and "
    "epsilon is not added to sqrt(v)",
    lambda problem, setup: getattr(setup, "plain_moments", True),
    settles=_plainly,
    met_by="ft.problems.bounded(..., M=1.0), whose gradients are bounded everywhere",
)
LAYERS_APART = Condition(
    "layers_apart",
    "the gradient of a layer depends on that layer alone",
    lambda problem, setup: getattr(setup, "layers_apart", True),
    met_by="ft.problems.bounded(..., layers=[...])",
)

H1 = Assumption(LAYER_SMOOTH, "H1")
H2 = Assumption(BOUNDED, "H2")
H3 = Assumption(VARIANCE, "H3")
H4 = Assumption(SCALE, "H4")
NO_DECAY = Assumption(Eq(lambda_, 0), "theorem 1, lambda = 0")

# Not stated in the theorem
ONE_STEP = Assumption(Eq(T, 1), "proof of lemma 1, T = 1", stated=False)
NO_MOMENTUM = Assumption(Eq(beta_1, 0), "proof of theorem 1, E[B_2]", stated=False)
SMALL_M = Assumption(M <= 1, "proof of theorem 1, last display", stated=False)
ALL_CLIENTS = Assumption(EVERYONE, "(9), mean over n clients", stated=False)
MOMENTS = Assumption(PLAIN_MOMENTS, "(8) to (11)", stated=False)
APART = Assumption(LAYERS_APART, "(7), sum over layers", stated=False)
INDEPENDENT = Assumption(conditions.INDEPENDENT, "proof of theorem 1, E||g_bar||^2", stated=False)
BOUNDED_BELOW = Assumption(conditions.BOUNDED_BELOW, "theorem 1, min f", stated=False)
EQUAL_WEIGHTS = Assumption(conditions.EQUAL_WEIGHTS, "(1)")

STATED = (EQUAL_WEIGHTS, H1, H2, H3, H4)
ROUND = (ALL_CLIENTS, MOMENTS, APART)
UNSTATED = (*ROUND, INDEPENDENT, NO_MOMENTUM, SMALL_M, BOUNDED_BELOW)
