"""Plots, tables and lines of text of curves, in one style. A function imports an optional library
only when the function is called."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import arguments, metrics
from fedtheory.errors import InvalidInput, refuse
from fedtheory.typing import Number

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

    from fedtheory.runs.result import Run

BAND = 0.1, 0.9  # quantiles of the band of 80 % of the trials
PRACTICE, EXPECTED = "#0072B2", "#D55E00"


def mean_and_band(rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the mean over trials (rows), and the ends of the band."""
    return rows.mean(axis=0), *np.quantile(rows, BAND, axis=0)


def axes_for(ax: "Axes | None") -> "Axes":
    """Return the axes to draw into: the given axes, or those of a new figure."""
    if ax is not None:
        return ax if callable(getattr(ax, "plot", None)) else refuse("ax", "must be axes", ax)
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(5.5, 3.6), layout="constrained")[1]


def draw_band(
    ax: "Axes",
    x: np.ndarray,
    mean: Number,
    low: np.ndarray,
    high: np.ndarray,
    label: str,
    color: str | None = None,
) -> None:
    """Draw the mean as a line, and the band between low and high unless the band is empty."""
    (line,) = ax.plot(x, mean, label=label, color=color)
    if np.any(high > low):
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)


def set_log_axis(ax: "Axes") -> None:
    """Set a logarithmic y axis if something plotted is positive and nothing is negative."""
    drawn = np.concatenate([np.asarray(line.get_ydata(), float) for line in ax.get_lines()])
    drawn = drawn[np.isfinite(drawn)]
    if drawn.size and drawn.min() >= 0 < drawn.max():
        ax.set_yscale("log")


def plot_run(run: Any, names: Sequence[str], ax: Any = None) -> "Axes":
    """Draw the named metrics of a Run, all recorded ones by default, with their bands; return the
    axes."""
    names = arguments.check_words("metrics", names or tuple(run.metrics), run.metrics)
    ax, rounds = axes_for(ax), np.arange(run.rounds + 1)
    for name in names:
        draw_band(ax, rounds, *mean_and_band(run.metrics[name]), f"${metrics.ALL[name].latex}$")
    ax.set_xlabel("round $t$")
    set_log_axis(ax)
    ax.legend(frameon=False)
    return ax


def plot_curves(columns: Mapping[str, Any], ax: "Axes | None" = None) -> Any:
    """Plot curves over rounds, labelled by the names of their metrics, and return the axes."""
    ax = axes_for(ax)
    for name, curve in columns.items():
        ax.plot(np.arange(len(curve)), curve, label=f"${metrics.ALL[name].latex}$")
    ax.set_xlabel("round $t$")
    set_log_axis(ax)
    ax.legend(frameon=False)
    return ax


def to_frame(columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return a DataFrame of columns by name. pandas is not a requirement of this package."""
    try:
        import pandas
    except ImportError:
        raise InvalidInput(
            "to_dataframe needs pandas, which is not installed: python -m pip install pandas"
        ) from None
    return pandas.DataFrame(columns)


def run_frame(run: "Run") -> dict[str, np.ndarray]:
    """Return a DataFrame with the columns trial, round and one for each metric."""
    trial, t = np.indices((run.trials, run.rounds + 1))
    return to_frame(
        dict(
            trial=trial.ravel(),
            round=t.ravel(),
            **{name: rows.ravel() for name, rows in run.metrics.items()},
        )
    )


def round_marks(numbers: np.ndarray, first: int = 0) -> list[int]:
    """Return the positions of 1, 2, 5, 10, 20, ..., of `first` and of the last among increasing
    numbers."""
    kept = {m * 10**p for p in range(10) for m in (1, 2, 5)} | {first, int(numbers[-1])}
    return [place for place, number in enumerate(numbers) if int(number) in kept]


def table_lines(
    heads: Sequence[str], columns: Sequence[np.ndarray], places: Sequence[int]
) -> Iterator[str]:
    """Yield the lines of a table for a terminal: a column of whole numbers first, then the columns
    of values."""
    widths = [max(len(head), 12) for head in heads]
    yield "  ".join(head.rjust(width) for head, width in zip(heads, widths))
    for place in places:
        cells = [f"{int(columns[0][place])}", *(f"{column[place]:.6g}" for column in columns[1:])]
        yield "  ".join(cell.rjust(width) for cell, width in zip(cells, widths))
