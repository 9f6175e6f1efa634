"""Facts for Flex: in theorem 3.1, upper bounds on aggregated work. In theorem 3.2, the measured
quantities in terms of gradients at minimisers.

For an arrival, G_l is grad F_l at the old minimiser w*, and G_F is grad F at w*, which vanishes.
For a departure, G_l is grad F_l at the new minimiser, and G_F is the gradient of the new objective
there, which vanishes. The gradient of the objective of all devices is the weighted mean of G_l and
G_F.
"""

from typing import TYPE_CHECKING

from sympy import Eq, Le, sqrt

from fedtheory.claims.flex._assumptions import SMOOTH, STRONGLY_CONVEX
from fedtheory.proofs.textbook.facts import PREFIX, Fact
from fedtheory.symbols.flex import (
    E,
    Gamma_l,
    L,
    V,
    gamma,
    grad_l_new,
    grad_l_old,
    grad_new_old,
    grad_old_new,
    mu,
    n,
    n_l,
    ps,
    ratio_sup,
    shift,
    sq_dist_0,
    tilde_Gamma_l,
)

if TYPE_CHECKING:
    import sympy

METHODS = ("flex_a", "flex_b", "flex_c")  # methods whose rounds the facts describe
EACH_ROUND = ()  # methods of these whose rounds have no memory of earlier rounds
STEADY = ()  # conditions of the paper that hold in every round or in none


def event_facts(
    share: "sympy.Expr", steep: "sympy.Symbol", slope: "sympy.Symbol", excess: "sympy.Symbol"
) -> tuple[Fact, Fact, Fact]:
    """Return the three facts of one event; the gradient of the objective without the device is 0."""
    return (
        Fact(PREFIX + "gradient_growth", Le(mu * shift, steep), (STRONGLY_CONVEX,)),
        Fact(PREFIX + "minimum", Eq(steep, share * slope, evaluate=False)),
        Fact(PREFIX + "gradient_gap", Le(slope, sqrt(2 * L) * sqrt(excess)), (SMOOTH,)),
    )


FACTS = (
    # s_tau^k is at most E, and the p^k sum to 1.
    Fact(PREFIX + "definition", Le(ps, ratio_sup * E)),
    *event_facts(n_l / (n + n_l), grad_new_old, grad_l_old, Gamma_l),
    *event_facts(n_l / n, grad_old_new, grad_l_new, tilde_Gamma_l),
    Fact(PREFIX + "largest", Le(gamma**2 * sq_dist_0, V, evaluate=False)),  # V is a maximum
)
