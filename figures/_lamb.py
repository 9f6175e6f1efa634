"""What FED-LAMB's figures share: each method at the best cell of its grid, and the panels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fedtheory.experiments import _curves, _lamb
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import Panels, lines_of
from fedtheory.figures._runs import Measure, Name, Runs, Template, Tuning, of_curve

LAMB, AMS, SGD = METHODS = tuple(_lamb.METHODS)
TUNED = ["method", "alpha", "lambda"]  # the last coordinates of a cell
CURVES = (
    "Each method at the best step size of its grid, Fed-LAMB also at its best $\\lambda$. A line is "
    "the mean over seeds, its band goes from the least to the most."
)


def measure_gap(runs: Runs, cells: Sequence[Name]) -> dict:
    """Return how far the test loss is above the training loss at the end."""
    test, train = (MEASURES[name](runs, cells) for name in ("test_loss", "train_loss"))
    return {cell: test[cell] - train[cell] for cell in cells}


MEASURES: dict[str, Measure] = {
    "test_loss": of_curve("test_loss", _curves.final_mean),
    "train_loss": of_curve("loss", _curves.final_mean),
    "generalization_gap": measure_gap,
}


@dataclass(frozen=True, kw_only=True)
class LambFigure(ExperimentFigure):
    """A page-wide figure over FED-LAMB's experiments, each method at the best cell of its grid."""

    tuning: Tuning | None = field(default_factory=lambda: Tuning(TUNED[1:]))
    measures: Mapping[str, Measure] = field(default_factory=lambda: MEASURES)
    table: Sequence[str] = ("final_accuracy", "rise_time", "test_loss", "train_loss")
    heads: Mapping[str, str] = field(
        default_factory=lambda: dict(net="network", final_accuracy="accuracy")
    )
    result: str = "Accuracy at the end: {ends}."
    width: str = "page"


def tuned_rates(at: dict) -> str:
    """Return the tuned values of a cell, as text."""
    more = f", $\\lambda={at['lambda']}$" if at["method"] == LAMB else ""
    return f"$\\alpha={at['alpha']}${more}"


def plural_epochs(epochs: str) -> str:
    return f"{epochs} epoch{'s' * (int(epochs) > 1)}"


def accuracy_panels(title: Template, across: Sequence[str], **more: object) -> Panels:
    """Return panels of accuracy over rounds, each method at the best cell."""
    return Panels(
        lines_of(_lamb.METHODS),
        across=across,
        title=title,
        xlabel="round $r$",
        ylabel="test accuracy",
        **more,
    )
