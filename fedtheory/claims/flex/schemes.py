"""Flex, (2), figure 1 and sections 4.1 and 5.2: what the coefficients of a scheme do to the
aggregate."""

from fractions import Fraction

from fedtheory.claim import Claim
from fedtheory.claims.flex._assumptions import (
    A1,
    A2,
    ALL_ACTIVE,
    DEVICES_APART,
    HETEROGENEOUS,
    LAW,
    SOME_COMPLETE,
)
from fedtheory.conditions import Assumption
from fedtheory.symbols.flex import (
    TABLE,
    E,
    E_complete_k,
    E_inv_s,
    E_s,
    E_s_k,
    gain_k,
    limit_sq_dist,
    limit_weight_A_k,
    limit_weight_B_k,
    p_k,
    ps_k,
    s_k,
    sq_bias,
    sq_extra,
    sq_gap_eq2,
    sq_gap_printed,
    sum_weight_A,
    sum_weight_B,
)

ACTIVE = Assumption(ALL_ACTIVE, "figure 1")


def figure1() -> dict[str, Fraction]:
    """Return scheme C's coefficients at E = 5 for s = 3, 4, 5."""
    from fedtheory.participation.moments import coefficients  # wakes the compiler

    return {f"E=5, s={s}": coefficients("C", [Fraction(1)], [s], 5)[0] for s in (3, 4, 5)}


CLAIMS = (
    Claim(
        id="flex.eq2",
        cites="flex, (2), with s gradients",
        algorithm="flex_c",
        symbols=TABLE,
        measures=sq_gap_eq2,
        relation="==",
        bound=0,
        weakened=sq_extra,
        meaning="Adding weighted changes of the local models is taking a weighted sum of their gradient steps.",
        note="(1) does s_tau^k steps, i = 0 to s_tau^k - 1; the second line of (2) prints the upper limit s_tau^k, "
        "read here as s_tau^k - 1; flex.eq2_printed has it as printed. w in the first line is w^k.",
    ),
    Claim(
        id="flex.eq2_printed",
        cites="flex, (2), upper limit as printed",
        algorithm="flex_c",
        symbols=TABLE,
        measures=sq_gap_printed,
        relation="==",
        bound=0,
        also=((sq_gap_printed, "==", sq_extra),),
        weakened=2 * sq_extra,
        meaning="The same with one gradient more, which (1) never applies.",
    ),
    Claim(
        id="flex.scheme_C_unbiased",
        cites="flex, section 4.1, figure 1",
        algorithm="flex_c",
        symbols=TABLE,
        figure="flex_fig1",
        assumes=(ACTIVE,),
        measures=ps_k,
        relation="==",
        bound=p_k * E,
        also=((gain_k, "==", E / s_k),),
        weakened=p_k * E_s_k,
        meaning="Scheme C gives every device the weight of full work, however much of it was done.",
        note="To first order in the step size: gradients of one device are summed at different points.",
    ),
    Claim(
        id="flex.fig1_gains",
        cites="flex, figure 1",
        kind="structure",
        symbols=TABLE,
        figure="flex_fig1",
        says="Scheme C scales what devices send by E/s: 5/3, 5/4 and 1 where E = 5 and s = 3, 4 and 5.",
        printed={"E=5, s=3": Fraction(5, 3), "E=5, s=4": Fraction(5, 4), "E=5, s=5": Fraction(1)},
        compute=figure1,
        meaning="Scheme C makes up for work left undone by a factor of E over the steps that were done.",
    ),
    Claim(
        id="flex.bias_A_B",
        cites="flex, section 4.1, schemes A and B on heterogeneous devices",
        algorithm="flex_b",
        symbols=TABLE,
        assumes=(
            A1,
            A2,
            LAW,
            Assumption(HETEROGENEOUS, "table 1"),
            Assumption(SOME_COMPLETE, "table 1, K_tau != 0"),
        ),
        unstated=(DEVICES_APART,),
        measures=limit_weight_B_k,
        relation="==",
        bound=p_k * E_s_k / sum_weight_B,
        also=(
            (limit_weight_A_k, "==", p_k * E_complete_k / sum_weight_A),
            (limit_sq_dist, "==", sq_bias),
        ),
        weakened=p_k,
        meaning="Schemes A and B head for the optimum of another objective, in which busy devices count more.",
        note="The text says that A and B fail to converge to the optimum; this says where they go: as steps shrink, "
        "the mean change is that of gradient descent with weights in proportion to E[p_tau^k s_tau^k].",
    ),
    Claim(
        id="flex.jensen_s",
        cites="flex, section 5.2",
        symbols=TABLE,
        unstated=(Assumption(ALL_ACTIVE, "1/s_tau", stated=False),),
        measures=1 / E_s,
        bound=E_inv_s,
        weakened=E_inv_s / 2,
        meaning="The mean of 1/s is at least 1 over the mean of s, hence scheme B's rate at least as good as C's.",
    ),
)
