"""Reader of measured symbols: from curves over rounds to a number for each T.

A curve has a row for each trial (a single row for an exact expectation) and a column for each of
the points x_0, ..., x_R.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from fedtheory import metrics
from fedtheory.comparison.objectives import LOSSES, Objective, measured_loss
from fedtheory.comparison.setup import is_steady
from fedtheory.errors import InvalidInput
from fedtheory.problem import Problem
from fedtheory.symbols.mixed import CONTRACTIONS
from fedtheory.typing import Number

# {name: (first, last) point that a Measure reads after T rounds}; "t" is the start of the last
# round and "t+1" its end.
SPAN = {
    "0": lambda T: (0, 0),
    "1": lambda T: (1, 1),
    "t": lambda T: (T - 1, T - 1),
    "T-1": lambda T: (T - 1, T - 1),
    "t+1": lambda T: (T, T),
    "T": lambda T: (T, T),
    "min": lambda T: (0, T - 1),
    "min_T": lambda T: (0, T),
    "mean": lambda T: (0, T - 1),
    "mean_T": lambda T: (0, T),
}


def at_end(how: str, values: np.ndarray, T: int) -> Number:
    """Return the columns of `values` (rows, rounds + 1) that count after T rounds; several columns
    for a minimum, which stands for the least expectation."""
    first, last = SPAN[how](T)
    kept = values[:, first : last + 1]
    return kept.mean(axis=1, keepdims=True) if how.startswith("mean") else kept


def over_rounds(
    how: str, values: np.ndarray, T: np.ndarray, guide: np.ndarray | None = None
) -> Number:
    """Return an array (rows, len(T)) of the measured quantity after each of T rounds. A minimum
    means the least expectation: each row is read in the round in which the exact curve `guide` (1,
    rounds + 1) is least; without `guide`, in the round in which the mean over rows is least, which
    is below the least expectation on average."""
    first, last = SPAN[how](T)
    if how.startswith("mean"):
        return np.cumsum(values, axis=1)[:, last] / (last + 1)
    if how in ("min", "min_T"):
        curve = (values if guide is None else guide).mean(axis=0)
        least = np.minimum.accumulate(curve)
        fresh = np.append(True, curve[1:] < least[:-1])
        at = np.maximum.accumulate(np.where(fresh, np.arange(len(curve)), 0))
        return values[:, at[last]]
    return values[:, np.broadcast_to(last, np.shape(T))]


# ---------------------------------------------------------------- derived quantities


class MeasureInputs(NamedTuple):
    """The inputs from which a quantity is computed: curves by metric, and points (rows, rounds + 1,
    d) or None."""

    problem: Problem
    algorithm: str
    h: tuple[Any, ...]
    numbers: dict[str, Any]  # the claim's letters
    curves: dict[str, Any]
    points: np.ndarray
    idle: int = 0  # rounds before the first point in which nothing moved
    T: np.ndarray = np.array([])  # the numbers of rounds at which the quantity is read


class Derived(NamedTuple):
    """A quantity that is computed from a run instead of recorded by it."""

    read: Any  # (Seen) -> curve
    needs: tuple[Any, ...] = ()  # the metrics of a run that `read` needs
    points: bool = False  # whether `read` needs the points of a run
    start: bool = False  # whether the start alone determines the quantity


def losses_along(f: Objective, points: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Return the losses of points (rows, rounds + 1, d) read after T rounds; NaN elsewhere."""
    found = np.full(points.shape[:2], np.nan)
    for t in np.unique([T - 1, T]):
        found[:, t] = [f.loss(x) for x in points[:, t]]
    return found


def _weighted_means(points: np.ndarray, ratio: float = 1.0, whole: bool = True) -> Number:
    """Return the points' weighted mean with weights ratio^-t: at T over x_0, ..., x_T, or over x_0,
    ..., x_(T-1) unless `whole`."""
    found, total, weight = np.full(points.shape, np.nan), np.zeros_like(points[:, 0]), 0.0
    for t in range(points.shape[1]):
        if not whole and t:
            found[:, t] = total / weight
        total, weight = ratio * total + points[:, t], ratio * weight + 1
        if whole:
            found[:, t] = total / weight
    return found


def loss_of_mean(seen: MeasureInputs) -> Number:
    """Return F at the mean of x_0, ..., x_(T-1), read at T."""
    means = _weighted_means(seen.points, whole=False)
    means[:, 0] = seen.points[:, 0]
    return losses_along(measured_loss(seen.problem, "loss"), means, seen.T)


def mixed_loss_of_mean(seen: MeasureInputs) -> Number:
    """Return the mixed loss F + f_0 at the mean of x_0, ..., x_T, read at T."""
    means = _weighted_means(seen.points)
    return losses_along(measured_loss(seen.problem, "mixed_loss"), means, seen.T)


def _recursion_factor(seen: MeasureInputs) -> Number:
    """Return 1 - c, where c is the share of the squared distance that a round's recursion removes."""
    at = seen.numbers
    step = np.prod([float(at[name]) for name in ("K", "eta_s", "eta")]) * float(at.get("eta_m", 1))
    return 1 - float(CONTRACTIONS[seen.algorithm]) * float(at["mu"]) * step


def mixed_loss_of_weighted_mean(seen: MeasureInputs) -> Number:
    """Return the mixed loss of the points' weighted mean with weights (1 - c)^-t."""
    means = _weighted_means(seen.points, _recursion_factor(seen))
    return losses_along(measured_loss(seen.problem, "mixed_loss"), means, seen.T)


def mixed_loss_of_decreasing_mean(seen: MeasureInputs) -> Number:
    """Return the mixed loss of the points' weighted mean with weights (1 - c)^t."""
    means = _weighted_means(seen.points, 1 / _recursion_factor(seen))
    return losses_along(measured_loss(seen.problem, "mixed_loss"), means, seen.T)


def sq_mixed_distance(seen: MeasureInputs) -> Number:
    """Return ||x_t - x*||^2 for the minimiser x* of F + f_0, as (rows, rounds + 1)."""
    star = measured_loss(seen.problem, "mixed_loss").lowest().x
    return np.sum((seen.points - star) ** 2, axis=2)


def transfer_lag(seen: MeasureInputs) -> Number:
    """Return 2 ||g - grad f_f(x*)||^2 plus the same term for f_c, where g are the gradients that
    the first round adds: zero, or the gradients at x^(0) where earlier rounds moved nothing."""
    problem = seen.problem
    star = measured_loss(problem, "mixed_loss").lowest().x
    sides = (problem.grad, lambda x: problem.client_grad(0, x))
    start = lambda x: sum(
        2 * np.sum(((side(x) if seen.idle else 0.0) - side(star)) ** 2) for side in sides
    )
    return np.array([[start(row[0])] for row in seen.points])


def least_sq_grad_norm(seen: MeasureInputs) -> Number:
    """Return min_(s <= t) ||grad F(x_s)||^2 in each row."""
    return np.minimum.accumulate(seen.curves["sq_grad_norm"], axis=1)


def grad_by_root_v(seen: Any) -> Number:
    """Return ||grad f / v^(1/4)||^2 at the end of each round, in FED-LAMB's count of rounds.

    Runs store no second moments v. Where epsilon >= M^2 for a global bound M on gradients'
    coordinates, v stays at its start epsilon, so that the quantity is ||grad f||^2 / sqrt(epsilon);
    anything else is refused.
    """
    if not is_steady(seen.problem, seen.h):
        raise InvalidInput(
            "a run stores no second moments, so that a quantity scaled by them is known only where they stay "
            f"at their start; this needs epsilon >= M^2, which {seen.problem.name} at epsilon="
            f"{seen.h.epsilon:g} is not known to meet"
        )
    ends = seen.curves["sq_grad_norm"][:, 1:] / np.sqrt(seen.h.epsilon)
    return np.column_stack([ends, np.full(len(ends), np.nan)])


DERIVED = dict(
    loss_of_mean=Derived(loss_of_mean, points=True),
    mixed_loss_of_mean=Derived(mixed_loss_of_mean, points=True),
    mixed_loss_of_weighted_mean=Derived(mixed_loss_of_weighted_mean, points=True),
    mixed_loss_of_decreasing_mean=Derived(mixed_loss_of_decreasing_mean, points=True),
    sq_mixed_distance=Derived(sq_mixed_distance, points=True),
    transfer_lag=Derived(transfer_lag, points=True, start=True),
    least_sq_grad_norm=Derived(least_sq_grad_norm, ("sq_grad_norm",)),
    grad_by_root_v=Derived(grad_by_root_v, ("sq_grad_norm",)),
)


POINTWISE = (  # the metrics that `point_curves` computes
    "sq_grad_norm",
    "sq_distance",
    "sq_server_grad_norm",
    "grad_inner",
    "sq_xi",
    "sq_tilde_grad_norm",
    "sq_mixed_grad_norm",
)


def point_curves(problem: Problem, points: np.ndarray, gamma: float) -> Number:
    """Return the curves of the quantities that points determine: their gradients and distances."""
    points = points[:, 0]
    grad = np.array([problem.grad(x) for x in points])
    found = dict(sq_grad_norm=np.sum(grad**2, axis=1))
    if problem.minimize is not None:
        found["sq_distance"] = np.sum((points - problem.minimizer()) ** 2, axis=1)
    if problem.has_server:
        server = np.array([problem.client_grad(0, x) for x in points])
        found.update(
            sq_server_grad_norm=np.sum(server**2, axis=1),
            grad_inner=np.sum(grad * server, axis=1),
            sq_xi=np.sum((server - grad) ** 2, axis=1),
            sq_tilde_grad_norm=np.sum((grad + gamma * server) ** 2, axis=1) / (1 + gamma) ** 2,
            sq_mixed_grad_norm=np.sum((grad + server) ** 2, axis=1),
        )
    return {name: values[:, None] for name, values in found.items()}


def is_readable(how: Any) -> Number:
    """Tell whether a Measure can be computed from a run's rounds."""
    return how.at in SPAN and (how.metric in metrics.ALL or how.metric in DERIVED)


def required_metrics(entries: Iterable[Any]) -> Number:
    """Return (metrics, whether the path of points is needed): the data that a run must store for
    these entries."""
    wanted, path = [], False
    for entry in entries:
        how = entry.measure
        if entry.own is not None:
            path = True
            continue
        wanted += DERIVED[how.metric].needs if how.metric in DERIVED else (how.metric,)
        path = path or how.metric in DERIVED and DERIVED[how.metric].points and how.at != "0"
    return tuple(dict.fromkeys(wanted)), path


def at_a_point(how: Any) -> Number:
    """Tell whether a Measure is computed from the start alone, before anything runs."""
    if how.metric in DERIVED:
        return how.at == "0" or DERIVED[how.metric].start
    return how.at == "0" and (how.metric in LOSSES or how.metric in POINTWISE)


def metric_curve(how: Any, seen: MeasureInputs) -> Number:
    """Return an array (rows, rounds + 1) of a Measure's metric."""
    return DERIVED[how.metric].read(seen) if how.metric in DERIVED else seen.curves[how.metric]
