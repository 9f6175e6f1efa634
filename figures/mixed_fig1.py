"""Mixed FL, figure 1: AUC of the smile classifier (a) and accuracy of the language model (b) over
rounds, beside an oracle, and FL alone."""

from fedtheory.claims.mixed.findings import ACCURACY, AUC
from fedtheory.experiments import mixed_language, mixed_smiles
from fedtheory.experiments._mixed import MIXING
from fedtheory.figures import _fsl, _mixed
from fedtheory.figures._record import Figure

SMILE = (*MIXING, "oracle")
LANGUAGE = (*MIXING, "only FL", "oracle")
STAND_IN = f"{_mixed.STAND_INS['smile']}, and {_mixed.STAND_INS['language']}"


def compute(scale, progress):
    return _mixed.gathered(
        progress,
        smile=mixed_smiles.EXPERIMENT.runs_of("curves", scale),
        language=mixed_language.EXPERIMENT.runs_of("curves", scale),
    )


def smile():
    """label -> (look, cells)."""
    return {name: (name, [("smile", name)]) for name in SMILE}


def language():
    """The same, over both sources together: they have equally many test data."""
    both = lambda name: [("language", source, name) for source in mixed_language.SOURCES]
    return {name: (name, both(name)) for name in LANGUAGE}


PARTS = {"smile": (smile, "test_auc"), "language": (language, "test_accuracy")}


def draw(figure, data):
    for ax, (task, (cells, name)) in zip(figure.subplots(1, 2), PARTS.items()):
        _mixed.lines(ax, _mixed.read(data, task), name, cells())
        ax.set(title=f"({'ab'[task == 'language']}) {task}")
        ax.legend(loc="lower right")


def ends(data):
    """task -> {label: (seeds,)}."""
    return {
        task: {
            label: _mixed.final(_mixed.curve(_mixed.read(data, task), several, name))
            for label, (_, several) in cells().items()
        }
        for task, (cells, name) in PARTS.items()
    }


def findings(data):
    cells = {
        (quantity, label, task): values
        for task, quantity in (("smile", AUC), ("language", ACCURACY))
        for label, values in ends(data)[task].items()
    }
    return {
        **_mixed.outcomes(data, "smile", {"mixed.fig1_smile_oracle": cells}),
        **_mixed.outcomes(
            data, "language", {"mixed.fig1_language_oracle": cells, "mixed.fig1_only_fl": cells}
        ),
    }


def says(data):
    found = ends(data)
    return f"At the end, AUC: {_mixed.told(found['smile'])}; accuracy: {_mixed.told(found['language'])}."


def rows(data):
    found = ends(data)
    head = ["task", "method", "at the end"]
    return [head] + [
        [task, label, _mixed.told({label: values}).removeprefix(f"{label} ")]
        for task in found
        for label, values in found[task].items()
    ]


def caption(data):
    return _fsl.caption(
        data,
        "(a) Area under the ROC curve of the smile classifier. (b) Accuracy of the next character, both sources "
        f"together. The oracle trains on all samples by itself. {_mixed.LINES}",
        STAND_IN,
    )


FIGURE = Figure(
    cites="mixed FL, figure 1",
    title="Mixed FL beside an oracle, smiles and language",
    compute=compute,
    minutes=1.0,
    caption=caption,
    draw=draw,
    says=says,
    rows=rows,
    findings=findings,
    width="page",
    height=2.3,
)
