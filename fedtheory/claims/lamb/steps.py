"""FED-LAMB, appendix A.2: the displayed lines of the proof of theorem 1, in order, each as it is
printed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import Rational, sqrt

from fedtheory.claim import Claim
from fedtheory.claims.lamb._assumptions import (
    ALL_CLIENTS,
    APART,
    BOUNDED_BELOW,
    EQUAL_WEIGHTS,
    H1,
    H2,
    H3,
    H4,
    INDEPENDENT,
    MOMENTS,
    NO_DECAY,
    NO_MOMENTUM,
    ROUND,
    SMALL_M,
)
from fedtheory.claims.lamb.theorems import noise, start
from fedtheory.conditions import Assumption
from fedtheory.symbols.lamb import (
    A_1,
    B_1,
    B_2,
    TABLE,
    L_bar,
    L_l,
    M,
    T,
    alpha,
    avg_grad_by_root_v,
    beta_1,
    beta_2,
    bracket,
    drift,
    error_17,
    error_momentum,
    excess_sign,
    f_excess_t,
    grad_by_root_v,
    h,
    inner_g,
    inner_move,
    loss_drop,
    loss_next,
    loss_now,
    mean_sq_t,
    momentum,
    momentum_14,
    n,
    noise_sum,
    p,
    phi_M,
    phi_m,
    rest,
    sigma,
    sq_error,
    sq_g_bar,
    sq_gap_11,
    sq_grad_vartheta,
    sq_lag,
    sq_momentum_11,
    sq_move_L,
    sum_gap,
    sum_inner,
    sum_kept,
    sum_sq_grad,
    sum_wrong,
    tau,
    v_0,
)

if TYPE_CHECKING:
    import sympy

HALF = Rational(1, 2)
SETTING = (EQUAL_WEIGHTS, NO_DECAY)
EXPECTED = Assumption(NO_MOMENTUM.holds, "the simplification that beta_1 = 0")
AT_M_1 = Assumption(SMALL_M.holds, "assuming M <= 1")


def line(
    name: str,
    cites: str,
    measures: "sympy.Expr",
    bound: "sympy.Expr | int",
    assumes: Sequence[Any] = (),
    unstated: Sequence[Any] = ROUND,
    **more: Any,
) -> Any:
    return Claim(
        id=f"lamb.{name}",
        cites=f"FED-LAMB, {cites}",
        kind="step",
        algorithm="fed_lamb",
        symbols=TABLE,
        assumes=(*SETTING, *assumes),
        unstated=unstated,
        measures=measures,
        bound=bound,
        **more,
    )


scales = M**2 / sqrt(v_0) + phi_M**2 * sqrt(M**2 + p * sigma**2)  # of one client, in E[B_2]
scaled = phi_m**2 * (1 - beta_2)
gap_18 = L_l / sqrt(v_0) * sum_gap
inner_bound = -alpha / 2 * sq_grad_vartheta - alpha / 2 * sq_g_bar + alpha * momentum + 4 * bracket
first_display = (
    sqrt(M**2 * p / n) * loss_drop / (h * alpha * tau)
    + alpha / n**2 * noise_sum
    + alpha * momentum
    + 4 * alpha * bracket
    + L_bar * beta_1**2 * h * (1 - beta_2) * M**2 * phi_M**2 * n / (2 * (1 - beta_1) ** 2 * v_0)
    + alpha * beta_1 / (1 - beta_1) * sqrt((1 - beta_2) * p) * h * M**2 / sqrt(v_0)
    + L_bar * alpha**2 * M**2 * phi_M**2 * (1 - beta_2) * p / (T * v_0)
)

CLAIMS = (
    line(
        "step7",
        "(7)",
        -inner_move,
        loss_now - loss_next + sq_move_L,
        (H1,),
        (APART,),
        weakened=loss_now - loss_next,
        meaning="Smoothness, layer by layer, bounds the first-order change by the loss gained and the move.",
        note="H1 bounds a layer's gradient by that layer's move; the sum over layers needs that other layers do not "
        "change it.",
    ),
    line(
        "step11",
        "(8) to (11)",
        sq_gap_11,
        0,
        relation="==",
        unstated=(ALL_CLIENTS, MOMENTS),
        weakened=sq_momentum_11,
        meaning="With momentum folded in, a move is a sum of normalised gradients and of changes of scale.",
        note="The right-hand side of (9) to (11) is printed without the minus sign of algorithm 1's line 13, read in "
        "here; the second sum of (10) prints alpha_(r-1) / (1 - beta_1) where beta_1 alpha_(r-1) / (1 - beta_1) "
        "is meant, as (11) has it.",
    ),
    line(
        "step13",
        "(13) to (15)",
        inner_move,
        A_1 - momentum_14,
        relation="==",
        unstated=(ALL_CLIENTS, MOMENTS),
        weakened=A_1,
        meaning="The first-order change, by momentum and by gradients.",
        note="(15) has the minus sign of line 13, (14) has not; read in here.",
        follows=("lamb.step11",),
    ),
    line(
        "step16",
        "(16)",
        inner_g,
        HALF * sq_grad_vartheta + HALF * sq_g_bar - sq_error,
        relation="==",
        unstated=(),
        also=((inner_g, ">=", HALF * sq_grad_vartheta + HALF * sq_g_bar - sq_error),),
        weakened=HALF * sq_grad_vartheta + HALF * sq_g_bar,
        meaning="An inner product by three squares.",
        note="As printed, with factor 1 on the last square, where the identity has 1/2 (lamb.step16_half); the lines "
        "after it use it as the lower bound of the second line here.",
        follows={2: ("lamb.step16/1",)},
    ),
    line(
        "step16_half",
        "(16), with 1/2 on the last term",
        inner_g,
        HALF * (sq_grad_vartheta + sq_g_bar - sq_error),
        relation="==",
        unstated=(),
        weakened=HALF * (sq_grad_vartheta + sq_g_bar),
        meaning="The identity 2 <a, b> = a^2 + b^2 - (a - b)^2.",
    ),
    line(
        "step_split",
        "after (16)",
        sq_error,
        error_momentum + error_17,
        unstated=(ALL_CLIENTS,),
        weakened=(error_momentum + error_17) / 4,
        meaning="The error, by momentum and by clients.",
        note="Printed with grad f in the first sum, and with grad f_i where that is bounded; grad f is the mean of "
        "grad f_i, and grad f_i is read throughout.",
    ),
    line(
        "step_momentum",
        "before (17)",
        error_momentum,
        momentum,
        (H1, H4),
        also=(
            (error_momentum, "<=", 2 * L_l / sqrt(v_0) * sq_lag),
            (2 * L_l / sqrt(v_0) * sq_lag, "<=", momentum),
        ),
        weakened=0,
        meaning="The point (8) is near the mean model.",
        note="H1 gives L_l^2 where the line has L_l.",
        follows={1: ("lamb.step_momentum/2", "lamb.step_momentum/3")},
    ),
    line(
        "step17",
        "(17)",
        error_17,
        4 / n * (B_1 + B_2),
        unstated=(ALL_CLIENTS,),
        weakened=(B_1 + B_2) / n,
        meaning="What clients add to the error, by drift and by normalisation.",
        note="Printed with grad f; bounded with grad f_i, which is read here.",
    ),
    line(
        "step_B1",
        "(18)",
        B_1,
        n * drift,
        (H1, H2, H4),
        also=((B_1, "<=", gap_18), (gap_18, "<=", n * drift)),
        weakened=0,
        meaning="Local models drift apart in proportion to the local steps.",
        note="H1 gives L_l^2 where the line has L. The last inequality 'stems from lemma 1', whose proof has T = 1.",
        follows={1: ("lamb.step_B1/2", "lamb.step_B1/3"), 3: ("lamb.lemma1",)},
    ),
    line(
        "step_B2",
        "E[B_2]",
        B_2,
        n * scales
        - 2 * phi_m * sqrt((1 - beta_2) / (M**2 * p)) * sum_sq_grad
        + phi_M * h * sigma**2 / sqrt(n),
        (H2, H3, H4, EXPECTED),
        also=(
            (B_2, "<=", n * scales - 2 * sum_inner),
            (-2 * sum_inner, "<=", -2 * sum_kept - 2 * sum_wrong),
            (excess_sign, "<=", 0),
        ),
        weakened=0,
        meaning="Normalised gradients err by their scale and by the noise of their signs.",
        note="The first line has E||g_bar_i / v^(1/4)||^2 <= phi_M^2 sqrt(M^2 + p sigma^2), from H2 "
        "and H3. The chance that a sign is wrong is bounded as if the "
        "estimate were a mean over n clients; h phi_M sigma^2 / sqrt(n) then stands once for the sum over n "
        "clients. The last display closes the expectation's bracket after this term.",
        follows={1: ("lamb.step_B2/2", "lamb.step_B2/3", "lamb.step_B2/4")},
    ),
    line(
        "step_17_becomes",
        "(17) becomes",
        error_17,
        4 * bracket,
        (H1, H2, H3, H4, EXPECTED),
        weakened=0,
        meaning="What clients add to the error, bounded.",
        note="4/n times E[B_2] gives 4 phi_M h sigma^2 / n^(3/2), where the line has 4 phi_M h sigma^2 / sqrt(n). "
        "Printed with alpha_t^2 L_l alpha_r^2 in the drift, read as alpha^2 L_l as in the lines around it.",
        follows=("lamb.step17", "lamb.step_B1/1", "lamb.step_B2/1"),
    ),
    line(
        "step_inner",
        "substituting into (16)",
        -alpha * inner_g,
        inner_bound,
        (H1, H2, H3, H4, EXPECTED),
        weakened=-alpha / 2 * (sq_grad_vartheta + sq_g_bar),
        meaning="The step's progress, errors bounded.",
        note="(16) is multiplied by alpha, its last square bounded by the two lines before: this has alpha with "
        "the first (2 alpha^3 ...), and 4 [...] without alpha.",
        follows=(
            "lamb.step16/2",
            "lamb.step_split",
            "lamb.step_momentum/1",
            "lamb.step_17_becomes",
        ),
    ),
    line(
        "step_g_bar",
        "after substituting into (16)",
        sq_g_bar,
        scaled * avg_grad_by_root_v,
        (H2, H4),
        (*ROUND, INDEPENDENT),
        relation=">=",
        weakened=avg_grad_by_root_v * 4,
        meaning="The normalised gradients' mean is not smaller than the gradients' mean, up to scale.",
        note="The square of a sum over clients is replaced by a sum of squares, with 1/n^2; the last inequality takes "
        "1/||p|| >= sqrt(1 - beta_2) in each layer, and moves the square outside the mean again.",
    ),
    line(
        "step_average",
        "before A_1",
        avg_grad_by_root_v,
        HALF * grad_by_root_v - drift,
        (H1, H2, H4),
        relation=">=",
        weakened=2 * grad_by_root_v,
        meaning="Lemma 2 for several local steps, with v^(-1/4).",
        note="(18), without its factor n, for the squared mean.",
        follows=("lamb.step_B1/1",),
    ),
    line(
        "step_A1",
        "A_1 <= ...",
        A_1,
        -HALF * scaled * grad_by_root_v
        + phi_m**2 * (1 - beta_2) * drift
        + alpha * momentum
        + 4 * alpha * bracket,
        (H1, H2, H3, H4, EXPECTED),
        (*ROUND, INDEPENDENT),
        weakened=-HALF * scaled * grad_by_root_v,
        meaning="The gradients' part of a step makes progress, up to drift and noise.",
        note="The lines before it give -(alpha/2) of both squares: here the one at (8) is dropped, and "
        "the other, times phi_m^2 (1 - beta_2) / 2 by the two lines before, stands with 1/2 and without alpha; "
        "4 [...] has gained its alpha.",
        follows=("lamb.step_inner", "lamb.step_g_bar", "lamb.step_average", "textbook.definition"),
    ),
    line(
        "step_final",
        "last display",
        mean_sq_t,
        start(alpha, tau, f_excess_t) + noise(tau) + 4 * alpha * bracket + rest,
        (H1, H2, H3, H4, AT_M_1),
        (*ROUND, INDEPENDENT, NO_MOMENTUM, BOUNDED_BELOW),
        also=(
            (mean_sq_t, "<=", first_display),
            (
                first_display,
                "<=",
                start(alpha, tau, f_excess_t) + noise(tau) + 4 * alpha * bracket + rest,
            ),
        ),
        weakened=start(alpha, tau, f_excess_t),
        meaning="Summed over iterations, the theorem with its remaining terms.",
        note="The first sign is <~, a constant factor that is not given, 1 here. 'Substitute back into (15), and "
        "leave other derivations unchanged': the terms with n, with sqrt((1 - beta_2) p) h and with 1/T have no "
        "line of their own, nor has the factor sqrt(M^2 p / n) / h of the first. The point (8) turns into "
        "theta-bar.",
        follows={
            1: ("lamb.step_final/2", "lamb.step_final/3"),
            2: ("lamb.step7", "lamb.step13", "lamb.step_A1"),
        },
    ),
)
