"""The eight participation traces of flex, table 2: the distributions of how many of the E local
steps a device completes.

The paper gives each trace's mean and standard deviation as percentages of E, not its distribution.
Here s has exactly that mean and variance and, among all such distributions on the grid, the largest
entropy: P(s) proportional to exp(a s + b s^2). A grid of few steps has no distribution of so small
a variance; the trace is then the one of least variance for its mean, on the two steps around it.
The first five traces have no inactive rounds, so their grid is {1, ..., E}; that of the others is
{0, ..., E}.
"""

from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from fedtheory import rng
from fedtheory.errors import InvalidInput, refuse
from fedtheory.participation import Work
from fedtheory.typing import Number

# name -> mean and standard deviation in percent of E, and the least s.
TABLE = {
    "T_0": (100.0, 0.0, 1),
    "T_30": (75.3, 14.8, 1),
    "T_50": (67.2, 11.3, 1),
    "T_70": (57.2, 11.7, 1),
    "T_90": (56.3, 14.8, 1),
    "T_hi": (82.5, 23.3, 0),
    "T_mi": (74.1, 22.3, 0),
    "T_lo": (51.2, 18.3, 0),
}
NAMES = tuple(TABLE)


def least_variance(mean: float, low: int, high: int) -> np.ndarray:
    """Return the probabilities of low..high with this mean and positive only on the two grid points
    around the mean."""
    pmf = np.zeros(high - low + 1)
    floor = min(int(np.floor(mean)), high - 1) if high > low else high
    pmf[floor - low] = 1.0
    if high > low:
        pmf[floor - low : floor - low + 2] = 1.0 - (mean - floor), mean - floor
    return pmf


def largest_entropy(mean: float, variance: float, low: int, high: int) -> np.ndarray:
    """Return the probabilities of low..high with this mean and variance that are proportional to
    exp(a s + b s^2).

    (a, b) minimises the convex log-partition function less a E[s] + b E[s^2]: damped Newton steps
    on scaled moments, from the normal law's b = -1/2.
    """
    scale = np.sqrt(variance)
    z = (np.arange(low, high + 1) - mean) / scale
    moments = np.stack([z, z**2])
    target = np.array([0.0, 1.0])

    def at(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        exponents = parameters @ moments
        top = exponents.max()
        weights = np.exp(exponents - top)
        return np.log(weights.sum()) + top - parameters @ target, weights / weights.sum()

    parameters = np.array([0.0, -0.5])
    value, pmf = at(parameters)
    for _ in range(500):
        gap = moments @ pmf - target
        if abs(gap).max() < 1e-14:
            break
        centred = moments - (moments @ pmf)[:, None]
        step = np.linalg.lstsq((centred * pmf) @ centred.T, gap, rcond=None)[0]
        size = 1.0
        while size > 1e-10:
            trial, there = at(parameters - size * step)
            halved = (
                abs(moments @ there - target).max() < abs(gap).max() / 2
            )  # where values agree to rounding
            if halved or trial <= value - 1e-4 * size * gap @ step:
                break
            size /= 2
        else:
            break  # rounding decides from here on
        parameters, value, pmf = parameters - size * step, trial, there
    return pmf


@cache
def pmf(name: str, E: int) -> np.ndarray:
    """Return the probabilities of s = 0..E under one trace; raises InvalidInput for E = 1 where a
    trace has no inactive rounds."""
    if name not in TABLE:
        refuse("trace", f"must be one of {', '.join(NAMES)}", name)
    percent, deviation, low = TABLE[name]
    mean, variance = percent / 100 * E, (deviation / 100 * E) ** 2
    if not low <= mean:
        raise InvalidInput(
            f"trace {name} needs E >= 2: a device that is never inactive cannot complete "
            f"{percent}% of one step on average; got E={E}"
        )
    part = mean - np.floor(mean)
    found = np.zeros(E + 1)
    feasible = variance > part * (1 - part)
    found[low:] = (
        largest_entropy(mean, variance, low, E) if feasible else least_variance(mean, low, E)
    )
    found.setflags(write=False)
    return found


class _Trace(NamedTuple):
    """The probabilities of one trace for all devices."""

    name: str

    def __call__(self, N: int, E: int) -> np.ndarray:
        return pmf(self.name, E)


class _Traces(NamedTuple):
    """The probabilities of several traces, one for each device."""

    count: int
    seed: int
    names: tuple[Any, ...]

    def __call__(self, N: int, E: int) -> tuple[np.ndarray, np.ndarray]:
        if self.names is not None and len(self.names) != N:
            refuse("names", f"must give each of {N} devices a trace", self.names)
        if self.names is None:
            used, kinds = _draw_traces(N, self.count, self.seed)
            names = [NAMES[k] for k in used]
        else:
            names, kinds = np.unique(self.names, return_inverse=True)
        return np.stack([pmf(name, E) for name in names]), kinds


def trace(name: str) -> Work:
    """Return the Work in which every device follows the trace called `name`."""
    if name not in TABLE:
        refuse("trace", f"must be one of {', '.join(NAMES)}", name)
    return Work(f"trace {name}", _Trace(name))


def assignment(N: int, count: int = 8, seed: int = 0) -> list[str]:
    """Return the names of the traces of N devices, each drawn uniformly from the first `count`
    traces of table 2 (flex, section 5.1)."""
    used, kinds = _draw_traces(N, count, seed)
    return [NAMES[k] for k in used[kinds]]


@lru_cache(2)
def _draw_traces(N: int, count: int, seed: int) -> tuple[np.ndarray, ...]:
    """Return (the indices in NAMES that were drawn, each device's index into these)."""
    return np.unique(
        rng.host_generator(seed, "traces").integers(count, size=N), return_inverse=True
    )


def traces(count: Number = 8, seed: Number = 0, names: Any = None) -> Work:
    """Return the Work in which each device follows one of the first `count` traces (|T| = count in
    table 3), drawn by `seed`, or the trace that `names` lists for the device.

    Raises InvalidInput for a count beyond the eight traces, and for an unknown name.
    """
    if (
        isinstance(count, bool)
        or not isinstance(count, (int, np.integer))
        or not 1 <= count <= len(NAMES)
    ):
        refuse("count", f"must be an integer 1..{len(NAMES)}", count)
    if names is not None:
        for name in names:
            trace(name)
        names = tuple(names)
    return Work(
        f"traces {count} by seed {seed}" if names is None else f"traces {', '.join(names)}",
        _Traces(count, seed, names),
    )
