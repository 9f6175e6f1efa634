"""Facts for Mixed FL: the expression that its text gives for one of its quantities, and which of
its conditions imply others."""

from sympy import Eq, Ge, Le, Symbol

from fedtheory.claims.mixed import _assumptions as stated
from fedtheory.claims.mixed._assumptions import MU_CONVEX, MU_STRONGLY
from fedtheory.language import conditions
from fedtheory.proofs.textbook.facts import PREFIX, Fact
from fedtheory.symbols.mixed import (
    D_sq,
    F,
    T,
    best_sq_grad,
    f_next,
    f_t,
    gap,
    gap_c,
    gap_f,
    gap_mean,
    mean_gap,
    mean_sq_grad,
    sq_dist,
    sq_dist_next,
    sq_grad,
)

# Methods whose rounds the facts describe.
METHODS = ("parallel_training", "one_way_gt", "two_way_gt")
# Methods of these whose rounds have no memory of earlier rounds.
EACH_ROUND = ("parallel_training", "one_way_gt")
# Conditions of the paper that hold in every round or in none.
STEADY = (
    stated.SMOOTH_LOSSES,
    stated.HOMOGENEOUS,
    stated.NOISY,
    stated.MU_CONVEX,
    stated.MU_STRONGLY,
    stated.DISSIMILAR,
    stated.EQUAL_WORK,
    stated.PLAIN_SGD,
    stated.SMOOTH_SUM,
    stated.OWN_SMOOTHNESS,
)

# Means over rounds 0, ..., T of expectations: at the start of a round (`before`), and at its end,
# where the next round starts (`after`).
before, after, f_before, f_after = (
    Symbol(f"mean_{name}", **domain)
    for name, domain in (
        ("sq_dist", dict(nonnegative=True)),
        ("sq_dist_next", dict(nonnegative=True)),
        ("f_t", dict(real=True)),
        ("f_next", dict(real=True)),
    )
)
ROUNDS = {
    sq_dist: before,
    sq_dist_next: after,
    f_t: f_before,
    f_next: f_after,
    gap: mean_gap,
    sq_grad: mean_sq_grad,
}
FACTS = (
    Fact(PREFIX + "definition", Eq(gap, gap_f + gap_c, evaluate=False)),
    # f at the mean of x^(0), ..., x^(T), and the least of T + 1 numbers.
    Fact(PREFIX + "convex_mean", Le(gap_mean, mean_gap), (conditions.CONVEX,)),
    Fact(PREFIX + "smallest", Le(best_sq_grad, mean_sq_grad)),
    # The sum telescopes: only the first and the last term remain, and the last is at least its
    # infimum.
    Fact(PREFIX + "rounds", Ge((T + 1) * (after - before), -D_sq, evaluate=False)),
    Fact(
        PREFIX + "rounds",
        Ge((T + 1) * (f_after - f_before), -F, evaluate=False),
        (conditions.BOUNDED_BELOW,),
    ),
)
STRONGER = (  # mu > 0 implies mu >= 0, and mu >= 0 implies convexity
    (MU_STRONGLY, MU_CONVEX),
    (MU_CONVEX, conditions.CONVEX),
)
