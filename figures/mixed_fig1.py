"""Mixed FL, figure 1: AUC of the smile classifier (a) and accuracy of the language model (b) over
rounds, compared with an oracle and with FL alone."""

from collections.abc import Sequence

import numpy as np

from fedtheory.claims.mixed.findings import ACCURACY, AUC
from fedtheory.experiments.records import mixed_language, mixed_smiles
from fedtheory.figures import _mixed
from fedtheory.figures._panels import LINES
from fedtheory.figures._runs import Cells, Name, Runs, Source

# The language model is tested on both sources, which have equally many test data.
SOURCES = {
    "smile": Source(mixed_smiles.EXPERIMENT, ["curves"], ["task", "method"]),
    "language": Source(mixed_language.EXPERIMENT, ["curves"], ["task", "source", "method"]),
}
POOLED = dict(language="source")
STAND_IN = f"{_mixed.STAND_INS['smile']}, and {_mixed.STAND_INS['language']}"
ACCURACIES = Cells(ACCURACY, where="language", task="language")


def measure_end(runs: Runs, cells: Sequence[Name]) -> dict[Name, np.ndarray]:
    """Return the AUC or the accuracy at the end."""
    return _mixed.MEASURES["test_auc" if "test_auc" in runs.data else "test_accuracy"](runs, cells)


FIGURE = _mixed.MixedFigure(
    cites="mixed FL, figure 1",
    title="Mixed FL beside an oracle, smiles and language",
    minutes=1.0,
    source=SOURCES,
    pooled=POOLED,
    measures=_mixed.MEASURES | {"at the end": measure_end},
    panels=_mixed.curve_panels(
        quantities=["test_auc", "test_accuracy"],
        tasks=[*SOURCES],
        title=lambda at: f"({'ab'[at['column']]}) {at['task']}",
    ),
    sentences={
        "mixed.fig1_smile_oracle": Cells(AUC, where="smile", task="smile"),
        ("mixed.fig1_language_oracle", "mixed.fig1_only_fl"): ACCURACIES,
    },
    table=["at the end"],
    text="(a) Area under the ROC curve of the smile classifier. (b) Accuracy of the next "
    f"character, both sources together. The oracle trains on all samples by itself. {LINES}",
    result="At the end, AUC: {AUC}; accuracy: {accuracy}.",
    numbers=dict(AUC=Cells(AUC), accuracy=ACCURACIES),
    stand_in=STAND_IN,
)
