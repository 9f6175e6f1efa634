"""FSL (short), figure 1: accuracy and rise time over the server's epochs E_s and step size eta_0."""

from fedtheory.figures import _short
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import SPREADS
from fedtheory.figures._runs import Cells

FIGURE = ExperimentFigure(
    cites="FSL (short), figure 1",
    title="Server learning over its epochs and step size, EMNIST",
    source=_short.source_of("fig1", "ratio", "E_s"),
    heads=dict(ratio="eta_0 / eta_l"),
    panels=_short.BY_EPOCHS,
    sentences={
        ("fsls.fig1_sl_helps_fl", "fsls.fig1_ds_dsl", "fsls.fig1_ds_over_fsl"): Cells(_short.BOTH),
        "fsls.fig1_E_s_small": Cells(
            "final_accuracy", "FSL", match=dict(method="FSL"), levels="E_s"
        ),
    },
    text="Over the server's epochs and step size, 5 samples of each class at the server; FL and DS "
    f"have neither. {SPREADS}",
    width="page",
    stacks=True,
    height=2.6,
)
