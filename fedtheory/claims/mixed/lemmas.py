"""Mixed FL, appendix D.1: lemmas D.2 to D.8, with the displayed lines of their proofs."""

from typing import TYPE_CHECKING, Any

from sympy import Rational

from fedtheory.claim import Claim
from fedtheory.claims.mixed._assumptions import CONVEX, MINIMIZER, SMOOTH, SMOOTH_LOSSES
from fedtheory.conditions import CONVEX as LOSSES_CONVEX
from fedtheory.conditions import Assumption, Condition
from fedtheory.symbols.mixed import (
    TABLE,
    E_sq_sum,
    E_sq_sum_errors,
    E_sq_sum_means,
    a,
    beta,
    eta,
    excess_D5,
    gap,
    h_x,
    h_y,
    h_z,
    inner_change,
    inner_xy,
    inner_zx,
    inner_zy,
    mean_sq_change,
    mu,
    spread,
    sq_change_c,
    sq_change_f,
    sq_cross,
    sq_grad,
    sq_i,
    sq_j,
    sq_map,
    sq_pair,
    sq_sum,
    sq_sum_means,
    sq_xy,
    sq_yz,
    sq_zx,
    sum_sq,
    tau,
)

if TYPE_CHECKING:
    import sympy

# Of a function h, or of random variables, rather than of a problem
BOUNDED = Condition(
    "bounded_variance", "E||Xi_i - xi_i||^2 <= sigma^2 for all i", lambda problem, setup: True
)
MARTINGALE = Condition(
    "martingale",
    "xi_i = E[Xi_i | Xi_1, ..., Xi_{i-1}], and each xi_i is known from the earlier Xi",
    lambda problem, setup: getattr(setup, "martingale", True),
)
VARIABLES = Assumption(BOUNDED, "lemma D.3")
H_SMOOTH = Assumption(SMOOTH_LOSSES, "h is beta-smooth")
H_CONVEX = Assumption(CONVEX.holds, "h is mu-strongly convex")
PROPORTION: dict[str, Any] = dict(symbols=TABLE, assumes=(SMOOTH, MINIMIZER))


def line(
    name: str,
    cites: str,
    measures: "sympy.Expr",
    bound: "sympy.Expr | int",
    meaning: str,
    **more: Any,
) -> Any:
    return Claim(
        id=f"mixed.{name}",
        cites=f"mixed FL, {cites}",
        kind="step",
        symbols=TABLE,
        measures=measures,
        bound=bound,
        meaning=meaning,
        **more,
    )


CLAIMS = (
    Claim(
        id="mixed.lemmaD2",
        cites="mixed FL, lemma D.2",
        symbols=TABLE,
        measures=sq_pair,
        bound=(1 + a) * sq_i + (1 + 1 / a) * sq_j,
        also=((sq_sum, "<=", tau * sum_sq),),
        weakened=(1 + a) * sq_i + sq_j / a,
        meaning="The square of a sum, split at will.",
    ),
    line(
        "stepD2",
        "proof of lemma D.2",
        sq_pair,
        (1 + a) * sq_i + (1 + 1 / a) * sq_j - sq_cross,
        "What the split loses is itself a square.",
        relation="==",
        weakened=(1 + a) * sq_i + (1 + 1 / a) * sq_j,
        note="As printed the square has a plus inside; multiplied out it must be sqrt(a) v_i - v_j/sqrt(a). The "
        "lemma needs only that it is a square.",
    ),
    line(
        "stepD2_minus",
        "proof of lemma D.2, with a minus inside the square",
        sq_pair,
        (1 + a) * sq_i + (1 + 1 / a) * sq_j - (2 * a * sq_i + 2 / a * sq_j - sq_cross),
        "The same with ||sqrt(a) v_i - v_j/sqrt(a)||^2, which is what the split loses.",
        relation="==",
        weakened=(1 + a) * sq_i + (1 + 1 / a) * sq_j,
        note="That square is written by the parallelogram's law, from the one with a plus.",
    ),
    Claim(
        id="mixed.lemmaD3",
        cites="mixed FL, lemma D.3, first half",
        symbols=TABLE,
        assumes=(VARIABLES,),
        measures=E_sq_sum,
        bound=sq_sum_means + tau**2 * spread**2,
        also=(
            (E_sq_sum, "==", sq_sum_means + E_sq_sum_errors),
            (E_sq_sum_errors, "<=", tau**2 * spread**2),
        ),
        weakened=sq_sum_means + tau * spread**2,  # what independence would give
        meaning="Noise of any dependence adds at most its number squared times its variance.",
    ),
    Claim(
        id="mixed.lemmaD3_martingale",
        cites="mixed FL, lemma D.3, second half",
        symbols=TABLE,
        assumes=(VARIABLES, Assumption(MARTINGALE, "lemma D.3, martingale differences")),
        measures=E_sq_sum,
        bound=2 * E_sq_sum_means + 2 * tau * spread**2,
        also=(
            (E_sq_sum, "<=", 2 * E_sq_sum_means + 2 * E_sq_sum_errors),
            (E_sq_sum_errors, "<=", tau * spread**2),
        ),
        weakened=E_sq_sum_means + tau * spread**2,  # the means move with the noise that came before
        meaning="Noise that is fresh at each step adds in proportion to the steps, at twice the price.",
    ),
    Claim(
        id="mixed.propD5",
        cites="mixed FL, proposition D.5",
        unstated=(Assumption(LOSSES_CONVEX, "proof of D.5, f_i and f_c convex", stated=False),),
        measures=(mean_sq_change + sq_change_c) / (2 * beta),
        bound=gap,
        weakened=gap / 2,
        meaning="A small error in the mixed loss means every gradient is close to what it is at the minimiser.",
        note="The statement asks for smoothness alone; its proof takes the tilted losses to be minimal where flat.",
        follows=("mixed.stepD5",),
        **PROPORTION,
    ),
    line(
        "stepD5",
        "proof of D.5",
        excess_D5,
        0,
        "Each loss, tilted to be flat at x*, exceeds its value there by its squared gradient over 2 beta.",
        assumes=(SMOOTH, MINIMIZER, Assumption(LOSSES_CONVEX, "proof of D.5")),
        weakened=-gap / 2,
        note="Printed as f~(x) - f~(x) on the right; the second is f~(x*).",
    ),
    line(
        "stepD5_typed",
        "proof of D.5, as typed",
        (mean_sq_change + sq_change_c) / (2 * beta),
        0,
        "The same with f~(x) - f~(x) on the right, which is 0.",
        assumes=(SMOOTH, MINIMIZER, Assumption(LOSSES_CONVEX, "proof of D.5")),
        weakened=-gap,
    ),
    Claim(
        id="mixed.propD6",
        cites="mixed FL, proposition D.6",
        symbols=TABLE,
        assumes=(SMOOTH, CONVEX, MINIMIZER),
        measures=sq_grad,
        bound=4 * beta * gap,
        weakened=2 * beta * gap,  # right if f itself were beta-smooth
        meaning="A small error in the mixed loss means a small gradient.",
        note="The constant is 4 because f = f_f + f_c is 2 beta-smooth; convexity is not needed for that.",
        follows=("mixed.stepD6", "mixed.propD5"),
    ),
    line(
        "stepD6",
        "proof of D.6",
        sq_grad,
        2 * sq_change_f + 2 * sq_change_c,
        "The gradient, split into the two losses' changes from the minimiser.",
        assumes=(MINIMIZER,),
        also=((2 * sq_change_f + 2 * sq_change_c, "<=", 2 * (mean_sq_change + sq_change_c)),),
        weakened=sq_change_f + sq_change_c,
    ),
    Claim(
        id="mixed.lemmaD7",
        cites="mixed FL, lemma D.7",
        symbols=TABLE,
        assumes=(H_SMOOTH, H_CONVEX),
        measures=inner_zy,
        relation=">=",
        bound=h_z - h_y + mu / 4 * sq_yz - beta * sq_zx,
        weakened=h_z - h_y + mu / 2 * sq_yz,  # convexity as if x were z
        meaning="A gradient taken nearby still shows the way, at a price in the distance.",
        note="Needs mu <= beta, which the two assumptions imply; mu = 0 is included.",
        follows=("mixed.stepD7/4",),
    ),
    line(
        "stepD7",
        "proof of D.7",
        inner_zx,
        h_z - h_x - beta / 2 * sq_zx,
        "Smoothness towards z, convexity towards y, and the split of a square.",
        relation=">=",
        assumes=(H_SMOOTH, H_CONVEX),
        also=(
            (inner_xy, ">=", h_x - h_y + mu / 2 * sq_xy),
            (mu / 2 * sq_xy, ">=", mu / 4 * sq_yz - mu / 2 * sq_zx),
            (inner_zy, ">=", h_z - h_y + mu / 4 * sq_yz - (beta + mu) / 2 * sq_zx),
        ),
        weakened=h_z - h_x + beta / 2 * sq_zx,
        note="The second inequality is printed without its left side, <grad h(x), x - y>.",
        follows={4: ("mixed.stepD7/1", "mixed.stepD7/2", "mixed.stepD7/3")},
    ),
    Claim(
        id="mixed.lemmaD8",
        cites="mixed FL, lemma D.8",
        symbols=TABLE,
        assumes=(H_SMOOTH, H_CONVEX, Assumption(eta <= 1 / beta, "lemma D.8, eta <= 1/beta")),
        measures=sq_map,
        bound=(1 - mu * eta) * sq_xy,
        weakened=(1 - mu * eta) ** 2 * sq_xy / 2,
        meaning="A gradient step brings two points closer, if it is not too long.",
        follows=("mixed.stepD8",),
    ),
    line(
        "stepD8",
        "proof of D.8",
        sq_map,
        sq_xy + (eta**2 * beta - 2 * eta) * inner_change,
        "The squares multiplied out, with smoothness; then eta <= 1/beta, then convexity.",
        assumes=(H_SMOOTH, H_CONVEX, Assumption(eta <= 1 / beta, "lemma D.8, eta <= 1/beta")),
        also=(
            ((eta**2 * beta - 2 * eta) * inner_change, "<=", -eta * inner_change),
            (-eta * inner_change, "<=", -mu * eta * sq_xy),
        ),
        weakened=sq_xy + Rational(-5, 2) * eta * inner_change,
        note="||grad h(x) - grad h(y)||^2 <= beta <grad h(x) - grad h(y), x - y> is smoothness with convexity.",
    ),
)
