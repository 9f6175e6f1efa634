"""What measured quantities are to each other, in inner products of gradients: relations that algebra may use.

Read off the metrics that a claim's symbols name, and off its conditions; never off the claim.
"""

import sympy

F, SERVER, OTHER_F, OTHER_SERVER, FIRST, SECOND = (
    sympy.Symbol(name, real=True) for name in ("vec_F", "vec_0", "vec_F_w", "vec_0_w", "vec_i", "vec_j"))
VECTORS = {"vec_F", "vec_0", "vec_F_w", "vec_0_w", "vec_i", "vec_j"}
gamma = sympy.Symbol("gamma", nonnegative=True)
eta_0 = sympy.Symbol("eta_0", positive=True)

# A vector stands for itself: v^2 is its squared norm, v w an inner product. Metrics of one round, not averaged.
INNER = {
    "sq_grad_norm": F**2,
    "sq_server_grad_norm": SERVER**2,
    "grad_inner": F * SERVER,
    "sq_xi": (F - SERVER) ** 2,
    "sq_tilde_grad_norm": (F + gamma * SERVER) ** 2 / (1 + gamma) ** 2,
    "a_w0": OTHER_F**2,
    "b_w0": OTHER_SERVER**2,
    "inner_w0": OTHER_F * OTHER_SERVER,
    "xi_w0": (OTHER_F - OTHER_SERVER) ** 2,
    "inner_move": -eta_0 * OTHER_F * OTHER_SERVER,    # a step is -eta_0 grad f_0
    "sq_move": eta_0**2 * OTHER_SERVER**2,
    "sq_i": FIRST**2,
    "sq_j": SECOND**2,
    "sq_pair": (FIRST + SECOND) ** 2,
}
# What a condition says: (metric, the constant whose square bounds it at any point).
BOUNDED = {"server_dissimilar": ("sq_xi", "xi_bar")}


def facts(claim):
    """Relations that hold of the claim's measured symbols by what they measure, and by its conditions."""
    single = {entry.measure.metric: entry.symbol for entry in claim.quantities.values()
              if entry.measure.average == "" and entry.measure.at == "t" and entry.measure.minus == ""}
    found = [sympy.Eq(symbol, INNER[metric], evaluate=False) for metric, symbol in single.items() if metric in INNER]
    for assumption in claim.assumptions:
        metric, constant = BOUNDED.get(assumption.name, (None, None))
        if metric is not None and single.keys() & {"sq_grad_norm", "sq_server_grad_norm", "sq_xi"}:
            found.append(sympy.Le(INNER[metric], claim.table[constant].symbol ** 2, evaluate=False))
    return found
