"""FSL, sections II and III-A in running text: which objectives coincide, when the server's step
helps, and when it cannot."""

from typing import Any

from sympy import Eq, Max, Ne

from fedtheory import conditions
from fedtheory.claim import Claim
from fedtheory.claims.fsl.server_step import SETTING
from fedtheory.conditions import Assumption
from fedtheory.symbols.fsl import (
    TABLE,
    F_shared,
    F_w0,
    F_w1,
    F_x,
    L,
    N,
    a_w0,
    b_w0,
    eta_0,
    f_0_x,
    gamma,
    grad_inner,
    inner_w0,
    n,
    n_0,
    population,
    sq_grad,
    sq_server_grad,
    sq_tilde_grad,
    xi_w0,
)

SAMPLES = (Assumption(conditions.SAMPLES, "(1)"), Assumption(conditions.SERVER, "(4)"))
STEP: dict[str, Any] = dict(algorithm="server_sgd", symbols=TABLE)
gain_9 = a_w0 + (1 - L * eta_0) * b_w0  # left side of (9); xi_w0 is its right side
share = L * eta_0

CLAIMS = (
    Claim(
        id="fsl.eq4_equivalent",
        cites="FSL, after (4)",
        algorithm="data_sharing",
        symbols=TABLE,
        assumes=(*SAMPLES, Assumption(f_0_x <= F_x, "F = f_0")),
        measures=F_shared,
        bound=F_x,
        weakened=F_x - n_0 / n * f_0_x,
        meaning="Where the server's loss is the clients' own, sharing its samples changes nothing.",
        note="The text says it of F = f_0, in both directions; this half of it holds for f_0 <= F, and the other "
        "is its mirror image.",
    ),
    Claim(
        id="fsl.same_objective",
        cites="FSL, section IV-B",
        algorithm="data_sharing",
        symbols=TABLE,
        assumes=(*SAMPLES, Assumption(Eq(gamma, N * n_0 / n), "gamma = N n_0 / n")),
        measures=F_shared,
        relation="==",
        bound=(F_x + gamma * f_0_x) / (1 + gamma),
        weakened=F_x + gamma * f_0_x,
        meaning="At gamma = N n_0 / n FSL's modified loss is what data sharing minimises.",
    ),
    Claim(
        id="fsl.tilde_normalised",
        cites="FSL, section III-B, definition of the modified loss",
        algorithm="fsl",
        symbols=TABLE,
        measures=(1 + gamma) ** 2 * sq_tilde_grad,
        relation="==",
        bound=sq_grad + 2 * gamma * grad_inner + gamma**2 * sq_server_grad,
        weakened=sq_grad + gamma**2 * sq_server_grad,
        meaning="The modified loss is the normalised version of (5): its gradient is that of F + gamma f_0 over "
        "1 + gamma.",
    ),
    Claim(
        id="fsl.acute_angle",
        cites="FSL, after (8) and second remark after (9)",
        assumes=(
            *SETTING,
            Assumption(xi_w0 <= a_w0 + b_w0, "the angle between the gradients is acute"),
            Assumption(2 * L * eta_0 * b_w0 <= a_w0 + b_w0 - xi_w0, "sufficiently small eta_0"),
        ),
        measures=a_w0 + b_w0 - xi_w0,
        relation="==",
        bound=2 * inner_w0,
        also=((F_w1, "<=", F_w0 - eta_0 * inner_w0 / 2),),
        weakened=inner_w0,
        meaning="The mismatch is below the sum of both squares where the angle is acute, and then a small step "
        "makes progress.",
        note="How small is not said: half of what (8) allows is enough for half of the first-order change.",
        **STEP,
    ),
    Claim(
        id="fsl.eq9_large_gradient",
        cites="FSL, second remark after (9)",
        assumes=(
            *SETTING,
            Assumption(
                a_w0 * (2 - share) ** 2 >= Max((2 - share) ** 2, share**2) * xi_w0,
                "||grad F(w_0)|| is large",
            ),
        ),
        unstated=(Assumption(share <= 2, "(9), eta_0 below 2/L", stated=False),),
        measures=gain_9,
        relation=">=",
        bound=xi_w0,
        weakened=a_w0,
        meaning="For a fixed server, (9) holds far from the stationary points of F.",
        note="How large: ||grad F|| >= max(1, L eta_0/(2 - L eta_0)) ||grad F - grad f_0||, the least for which "
        "(9) follows from the two norms alone. With eta_0 > 2/L (9) fails however large the gradient is: "
        "f_0 = F gives (2 - L eta_0) ||grad F||^2 on its left and 0 on its right.",
        **STEP,
    ),
    Claim(
        id="fsl.eq9_by_samples",
        cites="FSL, after (10)",
        assumes=(*SETTING, Assumption(xi_w0 <= 0, "n_0 = n, where (10) is 0")),
        unstated=(Assumption(share <= 2, "(9), eta_0 below 2/L", stated=False),),
        measures=gain_9,
        relation=">=",
        bound=xi_w0,
        weakened=a_w0 + b_w0,
        meaning="Condition (9) can be satisfied by increasing n_0, up to the server that has all samples.",
        note="The end of the increase is f_0 = F; there (9) is (2 - L eta_0) ||grad F||^2 > 0, so a step below 2/L "
        "is needed that the text does not ask for.",
        **STEP,
    ),
    Claim(
        id="fsl.eq10_decreases",
        cites="FSL, before (10) and footnote 4",
        symbols=TABLE,
        assumes=(Assumption(conditions.SAMPLES, "(1)"), Assumption(n_0 + 1 <= n, "n_0 < n")),
        unstated=(Assumption(Ne(n, 1), "(10), division by n - 1", stated=False),),
        measures=(n / (n_0 + 1) - 1) * population / (n - 1),
        bound=(n / n_0 - 1) * population / (n - 1),
        weakened=(n / n_0 - 1) * population / (4 * (n - 1)),
        meaning="A server's mismatch decreases with its number of samples.",
    ),
    Claim(
        id="fsl.small_server_gradient",
        cites="FSL, third remark after (9)",
        assumes=SETTING,
        measures=inner_w0**2,
        bound=a_w0 * b_w0,
        weakened=a_w0 * b_w0 / 2,
        meaning="Where the server's gradient is small, as after overfitting, its step gains little.",
        note="What (7) promises is eta_0 times the inner product, less a curvature term: it vanishes with "
        "||grad f_0(w_0)||.",
        **STEP,
    ),
    Claim(
        id="fsl.eq9_reversed",
        cites="FSL, last remark after (9)",
        assumes=(*SETTING, Assumption(4 * a_w0 <= share**2 * b_w0, "||grad F|| << ||grad f_0||")),
        measures=gain_9,
        bound=xi_w0,
        weakened=xi_w0 - share * b_w0 / 2,
        meaning="Near a stationary point of F that is none of f_0, inequality (9) is reversed.",
        note='"May be reversed" in the text; it is wherever 2 ||grad F|| <= L eta_0 ||grad f_0||.',
        **STEP,
    ),
)
