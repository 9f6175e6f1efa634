"""Flex, theorem 3.1: how close tau rounds come to the minimiser; and what the text draws from
it."""

from sympy import Eq

from fedtheory.claim import Claim
from fedtheory.claims.flex._assumptions import (
    A5,
    FULL_WORK,
    LAW,
    PROBLEM,
    UNSTATED,
    WORK,
    learning_rate,
)
from fedtheory.conditions import Assumption
from fedtheory.symbols.flex import (
    TABLE,
    D,
    E,
    M_tau,
    V,
    V_full,
    V_printed,
    gamma,
    gamma_full,
    limit_sq_dist,
    ps,
    ratio_max,
    ratio_min,
    sq_dist,
    sq_dist_0,
    tau,
    z,
)

RATE = learning_rate(ps, gamma)
THEOREM = dict(
    algorithm="flex_c",  # p_tau^k is any scheme's
    symbols=TABLE,
    assumes=(*PROBLEM, A5, LAW, WORK, RATE),
    unstated=UNSTATED,
    measures=sq_dist,
    teeth=gamma**2 * sq_dist_0 / (tau * E + gamma),  # from w* on, nothing moves
)

CLAIMS = (
    Claim(
        id="flex.theorem3_1",
        cites="flex, theorem 3.1",
        bound=(M_tau * D + V) / (tau * E + gamma),  # (3)
        meaning="The squared distance to the optimum falls like 1/tau, unless some devices' work is favoured.",
        note="The text gives no proof. z_tau is read literally: a property of expectations, hence 0 or 1 for good. In "
        "B_tau the last bracket is read as sum p s + theta (sum p - 2)_+ sum p s, whose expectation the text "
        "assumes to exist; flex.theorem3_1_printed has the sign as printed.",
        **THEOREM,
    ),
    Claim(
        id="flex.theorem3_1_printed",
        cites="flex, theorem 3.1, B_tau as printed",
        bound=(M_tau * D + V_printed) / (tau * E + gamma),
        meaning="The same with a plus sign between (sum p - 2)_+ and sum p s, as B_tau is printed.",
        **THEOREM,
    ),
    Claim(
        id="flex.fedavg_special",
        cites="flex, after theorem 3.1",
        algorithm="flex_b",
        symbols=TABLE,
        assumes=(
            *PROBLEM,
            Assumption(FULL_WORK, "s_tau^k = E"),
            Assumption(Eq(ratio_min, E), "p_tau^k s_tau^k = p^k E"),
            Assumption(Eq(ratio_max, E), "p_tau^k s_tau^k = p^k E, all k"),
            learning_rate(E, gamma_full),
        ),
        unstated=UNSTATED,
        measures=M_tau,
        relation="==",
        bound=0,
        also=((sq_dist, "<=", V_full / (tau * E + gamma_full)),),
        teeth=tau,
        meaning="When every device does all its work none is favoured, and FedAvg converges like 1/tau.",
    ),
    Claim(
        id="flex.suboptimal_DE",
        cites="flex, after theorem 3.1",
        algorithm="flex_b",
        symbols=TABLE,
        assumes=(*PROBLEM, A5, LAW, WORK, Assumption(Eq(z, 1), "M_tau increases linearly"), RATE),
        unstated=UNSTATED,
        measures=limit_sq_dist,
        bound=D / E,
        teeth=0,
        meaning="If some devices are favoured in every round, training ends at most D/E away from the optimum.",
        note="The text calls it loss; (3) bounds the squared distance to w*.",
    ),
)
