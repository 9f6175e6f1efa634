"""Mixed FL, section 4.2: bounds for heterogeneous clients.

"The analysis extends in a straightforward manner to the setting of heterogeneous clients assuming
a bound on the variance of client gradients: for all x, 1/N sum ||grad f_i(x) - grad f_f(x)||^2 <=
sigma_f^2 for some sigma_f >= 0. Under this assumption, the bounds in table 1 change by an
additional K sigma_f^2 term in the expression involving sigma^2 and sigma_c^2 in the parenthesis on
the numerator of the leading term." Said of orders without a proof; here of the explicit companions
of theorems B.1 to B.3, whose constants are those of homogeneous clients.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedtheory.claim import Claim
from fedtheory.claims.mixed import theorem_b1, theorem_b2, theorem_b3
from fedtheory.claims.mixed._assumptions import A41
from fedtheory.claims.mixed._means import explicit_of
from fedtheory.conditions import Assumption, Certified, Condition
from fedtheory.symbols.mixed import (
    TABLE,
    K,
    S,
    noise_convex,
    noise_merged,
    noise_nonconvex,
    noise_paths,
    sigma,
    sigma_f,
)

if TYPE_CHECKING:
    import sympy

SPREAD = Assumption(
    Condition(
        "clients_spread",
        "1/N sum_i ||grad f_i - grad f_f||^2 is at most sigma_f^2 everywhere",
        Certified("sigma_f"),
        ("sigma_f",),
    ),
    "section 4.2, heterogeneous clients",
)
# sigma^2 becomes sigma^2 + K sigma_f^2 where it stands in the leading term, and nowhere else
LEADING = {
    noise_merged: noise_merged + sigma_f**2 / S,
    noise_convex: noise_convex + 5 * sigma_f**2 / S,
    noise_nonconvex: noise_nonconvex + 3 * sigma_f**2 / S,
}
PLAIN = {sigma**2: sigma**2 + K * sigma_f**2}


# Bounds so far above what happens that no search reaches them even without the additional term:
# their weakened bounds forget where the run starts.
LOOSE = ("two_way_nonconvex", "two_way_nonconvex_paths")


def extend_companion(
    claim: Any, name: str, swaps: "Mapping[sympy.Expr, sympy.Expr]", more: str = ""
) -> Any:
    """Build a companion's claim with the additional term in its bound and in the step size that is
    tuned by the bound."""
    wider = lambda a: a if a.relation is None else a_with(a, a.relation.xreplace(swaps))
    return Claim(
        id=f"mixed.heterogeneous_{name}",
        cites="mixed FL, section 4.2, heterogeneous clients",
        algorithm=claim.algorithm,
        symbols=TABLE,
        assumes=tuple(SPREAD if a is A41 else wider(a) for a in claim.assumes),
        unstated=tuple(wider(a) for a in claim.unstated),
        measures=claim.lines[0][0],
        bound=claim.lines[0][2].xreplace(swaps),
        weakened=claim.lines[0][2] - (theorem_b3.start_nonconvex if name in LOOSE else 0),
        meaning=f"{claim.cites.removeprefix('mixed FL, ')}: what clients that differ add.",
        note="The text omits the analysis."
        f" Its weakened bound is the bound without the {'start' if name in LOOSE else 'additional term'}."
        + more,
    )


def a_with(assumption: Any, relation: "sympy.Rel") -> Any:
    return Assumption(relation, assumption.where, assumption.stated, assumption.note)


CASES = [
    (name, case, explicit_of(theorem.STATEMENTS)[case])
    for name, theorem in (("pt", theorem_b1), ("one_way", theorem_b2), ("two_way", theorem_b3))
    for case in ("strong", "convex", "nonconvex")
]
# What clients that drift apart change is not averaged over the cohort: of parallel training the
# sentence is false for large cohorts, and these are what its proof would give.
PATHS = {**LEADING, noise_paths: noise_paths + sigma_f**2}
CLAIMS = (
    *(
        extend_companion(
            claim,
            f"{name}_{case}",
            {**LEADING, **PLAIN} if (name, case) == ("one_way", "convex") else LEADING,
        )
        for name, case, claim in CASES
    ),
    *(
        extend_companion(
            claim,
            f"{name}_{case}_paths",
            PATHS,
            " The term is added along single paths as well, where the cohort's size does not divide it.",
        )
        for name, case, claim in CASES
        if name != "one_way"
    ),
)
