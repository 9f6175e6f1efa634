"""Mixed FL, figure 3: evaluation loss of the recommender over rounds, compared with the baseline in
which the clients compute everything."""

from fedtheory.claims.mixed.findings import LOSS
from fedtheory.experiments._mixed import MIXING
from fedtheory.experiments.records import mixed_movies
from fedtheory.figures import _mixed
from fedtheory.figures._record import Figure

NAMES = (*MIXING, "baseline")
PARTS = {name: (name, [("movies", name)]) for name in NAMES}


def compute_arrays(scale, progress):
    return _mixed.gather_tasks(progress, movies=mixed_movies.EXPERIMENT.runs_of("curves", scale))


def loss_curves(data, name="test_loss"):
    runs = _mixed.read_task(data, "movies")
    return {label: _mixed.mean_curve(runs, several, name) for label, (_, several) in PARTS.items()}


def draw_figure(figure, data):
    ax = figure.subplots()
    _mixed.draw_curves(ax, _mixed.read_task(data, "movies"), "test_loss", PARTS)
    ax.legend(loc="upper right")


def judge_findings(data):
    found = loss_curves(data)
    cells = _mixed.rise_cells(_mixed.share_of_rounds(found), "movies")
    for where in ("movies", "movies round 1500"):
        cells |= {(LOSS, label, where): _mixed.final_losses(v) for label, v in found.items()}
    ids = dict.fromkeys(("mixed.fig3_movies", "mixed.fig3_pt_slower"), cells)
    return _mixed.judge_outcomes(data, "movies", ids)


def describe_result(data):
    found = {label: _mixed.final_losses(values) for label, values in loss_curves(data).items()}
    return f"Loss at the end: {_mixed.describe_values(found)}. {_mixed.distance_from_first(loss_curves(data))}."


def table_rows(data):
    return _mixed.table_rows(
        data, "movies", ["task", "method"], ["test_loss", "test_recall", "loss"]
    )


def write_caption(data):
    return _mixed.write_caption(
        data,
        "movies",
        "The hinge on users held out, of all methods alike; the baseline is FedAvg whose clients compute the "
        f"regulariser too. {_mixed.LINES}",
    )


FIGURE = Figure(
    cites="mixed FL, figure 3",
    title="Loss of the recommender",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    height=2.3,
)
