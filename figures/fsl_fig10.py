"""FSL, figure 10: FSL, FSLsyn, SCAFFOLD and FedDyn on CIFAR-10 with many clients. The paper's
sentences on figures 10 and 11 are judged here, on both sets: `most` cases by the mean over all C."""

from collections.abc import Sequence

from fedtheory.experiments.records import fsl_scenario2
from fedtheory.figures import fsl_fig1, fsl_fig5
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import CURVES, Line, Panels
from fedtheory.figures._runs import Cells, Source

LINES = [
    Line("FSL", "fsl", dict(method="FSL")),
    Line("FSLsyn", "fsl", dict(method="FSLsyn"), dict(linestyle=":")),
    Line("SCAFFOLD", "scaffold", dict(method="SCAFFOLD")),
    Line("FedDyn", "feddyn", dict(method="FedDyn")),
]
JUDGED = dict(method=("FSL", "FSLsyn", "SCAFFOLD"))


def accuracy_figure(
    number: int, place: str, parts: Sequence[str], sentences: dict
) -> ExperimentFigure:
    """Return the figure of accuracy on a data set, each method at the best rate."""
    return ExperimentFigure(
        cites=f"FSL, figure {number}",
        title=f"FSL, FSLsyn, SCAFFOLD and FedDyn with many clients, {place}",
        source=Source(fsl_scenario2.EXPERIMENT, parts, fsl_fig5.COORDINATES),
        tuning=fsl_fig5.TUNING,
        measures=fsl_fig5.LEARNT,
        panels=Panels(
            LINES,
            across=["C"],
            only=dict(set=place),
            rolled=True,
            share=dict(sharey=True),
            title=fsl_fig1.write_title,
            xlabel="round $t$",
            ylabel="test accuracy",
        ),
        sentences=sentences,
        text=f"Each method at its best $\\eta_l$ for the $C$ of the panel. {CURVES}",
        result="Accuracy at the end, the mean over $C$: {accuracy}.",
        numbers=dict(accuracy=Cells("learnt", match=dict(set=place))),
        show=lambda values: f"{values.mean():.3f}",
        width="page",
        stacks=True,
        height=2.0,
    )


RISE = (
    Cells("learnt", where="most", match=JUDGED, called="final_accuracy"),
    Cells("rise_time", where="most", match=JUDGED),
    Cells("early_accuracy", match=JUDGED),
)
FIGURE = accuracy_figure(10, "CIFAR-10", fsl_scenario2.SETS, {"fsl.fig10_fig11_rise": RISE})
