"""FSL (short), figure 5: accuracy over the server's number of samples n_0."""

from fedtheory.figures import _short
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import SPREADS
from fedtheory.figures._runs import Cells

LEARNERS = dict(method=("FSL", "DSL"))

FIGURE = ExperimentFigure(
    cites="FSL (short), figure 5",
    title="Accuracy over the server's samples, CIFAR-10",
    source=_short.source_of("fig5", "per"),
    heads=dict(per="per class"),
    panels=_short.BY_SAMPLES,
    sentences={
        "fsls.fig5_n_0": Cells(("final_accuracy", "early_accuracy"), match=LEARNERS, levels="per"),
        "fsls.fig5_fsl_dsl": Cells("final_accuracy", where="{per} a class", match=LEARNERS),
    },
    text=f"Two classes a client; all begin at the model that the server has trained. {SPREADS}",
)
