"""FSL, figure 6: test accuracy of FL, DS and FSL for clients with C classes, all from one random
model."""

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures import fsl_fig1
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import CURVES, lines_of
from fedtheory.figures._runs import Cells, Source

FIGURE = ExperimentFigure(
    cites="FSL, figure 6",
    title="Test accuracy as clients have fewer classes, from a random model",
    source=Source(fsl_scenario1.EXPERIMENT, ["fig6"], ["set", "C", "method"]),
    more=fsl_fig1.derive_coordinates,
    panels=fsl_fig1.accuracy_panels(lines_of({"FL": "fedavg", "DS": "data_sharing", "FSL": "fsl"})),
    sentences={
        "fsl.fig6_no_pretrain": (
            Cells("rise_time", where="{panel}"),
            Cells(
                ("rise_time", "final_accuracy"),
                where="IID",
                match=dict(method=("DS", "FL"), iid=True),
            ),
        )
    },
    text="FSL with $\\gamma=1$, DS and FL begin at one random model; $C$ classes a client. "
    f"{CURVES}",
    width="page",
    stacks=True,
    height=3.6,
)
