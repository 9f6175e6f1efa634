"""Every claim set against a small problem of its paper: what comes of it, or why nothing does."""

from dataclasses import replace

import numpy as np

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.participation import Participation, distribution
from fedtheory.problem import Constant

ROUNDS = 6
REFUSED = {  # what a claim about a run lacks on these problems
    "lamb.theorem1": "needs cst, a constant that the text leaves open",
    "mixed.stepB2_nonconvex": "assumes f = f_f + f_c is beta-smooth itself",
}
ALIKE, UNLIKE = [0.0, 0.5, 0.5], [[0.0, 0.0, 1.0], [0.0, 0.5, 0.5], [0.5, 0.25, 0.25]]


def fsl(id):
    own = dict(xi_bar=0.0) if "special" in id else dict(xi_bar=0.2)
    problem = ft.problems.quadratic(
        d=2, clients=4, L=1.0, mu=0.5, G=0.5, sigma=0.3, sigma_0=0.1, seed=1, **own
    )
    letter = {"corollary2a": "c_a", "special": "c"}
    of = next((c for part, c in letter.items() if part in id), "c_b")
    more = {of: 0.01} if "explicit" in id else dict(eta_0=0.02, eta_l=0.04)
    if "corollary" in id and "2a" not in id:
        more["a"] = 1.0
    if "special" in id:
        more["gamma"] = 4.0
    return problem, dict(more, S=2, K=2, K_0=4)


def mixed(id):
    warm = "theoremB3_nonconvex" in id or id.startswith("mixed.heterogeneous_two_way_nonconvex")
    noise = 0.0 if warm else 0.3  # the first transferred gradients are exact then
    problem = ft.problems.mixed(
        d=2,
        clients=4,
        L=1.0,
        mu=0.5,
        G=0.5,
        sigma=noise,
        sigma_c=noise,
        sigma_f=0.3 if "heterogeneous" in id else 0.0,
        seed=3,
    )
    if "nonconvex" in id and ("theoremB2" in id or "one_way" in id) and "sum" not in id:
        # f itself is as smooth as it asks
        problem = replace(problem, constants={**problem.constants, "L": Constant(2.0)})
    S = 4 if noise == 0 else 2
    steps = dict(eta=0.01) if "step" in id or "lemma" in id else {}
    return problem, dict(steps, S=S, K=2, eta_s=2.0, rounds=200 if "strong" in id else ROUNDS)


def lamb(id):
    problem = ft.problems.bounded(
        d=2, clients=2, L=1.0, M=1.0, G=0.2, sigma=0.4, layers=[1, 1], noise="rademacher", seed=3
    )
    step = dict(a=0.5) if "corollary" in id else dict(alpha=0.03)
    words = dict(phi="clipped", bias_correction="none", phi_m=1.0, phi_M=1.0)
    return problem, dict(
        step, beta_1=0.0, beta_2=0.9, epsilon=1.0, x_0=np.full(2, 2.0), rounds=3, **words
    )


def flex(id):
    b = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    problem = ft.problems.quadratic_from_arrays([1.0, 0.5], b, sigma=0.3, noise="rademacher")
    star = problem.minimizer()
    reach = 4.0  # around the minimiser, and gradients there
    M = reach + float(np.abs(b - star).max()) * 2 + 0.3
    problem = replace(
        problem,
        constants={**problem.constants, "M": Constant(M, "ball", reach, "by hand, on a ball")},
    )
    rows = None
    if "_het" in id or id in ("flex.suboptimal_DE", "flex.theorem3_1", "flex.theorem3_1_printed"):
        rows = UNLIKE
    elif "_hom" in id and "_A_" not in id:
        rows = ALIKE
    work = None if rows is None else distribution(rows)
    return problem, dict(E=2, participation=Participation(work=work))


def house(id):
    return ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5), dict(eta=0.5)


def outcome(claim):
    """(Comparison or None, the sentence that refuses)."""
    maker = {"fsl": fsl, "fsls": fsl, "mixed": mixed, "lamb": lamb, "flex": flex}.get(
        claim.paper, house
    )
    problem, settings = maker(claim.id)
    try:
        return ft.compare(claim, problem, **{"rounds": ROUNDS, "trials": 4, **settings}), ""
    except InvalidInput as refusal:
        return None, str(refusal)
