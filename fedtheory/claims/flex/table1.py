"""Flex, table 1 (corollary 4.0.1): convergence of schemes A, B, C under incomplete and inactive
devices."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import Eq, Ne

from fedtheory.claim import Claim
from fedtheory.claims.flex._assumptions import (
    A5,
    DEVICES_APART,
    HETEROGENEOUS,
    HOMOGENEOUS,
    LAW,
    PROBLEM,
    SOME_COMPLETE,
    UNSTATED,
    WORK,
    learning_rate,
)
from fedtheory.conditions import Assumption
from fedtheory.symbols.flex import (
    TABLE,
    V_A,
    V_B,
    V_C,
    D,
    E,
    E_inv_K,
    E_inv_s,
    E_s,
    Gamma,
    I_sum,
    N,
    V,
    active,
    gamma,
    gamma_A,
    gamma_B,
    gamma_C,
    limit_sq_dist,
    p2s_over_p,
    p2s_sigma,
    p_inv,
    p_sigma_inv,
    ps,
    ratio_max,
    ratio_min,
    sigma_bar_sq,
    sq_dist,
    sq_dist_0,
    tau,
    theta,
)

if TYPE_CHECKING:
    import sympy

ALIKE = Assumption(HOMOGENEOUS, "table 1, homogeneous")
DIFFERENT = Assumption(HETEROGENEOUS, "table 1, heterogeneous")
HIDDEN = "O hides E, G, L, mu and the distance at the start. "
FAVOURED = Assumption(Ne(ratio_min, ratio_max), "z_tau = 1")
COMPLETE = Assumption(SOME_COMPLETE, "table 1, K_tau != 0")
WORKING = Assumption(Ne(E_s, 0), "table 1, E[s_tau] != 0")


def cell(
    name: str,
    cites: str,
    algorithm: str,
    assumes: Sequence[Any],
    unstated: Sequence[Any] = (),
    **more: Any,
) -> Any:
    return Claim(
        id=f"flex.table1_{name}",
        cites=f"flex, table 1, {cites}",
        algorithm=algorithm,
        symbols=TABLE,
        assumes=(*PROBLEM, LAW, *assumes),
        unstated=(*UNSTATED, *unstated),
        figure="flex_table1",
        **more,
    )


def homogeneous(
    scheme: str,
    shape: "sympy.Expr",
    bound: "sympy.Symbol",
    gamma: "sympy.Symbol",
    assumes: Sequence[Any],
    expected: "sympy.Expr",
    unstated: Sequence[Any] = (),
    note: str = "",
    **more: Any,
) -> tuple[Any, Any]:
    """Build two claims: the printed cell for homogeneous devices, and theorem 3.1 at the scheme's
    coefficients, which favour no device (M_tau = 0)."""
    algorithm, cites = f"flex_{scheme.lower()}", f"scheme {scheme}, homogeneous"
    start = gamma**2 * sq_dist_0 / (tau * E + gamma)
    return (
        cell(
            f"{scheme}_hom",
            cites,
            algorithm,
            (ALIKE, *assumes),
            unstated,
            kind="order",
            relation="O",
            measures=sq_dist,
            bound=shape,
            explicit=f"flex.table1_{scheme}_hom_explicit",
            note=HIDDEN + note,
            **more,
        ),
        cell(
            f"{scheme}_hom_explicit",
            f"{cites}, with the constants of theorem 3.1",
            algorithm,
            (ALIKE, *assumes, learning_rate(expected, gamma)),
            unstated,
            measures=sq_dist,
            bound=bound / (tau * E + gamma),
            weakened=start,
            meaning=f"Theorem 3.1 at scheme {scheme}'s coefficients, devices alike.",
        ),
    )


def suboptimal(scheme: str, coefficient: "sympy.Expr | int") -> tuple[Any, Any]:
    """Build claims on heterogeneous devices: D/E in the limit, and theorem 3.1 before the limit."""
    algorithm, cites = f"flex_{scheme.lower()}", f"scheme {scheme}, heterogeneous"
    more = (COMPLETE,) if scheme == "A" else ()
    assumes = (DIFFERENT, FAVOURED, WORK, *more, learning_rate(ps, gamma))
    return (
        cell(
            f"{scheme}_het",
            cites,
            algorithm,
            assumes,
            measures=limit_sq_dist,
            bound=D / E,
            weakened=0,
            explicit=f"flex.table1_{scheme}_het_explicit",
            meaning=f"Where devices differ, scheme {scheme} may end up to D/E away from the optimum.",
        ),
        cell(
            f"{scheme}_het_explicit",
            f"{cites}, theorem 3.1 at a finite tau",
            algorithm,
            (*assumes, A5, Assumption(Eq(theta, coefficient), "p_tau^k / p^k")),
            measures=sq_dist,
            bound=(tau * D + V) / (tau * E + gamma),
            weakened=gamma**2 * sq_dist_0 / (tau * E + gamma),
            meaning=f"Theorem 3.1 at scheme {scheme}'s coefficients, devices unlike each other.",
        ),
    )


CLAIMS = (
    *homogeneous(
        "A",
        (N**2 * E_inv_K + sigma_bar_sq + Gamma) / tau,
        V_A,
        gamma_A,
        (COMPLETE,),
        E,
        (DEVICES_APART,),
        "The printed numerator adds E[N^2 / K_tau] and sigma_bar^2. Theorem 3.1 gives a product: its B_tau "
        "has E N E[1 / K_tau] (2 E G^2 + sigma_bar^2), and theta = N multiplies Gamma.",
        meaning="Waiting for complete devices costs as much as they are rare.",
    ),
    *homogeneous(
        "B",
        (sigma_bar_sq + Gamma) / (tau * E_s),
        V_B,
        gamma_B,
        (WORKING,),
        E_s,
        meaning="Taking incomplete work as it is slows training down as much as work is missing.",
    ),
    *homogeneous(
        "C",
        (sigma_bar_sq + Gamma) * E_inv_s / tau,
        V_C,
        gamma_C,
        (WORKING,),
        E * active,
        note="Where s_tau = 0 is possible, 1/s_tau stands for 0 there, as the coefficient p_tau^k does.",
        meaning="Scaling incomplete work up costs as much as work is short on the harmonic mean.",
    ),
    *suboptimal("A", N),
    *suboptimal("B", 1),
    cell(
        "C_het",
        "scheme C, heterogeneous",
        "flex_c",
        (DIFFERENT, WORK),
        kind="order",
        relation="O",
        measures=sq_dist,
        bound=(I_sum * D + p_sigma_inv + Gamma) / tau,
        explicit="flex.table1_C_het_explicit",
        meaning="Scheme C reaches the optimum however devices differ, as long as few rounds have inactive ones.",
        note=HIDDEN
        + "The cell has sum I_t in the place of M_tau = sum E[z_t]; z_t of theorem 3.1, read literally, "
        "is 1 in all rounds as soon as devices' probabilities of inactivity differ.",
    ),
    cell(
        "C_het_explicit",
        "scheme C, heterogeneous, with the constants of theorem 3.1",
        "flex_c",
        (
            DIFFERENT,
            WORK,
            A5,
            Assumption(Eq(theta, E), "p_tau^k / p^k <= E"),
            learning_rate(ps, gamma),
        ),
        measures=sq_dist,
        bound=(I_sum * D + V) / (tau * E + gamma),
        also=((p2s_over_p, "==", E**2 * p_inv), (p2s_sigma, "==", E**2 * p_sigma_inv)),
        weakened=gamma**2 * sq_dist_0 / (tau * E + gamma),
        meaning="Theorem 3.1 at scheme C's coefficients, with the rounds that have inactive devices for M_tau.",
    ),
)
