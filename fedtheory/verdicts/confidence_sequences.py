"""Inference on a mean from draws, valid at every sample size at once: e-processes and confidence
sequences.

A bettor stakes a share of the wealth on each next draw. If the claim about the mean is true, the
wealth is a nonnegative supermartingale that starts at 1. The probability that the wealth ever
exceeds 1 / alpha is then at most alpha (Ville 1939), however often the draws are inspected. Betting
on means: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (JRSS B
2024). The variance-adaptive boundary in closed form is from Howard, Ramdas, McAuliffe and Sekhon,
"Time-uniform, nonparametric, nonasymptotic confidence sequences" (Annals of Statistics 2021). Draws
run along the last axis. The other axes are separate streams.
"""

from collections.abc import Sequence

import numpy as np

from fedtheory.errors import refuse

# Shares of the wealth that the bets stake; the bets are mixed with equal weights. If X / m has mean
# 1 + delta and variance v, the best share is about delta / v. No bet stakes the whole wealth: a
# single draw of 0 would end the game.
BETS = 0.99 * 0.5 ** np.arange(16)
# Log wealth of each bet before the first draw.
EMPTY_HANDED = np.full(BETS.size, -np.log(BETS.size))


def check_draws(x: np.ndarray, low: float = -np.inf, high: float = np.inf) -> np.ndarray:
    """Return the draws as an array; refuse them unless all are finite and in [low, high]."""
    x = np.asarray(x, dtype=float)
    if x.ndim == 0 or not x.shape[-1]:
        refuse("x", "must hold at least one draw along its last axis", x)
    if not np.all(np.isfinite(x) & (low <= x) & (x <= high)):
        refuse("x", f"must be finite and in [{low}, {high}]", x)
    return x


def _open_unit(alpha: float) -> None:
    """Refuse an alpha outside (0, 1)."""
    if not 0 < alpha < 1:
        refuse("alpha", "must lie in (0, 1)", alpha)


def log_wealth_of_bets(
    x: np.ndarray, m: float, least: float, wealth: np.ndarray = EMPTY_HANDED
) -> np.ndarray:
    """Return the log wealth (bets, ..., n) of each bet on E X > m after each draw of X >= least,
    starting from `wealth`.

    A bet of share b multiplies the wealth by 1 + b (X - m) / (m - least). Gains are capped at
    1e300.
    """
    with np.errstate(over="ignore"):  # a gain may be capped, since this only lowers the wealth
        gain = np.minimum(
            (x - m) / (m - least), 1e300
        )  # each gain is at least -1, and has mean at most 0 if E X <= m
    steps = np.log1p(np.multiply.outer(BETS, gain))
    steps[..., 0] += wealth.reshape((-1,) + (1,) * (gain.ndim - 1))
    return np.cumsum(steps, axis=-1)  # summed in order: the pieces of a stream may have any size


def against_at_most(x: np.ndarray, m: float, least: float = 0.0) -> np.ndarray:
    """Return the log of an e-process against E X <= m after each draw, for X >= least with any
    upper tail.

    Under E X <= m the process exceeds log(1 / alpha) at any time with probability at most alpha.
    The bets BETS have equal weights.
    """
    x = check_draws(x, low=least)
    if not least < m < np.inf:
        refuse("m", f"must be finite and above the least value {least}", m)
    return np.logaddexp.reduce(log_wealth_of_bets(x, m, least), axis=0)


def against_at_least(x: np.ndarray | Sequence[float], m: float, most: float) -> np.ndarray:
    """Return the log of an e-process against E X >= m after each draw, for X <= most."""
    if not -np.inf < m < most:
        refuse("m", f"must be finite and below the largest value {most}", m)
    return against_at_most(most - check_draws(x, high=most), most - m)


# ---------------------------------------------------------------- bounds by betting


def checkpoint_sizes(n: int) -> np.ndarray:
    """Return the sample sizes 1, 2, ..., n at which bounds are renewed; each step is a tenth of the
    sample size so far, at least 1."""
    times = [1]
    while times[-1] < n:
        times.append(times[-1] + max(1, times[-1] // 10))
    return np.array(times[:-1] + [n])


def _mixture_wealth(x: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log W and d log W / d log m of the mixture of bets against E X <= m, X >= 0."""
    y = x / m[..., None]
    log_W, slope = [], []
    for b, log_weight in zip(BETS, EMPTY_HANDED):
        factor = (1 - b) + b * y
        log_W.append(log_weight + np.sum(np.log(factor), axis=-1))
        slope.append(np.sum((1 - b) / factor, axis=-1) - x.shape[-1])
    log_W, slope = np.array(log_W), np.array(slope)
    total = np.logaddexp.reduce(log_W, axis=0)
    return total, np.sum(np.exp(log_W - total) * slope, axis=0)


def _largest_refuted(x: np.ndarray, alpha: float, m: np.ndarray) -> np.ndarray:
    """Return the largest mean against which the wealth is 1 / alpha, or m if m is larger; X >= 0.

    log W decreases and is convex in log m. So Newton steps from the left never pass the root, and
    the bound is valid wherever the steps stop.
    """
    n = x.shape[-1]
    # prod(1 - b + b y) >= (1 - b)^(n - 1) b max(y) gives a first m that is refuted without a
    # search.
    share = np.max(np.log(BETS) + (n - 1) * np.log1p(-BETS) + EMPTY_HANDED)
    m = np.asarray(np.maximum(m, alpha * np.exp(share) * np.max(x, axis=-1)))
    positive = m > 0
    inner, x = m[positive], x[positive]
    for _ in range(100):
        log_W, slope = _mixture_wealth(x, inner)
        step = np.maximum(log_W + np.log(alpha), 0.0) / -slope
        inner = inner * np.exp(step)
        if np.max(step, initial=0.0) < 1e-13:
            break
    m[positive] = inner
    return m


def lower_sequence(
    x: np.ndarray | Sequence[float],
    alpha: float,
    times: np.ndarray | Sequence[int],
    least: float = 0.0,
) -> np.ndarray:
    """Return the lower confidence sequence (..., times) for E X, X >= least: nondecreasing bounds
    after these numbers of draws.

    All bounds together hold with probability at least 1 - alpha. Raises InvalidInput for an alpha
    outside (0, 1), and for `times` that do not rise within the number of draws.
    """
    _open_unit(alpha)
    x, times = check_draws(x, low=least) - least, np.asarray(times)
    if not times.size or times[0] < 1 or times[-1] > x.shape[-1] or np.any(np.diff(times) <= 0):
        refuse("times", f"must rise within 1 .. {x.shape[-1]}", times)
    m, bounds = np.zeros(x.shape[:-1]), []
    for t in times:
        m = _largest_refuted(x[..., :t], alpha, m)
        bounds.append(m + least)
    return np.stack(bounds, axis=-1)


def lower_mean(x: np.ndarray | Sequence[float], alpha: float, least: float = 0.0) -> np.ndarray:
    """Return the largest mean that the wealth after the last draw refutes, for X >= least; all
    smaller means are refuted too."""
    x = check_draws(x, low=least)
    return lower_sequence(x, alpha, x.shape[-1:], least)[..., 0]


def betting_bounds(
    x: np.ndarray | Sequence[float],
    alpha: float,
    low: float,
    high: float,
    times: np.ndarray | Sequence[int],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the confidence sequence for E X, X in [low, high]: lower and upper bounds (...,
    times), intersected over the times so far."""
    _open_unit(alpha)
    x = check_draws(x, low, high)
    return lower_sequence(x, alpha / 2, times, low), -lower_sequence(-x, alpha / 2, times, -high)


# ---------------------------------------------------------------- bounds in closed form


def stitched_boundary(v: float | np.ndarray, alpha: float, c: float) -> float | np.ndarray:
    """Return the sub-gamma boundary of scale c at intrinsic time v (Howard et al. 2021, theorem 1
    and equation 10)."""
    from scipy.special import zeta

    s, eta, v_min = 1.4, 2.0, c**2
    v = np.maximum(v, v_min)
    ell = s * np.log(np.log(eta * v / v_min)) + np.log(zeta(s) / (alpha * np.log(eta) ** s))
    k_1, k_2 = (eta**0.25 + eta**-0.25) / np.sqrt(2.0), (np.sqrt(eta) + 1.0) / 2.0
    return np.sqrt(k_1**2 * v * ell + (k_2 * c * ell) ** 2) + k_2 * c * ell


def empirical_bernstein(
    x: np.ndarray | Sequence[float], alpha: float, low: float, high: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the confidence sequence for E X, X in [low, high], after each draw (Howard et al.
    2021, theorem 4)."""
    _open_unit(alpha)
    x = check_draws(x, low, high)
    t = np.arange(1, x.shape[-1] + 1)
    total = np.cumsum(x, axis=-1)
    guess = (total - x + (low + high) / 2) / t  # mean of the earlier draws and the middle
    radius = stitched_boundary(np.cumsum((x - guess) ** 2, axis=-1), alpha / 2, high - low) / t
    return (
        np.maximum.accumulate(np.maximum(total / t - radius, low), axis=-1),
        np.minimum.accumulate(np.minimum(total / t + radius, high), axis=-1),
    )
