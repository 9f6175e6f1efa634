"""Mixed FL, figure 6: recall@10 of the recommender over rounds."""

from fedtheory.claims.mixed.findings import RECALL
from fedtheory.figures import _mixed, mixed_fig3
from fedtheory.figures._record import Figure

NAME = "test_recall"
compute = mixed_fig3.compute_arrays


def draw_figure(figure, data):
    ax = figure.subplots()
    runs = _mixed.read_task(data, "movies")
    _mixed.draw_curves(ax, runs, NAME, mixed_fig3.PARTS, label="recall@10")
    ax.legend(loc="lower right")


def final_values(data):
    return {
        label: _mixed.final_losses(v) for label, v in mixed_fig3.loss_curves(data, NAME).items()
    }


def judge_findings(data):
    cells = {(RECALL, label, "movies"): values for label, values in final_values(data).items()}
    return _mixed.judge_outcomes(data, "movies", {"mixed.fig6_recall": cells})


def describe_result(data):
    far = _mixed.distance_from_first(mixed_fig3.loss_curves(data, NAME))
    return f"Recall@10 at the end: {_mixed.describe_values(final_values(data))}. {far}."


def write_caption(data):
    return _mixed.write_caption(
        data, "movies", f"Of users held out, all films ranked. {_mixed.LINES}"
    )


FIGURE = Figure(
    cites="mixed FL, figure 6",
    title="Recall@10 of the recommender",
    compute=compute,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=mixed_fig3.table_rows,
    findings=judge_findings,
    height=2.3,
)
