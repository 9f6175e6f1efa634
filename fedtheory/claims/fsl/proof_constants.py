"""FSL, appendix A: what its proofs say of constants on the way, and lines as they are typed."""

from sympy import Eq, Rational, exp

from fedtheory.claim import Claim
from fedtheory.claims.fsl._assumptions import A1, A2, A4, EQ11_EQUAL, EQ11_STEP
from fedtheory.claims.fsl.lemmas import EQ26_STEP
from fedtheory.claims.fsl.proof_theorem1 import ROUND, server_27, step
from fedtheory.conditions import Assumption
from fedtheory.symbols.fsl import (
    T_6,
    TABLE,
    E_c,
    K,
    L,
    N,
    S,
    T_5c,
    a_split,
    eta_l,
    gamma,
    sq_dissimilar,
)

COMMON = dict(kind="step", symbols=TABLE)
growth = ((1 + a_split) ** K - 1) / (a_split * K)
limit = (exp(Rational(9, 8)) - 1) / Rational(9, 8)

CLAIMS = (
    Claim(
        id="fsl.step_after24",
        cites="FSL, after (24)",
        assumes=(EQ11_STEP,),
        measures=1 + Rational(9, 2) * step * L,
        bound=2,
        also=((1 + 3 * step * L, "<=", 1 + Rational(9, 2) * step * L),),
        teeth=Rational(19, 10),
        meaning="Condition (11) bounds the factors of both drifts in (24) by 2.",
        **COMMON,
    ),
    Claim(
        id="fsl.step_L_0",
        cites="FSL, before T_7",
        assumes=(EQ11_STEP,),
        measures=12 * step**2 * (gamma * L) ** 2,
        bound=1,
        teeth=Rational(1, 2),
        meaning="Condition (11) bounds the share of the clients' drift in the server's.",
        note="With L_0 = gamma L, as the text says; (11) gives 3/4.",
        **COMMON,
    ),
    Claim(
        id="fsl.step_T7_typed",
        cites="FSL, after lemma 5, as typed",
        algorithm="fsl",
        assumes=(A1, A2, A4, EQ11_EQUAL, EQ11_STEP),
        unstated=ROUND,
        measures=T_6,
        bound=(1 + 12 * step**2 * L**2) * E_c + server_27,
        teeth=E_c,
        meaning="Both drifts, with 12 K_0^2 eta_0^2 L^2 as the display has it.",
        note="The next line reads L_0 = gamma L, and fsl.step_T7 is recorded so: gamma^2 times (27) has gamma^2 L^2. "
        "As typed the line loses gamma^2 where gamma > 1.",
        **COMMON,
    ),
    Claim(
        id="fsl.step_T5c",
        cites="FSL, before (22)",
        algorithm="fsl",
        assumes=(Assumption(N >= 2, "division by N - 1"),),
        unstated=(*ROUND[1:2], ROUND[3]),
        measures=T_5c,
        relation="==",
        bound=K**2 / S * (1 - S / N) * N * sq_dissimilar / (N - 1),
        teeth=K**2 / S * sq_dissimilar,
        meaning="The variance of a mean that is sampled without replacement.",
        **COMMON,
    ),
    Claim(
        id="fsl.step29_factor",
        cites="FSL, before (29)",
        assumes=(Assumption(K >= 2, "K >= 2"), EQ26_STEP),
        measures=2 * K * eta_l**2 * L**2,
        bound=1 / (8 * (K - 1)),
        teeth=1 / (16 * (K - 1)),
        meaning="What a step adds to the growth of drift.",
        **COMMON,
    ),
    Claim(
        id="fsl.step29_growth",
        cites="FSL, after (29)",
        assumes=(
            Assumption(K >= 2, "K >= 2"),
            Assumption(Eq(a_split, Rational(9, 8) / (K - 1)), "a = 1.125/(K - 1)"),
        ),
        measures=growth,
        bound=limit,
        also=((limit, "<=", Rational(37, 20)),),
        teeth=Rational(3, 2),
        meaning="The geometric sum of K factors stays below 1.85 K.",
        **COMMON,
    ),
)
