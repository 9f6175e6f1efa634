"""Mixed FL, appendix D.2.2: a round of 1-way gradient transfer without convexity (D.12, D.13)."""

from sympy import Rational

from fedtheory.claim import Claim
from fedtheory.claims.mixed._assumptions import (
    INDEPENDENT,
    ONE_NONCONVEX,
    OWN_SMOOTHNESS,
    SERVER_NONCONVEX,
    SMOOTH_SUM,
)
from fedtheory.claims.mixed.one_way_convex import ROUND, RULES, SAMPLED, line, path_noise
from fedtheory.conditions import Assumption
from fedtheory.symbols.mixed import (
    K,
    beta,
    beta_sum,
    drift,
    ends,
    eta,
    eta_s,
    eta_tilde,
    excess_D13,
    f_next,
    f_t,
    furthest,
    inner_move,
    mean_change,
    noise_nonconvex,
    noise_one,
    sigma,
    sigma_c,
    sq_grad,
    sq_mean_error,
    sq_move,
)

F_SMOOTH = Assumption(SMOOTH_SUM, "proof of D.12, f is beta-smooth", stated=False)
STEP_18 = Assumption(
    eta_tilde <= 1 / (18 * beta), "proof of D.12, eta~ <= 1/(18 beta)", stated=False
)
SERVER_1 = Assumption(eta_s >= 1, "proof of D.13, eta_s >= 1", stated=False)
# The proofs say both, "assuming ...": lines of theirs state what their lemmas do not.
SAID_18 = Assumption(STEP_18.holds, "assuming eta~ <= 1/(18 beta)")
SAID_1 = Assumption(SERVER_1.holds, "assuming eta_s >= 1")
lost = (
    "The first line uses that f is beta-smooth. Where f_f and f_c are, as section 4.1 assumes, f_f + f_c is "
    "2 beta-smooth; the same steps then end with 7 eta~/18, 13 beta/324 and 2 beta eta~^2."
)
progress = f_t - eta_tilde / 2 * sq_grad
bound_12 = f_t - 4 * eta_tilde / 9 * sq_grad + beta / 27 * drift + noise_one * beta * eta_tilde**2
wide_12 = (
    f_t
    - 7 * eta_tilde / 18 * sq_grad
    + 13 * beta / 324 * drift
    + 2 * noise_one * beta * eta_tilde**2
)
bound_13 = 4 * eta_tilde / (9 * beta * eta_s**2) * sq_grad + 2 * eta_tilde**2 / eta_s**2 * (
    sigma**2 / K + 4 * sigma_c**2
)
CENTRAL = (*SAMPLED, F_SMOOTH)

CLAIMS = (
    Claim(
        id="mixed.lemmaD12",
        cites="mixed FL, lemma D.12",
        assumes=RULES,
        unstated=(*CENTRAL, STEP_18),
        measures=f_next,
        bound=bound_12,
        weakened=f_t - 4 * eta_tilde / 9 * sq_grad,
        meaning="A round lowers the mixed loss in proportion to its squared gradient, up to drift and noise.",
        note=lost,
        follows=("mixed.stepD12_D9", "mixed.stepD12_constants"),
        **ROUND,
    ),
    Claim(
        id="mixed.lemmaD12_sum",
        cites="mixed FL, lemma D.12, by its proof's steps with f 2 beta-smooth",
        assumes=RULES,
        unstated=(*SAMPLED, STEP_18),
        measures=f_next,
        bound=wide_12,
        weakened=f_t - 7 * eta_tilde / 18 * sq_grad,
        meaning="The same with the smoothness that a sum of two beta-smooth losses has.",
        **ROUND,
    ),
    Claim(
        id="mixed.lemmaD12_own",
        cites="mixed FL, lemma D.12, by its proof's steps with the smoothness that f has",
        assumes=(*RULES, Assumption(OWN_SMOOTHNESS, "beta_f")),
        unstated=SAMPLED,
        measures=f_next,
        bound=progress
        + eta_tilde * beta**2 / 2 * drift
        + beta_sum
        * eta_tilde**2
        * (2 * beta**2 * drift + noise_one + sq_grad),  # beta_sum/2 times lemma D.9
        weakened=progress + eta_tilde * beta**2 / 2 * drift,
        meaning="One round's progress at any step size, whatever the smoothness of f itself is.",
        note="beta_f = beta gives lemma D.12 as printed, beta_f = 2 beta mixed.lemmaD12_sum.",
        **ROUND,
    ),
    line(
        "stepD12_smooth",
        "proof of D.12, first line",
        f_next,
        f_t + inner_move + beta / 2 * sq_move,
        "Smoothness bounds a round by its first-order change and its length.",
        unstated=(F_SMOOTH,),
        weakened=f_t + inner_move,
        note=lost,
    ),
    line(
        "stepD12_inner",
        "proof of D.12, -ab <= -a^2/2 + (b-a)^2/2",
        inner_move,
        -eta_tilde / 2 * sq_grad + eta_tilde / 2 * sq_mean_error,
        "The first-order change, by the direction's error.",
        also=((sq_mean_error, "<=", mean_change), (mean_change, "<=", beta**2 * drift)),
        weakened=-3 * eta_tilde / 2 * sq_grad,
    ),
    line(
        "stepD12_drift",
        "proof of D.12, smoothness and (12)",
        f_next,
        progress + eta_tilde * beta**2 / 2 * drift + beta / 2 * sq_move,
        "A round's progress before its length is bounded.",
        unstated=CENTRAL,
        weakened=progress,
        note=lost,
        follows=("mixed.stepD12_smooth", "mixed.stepD12_inner"),
    ),
    line(
        "stepD12_D9",
        "proof of D.12, lemma D.9",
        f_next,
        f_t
        - (eta_tilde / 2 - beta * eta_tilde**2) * sq_grad
        + (eta_tilde * beta**2 / 2 + 2 * eta_tilde**2 * beta**3) * drift
        + eta_tilde**2 * beta * noise_one,
        "One round's progress at any step size.",
        unstated=CENTRAL,
        weakened=f_t - (eta_tilde / 2 - beta * eta_tilde**2) * sq_grad,
        note=lost,
        follows=("mixed.stepD12_drift", "mixed.lemmaD9"),
    ),
    line(
        "stepD12_constants",
        "proof of D.12, eta~ <= 1/(18 beta)",
        4 * eta_tilde / 9,
        eta_tilde / 2 - beta * eta_tilde**2,
        "What the step size makes of the constants.",
        assumes=(SAID_18,),
        unstated=(),
        also=((eta_tilde * beta**2 / 2 + 2 * eta_tilde**2 * beta**3, "<=", beta / 27),),
        weakened=eta_tilde / 2 - 2 * beta * eta_tilde**2,
    ),
    Claim(
        id="mixed.lemmaD13",
        cites="mixed FL, lemma D.13",
        assumes=RULES,
        unstated=(INDEPENDENT, STEP_18, SERVER_1),
        measures=drift,
        bound=bound_13,
        also=((ends, "<=", bound_13),),
        weakened=eta_tilde**2 / (12 * eta_s**2) * path_noise,
        meaning="Clients drift by at most their gradient at the start and noise, whatever the shape of the losses.",
        note="With a = K the factor 1 + a is K + 1, and the proof writes K (2K for (1 + a) 2, 4K for (1 + a) 4). With "
        "a = K - 1 it is K, the first factor becomes K/(K - 1), and the sums stay below 2K for K >= 2.",
        follows=("mixed.stepD13_unrolled",),
        **ROUND,
    ),
    line(
        "stepD13_recursion",
        "proof of D.13, a = K",
        excess_D13,
        0,
        "One step adds little to the drift.",
        unstated=(INDEPENDENT,),
        weakened=-(eta**2) * sigma**2,
        note="(1 + a) 2 and (1 + a) 4 at a = K are 2K + 2 and 4K + 4, printed as 2K and 4K.",
    ),
    line(
        "stepD13_constants",
        "proof of D.13, eta_s >= 1 and eta~ <= 1/(18 beta)",
        (K + 1) / K + 2 * eta_tilde**2 * beta**2 / (K * eta_s**2),
        1 + Rational(163, 162) / K,
        "What the step size makes of the growth in one step.",
        assumes=(SAID_18, SAID_1),
        unstated=(),
        also=(((1 + Rational(163, 162) / K) ** K - 1, "<=", Rational(163, 81)),),
        weakened=1 + 1 / K,
        note="The second line is the sum's bound 2K over (162/163) K, which e^(163/162) - 1 < 1.74 gives.",
    ),
    line(
        "stepD13_unrolled",
        "proof of D.13, unrolling",
        furthest,
        bound_13,
        "K steps together.",
        assumes=(*RULES, SAID_18, SAID_1),
        unstated=(INDEPENDENT,),
        weakened=eta_tilde**2 / (12 * eta_s**2) * path_noise,
        follows=("mixed.stepD13_recursion", "mixed.stepD13_constants"),
    ),
    line(
        "stepB2_nonconvex",
        "proof of theorem B.2, not convex",
        f_next,
        f_t - eta_tilde / 3 * sq_grad + noise_nonconvex * beta * eta_tilde**2,
        "One round's progress with the drift bounded.",
        assumes=(*RULES, ONE_NONCONVEX, SERVER_NONCONVEX),
        unstated=CENTRAL,
        weakened=f_t - eta_tilde / 3 * sq_grad,
        note=lost,
        follows=("mixed.lemmaD12", "mixed.lemmaD13/1"),
    ),
)
