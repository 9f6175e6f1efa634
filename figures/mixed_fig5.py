"""Mixed FL, figure 5: accuracy of the language model on the clients' source (left) and on the server's
(right)."""

from fedtheory.claims.mixed.findings import ACCURACY
from fedtheory.experiments import mixed_language
from fedtheory.figures import _mixed
from fedtheory.figures._record import Figure
from fedtheory.figures.mixed_fig1 import LANGUAGE

NAME = "test_accuracy"
WHOSE = {"Stack Overflow": "the clients' source", "Wikipedia": "the server's source"}


def compute(scale, progress):
    return _mixed.gathered(progress, language=mixed_language.EXPERIMENT.runs_of("curves", scale))


def parts(source):
    return {name: (name, [("language", source, name)]) for name in LANGUAGE}


def draw(figure, data):
    for ax, source in zip(figure.subplots(1, 2, sharey=True), WHOSE):
        _mixed.lines(ax, _mixed.read(data, "language"), NAME, parts(source))
        ax.set(title=f"{WHOSE[source]} (for {source})")
    figure.axes[1].set_ylabel("")
    figure.axes[0].legend(loc="lower right")


def ends(data, source):
    runs = _mixed.read(data, "language")
    return {
        label: _mixed.final(_mixed.curve(runs, several, NAME))
        for label, (_, several) in parts(source).items()
    }


def findings(data):
    cells = {
        (ACCURACY, label, source): values
        for source in WHOSE
        for label, values in ends(data, source).items()
    }
    ids = dict.fromkeys(("mixed.fig5_both_datasets", "mixed.fig5_only_fl"), cells)
    return _mixed.outcomes(data, "language", ids)


def says(data):
    return " ".join(f"At the end, {WHOSE[s]}: {_mixed.told(ends(data, s))}." for s in WHOSE)


def rows(data):
    return _mixed.rows(data, "language", ["task", "source", "method"], [NAME, "test_loss"])


def caption(data):
    return _mixed.caption(
        data,
        "language",
        f"Accuracy of the next character on test data of one source. {_mixed.LINES}",
    )


FIGURE = Figure(
    cites="mixed FL, figure 5",
    title="Accuracy of the language model on each source",
    compute=compute,
    caption=caption,
    draw=draw,
    says=says,
    rows=rows,
    findings=findings,
    width="page",
    height=2.3,
)
