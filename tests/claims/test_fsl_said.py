"""What FSL's text says between its theorems, against a second transcription in plain fractions, and numbers
worked by hand."""

import math
from fractions import Fraction as Q

import pytest

import fedtheory as ft
from fedtheory.claims.fsl import proof_constants, said_of_progress, said_of_rates, said_of_server
from fedtheory.models import by_name, losses

V = dict(
    L=Q(2),
    gamma=Q(3, 2),
    eta_g=Q(3),
    K=5,
    K_0=3,
    S=4,
    N=7,
    T=49,
    G=Q(3),
    xi_bar=Q(1, 2),
    sigma=Q(2),
    sigma_0=Q(1, 3),
    eta_0=Q(1, 1000),
    tilde_D_0=Q(9, 2),
    n=12,
    n_0=5,
    population=Q(7, 3),
    F_x=Q(5, 2),
    f_0_x=Q(4, 3),
    F_w0=Q(3),
    F_w1=Q(5, 2),
    F_bar=Q(3),
    a_w0=Q(4),
    b_w0=Q(9),
    xi_w0=Q(1, 4),
    inner_w0=Q(13, 3),
    sum_xi=Q(1, 3),
    sq_grad=Q(5, 3),
    sq_server_grad=Q(11, 5),
    grad_inner=Q(1, 7),
    sq_tilde_grad=Q(7, 3),
    sq_dissimilar=Q(5, 4),
    sq_xi=Q(2, 7),
    tilde_F_t=Q(13, 4),
    E_c=Q(3, 100),
    gamma_more=Q(5, 2),
    K_more=8,
    S_more=6,
    T_2=Q(1, 9),
    sq_mean_17=Q(6, 7),
    T_3=Q(1, 11),
    T_3_mean=Q(5, 9),
    T_5=Q(3, 4),
    sq_move_bar=Q(1, 40),
    c=Q(1, 20),
    a=Q(3, 2),
)
u, RHO = V["K_0"] * V["eta_0"], Q(7 - 4, 7 - 1)
ETA_L = u / (V["K"] * V["eta_g"])


def abbreviations(gamma, G_sq, xi_sq, rho=RHO):
    """Psi, kappa, Phi, h and the right side of (12), by hand."""
    K, K_0, S, L, eta_g, s, s_0 = (
        V[name] for name in ("K", "K_0", "S", "L", "eta_g", "sigma", "sigma_0")
    )
    Psi = gamma**2 * s_0**2 / K_0 + s**2 / (K * S) + rho * G_sq / S
    kappa = max(4 * gamma**3, 2 / eta_g**2 + 3 * gamma**2)
    Phi = (
        gamma**2 * Psi
        + Q(2, S) * gamma**2 * (s**2 / K + rho * G_sq)
        + (2 * G_sq + s**2 / K) / eta_g**2
    )
    h = gamma + Q(1, 2) - u * L * (1 + gamma) / 2 * (3 * gamma + 3 + 16 * kappa * u * L)
    after = (
        V["tilde_F_t"]
        - u * h * V["sq_tilde_grad"]
        + 5 * u**2 * L * Psi
        + 8 * u**3 * L**2 * (gamma * kappa / (1 + gamma) * xi_sq + Phi)
    )
    return Psi, kappa, Phi, h, after


PSI, KAPPA, PHI, H, AFTER = abbreviations(V["gamma"], V["G"] ** 2, V["xi_bar"] ** 2)
LEVEL = V["G"] ** 2 + V["sigma"] ** 2 / 5
M_SQ = V["gamma"] ** 2 * V["sigma_0"] ** 2 * 4 + V["sigma"] ** 2 + RHO * 5 * V["G"] ** 2


def first_14(S):
    """The first term of (14) at a cohort's size."""
    M_sq = V["gamma"] ** 2 * V["sigma_0"] ** 2 * S + V["sigma"] ** 2 + Q(7 - S, 6) * 5 * V["G"] ** 2
    return math.sqrt(2 / (5 * S * 49)) * float(V["tilde_D_0"] + M_sq / (V["gamma"] + 1) ** 2)


def of_G(gamma):
    return float(RHO) * (math.sqrt(Q(2 * 5, 4 * 49)) / (1 + gamma) ** 2 + 10 / 49 / (1 + gamma))


def rises(K):
    G_sq = float(V["G"]) ** 2
    return 0.5 * math.sqrt(K) * G_sq / math.sqrt(4 * 49) + K * 0.5 * G_sq / 49 + K * 0.25 / 49


def falls(K):
    return float(V["tilde_D_0"] + V["gamma"] ** 2 * V["sigma_0"] ** 2 * 4 + 4) / math.sqrt(
        K * 4 * 49
    )


A_SPLIT = Q(9, 8) / 4
PLUS_3 = V["gamma"] ** 2 * V["sigma_0"] ** 2 / 9
# id -> (left or None where it is a symbol alone, right) of the first line
FIRST = {
    "fsl.eq4_equivalent": (None, V["F_x"]),
    "fsl.same_objective": (None, (V["F_x"] + Q(3, 2) * V["f_0_x"]) / Q(5, 2)),
    "fsl.tilde_normalised": (
        Q(25, 4) * V["sq_tilde_grad"],
        V["sq_grad"] + 3 * V["grad_inner"] + Q(9, 4) * V["sq_server_grad"],
    ),
    "fsl.acute_angle": (4 + 9 - Q(1, 4), 2 * V["inner_w0"]),
    "fsl.eq9_large_gradient": (4 + (1 - Q(2, 1000)) * 9, Q(1, 4)),
    "fsl.eq9_by_samples": (4 + (1 - Q(2, 1000)) * 9, Q(1, 4)),
    "fsl.eq10_decreases": ((Q(12, 6) - 1) * Q(7, 3) / 11, (Q(12, 5) - 1) * Q(7, 3) / 11),
    "fsl.small_server_gradient": (Q(169, 9), Q(36)),
    "fsl.eq9_reversed": (4 + (1 - Q(2, 1000)) * 9, Q(1, 4)),
    "fsl.eq6_applies": (None, AFTER),
    "fsl.theorem1_pointwise": (None, abbreviations(V["gamma"], Q(5, 4), Q(2, 7))[-1]),
    "fsl.eq11_order": (u * 2 * Q(5, 2), Q(17, 36)),
    "fsl.h_half": (H, Q(1, 2)),
    "fsl.h_half_13": (H, Q(1, 2)),
    "fsl.h_omega": (H, Q(5, 8)),
    "fsl.step_13_to_11": (u, min(Q(3), Q(2, 3), Q(8, 9)) / 8),
    "fsl.Phi_split": (
        PHI,
        V["gamma"] ** 4 * V["sigma_0"] ** 2 / 3
        + Q(3, 4) * V["gamma"] ** 2 * (RHO * 9 + Q(4, 5))
        + (18 + Q(4, 5)) / 9,
    ),
    "fsl.rho_s_near_1": (RHO, 1 - Q(4, 7)),
    "fsl.phi_theta": (
        PHI - V["gamma"] ** 2 * PLUS_3 * 3,
        3 * (V["gamma"] ** 2 / 4 + Q(1, 9)) * LEVEL,
    ),
    "fsl.phi_root_S": (PHI - V["gamma"] ** 2 * PLUS_3 * 3, 3 * (V["gamma"] ** 2 + 1) / 4 * LEVEL),
    "fsl.Phi_below_Psi": (PHI, 3 * (V["gamma"] ** 2 + 1) * PSI),
    "fsl.implementation_step": (u, u),
    "fsl.effective_rate": (Q(3, 2) * V["eta_0"], Q(3, 2) * ETA_L * 2),
    "fsl.corollary1_fedavg": (
        None,
        math.sqrt(2 / (5 * 4 * 49)) * float(V["tilde_D_0"] + M_SQ) + 2 / 49 * float(M_SQ),
    ),
    "fsl.G_dependence": (of_G(2.5), of_G(1.5)),
    "fsl.gamma_lowers_noise": (
        math.sqrt(2 / (5 * 4 * 49)) * float(M_SQ / Q(25, 4)),
        math.sqrt(2 / (5 * 4 * 49)) * float(V["sigma"] ** 2 + RHO * 5 * 9),
    ),
    "fsl.first_term": (
        first_14(4),
        math.sqrt(2) * (falls(5) + float(RHO) * math.sqrt(5) * 9 / math.sqrt(4 * 49)),
    ),
    "fsl.K_helps": (falls(8), falls(5)),
    "fsl.K_hurts": (rises(8), rises(5)),
    "fsl.S_helps": (first_14(6), first_14(4)),
    "fsl.kappa_large": (KAPPA, 4 * Q(27, 8)),
    "fsl.h_large": (H, Q(3, 4)),
    "fsl.Psi_large": (PSI, PLUS_3 * 3 + Q(4, 20) + RHO * 9 / 4),
    "fsl.Phi_large": (PHI, 7 * Q(9, 4) * PSI),
    "fsl.step_after24": (1 + Q(9, 2) * u * 2, Q(2)),
    "fsl.step_L_0": (12 * u**2 * 9, Q(1)),
    "fsl.step_T7_typed": (
        None,
        (1 + 48 * u**2) * V["E_c"]
        + 12
        * u**2
        * Q(9, 4)
        * (
            V["sq_grad"] + Q(4, 3) * Q(9, 4) * V["sq_server_grad"] + Q(4, 20) + RHO * 9 / 4 + PLUS_3
        ),
    ),
    "fsl.step_T5c": (None, Q(25, 4) * Q(3, 7) * 7 * V["sq_dissimilar"] / 6),
    "fsl.step17": (2 * Q(1, 9), u**2 * Q(6, 7)),
    "fsl.step_T3_mean": (2 * Q(1, 11) / u, 2 * Q(5, 9)),
    "fsl.step_move_split": (Q(1, 40) / u**2, 4 * Q(5, 3) + Q(4, 3) * Q(3, 4)),
    "fsl.step29_recursion": (None, Q(0)),
    "fsl.step29_factor": (10 * ETA_L**2 * 4, Q(1, 32)),
    "fsl.step29_growth": (
        float(((1 + A_SPLIT) ** 5 - 1) / (5 * A_SPLIT)),
        (math.exp(1.125) - 1) / 1.125,
    ),
}
OURS = tuple(
    claim
    for part in (said_of_server, said_of_progress, said_of_rates, proof_constants)
    for claim in part.CLAIMS
)


@pytest.mark.parametrize("claim", OURS, ids=lambda claim: claim.id)
def test_lines_agree_with_the_text(claim):
    left, right = FIRST[claim.id]
    given = {**V, "eta_l": ETA_L, "a_split": A_SPLIT}
    values = {name: given[name] for name in claim.symbols if name in given}
    found = claim.evaluate(values, strict=False)
    if found.exact is not None and isinstance(right, Q):
        assert found.exact == right
    assert float(found) == pytest.approx(float(right), rel=1e-12)
    if left is not None:
        assert float(claim.evaluate_left(values, strict=False)) == pytest.approx(
            float(left), rel=1e-12
        )


def test_every_sentence_has_its_numbers():
    assert set(FIRST) == {claim.id for claim in OURS}


def test_the_order_of_the_step_is_reached():
    """min(1/gamma, 8/9) (1 + gamma) / 4 at gamma = 9/8 is 8/9 17/8 / 4."""
    claim, at = ft.claim("fsl.eq11_order"), dict(L=1, gamma=Q(9, 8), eta_g=2, K_0=1)
    found = claim.evaluate_left(dict(at, eta_0=Q(2, 9)))
    assert found.exact == claim.evaluate(dict(at, eta_0=Q(2, 9))).exact == Q(17, 36)


@pytest.mark.parametrize("gamma", [1, 5, 30])
def test_a_large_constant_makes_h_negative(gamma):
    """c = 1 in K_0 eta_0 L = c / gamma^2, as the note of fsl.h_large says."""
    kappa, step = 4 * gamma**3, Q(1, gamma**2)
    h = gamma + Q(1, 2) - step * Q(1 + gamma, 2) * (3 * gamma + 3 + 16 * kappa * step)
    at = dict(L=1, gamma=gamma, eta_g=2, K_0=1, eta_0=step, c=1)
    assert ft.claim("fsl.h_large").evaluate_left(at, strict=False).exact == h < 0


def test_the_last_constants_of_lemma_4():
    claim = ft.claim("fsl.step29_growth")
    at = lambda K: dict(K=K, a_split=Q(9, 8) / (K - 1))
    assert claim.evaluate_left(at(2)).exact == Q(25, 16)  # ((17/8)^2 - 1) / (9/4)
    assert 1.848 < float(claim.evaluate_left(at(10**4))) < float(claim.evaluate(at(2))) < 1.85


def test_unequal_weights_refute_what_applies_directly_to_6():
    """p = (1/8, 7/8), f_i = x^2/2 + t_i x with t = (7/8, -1/8): grad F(0) = 0, G = 5/8, and a step of u
    along the plain mean of the gradients, 3/8, leads to F(-3u/8) = 9 u^2/128. Of the bound 8 u^3 2 G^2
    = 25 u^3/4 is left: at u = 1/200 the left side is the larger."""
    setting, u = by_name("fsl_round"), Q(1, 200)
    flat = lambda tilt: [losses.make_curve(Q(1), tilt)]
    instance = dict(
        N=2,
        S=2,
        K=1,
        K_0=1,
        losses=[flat(Q(0)), flat(Q(7, 8)), flat(Q(-1, 8))],
        x=[Q(0)],
        noise=[],
        noise_0=[],
        weights=[Q(1, 8), Q(7, 8)],
    )
    assert "equal_weights" not in setting.holds(instance)
    values = dict(setting.constants(instance), eta_l=u, eta_g=Q(1), eta_0=u, gamma=Q(0))
    assert values["G"] == Q(5, 8) and values["xi_bar"] == 0
    claim = ft.claim("fsl.eq6_applies")
    values.update(setting.measure(instance, values, {*claim.quantities}))
    bound = claim.evaluate({k: values[k] for k in claim.needs(claim.bound)}, strict=False)
    assert values["tilde_F_next"] == 9 * u**2 / 128 > bound.exact == 25 * u**3 / 4


def test_the_typed_line_before_T_7_loses_gamma():
    """Four clients with gradients |y| + t, t = (-3, 1, 1, 1), two steps of e from 0, f_0 with gradient |y|, gamma = 6,
    K_0 eta_0 = 2 e, eta_g = 1. Each is at -e t after a step, E_c = (9 + 3) e^2/8; the mean of the ends is
    -e^2 (3 + 3)/4, E_0 its square. So gamma^2 E_0 = 36 9/4 e^4 = 81 e^4; the typed line allows it 12 (2 e)^2 E_c =
    72 e^4, as no gradient of F or f_0 and no noise is left."""
    setting, e = by_name("fsl_round"), Q(1, 100)
    bent = lambda tilt: [losses.make_curve(Q(-1), tilt, [(Q(2), Q(0))])]
    instance = dict(
        N=4,
        S=4,
        K=2,
        K_0=1,
        losses=[bent(Q(0)), bent(Q(-3)), bent(Q(1)), bent(Q(1)), bent(Q(1))],
        x=[Q(0)],
        noise=[],
        noise_0=[],
    )
    values = dict(setting.constants(instance), G=Q(2), eta_l=e, eta_g=Q(1), eta_0=2 * e, gamma=Q(6))
    claim = ft.claim("fsl.step_T7_typed")
    values.update(setting.measure(instance, values, {*claim.quantities}))
    bound = claim.evaluate({k: values[k] for k in claim.needs(claim.bound)}, strict=False)
    assert values["E_c"] == 3 * e**2 / 2 and values["T_6"] - values["E_c"] == 81 * e**4
    assert bound.exact - values["E_c"] == 72 * e**4
