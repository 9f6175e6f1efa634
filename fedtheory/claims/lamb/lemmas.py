"""FED-LAMB, lemmas 1 and 2: local models stay near their mean, and so do their gradients."""

from sympy import Rational

from fedtheory.claim import Claim
from fedtheory.claims.lamb._assumptions import (
    ALL_CLIENTS,
    APART,
    EQUAL_WEIGHTS,
    H1,
    H2,
    H4,
    MOMENTS,
    NO_DECAY,
    ONE_STEP,
)
from fedtheory.conditions import Assumption
from fedtheory.symbols.lamb import (
    TABLE,
    L_bar,
    M,
    alpha,
    alpha_r,
    avg_grad_by_v,
    beta_2,
    gap_sq,
    grad_by_v,
    p,
    phi_M,
    v_0,
)

DECAY = Assumption(NO_DECAY.holds, "proof of lemma 1, lambda = 0", stated=False)
gap = alpha_r**2 * M**2 * phi_M**2 * (1 - beta_2) * p / v_0
half_grad = Rational(1, 2) * grad_by_v
lost = L_bar * alpha**2 * M**2 * phi_M**2 * (1 - beta_2) * p / v_0

CLAIMS = (
    Claim(
        id="lamb.lemma1",
        cites="FED-LAMB, lemma 1 (2)",
        algorithm="fed_lamb",
        symbols=TABLE,
        assumes=(EQUAL_WEIGHTS, H2, H4),
        unstated=(ONE_STEP, DECAY, ALL_CLIENTS, MOMENTS),
        measures=gap_sq,
        bound=gap,
        weakened=0,
        meaning="After a round no local model is far from their mean.",
        note="The proof takes T = 1 only, and theta-bar_r for the point that the round starts from. Its first display "
        "makes layer l's gap alpha phi(||theta^l||), whatever the gradient; the inequality after it, which brings "
        "in M, 1 - beta_2, p and v_0, is stated without a step between. It prints p^j and p^l for the same ratio.",
    ),
    Claim(
        id="lamb.lemma2",
        cites="FED-LAMB, lemma 2 (3)",
        algorithm="fed_lamb",
        symbols=TABLE,
        assumes=(EQUAL_WEIGHTS, H1, H2, H4),
        unstated=(ONE_STEP, DECAY, ALL_CLIENTS, MOMENTS, APART),
        measures=avg_grad_by_v,
        relation=">=",
        bound=half_grad - lost,
        weakened=2 * grad_by_v,
        meaning="Gradients at the local models tell half of the gradient at their mean, up to the models' gap.",
        note="H1 and lemma 1 give the square of the smoothness, divided by v_0 once more for the scaling by 1/sqrt(v); "
        "the line has L-bar. The second display prints a norm without its square.",
        follows=("lamb.lemma1",),
    ),
)
