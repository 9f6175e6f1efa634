"""FSL, appendix A-A: the displayed lines of the proof of theorem 1, in order."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import Rational

from fedtheory.claim import Claim
from fedtheory.claims.fsl._assumptions import (
    A1,
    A2,
    A3,
    A4,
    EQ11_EQUAL,
    EQ11_STEP,
    EQ15,
    EQUAL_WEIGHTS,
    INDEPENDENT,
    LIPSCHITZ,
    UNIFORM_COHORT,
)
from fedtheory.language.conditions import Assumption
from fedtheory.symbols.fsl import (
    E_0,
    G_2,
    G_3,
    G_4,
    K_0,
    T_1,
    T_2,
    T_3,
    T_4,
    T_5,
    T_6,
    T_7,
    TABLE,
    E_c,
    G,
    K,
    L,
    L_tilde,
    Phi,
    Psi,
    S,
    T_4a,
    T_4b,
    T_5a,
    T_5b,
    T_5c,
    eta_0,
    eta_g,
    eta_l,
    gamma,
    half,
    kappa,
    sigma,
    sigma_0,
    sq_grad,
    sq_server_grad,
    sq_tilde_grad,
    sq_xi,
    tau_s,
    tilde_F_next,
    tilde_F_t,
    xi_bar,
)

if TYPE_CHECKING:
    import sympy

step = K_0 * eta_0
THREE_HALVES, NINE_HALVES = Rational(3, 2), Rational(9, 2)


def line(
    name: str,
    cites: str,
    measures: "sympy.Expr",
    bound: "sympy.Expr",
    assumes: Sequence[Assumption],
    unstated: Sequence[Assumption] = (),
    **more: Any,
) -> Any:
    return Claim(
        id=f"fsl.{name}",
        cites=f"FSL, {cites}",
        kind="step",
        algorithm="fsl",
        symbols=TABLE,
        assumes=assumes,
        unstated=unstated,
        measures=measures,
        bound=bound,
        **more,
    )


ROUND = (LIPSCHITZ, EQUAL_WEIGHTS, INDEPENDENT, UNIFORM_COHORT)
noise_23 = 2 * gamma**2 * sigma_0**2 / K_0 + 2 * L**2 * gamma**2 * E_0
clients_22 = 3 * (sigma**2 / (K * S) + tau_s * G**2 + L**2 * E_c)
gain_24 = step * (half + gamma - THREE_HALVES * (1 + gamma) ** 2 * step * L) * sq_tilde_grad
factor_28 = 2 * gamma + 1 - step * L * (1 + gamma) * (3 * (gamma + 1) + 16 * kappa * step * L)
gain_28 = step / 2 * factor_28 * sq_tilde_grad
noise_28 = step**2 * L * G_2 + 8 * step**3 * L**2 * (gamma * kappa / (1 + gamma) * sq_xi + G_4)
server_27 = 12 * step**2 * gamma**2 * (sq_grad + Rational(4, 3) * gamma**2 * sq_server_grad + G_3)

CLAIMS = (
    line(
        "step16",
        "(16)",
        tilde_F_next - tilde_F_t,
        T_1 + L * T_2,
        (A1,),
        weakened=T_1,
        follows=("textbook.upper_quadratic",),
        meaning="Smoothness bounds a round by its first-order change and its length.",
    ),
    line(
        "step16_own",
        "(16), with the smoothness that the modified loss has",
        tilde_F_next - tilde_F_t,
        T_1 + L_tilde * T_2,
        (A1,),
        also=((L_tilde, "<=", L),),
        weakened=T_1,
        meaning="The modified loss is as smooth as its parts, or smoother, and (16) needs no more of it.",
    ),
    line(
        "step18",
        "(18)",
        T_1,
        T_3 - (1 + gamma) * step * sq_tilde_grad,
        (EQ15,),
        relation="==",
        weakened=T_3 - step * sq_tilde_grad,
        follows=("textbook.definition",),
        meaning="A round steps along the modified gradient, up to T_3.",
    ),
    line(
        "step19",
        "(19)",
        T_1,
        step * (L**2 * (E_c + gamma**2 * E_0) - (half + gamma) * sq_tilde_grad),
        (A1, A4, EQ15),
        ROUND,
        also=((T_3, "<=", step * (sq_tilde_grad / 2 + L**2 * (E_c + gamma**2 * E_0))),),
        weakened=-step * (half + gamma) * sq_tilde_grad,
        follows={
            1: ("fsl.step18", "fsl.step19/2"),
            2: (
                "fsl.lemma3",
                "textbook.conditional_mean",
                "textbook.young",
                "textbook.sum_of_squares",
            ),
        },
        meaning="Drift bounds the error of the direction.",
    ),
    line(
        "step20",
        "(20)",
        2 * T_2 / (3 * step**2),
        gamma**2 * T_4 + T_5 + (1 + gamma) ** 2 * sq_tilde_grad,
        (EQ15,),
        weakened=T_5 + (1 + gamma) ** 2 * sq_tilde_grad,
        follows=("textbook.sum_of_squares",),
        meaning="The length of a round, split in three.",
    ),
    line(
        "step21",
        "(21)",
        T_4,
        2 * sigma_0**2 / K_0 + 2 * L**2 * E_0,
        (A1, A4),
        (LIPSCHITZ, INDEPENDENT),
        also=(
            (T_4, "<=", 2 * T_4a + 2 * T_4b),
            (T_4a, "<=", sigma_0**2 / K_0),
            (T_4b, "<=", L**2 * E_0),
        ),
        weakened=2 * L**2 * E_0,
        follows={
            1: ("fsl.step21/2", "fsl.step21/3", "fsl.step21/4"),
            2: ("textbook.definition",),
            3: ("textbook.independent_sum",),
            4: ("fsl.lemma3/1", "textbook.jensen"),
        },
        meaning="The server's mean gradient errs by noise and drift.",
        note="The display before (21) prints f_0(w) where grad f_0(w) is meant.",
    ),
    line(
        "step22",
        "(22)",
        T_5,
        clients_22,
        (A1, A2, A4),
        ROUND,
        also=(
            (K**2 * T_5 / 3, "<=", T_5a + T_5b + T_5c),
            (T_5a, "<=", K * sigma**2 / S),
            (T_5b, "<=", K**2 * L**2 * E_c),
            (T_5c, "<=", K**2 * tau_s * G**2),
        ),
        weakened=3 * (sigma**2 / (K * S) + L**2 * E_c),
        follows={
            1: ("fsl.step22/2", "fsl.step22/3", "fsl.step22/4", "fsl.step22/5"),
            2: ("textbook.definition",),
            3: ("textbook.independent_sum",),
            4: ("fsl.lemma3/2", "textbook.jensen"),
            5: ("textbook.cohort",),
        },
        meaning="The cohort's mean gradient errs by noise, sampling and drift.",
    ),
    line(
        "step23",
        "(23)",
        T_2,
        THREE_HALVES * step**2 * (noise_23 + (1 + gamma) ** 2 * sq_tilde_grad + clients_22),
        (A1, A2, A4, EQ15),
        ROUND,
        weakened=THREE_HALVES * step**2 * (1 + gamma) ** 2 * sq_tilde_grad,
        follows=("fsl.step20", "fsl.step21/1", "fsl.step22/1"),
        meaning="How far a round can move.",
    ),
    line(
        "step24",
        "(24)",
        tilde_F_next,
        tilde_F_t
        - gain_24
        + step * L**2 * gamma**2 * (1 + 3 * step * L) * E_0
        + step * L**2 * (1 + NINE_HALVES * step * L) * E_c
        + step**2 * L * G_2,
        (A1, A2, A4, EQ15),
        ROUND,
        weakened=tilde_F_t - gain_24,
        follows=("fsl.step16", "fsl.step19/1", "fsl.step23"),
        meaning="A round's progress before drift is bounded.",
    ),
    line(
        "step25",
        "(25)",
        tilde_F_next,
        tilde_F_t - gain_24 + step**2 * L * G_2 + 2 * step * L**2 * T_6,
        (A1, A2, A4, EQ11_EQUAL, EQ11_STEP),
        ROUND,
        also=((T_6, "==", gamma**2 * E_0 + E_c),),
        weakened=tilde_F_t - gain_24 + step**2 * L * G_2,
        follows={1: ("fsl.step24/1", "fsl.step25/2"), 2: ("textbook.definition",)},
        meaning="The same with (11), drifts together.",
    ),
    line(
        "step_T7",
        "after lemma 5",
        T_7,
        8 * K**2 * eta_l**2 * (sq_grad + sigma**2 / (2 * K) + G**2),
        (A1, A2, A4, EQ11_EQUAL, EQ11_STEP),
        ROUND,
        also=((T_6, "<=", T_7 + server_27),),
        weakened=4 * K**2 * eta_l**2 * sq_grad,
        follows={
            1: ("fsl.lemma4", "fsl.step_L0/2", "textbook.definition"),
            2: ("fsl.step25/2", "fsl.lemma5", "textbook.definition"),
        },
        meaning="The clients' drift with its share in the server's.",
        note="The display prints 12 K_0^2 eta_0^2 L^2; the line after it has L_0 = gamma L, which lemma 5 gives.",
    ),
    line(
        "step_T6",
        "before (28)",
        T_6,
        4 * kappa * step**2 * ((1 + gamma) * sq_tilde_grad + gamma / (1 + gamma) * sq_xi)
        + 4 * step**2 * G_4,
        (A1, A2, A4, EQ11_EQUAL, EQ11_STEP),
        ROUND,
        also=(
            (
                T_6,
                "<=",
                step**2 * sq_grad * (8 / eta_g**2 + 12 * gamma**2)
                + step**2 * gamma * sq_server_grad * 16 * gamma**3
                + 4 * step**2 * G_4,
            ),
            (
                T_6,
                "<=",
                4 * kappa * step**2 * (sq_grad + gamma * sq_server_grad) + 4 * step**2 * G_4,
            ),
        ),
        weakened=4 * kappa * step**2 * ((1 + gamma) * sq_tilde_grad + gamma / (1 + gamma) * sq_xi),
        follows={
            1: ("fsl.step_T6/3", "fsl.gradient_identity"),
            2: ("fsl.step_T7",),
            3: ("fsl.step_T6/2",),
        },
        meaning="Both drifts, in gradients and noise.",
    ),
    line(
        "step28",
        "(28)",
        tilde_F_next,
        tilde_F_t - gain_28 + noise_28,
        (A1, A2, A4, EQ11_EQUAL, EQ11_STEP),
        ROUND,
        weakened=tilde_F_t - gain_28,
        follows=("fsl.step25/1", "fsl.step_T6/1"),
        meaning="A round's progress, with the server's dissimilarity at x_t itself.",
    ),
    line(
        "step_G3_G4",
        "after (28)",
        G_3,
        Rational(2, 9) * G_2,
        (),
        also=((Rational(2, 9) * G_2, "<=", Psi), (G_4, "<=", Phi)),
        weakened=Rational(1, 9) * G_2,
        meaning="The proof's noise terms are below those of the theorem.",
    ),
    line(
        "step_28_to_12",
        "after (28)",
        noise_28,
        5 * step**2 * L * Psi
        + 8 * step**3 * L**2 * (gamma * kappa / (1 + gamma) * xi_bar**2 + Phi),
        (A3,),
        weakened=4 * step**2 * L * Psi,
        follows=("fsl.step_G3_G4",),
        meaning="From (28) to (12).",
    ),
)
