"""Mixed FL, figure 12 and section C.4.4: the recommender trained by 1-way gradient transfer with
Adam and with SGD at the server, each at its best rate, compared with the baseline with Adam."""

from collections.abc import Sequence

import numpy as np

from fedtheory.claims.mixed.findings import LOSS, RISE
from fedtheory.experiments import _curves
from fedtheory.experiments.records import mixed_movies
from fedtheory.figures import _mixed
from fedtheory.figures._panels import LINES, Line
from fedtheory.figures._runs import Cells, Name, Runs, Source, Tuning, of_curve

TUNING = Tuning(["rate"], "test_loss", low=True)


def line_of(method: str, server: str, dash: str) -> Line:
    """Return the line of a method with an optimiser at the server."""
    match = dict(method=method, server=server)
    return Line(f"{method}, {server}", _mixed.LOOKS[method], match, dict(linestyle=dash))


def best_rates(runs: Runs, cells: Sequence[Name]) -> dict[Name, np.ndarray]:
    """Return the best rate of each seed, shape (seeds,), of a cell's method and optimiser."""
    found = {}
    for cell in cells:
        several = [other for other in runs.cells if other[:3] == cell[:3]]
        best = np.argmax([TUNING.rate_cell(runs, each) for each in several], axis=0)
        found[cell] = np.array([float(several[n][3]) for n in best])
    return found


FIGURE = _mixed.MixedFigure(
    cites="mixed FL, figure 12",
    title="Adam at the server, recommender",
    source={
        "movies": Source(mixed_movies.EXPERIMENT, ["adam"], ["task", "method", "server", "rate"])
    },
    tuning=TUNING,
    measures=_mixed.MEASURES
    | {
        "best_eta_s": best_rates,
        "end": of_curve("test_loss", lambda x: np.nan_to_num(_curves.final_mean(x), nan=np.inf)),
    },
    panels=_mixed.curve_panels(
        [
            line_of("1-W GT", "Adam", "-"),
            line_of("1-W GT", "SGD", ":"),
            line_of("baseline", "Adam", "--"),
        ],
        quantities=["test_loss", "test_recall"],
    ),
    sentences={
        ("mixed.fig12_adam", "mixed.fig12_baseline", "mixed.sectionC44_server_rate"): Cells(
            (RISE, LOSS, "best_eta_s"), "{method} {server}", "movies"
        )
    },
    table=["test_loss", "test_recall"],
    text="SGD at clients; Adam and SGD at the server, each at the best rate of its grid by the loss "
    f"at the end. {LINES}",
    result="Loss at the end: {ends}.",
    numbers=dict(ends=Cells("end", "{method}, {server} ($\\eta_s={rate}$)")),
)
