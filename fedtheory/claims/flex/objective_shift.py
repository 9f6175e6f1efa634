"""Flex, section 3.3: how far an arrival or a departure moves the optimum, and convergence after
it."""

from typing import TYPE_CHECKING, Any

from sympy import sqrt

from fedtheory.claim import Claim
from fedtheory.claims.flex._assumptions import A1, A2, LAW, PROBLEM, UNSTATED, learning_rate
from fedtheory.conditions import Assumption
from fedtheory.symbols.flex import (
    TABLE,
    D,
    Delta,
    E,
    Gamma_l,
    L,
    M_tau,
    V,
    gamma,
    grad_l_new,
    grad_l_old,
    grad_new_old,
    grad_old_new,
    mu,
    n,
    n_l,
    ratio_sup,
    shift,
    sq_dist_new,
    tau,
    tau_0,
    theta,
    tilde_D,
    tilde_gamma,
    tilde_Gamma_l,
    tilde_M,
    tilde_ps,
    tilde_start,
    tilde_V,
)

if TYPE_CHECKING:
    import sympy

arrival = 2 * sqrt(2 * L) / mu * n_l / (n + n_l) * sqrt(Gamma_l)
departure = 2 * sqrt(2 * L) / mu * n_l / n * sqrt(tilde_Gamma_l)
shrunk = (M_tau * D + V) / (tau * E + gamma)  # (3) at tau_0, given as tau
SHIFT: dict[str, Any] = dict(symbols=TABLE, assumes=(A1, A2), measures=shift)
HALF = "The text gives no proof. The shortest one, on record as a step, gives half of the constant."


def step(
    event: str,
    share: "sympy.Expr",
    steep: "sympy.Symbol",
    slope: "sympy.Symbol",
    excess: "sympy.Symbol",
    meaning: str,
) -> Any:
    """Build the claim that proves the bound on the optimum's shift in three lines: strong
    convexity, the gradient that remains where the other objective's gradient vanishes, smoothness.
    """
    bound = share * sqrt(2 * L) * sqrt(excess)
    return Claim(
        id=f"flex.step3_2_{event}",
        cites=f"flex, proof of theorem 3.2, {event}, not in the text",
        symbols=TABLE,
        assumes=(A1, A2),
        measures=mu * shift,
        bound=steep,
        also=((steep, "==", share * slope), (slope, "<=", sqrt(2 * L) * sqrt(excess))),
        weakened=bound / 4,
        meaning=meaning,
        follows={
            1: ("textbook.gradient_growth",),
            2: ("textbook.minimum",),
            3: ("textbook.gradient_gap",),
        },
    )


CLAIMS = (
    Claim(
        id="flex.theorem3_2_arrival",
        cites="flex, theorem 3.2 (4)",
        bound=arrival,
        weakened=arrival / 4,
        meaning="An arriving device moves the optimum little if it has few data, or data like the others'.",
        note=HALF,
        follows=("flex.step3_2_arrival",),
        **SHIFT,
    ),
    Claim(
        id="flex.theorem3_2_departure",
        cites="flex, theorem 3.2 (5)",
        bound=departure,
        weakened=departure / 4,
        meaning="A departing device moves the optimum little if it had few data, or data like the others'.",
        note="n counts the data originally, the departing device's included. " + HALF,
        follows=("flex.step3_2_departure",),
        **SHIFT,
    ),
    step(
        "arrival",
        n_l / (n + n_l),
        grad_new_old,
        grad_l_old,
        Gamma_l,
        "At the old optimum all that is left of the new objective's gradient is the arriving device's.",
    ),
    step(
        "departure",
        n_l / n,
        grad_old_new,
        grad_l_new,
        tilde_Gamma_l,
        "At the new optimum all that is left of the old objective's gradient is the departing device's.",
    ),
    Claim(
        id="flex.corollary3_2_1",
        cites="flex, corollary 3.2.1 (6)",
        algorithm="flex_c",
        symbols=TABLE,
        assumes=(
            *PROBLEM,
            Assumption(ratio_sup <= theta, "assumption 3.5"),
            LAW,
            Assumption(tau_0 < tau, "corollary 3.2.1"),
            learning_rate(tilde_ps, tilde_gamma, "corollary 3.2.1, learning rate", tau_0),
        ),
        unstated=UNSTATED,
        measures=sq_dist_new,
        bound=(tilde_M * tilde_D + tilde_V) / ((tau - tau_0) * E + tilde_gamma),
        weakened=tilde_gamma**2
        * Delta
        / ((tau - tau_0) * E + tilde_gamma),  # as if the optimum had not moved
        meaning="After a shift training starts over towards the new optimum, at the learning rate of a start.",
        note="The learning rate is printed with gamma and the p, s of theorem 3.1; those of the new devices are meant, "
        "on which tilde-gamma depends.",
    ),
    Claim(
        id="flex.corollary3_2_1_start",
        cites="flex, corollary 3.2.1, last line",
        kind="order",
        relation="O",
        symbols=TABLE,
        assumes=(*PROBLEM, LAW),
        unstated=(
            *UNSTATED,
            Assumption(Delta <= V / (tau * E + gamma), "(3) at M_tau = 0", stated=False),
        ),
        measures=tilde_start,
        bound=V / (tau * E + gamma) + Gamma_l,
        explicit="flex.corollary3_2_1_start_explicit",
        meaning="The distance to start over from: what (3) left, and what the shift added.",
        note="Written for M_tau = 0, and without tilde-gamma^2, which the text's left-hand side has as a factor; tau "
        "stands for tau_0.",
    ),
    Claim(
        id="flex.corollary3_2_1_start_explicit",
        cites="flex, corollary 3.2.1, last line, with the constants of theorems 3.1 and 3.2",
        symbols=TABLE,
        assumes=(
            *PROBLEM,
            LAW,
            Assumption(Delta <= shrunk, "theorem 3.1"),
            Assumption(shift <= arrival, "theorem 3.2"),
        ),
        unstated=UNSTATED,
        measures=tilde_start,
        bound=2 * shrunk + 2 * arrival**2,  # (a + b)^2 <= 2 a^2 + 2 b^2
        weakened=shrunk,
        meaning="The same with every constant: twice what (3) left, and 16 L Gamma_l n_l^2 / (mu (n + n_l))^2.",
    ),
)
