"""FSL, section III-A and the short paper's section II-C: when exact steps on f_0 lower F."""

from typing import Any

from fedtheory import conditions
from fedtheory.claim import Claim
from fedtheory.conditions import Assumption
from fedtheory.symbols.fsl import (
    TABLE,
    F_bar,
    F_next,
    F_w0,
    F_w1,
    L,
    a_w0,
    b_w0,
    eta_0,
    half,
    inner_move,
    inner_w0,
    sq_move,
    sum_a,
    sum_b,
    sum_xi,
    xi_w0,
)

# Smoothness of F is stated; gradients of f_0 are exact in this section.
SETTING = (
    Assumption(conditions.SMOOTH, "before (7)"),
    Assumption(conditions.EXACT_GRADIENTS, "section III-A"),
    Assumption(conditions.SERVER, "section III-A"),
)
EQ9 = Assumption(a_w0 + (1 - L * eta_0) * b_w0 > xi_w0, "(9)")

by_definition = inner_move + half * L * sq_move
in_gradients = -eta_0 * inner_w0 + half * L * eta_0**2 * b_w0
EQ7: dict[str, Any] = dict(
    algorithm="server_sgd",
    symbols=TABLE,
    assumes=SETTING,
    measures=F_w1 - F_w0,
    bound=by_definition,
    weakened=inner_move,
)

CLAIMS = (
    Claim(
        id="fsl.eq7",
        cites="FSL, (7)",
        also=((by_definition, "<=", in_gradients),),
        meaning="One server step changes the clients' loss by at most its first-order change plus a curvature term.",
        **EQ7,
    ),
    Claim(
        id="fsl.eq8_eq9",
        cites="FSL, (8) and (9)",
        algorithm="server_sgd",
        symbols=TABLE,
        assumes=SETTING,
        measures=2 * inner_w0 - L * eta_0 * b_w0,  # (8) says it is positive
        relation="==",
        bound=a_w0 + (1 - L * eta_0) * b_w0 - xi_w0,  # (9) says so of this
        also=((F_w1 - F_w0, "<=", -half * eta_0 * (a_w0 + (1 - L * eta_0) * b_w0 - xi_w0)),),
        weakened=a_w0 + b_w0 - xi_w0,
        meaning="Two forms of one condition, and the descent it buys.",
    ),
    Claim(
        id="fsl.eq9_progress",
        cites="FSL, (9)",
        algorithm="server_sgd",
        symbols=TABLE,
        assumes=(*SETTING, EQ9),
        measures=F_w1,
        relation="<",
        bound=F_w0,
        weakened=F_w0 - half * eta_0 * a_w0,
        meaning="Where the server's gradient is close enough to the clients', its step lowers their loss.",
    ),
    Claim(
        id="fsl.server_multistep",
        cites="FSL, before III-B",
        algorithm="server_sgd",
        symbols=TABLE,
        assumes=SETTING,
        measures=F_next - F_bar,
        bound=-half * eta_0 * (sum_a + (1 - L * eta_0) * sum_b) + half * eta_0 * sum_xi,
        weakened=-half * eta_0 * (sum_a + sum_b) + half * eta_0 * sum_xi,
        meaning="K_0 server steps lower the clients' loss while gradients stay close to each other.",
    ),
    Claim(
        id="fsls.eq2",
        cites="FSL (short), (2)",
        paper="fsls",
        also=((by_definition, "==", in_gradients),),
        meaning="One server step's descent; the second line is printed as an equality, where the long paper has <=.",
        **EQ7,
    ),
)
