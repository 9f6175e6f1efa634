"""Mixed FL, section 4 and appendices A.2 and A.3: what is assumed, sampled and recovered from
deltas."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sympy import Eq

from fedtheory.arithmetic.work import Counted
from fedtheory.claim import Claim, Same
from fedtheory.claims.mixed._assumptions import (
    A41,
    BGD,
    EQUAL_WEIGHTS,
    INDEPENDENT,
    NOISE,
    PLAIN_SGD,
    UNIFORM,
)
from fedtheory.conditions import EXACT_GRADIENTS, Assumption
from fedtheory.symbols.mixed import (
    TABLE,
    B,
    B_t_sq,
    G,
    G_t_sq,
    S,
    cohort_error,
    miss_8,
    miss_9,
    miss_10,
    sigma,
    sq_applied,
    sq_grad,
    sq_grad_c,
    sq_grad_f,
    sq_seen,
    sq_seen_c,
    sq_seen_f,
    sq_transferred,
    w_c,
    w_f,
)

if TYPE_CHECKING:
    import numpy as np

    from fedtheory.problem import Problem

SHARES = Assumption(Eq(w_f + w_c, 1), "definition 4.2, w_f + w_c = 1")
CLIENTS_SGD = Assumption(PLAIN_SGD, "A.2, SGD")
seen = sq_seen_f / w_f + sq_seen_c / w_c
DELTAS: dict[str, Any] = dict(
    algorithm="two_way_gt", symbols=TABLE, assumes=(CLIENTS_SGD,), relation="==", bound=0
)


def gradient_descent(
    problem: "Problem", x: "np.ndarray", rounds: int, eta: float, eta_s: float
) -> "list[np.ndarray]":
    """Return the points after each round of steps of size eta eta_s along grad f_f + grad f_c."""
    return merged_descent(problem, x, rounds, eta, eta_s, eta * eta_s)


def merged_descent(
    problem: "Problem | SimpleNamespace",
    x: "np.ndarray",
    rounds: int,
    eta: float | Counted,
    eta_s: float | Counted,
    eta_c: float | Counted,
) -> "list[np.ndarray]":
    """Return the points after each round, where a round adds one federated and one central step
    taken from the same point."""
    path = [x]
    for _ in range(rounds):
        x = x - eta * eta_s * problem.grad(x) - eta_c * problem.client_grad(0, x)
        path.append(x)
    return path


CLAIMS = (
    Claim(
        id="mixed.def4_2",
        cites="mixed FL, definition 4.2",
        symbols=TABLE,
        assumes=(SHARES, BGD, Assumption(B >= 1, "definition 4.2, B >= 1")),
        measures=w_f * (sq_grad_f / w_f**2) + w_c * (sq_grad_c / w_c**2),
        bound=G**2 + B**2 * sq_grad,
        also=((sq_grad, "<=", sq_grad_f / w_f + sq_grad_c / w_c),),
        weakened=B**2 * sq_grad,
        meaning="How far the federated and the central gradient may differ, at any point: the paper's (G, B).",
        note="Problems certify G and B at w_f = w_c = 1/2, as table 1 takes them. The second line is why B >= 1: no "
        "smaller B serves where grad f is large.",
    ),
    Claim(
        id="mixed.eq5",
        cites="mixed FL, (5)",
        symbols=TABLE,
        assumes=(A41, NOISE),
        unstated=(INDEPENDENT, UNIFORM),
        measures=cohort_error,
        bound=sigma**2 / S,
        weakened=sigma**2 / S**2,
        meaning="Averaging a cohort's gradients divides their noise by its size.",
    ),
    Claim(
        id="mixed.eq7",
        cites="mixed FL, (7)",
        symbols=TABLE,
        assumes=(SHARES,),
        measures=G_t_sq,
        relation="==",
        bound=seen - sq_seen,
        also=((B_t_sq, "==", seen / sq_seen), (G_t_sq, ">=", 0), (B_t_sq, ">=", 1)),
        weakened=sq_seen_f + sq_seen_c - sq_seen,
        meaning="What one round's gradients say of G (if B were 1) and of B (if G were 0); never below 0 and 1.",
        note="B_t has no value where the sampled gradients cancel.",
    ),
    Claim(
        id="mixed.eq8",
        cites="mixed FL, (8)",
        measures=miss_8,
        weakened=sq_applied,
        meaning="A client's delta over its step size and its steps is the mean of the gradients it applied.",
        **DELTAS,
    ),
    Claim(
        id="mixed.eq9",
        cites="mixed FL, (9)",
        measures=miss_9,
        weakened=sq_transferred,  # the transferred gradient not taken off
        meaning="Take off what the server sent, and the mean of the client's own gradients is left.",
        **DELTAS,
    ),
    Claim(
        id="mixed.eq10",
        cites="mixed FL, (10)",
        measures=miss_10,
        weakened=sq_transferred,
        meaning="Deltas that are sent anyway give the cohort's mean gradient, each client weighing as many steps as it "
        "did.",
        **DELTAS,
    ),
    *(
        Claim(
            id=f"mixed.transfer_{word}",
            cites=f"mixed FL, {place}",
            kind="structure",
            algorithm="two_way_gt",
            symbols=TABLE,
            assumes=(EQUAL_WEIGHTS, CLIENTS_SGD),
            says=says,
            same=(
                Same(
                    "two_way_gt",
                    dict(transfer=word, K=3),
                    "two_way_gt",
                    dict(transfer="gradients", K=3),
                    shared=("eta", "eta_s", "eta_c", "eta_m"),
                ),
            ),
            meaning=meaning,
            note=note,
        )
        for word, place, says, meaning, note in (
            (
                "deltas",
                "(8) to (10)",
                "Transferred gradients by (8) to (10) are the steps' average gradients.",
                "A whole run is the same whether average gradients are kept or recovered from deltas.",
                "For the central side each delta is divided by its own rate, eta_c.",
            ),
            (
                "listing",
                "algorithm 1, update of the augmenting centralized gradient",
                "Transferred gradients as algorithm 1 updates them are the steps' average gradients.",
                "The same as the listing has it, which divides the central delta by the clients' rate.",
                "-Delta_c/(eta J) in the listing; the central steps were of size eta_c, and K in number. Right where "
                "eta_c = eta.",
            ),
        )
    ),
    Claim(
        id="mixed.K1_equivalence",
        cites="mixed FL, appendix A.3",
        kind="structure",
        symbols=TABLE,
        assumes=(EQUAL_WEIGHTS, Assumption(EXACT_GRADIENTS, "A.3, test cases")),
        unstated=(Assumption(PLAIN_SGD, "A.3", stated=False),),
        says="With one local step (K = 1), the three algorithms are effectively identical.",
        same=(
            Same("one_way_gt", dict(K=1), gradient_descent, {}, shared=("eta", "eta_s")),
            Same(
                "parallel_training",
                dict(K=1, eta_m=1.0),
                merged_descent,
                {},
                shared=("eta", "eta_s", "eta_c"),
            ),
            Same(
                "two_way_gt",
                dict(K=1, eta_m=1.0),
                merged_descent,
                {},
                shared=("eta", "eta_s", "eta_c"),
            ),
        ),
        meaning="With one step a round all three add up the same two gradients at the same point.",
        note="Algorithm 1 with its purple lines adds the gradients transferred from the round before to both deltas: "
        "x moves by eta (grad f(x^(t)) + grad f(x^(t-1))), so only 1-way gradient transfer and parallel "
        "training (where eta_c = eta eta_s) come out identical line by line.",
    ),
)
