"""Mixed FL, figure 6: recall@10 of the recommender over rounds."""

from fedtheory.claims.mixed.findings import RECALL
from fedtheory.figures import _mixed, mixed_fig3
from fedtheory.figures._record import Figure

NAME = "test_recall"
compute = mixed_fig3.compute


def draw(figure, data):
    ax = figure.subplots()
    runs = _mixed.read(data, "movies")
    _mixed.lines(ax, runs, NAME, mixed_fig3.PARTS, label="recall@10")
    ax.legend(loc="lower right")


def ends(data):
    return {label: _mixed.final(v) for label, v in mixed_fig3.curves(data, NAME).items()}


def findings(data):
    cells = {(RECALL, label, "movies"): values for label, values in ends(data).items()}
    return _mixed.outcomes(data, "movies", {"mixed.fig6_recall": cells})


def says(data):
    far = _mixed.apart(mixed_fig3.curves(data, NAME))
    return f"Recall@10 at the end: {_mixed.told(ends(data))}. {far}."


def caption(data):
    return _mixed.caption(data, "movies", f"Of users held out, all films ranked. {_mixed.LINES}")


FIGURE = Figure(
    cites="mixed FL, figure 6",
    title="Recall@10 of the recommender",
    compute=compute,
    caption=caption,
    draw=draw,
    says=says,
    rows=mixed_fig3.rows,
    findings=findings,
    height=2.3,
)
