"""Mixed FL, figure 1: AUC of the smile classifier (a) and accuracy of the language model (b) over
rounds, compared with an oracle and with FL alone."""

from fedtheory.claims.mixed.findings import ACCURACY, AUC
from fedtheory.experiments._mixed import MIXING
from fedtheory.experiments.records import mixed_language, mixed_smiles
from fedtheory.figures import _fsl, _mixed
from fedtheory.figures._record import Figure

SMILE = (*MIXING, "oracle")
LANGUAGE = (*MIXING, "only FL", "oracle")
STAND_IN = f"{_mixed.STAND_INS['smile']}, and {_mixed.STAND_INS['language']}"


def compute_arrays(scale, progress):
    return _mixed.gather_tasks(
        progress,
        smile=mixed_smiles.EXPERIMENT.runs_of("curves", scale),
        language=mixed_language.EXPERIMENT.runs_of("curves", scale),
    )


def smile_cells():
    """Return {label: (look, cells)} of the smile classifier."""
    return {name: (name, [("smile", name)]) for name in SMILE}


def language_cells():
    """Return {label: (look, cells)} of the language model, over both sources together, which have
    equally many test data."""
    both = lambda name: [("language", source, name) for source in mixed_language.SOURCES]
    return {name: (name, both(name)) for name in LANGUAGE}


PARTS = {"smile": (smile_cells, "test_auc"), "language": (language_cells, "test_accuracy")}


def draw_figure(figure, data):
    for ax, (task, (cells, name)) in zip(figure.subplots(1, 2), PARTS.items()):
        _mixed.draw_curves(ax, _mixed.read_task(data, task), name, cells())
        ax.set(title=f"({'ab'[task == 'language']}) {task}")
        ax.legend(loc="lower right")


def final_values(data):
    """Return {task: {label: final values (seeds,)}}."""
    return {
        task: {
            label: _mixed.final_losses(
                _mixed.mean_curve(_mixed.read_task(data, task), several, name)
            )
            for label, (_, several) in cells().items()
        }
        for task, (cells, name) in PARTS.items()
    }


def judge_findings(data):
    cells = {
        (quantity, label, task): values
        for task, quantity in (("smile", AUC), ("language", ACCURACY))
        for label, values in final_values(data)[task].items()
    }
    return {
        **_mixed.judge_outcomes(data, "smile", {"mixed.fig1_smile_oracle": cells}),
        **_mixed.judge_outcomes(
            data, "language", {"mixed.fig1_language_oracle": cells, "mixed.fig1_only_fl": cells}
        ),
    }


def describe_result(data):
    found = final_values(data)
    return f"At the end, AUC: {_mixed.describe_values(found['smile'])}; accuracy: {_mixed.describe_values(found['language'])}."


def table_rows(data):
    found = final_values(data)
    head = ["task", "method", "at the end"]
    return [head] + [
        [task, label, _mixed.describe_values({label: values}).removeprefix(f"{label} ")]
        for task in found
        for label, values in found[task].items()
    ]


def write_caption(data):
    return _fsl.write_caption(
        data,
        "(a) Area under the ROC curve of the smile classifier. (b) Accuracy of the next character, both sources "
        f"together. The oracle trains on all samples by itself. {_mixed.LINES}",
        STAND_IN,
    )


FIGURE = Figure(
    cites="mixed FL, figure 1",
    title="Mixed FL beside an oracle, smiles and language",
    compute=compute_arrays,
    minutes=1.0,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=2.3,
)
