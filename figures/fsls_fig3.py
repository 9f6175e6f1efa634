"""FSL (short), figure 3: accuracy over rounds for N clients and for ten times as many."""

from fedtheory.figures import _short
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import CURVES
from fedtheory.figures._runs import Cells

FIGURE = ExperimentFigure(
    cites="FSL (short), figure 3",
    title="Four methods, few and many clients, CIFAR-10",
    source=_short.source_of("fig3", "many"),
    heads=dict(many="clients, times"),
    more=lambda runs, at: dict(N=10 * int(at["many"])),
    panels=_short.accuracy_panels("N", "$N={N}$"),
    sentences={
        ("fsls.fig3_sl_improves", "fsls.fig3_over_ds", "fsls.fig3_stable"): Cells(
            ("final_accuracy", "early_accuracy", "oscillation"), where="N={N}"
        )
    },
    text="Two classes a client; all methods begin at the model that the server has trained. "
    f"{CURVES}",
    width="page",
    stacks=True,
)
