"""Flex, section 4.3: whether to keep a departing device in the objective."""

from typing import TYPE_CHECKING, Any

from sympy import Eq, Max, Min, sqrt

from fedtheory.claim import Claim
from fedtheory.claims.flex._assumptions import LAW, PROBLEM, UNSTATED
from fedtheory.conditions import Assumption
from fedtheory.symbols.flex import (
    D_0,
    TABLE,
    V_0,
    V_1,
    E,
    Gamma_l,
    T,
    delay,
    delay_at_T,
    gamma_0,
    gamma_1,
    loss_excluded,
    loss_included,
    tau_0,
)

if TYPE_CHECKING:
    import sympy


def f_0(tau: "sympy.Symbol") -> "sympy.Expr":
    return ((tau - tau_0) * D_0 + V_0) / (tau * E + gamma_0)


def f_1(tau: "sympy.Expr") -> "sympy.Expr":
    return V_1 / ((tau - tau_0) * E + gamma_1)


# f_0 is monotone in tau, from f_0(tau_0) to D/E: its infimum over tau >= tau_0 is the lesser of the
# two.
least_f_0 = Min(f_0(tau_0), D_0 / E)
EQ8 = Assumption(least_f_0 >= f_1(T), "(8)")
start = V_0 / (tau_0 * E + gamma_0) + Gamma_l
DOMINATED = (
    Assumption(Eq(gamma_1, gamma_0), "before (9)"),
    Assumption(Eq(V_1, start), "before (9)"),
)
a, b = D_0 * E, D_0 * gamma_0 + V_0 * E - start * E
c = V_0 * gamma_0 - start * (tau_0 * E + gamma_0)
NINE: dict[str, Any] = dict(symbols=TABLE, unstated=UNSTATED)

CLAIMS = (
    Claim(
        id="flex.corollary4_0_3",
        cites="flex, corollary 4.0.3 (8), of the bounds",
        algorithm="flex_c",
        symbols=TABLE,
        assumes=(*PROBLEM, LAW, EQ8),
        unstated=UNSTATED,
        measures=f_1(T),
        bound=f_0(T),
        weakened=f_0(T) / 2,
        meaning="If there is time left, the bound is smaller without the departed device.",
        note="min over tau >= tau_0 is read as the infimum over all tau, D/E where f_0 decreases.",
    ),
    Claim(
        id="flex.corollary4_0_3_loss",
        cites="flex, corollary 4.0.3 (8), of the training loss",
        algorithm="flex_c",
        symbols=TABLE,
        assumes=(*PROBLEM, LAW, EQ8),
        unstated=UNSTATED,
        measures=loss_excluded,
        bound=loss_included,
        weakened=loss_included / 2,
        meaning="If there is time left, excluding the departed device leads to a smaller training loss.",
        note="(8) compares two bounds, f_0 and f_1; the sentence speaks of the losses themselves.",
    ),
    Claim(
        id="flex.eq9",
        cites="flex, corollary 4.0.3 (9)",
        kind="order",
        relation="O",
        assumes=(*PROBLEM, LAW, *DOMINATED),
        measures=delay,
        bound=sqrt(Gamma_l * tau_0),
        explicit="flex.eq9_explicit",
        meaning="The time from which excluding pays grows with the root of departure time and mismatch.",
        note="tilde-V = V / (tau_0 E + gamma) + Gamma_l drops the factors that corollary 3.2.1 has there. (8) with its minimum over tau >= tau_0, solved for T, is flex.eq9_explicit; f_0(T) >= "
        "f_1(T), solved for T, is flex.eq9_at_T_explicit, whose leading term is sqrt(Gamma_l tau_0 / D).",
        **NINE,
    ),
    Claim(
        id="flex.eq9_explicit",
        cites="flex, corollary 4.0.3, (8) solved for T",
        assumes=(*PROBLEM, LAW, *DOMINATED, Assumption(D_0 > 0, "section 4.3, D")),
        measures=delay,
        relation="==",
        bound=Max(0, (start / least_f_0 - gamma_0) / E),
        weakened=0,
        meaning="The exact remaining time from which (8) holds.",
        **NINE,
    ),
    Claim(
        id="flex.eq9_at_T_explicit",
        cites="flex, corollary 4.0.3, f_0(T) >= f_1(T) solved for T",
        assumes=(
            *PROBLEM,
            LAW,
            *DOMINATED,
            Assumption(D_0 > 0, "section 4.3, D"),
            Assumption(V_0 * gamma_0 <= start * (tau_0 * E + gamma_0), "f_0 <= f_1 at tau_0"),
        ),
        measures=delay_at_T,
        relation="==",
        bound=(sqrt(b**2 - 4 * a * c) - b) / (2 * a),  # D E x^2 + b x + c = 0, x = T - tau_0
        weakened=0,
        meaning="The exact remaining time from which f_1 is below f_0.",
        **NINE,
    ),
)
