"""FSL, lemmas 1 to 5 of appendix A."""

from sympy import Rational

from fedtheory.claim import Claim
from fedtheory.claims.fsl._assumptions import (
    A1,
    A2,
    A4,
    EQ15,
    EQUAL_WEIGHTS,
    INDEPENDENT,
    LIPSCHITZ,
    UNIFORM_COHORT,
)
from fedtheory.conditions import Assumption, Condition
from fedtheory.symbols.fsl import (
    E_0,
    G_3,
    K_0,
    TABLE,
    E_c,
    E_sq_sum,
    E_sum_sq,
    G,
    K,
    L,
    a_split,
    drift_grad_0,
    drift_grad_c,
    eta_0,
    eta_l,
    gamma,
    m,
    sigma,
    sq_grad,
    sq_i,
    sq_j,
    sq_pair,
    sq_server_grad,
    sq_sum,
    sum_sq,
)

ZERO_MEAN = Condition(
    "zero_mean_independent",
    "z_1, ..., z_m are independent with mean zero",
    lambda problem, setup: getattr(setup, "independent", True),
)
EQ26_STEP = Assumption(4 * K * eta_l * L <= 1, "lemma 4")
EQ27_STEP = Assumption(4 * K_0 * eta_0 * gamma * L <= 1, "lemma 5")

client_level = sq_grad + sigma**2 / (2 * K) + G**2
server_level = sq_grad + Rational(4, 3) * gamma**2 * sq_server_grad + G_3

CLAIMS = (
    Claim(
        id="fsl.lemma1",
        cites="FSL, lemma 1",
        symbols=TABLE,
        assumes=(Assumption(ZERO_MEAN, "lemma 1"),),
        measures=E_sq_sum,
        relation="==",
        bound=E_sum_sq,
        weakened=E_sum_sq / m,
        meaning="Variances of independent noises add up.",
    ),
    Claim(
        id="fsl.lemma2",
        cites="FSL, lemma 2",
        symbols=TABLE,
        measures=sq_pair,
        bound=(1 + a_split) * sq_i + (1 + 1 / a_split) * sq_j,
        also=((sq_sum, "<=", m * sum_sq),),
        weakened=(1 + a_split) * sq_i + sq_j / a_split,
        meaning="The square of a sum, split at will.",
    ),
    Claim(
        id="fsl.lemma3",
        cites="FSL, lemma 3",
        algorithm="fsl",
        symbols=TABLE,
        assumes=(A1,),
        unstated=(LIPSCHITZ,),
        measures=drift_grad_0,
        bound=K_0 * L**2 * E_0,
        also=((drift_grad_c, "<=", K * L**2 * E_c),),
        weakened=K_0 * L**2 * E_0 / 2,
        follows={1: ("textbook.smooth",), 2: ("textbook.smooth",)},
        meaning="Gradients change by at most L times the drift of the points.",
    ),
    Claim(
        id="fsl.lemma4",
        cites="FSL, lemma 4",
        algorithm="fsl",
        symbols=TABLE,
        assumes=(A1, A2, A4, EQ26_STEP),
        unstated=(LIPSCHITZ, EQUAL_WEIGHTS, INDEPENDENT),
        measures=E_c,
        bound=4 * K**2 * eta_l**2 * client_level,  # (26)
        weakened=4 * K**2 * eta_l**2 * sq_grad,
        follows=("fsl.step29_average",),
        meaning="Clients drift by at most twice what K steps along their gradients at the start could.",
    ),
    Claim(
        id="fsl.lemma5",
        cites="FSL, lemma 5",
        algorithm="fsl",
        symbols=TABLE,
        assumes=(A1, A2, A4, EQ15, EQ27_STEP),
        unstated=(LIPSCHITZ, EQUAL_WEIGHTS, INDEPENDENT, UNIFORM_COHORT),
        measures=E_0,
        bound=12 * K_0**2 * eta_0**2 * (L**2 * E_c + server_level),  # (27)
        weakened=12 * K_0**2 * eta_0**2 * (L**2 * E_c + sq_server_grad * gamma**2 * Rational(4, 3)),
        follows=("fsl.step31_at_x/1", "fsl.step_move"),
        meaning="The server drifts by what aggregation moved it and what its own steps add.",
    ),
)
