"""Mixed FL, theorem B.1: rounds that parallel training needs.

The text takes the bounds from FedAvg's (Karimireddy et al. 2020, theorem I and appendix D.2) for
two meta-clients, f_f and f_c. The companions carry that appendix's steps out on f = f_f + f_c:
relaxed triangle, perturbed convexity, and a drift unrolled to 3 K times what one step adds. With
eta^ = K eta_m eta eta_s a round gives

    E||x+ - x*||^2 <= (1 - mu eta^)||x - x*||^2 - eta^ (f - f*)/3 + 2 eta^^2 noise + 8 beta eta^^3 floor    (convex)
    E f(x+)        <= f - eta^ ||grad f||^2/8 + 2 beta eta^^2 noise + 5 beta^2 eta^^3 floor                (not convex)

and these are summed as lemmas 1 and 2 there do, at a constant step.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import exp, log, sqrt

from fedtheory.claim import Claim, Theta
from fedtheory.claims.mixed._assumptions import (
    BGD,
    CONVEX,
    DRAWS,
    EQUAL_STEPS,
    LOGS,
    MERGE,
    NO_SHORTER,
    PLAIN_SGD,
    PT_STEPS,
    REACHED,
    SAME_STEPS,
    SETTING,
    STRONGLY,
    least,
)
from fedtheory.claims.mixed._means import from_mean, with_means
from fedtheory.conditions import Assumption
from fedtheory.symbols.mixed import (
    TABLE,
    B,
    D_sq,
    F,
    G,
    K,
    S,
    T,
    best_sq_grad,
    beta,
    eps,
    eps_grad,
    eta_m,
    eta_round,
    f_next,
    f_t,
    gap,
    gap_mean,
    gap_weighted,
    mu,
    noise_merged,
    noise_paths,
    rounds,
    rounds_grad,
    rounds_weighted,
    sigma,
    sigma_c,
    sq_dist,
    sq_dist_next,
    sq_grad,
)

if TYPE_CHECKING:
    import sympy

STATED = (*SETTING, BGD)
USED = (
    *DRAWS,
    Assumption(EQUAL_STEPS.holds, "algorithm 1, K steps each", stated=False),
    Assumption(PLAIN_SGD, "theorem B.1, SGD", stated=False),
    SAME_STEPS,
    NO_SHORTER,
)
RATES = (MERGE, *PT_STEPS)
RUN: dict[str, Any] = dict(algorithm="parallel_training", symbols=TABLE)
# Each client's own path drifts with sigma^2, not sigma^2 / S, and both paths with their gradients'
# difference.
floor = (G**2 + noise_paths) / eta_m**2
CITED = (
    "The cited theorem speaks of a mean of losses: f is the mean of 2 f_f and 2 f_c, which are 2 beta-smooth and "
    "twice as noisy. 'Averaging reduces the variance to sigma^2/S' holds for the merged step, not for each "
    "client's drift, where sigma^2 stays whole; that part of order beta (sigma^2 + sigma_c^2)/K beside G^2 is "
    "missing from the printed form. Nothing printed says eta_c = eta eta_s or eta_s >= 1."
)
SOURCE = {
    "strong": "",
    "convex": " Beside G sqrt(beta)/epsilon^(3/2) the source's appendix has a squared distance, D^2.",
    "nonconvex": " In the place of G sqrt(beta)/epsilon^(3/2) the source's appendix has F beta G/epsilon^(3/2).",
}
ceiling = 1 / (6 * (1 + B**2) * beta)
numerator = sigma**2 + S * sigma_c**2
SHAPES = {
    "strong": numerator / (K * S * mu * eps)
    + G * sqrt(beta) / (mu * sqrt(eps))
    + B**2 * beta / mu * log(1 / eps),
    "convex": numerator * D_sq / (K * S * eps**2)
    + G * sqrt(beta) / sqrt(eps) ** 3
    + B**2 * beta * D_sq / eps,
    "nonconvex": numerator * beta * F / (K * S * eps_grad**2)
    + G * sqrt(beta) / sqrt(eps_grad) ** 3
    + B**2 * beta * F / eps_grad,
}
NOISELESS = {
    "strong": B**2 * beta / mu * log(1 / eps),
    "convex": B**2 * beta * D_sq / eps,
    "nonconvex": B**2 * beta * F / eps_grad,
}
# What each rate takes of the step, up to the logarithm that O~ hides where mu > 0
STEPS = {
    "strong": least(ceiling, eps / noise_merged, sqrt(eps / beta) / G),
    "convex": least(ceiling, eps / noise_merged, sqrt(eps / beta) / G),
    "nonconvex": least(ceiling, eps_grad / (beta * noise_merged), sqrt(eps_grad) / (beta * G)),
}
LONG = Assumption(
    T >= 1 / (2 * mu * eta_round), "source, lemma 1, T >= 1/(2 mu eta^)", stated=False
)


def printed_order(
    case: str, measures: "sympy.Symbol", convexity: Sequence[Any], meaning: str
) -> Any:
    return Claim(
        id=f"mixed.theoremB1_{case}",
        cites="mixed FL, theorem B.1",
        kind="order",
        relation="O",
        assumes=(*STATED, *convexity, *RATES),
        unstated=(*USED, REACHED) if case == "strong" else USED,
        measures=measures,
        bound=SHAPES[case],
        weakened=NOISELESS[case],
        regime=(Theta(eta_round, STEPS[case]),),
        explicit=f"mixed.theoremB1_{case}_explicit",
        follows=(f"mixed.theoremB1_{case}_explicit",),
        logs=LOGS if case == "strong" else None,
        meaning=meaning,
        note=CITED + SOURCE[case],
        **RUN,
    )


def explicit(
    case: str,
    measures: "sympy.Symbol",
    convexity: Sequence[Any],
    bound: "sympy.Expr",
    weakened: Any,
    meaning: str,
    extra: Sequence[Any] = (),
) -> Any:
    return Claim(
        id=f"mixed.theoremB1_{case}_explicit",
        cites="mixed FL, theorem B.1, by the steps of SCAFFOLD's appendix D.2",
        assumes=(*STATED, *convexity, *RATES),
        unstated=(*USED, *extra),
        measures=measures,
        bound=bound,
        weakened=weakened,
        meaning=meaning,
        follows=from_mean("mixed.theoremB1", case),
        **RUN,
    )


start_strong = 9 * mu * D_sq * exp(-mu * eta_round * T)
start_convex = 3 * D_sq / (eta_round * (T + 1))
start_nonconvex = 8 * F / (eta_round * (T + 1))
remains = 6 * eta_round * noise_merged + 24 * beta * eta_round**2 * floor

# One round, as above: a step of the cited appendix that the text does not write out
ONE_ROUND = (
    Claim(
        id="mixed.stepB1_convex",
        cites="mixed FL, one round of theorem B.1, convex",
        assumes=(*STATED, CONVEX, *RATES),
        unstated=USED,
        measures=sq_dist_next,
        bound=(1 - mu * eta_round) * sq_dist
        - eta_round * gap / 3
        + 2 * eta_round**2 * noise_merged
        + 8 * beta * eta_round**3 * floor,
        weakened=(1 - mu * eta_round) * sq_dist - eta_round * gap,
        meaning="A round of parallel training comes closer, up to noise and what the two losses disagree.",
        **RUN,
    ),
    Claim(
        id="mixed.stepB1_nonconvex",
        cites="mixed FL, one round of theorem B.1, not convex",
        assumes=(*STATED, *RATES),
        unstated=USED,
        measures=f_next,
        bound=f_t
        - eta_round * sq_grad / 8
        + 2 * beta * eta_round**2 * noise_merged
        + 5 * beta**2 * eta_round**3 * floor,
        weakened=f_t - eta_round * sq_grad,
        meaning="A round of parallel training lowers the loss, up to noise and what the two losses disagree.",
        **RUN,
    ),
)
ROUNDS = dict(
    convex=("mixed.stepB1_convex", "textbook.rounds"),
    nonconvex=("mixed.stepB1_nonconvex", "textbook.rounds"),
)
STATEMENTS = (
    printed_order(
        "strong",
        rounds_weighted,
        (STRONGLY,),
        "Parallel training needs about 1/epsilon rounds, more where the two losses disagree.",
    ),
    explicit(
        "strong",
        gap_weighted,
        (STRONGLY,),
        start_strong + remains,
        start_strong,
        "At a constant step the error falls geometrically, to a floor set by noise and dissimilarity.",
        (LONG,),
    ),
    printed_order(
        "convex",
        rounds,
        (CONVEX,),
        "Parallel training needs about 1/epsilon^2 rounds, more where the two losses disagree.",
    ),
    explicit(
        "convex",
        gap_mean,
        (CONVEX,),
        start_convex + remains,
        start_convex,
        "At a constant step the error of the mean point falls like 1/T, to the same floor.",
    ),
    printed_order(
        "nonconvex", rounds_grad, (), "The same for the squared gradient, without convexity."
    ),
    explicit(
        "nonconvex",
        best_sq_grad,
        (),
        start_nonconvex
        + 16 * beta * eta_round * noise_merged
        + 40 * beta**2 * eta_round**2 * floor,
        start_nonconvex,
        "At a constant step the squared gradient falls like 1/T, to a floor of noise and dissimilarity.",
    ),
)

CLAIMS = (*with_means(STATEMENTS, ROUNDS), *ONE_ROUND)
