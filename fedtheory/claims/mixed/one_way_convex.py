"""Mixed FL, appendix D.2 and D.2.1: a round of 1-way gradient transfer on convex losses (D.9, D.10,
D.11)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import Rational

from fedtheory.claim import Claim
from fedtheory.claims.mixed._assumptions import (
    A41,
    CONVEX,
    DRAWS,
    EQUAL_STEPS,
    EQUAL_WEIGHTS,
    INDEPENDENT,
    MINIMIZER,
    NOISE,
    ONE_CONVEX,
    SERVER_CONVEX,
    SGD,
    SMOOTH,
)
from fedtheory.conditions import Assumption
from fedtheory.symbols.mixed import (
    TABLE,
    K,
    S,
    beta,
    change_mean,
    drift,
    ends,
    eta,
    eta_s,
    eta_tilde,
    excess_D11,
    furthest,
    gap,
    gap_c,
    gap_f,
    mean_change,
    mu,
    noise_convex,
    noise_one,
    sigma,
    sigma_c,
    sq_augmented,
    sq_dist,
    sq_dist_next,
    sq_grad,
    sq_move,
    term_A,
    term_B,
    term_C,
    term_C1,
    term_C2,
)

if TYPE_CHECKING:
    import sympy

ROUND: dict[str, Any] = dict(algorithm="one_way_gt", symbols=TABLE)
RULES = (SMOOTH, A41, NOISE, EQUAL_WEIGHTS, SGD, EQUAL_STEPS)
SAMPLED = DRAWS
STRICT = Assumption(eta_tilde < 1 / (8 * beta), "lemma D.10")
SHORT = Assumption(eta <= 1 / beta, "proof of D.11, eta <= 1/beta", stated=False)
PROVIDED = Assumption(SHORT.holds, "proof of D.11, provided that eta <= 1/beta")
path_noise = sigma**2 / K + sigma_c**2
gain = (1 - 3 * mu * eta_tilde / 2) * sq_dist


def line(
    name: str,
    cites: str,
    measures: "sympy.Expr",
    bound: "sympy.Expr | int",
    meaning: str,
    assumes: Sequence[Any] = RULES,
    unstated: Sequence[Any] = SAMPLED,
    **more: Any,
) -> Any:
    return Claim(
        id=f"mixed.{name}",
        cites=f"mixed FL, {cites}",
        kind="step",
        assumes=assumes,
        unstated=unstated,
        measures=measures,
        bound=bound,
        meaning=meaning,
        **ROUND,
        **more,
    )


D10_RULES = (*RULES, CONVEX, MINIMIZER)
D11_RULES = (*RULES, CONVEX, MINIMIZER)

CLAIMS = (
    Claim(
        id="mixed.lemmaD9",
        cites="mixed FL, lemma D.9",
        assumes=RULES,
        unstated=SAMPLED,
        measures=sq_move,
        bound=4 * eta_tilde**2 * beta**2 * drift
        + 2 * eta_tilde**2 * noise_one
        + 2 * eta_tilde**2 * sq_grad,
        weakened=4 * eta_tilde**2 * beta**2 * drift
        + eta_tilde**2 * noise_one / 2
        + 2 * eta_tilde**2 * sq_grad,
        meaning="How far a round of 1-way gradient transfer can move.",
        note="(12) numbers the points from 1; the listing takes gradients at x_i^(t,0), ..., x_i^(t,K-1), over which "
        "the drift is read here, as the step by smoothness needs.",
        follows=("mixed.stepD9_split", "mixed.stepD9_A/1", "mixed.stepD9_B"),
        **ROUND,
    ),
    line(
        "stepD9_split",
        "proof of D.9, relaxed triangle",
        sq_move,
        term_A + term_B,
        "A move has a federated and a central part.",
        unstated=(),
        assumes=(A41, SGD, EQUAL_STEPS),
        weakened=(term_A + term_B) / 4,
    ),
    line(
        "stepD9_A",
        "proof of D.9, term A",
        term_A,
        4 * eta_tilde**2 * beta**2 * drift + 4 * eta_tilde**2 * sigma**2 / (K * S),
        "The federated part: noise, and what the gradients change on the way.",
        also=(
            (term_A, "<=", 4 * eta_tilde**2 * change_mean + 4 * eta_tilde**2 * sigma**2 / (K * S)),
            (change_mean, "<=", mean_change),
            (mean_change, "<=", beta**2 * drift),
        ),
        weakened=4 * eta_tilde**2 * beta**2 * drift,
        follows={1: ("mixed.stepD9_A/2", "mixed.stepD9_A/3", "mixed.stepD9_A/4")},
    ),
    line(
        "stepD9_B",
        "proof of D.9, term B",
        term_B,
        2 * eta_tilde**2 * sq_grad + 2 * eta_tilde**2 * sigma_c**2,
        "The central part: the mixed gradient at the start and the noise of one central batch.",
        assumes=(NOISE, A41),
        unstated=(),
        weakened=2 * eta_tilde**2 * sq_grad,
    ),
    Claim(
        id="mixed.lemmaD10",
        cites="mixed FL, lemma D.10",
        assumes=(*D10_RULES, STRICT),
        unstated=SAMPLED,
        measures=sq_dist_next,
        bound=gain - eta_tilde * gap + Rational(5, 16) * drift + 2 * eta_tilde**2 * noise_one,
        weakened=gain - eta_tilde * gap,
        meaning="A round brings x closer to the minimiser, up to drift and noise.",
        note="5/16 has no unit because 2 eta~ beta (1 + 2 eta~ beta) has none; it is its value at eta~ = 1/(8 beta), "
        "which the proof includes and the statement leaves out.",
        follows=("mixed.stepD10_sum", "mixed.stepD10_constants"),
        **ROUND,
    ),
    line(
        "stepD10_expand",
        "proof of D.10",
        sq_dist_next,
        sq_dist + term_C + sq_move,
        "The square of the new distance, multiplied out.",
        relation="==",
        assumes=(MINIMIZER,),
        unstated=(),
        also=((term_C, "==", term_C1 + term_C2),),
        weakened=sq_dist + term_C,
        note="The two terms are C1 = 2 eta~ <grad f_c(x), x* - x> and its federated counterpart C2.",
    ),
    line(
        "stepD10_C1",
        "proof of D.10, term C1",
        term_C1,
        -2 * eta_tilde * (gap_c + mu / 2 * sq_dist),
        "Convexity of the central loss.",
        assumes=(NOISE, CONVEX, MINIMIZER),
        unstated=(),
        weakened=-2 * eta_tilde * (gap_c + beta * sq_dist),
    ),
    line(
        "stepD10_C2",
        "proof of D.10, term C2",
        term_C2,
        -2 * eta_tilde * (gap_f + mu / 4 * sq_dist) + 2 * beta * eta_tilde * drift,
        "Perturbed convexity of the federated loss.",
        assumes=D10_RULES,
        weakened=-2 * eta_tilde * (gap_f + beta * sq_dist),
    ),
    line(
        "stepD10_C",
        "proof of D.10, C",
        term_C,
        -2 * eta_tilde * (gap + 3 * mu / 4 * sq_dist) + 2 * beta * eta_tilde * drift,
        "Both together.",
        assumes=D10_RULES,
        weakened=-2 * eta_tilde * (gap + 2 * beta * sq_dist),
        follows=(
            "mixed.stepD10_expand/2",
            "mixed.stepD10_C1",
            "mixed.stepD10_C2",
            "textbook.definition",
        ),
    ),
    line(
        "stepD10_D",
        "proof of D.10, D",
        sq_move,
        4 * eta_tilde**2 * beta**2 * drift
        + 2 * eta_tilde**2 * noise_one
        + 8 * eta_tilde**2 * beta * gap,
        "Lemma D.9 with the error in place of the gradient (D.6).",
        assumes=D10_RULES,
        weakened=4 * eta_tilde**2 * beta**2 * drift + 2 * eta_tilde**2 * beta * gap,
        follows=("mixed.lemmaD9", "mixed.propD6"),
    ),
    line(
        "stepD10_sum",
        "proof of D.10, before the step size",
        sq_dist_next,
        gain
        + (8 * eta_tilde**2 * beta - 2 * eta_tilde) * gap
        + 2 * eta_tilde * beta * (1 + 2 * eta_tilde * beta) * drift
        + 2 * eta_tilde**2 * noise_one,
        "One round's progress at any step size.",
        assumes=D10_RULES,
        weakened=gain - 2 * eta_tilde * gap,
        follows=("mixed.stepD10_expand/1", "mixed.stepD10_C", "mixed.stepD10_D"),
    ),
    line(
        "stepD10_constants",
        "proof of D.10, eta~ <= 1/(8 beta)",
        (8 * eta_tilde**2 * beta - 2 * eta_tilde) * gap,
        -eta_tilde * gap,
        "What the step size makes of the constants.",
        unstated=(),
        assumes=(Assumption(eta_tilde <= 1 / (8 * beta), "proof of D.10"),),
        also=((2 * eta_tilde * beta * (1 + 2 * eta_tilde * beta), "<=", Rational(5, 16)),),
        weakened=-2 * eta_tilde * gap,
    ),
    Claim(
        id="mixed.lemmaD11",
        cites="mixed FL, lemma D.11, as stated",
        assumes=D11_RULES,
        unstated=(*SAMPLED, SHORT),
        measures=drift,
        bound=12 * K**2 * eta**2 * beta * gap + 3 * K**2 * eta**2 * path_noise,
        also=((ends, "<=", 12 * K**2 * eta**2 * beta * gap + 3 * K**2 * eta**2 * path_noise),),
        weakened=K**2 * eta**2 * path_noise / 12,
        meaning="Clients drift by at most what K steps along their gradients at the start could, times a constant.",
        note="The proof ends with 16 and 2 where the statement has 12 and 3; neither gives the other. The last display "
        "of the proof, with 2 eta~/eta_s^2 and 2 eta~^2/eta_s^2, is what theorem B.2 uses.",
        follows=("mixed.lemmaD11_proof",),
        **ROUND,
    ),
    Claim(
        id="mixed.lemmaD11_proof",
        cites="mixed FL, lemma D.11, as its proof concludes",
        assumes=D11_RULES,
        unstated=(*SAMPLED, SHORT),
        measures=drift,
        bound=16 * K**2 * eta**2 * beta * gap + 2 * K**2 * eta**2 * path_noise,
        also=((ends, "<=", 16 * K**2 * eta**2 * beta * gap + 2 * K**2 * eta**2 * path_noise),),
        weakened=K**2 * eta**2 * path_noise / 12,
        meaning="The same with the constants that the proof arrives at.",
        note="The step 'separating mean and variance of the central gradient' turns 4 K^2 eta^2 E||grad f_f + g_c||^2 "
        "into 4 K^2 eta^2 ||grad f||^2 + 2 K^2 eta^2 sigma_c^2; what it separates gives 4 K^2 eta^2 sigma_c^2.",
        follows=("mixed.stepD11_unrolled", "mixed.stepD11_separate", "mixed.stepD11_D6"),
        **ROUND,
    ),
    Claim(
        id="mixed.lemmaD11_separated",
        cites="mixed FL, lemma D.11, by its proof's steps with the central variance kept whole",
        assumes=D11_RULES,
        unstated=(*SAMPLED, SHORT),
        measures=drift,
        bound=16 * K**2 * eta**2 * beta * gap
        + 2 * K * eta**2 * sigma**2
        + 4 * K**2 * eta**2 * sigma_c**2,
        also=(
            (
                ends,
                "<=",
                16 * K**2 * eta**2 * beta * gap
                + 2 * K * eta**2 * sigma**2
                + 4 * K**2 * eta**2 * sigma_c**2,
            ),
        ),
        weakened=K**2 * eta**2 * path_noise / 12,
        meaning="The same with the constant that the proof's own steps give; theorem B.2 survives it for S >= 2.",
        **ROUND,
    ),
    line(
        "stepD11_recursion",
        "proof of D.11, a = K",
        excess_D11,
        0,
        "One step adds little to the drift.",
        assumes=(*RULES, CONVEX, PROVIDED),
        unstated=(INDEPENDENT,),
        weakened=-(eta**2) * sigma**2,
    ),
    line(
        "stepD11_unrolled",
        "proof of D.11, unrolling",
        furthest,
        4 * K**2 * eta**2 * sq_augmented + 2 * K * eta**2 * sigma**2,
        "K steps together.",
        assumes=(*RULES, CONVEX, PROVIDED),
        unstated=(INDEPENDENT,),
        also=((drift, "<=", furthest), (ends, "<=", furthest)),
        weakened=K**2 * eta**2 * sq_augmented / 8,
        follows=("mixed.stepD11_recursion",),
    ),
    line(
        "stepD11_separate",
        "proof of D.11, separating the central gradient",
        4 * K**2 * eta**2 * sq_augmented + 2 * K * eta**2 * sigma**2,
        4 * K**2 * eta**2 * sq_grad + 2 * K**2 * eta**2 * path_noise,
        "The central batch's noise, apart.",
        assumes=(NOISE, A41),
        unstated=(),
        weakened=4 * K**2 * eta**2 * sq_grad,
        note="E||grad f_f + g_c||^2 is ||grad f||^2 + sigma_c^2 where the variance bound is attained, so that 4 "
        "stands before K^2 eta^2 sigma_c^2 on the left; the right has 2.",
    ),
    line(
        "stepD11_D6",
        "proof of D.11, proposition D.6",
        4 * K**2 * eta**2 * sq_grad,
        16 * K**2 * eta**2 * beta * gap,
        "The error in place of the gradient.",
        assumes=(SMOOTH, CONVEX, MINIMIZER),
        unstated=(),
        weakened=8 * K**2 * eta**2 * beta * gap,
        follows=("mixed.propD6",),
    ),
    line(
        "stepD11_last",
        "proof of D.11, eta~ <= 1/(8 beta)",
        drift,
        2 * eta_tilde / eta_s**2 * gap + 2 * eta_tilde**2 / eta_s**2 * path_noise,
        "The drift in effective steps, as theorem B.2 takes it.",
        assumes=(*D11_RULES, PROVIDED, Assumption(eta_tilde <= 1 / (8 * beta), "proof of D.11")),
        unstated=SAMPLED,
        weakened=eta_tilde**2 / eta_s**2 * path_noise / 12,
        follows=("mixed.lemmaD11_proof/1",),
    ),
    line(
        "stepB2_convex",
        "proof of theorem B.2, convex",
        sq_dist_next,
        gain - (S - 1) / S * eta_tilde * gap + noise_convex * eta_tilde**2,
        "One round's progress with the drift bounded: none in loss where the cohort is one client.",
        assumes=(*D10_RULES, ONE_CONVEX, SERVER_CONVEX),
        unstated=SAMPLED,
        weakened=gain - eta_tilde * gap,
        note="The drift enters through the last display of D.11, whose eta <= 1/beta the steps of theorem B.2 "
        "imply: eta <= 1/(8 K beta eta_s), and eta_s > sqrt(10 S)/4. With 4 in place of 2 before sigma_c^2 there, "
        "3 sigma_c^2 needs S >= 2.",
        follows=("mixed.lemmaD10", "mixed.stepD11_last"),
    ),
)
