"""Flex, theorem 3.1: how close tau rounds come to the minimiser; and what the text draws from
it."""

from typing import Any

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
    B_tau,
    D,
    E,
    M_tau,
    V,
    V_full,
    V_printed,
    eta,
    gamma,
    gamma_full,
    limit_sq_dist,
    mu,
    ps,
    ps_Gamma,
    ratio_max,
    ratio_min,
    sq_dist,
    sq_dist_0,
    tau,
    theta,
    z,
)

RATE = learning_rate(ps, gamma)
# A round from any point at the rate of round tau - 1, eta_(tau-1), of which 1/eta_tau is mu ps/16
# more; its steps are of some round of theorem 3.1
earlier = 16 * eta / (16 - mu * ps * eta)
ONE = (
    Assumption(Eq(tau, 1), "one round"),
    Assumption(eta <= 16 * E / (mu * ps) / (E + gamma), "theorem 3.1, learning rate of some round"),
)
SOME_WORK = Assumption(ps > 0, "before theorem 3.1, some work")
x = tau * E + gamma  # what the bound of round tau is divided by
THEOREM: dict[str, Any] = dict(
    algorithm="flex_c",  # p_tau^k is any scheme's
    symbols=TABLE,
    assumes=(*PROBLEM, A5, LAW, WORK, RATE),
    unstated=UNSTATED,
    measures=sq_dist,
    weakened=gamma**2 * sq_dist_0 / (tau * E + gamma),  # from w* on, nothing moves
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
        follows=(
            "flex.step3_1_start",
            "flex.step3_1_round",
            "flex.step3_1_level",
            "textbook.induction",
        ),
        **THEOREM,
    ),
    Claim(
        id="flex.step3_1_round",
        cites="flex, proof of theorem 3.1, one round, not in the text",
        algorithm="flex_c",
        symbols=TABLE,
        assumes=(*PROBLEM, A5, LAW, WORK, *ONE),
        unstated=UNSTATED,
        measures=sq_dist,
        bound=(1 - mu * ps * earlier / 2) * sq_dist_0
        + earlier**2 * B_tau
        + 2 * z * earlier * ps_Gamma,
        weakened=(1 - mu * ps * earlier / 2) * sq_dist_0,
        meaning="A round comes closer to the optimum, up to noise and drift, and to what favoured devices cost.",
        note="The text gives no proof; theorem 3.1 needs 1/8 in the place of 1/2.",
    ),
    Claim(
        id="flex.step3_1_start",
        cites="flex, proof of theorem 3.1, start, not in the text",
        algorithm="flex_c",
        symbols=TABLE,
        assumes=(A5, LAW, SOME_WORK),
        measures=ps,
        bound=theta * E,
        also=((gamma, ">=", 4 * E), (V, ">=", gamma**2 * sq_dist_0)),
        weakened=theta * E / 2,
        meaning="(3) holds at the start, as V is at least gamma^2 times the distance there, and gamma at least 1.",
        follows={
            1: ("textbook.definition",),
            2: ("flex.step3_1_start/1",),
            3: ("textbook.largest",),
        },
    ),
    Claim(
        id="flex.step3_1_level",
        cites="flex, proof of theorem 3.1, tau to tau + 1, not in the text",
        algorithm="flex_c",
        symbols=TABLE,
        assumes=(A5, LAW, SOME_WORK),
        measures=(1 - 8 * E / x) * V / x + V * E / x**2,
        bound=V / (x + E),
        also=((1 / (2 * x), "<=", 1 / (x + E)),),
        weakened=V / (x + E) / 2,
        meaning="If (3) holds at tau, a round's recursion gives it at tau + 1: what V stands for, and D.",
        follows={1: ("flex.step3_1_start/2", "flex.step3_1_start/3"), 2: ("flex.step3_1_start/2",)},
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
        weakened=tau,
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
        weakened=0,
        meaning="If some devices are favoured in every round, training ends at most D/E away from the optimum.",
        note="The text calls it loss; (3) bounds the squared distance to w*.",
    ),
)
