"""Mixed FL, in running text and in the last steps of its proofs: what the constants add up to, what
more steps and more noise do to table 1's rates, and readings of (12)."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sympy import Rational, sqrt

from fedtheory.claim import Claim
from fedtheory.claims.mixed._assumptions import SERVER_CONVEX, SERVER_NONCONVEX
from fedtheory.claims.mixed.one_way_convex import CLAIMS as CONVEX_STEPS
from fedtheory.claims.mixed.tables import RECORDS, eight, eighteen, pt, two_way
from fedtheory.conditions import Assumption
from fedtheory.symbols.mixed import (
    TABLE,
    B,
    B_more,
    K,
    K_more,
    S,
    drift,
    ends,
    eta_s,
    sigma,
    sigma_c,
)

if TYPE_CHECKING:
    import sympy

STEPS = {claim.id: claim for claim in CONVEX_STEPS}
RATES = {
    (n, case): RECORDS[f"mixed.theoremB{n}_{case}"].bound
    for n in (1, 2, 3)
    for case in ("convex", "nonconvex")
}
NAMES = {1: "PT", 2: "1-W GT", 3: "2-W GT"}


def sentence(
    name: str,
    place: str,
    measures: "sympy.Expr",
    bound: "sympy.Expr | int",
    meaning: str,
    **more: Any,
) -> Any:
    return Claim(
        id=f"mixed.{name}",
        cites=f"mixed FL, {place}",
        symbols=TABLE,
        measures=measures,
        bound=bound,
        meaning=meaning,
        **more,
    )


def over_ends(name: str) -> Any:
    """Return a record with (12) read as its indices are printed: distances of the points after each
    step."""
    record, other = STEPS[f"mixed.{name}"], {drift: ends}
    return record.replace(
        name=f"mixed.{name}_ends",
        cites=f"{record.cites}, (12) as numbered",
        bound=record.bound.xreplace(other),
        weakened=record.weakened.xreplace(other),
        note="(12) counts k from 1 to K, and (11) takes gradients at x^(t,1), ..., x^(t,K); the listing takes them at "
        f"x^(t,0), ..., x^(t,K-1). mixed.{name} has the drift of the latter, this the former.",
    )


def at_more_steps(rate: "sympy.Expr") -> "sympy.Expr":
    return rate.xreplace({K: K_more})


def batches() -> dict[str, int]:
    """Return the central batch sizes by C.2's rule, |B_c| = S |B_i| (PT, 2-W GT) and K S |B_i| (1-W
    GT), and the numbers of clients and users that remain after grouping and splitting."""
    rule = lambda S, B_i, K: (S * B_i, K * S * B_i)
    users = int(Fraction(4, 5) * 6040)  # that are not the datacenter's
    (smile, smile_one), (text, text_one) = rule(100, 5, 2), rule(100, 8, 16)
    return {
        "smile classifier, PT and 2-W GT": smile,
        "smile classifier, 1-W GT": smile_one,
        "language model, PT and 2-W GT": text,
        "language model, 1-W GT, by the rule": text_one,
        "language model, 1-W GT, in half": text_one // 2,
        "CelebA clients": 8408 + 935,
        "composite clients of three": 8408 // 3,
        "MovieLens train users": int(Fraction(4, 5) * users),
        "MovieLens validation users": users // 10,
        "MovieLens test users": users // 10,
    }


PROOFS = (
    over_ends("lemmaD9"),
    over_ends("lemmaD10"),
    sentence(
        "stepD11_sum",
        "proof of D.11, sum of powers",
        (1 + 1 / K) ** K - 1,
        2,
        "What K steps multiply a drift by.",
        kind="step",
        weakened=Rational(3, 2),
        note="The text passes through e - 1, which the left side comes near as K grows. The display before it prints ((1 + 1/K)^k - 1) = K, where ((1 + 1/K)^k - 1) K is meant.",
    ),
    sentence(
        "stepB2_constants_convex",
        "proof of theorem B.2, convex, constants",
        Rational(5, 8) / (K * eta_s**2) + 4 / (K * S),
        5 / (K * S),
        "What eta_s > sqrt(5 S/8) makes of the constants of D.10 and D.11.",
        kind="step",
        assumes=(SERVER_CONVEX,),
        also=((Rational(5, 8) / eta_s**2 + 2, "<=", 3), (Rational(5, 8) / eta_s**2, "<=", 1 / S)),
        weakened=Rational(9, 2) / (K * S),
        note="The third line is the factor (S - 1)/S.",
    ),
    sentence(
        "stepB2_constants_nonconvex",
        "proof of theorem B.2, not convex, constants",
        Rational(2, 27) / (K * eta_s**2) + 2 / (K * S),
        3 / (K * S),
        "What eta_s >= sqrt(S) makes of the constants of D.12 and D.13.",
        kind="step",
        assumes=(SERVER_NONCONVEX,),
        also=(
            (Rational(8, 27) / eta_s**2 + 1, "<=", 2),
            (Rational(4, 243) / eta_s**2, "<=", Rational(4, 9) - Rational(1, 3)),
        ),
        weakened=2 / (K * S),
    ),
    sentence(
        "server_rate_readings",
        "theorem B.2, condition on eta_s",
        sqrt(5 * S / 8),
        sqrt(Rational(5, 8)) * S,
        "Of the two readings of eta_s > sqrt(5/8) S, the one that is recorded asks for less.",
        weakened=sqrt(5 * S / 8) * Rational(9, 10),
        note="The proof needs 5/(8 eta_s^2) <= 1/S, which is eta_s >= sqrt(5 S/8); table 5's eta_s >= sqrt(S) meets that "
        "reading, and the other one for S = 1 alone.",
    ),
)
RATE_SENTENCES = (
    sentence(
        "proportional_to_variance",
        "appendix C.4.1",
        RATES[3, "convex"].xreplace({sigma: sqrt(2) * sigma, sigma_c: sqrt(2) * sigma_c}),
        2 * RATES[3, "convex"],
        "Twice the variances, twice the rounds of table 1.",
        relation="==",
        also=tuple(
            (
                RATES[n, "convex"].xreplace({sigma: sqrt(2) * sigma, sigma_c: sqrt(2) * sigma_c}),
                "==",
                2 * RATES[n, "convex"],
            )
            for n in (1, 2)
        ),
        weakened=RATES[3, "convex"],
        note='The text: the bounds "are directly proportional to the client variance bound sigma^2 and central variance '
        'bound sigma_c^2". Their leading terms are; the others have no variance.',
    ),
    sentence(
        "more_steps",
        "appendix C.4.2",
        at_more_steps(RATES[3, "convex"]),
        RATES[3, "convex"],
        "None of table 1's rates grows with the number of local steps.",
        assumes=(Assumption(K <= K_more, "increasing K"),),
        also=tuple(
            (at_more_steps(rate), "<=", rate) for key, rate in RATES.items() if key != (3, "convex")
        ),
        weakened=RATES[3, "convex"] / 2,
    ),
    sentence(
        "more_steps_one_way",
        "appendix C.4.2, 1-way gradient transfer",
        at_more_steps((sigma**2 + K * S * sigma_c**2) / (K * S)).xreplace(
            {sigma_c: sigma_c * sqrt(K / K_more)}
        ),
        K / K_more * (sigma**2 + K * S * sigma_c**2) / (K * S),
        "For 1-way gradient transfer to gain K'/K from more steps, central variance must fall by K'/K.",
        relation="==",
        weakened=(sigma**2 + K * S * sigma_c**2) / (K_more * S) / 2,
    ),
    sentence(
        "two_way_narrower",
        "appendix C.4.3",
        two_way["strong"],
        eight,
        "2-way gradient transfer has narrower limits than 1-way gradient transfer on eta and K.",
        also=((two_way["convex"], "<=", eight), (two_way["nonconvex"], "<=", eighteen)),
        weakened=eight / 11,
    ),
    sentence(
        "pt_ceiling_B",
        "appendix C.4.3",
        pt.xreplace({B: B_more}),
        pt,
        "The steps that parallel training may take shrink as B grows.",
        assumes=(Assumption(B <= B_more, "increasing B"),),
        weakened=pt / 2,
    ),
)
COUNTS = (
    Claim(
        id="mixed.numbers_C2",
        cites="mixed FL, appendix C.2, tables 7 and 9",
        kind="structure",
        symbols=TABLE,
        says="Central batches are S |B_i| and K S |B_i|; clients and users are as many as grouping and splitting leave.",
        printed={
            "smile classifier, PT and 2-W GT": 500,
            "smile classifier, 1-W GT": 1000,
            "language model, PT and 2-W GT": 800,
            "language model, 1-W GT, by the rule": 12800,
            "language model, 1-W GT, in half": 6400,
            "CelebA clients": 9343,
            "composite clients of three": 2802,
            "MovieLens train users": 3865,
            "MovieLens validation users": 483,
            "MovieLens test users": 483,
        },
        compute=batches,
        meaning="The numbers of appendix C.2 follow from each other.",
        note="Of the 4,832 users that are 80 % of 6,040, 3,865, 483 and 483 are 80, 10 and 10 %, rounded down: one is left "
        "over.",
    ),
)
CLAIMS = (*PROOFS, *RATE_SENTENCES, *COUNTS)
