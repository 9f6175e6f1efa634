"""Mixed FL, figure 11 and section C.4.3: the language model with larger steps at fixed K, how large
the steps may be, and how they change the results.

A run has diverged if its loss leaves the finite numbers or ends above where it began. The text's rates
are of its own network: below, "the higher rate" is the second of the grid, and the ceiling of a method
is the largest rate of the grid up to which no run of a seed diverged.
"""

import numpy as np

from fedtheory.claims.mixed.findings import ACCURACY, DIVERGES, EARLY, LOSS
from fedtheory.experiments import _curves
from fedtheory.experiments._mixed import MIXING
from fedtheory.experiments.records import mixed_language
from fedtheory.figures import _findings, _mixed
from fedtheory.figures._record import Figure

PANELS = {"test_loss": "upper right", "test_accuracy": "lower right"}
NO_STEPS = "the paper varies eta at one K, and so do these runs; none varies K at one eta"


def compute_arrays(scale, progress):
    return _mixed.gather_tasks(progress, language=mixed_language.EXPERIMENT.runs_of("rates", scale))


def choose_curves(runs):
    """Return the figure's curves as {label: (look, cells)}: PT and 1-W GT at the higher and the
    base rate, 2-W GT at the base rate."""
    base, higher, *_ = runs.parts(1)
    return {
        f"{method}, {text}": (method, [("language", rate, method)])
        for method in MIXING
        for rate, text in ((higher, r"higher $\eta$"), (base, r"base $\eta$"))
        if method != "2-W GT" or rate == base
    }


def draw_figure(figure, data):
    runs = _mixed.read_task(data, "language")
    cells = choose_curves(runs)
    dashes = ["-" if "higher" in label or "2-W" in label else (0, (2, 1)) for label in cells]
    for ax, (name, place) in zip(figure.subplots(1, 2), PANELS.items()):
        _mixed.draw_curves(ax, runs, name, cells, dashes)
        ax.legend(loc=place)


def has_diverged(values):
    """Tell for each seed (seeds,) whether its loss curve diverged: the final loss exceeds the first
    or is not finite."""
    return ~(_mixed.final_losses(values) <= values[:, 0])


def ceilings(data):
    """Return {method: (seeds,)}: the largest rate up to which a run converged, 0 if no run did."""
    runs = _mixed.read_task(data, "language")
    rates = runs.parts(1)
    found = {}
    for method in MIXING:
        lost = [has_diverged(runs.curve("language", r, method, name="test_loss")) for r in rates]
        steady = np.cumsum(lost, axis=0) == 0
        found[method] = np.max(steady * np.array([float(r) for r in rates])[:, None], axis=0)
    return found


def measure_cells(data):
    """Return the cells in the words of the sentences, which name the paper's rates. At the paper's
    scale the cells have the same multiples of the base rate, at smaller scales the base and the
    higher rate."""
    runs = _mixed.read_task(data, "language")
    base, higher, *_ = runs.parts(1)
    cells = {("largest_eta", method, "language"): v for method, v in ceilings(data).items()}
    cells |= {("largest_eta", method, ""): v for method, v in ceilings(data).items()}
    names = {f"{m} eta={n}": (m, r) for m in MIXING[:2] for n, r in ((2, base), (3, higher))}
    names["2-W GT eta=1"] = "2-W GT", base
    later, end = [], []
    for label, (method, rate) in names.items():
        loss, accuracy = (runs.curve("language", rate, method, name=name) for name in PANELS)
        cells[EARLY, label, "language"] = np.array([_curves.early(each) for each in loss])
        cells[LOSS, label, "language round 2000"] = _mixed.final_losses(loss)
        cells[ACCURACY, label, "language round 2000"] = _mixed.final_losses(accuracy)
        if label in ("PT eta=3", "1-W GT eta=3", "2-W GT eta=1"):
            end.append(_mixed.final_losses(loss))
            later.append(_mixed.final_losses(loss[:, : round(0.75 * loss.shape[1])]))
    cells["loss", "round 2000", "language"] = np.mean(end, axis=0)
    cells["loss", "round 1500", "language"] = np.mean(later, axis=0)
    for rate in runs.parts(1):
        for method in MIXING:
            lost = has_diverged(runs.curve("language", rate, method, name="test_loss"))
            cells[DIVERGES, f"{method} eta={float(rate):g}", "language"] = lost
    return cells


def judge_findings(data):
    ids = ("fig11_divergence", "fig11_early", "fig11_same_end")
    found = _mixed.judge_outcomes(
        data, "language", {f"mixed.{id}": measure_cells(data) for id in ids}
    )
    return found | {"mixed.sectionC43_ceilings": _findings.not_judged(NO_STEPS)}


def describe_result(data):
    return f"Largest multiple of $\\eta$ of the grid without divergence: {_mixed.describe_values(ceilings(data))}."


def table_rows(data):
    names = ["test_loss", "test_accuracy"]
    return _mixed.table_rows(data, "language", ["task", "rate", "method"], names)


def write_caption(data):
    rates = ", ".join(_mixed.read_task(data, "language").parts(1))
    return _mixed.write_caption(
        data,
        "language",
        f"Rates are multiples of the base {rates}, $K$ fixed; the higher is the second of them. {_mixed.LINES}",
    )


FIGURE = Figure(
    cites="mixed FL, figure 11",
    title="Larger steps, language",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=2.3,
)
