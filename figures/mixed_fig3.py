"""Mixed FL, figure 3: evaluation loss of the recommender over rounds, compared with the baseline in
which the clients compute everything."""

from fedtheory.claims.mixed.findings import LOSS, RISE
from fedtheory.experiments.records import mixed_movies
from fedtheory.figures import _mixed
from fedtheory.figures._panels import LINES
from fedtheory.figures._record import Arrays
from fedtheory.figures._runs import Cells, Source

SOURCE = {"movies": Source(mixed_movies.EXPERIMENT, ["curves"], ["task", "method"])}
TABLE = ("test_loss", "test_recall", "loss")


def describe_distances(figure: _mixed.MixedFigure, data: Arrays, metric: str) -> str:
    """Return the figure's result, and how far apart the curves are."""
    runs = figure.read_runs(data)
    curves = {cell[1]: runs.curves_of(*cell, name=metric) for cell in runs.cells}
    return f"{figure.describe_result(data)} {_mixed.distance_from_first(curves)}"


FIGURE: _mixed.MixedFigure = _mixed.MixedFigure(
    cites="mixed FL, figure 3",
    title="Loss of the recommender",
    source=SOURCE,
    panels=_mixed.curve_panels(quantities=["test_loss"]),
    sentences={
        ("mixed.fig3_movies", "mixed.fig3_pt_slower"): (
            Cells((RISE, LOSS), where="movies"),
            Cells(LOSS, where="movies round 1500"),
        )
    },
    table=TABLE,
    text="The hinge on users held out, of all methods alike; the baseline is FedAvg whose clients "
    f"compute the regulariser too. {LINES}",
    result="Loss at the end: {loss}.",
    numbers=dict(loss=Cells(LOSS)),
    says=lambda data: describe_distances(FIGURE, data, "test_loss"),
    width="column",
)
