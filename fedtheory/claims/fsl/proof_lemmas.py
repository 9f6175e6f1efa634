"""FSL, appendices A-B and A-C: the displayed lines of the proofs of lemmas 4 and 5."""

from typing import Any

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
from fedtheory.claims.fsl.lemmas import EQ26_STEP, EQ27_STEP
from fedtheory.symbols.fsl import (
    E_0,
    K_0,
    TABLE,
    E_c,
    G,
    K,
    L,
    S,
    eta_0,
    eta_l,
    excess_29,
    gamma,
    inner_drift_0,
    sigma,
    sigma_0,
    sq_grad,
    sq_move_bar,
    sq_server_grad,
    sq_server_grad_bar,
    tau_s,
)

COMMON: dict[str, Any] = dict(kind="step", algorithm="fsl", symbols=TABLE)
server_noise = 4 * K_0 * eta_0**2 * gamma**2 * sigma_0**2
server_pull = 16 * K_0**2 * eta_0**2 * gamma**2 * sq_server_grad

CLAIMS = (
    Claim(
        id="fsl.step_L0",
        cites="FSL, after (27) and end of A-C",
        assumes=(EQ27_STEP,),
        measures=16 * K_0**2 * eta_0**2 * gamma**2 * L**2,
        bound=1,
        also=((12 * K_0**2 * eta_0**2 * gamma**2 * L**2, "<=", 1),),
        weakened=Rational(99, 100),
        meaning="Short steps keep the server's own share in its drift below the rest.",
        **dict(COMMON, algorithm=None),
    ),
    Claim(
        id="fsl.step29",
        cites="FSL, (29)",
        assumes=(A1, A4, EQ26_STEP),
        unstated=(LIPSCHITZ, INDEPENDENT),
        measures=excess_29,
        bound=0,
        weakened=-Rational(37, 20) * K * eta_l**2 * sigma**2,  # the bound without its noise
        meaning="No client's point drifts further than 1.85 K eta_l^2 (2 K ||grad f_i||^2 + sigma^2), in mean square.",
        **COMMON,
    ),
    Claim(
        id="fsl.step29_average",
        cites="FSL, after (29)",
        assumes=(A1, A2, A4, EQ26_STEP),
        unstated=(LIPSCHITZ, EQUAL_WEIGHTS, INDEPENDENT),
        measures=E_c,
        bound=Rational(37, 10) * K**2 * eta_l**2 * (sq_grad + G**2 + sigma**2 / (2 * K)),
        weakened=Rational(37, 10) * K**2 * eta_l**2 * sq_grad,
        follows=("fsl.step29", "textbook.largest", "textbook.conditional_mean"),
        meaning="(29) averaged over clients and steps.",
        **COMMON,
    ),
    Claim(
        id="fsl.step30",
        cites="FSL, (30)",
        measures=E_0,
        bound=2 * sq_move_bar + 2 * inner_drift_0,
        weakened=2 * inner_drift_0,
        follows=("textbook.young",),
        meaning="The server's drift: to its start, and from there.",
        **COMMON,
    ),
    Claim(
        id="fsl.step31",
        cites="FSL, (31)",
        assumes=(A1, A4, EQ27_STEP),
        unstated=(LIPSCHITZ, INDEPENDENT),
        measures=inner_drift_0,
        bound=4 * K_0**2 * eta_0**2 * gamma**2 * (sq_server_grad_bar + sigma_0**2 / (2 * K_0)),
        weakened=4 * K_0**2 * eta_0**2 * gamma**2 * sq_server_grad_bar,
        meaning="The server's own steps drift as a client's do.",
        **COMMON,
    ),
    Claim(
        id="fsl.step31_at_x",
        cites="FSL, after (31)",
        assumes=(A1, A4, EQ27_STEP),
        unstated=(LIPSCHITZ, INDEPENDENT),
        measures=E_0,
        bound=3 * sq_move_bar + server_pull + server_noise,
        also=(
            (sq_server_grad_bar, "<=", 2 * sq_server_grad + 2 * L**2 * sq_move_bar),
            (
                E_0,
                "<=",
                (2 + 16 * K_0**2 * eta_0**2 * L**2 * gamma**2) * sq_move_bar
                + server_pull
                + server_noise,
            ),
        ),
        weakened=server_pull + server_noise,
        follows={
            1: ("fsl.step31_at_x/3",),  # what it takes of step_L0 its hypotheses give
            2: ("textbook.smooth",),
            3: ("fsl.step30", "fsl.step31", "fsl.step31_at_x/2"),
        },
        meaning="The same with the server's gradient at x_t.",
        **COMMON,
    ),
    Claim(
        id="fsl.step_move",
        cites="FSL, end of A-C",
        assumes=(A1, A2, A4, EQ15),
        unstated=(LIPSCHITZ, EQUAL_WEIGHTS, INDEPENDENT, UNIFORM_COHORT),
        measures=sq_move_bar,
        bound=4 * K_0**2 * eta_0**2 * (sigma**2 / (K * S) + tau_s * G**2 + L**2 * E_c + sq_grad),
        weakened=4 * K_0**2 * eta_0**2 * L**2 * E_c,
        follows=("fsl.step22/1", "textbook.young"),
        meaning="How far aggregation moves the server.",
        **COMMON,
    ),
)
