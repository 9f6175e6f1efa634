"""FSL, figure 8: incremental (FSL) and non-incremental (FSL-p) server learning over the server's
weight gamma, compared with data sharing."""

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures import fsl_fig7
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import SPREADS, Panels, lines_of
from fedtheory.figures._runs import Cells, Source

FIGURE = ExperimentFigure(
    cites="FSL, figure 8",
    title="Incremental and non-incremental server learning, over the server's weight",
    source=Source(fsl_scenario1.EXPERIMENT, ["fig8"], ["set", "gamma", "method"]),
    panels=Panels(
        lines_of(fsl_fig7.LOOKS),
        across=["set"],
        quantities=["final_accuracy"],
        over="gamma",
        title="{set} stand-in",
        xlabel=r"$\gamma$ (DS has none)",
        ylabel="test accuracy",
    ),
    sentences={
        "fsl.fig8_nonincremental_gamma": Cells("final_accuracy", where="{set} gamma={gamma}")
    },
    text=f"Accuracy at the end over the server's weight. {SPREADS}",
    width="page",
    stacks=True,
    height=2.2,
)
