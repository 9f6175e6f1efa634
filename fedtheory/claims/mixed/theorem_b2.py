"""Mixed FL, theorem B.2: rounds that 1-way gradient transfer needs, and what appendix D proves of
it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import Eq, Rational, exp, log, sqrt

from fedtheory.claim import Claim, Theta
from fedtheory.claims.mixed._assumptions import (
    CONVEX,
    EQUAL_STEPS,
    LOGS,
    ONE_CONVEX,
    ONE_NONCONVEX,
    REACHED,
    SERVER_CONVEX,
    SERVER_NONCONVEX,
    SETTING,
    SGD,
    STRONGLY,
    least,
    most,
)
from fedtheory.claims.mixed._means import from_mean, with_means
from fedtheory.claims.mixed.one_way_convex import SAMPLED
from fedtheory.claims.mixed.one_way_nonconvex import F_SMOOTH, lost
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
    eta_tilde,
    gap_decreasing,
    gap_mean,
    gap_weighted,
    mean_sq_grad,
    mu,
    noise_convex,
    noise_nonconvex,
    rounds,
    rounds_grad,
    rounds_weighted,
    sigma,
    sigma_c,
)

if TYPE_CHECKING:
    import sympy

RUN: dict[str, Any] = dict(algorithm="one_way_gt", symbols=TABLE)
STATED = (*SETTING, SGD, EQUAL_STEPS)
numerator = sigma**2 + K * S * sigma_c**2
# The recursion before the theorem loses the factor (S - 1)/S of the progress, all of it at S = 1.
COHORT = Assumption(S >= 2, "proof of B.2, S/(S - 1)", stated=False)
LONG = Assumption(T >= 1 / (3 * mu * eta_tilde), "proof of B.2, T >= 8 beta/(3 mu)")
# The last displays need the step that balances start and noise; "eta = 1/(8 beta K eta_s)" is that
# without noise. Written without quotients, so that sigma = sigma_c = 0 has it too.
TUNED = Assumption(
    Eq(sqrt(D_sq), eta_tilde * most(8 * beta * sqrt(D_sq), sqrt(noise_convex * (T + 1)))),
    "proof of B.2, tuned step, convex",
    stated=False,
)
TUNED_GRAD = Assumption(
    Eq(sqrt(F), eta_tilde * most(18 * beta * sqrt(F), sqrt(beta * noise_nonconvex * (T + 1)))),
    "proof of B.2, tuned step, not convex",
    stated=False,
)
INDEX = (
    "The text averages x^(1), ..., x^(T+1); its recursion bounds the errors at x^(0), ..., x^(T), which are taken "
    "here."
)
BATCH = (
    "The line from D.11 that theorem B.2 uses has 2 before sigma_c^2 where its steps give 4; the constants 5 and "
    "3 survive that for S >= 2."
)
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
    "strong": least(1 / (8 * beta), eps / noise_convex),
    "convex": least(1 / (8 * beta), eps / noise_convex),
    "nonconvex": least(1 / (18 * beta), eps_grad / (beta * noise_nonconvex)),
}
# The step of SCAFFOLD's lemma 1: log(mu^2 T^2 D^2 / c) / (mu T) at most, which balances the start's
# contraction and the noise c. O~ hides that logarithm.
TUNED_LOG = log(2 + mu**2 * T**2 * D_sq * K * S / numerator)
CONVEX_STEPS, NONCONVEX_STEPS = (SERVER_CONVEX, ONE_CONVEX), (SERVER_NONCONVEX, ONE_NONCONVEX)


def printed_order(
    case: str,
    measures: "sympy.Symbol",
    assumes: Sequence[Any],
    unstated: Sequence[Any],
    meaning: str,
    note: str,
) -> Any:
    return Claim(
        id=f"mixed.theoremB2_{case}",
        cites="mixed FL, theorem B.2",
        kind="order",
        relation="O",
        assumes=(*STATED, *assumes),
        unstated=(*SAMPLED, *unstated),
        measures=measures,
        bound=SHAPES[case],
        weakened=NOISELESS[case],
        regime=(Theta(eta_tilde, STEPS[case]),),
        explicit=f"mixed.theoremB2_{case}_explicit",
        follows=(f"mixed.theoremB2_{case}_explicit",),
        logs=LOGS if case == "strong" else None,
        meaning=meaning,
        note=note,
        **RUN,
    )


def explicit(
    case: str,
    cites: str,
    measures: "sympy.Symbol",
    assumes: Sequence[Any],
    unstated: Sequence[Any],
    bound: "sympy.Expr",
    weakened: Any,
    meaning: str,
    note: str,
) -> Any:
    one_round = "mixed.stepB2_nonconvex" if case == "nonconvex" else "mixed.stepB2_convex"
    return Claim(
        id=f"mixed.theoremB2_{case}_explicit",
        cites=f"mixed FL, {cites}",
        assumes=(*STATED, *assumes),
        unstated=(*SAMPLED, *unstated),
        measures=measures,
        bound=bound,
        weakened=weakened,
        meaning=meaning,
        follows=from_mean("mixed.theoremB2", case) or (one_round,),
        note=note,
        **RUN,
    )


share = S / (S - 1)
start_strong = share * Rational(9, 2) * mu * D_sq * exp(-3 * mu * eta_tilde * T / 2)
start_convex = share * 8 * beta * D_sq / (T + 1)
start_nonconvex = 54 * beta * F / (T + 1)

STATEMENTS = (
    printed_order(
        "strong",
        rounds_weighted,
        (STRONGLY, *CONVEX_STEPS),
        (COHORT, REACHED),
        "1-way gradient transfer needs about 1/epsilon rounds however much the losses differ; central noise is not "
        "divided by K.",
        "log(1/epsilon) takes the logarithm of a loss. " + BATCH,
    ),
    Claim(
        id="mixed.theoremB2_strong_rate",
        cites="mixed FL, proof of theorem B.2, strongly convex",
        kind="order",
        relation="O",
        assumes=(
            *STATED,
            STRONGLY,
            SERVER_CONVEX,
            ONE_CONVEX,
            Assumption(T >= 8 * beta / (3 * mu), "proof of B.2"),
        ),
        unstated=(*SAMPLED, COHORT),
        measures=gap_weighted,
        bound=numerator / (mu * K * S * T) + mu * D_sq * exp(-3 * mu * T / (16 * beta)),
        weakened=mu * D_sq * exp(-3 * mu * T / (16 * beta)),
        regime=(Theta(eta_tilde, least(1 / (8 * beta), TUNED_LOG / (mu * T))),),
        explicit="mixed.theoremB2_strong_explicit",
        logs=TUNED_LOG,
        meaning="The same as an error after T rounds, the step tuned to T.",
        note="The step and its logarithm are those of the cited lemma 1; without noise it is 1/(8 beta). The text's weights (1 - 3 mu eta~/2)^(1-r) grow with r; it calls them decreasing.",
        **RUN,
    ),
    explicit(
        "strong",
        "proof of theorem B.2 with the constants of its cited lemma 1",
        gap_weighted,
        (STRONGLY, *CONVEX_STEPS, LONG),
        (COHORT,),
        start_strong + share * noise_convex * eta_tilde,
        start_strong,
        "At a constant step the error falls geometrically, to a floor set by noise alone.",
        "Lemma 1 of SCAFFOLD before its step is tuned: 3 (3 mu/2) D^2 (1 - 3 mu eta~/2)^(T+1) + c eta~. "
        + INDEX,
    ),
    Claim(
        id="mixed.theoremB2_strong_decreasing",
        cites="mixed FL, proof of theorem B.2, with weights that decrease, as its text calls them",
        assumes=(*STATED, STRONGLY, *CONVEX_STEPS, LONG),
        unstated=(*SAMPLED, COHORT),
        measures=gap_decreasing,
        bound=start_strong + share * noise_convex * eta_tilde,
        weakened=start_strong,
        meaning="The same at the mean of the points with weights (1 - 3 mu eta~/2)^t.",
        note="The text's weights (1 - 3 mu eta~/2)^(1-r) grow with r, and it calls them geometrically decreasing. "
        "This is the reading by the words; mixed.theoremB2_strong_explicit is that by the formula.",
        **RUN,
    ),
    printed_order(
        "convex",
        rounds,
        (CONVEX, *CONVEX_STEPS),
        (COHORT,),
        "1-way gradient transfer needs about 1/epsilon^2 rounds however much the losses differ.",
        BATCH,
    ),
    explicit(
        "convex",
        "proof of theorem B.2, last display for mu = 0",
        gap_mean,
        (CONVEX, *CONVEX_STEPS),
        (COHORT, TUNED),
        share
        * (
            8 * beta * D_sq / (T + 1)
            + sqrt(20 * sigma**2 + 12 * K * S * sigma_c**2) * sqrt(D_sq) / sqrt(K * S * (T + 1))
        ),
        start_convex,
        "The error of the mean point falls like 1/T, noise like 1/sqrt(T).",
        "It holds at the step that balances both parts; at eta~ = 1/(8 beta), as the proof sets it, the noise "
        "would stay. " + INDEX,
    ),
    printed_order(
        "nonconvex",
        rounds_grad,
        NONCONVEX_STEPS,
        (F_SMOOTH,),
        "The same for the squared gradient, without convexity.",
        lost,
    ),
    explicit(
        "nonconvex",
        "proof of theorem B.2, last display",
        best_sq_grad,
        NONCONVEX_STEPS,
        (F_SMOOTH, TUNED_GRAD),
        start_nonconvex + 6 * sqrt(noise_nonconvex * beta * F) / sqrt(T + 1),
        start_nonconvex,
        "The smallest expected squared gradient falls like 1/T, noise like 1/sqrt(T).",
        "Printed without an expectation, over t = 1, ..., T+1. " + lost + " " + INDEX,
    ),
    Claim(
        id="mixed.theoremB2_nonconvex_sum",
        cites="mixed FL, proof of theorem B.2 by its steps with f 2 beta-smooth, at a constant step",
        assumes=(*STATED, *NONCONVEX_STEPS),
        unstated=SAMPLED,
        measures=mean_sq_grad,
        bound=Rational(27, 10) * F / (eta_tilde * (T + 1))
        + Rational(27, 10)
        * beta
        * eta_tilde
        * ((4 + Rational(13, 162)) * sigma**2 / (K * S) + (2 + Rational(52, 162)) * sigma_c**2),
        weakened=Rational(27, 10) * F / (eta_tilde * (T + 1)),
        meaning="What the proof gives where f is as smooth as a sum of two beta-smooth losses.",
        note="From mixed.lemmaD12_sum and D.13: 7/18 - (13/324)(4/9) = 0.371 is above 10/27.",
        **RUN,
    ),
)

CLAIMS = with_means(
    STATEMENTS,
    dict(
        convex=("mixed.stepB2_convex", "textbook.rounds"),
        nonconvex=("mixed.stepB2_nonconvex", "textbook.rounds"),
    ),
)
