"""Mixed FL, table 5: the learning rates that the bounds assume, beside the conditions of theorems
B.1 to B.3."""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import sympy

from fedtheory import arithmetic, discover
from fedtheory.figures import _findings, _style
from fedtheory.figures._record import Arrays, Figure, Progress
from fedtheory.symbols.mixed import S, eta_m, eta_s

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

CLAIM = "mixed.table5"
LARGEST = dict(smoke=20, quick=50, paper=100)
THEOREMS = [
    f"mixed.theoremB{number}_{case}"
    for number in (1, 2, 3)
    for case in ("strong", "convex", "nonconvex")
]
TABLED = {
    eta_s: sympy.sqrt(S),
    eta_m: sympy.Integer(1),
}  # the table's rates, as printed: the least it assumes
HEADER = [
    "$S$",
    r"table 5, 1-W GT: $\eta_s$",
    r"B.2, convex: $\eta_s$",
    r"table 5, PT and 2-W GT: $\eta_m$",
    "theorems met",
]


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    cohorts = np.arange(1, LARGEST[scale] + 1)
    convex, tabled = (
        discover.claim(CLAIM).fast({"S": cohorts.astype(float)}, line) for line in (0, 1)
    )
    met = {
        f"met_{name[6:]}": [meets_theorem(name, int(cohort)) for cohort in cohorts]
        for name in THEOREMS
    }
    return {
        "S": cohorts,
        "convex": convex,
        "tabled": tabled,
        **{name: np.array(truths) for name, truths in met.items()},
    }


def meets_theorem(theorem: str, cohort: int) -> bool:
    """Tell whether table 5's rates satisfy each condition that a theorem sets for them, decided by
    enclosures."""
    asked = [
        a.relation
        for a in discover.claim(theorem).assumes
        if a.relation is not None
        and a.relation.free_symbols & {eta_s, eta_m}
        and a.relation.free_symbols <= {eta_s, eta_m, S}
    ]
    return bool(asked) and all(relation_holds(relation.subs(TABLED), cohort) for relation in asked)


def relation_holds(relation: sympy.Basic, cohort: int) -> bool:
    """Tell whether a condition between numbers holds; an identity holds without a computation."""
    if relation in (sympy.true, sympy.false):
        return relation is sympy.true
    return arithmetic.decide_relation(relation, {"S": Fraction(cohort)}) is True


def draw_figure(figure: "Canvas", data: Arrays) -> None:
    ax = figure.add_subplot()
    cohorts = data["S"]
    one = _style.algorithm_look("one_way_gt").colour
    _style.draw_line(ax, cohorts, data["tabled"], "one_way_gt", r"1-W GT, table 5: $\sqrt{S}$")
    ax.plot(
        cohorts, data["convex"], color=one, linestyle=":", label=r"1-W GT, convex: $\sqrt{5S/8}$"
    )
    ax.fill_between(cohorts, data["convex"], data["tabled"], color=one, alpha=0.18, linewidth=0)
    ax.plot(
        cohorts,
        np.ones(len(cohorts)),
        color=_style.INK,
        linewidth=0.8,
        label=r"PT, 2-W GT: $\eta_m=1$",
    )
    ax.set(
        xlabel="cohort $S$",
        ylabel=r"least $\eta_s$, $\eta_m$ assumed",
        xlim=(1, cohorts[-1]),
        ylim=(0, None),
    )
    _style.direct_labels(ax)


def theorems_met(data: Arrays) -> np.ndarray:
    """Return which theorem's conditions are met at which cohort, shape (theorems, cohorts)."""
    return np.array([data[f"met_{name[6:]}"] for name in THEOREMS])


def table_rows(data: Arrays) -> list[list[str]]:
    shown = [
        place for place, cohort in enumerate(data["S"]) if cohort in (1, 2, 5, 10, 20, 50, 100)
    ]
    return [
        HEADER,
        *(
            [
                str(data["S"][n]),
                f"{data['tabled'][n]:.3f}",
                f"{data['convex'][n]:.3f}",
                "1",
                f"{theorems_met(data)[:, n].sum()} of {len(THEOREMS)}",
            ]
            for n in shown
        ),
    ]


def judge_findings(data: Arrays) -> dict:
    cells = {
        f"{name[6:]} at S = {cohort}": bool(true)
        for name, line in zip(THEOREMS, theorems_met(data))
        for cohort, true in zip(data["S"], line)
    }
    outcome = _findings.judge_exactly(cells, "conditions")
    return {
        CLAIM: (
            outcome.verdict,
            f"{outcome.sentence} (nine theorems, S = 1 to {data['S'][-1]}); for convex losses "
            "1-way transfer asks for less than the table, the root of 5 S / 8",
        )
    }


def write_caption(data: Arrays) -> str:
    return (
        f"Least learning rates that theorems B.1 to B.3 ask for, over cohorts S = 1 to {data['S'][-1]}, beside those that "
        "table 5 assumes; shaded: what the table asks beyond the theorem. Decided by enclosures, nothing random."
    )


FIGURE = Figure(
    cites="mixed FL, table 5",
    title="Learning rates that the bounds assume",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    height=2.2,
)
