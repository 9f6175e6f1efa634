"""Facts for Flex: in theorem 3.1, upper bounds on aggregated work. In theorem 3.2, the measured
quantities in terms of gradients at minimisers.

Of an arrival, G_l is grad F_l at the old minimiser w*, where grad F, called G_F, vanishes; of a
departure, grad F_l at the new minimiser, where grad of the new objective, G_F there, vanishes. The
objective of all devices has the weighted mean of the two for its gradient.
"""

from sympy import Eq, Le, sqrt

from fedtheory.claims.flex._assumptions import SMOOTH, STRONGLY_CONVEX
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
from fedtheory.textbook.facts import PREFIX, Fact

METHODS = ("flex_a", "flex_b", "flex_c")  # of whose rounds the facts speak
EACH_ROUND = ()  # of these no round has a memory of those before it
STEADY = ()  # conditions of the paper that hold of every round or of none


def event_facts(share, steep, slope, excess):
    """Return the three facts of one event; the gradient of the objective without the device is 0."""
    return (
        Fact(PREFIX + "gradient_growth", Le(mu * shift, steep), (STRONGLY_CONVEX,)),
        Fact(PREFIX + "minimum", Eq(steep, share * slope, evaluate=False)),
        Fact(PREFIX + "gradient_gap", Le(slope, sqrt(2 * L) * sqrt(excess)), (SMOOTH,)),
    )


FACTS = (
    # s_tau^k is at most E, and the p^k add up to 1
    Fact(PREFIX + "definition", Le(ps, ratio_sup * E)),
    *event_facts(n_l / (n + n_l), grad_new_old, grad_l_old, Gamma_l),
    *event_facts(n_l / n, grad_old_new, grad_l_new, tilde_Gamma_l),
    Fact(PREFIX + "largest", Le(gamma**2 * sq_dist_0, V, evaluate=False)),  # V is a maximum
)
