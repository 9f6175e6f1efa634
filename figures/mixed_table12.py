"""Mixed FL, table 12: the operations of the regulariser and the numbers exchanged, counted one by
one."""

from typing import TYPE_CHECKING

import numpy as np
import sympy

from fedtheory import discover
from fedtheory.claims.mixed import costs
from fedtheory.figures import _findings, _table
from fedtheory.figures._record import Arrays, Figure, Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

COMP, COMM = "mixed.table12_comp", "mixed.table12_comm"
HEADER = ["", "Formula", "Its value", "Counted", "Counted / formula"]
SMALL = (2, 3, 4, 7, 12)  # movies of the small tables that are counted by loops
LINES = (
    ("Comp., baseline", COMP, 0),
    ("Comp., PT and GT", COMP, 1),
    ("Comm., baseline", COMM, 0),
    ("Comm., PT", COMM, 1),
    ("Comm., 1-W and 2-W GT", COMM, 2),
)


def count_products(movies: int, dim: int, steps: int) -> int:
    """Count the multiplications of all inner products of two movies, each pair once, including
    pairs of a movie with itself."""
    table = np.ones((movies, dim))
    return steps * sum(
        int(np.sum(table[i] * table[j])) for i in range(movies) for j in range(i + 1)
    )


def count_entries(movies: int, dim: int, local: int, steps: int) -> list[int]:
    """Count the quantities of table 12, in its order, from pairs and array entries."""
    pairs = movies * (movies + 1) // 2 * dim
    sent = np.empty((local, dim), bool).size
    return [steps * pairs, pairs, 2 * np.empty((movies, dim), bool).size, 2 * sent, 3 * sent]


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    ((_, movies, dim, _),) = costs.solutions()
    values = dict(movies=movies, dim=dim, local_movies=costs.CACHE, K=costs.STEPS)
    printed, formulas = [], []
    for _, name, line in LINES:
        claim = discover.claim(name)
        printed.append(
            float(claim.evaluate({key: values[key] for key in claim.parameters}, line=line))
        )
        formulas.append(
            sympy.latex(
                claim.lines[line][2], symbol_names=claim.table.latex_names(), fold_short_frac=True
            )
        )
    small = [
        (
            count_products(n, dim, 2),
            count_entries(n, dim, 1, 2)[0],
            float(discover.claim(COMP).evaluate(dict(movies=n, dim=dim, K=2))),
        )
        for n in SMALL
    ]
    return {
        "formula": np.array(formulas),
        "printed": np.array(printed),
        "movies": np.array(movies),
        "dim": np.array(dim),
        "local": np.array(costs.CACHE),
        "steps": np.array(costs.STEPS),
        "counted": np.array(count_entries(movies, dim, costs.CACHE, costs.STEPS)),
        "small": np.array(small),
    }


def table_lines(data: Arrays) -> list[list]:
    return [
        [label, f"${formula}$", f"{printed:,.0f}", f"{own:,}", f"{own / printed:.5f}"]
        for (label, _, _), formula, printed, own in zip(
            LINES, data["formula"], data["printed"], data["counted"]
        )
    ]


def draw_figure(figure: "Canvas", data: Arrays) -> None:
    _table.draw_table(
        figure,
        HEADER,
        table_lines(data),
        cell_marks(data),
        widths=[24, 12, 17, 17, 20],
        note=rf"At $N={data['movies']}$, $d={data['dim']}$, $n={data['local']}$, $K={data['steps']}$. A table of $N$ "
        r"movies has $N(N+1)/2$ pairs, so $N^2/2$ is low by the part $1/N$: a leading term, marked as agreeing.",
    )


def cell_marks(data: Arrays) -> dict[tuple[int, int], tuple[str, str]]:
    return {
        (place, 4): (cell_verdict(data, place), claim) for place, (_, claim, _) in enumerate(LINES)
    }


def table_rows(data: Arrays) -> list[list[str]]:
    return _table.mark_rows([HEADER, *table_lines(data)], cell_marks(data))


def cell_verdict(data: Arrays, place: int) -> str:
    """Return the verdict on a cell: computation is printed to leading order in N, communication
    exactly."""
    slack = 1 / data["movies"] if LINES[place][1] == COMP else 0.0
    own, printed = data["counted"][place], data["printed"][place]
    return (
        _findings.REPRODUCED
        if abs(own - printed) <= printed * slack * (1 + 1e-12)
        else _findings.NOT_REPRODUCED
    )


def judge_findings(data: Arrays) -> dict:
    loops, formula, printed = data["small"].T
    found = {}
    for name, why in (
        (
            COMP,
            f"to leading order in N: pairs counted by loops at N = {', '.join(map(str, SMALL))} "
            f"exceed the printed N^2/2 by the part 1/N",
        ),
        (COMM, "as array entries"),
    ):
        truths = {
            label: cell_verdict(data, place) == _findings.REPRODUCED
            for place, (label, claim, _) in enumerate(LINES)
            if claim == name
        }
        if name == COMP:
            truths["loops"] = bool((loops == formula).all())
        outcome = _findings.judge_exactly(truths)
        found[name] = (outcome.verdict, f"{outcome.sentence}, {why}")
    return found


def write_caption(data: Arrays) -> str:
    return (
        f"Formulas of table 12 at N = {data['movies']} movies, width d = {data['dim']}, n = {data['local']} of a client, "
        f"K = {data['steps']} steps, beside pairs and array entries counted one by one; computation is judged to leading "
        f"order in N. Exact counts, nothing random. {_table.MARKED}."
    )


FIGURE = Figure(
    cites="mixed FL, table 12",
    title="The regulariser's operations and the numbers exchanged, counted",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=1.55,
)
