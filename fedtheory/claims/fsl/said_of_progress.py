"""FSL, section III-B in running text: how much a round gains, and when h keeps it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import Eq, Min, Rational, sqrt

from fedtheory.claim import Claim
from fedtheory.claims.fsl._assumptions import (
    A1,
    A4,
    EQ11_EQUAL,
    EQ11_STEP,
    EQ13,
    INDEPENDENT,
    LIPSCHITZ,
    STATED,
    UNIFORM_COHORT,
    UNSTATED,
)
from fedtheory.claims.fsl.corollaries import MANY_STATED
from fedtheory.claims.fsl.theorem1 import CLAIM as THEOREM_1
from fedtheory.conditions import Assumption
from fedtheory.symbol import expand_definitions
from fedtheory.symbols.fsl import (
    K_0,
    TABLE,
    G,
    K,
    L,
    S,
    a,
    eta_0,
    eta_g,
    gamma,
    h,
    half,
    kappa,
    sigma,
    sq_dissimilar,
    sq_xi,
    xi_bar,
)

if TYPE_CHECKING:
    import sympy

step = K_0 * eta_0
level = G**2 + sigma**2 / K
ROOT_S = Assumption(Eq(eta_g, a * sqrt(S)), "eta_g = Theta(sqrt(S))")
# "In scenarios where gamma = O(1) and rho_s is about 1": said in the text before corollary 1.
MANY = MANY_STATED
LARGE_GAMMA = (
    Assumption(gamma >= 1, "large gamma"),
    Assumption(gamma**3 * eta_g**2 >= 2, "large gamma against eta_g"),
)


def at(expr: "sympy.Expr", **new: Any) -> "sympy.Expr":
    """Return an expression with its definitions written out and the given letters replaced."""
    return expand_definitions(expr, TABLE.definitions).xreplace(
        {TABLE[name].symbol: value for name, value in new.items()}
    )


def pointwise(expr: "sympy.Expr") -> "sympy.Expr":
    """Return an expression with both bounds on dissimilarities replaced by the dissimilarities at
    x_t."""
    return expand_definitions(expr, TABLE.definitions).xreplace(
        {G**2: sq_dissimilar, xi_bar**2: sq_xi}
    )


def sentence(
    name: str,
    place: str,
    measures: "sympy.Expr",
    bound: "sympy.Expr",
    meaning: str,
    assumes: Sequence[Any] = (),
    **more: Any,
) -> Any:
    return Claim(
        id=f"fsl.{name}",
        cites=f"FSL, {place}",
        symbols=TABLE,
        assumes=assumes,
        measures=measures,
        bound=bound,
        meaning=meaning,
        **more,
    )


CLAIMS = (
    Claim(
        id="fsl.eq6_applies",
        cites="FSL, after (6)",
        algorithm="fsl",
        symbols=TABLE,
        assumes=STATED,
        unstated=(LIPSCHITZ, INDEPENDENT, UNIFORM_COHORT),
        measures=THEOREM_1.measures,
        bound=THEOREM_1.bound,
        weakened=THEOREM_1.weakened,
        meaning="Theorem 1 for any weights p_i of the clients' losses, since the analysis is said to apply "
        "directly to (6).",
        note="Algorithm 1 averages its cohort with equal weights, and the proof writes F = (1/N) sum f_i after (18): "
        "with other weights the clients' step is along another loss than F.",
    ),
    Claim(
        id="fsl.theorem1_pointwise",
        cites="FSL, after assumption 3",
        algorithm="fsl",
        symbols=TABLE,
        assumes=(A1, A4, EQ11_EQUAL, EQ11_STEP),
        unstated=UNSTATED,
        measures=THEOREM_1.measures,
        bound=pointwise(THEOREM_1.bound),
        weakened=THEOREM_1.weakened,
        meaning="Theorem 1 needs the bounds of assumptions 2 and 3 along the sequence only: here at x_t.",
    ),
    sentence(
        "eq11_order",
        "first remark after theorem 1",
        K_0 * eta_0 * L * (1 + gamma),
        Rational(17, 36),
        "Condition (11) keeps the effective step in the order of 1/(L (1 + gamma)).",
        (EQ11_STEP,),
        weakened=Rational(4, 9),
        note="The O(1/L(1 + gamma)) of the text reads 1/(L (1 + gamma)); 17/36 is reached at gamma = 9/8.",
    ),
    sentence(
        "h_half",
        "second remark after theorem 1",
        h,
        half,
        "By a sufficiently small step, h is at least 1/2.",
        (
            Assumption(
                step * L <= Min(gamma / (2 * (1 + gamma) ** 2), (1 + gamma) / (16 * kappa)),
                "sufficiently small",
            ),
        ),
        relation=">=",
        weakened=half + gamma / 4,
        note="How small is not said. For gamma = 0 no step is small enough: h = 1/2 - K_0 eta_0 L/2 (3 + ...) "
        "there, and FSL's gamma is positive.",
    ),
    sentence(
        "h_half_13",
        "second remark after theorem 1, with (13)",
        h,
        half,
        "The same, if (13) is what sufficiently small means.",
        (EQ13,),
        unstated=(Assumption(gamma >= Rational(1, 3), "(3 gamma + 1)/4 >= 1/2", stated=False),),
        relation=">=",
        weakened=half + gamma / 2,
        note='The text goes on "in fact, if (13), then h >= (3 gamma + 1)/4", which is 1/2 from gamma = 1/3 on.',
    ),
    sentence(
        "h_omega",
        "proof of corollary 2",
        h,
        (gamma + 1) / 4,
        "Under (13), h = Omega(gamma + 1).",
        (EQ13,),
        relation=">=",
        weakened=(gamma + 1) / 2,
    ),
    sentence(
        "step_13_to_11",
        "proof of corollary 2",
        K_0 * eta_0,
        Min(eta_g, 1 / gamma, Rational(8, 9)) / (4 * L),
        "Condition (13) implies the step condition of (11), without which theorem 2 could not be used.",
        (EQ13,),
        kind="step",
        weakened=Min(eta_g, 1 / gamma, Rational(8, 9)) / (40 * L),
        note="The corollaries assume (13) alone and divide theorem 2 by h: the step is silent.",
    ),
)
