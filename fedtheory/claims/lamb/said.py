"""FED-LAMB, in running text: which terms dominate, what more layers and coordinates do, and readings
of theorem 1's constant and of its rate."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sympy import Eq, Rational, sqrt

from fedtheory.claim import Claim, Theta
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
    STATED,
    UNSTATED,
)
from fedtheory.claims.lamb.communication import first, first_ams, last, last_ams
from fedtheory.claims.lamb.lemmas import DECAY, lost
from fedtheory.claims.lamb.theorems import RUN, THEOREM, noise, start
from fedtheory.conditions import Assumption
from fedtheory.symbol import expand_definitions
from fedtheory.symbols.lamb import (
    TABLE,
    R,
    T,
    a,
    alpha,
    avg_grad_by_v,
    bracket,
    grad_by_v,
    h,
    h_more,
    n,
    norm_layer,
    p,
    p_more,
    phi_M,
    phi_m,
    sigma,
)

if TYPE_CHECKING:
    import sympy

QUARTER = Rational(1, 4)
second = sigma**2 / (R * n * sqrt(p))  # of (5)
second_ams = sqrt(p / (R * n)) * sigma**2  # of (6)
whole = first + second + last  # (5)
# What (4) keeps of alpha, at corollary 1's learning rate, written out: alpha and h are in its bracket
floor = expand_definitions(4 * alpha * bracket, TABLE.definitions).xreplace(
    {alpha: a / sqrt(h * R)}
)
MORE_LAYERS = {h: h_more}


def sentence(
    name: str, place: str, measures: "sympy.Expr", bound: "sympy.Expr", meaning: str, **more: Any
) -> Any:
    return Claim(
        id=f"lamb.{name}",
        cites=f"FED-LAMB, {place}",
        symbols=TABLE,
        measures=measures,
        bound=bound,
        meaning=meaning,
        **more,
    )


# How often a client of FED-LAMB and of SCAFFOLD sends what to the server in a round, as the listings
# have it: line 14 of algorithm 1 sends the local model and its second moment.
SENT = {
    "FED-LAMB": {"theta_{r,i}^T": 1, "v_{r,i}^T": 1},
    "SCAFFOLD": {"the model's change": 1, "the control variate's change": 1},
}


def vectors(sent: Mapping[str, dict[str, int | Any]]) -> dict[str, int | Any]:
    """Return {method: number of vectors that a client sends in a round}."""
    return {method: sum(times.values()) for method, times in sent.items()}


THEOREMS = (
    Claim(
        id="lamb.theorem1_no_cst",
        cites="FED-LAMB, theorem 1 (4), cst. = 0",
        bound=start(alpha, R) + noise(R) + 4 * alpha * bracket,
        explicit="lamb.theorem1_explicit",
        weakened=start(alpha, R),
        meaning="Theorem 1 with nothing in the place of its open constant.",
        note="What corollary 1 reads, in which 'cst.' does not appear; the third reading beside lamb.theorem1 (some "
        "constant) and lamb.theorem1_explicit (the terms of the proof's last display).",
        **THEOREM,
    ),
    Claim(
        id="lamb.contribution_rate",
        cites="FED-LAMB, section 1, contributions",
        kind="order",
        relation="O",
        assumes=(*STATED, NO_DECAY),
        unstated=UNSTATED,
        bound=first,
        regime=(Theta(alpha, 1 / sqrt(h * R)),),
        explicit="lamb.corollary1_explicit",
        meaning="Gradients fall like sqrt(p/n) / sqrt(h R).",
        note="The first term of (5) alone. Theorem 1's terms 4 alpha (M^2/sqrt(v_0) + ...) are of order 1/sqrt(h R) "
        "without the factor sqrt(p/n).",
        **RUN,
    ),
    sentence(
        "lemma2_typed",
        "proof of lemma 2, second display as typed",
        avg_grad_by_v,
        sqrt(grad_by_v) / 2 - lost,
        "Lemma 2 with a norm that lost its square.",
        algorithm="fed_lamb",
        assumes=(EQUAL_WEIGHTS, H1, H2, H4),
        unstated=(ONE_STEP, DECAY, ALL_CLIENTS, MOMENTS, APART),
        relation=">=",
        weakened=2 * sqrt(grad_by_v),
        note="Both norms are without unit, so that the line could be meant; a gradient below 1 is above its square.",
    ),
    sentence(
        "identity_scale",
        "section 2.2, phi set to the identity function",
        norm_layer,
        phi_M,
        "The identity meets H4: the weights of a layer are of length between phi_m and phi_M.",
        unstated=(
            Assumption(norm_layer <= phi_M, "H4 for phi(a) = a", stated=False),
            Assumption(norm_layer >= phi_m, "H4 for phi(a) = a, below", stated=False),
        ),
        also=((norm_layer, ">=", phi_m),),
        weakened=phi_m,
        note="H4 asks for one phi_M for every a > 0, which the identity has not. Read word by word, 'for any a there "
        "exist constants', it says nothing. All experiments set phi to the identity.",
    ),
)
TERMS = (
    sentence(
        "dominated",
        "section 3.2, after (6)",
        whole,
        3 * sqrt(p / (n * R)),
        "For a large number of rounds (5) is dominated by O(sqrt(p)/sqrt(n R)).",
        assumes=(
            Assumption(R * n * p**2 >= sigma**4 * h, "sufficiently large R, second term"),
            Assumption(R**2 * h**5 >= (T - 1) ** 4 * p * n, "sufficiently large R, third term"),
        ),
        weakened=sqrt(p / (n * R)) / 2,
        note="How large R has to be is not said: from these two on each term is at most the first.",
    ),
    sentence(
        "dominated_local_ams",
        "section 3.2, after (6), Local-AMS",
        first_ams + second_ams + last_ams,
        (2 + sigma**2) * first_ams,
        "For a large number of rounds (6) is dominated by O(sqrt(p)/sqrt(n R)).",
        assumes=(Assumption(R * p >= n**3 * (T - 1) ** 4, "sufficiently large R"),),
        weakened=first_ams,
    ),
    sentence(
        "acceleration",
        "section 3.2, acceleration",
        second,
        second_ams,
        "The layerwise scheme's O(1/(nR)) and O(1/(h^3 R^(3/2))) terms are below those of Local-AMS.",
        unstated=(Assumption(p <= n * h**3 * sqrt(R), "p small against n h^3", stated=False),),
        also=((last, "<=", last_ams),),
        weakened=second_ams / (2 * p),
        note="The third term has p where that of Local-AMS has n: the acceleration in h and R is bought with the "
        "dimension.",
    ),
    sentence(
        "fewer_rounds",
        "section 3.2, fewer rounds of communication",
        sqrt(R) * n**QUARTER,
        (R * n) ** (3 * QUARTER),
        "R^(1/2) n^(1/4) rounds are fewer than (R n)^(3/4).",
        weakened=(R * n) ** QUARTER,
    ),
    sentence(
        "fewer_rounds_whole",
        "section 3.2, fewer rounds of communication, no factor dropped",
        sqrt(R) * (n * p) ** QUARTER / h ** (5 * QUARTER),
        (R * n) ** (3 * QUARTER) / p**QUARTER,
        "The same with the factors of h and p that (5) and (6) give.",
        assumes=(Assumption(p <= h**4, "p^(1/4)/h = O(1)"),),
        unstated=(Assumption(h**3 <= R * n**2, "layers few against rounds", stated=False),),
        weakened=(R * n) ** (3 * QUARTER) / p,
        note="lamb.communication_rounds and lamb.communication_local_ams say which factors the text drops. With them "
        "the order turns around where layers are many and p is near h^4.",
    ),
    sentence(
        "decreases_in_h",
        "section 4.1, corollary 1 and the number of layers",
        whole.xreplace(MORE_LAYERS),
        whole,
        "The convergence bound (5) decreases with a larger number of layers.",
        weakened=whole / 2,
    ),
    sentence(
        "theorem1_decreases_in_h",
        "section 4.1, theorem 1 at corollary 1's learning rate",
        floor.xreplace(MORE_LAYERS),
        floor,
        "What (4), from which (5) is said to follow, keeps of the learning rate decreases with a larger number of layers.",
        unstated=(Assumption(Eq(sigma, 0), "no noise", stated=False),),
        weakened=floor / 2,
        note="Its term 4 alpha phi_M h sigma^2/sqrt(n) grows like sqrt(h) at alpha = a/sqrt(h R); (5) left it out.",
    ),
    sentence(
        "root_p",
        "section 3.2, dependence on the dimension",
        start(alpha, R).xreplace({p: p_more}),
        start(alpha, R),
        "Without noise the first term of (4) does not depend on the dimension.",
        algorithm="fed_lamb",
        relation="==",
        weakened=start(alpha, R) / 2,
        note="The text: 'The sqrt(p) term appearing in our bound is due to the assumption on coordinate-wise bounded "
        "variance', and goes with a bound of the total variance. The sqrt(p) of (5) is that of sqrt(M^2 p/n) in "
        "(4), where no variance stands.",
    ),
)
COUNTS = (
    Claim(
        id="lamb.vectors_sent",
        cites="FED-LAMB, section 3.2, communication complexity",
        kind="structure",
        symbols=TABLE,
        says="FED-LAMB sends one vector per communication round, SCAFFOLD two.",
        printed={"FED-LAMB": 1, "SCAFFOLD": 2},
        compute=vectors,
        given=SENT,
        meaning="How many vectors of the model's size a client sends in a round.",
        note="The text: 'our method only sends bits once per communication round while SCAFFOLD needs to send two "
        "vectors'. Line 14 of algorithm 1 and figure 1 send theta and v.",
    ),
)
CLAIMS = (*THEOREMS, *TERMS, *COUNTS)
