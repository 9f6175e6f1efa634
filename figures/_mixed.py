"""What mixed FL's figures share: quantities, looks, panels of curves, and the names of stand-ins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fedtheory.claims.mixed.findings import ACCURACY, AUC, LOSS, RECALL, RISE
from fedtheory.experiments import _curves
from fedtheory.experiments._mixed import METHODS, MIXING
from fedtheory.experiments._record import Experiment
from fedtheory.figures import _caption
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import DASHES, LINES, Line, Lines, Panels, lines_of
from fedtheory.figures._runs import (
    Cells,
    Coordinates,
    Measure,
    Runs,
    Source,
    of_curve,
    rounds_to_worst,
)

LOOKS = METHODS | {"only FL": "fedavg", "oracle": "server_sgd", "baseline": "fedavg"}
STAND_INS = dict(
    smile="on drawn faces with a small perceptron, not on CelebA",
    language="on two made sources of characters with a small network, not on the paper's corpora",
    movies="on planted tastes with a small encoder, not on MovieLens",
)
METRICS = {LOSS: "test_loss", ACCURACY: "test_accuracy", AUC: "test_auc", RECALL: "test_recall"}
MEASURES: dict[str, Measure] = {
    **{name: of_curve(metric, _curves.final_mean) for name, metric in METRICS.items()},
    **{name: of_curve(name, _curves.final_mean) for name in (*METRICS.values(), "loss")},
    RISE: rounds_to_worst("test_loss"),
}
LABELS = dict(test_auc="test AUC", test_recall="recall@10")


@dataclass(frozen=True, kw_only=True)
class MixedFigure(ExperimentFigure):
    """A figure over mixed FL's experiments: page-wide, with their measures and stand-ins."""

    measures: Mapping[str, Measure] = field(default_factory=lambda: MEASURES)
    stand_in: str = ""  # of the first task, if not given
    stand_ins: Mapping[str, str] = field(default_factory=lambda: STAND_INS)
    width: str = "page"
    height: float = 2.3

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "stand_in", self.stand_in or STAND_INS[next(iter(self.tasks))])


def write_label(at: Coordinates) -> str:
    """Return the label of the axis of a metric."""
    return LABELS.get(at["quantity"], at["quantity"].replace("_", " "))


def place_legend(at: Coordinates) -> str:
    """Return the corner of a panel without curves: losses fall, all else rises."""
    return "upper right" if at["quantity"].endswith("loss") else "lower right"


def curve_panels(lines: Lines = (), **more: object) -> Panels:
    """Return panels of metrics over rounds, side by side."""
    declared: dict = dict(
        lines=lines or lines_of(LOOKS),
        across=["quantity"],
        xlabel="round $t$",
        ylabel=write_label,
        legend=place_legend,
    )
    return Panels(**{**declared, **more})


def lines_over(coordinate: str, letter: str) -> Callable[[Runs, Coordinates], list[Line]]:
    """Return the lines of a method, a line for each value of a coordinate; the last is solid."""

    def list_lines(runs: Runs, at: Coordinates) -> list[Line]:
        values, look = runs.distinct_values(coordinate), METHODS[at["method"]]
        return [
            Line(f"${letter}={value}$", look, {coordinate: value}, dict(linestyle=dash))
            for value, dash in zip(values, DASHES[-len(values) :])
        ]

    return list_lines


def name_size(runs: Runs, at: Coordinates) -> Coordinates:
    """Return whether a cell has the smallest or the largest K."""
    first, *_, last = runs.distinct_values("K")
    return dict(size={first: "smaller", last: "larger"}.get(at["K"], "other"))


def steps_figure(
    number: int, words: str, task: str, experiment: Experiment, metric: str, ids: Sequence[str]
) -> MixedFigure:
    """Return the figure of a task with each way of mixing over K, with eta K fixed: the loss,
    and the task's second metric below."""
    panels = curve_panels(
        lines_over("K", "K"),
        down="quantity",
        across=["method"],
        quantities=["test_loss", metric],
        share=dict(sharey="row", sharex=True),
        title=lambda at: at["method"] if at["quantity"] == "test_loss" else "",
        scale=lambda at: "log" if at["quantity"] == "test_loss" else "linear",
        legend=lambda at: "upper right" if at["quantity"] == "test_loss" else "",
    )
    return MixedFigure(
        cites=f"mixed FL, figure {number}",
        title=f"More and shorter steps, {words}",
        source={task: Source(experiment, ["steps"], ["task", "K", "method"])},
        more=name_size,
        measures=MEASURES | {RISE: rounds_to_worst("test_loss", among=["method"])},
        panels=panels,
        sentences={
            tuple(ids): (
                Cells(RISE, "{method} {size} K", task),
                Cells(RISE, where=task, levels="K"),
            )
        },
        table=["test_loss", metric],
        text=f"A line for each $K$, $\\eta K$ fixed. {LINES}",
        result=" ".join(
            f"{name}, share of the rounds to nine tenths of its worst's gain: {{{name}}}."
            for name in MIXING
        ),
        numbers={name: Cells(RISE, "$K={K}$", match=dict(method=name)) for name in MIXING},
        height=3.4,
    )


def distance_from_first(curves: Mapping[str, np.ndarray]) -> str:
    """Return a text with the largest distance of each curve (seeds, measurements) from the first
    curve, over all seeds and rounds."""
    (first, one), *others = curves.items()
    far = {label: _caption.number_text(np.abs(each - one).max()) for label, each in others}
    told = ", ".join(f"{label} {most}" for label, most in far.items())
    span = _caption.number_text(np.ptp(np.concatenate([*curves.values()])))
    return f"Largest distance from {first} in any seed and round: {told}; all lie within {span}."
