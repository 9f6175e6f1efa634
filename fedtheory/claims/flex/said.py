"""Flex, in running text: what a device's share of the data does, which schemes are bounded, where
training cannot end, and the readings that theorem 3.2 leaves open."""

from typing import TYPE_CHECKING, Any

from sympy import Eq, Rational

from fedtheory.claim import Claim, Same
from fedtheory.claims.flex._assumptions import (
    A1,
    A2,
    ALL_ACTIVE,
    FULL_WORK,
    HETEROGENEOUS,
    LAW,
    SOME_COMPLETE,
    WORK,
)
from fedtheory.claims.flex.departures import f_0, f_1
from fedtheory.claims.flex.objective_shift import SHIFT, arrival, departure
from fedtheory.claims.flex.table1 import FAVOURED
from fedtheory.conditions import Assumption
from fedtheory.symbols.flex import (
    D_0,
    TABLE,
    V_0,
    V_1,
    D,
    E,
    Gamma,
    Gamma_l,
    Gamma_l_new,
    Gamma_l_old,
    Gamma_max,
    L,
    N,
    T,
    dist_old,
    gamma_0,
    gamma_1,
    grad_norm_old,
    limit_sq_dist,
    mu,
    n_l,
    n_l_more,
    ratio_sup,
    sq_bias,
    sq_extra,
    sq_gap_rate,
    tau_0,
    tilde_Gamma_l,
)

if TYPE_CHECKING:
    import numpy as np
    import sympy

    from fedtheory.problem import Problem

COMPLETE = Assumption(SOME_COMPLETE, "table 1, K_tau != 0")
ACTIVE = Assumption(ALL_ACTIVE, "table 1, all devices are active")
DIFFERENT = Assumption(HETEROGENEOUS, "section 4.1, heterogeneous")
more_data = {n_l: n_l_more}


def sentence(
    name: str,
    place: str,
    measures: "sympy.Expr",
    bound: "sympy.Expr | int",
    meaning: str,
    **more: Any,
) -> Any:
    return Claim(
        id=f"flex.{name}",
        cites=f"flex, {place}",
        symbols=TABLE,
        measures=measures,
        bound=bound,
        meaning=meaning,
        **more,
    )


def average_locally(problem: "Problem", x: "np.ndarray", rounds: int, eta: Any, E: int) -> Any:
    """Return the points of FedAvg with every device and exact gradients, where a round takes the
    weighted mean of the local models."""
    path, p = [x], problem.weights[1:]
    for _ in range(rounds):
        ends = []
        for k in range(1, problem.N + 1):
            w = x
            for _ in range(E):
                w = w - eta * problem.client_grad(k, w)
            ends.append(w)
        x = sum(weight * end for weight, end in zip(p, ends))
        path.append(x)
    return path


SCHEMES = tuple(
    sentence(
        f"scheme_{scheme}_bounded",
        "assumption 3.5",
        ratio_sup,
        most,
        f"Scheme {scheme} satisfies assumption 3.5 with this theta.",
        algorithm=f"flex_{scheme.lower()}",
        assumes=(LAW, *more),
        weakened=most * Rational(9, 10),
        note='The text: "satisfied by all schemes discussed in Section 4", without theta.',
    )
    for scheme, most, more in (("A", N, (COMPLETE,)), ("B", 1, ()), ("C", E, ()))
)
CONVERGENCE = (
    Claim(
        id="flex.aggregate_parameters",
        cites="flex, end of section 3.1",
        kind="structure",
        algorithm="flex_b",
        symbols=TABLE,
        assumes=(Assumption(FULL_WORK, "s_tau^k = E"),),
        says="Under full participation aggregating gradients is aggregating the model parameters directly.",
        same=(Same("flex_b", {}, average_locally, {}, shared=("eta", "E")),),
        meaning="With all work done and p_tau^k = p^k, (2) is the weighted mean of the local models.",
    ),
    sentence(
        "only_if_sublinear",
        "after theorem 3.1",
        limit_sq_dist,
        0,
        "If some devices are favoured in every round, training does not end at the optimum.",
        algorithm="flex_b",
        assumes=(A1, A2, LAW, WORK, FAVOURED),
        relation=">",
        weakened=sq_bias,
        note='The text: "will eventually converge to a globally optimal solution only if M_tau increases '
        'sub-linearly", from (3), which bounds the distance from above alone. Where devices have the optimum in '
        "common, none of them misleads, however much it is favoured. flex.bias_A_B says where training ends instead.",
    ),
    sentence(
        "A_B_fail_active",
        "table 1, caption",
        limit_sq_dist,
        0,
        "Scheme B fails to converge to the optimum even if all devices are active.",
        algorithm="flex_b",
        assumes=(A1, A2, LAW, DIFFERENT, ACTIVE),
        relation=">",
        weakened=sq_bias,
        note="Devices that differ in their distributions alone may have the same mean of s, and then none is favoured.",
    ),
    sentence(
        "C_works_active",
        "table 1, caption",
        limit_sq_dist,
        0,
        "Scheme C ends at the optimum if no device is ever inactive, however devices differ.",
        algorithm="flex_c",
        assumes=(A1, A2, LAW, DIFFERENT, ACTIVE),
        relation="==",
        weakened=Gamma / mu,
        note="As learning rates tend to 0: a fixed rate leaves a bias of its own.",
    ),
    sentence(
        "D_bounded",
        "after theorem 3.1",
        D,
        64 * E / mu * Gamma_max,
        "D is bounded by the non-IID metric of the local datasets.",
        algorithm="flex_c",
        assumes=(LAW, WORK),
        weakened=64 * E / mu * Gamma,
    ),
    sentence(
        "coefficient_is_rate",
        "section 4.1, after table 1",
        sq_gap_rate,
        0,
        "Increasing p_tau^k is equivalent to increasing the learning rate of device k.",
        algorithm="flex_c",
        assumes=(ACTIVE,),
        relation="==",
        weakened=sq_extra,
        note="So (2) looks as long as gradients are not: from the second step on they are taken at other points. True "
        "to first order in the learning rate, and exactly for one step.",
    ),
    sentence(
        "distance_by_gradient",
        "after corollary 4.0.2",
        grad_norm_old,
        L * dist_old,
        "The distance to the old optimum can be estimated by the gradient of the old objective.",
        algorithm="flex_c",
        assumes=(A1, A2),
        also=((grad_norm_old, ">=", mu * dist_old),),
        weakened=mu * dist_old,
    ),
)
OBJECTIVES = (
    sentence(
        "shift_few_data",
        "before theorem 3.2",
        arrival,
        arrival.xreplace(more_data),
        "The bounds of theorem 3.2 shrink with the data that the device owns.",
        also=((departure, "<=", departure.xreplace(more_data)),),
        weakened=arrival.xreplace(more_data) / 2,
    ),
    Claim(
        id="flex.theorem3_2_arrival_new",
        cites="flex, theorem 3.2 (4), excess at the new optimum",
        bound=arrival.xreplace({Gamma_l: Gamma_l_new}),
        weakened=arrival.xreplace({Gamma_l: Gamma_l_new}) / 4,
        meaning="(4) with the device's excess loss at the new optimum, as (5) has it.",
        note="The other reading of Gamma_l in (4). With it the factor n_l/n comes out of the gradients at the new "
        "optimum, and 2 n_l/(n + n_l) is below that where the device brings more data than all others have.",
        **SHIFT,
    ),
    Claim(
        id="flex.theorem3_2_departure_old",
        cites="flex, theorem 3.2 (5), excess at the old optimum",
        bound=departure.xreplace({tilde_Gamma_l: Gamma_l_old}),
        weakened=departure.xreplace({tilde_Gamma_l: Gamma_l_old}) / 4,
        meaning='(5) with the device\'s excess loss at the old optimum, as "Gamma_l -> 0" before the theorem has it.',
        note="The other reading of Gamma_l in (5). With it the factor n_l/(n - n_l) comes out of the gradients at the "
        "old optimum, and 2 n_l/n is below that where the device takes more than half of the data along.",
        **SHIFT,
    ),
)
DEPARTURES = (
    sentence(
        "structural_bias",
        "section 4.3",
        f_0(T),
        D_0 / E,
        "The bound with the departed device included always exceeds D/E.",
        unstated=(
            Assumption(E * V_0 >= D_0 * (tau_0 * E + gamma_0), "f_0(tau_0) >= D/E", stated=False),
        ),
        relation=">=",
        weakened=2 * D_0 / E,
        note="f_0 is monotone and tends to D/E: it stays above where it begins above. V contains gamma^2 times the "
        "distance at the start, which makes that likely, not certain.",
    ),
    sentence(
        "structural_bias_loss",
        "section 4.3, of the loss",
        limit_sq_dist,
        D / E,
        "With some devices favoured for good, what is left in the end always exceeds D/E.",
        algorithm="flex_b",
        assumes=(A1, A2, LAW, WORK, FAVOURED),
        relation=">=",
        weakened=2 * D / E,
        note='The text: "the training loss will always exceed a structural bias D/E", from (3), which is an upper '
        "bound.",
    ),
    sentence(
        "excluded_decreases",
        "section 4.3",
        f_1(T + 1),
        f_1(T),
        "After the shift the bound decreases.",
        weakened=f_1(T) / 2,
    ),
    sentence(
        "shift_increases",
        "section 4.3, with corollary 3.2.1",
        f_1(tau_0),
        V_0 / (tau_0 * E + gamma_0),
        "Excluding the device increases the bound immediately.",
        assumes=(
            Assumption(
                V_1 >= gamma_1**2 * V_0 / (tau_0 * E + gamma_0), "corollary 3.2.1, first term of V"
            ),
            Assumption(gamma_1 >= 1, "theorem 3.1, gamma >= 32"),
        ),
        relation=">=",
        weakened=gamma_1**2 * V_0 / (tau_0 * E + gamma_0),
    ),
    sentence(
        "shift_increases_typed",
        "section 4.3, with the tilde-V of corollary 4.0.3",
        f_1(tau_0),
        V_0 / (tau_0 * E + gamma_0),
        "The same with tilde-V as it is typed before (9).",
        assumes=(
            Assumption(Eq(gamma_1, gamma_0), "before (9)"),
            Assumption(Eq(V_1, V_0 / (tau_0 * E + gamma_0) + Gamma_l), "before (9)"),
            Assumption(gamma_1 >= 1, "theorem 3.1, gamma >= 32"),
        ),
        relation=">=",
        weakened=gamma_0 * V_0 / (tau_0 * E + gamma_0),
        note="tilde-V lost its factor gamma^2 on the way from corollary 3.2.1 to (9): typed like that, the shift divides "
        "the bound by gamma.",
    ),
)
CLAIMS = (*SCHEMES, *CONVERGENCE, *OBJECTIVES, *DEPARTURES)
