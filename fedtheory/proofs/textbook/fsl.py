"""Facts for FSL, appendix A: its measured quantities as inner products of random vectors of one
round.

The vectors belong to the round that starts at x. F and O are the gradients of F and f_0 at x. A_a
and A_b are noise and drift in the server's mean gradient. B_a, B_b and B_c are noise, drift and
sampling in the cohort's sum of gradients over S. D_0 is the change of a gradient at a drawn step of
the server, and D_c the change at a drawn step of a drawn client. V is a drawn point of the server
minus the point at which aggregation ends. C is the change of grad f_0 from x to the aggregated
point. Z is the gradient of a drawn client at x minus F.
"""

from typing import TYPE_CHECKING

from sympy import Eq, Ge, Le, Max, Rational, Symbol

from fedtheory.language.conditions import (
    BOUNDED_BELOW,
    DISSIMILAR,
    EQUAL_WEIGHTS,
    INDEPENDENT,
    LIPSCHITZ,
    NOISE,
    SMOOTH,
    UNIFORM_COHORT,
    Condition,
)
from fedtheory.proofs.meaning import Inner, Vector, inner_product, square_norm
from fedtheory.proofs.textbook.facts import PREFIX, Fact
from fedtheory.symbols.fsl import (
    E_0,
    E_T,
    K_0,
    T_1,
    T_2,
    T_3,
    T_4,
    T_5,
    T_6,
    T_7,
    E_c,
    G,
    K,
    L,
    S,
    T,
    T_4a,
    T_4b,
    T_5a,
    T_5b,
    T_5c,
    drift_grad_0,
    drift_grad_c,
    eta_0,
    eta_g,
    eta_l,
    excess_29,
    gamma,
    h,
    inner_drift_0,
    mean_sq_tilde_grad,
    sigma,
    sigma_0,
    sq_grad,
    sq_move_bar,
    sq_server_grad,
    sq_server_grad_bar,
    sq_tilde_grad,
    tau_s,
    tilde_D_0,
    tilde_F_0,
    tilde_F_next,
    tilde_F_T,
    tilde_F_t,
)

if TYPE_CHECKING:
    import sympy

METHODS = ("fsl",)  # methods whose rounds the facts describe
EACH_ROUND = ("fsl",)  # methods of these whose rounds have no memory of earlier rounds
STEADY = ()  # conditions of the paper that hold in every round or in none

F, O = Vector("vec_F"), Vector("vec_0")
names = ("A_a", "A_b", "B_a", "B_b", "B_c", "D_0", "D_c", "V", "C", "Z")
A_a, A_b, B_a, B_b, B_c, D_0, D_c, V, C, Z = (Vector(f"vec_{name}") for name in names)

tilde = (F + gamma * O) / (1 + gamma)
aggregated = -eta_l * eta_g * (B_a + B_b + B_c + K * F)
served = -gamma * eta_0 * K_0 * (A_a + A_b + O)
SERVER_ERROR, CLIENT_ERROR = A_a + A_b, (B_a + B_b + B_c) / K


def definition_fact(symbol: Symbol, value: "sympy.Expr | Inner") -> Fact:
    return Fact(PREFIX + "definition", Eq(symbol, value, evaluate=False))


def zero_inequalities(expression: "sympy.Expr | Inner") -> "tuple[sympy.Rel, sympy.Rel]":
    """Return the statement that an inner product is 0, as two inequalities."""
    return Le(expression, 0, evaluate=False), Ge(expression, 0, evaluate=False)


def conditional_means(expression: "sympy.Expr | Inner", *needs: Condition) -> list[Fact]:
    return [Fact(PREFIX + "conditional_mean", one, needs) for one in zero_inequalities(expression)]


DEFINITIONS = (
    definition_fact(sq_grad, square_norm(F)),
    definition_fact(sq_server_grad, square_norm(O)),
    definition_fact(sq_tilde_grad, square_norm(tilde)),
    definition_fact(T_1, inner_product(tilde, aggregated + served)),
    definition_fact(T_2, square_norm(aggregated + served) / 2),
    definition_fact(
        T_3,
        inner_product(
            tilde, -gamma * eta_0 * K_0 * SERVER_ERROR - eta_g * eta_l * K * CLIENT_ERROR
        ),
    ),
    definition_fact(T_4, square_norm(SERVER_ERROR)),
    definition_fact(T_4a, square_norm(A_a)),
    definition_fact(T_4b, square_norm(A_b)),
    definition_fact(T_5, square_norm(CLIENT_ERROR)),
    definition_fact(T_5a, square_norm(B_a)),
    definition_fact(T_5b, square_norm(B_b)),
    definition_fact(T_5c, square_norm(B_c)),
    definition_fact(T_6, gamma**2 * E_0 + E_c),
    definition_fact(T_7, (1 + 12 * K_0**2 * eta_0**2 * gamma**2 * L**2) * E_c),
    definition_fact(drift_grad_0, K_0 * square_norm(D_0)),
    definition_fact(drift_grad_c, K * square_norm(D_c)),
    definition_fact(sq_server_grad_bar, square_norm(O + C)),
    definition_fact(inner_drift_0, square_norm(V)),
    definition_fact(sq_move_bar, square_norm(aggregated)),
    definition_fact(E_0, square_norm(V + aggregated)),
)
UNBIASED, COHORT = (NOISE, INDEPENDENT), (UNIFORM_COHORT, INDEPENDENT)
DRAWN = (UNIFORM_COHORT, EQUAL_WEIGHTS)
MEANS = [
    *(
        each
        for v in (F, O)
        for noise in (A_a, B_a)
        for each in conditional_means(Inner(v, noise), *UNBIASED)
    ),
    *(each for v in (F, O, A_b) for each in conditional_means(inner_product(v, D_0 - A_b))),
    *(each for v in (F, O) for each in conditional_means(inner_product(v, B_b - K * D_c), *COHORT)),
    *(each for v in (F, O) for each in conditional_means(inner_product(v, B_c), *DRAWN)),
    *conditional_means(inner_product(F, Z), EQUAL_WEIGHTS),
]

DRIFT, GRADIENT = gamma * D_0 + D_c, F + gamma * O
SQUARES = (
    Fact(
        PREFIX + "sum_of_squares",
        Le(
            square_norm(gamma * SERVER_ERROR + CLIENT_ERROR + GRADIENT),
            3
            * (
                gamma**2 * square_norm(SERVER_ERROR)
                + square_norm(CLIENT_ERROR)
                + square_norm(GRADIENT)
            ),
        ),
    ),
    Fact(
        PREFIX + "sum_of_squares",
        Le(square_norm(DRIFT), 2 * (gamma**2 * square_norm(D_0) + square_norm(D_c))),
    ),
    Fact(
        PREFIX + "young",
        Le(-2 * inner_product(tilde, DRIFT), square_norm(tilde) + square_norm(DRIFT)),
    ),
    Fact(
        PREFIX + "young",
        Le(
            square_norm(CLIENT_ERROR + F),
            Rational(4, 3) * square_norm(CLIENT_ERROR) + 4 * square_norm(F),
        ),
    ),
    Fact(
        PREFIX + "young",
        Le(square_norm(V + aggregated), 2 * square_norm(V) + 2 * square_norm(aggregated)),
    ),
    Fact(PREFIX + "jensen", Le(K_0 * T_4b, drift_grad_0)),
    Fact(PREFIX + "jensen", Le(T_5b, K * drift_grad_c), COHORT),
)

# Means over rounds 0, ..., T - 1 of three expectations: the loss before a round, the loss after it,
# and the squared gradient. The sum of the differences of losses telescopes: only the first and the
# last loss remain.
now, then = (Symbol(name, real=True) for name in ("mean_tilde_F_t", "mean_tilde_F_next"))
ROUNDS = {tilde_F_t: now, tilde_F_next: then, sq_tilde_grad: mean_sq_tilde_grad}
RUN = (
    Fact(PREFIX + "rounds", Eq(tilde_F_T - tilde_F_0, T * (then - now), evaluate=False)),
    Fact(PREFIX + "minimum", Le(tilde_F_0 - tilde_F_T, tilde_D_0), (BOUNDED_BELOW,)),
    Fact(PREFIX + "minimum", Ge(tilde_D_0, 0, evaluate=False), (BOUNDED_BELOW,)),
    Fact(PREFIX + "smallest", Le(h * E_T, Max(0, h, evaluate=False) * mean_sq_tilde_grad)),
)

FACTS = (
    *RUN,
    *SQUARES,
    *DEFINITIONS,
    *MEANS,
    Fact(PREFIX + "smooth", Le(drift_grad_0, K_0 * L**2 * E_0), (LIPSCHITZ,)),
    Fact(PREFIX + "smooth", Le(drift_grad_c, K * L**2 * E_c), (LIPSCHITZ,)),
    Fact(PREFIX + "smooth", Le(square_norm(C), L**2 * sq_move_bar), (LIPSCHITZ,)),
    Fact(PREFIX + "upper_quadratic", Le(tilde_F_next - tilde_F_t, T_1 + L * T_2), (SMOOTH,)),
    Fact(PREFIX + "independent_sum", Le(T_4a, sigma_0**2 / K_0), UNBIASED),
    Fact(PREFIX + "independent_sum", Le(T_5a, K * sigma**2 / S), UNBIASED),
    *(
        Fact(PREFIX + "cohort", one, DRAWN)
        for one in zero_inequalities(T_5c - K**2 * tau_s * square_norm(Z))
    ),
    Fact(PREFIX + "definition", Le(square_norm(Z), G**2), (DISSIMILAR,)),
    Fact(
        PREFIX + "largest",
        Le(
            E_c,
            excess_29 + Rational(37, 20) * K * eta_l**2 * (2 * K * square_norm(F + Z) + sigma**2),
        ),
    ),
)
