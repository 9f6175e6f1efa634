"""Code that flex's figures on MNIST and EMNIST share: accuracy gains of the schemes as a table, and
accuracies around arrivals."""

from typing import TYPE_CHECKING

import numpy as np

from fedtheory.experiments import _curves
from fedtheory.experiments.records import flex_arrivals, flex_schemes
from fedtheory.figures import _findings, _flex, _table
from fedtheory.figures._experiment import PRINTED, ExperimentFigure
from fedtheory.figures._panels import Line, draw_curves
from fedtheory.figures._record import Arrays, Table
from fedtheory.figures._runs import Cells, Runs, Source, is_smaller_scale, of_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STAND_IN = (
    "on stand-ins (handwriting of fonts) with the twins of McMahan's networks, not on the paper's "
    "data and networks"
)
COORDINATES = ["data", "split", "traces", "scheme"]
SPLITS = {"IID": "IID", "NIID": "non-IID"}
GAIN, PAIRS = "accuracy_gain_percent", {"B over A": ("B", "A"), "C over B": ("C", "B")}
REBOOTS = tuple(flex_arrivals.BOOST)
LOOKS = {
    "fast": Line("fast reboot", "flex_c", {}, dict(linestyle="-")),
    "vanilla": Line("vanilla reboot", "flex_b", {}, dict(linestyle="--")),
}


def judge_printed(data: Arrays, cells: dict) -> dict:
    """Return the outcomes of printed cells, given {(quantity, which): values}; on stand-in data no
    cell is judged."""
    if not is_smaller_scale(data):
        return _flex.judge_printed(cells)
    return {_flex.PRINTED[key][0]: _findings.not_judged(PRINTED) for key in cells}


# Tables 3 (a) and (b)

HEADER = [
    r"$|\mathcal{T}|$",
    *(f"{split}: {pair}" for split in SPLITS.values() for pair in ("B–A", "C–B")),
]


def accuracy_gains(runs: Runs) -> dict[tuple[str, str], np.ndarray]:
    """Return {(quantity, which): accuracy gains over seeds, in percentage points} for each printed
    cell that was run."""
    found = {
        (quantity, which): values
        for pair, (one, other) in PAIRS.items()
        for (quantity, which, _), values in runs.measure_cells(
            Cells(
                "percent",
                f"scheme {pair}, {{data}} {{split}} |T|={{traces}}",
                match=dict(scheme=one),
                minus=dict(scheme=other),
                called=GAIN,
            )
        ).items()
    }
    return {key: found[key] for key in _flex.PRINTED if key in found}


def describe_gains(found: dict[tuple[str, str], np.ndarray]) -> str:
    """Return a text with the mean gains, the paper's in brackets."""

    def mean_gains(pair: str, split: str) -> str:
        keys = [key for key in found if f"{pair}, " in key[1] and f" {split} " in key[1]]
        ours = np.mean([found[key] for key in keys])
        paper = np.mean([_flex.PRINTED[key][1] for key in keys])
        return f"{ours:.1f} ({paper:.1f})".replace("-", "−")

    return "; ".join(
        f"{pair}: "
        + ", ".join(f"{words} {mean_gains(pair, split)}" for split, words in SPLITS.items())
        for pair in PAIRS
    )


def table3_figure(name: str, part: str, minutes: float) -> ExperimentFigure:
    """Build the figure of a part of table 3."""

    def judge_findings(data: Arrays) -> dict:
        """Judge the cells of this part; cells that were not run enter as NaN."""
        mine = [key for key in _flex.PRINTED if key[0] == GAIN and f", {name} " in key[1]]
        absent = {key: np.full(5, np.nan) for key in mine}
        return judge_printed(data, absent | accuracy_gains(figure.read_runs(data)))

    def table_lines(data: Arrays) -> list[list]:
        outcomes, runs = judge_findings(data), figure.read_runs(data)
        shown = {
            key: _flex.make_cell(key, _table.spread_of(values), outcomes)
            for key, values in accuracy_gains(runs).items()
        }
        return [
            [count, *(cell for (_, w), cell in shown.items() if w.endswith(f"|T|={count}"))]
            for count in runs.distinct_values("traces")
        ]

    def describe_result(data: Arrays) -> str:
        gains = describe_gains(accuracy_gains(figure.read_runs(data)))
        return f"Mean gains in points, the paper's in brackets. {gains}."

    def write_note(data: Arrays) -> str:
        note = (
            f"Points of test accuracy, mean ± deviation of {data['test_accuracy'].shape[1]} seeds. {_table.MARKED}.\n"
            f"Mean gains, the paper’s in brackets. {describe_gains(accuracy_gains(figure.read_runs(data)))}."
        )
        if is_smaller_scale(data):
            note += "\nA stand-in for the data and a twin of the network: the printed numbers are not compared."
        return note

    figure = ExperimentFigure(
        cites=f"flex, table 3 ({part})",
        title=f"Schemes A, B and C as devices become heterogeneous, {name}",
        minutes=minutes,
        source=Source(flex_schemes.EXPERIMENT, [f"table3{part}"], COORDINATES),
        measures=dict(percent=of_curve("test_accuracy", _curves.final_mean, 100)),
        printed=Table(HEADER, table_lines, write_note),
        findings=judge_findings,
        says=describe_result,
        text="Differences of test accuracy in points; $|\\mathcal{T}|$ is the number of traces that "
        "devices follow, at 1 all complete their work and the schemes are one algorithm. "
        "Mean $\\pm$ deviation over seeds.",
        stand_in=STAND_IN,
        width="page",
        height=2.4,
    )
    return figure


# Arrivals


def arrival_source(part: str) -> Source:
    """Return the runs around an arrival, of several lengths."""
    coordinates = ["data", "tau_0", "reboot", "arrived"]
    return Source(flex_arrivals.EXPERIMENT, [part], coordinates, lengths=True)


def draw_reboot(ax: "Axes", reboot: str, curves: np.ndarray) -> None:
    """Draw the accuracy of a run (seeds, rounds) with a kind of reboot."""
    draw_curves(ax, np.arange(curves.shape[1]), curves, LOOKS[reboot])


def rounds_to_rebound(runs: Runs, data: str, tau_0: str, reboot: str) -> np.ndarray:
    """Return the number of rounds (seeds,) until the accuracy is back at its value before an
    arrival; inf where the accuracy never comes back."""
    goal = runs.curves_of(data, tau_0, "vanilla", 0)[:, -2]  # of round tau_0 - 1
    later = runs.curves_of(data, tau_0, reboot, 1)[:, int(tau_0) + 1 :]
    return np.array(
        [_flex.rounds_to_hit(curve >= g, later.shape[1]) for curve, g in zip(later, goal)]
    )


def rounds_after_arrival(runs: Runs, data: str, tau_0: str) -> int:
    """Return the number of rounds after the arrival."""
    return int(runs.rounds_of(data, tau_0, "fast", 1)[-1]) - int(tau_0)
