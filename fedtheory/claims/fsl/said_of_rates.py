"""FSL, section III-B and appendix A-F in running text: how Phi, kappa and the rate (14) behave."""

from sympy import Eq, Max, Min, Rational, sqrt

from fedtheory.claim import Claim
from fedtheory.claims.fsl._assumptions import BOUNDED_BELOW, EQ11_EQUAL, EQ13, STATED, UNSTATED
from fedtheory.claims.fsl.corollaries import MANY_CLIENTS, MANY_STATED, step_c
from fedtheory.claims.fsl.said_of_progress import (
    LARGE_GAMMA,
    MANY,
    ROOT_S,
    at,
    level,
    sentence,
    step,
)
from fedtheory.conditions import Assumption
from fedtheory.language.statements import Theta
from fedtheory.symbols.fsl import (
    E_T,
    K_0,
    TABLE,
    G,
    G_tilde,
    K,
    K_more,
    L,
    M_sq,
    N,
    Phi,
    Psi,
    S,
    S_more,
    T,
    a,
    c,
    eta_0,
    eta_g,
    eta_l,
    gamma,
    gamma_more,
    h,
    kappa,
    phi,
    rho_s,
    sigma,
    sigma_0,
    tilde_D_0,
    xi_bar,
)

# (14) without the terms of D_0, xi and sigma: what multiplies G^2
of_G = rho_s * sqrt(L * K / (S * T)) / (1 + gamma) ** 2 + rho_s * L * K / (T * (1 + gamma))
first_14 = sqrt(L) / sqrt(K * S * T) * (tilde_D_0 + M_sq / (gamma + 1) ** 2)
noise_14 = sqrt(L) / sqrt(K * S * T) * M_sq / (gamma + 1) ** 2
# What increasing K lowers in the first term, and what it raises.
falls_in_K = (tilde_D_0 + gamma**2 * sigma_0**2 * S + sigma**2) / sqrt(K * S * T)
rises_in_K = rho_s * sqrt(K) * G**2 / sqrt(S * T) + K * rho_s * G**2 / T + K * xi_bar**2 / T

LEVELS = (
    sentence(
        "Phi_split",
        "after theorem 2",
        Phi,
        gamma**4 * sigma_0**2 / K_0 + phi,
        "Phi is the server's noise and phi.",
        relation="==",
        weakened=phi,
    ),
    sentence(
        "rho_s_near_1",
        "after theorem 2",
        rho_s,
        1 - S / N,
        "With few clients a round, rho_s is near 1.",
        relation=">=",
        also=((rho_s, "<=", 1),),
        weakened=1 - S / (2 * N),
    ),
    sentence(
        "phi_theta",
        "after theorem 2",
        phi,
        3 * (gamma**2 / S + 1 / eta_g**2) * level,
        "For rho_s near 1, phi is Theta((gamma^2/S + 1/eta_g^2)(G^2 + sigma^2/K)).",
        (MANY,),
        also=((phi, ">=", (gamma**2 / S + 1 / eta_g**2) * level),),
        weakened=(gamma**2 / S + 1 / eta_g**2) * level,
        note="The upper half needs no rho_s; at S = N the lower one fails, as gamma^2/S has no G^2 then.",
    ),
    sentence(
        "phi_root_S",
        "before corollary 1",
        phi,
        3 * Max(1, 1 / a**2) * (gamma**2 + 1) / S * level,
        "With eta_g = Theta(sqrt(S)), phi is Theta((gamma^2 + 1)/S (G^2 + sigma^2/K)).",
        (MANY, ROOT_S),
        also=((phi, ">=", Min(1, 1 / a**2) * (gamma**2 + 1) / S * level),),
        weakened=Min(1, 1 / a**2) * (gamma**2 + 1) / S * level,
    ),
    sentence(
        "Phi_below_Psi",
        "before corollary 1",
        Phi,
        Max(3, 4 / a**2) * (gamma**2 + 1) * Psi,
        "With eta_g = Theta(sqrt(S)) and rho_s near 1, Phi = O((gamma^2 + 1) Psi), with its constant.",
        (MANY, ROOT_S),
        weakened=(gamma**2 + 1) * Psi,
        note="rho_s near 1 is said two sentences before. Without it the line is false: at S = N and no noise Psi is 0 "
        "and Phi is 2 G^2 / eta_g^2.",
    ),
    sentence(
        "implementation_step",
        "section IV-A, implementation",
        K * eta_l * eta_g,
        K_0 * eta_0,
        "eta_g = sqrt(S) and eta_0 = sqrt(S) eta_l K/K_0 meet the equality of (11).",
        (
            Assumption(Eq(eta_g, sqrt(S)), "section IV-A"),
            Assumption(Eq(eta_0, sqrt(S) * eta_l * K / K_0), "section IV-A"),
        ),
        relation="==",
        weakened=K_0 * eta_0 / 2,
    ),
    sentence(
        "effective_rate",
        "section IV-B, server data size",
        gamma * eta_0,
        gamma * eta_l * sqrt(S),
        "The server's effective learning rate gamma eta_0 is gamma eta_l sqrt(S).",
        (Assumption(Eq(eta_0, sqrt(S) * eta_l * K / K_0), "section IV-A"),),
        unstated=(Assumption(Eq(K, K_0), "K = K_0", stated=False),),
        relation="==",
        weakened=gamma * eta_l * S,
        note="Section IV-A sets eta_0 = sqrt(S) eta_l K/K_0: the rate is that only where K = K_0, and E_s is chosen so "
        "that K_0 is about K, up to rounding.",
    ),
)
RATES = (
    Claim(
        id="fsl.corollary1_fedavg",
        cites="FSL, second remark after corollary 1",
        kind="order",
        algorithm="fsl",
        symbols=TABLE,
        assumes=(
            *STATED[:4],
            EQ11_EQUAL,
            EQ13,
            MANY_STATED,
            Assumption(Eq(gamma, 0), "without server learning"),
        ),
        unstated=(*UNSTATED, BOUNDED_BELOW),
        measures=E_T,
        relation="O",
        bound=sqrt(L) / sqrt(K * S * T) * (tilde_D_0 + M_sq) + L / T * M_sq,
        regime=(Theta(eta_g, sqrt(S)), Theta(K_0, K), Theta(K_0 * eta_0, step_c)),
        explicit="fsl.corollary1_explicit",
        meaning="Corollary 1 for FedAvg, which has gamma = 0.",
    ),
    sentence(
        "G_dependence",
        "second remark after corollary 1",
        at(of_G, gamma=gamma_more),
        of_G,
        "What multiplies G^2 in (14) is of the order 1/(sqrt(T) (1 + gamma)^2) + 1/(T (1 + gamma)), and decreases in "
        "gamma.",
        (Assumption(gamma <= gamma_more, "increasing gamma"),),
        weakened=of_G / 2,
    ),
    sentence(
        "gamma_lowers_noise",
        "appendix A-F (a)",
        noise_14,
        at(noise_14, gamma=0),
        "A positive gamma lowers the noise in the dominant term of (14).",
        unstated=(Assumption(S * sigma_0**2 <= sigma**2, "sigma_0 << sigma", stated=False),),
        weakened=at(noise_14, gamma=0) / 2,
        note='The appendix finds it "clear that using a positive gamma will lower" the bound if xi is small. M^2 holds '
        "gamma^2 sigma_0^2 S, which grows with gamma: it needs a quiet server, which the second remark after "
        "corollary 1 names among the cases of interest.",
    ),
    sentence(
        "first_term",
        "fourth remark after corollary 1",
        first_14,
        sqrt(L) * (falls_in_K + rho_s * sqrt(K) * G**2 / sqrt(S * T)),
        "The first term of (14), in what K lowers and what it raises.",
        algorithm="fsl",
        weakened=sqrt(L) * falls_in_K,
    ),
    sentence(
        "K_helps",
        "fourth remark after corollary 1",
        at(falls_in_K, K=K_more),
        falls_in_K,
        "Increasing K reduces the effect of noise and of the start.",
        (Assumption(K <= K_more, "increasing K"),),
        algorithm="fsl",
        weakened=falls_in_K / 2,
    ),
    sentence(
        "K_hurts",
        "fourth remark after corollary 1",
        at(rises_in_K, K=K_more),
        rises_in_K,
        "Increasing K amplifies the effect of non-IID data.",
        (Assumption(K <= K_more, "increasing K"),),
        relation=">=",
        weakened=2 * rises_in_K,
    ),
    sentence(
        "S_helps",
        "fourth remark after corollary 1",
        at(first_14, S=S_more),
        first_14,
        "Increasing S reduces the dominant term of (14).",
        (Assumption(S <= S_more, "increasing S"), Assumption(S_more <= N, "S' <= N")),
        algorithm="fsl",
        unstated=(
            Assumption(
                gamma**2 * sigma_0**2 * S_more <= sigma**2, "sigma_0 << sigma", stated=False
            ),
        ),
        weakened=first_14 / 2,
        note='The text: "increasing S will reduce the dominant term, which scales as O(1/sqrt(S))". Its M^2 holds '
        "gamma^2 sigma_0^2 S, which over sqrt(S) grows with S: the server's noise is averaged by no cohort.",
    ),
)
DOMINANT_SERVER = (
    sentence(
        "kappa_large",
        "appendix A-F (b)",
        kappa,
        4 * gamma**3,
        "For large gamma, kappa is 4 gamma^3.",
        LARGE_GAMMA,
        relation="==",
        weakened=3 * gamma**3,
        note="Theta(gamma^3) in the text; large against eta_g as well.",
    ),
    sentence(
        "h_large",
        "appendix A-F (b)",
        h,
        gamma / 2,
        "For large gamma and K_0 eta_0 L = Theta(1/gamma^2), h is Theta(gamma).",
        (
            *LARGE_GAMMA,
            Assumption(Eq(step * L, c / gamma**2), "K_0 eta_0 L = Theta(1/gamma^2)"),
            Assumption(c <= Rational(1, 16), "constant of the step"),
        ),
        relation=">=",
        also=((h, "<=", Rational(3, 2) * gamma),),
        weakened=Rational(3, 2) * gamma,
        note='"From (9)" in the text must be from (11) or (13). The constant of the Theta must be small: c = 1 has '
        "h < 0 for every gamma up to 30.",
    ),
    sentence(
        "Psi_large",
        "appendix A-F (b)",
        Psi,
        gamma**2 * sigma_0**2 / K_0 + G_tilde,
        "Psi is the server's noise and that of the clients.",
        relation="==",
        weakened=gamma**2 * sigma_0**2 / K_0,
    ),
    sentence(
        "Phi_large",
        "appendix A-F (b)",
        Phi,
        7 * gamma**2 * Psi,
        "For large gamma, Phi is Theta(gamma^2 Psi).",
        (*LARGE_GAMMA, Assumption(S <= gamma**2 * eta_g**2, "large gamma against S")),
        unstated=(MANY_CLIENTS,),
        also=((Phi, ">=", gamma**2 * Psi),),
        weakened=gamma**2 * Psi,
        note="Without rho_s away from 0 the upper half is false: at S = N and no noise Psi is 0 and Phi is "
        "2 G^2/eta_g^2.",
    ),
)
CLAIMS = (*LEVELS, *RATES, *DOMINANT_SERVER)
