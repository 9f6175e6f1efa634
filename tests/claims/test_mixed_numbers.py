"""Mixed FL's right-hand sides against a second transcription: plain Python, from the paper, not
from the records."""

import math
from fractions import Fraction as Q
from types import SimpleNamespace

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.errors import InvalidInput
from tests.claims import test_mixed_said

# Unequal K, S and N; beta other than 1; no noise, much noise; one client; steps with eta beta K =
# 1e-12.
CASES = {
    "plain": dict(
        beta=Q(2),
        mu=Q(1, 2),
        s=Q(3),
        s_c=Q(1, 2),
        G=Q(3),
        B=Q(3, 2),
        K=5,
        S=4,
        N=7,
        eta_s=Q(2),
        eta_m=Q(1),
        part=Q(9, 10),
        eps=Q(1, 10),
        D_sq=Q(9),
        F=Q(5),
    ),
    "quiet": dict(
        beta=Q(1, 3),
        mu=Q(1, 3),
        s=Q(0),
        s_c=Q(0),
        G=Q(0),
        B=Q(1),
        K=2,
        S=2,
        N=2,
        eta_s=Q(3, 2),
        eta_m=Q(2),
        part=Q(1, 2),
        eps=Q(1),
        D_sq=Q(1, 4),
        F=Q(1, 7),
    ),
    "noisy": dict(
        beta=Q(7, 2),
        mu=Q(1, 100),
        s=Q(100),
        s_c=Q(40),
        G=Q(1, 9),
        B=Q(5),
        K=16,
        S=9,
        N=100,
        eta_s=Q(4),
        eta_m=Q(5, 4),
        part=Q(1, 50),
        eps=Q(1, 10**6),
        D_sq=Q(16),
        F=Q(2),
    ),
    "tiny": dict(
        beta=Q(5),
        mu=Q(1),
        s=Q(1, 3),
        s_c=Q(2),
        G=Q(1),
        B=Q(2),
        K=3,
        S=2,
        N=5,
        eta_s=Q(2),
        eta_m=Q(1),
        part=Q(1, 10**11),
        eps=Q(1, 3),
        D_sq=Q(1, 9),
        F=Q(3),
    ),
    "one client": dict(
        beta=Q(1),
        mu=Q(1, 8),
        s=Q(1),
        s_c=Q(1),
        G=Q(2),
        B=Q(1),
        K=2,
        S=1,
        N=1,
        eta_s=Q(1),
        eta_m=Q(1),
        part=Q(1, 3),
        eps=Q(1, 2),
        D_sq=Q(4),
        F=Q(1),
    ),
}
# What is measured, in any proportion: right-hand sides are evaluated, not verified.
MEASURED = dict(
    f_t=Q(13, 4),
    gap=Q(7, 3),
    gap_f=Q(-1, 5),
    gap_c=Q(11, 4),
    sq_grad=Q(5, 3),
    sq_grad_f=Q(2),
    sq_grad_c=Q(3),
    sq_dist=Q(8, 5),
    drift=Q(3, 100),
    sq_move=Q(1, 9),
    term_A=Q(1, 11),
    term_B=Q(1, 13),
    term_C=Q(-1, 3),
    term_C1=Q(-1, 4),
    sq_augmented=Q(9, 4),
    furthest=Q(1, 8),
    inner_move=Q(-2, 7),
    sq_mean_error=Q(1, 6),
    h_x=Q(1, 2),
    h_y=Q(-3, 2),
    h_z=Q(5),
    sq_yz=Q(2),
    sq_zx=Q(1, 3),
    sq_xy=Q(7, 2),
    inner_change=Q(3, 2),
    sq_i=Q(2),
    sq_j=Q(3),
    sq_cross=Q(1),
    a=Q(1, 3),
    tau=4,
    spread=Q(5, 2),
    sq_sum_means=Q(6),
    E_sq_sum_means=Q(7),
    sq_seen_f=Q(3),
    sq_seen_c=Q(5),
    sq_seen=Q(2),
    w_f=Q(73, 100),
    w_c=Q(27, 100),
    sq_change_f=Q(1, 2),
    sq_change_c=Q(1, 5),
    lag=Q(6),
    movies=3954,
    dim=16,
    local_movies=160,
)


TUNED_GRAD = {
    "mixed.heterogeneous_one_way_nonconvex",
    *(f"mixed.theoremB2_nonconvex_{form}" for form in ("explicit", "mean")),
}


def terms(case, claim):
    """The paper's abbreviations by hand, with steps inside what the claim's method allows."""
    v = SimpleNamespace(**MEASURED, **case)
    v.noise_1 = 2 * v.s**2 / (v.K * v.S) + v.s_c**2
    v.noise_c, v.noise_n = (
        5 * v.s**2 / (v.K * v.S) + 3 * v.s_c**2,
        3 * v.s**2 / (v.K * v.S) + 2 * v.s_c**2,
    )
    v.c_1, v.c_2 = v.s**2 + v.S * v.s_c**2, v.s**2 + v.K * v.S * v.s_c**2  # numerators of table 1
    v.path = (v.s**2 + v.s_c**2) / v.K
    v.T = 49
    if "B1" in claim.id or "_pt_" in claim.id:
        v.merge = v.part / (6 * (1 + v.B**2) * v.beta)
    elif "B3" in claim.id or "_two_way_" in claim.id:
        v.merge = v.part / (162 * v.beta)
        if "_strong" in claim.id:
            v.merge = min(v.merge, v.part / (30 * v.mu))
    else:
        v.eta_m, v.merge = Q(1), v.part / (18 * v.beta)
    v.eta, v.s_f = v.merge / (v.K * v.eta_m * v.eta_s), Q(3, 7)
    v.beta_f = Q(3, 2) * v.beta
    apart = v.s_f**2 / v.S if "heterogeneous" in claim.id else 0
    if claim.id.startswith(("mixed.theoremB2_convex_", "mixed.heterogeneous_one_way_convex")):
        noise = v.noise_c + 5 * apart
        step = math.sqrt(v.D_sq) / max(8 * v.beta * math.sqrt(v.D_sq), math.sqrt(noise * (v.T + 1)))
        v.eta = step / (v.K * v.eta_s)
    if claim.id in TUNED_GRAD:
        step = math.sqrt(v.F) / max(
            18 * v.beta * math.sqrt(v.F), math.sqrt(v.beta * (v.noise_n + 3 * apart) * (v.T + 1))
        )
        v.eta = step / (v.K * v.eta_s)
    if "_strong" in claim.id:
        v.T = max(math.ceil(8 * v.beta / (3 * v.mu)), math.ceil(1 / (2 * v.mu * v.merge)))
        v.eps = min(v.eps, Q(1, 3))  # so that log(1/eps) >= 1
    v.eta_c, v.u = v.eta * v.eta_s, v.K * v.eta * v.eta_s
    v.eps_grad = v.eps
    return v


def names(claim, v):
    """What the claim asks for, by its symbols' names."""
    given = {**vars(v), "sigma": v.s, "sigma_c": v.s_c, "sigma_f": v.s_f, "beta_sum": v.beta_f}
    return {
        name: given[name]
        for name, entry in claim.symbols.items()
        if entry.definition is None and name in given
    }


lemma_D9 = lambda v: (
    4 * v.u**2 * v.beta**2 * v.drift + 2 * v.u**2 * v.noise_1 + 2 * v.u**2 * v.sq_grad
)
sum_D10 = lambda v: 2 * v.u * v.beta * (1 + 2 * v.u * v.beta) * v.drift + 2 * v.u**2 * v.noise_1
contracted = lambda v: (1 - Q(3, 2) * v.mu * v.u) * v.sq_dist
lemma_D11 = lambda a, b: (
    lambda v: (v.K * v.eta) ** 2 * (a * v.beta * v.gap + b * (v.s**2 / v.K + v.s_c**2))
)
lemma_D13 = lambda v: (
    Q(4, 9) * v.u / (v.beta * v.eta_s**2) * v.sq_grad
    + 2 * v.u**2 / v.eta_s**2 * (v.s**2 / v.K + 4 * v.s_c**2)
)
floor = lambda v: (v.G**2 + v.path) / v.eta_m**2
noise_3 = lambda v: v.c_1 / (v.K * v.S) + v.path / (2 * v.eta_m**2)
start_3 = lambda v: v.D_sq + 9 * v.merge**2 * v.lag
root = math.sqrt
SHAPES = {  # theorem number -> its three rates, as printed
    1: (
        lambda v: (
            v.c_1 / (v.K * v.S * v.mu * v.eps)
            + v.G * root(v.beta) / (v.mu * root(v.eps))
            + v.B**2 * v.beta / v.mu * math.log(1 / v.eps)
        ),
        lambda v: (
            v.c_1 * v.D_sq / (v.K * v.S * v.eps**2)
            + v.G * root(v.beta) / v.eps**1.5
            + v.B**2 * v.beta * v.D_sq / v.eps
        ),
        lambda v: (
            v.c_1 * v.beta * v.F / (v.K * v.S * v.eps**2)
            + v.G * root(v.beta) / v.eps**1.5
            + v.B**2 * v.beta * v.F / v.eps
        ),
    ),
    2: (
        lambda v: v.c_2 / (v.K * v.S * v.mu * v.eps) + v.beta / v.mu * math.log(1 / v.eps),
        lambda v: v.c_2 * v.D_sq / (v.K * v.S * v.eps**2) + v.beta * v.D_sq / v.eps,
        lambda v: v.c_2 * v.beta * v.F / (v.K * v.S * v.eps**2) + v.beta * v.F / v.eps,
    ),
    3: (
        lambda v: v.c_1 / (v.K * v.S * v.mu * v.eps) + v.beta / v.mu * math.log(1 / v.eps),
        lambda v: v.c_1 * v.D_sq / (v.K * v.S * v.eps**2) + v.beta * v.D_sq / v.eps,
        lambda v: v.c_1 * v.beta * v.F / (v.K * v.S * v.eps**2) + v.beta * v.F / v.eps,
    ),
}
TRANSCRIBED = {
    "def4_2": lambda v: v.G**2 + v.B**2 * v.sq_grad,
    "eq5": lambda v: v.s**2 / v.S,
    "eq7": lambda v: v.sq_seen_f / v.w_f + v.sq_seen_c / v.w_c - v.sq_seen,
    "eq8": lambda v: Q(0),
    "eq9": lambda v: Q(0),
    "eq10": lambda v: Q(0),
    "lemmaD2": lambda v: (1 + v.a) * v.sq_i + (1 + 1 / v.a) * v.sq_j,
    "stepD2": lambda v: (1 + v.a) * v.sq_i + (1 + 1 / v.a) * v.sq_j - v.sq_cross,
    "stepD2_minus": lambda v: (1 - v.a) * v.sq_i + (1 - 1 / v.a) * v.sq_j + v.sq_cross,
    "stepD5_typed": lambda v: Q(0),
    "lemmaD3": lambda v: v.sq_sum_means + v.tau**2 * v.spread**2,
    "lemmaD3_martingale": lambda v: 2 * v.E_sq_sum_means + 2 * v.tau * v.spread**2,
    "propD5": lambda v: v.gap,
    "stepD5": lambda v: Q(0),
    "propD6": lambda v: 4 * v.beta * v.gap,
    "stepD6": lambda v: 2 * v.sq_change_f + 2 * v.sq_change_c,
    "lemmaD7": lambda v: v.h_z - v.h_y + v.mu / 4 * v.sq_yz - v.beta * v.sq_zx,
    "stepD7": lambda v: v.h_z - v.h_x - v.beta / 2 * v.sq_zx,
    "lemmaD8": lambda v: (1 - v.mu * v.eta) * v.sq_xy,
    "stepD8": lambda v: v.sq_xy + (v.eta**2 * v.beta - 2 * v.eta) * v.inner_change,
    "lemmaD9": lemma_D9,
    "stepD9_split": lambda v: v.term_A + v.term_B,
    "stepD9_A": lambda v: 4 * v.u**2 * v.beta**2 * v.drift + 4 * v.u**2 * v.s**2 / (v.K * v.S),
    "stepD9_B": lambda v: 2 * v.u**2 * v.sq_grad + 2 * v.u**2 * v.s_c**2,
    "lemmaD10": lambda v: contracted(v) - v.u * v.gap + Q(5, 16) * v.drift + 2 * v.u**2 * v.noise_1,
    "stepD10_expand": lambda v: v.sq_dist + v.term_C + v.sq_move,
    "stepD10_C1": lambda v: -2 * v.u * (v.gap_c + v.mu / 2 * v.sq_dist),
    "stepD10_C2": lambda v: (
        -2 * v.u * (v.gap_f + v.mu / 4 * v.sq_dist) + 2 * v.beta * v.u * v.drift
    ),
    "stepD10_C": lambda v: (
        -2 * v.u * (v.gap + Q(3, 4) * v.mu * v.sq_dist) + 2 * v.beta * v.u * v.drift
    ),
    "stepD10_D": lambda v: (
        4 * v.u**2 * v.beta**2 * v.drift + 2 * v.u**2 * v.noise_1 + 8 * v.u**2 * v.beta * v.gap
    ),
    "stepD10_sum": lambda v: contracted(v) + (8 * v.u**2 * v.beta - 2 * v.u) * v.gap + sum_D10(v),
    "stepD10_constants": lambda v: -v.u * v.gap,
    "lemmaD11": lemma_D11(12, 3),
    "lemmaD11_proof": lemma_D11(16, 2),
    "lemmaD11_separated": lambda v: lemma_D11(16, 2)(v) + 2 * (v.K * v.eta * v.s_c) ** 2,
    "stepD11_recursion": lambda v: Q(0),
    "stepD11_unrolled": lambda v: (
        4 * v.K**2 * v.eta**2 * v.sq_augmented + 2 * v.K * v.eta**2 * v.s**2
    ),
    "stepD11_separate": lambda v: (
        4 * v.K**2 * v.eta**2 * v.sq_grad + 2 * v.K**2 * v.eta**2 * (v.s**2 / v.K + v.s_c**2)
    ),
    "stepD11_D6": lambda v: 16 * v.K**2 * v.eta**2 * v.beta * v.gap,
    "stepD11_last": lambda v: (
        2 * v.u / v.eta_s**2 * v.gap + 2 * v.u**2 / v.eta_s**2 * (v.s**2 / v.K + v.s_c**2)
    ),
    "stepB2_convex": lambda v: contracted(v) - Q(v.S - 1, v.S) * v.u * v.gap + v.noise_c * v.u**2,
    "lemmaD12": lambda v: (
        v.f_t - Q(4, 9) * v.u * v.sq_grad + v.beta / 27 * v.drift + v.noise_1 * v.beta * v.u**2
    ),
    "lemmaD12_sum": lambda v: (
        v.f_t
        - Q(7, 18) * v.u * v.sq_grad
        + Q(13, 324) * v.beta * v.drift
        + 2 * v.noise_1 * v.beta * v.u**2
    ),
    "stepD12_smooth": lambda v: v.f_t + v.inner_move + v.beta / 2 * v.sq_move,
    "stepD12_inner": lambda v: -v.u / 2 * v.sq_grad + v.u / 2 * v.sq_mean_error,
    "stepD12_drift": lambda v: (
        v.f_t - v.u / 2 * v.sq_grad + v.u * v.beta**2 / 2 * v.drift + v.beta / 2 * v.sq_move
    ),
    "stepD12_D9": lambda v: (
        v.f_t - v.u / 2 * v.sq_grad + v.u * v.beta**2 / 2 * v.drift + v.beta / 2 * lemma_D9(v)
    ),
    "stepD12_constants": lambda v: v.u / 2 - v.beta * v.u**2,
    "lemmaD13": lemma_D13,
    "stepD13_unrolled": lemma_D13,
    "stepD13_recursion": lambda v: Q(0),
    "stepD13_constants": lambda v: 1 + Q(163, 162 * v.K),
    "stepB2_nonconvex": lambda v: v.f_t - v.u / 3 * v.sq_grad + v.noise_n * v.beta * v.u**2,
    "stepB1_convex": lambda v: (
        v.sq_dist
        + v.merge * (2 * v.merge * v.c_1 / (v.K * v.S) - v.mu * v.sq_dist - v.gap / 3)
        + 8 * v.beta * v.merge**3 * floor(v)
    ),
    "stepB1_nonconvex": lambda v: (
        v.f_t
        + v.merge * (2 * v.beta * v.merge * v.c_1 / (v.K * v.S) - v.sq_grad / 8)
        + 5 * v.beta**2 * v.merge**3 * floor(v)
    ),
    "theoremB1_strong_explicit": lambda v: (
        9 * v.mu * v.D_sq * math.exp(-v.mu * v.merge * v.T)
        + 3 * (2 * v.merge * v.c_1 / (v.K * v.S) + 8 * v.beta * v.merge**2 * floor(v))
    ),
    "theoremB1_convex_explicit": lambda v: (
        3
        * (
            v.D_sq / (v.merge * (v.T + 1))
            + 2 * v.merge * v.c_1 / (v.K * v.S)
            + 8 * v.beta * v.merge**2 * floor(v)
        )
    ),
    "theoremB1_nonconvex_explicit": lambda v: (
        8
        * (
            v.F / (v.merge * (v.T + 1))
            + 2 * v.beta * v.merge * v.c_1 / (v.K * v.S)
            + 5 * v.beta**2 * v.merge**2 * floor(v)
        )
    ),
    "theoremB2_strong_rate": lambda v: (
        v.c_2 / (v.mu * v.K * v.S * v.T) + v.mu * v.D_sq * math.exp(-3 * v.mu * v.T / (16 * v.beta))
    ),
    "theoremB2_strong_explicit": lambda v: (
        Q(v.S, v.S - 1) * v.noise_c * v.u
        + v.S / (v.S - 1) * 4.5 * float(v.mu * v.D_sq) * math.exp(-1.5 * v.mu * v.u * v.T)
    ),
    "theoremB2_convex_explicit": lambda v: (
        v.S
        / (v.S - 1)
        * (
            8 * v.beta * v.D_sq / (v.T + 1)
            + root(20 * v.s**2 + 12 * v.K * v.S * v.s_c**2)
            * root(v.D_sq)
            / root(v.K * v.S * (v.T + 1))
        )
    ),
    "theoremB2_nonconvex_explicit": lambda v: (
        54 * v.beta * v.F / (v.T + 1)
        + 6 * root((3 * v.s**2 / (v.K * v.S) + 2 * v.s_c**2) * v.beta * v.F) / root(v.T + 1)
    ),
    "theoremB2_nonconvex_sum": lambda v: (
        Q(27, 10)
        * (
            v.F / (v.u * (v.T + 1))
            + 2 * v.beta * v.u * v.noise_1
            + v.beta * v.u * Q(13, 162) * (v.s**2 / (v.K * v.S) + 4 * v.s_c**2)
        )
    ),
    "theoremB3_strong_explicit": lambda v: (
        3 * v.mu * start_3(v) * math.exp(-v.mu * v.merge * v.T) + 12 * v.merge * noise_3(v)
    ),
    "theoremB3_convex_explicit": lambda v: (
        start_3(v) / (v.merge * (v.T + 1)) + 12 * v.merge * noise_3(v)
    ),
    "theoremB3_nonconvex_explicit": lambda v: (
        14 * v.F / (v.merge * (v.T + 1)) + 140 * v.beta * v.merge * noise_3(v)
    ),
    "table5": lambda v: root(Q(5, 8) * v.S),
    "implication_dissimilarity": SHAPES[1][1],
    "implication_central_noise": SHAPES[2][1],
    "implication_two_way": lambda v: min(SHAPES[1][0](v), SHAPES[2][0](v)),
    "table12_comp": lambda v: Q(v.K * v.movies**2 * v.dim, 2),
    "table12_comm": lambda v: 2 * v.movies * v.dim,
}
TRANSCRIBED |= {
    f"theoremB{n}_{case}_mean": TRANSCRIBED[f"theoremB{n}_{case}_explicit"]
    for n in (1, 2, 3)
    for case in ("convex", "nonconvex")
}
TRANSCRIBED["theoremB2_strong_decreasing"] = TRANSCRIBED["theoremB2_strong_explicit"]
TRANSCRIBED["lemmaD12_own"] = lambda v: (
    v.f_t
    - v.u / 2 * v.sq_grad
    + v.u * v.beta**2 / 2 * v.drift
    # beta_f / 2 times lemma D.9's bound on the squared move
    + v.beta_f
    / 2
    * (4 * v.u**2 * v.beta**2 * v.drift + 2 * v.u**2 * v.noise_1 + 2 * v.u**2 * v.sq_grad)
)
# Heterogeneous clients: sigma^2 + K sigma_f^2 in the place of sigma^2 in the leading term.
TRANSCRIBED |= {
    f"heterogeneous_pt_{case}": lambda v, case=case, leading=leading: (
        TRANSCRIBED[f"theoremB1_{case}_explicit"](v) + leading(v) * v.s_f**2 / v.S
    )
    for case, leading in (
        ("strong", lambda v: 6 * v.merge),
        ("convex", lambda v: 6 * v.merge),
        ("nonconvex", lambda v: 16 * v.beta * v.merge),
    )
}
TRANSCRIBED |= {
    f"heterogeneous_two_way_{case}": lambda v, case=case, leading=leading: (
        TRANSCRIBED[f"theoremB3_{case}_explicit"](v) + leading(v) * v.s_f**2 / v.S
    )
    for case, leading in (
        ("strong", lambda v: 12 * v.merge),
        ("convex", lambda v: 12 * v.merge),
        ("nonconvex", lambda v: 140 * v.beta * v.merge),
    )
}
PATHS = dict(  # the same along single paths, by which merged steps drift
    pt_strong=lambda v: 24 * v.beta * v.merge**2,
    pt_convex=lambda v: 24 * v.beta * v.merge**2,
    pt_nonconvex=lambda v: 40 * v.beta**2 * v.merge**2,
    two_way_strong=lambda v: 6 * v.merge,
    two_way_convex=lambda v: 6 * v.merge,
    two_way_nonconvex=lambda v: 70 * v.beta * v.merge,
)
TRANSCRIBED |= {
    f"heterogeneous_{place}_paths": lambda v, place=place, more=more: (
        TRANSCRIBED[f"heterogeneous_{place}"](v) + more(v) * v.s_f**2 / v.eta_m**2
    )
    for place, more in PATHS.items()
}
TRANSCRIBED |= {
    "heterogeneous_one_way_strong": lambda v: (
        TRANSCRIBED["theoremB2_strong_explicit"](v) + Q(v.S, v.S - 1) * 5 * v.u * v.s_f**2 / v.S
    ),
    "heterogeneous_one_way_convex": lambda v: (
        v.S
        / (v.S - 1)
        * (
            8 * v.beta * v.D_sq / (v.T + 1)
            + root(20 * (v.s**2 + v.K * v.s_f**2) + 12 * v.K * v.S * v.s_c**2)
            * root(v.D_sq)
            / root(v.K * v.S * (v.T + 1))
        )
    ),
    "heterogeneous_one_way_nonconvex": lambda v: (
        54 * v.beta * v.F / (v.T + 1)
        + 6
        * root((3 * (v.s**2 + v.K * v.s_f**2) / (v.K * v.S) + 2 * v.s_c**2) * v.beta * v.F)
        / root(v.T + 1)
    ),
}
CEILINGS = dict(
    pt=[lambda v: 1 / (6 * (1 + v.B**2) * v.beta)] * 3,
    one_way=[lambda v: 1 / (8 * v.beta), lambda v: 1 / (8 * v.beta), lambda v: 1 / (18 * v.beta)],
    two_way=[
        lambda v: min(1 / (81 * v.beta), 1 / (15 * v.mu)),
        lambda v: 1 / (81 * v.beta),
        lambda v: 1 / (24 * v.beta),
    ],
)
for number, method in enumerate(CEILINGS, 1):
    for place, case in enumerate(("strong", "convex", "nonconvex")):
        TRANSCRIBED[f"table4_{method}_{case}"] = CEILINGS[method][place]
        TRANSCRIBED[f"table1_{method}_{case}"] = TRANSCRIBED[f"theoremB{number}_{case}"] = SHAPES[
            number
        ][place]
MIXED = {c.id.partition(".")[2]: c for c in discover.claims() if c.paper == "mixed"}
COHORTS = {
    name
    for name, c in MIXED.items()
    if any(a.where.startswith("proof of B.2, S/(S - 1)") for a in c.unstated)
}
PAIRS = [
    (name, case)
    for name in TRANSCRIBED
    for case in CASES
    if not (name in COHORTS and case == "one client")
]


def test_nothing_with_a_right_hand_side_is_left_out():
    said = {name.partition(".")[2] for name in test_mixed_said.LINES}
    assert set(TRANSCRIBED) | said == {name for name, c in MIXED.items() if c.lines}
    assert all(sum(pair[0] == name for pair in PAIRS) >= 3 for name in TRANSCRIBED)


@pytest.mark.parametrize("name, case", PAIRS, ids=lambda x: x)
def test_right_hand_sides_agree_with_the_paper(name, case):
    claim = MIXED[name]
    v = terms(CASES[case], claim)
    expected, given = TRANSCRIBED[name](v), names(claim, v)
    found = claim.evaluate(given)  # strict: these values lie inside what the claim assumes
    if found.exact is not None and isinstance(expected, Q):
        assert found.exact == expected
    assert float(found) == pytest.approx(float(expected), rel=1e-12)
    assert found.lower <= found.upper
    assert found <= found.lower if claim.relation in (">=", ">") else found >= found.upper
    assert claim.fast({k: float(x) for k, x in given.items()}) == pytest.approx(
        float(expected), rel=2e-12
    )


NUMERIC = [
    (name, a) for name in TRANSCRIBED for a in MIXED[name].assumptions if a.relation is not None
]


@pytest.mark.parametrize("name, assumption", NUMERIC, ids=str)
def test_values_outside_an_assumption_are_refused_by_its_name(name, assumption):
    claim = MIXED[name]
    v = terms(CASES["plain"], claim)
    given = names(claim, v)
    breaks = dict(
        B=Q(1, 2),
        eps=Q(2),
        K=1,
        S=1,
        T=1,
        N=3,
        w_f=Q(1),
        eta=v.eta * 10**6,
        eta_c=v.eta_c * 10**6,
        eta_s=Q(1, 10),
        eta_m=Q(1, 3),
        mu=Q(10**6),
    )
    changes = [
        {s.name: breaks[s.name]}
        for s in claim.expand(assumption.relation).free_symbols
        if s.name in breaks
    ]
    broken = [
        change
        for change in changes
        if str(assumption) in map(str, claim.admits({**given, **change}))
    ]
    assert broken, f"no value breaks {assumption}"
    with pytest.raises(InvalidInput, match="assumes"):
        claim.evaluate({**given, **broken[0]})
    claim.evaluate({**given, **broken[0]}, strict=False)


def test_the_cohort_of_one_is_refused():
    """At S = 1 the factor (S - 1)/S takes all progress away; the text does not ask for S >= 2."""
    claim = ft.claim("mixed.theoremB2_convex_explicit")
    v = terms(CASES["one client"], claim)
    with pytest.raises(InvalidInput, match="S >= 2"):
        claim.evaluate(names(claim, v))
    assert claim.evaluate(names(claim, v), strict=False) == math.inf


def test_a_round_worked_by_hand():
    """Lemma D.10 at beta = 1, mu = 0, K = S = N = eta_s = 1, eta = 1/10, sigma = sigma_c = 1, drift
    0."""
    found = ft.claim("mixed.lemmaD10").evaluate(
        dict(
            beta=1,
            mu=0,
            K=1,
            S=1,
            N=1,
            eta=Q(1, 10),
            eta_s=1,
            sigma=1,
            sigma_c=1,
            sq_dist=2,
            gap=3,
            drift=0,
        )
    )
    assert found.exact == 2 - Q(3, 10) + Q(6, 100)  # 2 (1/100) (2 + 1)


def test_the_convex_bound_follows_from_the_rounds():
    """Summing stepB2_convex over T + 1 rounds at the tuned step gives the last display, at most
    twice as large."""
    for case in ("plain", "noisy", "tiny"):
        v = terms(CASES[case], ft.claim("mixed.theoremB2_convex_explicit"))
        summed = v.S / (v.S - 1) * (float(v.D_sq) / (v.u * (v.T + 1)) + float(v.noise_c) * v.u)
        printed = TRANSCRIBED["theoremB2_convex_explicit"](v)
        assert printed / 2 <= summed <= printed * (1 + 1e-12)
        assert v.u <= float(1 / (8 * v.beta)) * (1 + 1e-15)
