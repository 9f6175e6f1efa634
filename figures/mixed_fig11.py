"""Mixed FL, figure 11 and section C.4.3: the language model with larger steps at fixed K, how large
the steps may be, and how they change the results.

A run has diverged if its loss leaves the finite numbers or ends above where it began. The text's rates
are of its own network: below, "the higher rate" is the second of the grid, and the ceiling of a method
is the largest rate of the grid up to which no run of a seed diverged.
"""

from collections.abc import Sequence

import numpy as np

from fedtheory.claims.mixed.findings import ACCURACY, DIVERGES, EARLY, LOSS
from fedtheory.experiments import _curves
from fedtheory.experiments._mixed import METHODS, MIXING
from fedtheory.experiments.records import mixed_language
from fedtheory.figures import _findings, _mixed
from fedtheory.figures._panels import LINES, Line
from fedtheory.figures._record import Arrays
from fedtheory.figures._runs import (
    Cells,
    Coordinates,
    Measure,
    Name,
    Runs,
    Source,
    final_values,
    of_curve,
)

NO_STEPS = "the paper varies eta at one K, and so do these runs; none varies K at one eta"


def list_lines(runs: Runs, at: Coordinates) -> list[Line]:
    """Return PT and 1-W GT at the higher and the base rate, 2-W GT at the base rate."""
    base, higher, *_ = runs.distinct_values("rate")
    return [
        Line(
            f"{method}, {text}",
            METHODS[method],
            dict(rate=rate, method=method),
            dict(linestyle="-" if rate == higher or method == "2-W GT" else (0, (2, 1))),
        )
        for method in MIXING
        for rate, text in ((higher, r"higher $\eta$"), (base, r"base $\eta$"))
        if method != "2-W GT" or rate == base
    ]


def has_diverged(runs: Runs, cell: Name) -> np.ndarray:
    """Tell for each seed (seeds,) whether its loss curve diverged: the final loss exceeds the first
    or is not finite."""
    loss = runs.curves_of(*cell, name="test_loss")
    return ~(final_values(loss) <= loss[:, 0])


def rate_ceilings(runs: Runs, cells: Sequence[Name]) -> dict[Name, np.ndarray]:
    """Return the largest rate up to which a run of a cell's method converged, 0 if no run did."""
    found = {}
    for cell in cells:
        several = runs.select_cells(method=cell[2])
        steady = np.cumsum([has_diverged(runs, each) for each in several], axis=0) == 0
        found[cell] = np.max(steady * np.array([[float(each[1])] for each in several]), axis=0)
    return found


MEASURES: dict[str, Measure] = {
    **_mixed.MEASURES,
    "largest_eta": rate_ceilings,
    DIVERGES: lambda runs, cells: {cell: has_diverged(runs, cell) for cell in cells},
    EARLY: of_curve("test_loss", _curves.early_mean),
    "later": of_curve(
        "test_loss", lambda loss: _curves.final_mean(loss[: round(0.75 * len(loss))])
    ),
}


def derive_coordinates(runs: Runs, at: Coordinates) -> Coordinates:
    """Return what a cell is called in the sentences, which name the paper's rates. At the paper's
    scale the cells have the same multiples of the base rate, at smaller scales the base and the
    higher rate."""
    base, higher, *_ = runs.distinct_values("rate")
    eta = {base: 1, higher: None} if at["method"] == "2-W GT" else {base: 2, higher: 3}
    number = eta.get(at["rate"])
    shown = at["rate"] == (base if at["method"] == "2-W GT" else higher)
    return dict(
        name=number and f"{at['method']} eta={number}", shown=shown, eta=f"{float(at['rate']):g}"
    )


NAMED = dict(name=tuple(f"{m} eta={n}" for m in MIXING for n in (1, 2, 3)))
CELLS = (
    Cells("largest_eta"),
    Cells("largest_eta", where="language"),
    Cells(EARLY, "{name}", "language", NAMED),
    Cells((LOSS, ACCURACY), "{name}", "language round 2000", NAMED),
    Cells(LOSS, "round 2000", "language", dict(shown=True), called="loss"),
    Cells("later", "round 1500", "language", dict(shown=True), called="loss"),
    Cells(DIVERGES, "{method} eta={eta}", "language"),
)


def judge_findings(data: Arrays) -> dict:
    not_run = {"mixed.sectionC43_ceilings": _findings.not_judged(NO_STEPS)}
    return FIGURE.judge_sentences(data) | not_run


FIGURE: _mixed.MixedFigure = _mixed.MixedFigure(
    cites="mixed FL, figure 11",
    title="Larger steps, language",
    source={"language": Source(mixed_language.EXPERIMENT, ["rates"], ["task", "rate", "method"])},
    more=derive_coordinates,
    measures=MEASURES,
    panels=_mixed.curve_panels(list_lines, quantities=["test_loss", "test_accuracy"]),
    sentences={tuple(f"mixed.fig11_{name}" for name in ("divergence", "early", "same_end")): CELLS},
    findings=judge_findings,
    table=["test_loss", "test_accuracy"],
    caption=lambda data: FIGURE.write_caption(
        data,
        f"Rates are multiples of the base {', '.join(FIGURE.read_runs(data).distinct_values('rate'))}, $K$ "
        f"fixed; the higher is the second of them. {LINES}",
    ),
    result="Largest multiple of $\\eta$ of the grid without divergence: {ceilings}.",
    numbers=dict(ceilings=Cells("largest_eta")),
)
