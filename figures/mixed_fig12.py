"""Mixed FL, figure 12 and section C.4.4: the recommender trained by 1-way gradient transfer with
Adam and with SGD at the server, each at its best rate, compared with the baseline with Adam."""

import numpy as np

from fedtheory.claims.mixed.findings import LOSS
from fedtheory.experiments.records import mixed_movies
from fedtheory.figures import _mixed
from fedtheory.figures._record import Figure

KINDS = (("1-W GT", "Adam"), ("1-W GT", "SGD"), ("baseline", "Adam"))
PANELS = {"test_loss": "upper right", "test_recall": "lower right"}


def compute_arrays(scale, progress):
    return _mixed.gather_tasks(progress, movies=mixed_movies.EXPERIMENT.runs_of("adam", scale))


def final_values(runs, cell):
    """Return the final losses (seeds,); values that are not finite become inf."""
    return np.nan_to_num(_mixed.final_losses(runs.curve(*cell, name="test_loss")), nan=np.inf)


def best_cell(runs, kind):
    """Return the cell with the best rate of a method and optimiser, over all seeds."""
    return min(runs.having("movies", *kind), key=lambda cell: final_values(runs, cell).mean())


def best_rates(runs, kind):
    """Return the best rate of each seed, shape (seeds,)."""
    cells = runs.having("movies", *kind)
    return np.array(
        [float(cells[n][3]) for n in np.argmin([final_values(runs, c) for c in cells], axis=0)]
    )


def choose_curves(runs):
    return {f"{m}, {by}": (m, [best_cell(runs, (m, by))]) for m, by in KINDS}


def draw_figure(figure, data):
    runs = _mixed.read_task(data, "movies")
    for ax, (name, place) in zip(figure.subplots(1, 2), PANELS.items()):
        label = "recall@10" if name == "test_recall" else None
        _mixed.draw_curves(ax, runs, name, choose_curves(runs), ("-", ":", "--"), label)
        ax.legend(loc=place)


def judge_findings(data):
    runs = _mixed.read_task(data, "movies")
    curves = {
        f"{m} {by}": runs.curve(*best_cell(runs, (m, by)), name="test_loss") for m, by in KINDS
    }
    cells = _mixed.rise_cells(_mixed.share_of_rounds(curves), "movies")
    cells |= {
        (LOSS, label, "movies"): _mixed.final_losses(values) for label, values in curves.items()
    }
    cells |= {("best_eta_s", f"{m} {by}", "movies"): best_rates(runs, (m, by)) for m, by in KINDS}
    ids = ("fig12_adam", "fig12_baseline", "sectionC44_server_rate")
    return _mixed.judge_outcomes(data, "movies", {f"mixed.{id}": cells for id in ids})


def describe_result(data):
    runs = _mixed.read_task(data, "movies")
    told = {
        f"{label} ($\\eta_s={several[0][3]}$)": final_values(runs, several[0])
        for label, (_, several) in choose_curves(runs).items()
    }
    return f"Loss at the end: {_mixed.describe_values(told)}."


def table_rows(data):
    return _mixed.table_rows(
        data, "movies", ["task", "method", "server", "rate"], ["test_loss", "test_recall"]
    )


def write_caption(data):
    return _mixed.write_caption(
        data,
        "movies",
        "SGD at clients; Adam and SGD at the server, each at the best rate of its grid by the loss at the end. "
        f"{_mixed.LINES}",
    )


FIGURE = Figure(
    cites="mixed FL, figure 12",
    title="Adam at the server, recommender",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=2.3,
)
