"""FSL, corollaries 1 and 2, and the two special cases of appendix A-F that are rates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import Eq, Max, Rational, sqrt

from fedtheory.claim import Claim, Theta
from fedtheory.claims.fsl._assumptions import BOUNDED_BELOW, EQ11_EQUAL, EQ13, STATED, UNSTATED
from fedtheory.conditions import Assumption
from fedtheory.symbols.fsl import (
    E_T,
    K_0,
    TABLE,
    G_tilde,
    G_tilde_sq,
    K,
    L,
    M_sq,
    Phi,
    Psi,
    S,
    T,
    a,
    alpha,
    b,
    c,
    c_a,
    c_b,
    eta_0,
    eta_g,
    gamma,
    kappa,
    rho_s,
    sigma_0,
    tilde_D_0,
    xi_bar,
)

if TYPE_CHECKING:
    import sympy

A1_TO_4 = STATED[:4]
RUN: dict[str, Any] = dict(algorithm="fsl", symbols=TABLE, measures=E_T)
# "Phi = O((gamma^2 + 1) Psi)" is argued with rho_s near 1; at S = N the term 2 G^2 / eta_g^2 of Phi
# is not below Psi.
MANY_CLIENTS = Assumption(rho_s >= Rational(1, 2), "corollary 2, rho_s near 1", stated=False)
# Corollary 1 is said "under these conditions": rho_s near 1 is among them.
MANY_STATED = Assumption(rho_s >= Rational(1, 2), "before corollary 1, rho_s near 1")
PHI_LINE = (
    "The line Phi = O((gamma^2 + 1) Psi) before corollary 1 is argued for rho_s near 1. At rho_s = 0 Psi has "
    "no G^2 while Phi keeps 2 G^2 / eta_g^2, so the G^2 L / T part of the printed form does not follow from "
    "it; the companion keeps Phi whole."
)
# Appendix A-E: "h = Omega(gamma + 1)", by the remark after (13) h >= (3 gamma + 1)/4 >= (gamma +
# 1)/4.
drift = gamma * kappa * xi_bar**2 / (1 + gamma)
step_a = 1 / ((gamma + 1) * sqrt(T))
step_b = sqrt(S) / (sqrt(L * T) * (gamma + 1))
step_c = sqrt(K * S) / (sqrt(L * T) * (gamma + 1))


def printed_order(
    name: str,
    cites: str,
    shape: "sympy.Expr",
    regime: Sequence[Any],
    note: str = "",
    unstated: Sequence[Any] = (),
    stated: Sequence[Any] = (),
    **more: Any,
) -> Any:
    return Claim(
        id=f"fsl.{name}",
        cites=f"FSL, {cites}",
        kind="order",
        relation="O",
        bound=shape,
        regime=regime,
        assumes=(*A1_TO_4, EQ11_EQUAL, EQ13, *stated),
        unstated=(*UNSTATED, BOUNDED_BELOW, *unstated),
        explicit=f"fsl.{name}_explicit",
        note=note,
        **RUN,
        **more,
    )


def explicit(
    name: str,
    cites: str,
    bound: "sympy.Expr",
    step: "sympy.Expr",
    extra: Sequence[Any] = (),
    **more: Any,
) -> Any:
    return Claim(
        id=f"fsl.{name}_explicit",
        cites=f"FSL, {cites}, with the constants of appendix A-E",
        bound=bound,
        assumes=(*A1_TO_4, EQ11_EQUAL, EQ13, Assumption(Eq(K_0 * eta_0, step), cites), *extra),
        unstated=(*UNSTATED, BOUNDED_BELOW),
        **RUN,
        **more,
    )


def corollary_c(name: str, cites: str, **many: Any) -> tuple[Any, Any]:
    shape = sqrt(L) / sqrt(K * S * T) * (tilde_D_0 + M_sq / (gamma + 1) ** 2) + L / T * (
        M_sq / (1 + gamma) + gamma * kappa * K * S * xi_bar**2 / (1 + gamma) ** 4
    )
    start = 4 * sqrt(L) / (c_b * sqrt(K * S * T)) * tilde_D_0
    return (
        printed_order(
            name,
            cites,
            shape,
            (Theta(eta_g, sqrt(S)), Theta(K_0, K), Theta(K_0 * eta_0, step_c)),
            PHI_LINE,
            **many,
            meaning="With steps of order 1/sqrt(T) the gradient falls like 1/sqrt(K S T).",
        ),
        explicit(
            name,
            cites,
            start
            + 20 * c_b * Max(1, 1 / b) * sqrt(L) / sqrt(K * S * T) * M_sq / (gamma + 1) ** 2
            + 32 * c_b**2 * L / T * (K * S * drift + K * S * Phi) / (1 + gamma) ** 3,
            c_b * step_c,
            (Assumption(Eq(eta_g, a * sqrt(S)), cites), Assumption(K_0 >= b * K, cites)),
            weakened=start,
            meaning="The same with K_0 eta_0 = c_b sqrt(K S)/(sqrt(L T)(gamma + 1)) and every constant.",
        ),
    )


start_a = 4 * tilde_D_0 / (c_a * sqrt(T))
start_b = 4 * sqrt(L) / (c_b * sqrt(S * T)) * tilde_D_0

CLAIMS = (
    *corollary_c("corollary1", "corollary 1", stated=(MANY_STATED,)),
    # The text prints 1/(gamma + 1) sqrt(T); the bound that follows has sqrt(T) below the line.
    printed_order(
        "corollary2a",
        "corollary 2 (a)",
        tilde_D_0 / sqrt(T)
        + L * Psi / (sqrt(T) * (1 + gamma) ** 2)
        + L**2 * gamma * kappa * xi_bar**2 / (T * (1 + gamma) ** 4)
        + L**2 * Phi / (T * (1 + gamma) ** 3),
        (Theta(K_0 * eta_0, step_a),),
        meaning="Steps of order 1/sqrt(T) give a rate of 1/sqrt(T).",
    ),
    explicit(
        "corollary2a",
        "corollary 2 (a)",
        start_a
        + 20 * c_a * L * Psi / (sqrt(T) * (1 + gamma) ** 2)
        + 32 * c_a**2 * L**2 / (T * (1 + gamma) ** 3) * (drift + Phi),
        c_a * step_a,
        weakened=start_a,
        meaning="The same with K_0 eta_0 = c_a/((gamma + 1) sqrt(T)) and every constant.",
    ),
    printed_order(
        "corollary2b",
        "corollary 2 (b)",
        sqrt(L) / sqrt(S * T) * (tilde_D_0 + G_tilde_sq / (gamma + 1) ** 2)
        + L / T * (G_tilde_sq / (1 + gamma) + gamma * kappa * S * xi_bar**2 / (1 + gamma) ** 4),
        (Theta(eta_g, sqrt(S)), Theta(K_0 * eta_0, step_b)),
        PHI_LINE,
        (MANY_CLIENTS,),
        meaning="Larger cohorts allow larger steps: a rate of 1/sqrt(S T).",
    ),
    explicit(
        "corollary2b",
        "corollary 2 (b)",
        start_b
        + 20 * c_b * sqrt(L) / sqrt(S * T) * G_tilde_sq / (gamma + 1) ** 2
        + 32 * c_b**2 * L / T * (S * drift + S * Phi) / (1 + gamma) ** 3,
        c_b * step_b,
        (Assumption(Eq(eta_g, a * sqrt(S)), "corollary 2 (b)"),),
        weakened=start_b,
        meaning="The same with K_0 eta_0 = c_b sqrt(S)/(sqrt(L T)(gamma + 1)) and every constant.",
    ),
    *corollary_c("corollary2c", "corollary 2 (c)", unstated=(MANY_CLIENTS,)),
    printed_order(
        "special_sgd",
        "appendix A-F (b)",
        tilde_D_0 / (T * K_0 * alpha) + L * sigma_0**2 * alpha + G_tilde / gamma**3,
        (Theta(K_0 * eta_0 * L, 1 / gamma**2),),
        "Phi = Theta(gamma^2 Psi) is written for large gamma; at rho_s = sigma = sigma_0 = 0 Psi vanishes and Phi "
        "does not. The companion keeps Phi whole.",
        stated=(Assumption(Eq(xi_bar, 0), "xi = 0"), Assumption(gamma >= 1, "large gamma")),
        meaning="A dominant server makes FSL plain SGD on the server's data.",
    ),
    explicit(
        "special_sgd",
        "appendix A-F (b)",
        Rational(4, 3) * tilde_D_0 / (T * K_0 * alpha)
        + Rational(20, 3) * L * sigma_0**2 * alpha
        + Rational(20, 3) * c * G_tilde / gamma**3
        + Rational(32, 3) * c**2 * Phi / gamma**5,
        c / (gamma**2 * L),
        (Assumption(Eq(xi_bar, 0), "xi = 0"), Assumption(gamma > 0, "large gamma")),
        weakened=tilde_D_0 / (T * K_0 * alpha),
        meaning="The same with K_0 eta_0 L = c/gamma^2 and every constant.",
    ),
)
