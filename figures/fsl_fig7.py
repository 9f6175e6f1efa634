"""FSL, figure 7: incremental (FSL) and non-incremental (FSL-p) server learning and data sharing,
over the number of classes C of a client and the number of clients S in a round."""

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import SPREADS, Panels, lines_of
from fedtheory.figures._runs import Cells, Source

LOOKS = {"FSL": "fsl", "FSL-p": "fsl_parallel", "DS": "data_sharing"}

FIGURE = ExperimentFigure(
    cites="FSL, figure 7",
    title="Incremental and non-incremental server learning, over C and S",
    source=Source(fsl_scenario1.EXPERIMENT, ["fig7"], ["set", "C", "S", "method"]),
    panels=Panels(
        lines_of(LOOKS),
        across=["set", "S"],
        quantities=["final_accuracy"],
        over="C",
        by_place=True,
        share=dict(sharey=True),
        title="{set} stand-in, $S={S}$",
        xlabel="$C$",
        ylabel="test accuracy",
    ),
    sentences={"fsl.fig7_nonincremental": Cells("final_accuracy", where="{set} C={C} S={S}")},
    text="Accuracy at the end over the classes $C$ of a client, for $S$ clients a round; "
    f"$\\gamma=1$. {SPREADS}",
    width="page",
    stacks=True,
    height=2.2,
)
