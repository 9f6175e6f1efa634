"""FSL (short), figure 6: accuracy and rise time on CIFAR-10 over the server's epochs E_s and step
size eta_0."""

from fedtheory.figures import _short
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import SPREADS
from fedtheory.figures._runs import Cells

FIGURE = ExperimentFigure(
    cites="FSL (short), figure 6",
    title="Server learning over its epochs and step size, CIFAR-10",
    source=_short.source_of("fig6", "ratio", "E_s"),
    heads=dict(ratio="eta_0 / eta_l"),
    panels=_short.BY_EPOCHS,
    sentences={
        "fsls.fig6_E_s": Cells(
            _short.BOTH,
            "FSL E_s={E_s}",
            "eta_0 = {ratio} eta_l",
            dict(method="FSL", E_s=("1", "5")),
        )
    },
    text=f"Over the server's epochs and step size, the most samples at the server. {SPREADS}",
    width="page",
    stacks=True,
    height=2.6,
)
