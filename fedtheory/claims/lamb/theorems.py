"""FED-LAMB, theorem 1, corollary 1 and theorem 2 (Local-AMS): how small gradients become over R
rounds."""

from typing import TYPE_CHECKING, Any

from sympy import Eq, Rational, sqrt

from fedtheory.claim import Claim, Theta
from fedtheory.claims.lamb._assumptions import BOUNDED_BELOW, NO_DECAY, STATED, UNSTATED
from fedtheory.conditions import Assumption
from fedtheory.symbols.lamb import (
    TABLE,
    M,
    R,
    T,
    a,
    alpha,
    alpha_r,
    beta_2,
    bracket,
    cst,
    f_excess,
    f_excess_t,
    h,
    mean_sq,
    mean_sq_t,
    mean_sq_v,
    n,
    p,
    phi_M,
    rest,
    sigma,
    tau,
)

if TYPE_CHECKING:
    import sympy


def start(
    alpha: "sympy.Symbol", rounds: "sympy.Symbol", excess: "sympy.Symbol" = f_excess
) -> "sympy.Expr":
    return sqrt(M**2 * p / n) * excess / (h * alpha * rounds)


def noise(rounds: "sympy.Symbol") -> "sympy.Expr":
    return phi_M * sigma**2 / (rounds * n) * sqrt((1 - beta_2) / (M**2 * p))


MISPRINTS = (
    "The main text prints ln(alpha R) and ln sigma^2 for h alpha R and h sigma^2 (sans-serif h), as the "
    "appendix has them. "
)
RUN: dict[str, Any] = dict(algorithm="fed_lamb", symbols=TABLE, measures=mean_sq)
THEOREM: dict[str, Any] = dict(RUN, assumes=(*STATED, NO_DECAY), unstated=UNSTATED)
RATE = Assumption(Eq(alpha, a / sqrt(h * R)), "corollary 1, learning rate")
shape_T = (T - 1) ** 2 * p / (h**3 * R ** Rational(3, 2))

CLAIMS = (
    Claim(
        id="lamb.theorem1",
        cites="FED-LAMB, theorem 1 (4)",
        bound=start(alpha, R) + noise(R) + 4 * alpha * bracket + cst,
        explicit="lamb.theorem1_explicit",
        weakened=start(alpha, R),
        meaning="The mean squared gradient falls like 1/(alpha R) to a floor in proportion to alpha, plus a constant.",
        note=MISPRINTS
        + "'cst.' is left open and must be given here; lamb.theorem1_explicit has the terms "
        "that the proof's last display puts in its place. l is free in L_l. "
        "The index of theta-bar and of v is t under a sum over r.",
        follows=("lamb.theorem1_appendix",),
        **THEOREM,
    ),
    Claim(
        id="lamb.theorem1_explicit",
        cites="FED-LAMB, theorem 1, with the last display of appendix A.2",
        bound=start(alpha, R) + noise(R) + 4 * alpha * bracket + rest,
        weakened=start(alpha, R),
        meaning="The same with the proof's four terms for the constant.",
        note="The proof's last display has a constant factor (its sign is <~) and assumes M <= 1; E[B_2] is bounded "
        "for beta_1 = 0 only.",
        follows=("lamb.step_final/1",),
        **THEOREM,
    ),
    Claim(
        id="lamb.theorem1_appendix",
        cites="FED-LAMB, theorem 1 as stated in appendix A.2",
        bound=start(alpha_r, tau, f_excess_t) + noise(tau) + 4 * alpha * bracket + cst,
        explicit="lamb.theorem1_explicit",
        weakened=start(alpha_r, tau, f_excess_t),
        meaning="The same at iteration tau, under a learning rate said to decrease.",
        note="Stated 'with a decreasing learning rate alpha', with alpha_r in the first term and alpha in the others; "
        "(9) to (11) 'have assumed a constant learning rate alpha'. 'cst.' is left open as in the main text.",
        follows=("lamb.step_final/1",),
        **dict(THEOREM, measures=mean_sq_t),
    ),
    Claim(
        id="lamb.corollary1",
        cites="FED-LAMB, corollary 1 (5)",
        kind="order",
        relation="O",
        assumes=(*STATED, NO_DECAY),
        unstated=UNSTATED,
        bound=sqrt(p / n) / sqrt(h * R) + sigma**2 / (R * n * sqrt(p)) + shape_T,
        regime=(Theta(alpha, 1 / sqrt(h * R)),),
        explicit="lamb.corollary1_explicit",
        meaning="With learning rates of order 1/sqrt(h R) gradients fall like sqrt(p / (n h R)).",
        note="With alpha = a / sqrt(h R), theorem 1's drift term is of order (T - 1)^2 p / (h R)^(3/2), where (5) has "
        "h^3 R^(3/2); its terms 4 alpha (M^2 / sqrt(v_0) + ...) are of order 1/sqrt(h R) without the factor "
        "sqrt(p / n), and 'cst.' is gone. The companion keeps every term.",
        follows=("lamb.corollary1_explicit",),
        **RUN,
    ),
    Claim(
        id="lamb.corollary1_explicit",
        cites="FED-LAMB, corollary 1, with the constants of theorem 1",
        assumes=(*STATED, NO_DECAY, RATE),
        unstated=UNSTATED,
        bound=sqrt(M**2 * p / n) * f_excess / (a * sqrt(h * R))
        + noise(R)
        + 4 * alpha * bracket
        + rest,
        weakened=sqrt(M**2 * p / n) * f_excess / (a * sqrt(h * R)),
        meaning="The same with alpha = a / sqrt(h R) and every constant of the proof's last display.",
        follows=("lamb.theorem1_explicit",),
        **RUN,
    ),
    Claim(
        id="lamb.theorem2",
        cites="FED-LAMB, theorem 2 (theorem 5.1 of Chen, Li and Li 2020) (6)",
        kind="order",
        relation="O",
        algorithm="fed_ams",
        symbols=TABLE,
        assumes=STATED[:4],  # "similar assumption as ours"; phi has no place in Local-AMS
        unstated=(BOUNDED_BELOW,),
        measures=mean_sq_v,
        bound=sqrt(p / (R * n)) + sqrt(p / (R * n)) * sigma**2 + n * (T - 1) ** 2 / R,
        regime=(Theta(alpha, sqrt(n) / sqrt(R * p)),),
        meaning="Local-AMS: gradients fall like sqrt(p / (n R)), local steps costing n (T - 1)^2 / R.",
        note="Quoted without proof or constants, which stand in the cited paper alone: there is no explicit companion. "
        "Its left side scales by 1/sqrt(v), that of theorem 1 by v^(-1/4): the two do not measure alike. The "
        "sentence after it names epsilon and L_s, which (6) does not contain.",
    ),
)
