"""FSL, special cases that are equivalences, and the short paper's update against the long one's."""

from typing import TYPE_CHECKING, Any

from fedtheory.claim import Claim, Same
from fedtheory.claims.fsl._assumptions import EQUAL_WEIGHTS
from fedtheory.conditions import EXACT_GRADIENTS, Assumption
from fedtheory.symbols.fsl import TABLE
from fedtheory.typing import Number

if TYPE_CHECKING:
    import numpy as np

    from fedtheory.problem import Problem


def incremental_gradient(
    problem: "Problem",
    x: "np.ndarray",
    rounds: int,
    eta_l: Any,
    eta_g: Any,
    eta_0: Any,
    gamma: float,
    K_0: Any,
) -> Any:
    """Return the points after each round of gradient steps on f_1 and on f_0 in turn (Bertsekas
    2011)."""
    path = [x]
    for _ in range(rounds):
        x = x - eta_g * eta_l * problem.client_grad(1, x)
        for _ in range(K_0):
            x = x - gamma * eta_0 * problem.client_grad(0, x)
        path.append(x)
    return path


def short_update(
    problem: Any, x: Number, rounds: int, eta_l: Any, eta_0: Any, K: int, K_0: Any
) -> Any:
    """Return the points of the short paper's algorithm 1 with all clients and exact gradients: a
    round averages the clients' models and then takes the server's steps."""
    path = [x]
    for _ in range(rounds):
        ends = []
        for i in range(1, problem.N + 1):
            y = x
            for _ in range(K):
                y = y - eta_l * problem.client_grad(i, y)
            ends.append(y)
        x = sum(ends) / problem.N
        for _ in range(K_0):
            x = x - eta_0 * problem.client_grad(0, x)
        path.append(x)
    return path


CLAIMS = (
    Claim(
        id="fsl.special_fedavg",
        cites="FSL, appendix A-F (a)",
        kind="structure",
        algorithm="fsl",
        symbols=TABLE,
        says="FedAvg is the special case of FSL with gamma -> 0.",
        same=(
            Same(
                "fsl",
                dict(gamma=0.0),
                "fedavg",
                dict(weighting="plain"),
                shared=("eta_l", "eta_g", "K"),
            ),
        ),
        meaning="With gamma = 0 the server learns nothing, and FSL is FedAvg with an aggregation step.",
    ),
    Claim(
        id="fsl.special_incremental",
        cites="FSL, before theorem 1",
        kind="structure",
        algorithm="fsl",
        symbols=TABLE,
        assumes=(Assumption(EXACT_GRADIENTS, "sigma_i = 0"),),
        says="For N = 1, K = 1 and sigma_i = 0, FSL reduces to the incremental gradient method.",
        same=(
            Same(
                "fsl",
                dict(K=1),
                incremental_gradient,
                {},
                shared=("eta_l", "eta_g", "eta_0", "gamma", "K_0"),
                clients=1,
            ),
        ),
        meaning="One client, one step, no noise: gradient steps on F and f_0 in turn.",
    ),
    Claim(
        id="fsls.algorithm",
        cites="FSL (short), algorithm 1",
        paper="fsls",
        kind="structure",
        algorithm="fsl",
        symbols=TABLE,
        assumes=(Assumption(EQUAL_WEIGHTS.holds, "section II-A, p_i = 1/N"),),
        says="The short paper's update is the long one's with eta_g = 1 and gamma = 1.",
        same=(
            Same(
                "fsl",
                dict(eta_g=1.0, gamma=1.0),
                short_update,
                {},
                shared=("eta_l", "eta_0", "K", "K_0"),
            ),
        ),
        meaning="Averaging end points is adding the mean change; the server's step is eta_0, not gamma eta_0.",
    ),
)
