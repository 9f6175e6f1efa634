"""FSL's right-hand sides against a second transcription: plain Python, from the paper, not from the
records."""

import math
from fractions import Fraction as Q
from types import SimpleNamespace

import pytest

import fedtheory as ft

# u = K_0 eta_0 = K eta_l eta_g; unequal K and K_0, S and N; L other than 1; gamma 0 and large; one
# client; tiny steps.
CASES = {
    "plain": dict(
        L=Q(2),
        gamma=Q(1),
        eta_g=Q(1),
        K=5,
        K_0=3,
        S=3,
        N=7,
        u=Q(1, 96),
        G=Q(3),
        xi=Q(1, 2),
        s=Q(2),
        s_0=Q(1, 3),
    ),
    "gamma zero": dict(
        L=Q(1, 3),
        gamma=Q(0),
        eta_g=Q(2),
        K=1,
        K_0=4,
        S=5,
        N=5,
        u=Q(1, 3),
        G=Q(1),
        xi=Q(5),
        s=Q(0),
        s_0=Q(2),
    ),
    "gamma large": dict(
        L=Q(7, 2),
        gamma=Q(50),
        eta_g=Q(3, 2),
        K=4,
        K_0=9,
        S=2,
        N=11,
        u=Q(1, 10**7),
        G=Q(1, 7),
        xi=Q(2),
        s=Q(1),
        s_0=Q(1, 5),
    ),
    "one client": dict(
        L=Q(5),
        gamma=Q(1, 2),
        eta_g=Q(1),
        K=2,
        K_0=1,
        S=1,
        N=1,
        u=Q(1, 10**12),
        G=Q(0),
        xi=Q(1),
        s=Q(1),
        s_0=Q(0),
    ),
}
MEASURED = dict(
    tilde_F_t=Q(13, 4),
    sq_tilde_grad=Q(7, 3),
    tilde_D_0=Q(9, 2),
    sq_grad=Q(5, 3),
    sq_server_grad=Q(11, 5),
    sq_xi=Q(2, 7),
    E_c=Q(3, 100),
    E_0=Q(7, 100),
    T_1=Q(-1, 3),
    T_2=Q(1, 9),
    T_3=Q(1, 11),
    T_4=Q(2, 3),
    T_5=Q(4, 3),
    T_4a=Q(1, 5),
    T_4b=Q(1, 6),
    T_5a=Q(1, 7),
    T_5b=Q(1, 8),
    T_5c=Q(1, 9),
    T_6=Q(1, 20),
    T_7=Q(1, 30),
    sq_move_bar=Q(1, 40),
    inner_drift_0=Q(1, 50),
    sq_server_grad_bar=Q(3, 2),
    E_T=Q(1, 4),
    L_tilde=Q(1, 3),
    tilde_F_0=Q(7, 3),
    tilde_F_T=Q(-5, 2),
    mean_sq_tilde_grad=Q(1, 3),
)


def terms(case):
    """The paper's abbreviations, by hand."""
    v = SimpleNamespace(**case, **MEASURED)
    v.rho = Q(v.N - v.S, v.N - 1) if v.N > 1 else Q(0)
    v.Psi = v.gamma**2 * v.s_0**2 / v.K_0 + v.s**2 / (v.K * v.S) + v.rho * v.G**2 / v.S
    v.kappa = max(4 * v.gamma**3, 2 / v.eta_g**2 + 3 * v.gamma**2)
    v.Phi = (
        v.gamma**2 * v.Psi
        + Q(2, v.S) * v.gamma**2 * (v.s**2 / v.K + v.rho * v.G**2)
        + (2 * v.G**2 + v.s**2 / v.K) / v.eta_g**2
    )
    v.h = (
        v.gamma
        + Q(1, 2)
        - v.u * v.L * (1 + v.gamma) / 2 * (3 * v.gamma + 3 + 16 * v.kappa * v.u * v.L)
    )
    v.G_2 = (
        3 * v.gamma**2 * v.s_0**2 / v.K_0
        + Q(9, 2) * v.s**2 / (v.K * v.S)
        + Q(9, 2) * v.rho * v.G**2 / v.S
    )
    v.G_3 = v.s**2 / (v.K * v.S) + v.rho * v.G**2 / v.S + v.gamma**2 * v.s_0**2 / (3 * v.K_0)
    v.G_4 = 3 * v.gamma**2 * v.G_3 + (2 * v.G**2 + v.s**2 / v.K) / v.eta_g**2
    v.tau = v.rho / v.S
    v.mix = v.gamma * v.kappa / (1 + v.gamma)
    v.eta_l, v.eta_0 = v.u / (v.K * v.eta_g), v.u / v.K_0
    v.T = 49
    v.gain_24 = (
        v.u * (Q(1, 2) + v.gamma - Q(3, 2) * (1 + v.gamma) ** 2 * v.u * v.L) * v.sq_tilde_grad
    )
    return v


def theorem2(v):
    return (
        v.tilde_D_0 / (v.T * v.u)
        + 5 * v.u * v.L * v.Psi
        + 8 * v.u**2 * v.L**2 * (v.mix * v.xi**2 + v.Phi)
    )


def corollary(v, size, noise, factor):
    """Appendix A-E: theorem 2 divided by (gamma + 1)/4, with u = c sqrt(size) / (sqrt(L T) (gamma +
    1))."""
    return (
        4 * math.sqrt(v.L) * v.tilde_D_0 / (v.c * math.sqrt(size * v.T))
        + 20 * v.c * factor * math.sqrt(v.L / (size * v.T)) * noise / (v.gamma + 1) ** 2
        + 32 * v.c**2 * v.L / v.T * size * (v.mix * v.xi**2 + v.Phi) / (1 + v.gamma) ** 3
    )


TRANSCRIBED = {
    "fsl.theorem1": lambda v: (
        v.tilde_F_t
        - v.u * v.h * v.sq_tilde_grad
        + 5 * v.u**2 * v.L * v.Psi
        + 8 * v.u**3 * v.L**2 * (v.mix * v.xi**2 + v.Phi)
    ),
    "fsl.theorem2": theorem2,
    "fsl.theorem2_mean": theorem2,
    "fsl.theorem2_positive": lambda v: 0,
    "fsl.theorem2_summed": lambda v: (
        theorem2(v) + (v.tilde_F_0 - v.tilde_F_T - v.tilde_D_0) / (v.T * v.u)
    ),
    "fsl.h_lower": lambda v: (3 * v.gamma + 1) / 4,
    "fsl.lemma3": lambda v: v.K_0 * v.L**2 * v.E_0,
    "fsl.lemma4": lambda v: 4 * v.K**2 * v.eta_l**2 * (v.sq_grad + v.s**2 / (2 * v.K) + v.G**2),
    "fsl.lemma5": lambda v: (
        12 * v.u**2 * (v.L**2 * v.E_c + v.sq_grad + Q(4, 3) * v.gamma**2 * v.sq_server_grad + v.G_3)
    ),
    "fsl.step16": lambda v: v.T_1 + v.L * v.T_2,
    "fsl.step16_own": lambda v: v.T_1 + v.L_tilde * v.T_2,
    "fsl.step18": lambda v: v.T_3 - (1 + v.gamma) * v.u * v.sq_tilde_grad,
    "fsl.step19": lambda v: (
        v.u * (v.L**2 * (v.E_c + v.gamma**2 * v.E_0) - (Q(1, 2) + v.gamma) * v.sq_tilde_grad)
    ),
    "fsl.step20": lambda v: v.gamma**2 * v.T_4 + v.T_5 + (1 + v.gamma) ** 2 * v.sq_tilde_grad,
    "fsl.step21": lambda v: 2 * v.s_0**2 / v.K_0 + 2 * v.L**2 * v.E_0,
    "fsl.step22": lambda v: 3 * (v.s**2 / (v.K * v.S) + v.tau * v.G**2 + v.L**2 * v.E_c),
    "fsl.step23": lambda v: (
        Q(3, 2)
        * v.u**2
        * (
            2 * v.gamma**2 * v.s_0**2 / v.K_0
            + 2 * v.L**2 * v.gamma**2 * v.E_0
            + (1 + v.gamma) ** 2 * v.sq_tilde_grad
            + 3 * (v.s**2 / (v.K * v.S) + v.L**2 * v.E_c + v.tau * v.G**2)
        )
    ),
    "fsl.step24": lambda v: (
        v.tilde_F_t
        - v.gain_24
        + v.u * v.L**2 * v.gamma**2 * (1 + 3 * v.u * v.L) * v.E_0
        + v.u * v.L**2 * (1 + Q(9, 2) * v.u * v.L) * v.E_c
        + v.u**2 * v.L * v.G_2
    ),
    "fsl.step25": lambda v: (
        v.tilde_F_t - v.gain_24 + v.u**2 * v.L * v.G_2 + 2 * v.u * v.L**2 * v.T_6
    ),
    "fsl.step_T7": lambda v: 8 * v.K**2 * v.eta_l**2 * (v.sq_grad + v.s**2 / (2 * v.K) + v.G**2),
    "fsl.step_T6": lambda v: (
        4 * v.u**2 * v.G_4
        + 4
        * v.kappa
        * v.u**2
        * ((1 + v.gamma) * v.sq_tilde_grad + v.gamma / (1 + v.gamma) * v.sq_xi)
    ),
    "fsl.step28": lambda v: (
        v.tilde_F_t
        - v.u
        / 2
        * (
            2 * v.gamma
            + 1
            - v.u * v.L * (1 + v.gamma) * (3 * (v.gamma + 1) + 16 * v.kappa * v.u * v.L)
        )
        * v.sq_tilde_grad
        + v.u**2 * v.L * v.G_2
        + 8 * v.u**3 * v.L**2 * (v.mix * v.sq_xi + v.G_4)
    ),
    "fsl.step_G3_G4": lambda v: 2 * v.G_2 / 9,
    "fsl.step_28_to_12": lambda v: (
        5 * v.u**2 * v.L * v.Psi + 8 * v.u**3 * v.L**2 * (v.mix * v.xi**2 + v.Phi)
    ),
    "fsl.step29_average": lambda v: (
        Q("3.7") * v.K**2 * v.eta_l**2 * (v.sq_grad + v.G**2 + v.s**2 / (2 * v.K))
    ),
    "fsl.step30": lambda v: 2 * v.sq_move_bar + 2 * v.inner_drift_0,
    "fsl.step31": lambda v: (
        4 * v.u**2 * v.gamma**2 * (v.sq_server_grad_bar + v.s_0**2 / (2 * v.K_0))
    ),
    "fsl.step31_at_x": lambda v: (
        3 * v.sq_move_bar
        + 16 * v.u**2 * v.gamma**2 * v.sq_server_grad
        + 4 * v.K_0 * v.eta_0**2 * v.gamma**2 * v.s_0**2
    ),
    "fsl.step_move": lambda v: (
        4 * v.u**2 * (v.s**2 / (v.K * v.S) + v.tau * v.G**2 + v.L**2 * v.E_c + v.sq_grad)
    ),
    "fsl.gradient_identity": lambda v: (
        (1 + v.gamma) * v.sq_tilde_grad + v.gamma / (1 + v.gamma) * v.sq_xi
    ),
    "fsl.original_loss": lambda v: (
        (1 + v.gamma) * v.sq_tilde_grad + v.gamma / (1 + v.gamma) * v.xi**2
    ),
    "fsl.corollary2a_explicit": lambda v: (
        4 * v.tilde_D_0 / (v.c * math.sqrt(v.T))
        + 20 * v.c * v.L * v.Psi / (math.sqrt(v.T) * (1 + v.gamma) ** 2)
        + 32 * v.c**2 * v.L**2 / v.T / (1 + v.gamma) ** 3 * (v.mix * v.xi**2 + v.Phi)
    ),
    "fsl.corollary2b_explicit": lambda v: corollary(v, v.S, v.S * v.Psi, 1),
    "fsl.corollary2c_explicit": lambda v: corollary(
        v,
        v.K * v.S,
        v.gamma**2 * v.s_0**2 * v.S + v.s**2 + v.rho * v.K * v.G**2,
        max(1, Q(v.K, v.K_0)),
    ),
    "fsl.corollary1_explicit": lambda v: corollary(
        v,
        v.K * v.S,
        v.gamma**2 * v.s_0**2 * v.S + v.s**2 + v.rho * v.K * v.G**2,
        max(1, Q(v.K, v.K_0)),
    ),
    "fsl.special_sgd_explicit": lambda v: (
        Q(4, 3) * v.tilde_D_0 / (v.T * v.K_0 * v.eta_0 * v.gamma)
        + Q(20, 3) * v.L * v.s_0**2 * v.eta_0 * v.gamma
        + Q(20, 3) * v.c * (v.s**2 / (v.K * v.S) + v.rho * v.G**2 / v.S) / v.gamma**3
        + Q(32, 3) * v.c**2 * v.Phi / v.gamma**5
    ),
}
# The constant c that each corollary's regime makes of u, and the symbol that carries it.
REGIME = {
    "fsl.corollary2a_explicit": ("c_a", lambda v: float(v.u * (v.gamma + 1)) * math.sqrt(v.T)),
    "fsl.corollary2b_explicit": (
        "c_b",
        lambda v: float(v.u * (v.gamma + 1)) * math.sqrt(v.L * v.T / v.S),
    ),
    "fsl.corollary2c_explicit": (
        "c_b",
        lambda v: float(v.u * (v.gamma + 1)) * math.sqrt(v.L * v.T / (v.K * v.S)),
    ),
    "fsl.corollary1_explicit": (
        "c_b",
        lambda v: float(v.u * (v.gamma + 1)) * math.sqrt(v.L * v.T / (v.K * v.S)),
    ),
    "fsl.special_sgd_explicit": ("c", lambda v: v.u * v.L * v.gamma**2),
}
NEEDS_GAMMA = {"fsl.special_sgd_explicit"}


def values(claim, v):
    """What the claim asks for, by its symbols' names."""
    names = dict(
        sigma=v.s, sigma_0=v.s_0, xi_bar=v.xi, a=float(v.eta_g) / math.sqrt(v.S), b=Q(v.K_0, v.K)
    )
    if claim.id in REGIME:
        symbol, constant = REGIME[claim.id]
        v.c = constant(v)
        names[symbol] = v.c
    return {
        name: names.get(name, getattr(v, name, None))
        for name, entry in claim.symbols.items()
        if entry.definition is None and (name in names or hasattr(v, name))
    }


PAIRS = [
    (name, case)
    for name in TRANSCRIBED
    for case in CASES
    if not (name in NEEDS_GAMMA and CASES[case]["gamma"] == 0)
]


@pytest.mark.parametrize("name, case", PAIRS, ids=lambda x: x)
def test_bounds_agree_with_the_paper(name, case):
    claim, v = ft.claim(name), terms(CASES[case])
    got = values(claim, v)
    expected = TRANSCRIBED[name](v)
    strict = not (claim.id == "fsl.special_sgd_explicit" and v.xi)  # its server is the clients' own
    found = claim.evaluate(got, strict=strict)
    if found.exact is not None and isinstance(expected, Q):
        assert found.exact == expected
    assert float(found) == pytest.approx(float(expected), rel=1e-12)
    assert claim.fast({k: float(x) for k, x in got.items()}) == pytest.approx(
        float(expected), rel=2e-12
    )


def test_every_transcription_has_three_cases():
    for name in TRANSCRIBED:
        assert sum(pair[0] == name for pair in PAIRS) >= 3


@pytest.mark.parametrize("case", CASES)
def test_h_and_the_drift_weights(case):
    v = terms(CASES[case])
    claim = ft.claim("fsl.h_lower")
    assert claim.evaluate_left(values(claim, v), strict=False).exact == v.h
    claim = ft.claim("fsl.phi_kappa_decrease")
    got = {**values(claim, v), "eta_g_more": 2 * v.eta_g}
    phi = (
        3 * v.gamma**2 / v.S * (v.rho * v.G**2 + v.s**2 / v.K)
        + (2 * v.G**2 + v.s**2 / v.K) / v.eta_g**2
    )
    assert claim.evaluate(got).exact == phi and claim.evaluate(got, line=1).exact == v.kappa
    assert v.Phi == v.gamma**4 * v.s_0**2 / v.K_0 + phi  # the text after theorem 2


def test_the_house_numbers_of_one_round():
    """Theorem 1 worked by hand: L = 1, gamma = 0, eta_g = 1, K = K_0 = S = N = 1, u = 1/10, G = xi
    = sigma_0 = 0."""
    found = ft.claim("fsl.theorem1").evaluate(
        dict(
            L=1,
            gamma=0,
            eta_g=1,
            eta_l=Q(1, 10),
            eta_0=Q(1, 10),
            K=1,
            K_0=1,
            S=1,
            N=1,
            G=0,
            xi_bar=0,
            sigma=1,
            sigma_0=0,
            tilde_F_t=1,
            sq_tilde_grad=2,
        )
    )
    # kappa = 2, h = 1/2 - 1/20 (3 + 3.2) = 0.19, Psi = 1, Phi = 1: 1 - 0.038 + 0.05 + 0.008
    assert found.exact == Q(102, 100)
