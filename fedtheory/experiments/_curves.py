"""The statistics that papers report of a curve of test accuracy: its final value, its rise time,
its early value, its oscillation."""

from collections.abc import Sequence

import numpy as np

WINDOW = 0.02  # FSL's rolling window: 20 of 1000 rounds
HIGH = 0.9  # rise time: the first round at 90 % of the final accuracy
BEGINNING, END = 0.1, 0.5  # of the rounds: what early accuracy and oscillation are read from


def rolling_mean(curve: np.ndarray | Sequence[float], window: float = WINDOW) -> np.ndarray:
    """Return the rolling means of a curve. The window is a share of all measurements, and shorter
    at the beginning."""
    curve = np.asarray(curve, float)
    width = max(1, round(window * len(curve)))
    sums = np.concatenate([[0.0], np.cumsum(curve)])
    ends = np.arange(1, len(curve) + 1)
    begins = np.maximum(0, ends - width)
    return (sums[ends] - sums[begins]) / (ends - begins)


def final_mean(curve: np.ndarray) -> float:
    """Return the rolling mean at the end of a curve."""
    return float(rolling_mean(curve)[-1])


def rounds_to_goal(curve: np.ndarray, goal: float | None = None) -> float:
    """Return the share of the rounds after which the rolling mean first reaches 90 % of its final
    value (or `goal`); inf if it never does."""
    means = rolling_mean(curve)
    hits = means >= (HIGH * means[-1] if goal is None else goal)
    return float(np.argmax(hits) / max(1, len(means) - 1)) if hits.any() else np.inf


def early_mean(curve: np.ndarray) -> float:
    """Return the mean over the first tenth of the rounds."""
    return float(np.mean(curve[: max(2, round(BEGINNING * len(curve)))]))


def curve_oscillation(curve: np.ndarray) -> float:
    """Return the standard deviation of the curve from its rolling mean, over the second half."""
    apart = np.asarray(curve, float) - rolling_mean(curve, 2.5 * WINDOW)
    return float(apart[round(END * len(apart)) :].std())


MEASURES = dict(
    final_accuracy=final_mean,
    rise_time=rounds_to_goal,
    early_accuracy=early_mean,
    oscillation=curve_oscillation,
)
