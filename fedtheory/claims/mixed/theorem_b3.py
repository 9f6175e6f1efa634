"""Mixed FL, theorem B.3: rounds that 2-way gradient transfer needs.

The text takes the bounds from SCAFFOLD's (Karimireddy et al. 2020, theorem III and appendix E) for
two meta-clients. Their losses are 2 f_f and 2 f_c, so that f is the mean: 2 beta-smooth, 2
mu-convex, S = N = 2, eta_g = 2 eta_m. Appendix E's recursions then read, with eta^ = K eta_m eta
eta_s,

    Phi+ <= (1 - mu eta^) Phi - eta^ (f - f*) + 12 eta^^2 noise,    Phi = ||x - x*||^2 + 9 eta^^2 lag
    E f(x+) <= f - eta^ ||grad f||^2/14 + 10 beta eta^^2 noise       (up to its drift, nothing at the start)
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import exp, log

from fedtheory.claim import Claim, Theta
from fedtheory.claims.mixed._assumptions import (
    CONVEX,
    DRAWS,
    EQUAL_STEPS,
    LOGS,
    MERGE,
    NO_SHORTER,
    PLAIN_SGD,
    REACHED,
    SAME_STEPS,
    SETTING,
    STRONGLY,
    TRUE_TRANSFER,
    ceiling,
    least,
)
from fedtheory.claims.mixed._means import from_mean, with_means
from fedtheory.conditions import Assumption
from fedtheory.symbols.mixed import (
    TABLE,
    D_sq,
    F,
    K,
    S,
    T,
    best_sq_grad,
    beta,
    eps,
    eps_grad,
    eta_m,
    eta_round,
    gap_mean,
    gap_weighted,
    lag,
    mu,
    noise_merged,
    noise_paths,
    rounds,
    rounds_grad,
    rounds_weighted,
    sigma,
    sigma_c,
)

if TYPE_CHECKING:
    import sympy

RUN: dict[str, Any] = dict(algorithm="two_way_gt", symbols=TABLE)
USED = (
    *DRAWS,
    Assumption(EQUAL_STEPS.holds, "algorithm 1, K steps each", stated=False),
    Assumption(PLAIN_SGD, "theorem B.3, SGD", stated=False),
    SAME_STEPS,
    NO_SHORTER,
)
WARM = Assumption(TRUE_TRANSFER, "source, appendix E, c_i^0 = g_i(x^0)", stated=False)
numerator = sigma**2 + S * sigma_c**2
# (sigma^2/(K S)) (1 + S/eta_g^2) of the source; a client's own path has sigma^2, not sigma^2/S
noise = noise_merged + noise_paths / (2 * eta_m**2)
CITED = (
    "The cited theorem corrects each client's gradient by c - c_i, corrections that cancel in the mean. Algorithm "
    "1 adds the other side's whole gradient to each, and the merge adds both deltas: a round moves along "
    "grad f(x^(t)) + grad f(x^(t-1)), the second from the transferred gradients. The step from SCAFFOLD to this "
    "('exactly along the lines') is where the proof stops. The source needs its ceilings at 2 beta and 2 mu, and "
    "counts the first transferred gradients in D^2."
)
CEILINGS = {
    "strong": least(1 / (81 * beta), 1 / (15 * mu)),
    "convex": 1 / (81 * beta),
    "nonconvex": 1 / (24 * beta),
}
TIGHT = {
    "strong": Assumption(
        eta_round <= least(1 / (162 * beta), 1 / (30 * mu)),
        "source, ceiling at 2 beta",
        stated=False,
    ),
    "convex": Assumption(eta_round <= 1 / (162 * beta), "source, ceiling at 2 beta", stated=False),
    "nonconvex": Assumption(
        eta_round <= 1 / (48 * beta), "source, ceiling at 2 beta", stated=False
    ),
}
SHAPES = {
    "strong": numerator / (K * S * mu * eps) + beta / mu * log(1 / eps),
    "convex": numerator * D_sq / (K * S * eps**2) + beta * D_sq / eps,
    "nonconvex": numerator * beta * F / (K * S * eps_grad**2) + beta * F / eps_grad,
}
NOISELESS = {
    "strong": beta / mu * log(1 / eps),
    "convex": beta * D_sq / eps,
    "nonconvex": beta * F / eps_grad,
}
STEPS = {
    "strong": least(CEILINGS["strong"], eps / noise_merged),
    "convex": least(CEILINGS["convex"], eps / noise_merged),
    "nonconvex": least(CEILINGS["nonconvex"], eps_grad / (beta * noise_merged)),
}
LONG = Assumption(
    T >= 1 / (2 * mu * eta_round), "source, lemma 1, T >= 1/(2 mu eta^)", stated=False
)


def rates(case: str) -> tuple[Any, ...]:
    return (MERGE, *ceiling(CEILINGS[case], "theorem B.3"))


def printed_order(
    case: str, measures: "sympy.Symbol", convexity: Sequence[Any], meaning: str, note: str = ""
) -> Any:
    return Claim(
        id=f"mixed.theoremB3_{case}",
        cites="mixed FL, theorem B.3",
        kind="order",
        relation="O",
        assumes=(*SETTING, *convexity, *rates(case)),
        unstated=(*USED, REACHED) if case == "strong" else USED,
        measures=measures,
        bound=SHAPES[case],
        weakened=NOISELESS[case],
        regime=(Theta(eta_round, STEPS[case]),),
        explicit=f"mixed.theoremB3_{case}_explicit",
        follows=(f"mixed.theoremB3_{case}_explicit",),
        logs=LOGS if case == "strong" else None,
        meaning=meaning,
        note=CITED + note,
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
        id=f"mixed.theoremB3_{case}_explicit",
        cites="mixed FL, theorem B.3, with the constants of SCAFFOLD's appendix E",
        assumes=(*SETTING, *convexity, *rates(case)),
        unstated=(*USED, TIGHT[case], *extra),
        measures=measures,
        bound=bound,
        weakened=weakened,
        meaning=meaning,
        note=CITED,
        follows=from_mean("mixed.theoremB3", case),
        **RUN,
    )


start = D_sq + 9 * eta_round**2 * lag
start_strong = 3 * mu * start * exp(-mu * eta_round * T)
start_convex = start / (eta_round * (T + 1))
start_nonconvex = 14 * F / (eta_round * (T + 1))

STATEMENTS = (
    printed_order(
        "strong",
        rounds_weighted,
        (STRONGLY,),
        "2-way gradient transfer needs about 1/epsilon rounds however much the "
        "losses differ, and central noise is divided by K.",
        " log(1/epsilon) takes the logarithm of a loss.",
    ),
    explicit(
        "strong",
        gap_weighted,
        (STRONGLY,),
        start_strong + 12 * eta_round * noise,
        start_strong,
        "At a constant step the error falls geometrically, to a floor set by noise alone.",
        (LONG,),
    ),
    printed_order(
        "convex",
        rounds,
        (CONVEX,),
        "2-way gradient transfer needs about 1/epsilon^2 rounds however much the losses differ.",
    ),
    explicit(
        "convex",
        gap_mean,
        (CONVEX,),
        start_convex + 12 * eta_round * noise,
        start_convex,
        "At a constant step the error of the mean point falls like 1/T, to a floor set by noise alone.",
    ),
    printed_order(
        "nonconvex", rounds_grad, (), "The same for the squared gradient, without convexity."
    ),
    explicit(
        "nonconvex",
        best_sq_grad,
        (),
        start_nonconvex + 140 * beta * eta_round * noise,
        start_nonconvex,
        "At a constant step the squared gradient falls like 1/T, to a floor set by noise alone.",
        (WARM,),
    ),
)

CLAIMS = with_means(STATEMENTS)
