"""Mixed FL, figure 5: accuracy of the language model on the clients' source (left) and on the server's
(right)."""

from fedtheory.claims.mixed.findings import ACCURACY
from fedtheory.experiments.records import mixed_language
from fedtheory.figures import _mixed
from fedtheory.figures._record import Figure
from fedtheory.figures.mixed_fig1 import LANGUAGE

NAME = "test_accuracy"
WHOSE = {"Stack Overflow": "the clients' source", "Wikipedia": "the server's source"}


def compute_arrays(scale, progress):
    return _mixed.gather_tasks(
        progress, language=mixed_language.EXPERIMENT.runs_of("curves", scale)
    )


def source_parts(source):
    return {name: (name, [("language", source, name)]) for name in LANGUAGE}


def draw_figure(figure, data):
    for ax, source in zip(figure.subplots(1, 2, sharey=True), WHOSE):
        _mixed.draw_curves(ax, _mixed.read_task(data, "language"), NAME, source_parts(source))
        ax.set(title=f"{WHOSE[source]} (for {source})")
    figure.axes[1].set_ylabel("")
    figure.axes[0].legend(loc="lower right")


def final_values(data, source):
    runs = _mixed.read_task(data, "language")
    return {
        label: _mixed.final_losses(_mixed.mean_curve(runs, several, NAME))
        for label, (_, several) in source_parts(source).items()
    }


def judge_findings(data):
    cells = {
        (ACCURACY, label, source): values
        for source in WHOSE
        for label, values in final_values(data, source).items()
    }
    ids = dict.fromkeys(("mixed.fig5_both_datasets", "mixed.fig5_only_fl"), cells)
    return _mixed.judge_outcomes(data, "language", ids)


def describe_result(data):
    return " ".join(
        f"At the end, {WHOSE[s]}: {_mixed.describe_values(final_values(data, s))}." for s in WHOSE
    )


def table_rows(data):
    return _mixed.table_rows(data, "language", ["task", "source", "method"], [NAME, "test_loss"])


def write_caption(data):
    return _mixed.write_caption(
        data,
        "language",
        f"Accuracy of the next character on test data of one source. {_mixed.LINES}",
    )


FIGURE = Figure(
    cites="mixed FL, figure 5",
    title="Accuracy of the language model on each source",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=2.3,
)
