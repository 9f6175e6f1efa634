"""Mixed FL, table 1 (rounds), table 4 (step-size ceilings), table 5 (other rates), and what is
drawn from table 1."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sympy import sqrt

from fedtheory.claim import Claim, Comparison
from fedtheory.claims.mixed import theorem_b1, theorem_b2, theorem_b3
from fedtheory.claims.mixed._assumptions import (
    MERGE,
    ONE_CONVEX,
    ONE_NONCONVEX,
    SERVER_NONCONVEX,
    SEVERAL_STEPS,
    ceiling,
    least,
)
from fedtheory.conditions import Assumption
from fedtheory.symbols.mixed import (
    TABLE,
    B,
    D_sq,
    G,
    K,
    S,
    beta,
    eps,
    eps_grad,
    eta_c,
    eta_s,
    eta_tilde,
    mu,
    sigma_c,
)

if TYPE_CHECKING:
    import sympy

CASES = {"strong": "mu-convex", "convex": "convex", "nonconvex": "not convex"}
METHODS = {
    "pt": ("PT", theorem_b1),
    "one_way": ("1-W GT", theorem_b2),
    "two_way": ("2-W GT", theorem_b3),
}
RECORDS = {claim.id: claim for _, theorem in METHODS.values() for claim in theorem.CLAIMS}


def rounds_cell(method: str, number: int, case: str) -> Any:
    """Build the claim of a cell of table 1, which repeats the shape of a theorem's bound for K >=
    2. The step sizes are in tables 4 and 5."""
    label, _ = METHODS[method]
    stated = RECORDS[f"mixed.theoremB{number}_{case}"]
    return stated.replace(
        name=f"mixed.table1_{method}_{case}",
        cites=f"mixed FL, table 1, {label}, {CASES[case]}",
        assumptions=[*stated.assumes, SEVERAL_STEPS, *stated.unstated],
        figure="mixed_table1",
        meaning=f"How many rounds {label} needs: {stated.meaning}",
    )


def ceiling_cell(
    method: str,
    case: str,
    bound: "sympy.Expr",
    theorem: str,
    assumes: Sequence[Any],
    also: "Sequence[tuple[sympy.Expr, str, sympy.Expr]]" = (),
) -> Any:
    """Build the claim of a cell of table 4, which lists what the theorems' conditions say of the
    effective step K eta eta_s and of K eta_c."""
    label, _ = METHODS[method]
    return Claim(
        id=f"mixed.table4_{method}_{case}",
        cites=f"mixed FL, table 4, {label}, {CASES[case]}",
        symbols=TABLE,
        figure="mixed_table4",
        assumes=assumes,
        measures=eta_tilde,
        bound=bound,
        also=also,
        weakened=bound / 2,
        meaning=f"The longest effective step that {theorem} allows {label}.",
    )


def merged_cell(method: str, case: str, bound: "sympy.Expr", theorem: str) -> Any:
    return ceiling_cell(
        method, case, bound, theorem, (MERGE, *ceiling(bound, theorem)), ((K * eta_c, "<=", bound),)
    )


pt = 1 / (6 * (1 + B**2) * beta)
two_way = {
    "strong": least(1 / (81 * beta), 1 / (15 * mu)),
    "convex": 1 / (81 * beta),
    "nonconvex": 1 / (24 * beta),
}
eight, eighteen = 1 / (8 * beta), 1 / (18 * beta)


def implication(
    name: str,
    text: str,
    measures: "sympy.Expr",
    bound: "sympy.Expr",
    also: "Sequence[tuple[sympy.Expr, str, sympy.Expr]]",
    meaning: str,
    note: str = "",
    assumes: Sequence[Any] = (),
    **more: Any,
) -> Any:
    return Claim(
        id=f"mixed.{name}",
        cites="mixed FL, section 4.2",
        symbols=TABLE,
        measures=measures,
        bound=bound,
        also=also,
        meaning=meaning,
        note=f"The text: {text}{' ' * bool(note)}{note}",
        assumes=(SEVERAL_STEPS, *assumes),
        figure="mixed_table1",
        **more,
    )


def shape(number: int, case: str) -> "sympy.Expr":
    return RECORDS[f"mixed.theoremB{number}_{case}"].bound


def both(
    case: str,
) -> "tuple[tuple[sympy.Expr, str, sympy.Expr], tuple[sympy.Expr, str, sympy.Expr]]":
    """Return the comparisons of 2-way gradient transfer's printed rate with those of parallel
    training and of 1-way gradient transfer."""
    return (shape(3, case), "<=", shape(1, case)), (shape(3, case), "<=", shape(2, case))


ALWAYS = "2-way gradient transfer should always converge at least as well as others."
RELATIVE = Assumption(B >= 1, "definition 4.2, B >= 1")
SMALL = Assumption(eps <= 1, "O~, log(1/epsilon) >= 0", stated=False)
CLAIMS = (
    *(
        rounds_cell(method, number, case)
        for number, method in enumerate(METHODS, 1)
        for case in CASES
    ),
    *(merged_cell("pt", case, pt, "theorem B.1") for case in CASES),
    ceiling_cell("one_way", "strong", eight, "theorem B.2", (ONE_CONVEX,)),
    ceiling_cell("one_way", "convex", eight, "theorem B.2", (ONE_CONVEX,)),
    ceiling_cell("one_way", "nonconvex", eighteen, "theorem B.2", (ONE_NONCONVEX,)),
    *(merged_cell("two_way", case, bound, "theorem B.3") for case, bound in two_way.items()),
    Claim(
        id="mixed.table5",
        cites="mixed FL, table 5",
        symbols=TABLE,
        figure="mixed_table5",
        assumes=(SERVER_NONCONVEX,),
        measures=eta_s,
        relation=">",
        bound=sqrt(5 * S / 8),  # all that theorem B.2 asks in its convex cases
        also=((eta_s, ">=", sqrt(S)),),
        weakened=sqrt(8 * S / 5),
        meaning="The table's one rate for 1-way gradient transfer meets both of the theorem's conditions.",
        note="The text: the bounds assume eta_m >= 1 (PT), eta_s >= sqrt(S) (1-W GT), eta_m >= 1 (2-W GT). "
        "eta_m >= 1 is word for word what theorems B.1 and B.3 ask.",
    ),
    implication(
        "implication_dissimilarity",
        "Significant (G, B)-BGD impedes parallel training.",
        shape(3, "convex") + G * sqrt(beta) / sqrt(eps) ** 3,
        shape(1, "convex"),
        (
            (
                shape(3, "nonconvex") + G * sqrt(beta) / sqrt(eps_grad) ** 3,
                "<=",
                shape(1, "nonconvex"),
            ),
        ),
        "Parallel training's rate has everything that 2-way gradient transfer's has, and G on top.",
        assumes=(RELATIVE,),
        weakened=shape(1, "convex") - B**2 * beta * D_sq / eps,
        note="The middle terms are as printed (see theorem B.1); they stand on both sides.",
    ),
    implication(
        "implication_central_noise",
        "Significant sigma_c^2 impedes 1-way gradient transfer: it needs a central batch K times larger.",
        shape(3, "convex"),
        shape(2, "convex"),
        (
            (shape(3, "nonconvex"), "<=", shape(2, "nonconvex")),
            (shape(2, "convex").subs(sigma_c, sigma_c / sqrt(K)), "==", shape(3, "convex")),
        ),
        "Divide sigma_c^2 by K, and 1-way gradient transfer has the rate of 2-way gradient transfer.",
        weakened=shape(2, "convex") - sigma_c**2 * D_sq / eps**2,
    ),
    implication(
        "implication_two_way",
        ALWAYS,
        shape(3, "strong"),
        least(shape(1, "strong"), shape(2, "strong")),
        (*both("convex"), *both("nonconvex")),
        "None of its three rates is above that of another method, term by term.",
        assumes=(RELATIVE,),
        unstated=(SMALL,),
        weakened=least(shape(1, "strong"), shape(2, "strong")) / 2,
        note="The shapes are ordered; constants are not (table 4 allows 2-way gradient transfer the shortest steps), "
        "so the sentence about convergence does not follow from them.",
    ),
    Claim(
        id="mixed.implication_two_way_runs",
        cites="mixed FL, section 4.2",
        kind="finding",
        symbols=TABLE,
        figure="mixed_table1",
        says=ALWAYS,
        compares=(
            Comparison("rounds_to_loss", "2-W GT", "<=", "PT"),
            Comparison("rounds_to_loss", "2-W GT", "<=", "1-W GT"),
        ),
        meaning=ALWAYS,
    ),
)
