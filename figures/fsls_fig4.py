"""FSL (short), figure 4: accuracy over rounds for clients with C classes."""

from fedtheory.figures import _short
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import CURVES
from fedtheory.figures._runs import Cells

FIGURE = ExperimentFigure(
    cites="FSL (short), figure 4",
    title="Four methods as clients have fewer classes, CIFAR-10",
    source=_short.source_of("fig4", "C"),
    panels=_short.accuracy_panels("C", "$C={C}$"),
    sentences={
        "fsls.fig4_fl_C": Cells("final_accuracy", match=dict(method="FL"), levels="C"),
        "fsls.fig4_benefit_C": Cells(
            "final_accuracy",
            match=dict(method="FSL"),
            levels="C",
            minus=dict(method="FL"),
            called="accuracy_gain_over_fl",
        ),
        ("fsls.fig4_biased", "fsls.fig4_even"): Cells("final_accuracy", where="C={C}"),
    },
    text="FL begins at a random model, the others at the one that the server has trained. "
    f"{CURVES}",
    width="page",
    stacks=True,
)
