"""Distances to the set of minimisers of a sum of separable losses: along each coordinate a point,
intervals or half-lines."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Many, maximum, minimum, positive_part, where
from fedtheory.arithmetic.work import Counted
from fedtheory.models import losses, minima
from fedtheory.typing import Number

ZERO = Fraction(0)


def from_least(
    clients: Sequence[list[dict[str, Any]]],
    weights: Sequence[Fraction],
    x: np.ndarray | Sequence[Fraction],
) -> Number | Counted:
    """Return the squared distance of a point to the set of minimisers of sum_i weights_i f_i, which
    along each coordinate consists of points, intervals and half-lines. The distance is infinite
    where there is no minimiser."""
    gaps = [_from_least(each, weights, y) for each, y in zip(zip(*clients), x)]
    return INF if any(isinstance(gap, float) for gap in gaps) else sum(gap * gap for gap in gaps)


def _from_least(
    curves: Sequence[dict[str, Any]], weights: Sequence[Fraction], y: Number | Counted
) -> Number | Counted:
    """Return the distance of y to the minimisers of a weighted sum of curves; infinite without
    any.

    The candidates are the knots and zeros of the derivative at the least height, the intervals
    between two knots on which the sum is flat, and half-lines beyond the last knots.
    """
    best, _ = minima.least_of(curves, weights)
    if isinstance(best, float):
        return INF
    outer, places, height = minima.turns(curves, weights)
    size = sum(abs(height(z)) for z in places)
    least = lambda z: same_to(height(z) - best, size)
    flat = lambda z: losses.both_true(
        least(z),
        same_to(
            sum(w * losses.slope_at(f, z) for f, w in zip(curves, weights)),
            sum(w * _slope_size(f, z) for f, w in zip(curves, weights)),
        ),
    )
    found = [where(least(z), abs(y - z), INF) for z in places]
    at = losses.sort_values([knot for f in curves for knot in losses.curve_knots(f)])
    for z, then in zip(at, at[1:]):
        between = positive_part(z - y) + positive_part(y - then)
        found.append(where(losses.both_true(flat(z), flat(then)), between, INF))
    for z, _, end, outward in outer:
        beyond_it = positive_part(outward * (z - y))
        found.append(where(losses.both_true(flat(z), same_to(end, ZERO)), beyond_it, INF))
    away = minimum(*found)
    return where(best > -INF, away, Many(np.asarray(np.nan))) if isinstance(best, Many) else away


def same_to(gap: Number | Counted, size: Number | Counted) -> Number:
    """Tell whether a difference of two numbers of the given size is 0; in a batch of floats,
    whether the difference is 0 up to rounding."""
    return abs(gap) <= 1e-12 * size if isinstance(gap, Many) else gap == 0


def _slope_size(f: Mapping[str, Any], y: Number) -> Number:
    """Return the sum of the absolute values of the terms of a curve's derivative at y."""
    parts = (abs(delta) * positive_part(y - at) for delta, at in f["bends"])
    return abs(f["slope"] * y) + abs(f["tilt"]) + sum(parts, ZERO)


def beyond_straight(curves: Sequence[dict[str, Any]], y: Number | Counted) -> Number | Counted:
    """Return the distance of y from the interval around 0 on which all of the given convex curves
    are straight; 0 inside the interval."""
    found = [ZERO]
    for f in curves:
        at = losses.curve_knots(f)
        for n, bend in enumerate(losses.second_derivatives(f)):
            curved = bend > 0
            left = at[n - 1] < 0 if n else True
            end = minimum(at[n], ZERO) if n < len(at) else ZERO
            found.append(where(losses.both_true(curved, left), positive_part(end - y), ZERO))
            right = at[n] > 0 if n < len(at) else True
            begin = maximum(at[n - 1], ZERO) if n else ZERO
            found.append(where(losses.both_true(curved, right), positive_part(y - begin), ZERO))
    return maximum(*found)
