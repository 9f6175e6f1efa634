"""FSL, figure 1: test accuracy of FL, DS and FSL for clients with C classes; DS and FSL start from
a model that the server has trained before, FL from a random model."""

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import CURVES, Line, Panels
from fedtheory.figures._runs import Cells, Coordinates, Runs, Source

QUANTITIES = ("final_accuracy", "rise_time", "early_accuracy", "oscillation")
GAMMAS = ("FSL gamma=0.5", "FSL gamma=1", "FSL gamma=1.5")
NAMES = {"FSL gamma=1": "FSL", "DS": "DS", "FL": "FL"}
CLASSES = {"EMNIST": "45", "CIFAR-10": "10"}


def derive_coordinates(runs: Runs, at: Coordinates) -> Coordinates:
    """Return whether a cell is IID, where C is all classes, and names for the sentences."""
    iid = at["C"] == [c[1] for c in runs.cells if c[0] == at["set"]][-1]
    classes = CLASSES[at["set"]] if iid else at["C"]
    return dict(iid=iid, panel=f"{at['set']} C={classes}", line=NAMES.get(at["method"], ""))


def write_title(at: Coordinates) -> str:
    """Return a panel's title; the first of a row names the data."""
    place = f"{at['set']} stand-in, " if at["column"] == 0 else ""
    return f"{place}$C={at['C']}$" + " (iid)" * (at.get("iid", False) and at["column"] > 0)


def accuracy_panels(lines: list[Line]) -> Panels:
    """Return panels of accuracy over rounds, a row for each data set and a panel for each C."""
    return Panels(
        lines,
        down="set",
        across=["C", "iid"],
        rolled=True,
        share=dict(sharex=True, sharey="row"),
        title=write_title,
        xlabel="round $t$",
        ylabel="test accuracy",
    )


FIGURE = ExperimentFigure(
    cites="FSL, figure 1",
    title="Test accuracy as clients have fewer classes, with a server that learned before",
    minutes=1.0,
    source=Source(fsl_scenario1.EXPERIMENT, ["fig1"], ["set", "C", "method"]),
    more=derive_coordinates,
    panels=accuracy_panels(
        [
            Line("FL", "fedavg", dict(method="FL")),
            Line("DS", "data_sharing", dict(method="DS")),
            Line("FSL", "fsl", dict(method="FSL gamma=1")),
        ]
    ),
    sentences={
        "fsl.fig1_iid_alike": Cells(
            "final_accuracy", "{line}", "{panel}", dict(method=tuple(NAMES), iid=True)
        ),
        "fsl.fig1_fl_suffers": Cells(
            ("final_accuracy", "rise_time"), "FL", "{set}", dict(method="FL"), levels="C"
        ),
        "fsl.fig1_ds_improves": Cells(
            QUANTITIES, "{line}", "non-IID", dict(method=("DS", "FL"), iid=False)
        ),
        "fsl.fig1_fsl_best": Cells(QUANTITIES, "{line}", "{panel}", dict(method=tuple(NAMES))),
        "fsl.fig1_gamma_robust": Cells(
            "final_accuracy", "{method}", "{panel}", dict(method=GAMMAS)
        ),
    },
    text="FSL with $\\gamma=1$, DS and FL; $C$ classes a client. FSL and DS begin at a model that "
    f"the server has trained, FL at a random one. {CURVES}",
    width="page",
    stacks=True,
    height=3.6,
)
