"""FSL (short), figure 2: accuracy over the server's number of samples n_0, from a random model."""

from fedtheory.figures import _short
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import SPREADS
from fedtheory.figures._runs import Cells, Coordinates, Runs

SIZES = ("94", "235", "376", "517")  # n_0 as printed


def derive_coordinates(runs: Runs, at: Coordinates) -> Coordinates:
    """Return a cell's n_0 as the paper prints it, the printed n_0 before, and the samples per class
    of that one."""
    sizes = [cell[1] for cell in runs.cells if cell[2] == "DS"]
    n = sizes.index(at["per"]) if at["per"] else 0
    return dict(n_0=SIZES[n], before=SIZES[n - 1], fewer=sizes[n - 1])


FEW = (
    Cells("final_accuracy", match=dict(method="FL")),
    Cells("final_accuracy", "{method} n_0={n_0}", match=dict(method=("FSL", "DS", "DSL"))),
    Cells(
        "final_accuracy",
        "n_0={n_0} over {before}",
        match=dict(method=("FSL", "DS", "DSL"), n_0=("376", "517")),
        minus=dict(per="{fewer}"),
        called="accuracy_gain",
    ),
)

FIGURE = ExperimentFigure(
    cites="FSL (short), figure 2",
    title="Accuracy over the server's samples, EMNIST",
    source=_short.source_of("fig2", "per"),
    heads=dict(per="per class"),
    more=derive_coordinates,
    panels=_short.BY_SAMPLES,
    sentences={("fsls.fig2_few_samples", "fsls.fig2_five_per_label"): FEW},
    text=f"From one random model, $\\eta_0$ as the largest of figure 1. {SPREADS}",
)
