"""Mixed FL, figure 3: evaluation loss of the recommender over rounds, beside the baseline whose clients
compute everything."""

from fedtheory.claims.mixed.findings import LOSS
from fedtheory.experiments import mixed_movies
from fedtheory.experiments._mixed import MIXING
from fedtheory.figures import _mixed
from fedtheory.figures._record import Figure

NAMES = (*MIXING, "baseline")
PARTS = {name: (name, [("movies", name)]) for name in NAMES}


def compute(scale, progress):
    return _mixed.gathered(progress, movies=mixed_movies.EXPERIMENT.runs_of("curves", scale))


def curves(data, name="test_loss"):
    runs = _mixed.read(data, "movies")
    return {label: _mixed.curve(runs, several, name) for label, (_, several) in PARTS.items()}


def draw(figure, data):
    ax = figure.subplots()
    _mixed.lines(ax, _mixed.read(data, "movies"), "test_loss", PARTS)
    ax.legend(loc="upper right")


def findings(data):
    found = curves(data)
    cells = _mixed.faster(_mixed.reached(found), "movies")
    for where in ("movies", "movies round 1500"):
        cells |= {(LOSS, label, where): _mixed.final(v) for label, v in found.items()}
    ids = dict.fromkeys(("mixed.fig3_movies", "mixed.fig3_pt_slower"), cells)
    return _mixed.outcomes(data, "movies", ids)


def says(data):
    found = {label: _mixed.final(values) for label, values in curves(data).items()}
    return f"Loss at the end: {_mixed.told(found)}. {_mixed.apart(curves(data))}."


def rows(data):
    return _mixed.rows(data, "movies", ["task", "method"], ["test_loss", "test_recall", "loss"])


def caption(data):
    return _mixed.caption(
        data,
        "movies",
        "The hinge on users held out, of all methods alike; the baseline is FedAvg whose clients compute the "
        f"regulariser too. {_mixed.LINES}",
    )


FIGURE = Figure(
    cites="mixed FL, figure 3",
    title="Loss of the recommender",
    compute=compute,
    caption=caption,
    draw=draw,
    says=says,
    rows=rows,
    findings=findings,
    height=2.3,
)
