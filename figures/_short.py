"""Panels that several figures of FSL's short paper share."""

from fedtheory.experiments.records import fsl_short
from fedtheory.figures._panels import Line, Panels, lines_of
from fedtheory.figures._runs import Coordinates, Runs, Source, Template

LOOKS = {"FL": "fedavg", "DS": "data_sharing", "FSL": "fsl", "DSL": "dsl"}
DASHES = (":", "--", "-")
BOTH = ("final_accuracy", "rise_time")


def source_of(part: str, *coordinates: str) -> Source:
    """Return the runs of a figure."""
    return Source(fsl_short.EXPERIMENT, [part], ["set", *coordinates, "method"])


def lines_by_ratio(runs: Runs, at: Coordinates) -> list[Line]:
    """Return a line for each eta_0 of FSL and DSL; FL and DS, without eta_0, are level."""
    ratios = [ratio for ratio in runs.distinct_values("ratio") if ratio]
    return [
        Line(
            f"{method}, $\\eta_0={float(ratio):g}\\,\\eta_l$",
            LOOKS[method],
            dict(method=method, ratio=ratio),
            dict(linestyle=dash, marker=""),
        )
        for method in ("FSL", "DSL")
        for ratio, dash in zip(ratios, DASHES)
    ] + [
        Line(name, LOOKS[name], dict(method=name))
        for name in LOOKS
        if runs.select_cells(method=name, ratio="")
    ]


def write_label(at: Coordinates) -> str:
    """Return the label of the axis of a quantity."""
    share = " (share)" if at["quantity"] == "rise_time" else ""
    return at["quantity"].replace("_", " ") + share


BY_EPOCHS = Panels(
    lines_by_ratio,
    across=["quantity"],
    quantities=BOTH,
    over="E_s",
    xlabel="$E_s$",
    ylabel=write_label,
    ncols=4,
)
BY_SAMPLES = Panels(
    lines_of(LOOKS),
    quantities=["final_accuracy"],
    over="per",
    xlabel="samples of each class at the server",
    ylabel="test accuracy",
)


def accuracy_panels(coordinate: str, title: Template) -> Panels:
    """Return panels of accuracy over rounds, a panel for each value of a coordinate."""
    return Panels(
        lines_of(LOOKS),
        across=[coordinate],
        rolled=True,
        share=dict(sharey=True),
        title=title,
        xlabel="round $k$",
        ylabel="test accuracy",
    )
