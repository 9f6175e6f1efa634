"""Least values and minimisers of weighted sums of separable losses with sharp corners.

A sum of piecewise quadratic curves is piecewise quadratic, so the least value lies at a knot, at a
zero of the derivative inside a piece, or beyond the last knot; all candidates are compared. A sum
is unbounded below where an outer piece has negative curvature, or none and an outward slope below
0. Soft corners have no closed form and give no number. The functions accept floats in batches and
exact numbers alike.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Many, minimum, vector, where
from fedtheory.arithmetic.work import Counted
from fedtheory.models import losses
from fedtheory.models.losses import ZERO
from fedtheory.typing import Number

# number of knots from which the least value of a curve is found in one pass over the knots
MANY = 8


def infimum_of(parts: Any, weights: Sequence[Fraction]) -> Any:
    """Return the infimum over x of sum_i weights_i f_i(x), -infinity where the sum is not bounded
    below. Corners must be sharp."""
    return least_point(parts, weights)[0]


def least_point(parts: Any, weights: Sequence[Fraction]) -> Any:
    """Return (infimum, minimiser) of sum_i weights_i f_i. The minimiser has no meaning where the
    infimum is not attained."""
    total, point = ZERO, []
    for curves in zip(*parts):
        if any(f.get("soft") for f in curves):
            return Many(np.asarray(np.nan)), vector([Many(np.asarray(np.nan)) for _ in parts[0]])
        lowest, place = least_of(curves, weights)
        total = -INF if isinstance(total, float) or isinstance(lowest, float) else total + lowest
        point.append(place)
    return total, vector(point)


def least_of(
    curves: Sequence[dict[str, Any]], weights: Sequence[Fraction]
) -> tuple[Number | Counted, Number | Counted]:
    """Return (infimum, minimiser) of sum_i weights_i f_i along one coordinate.

    The infimum is -infinity where an outer piece decreases outwards without end. A single curve
    with many knots is followed in one pass, because evaluating the height at each knot costs
    quadratic time.
    """
    if len(curves) == 1 and len(curves[0]["bends"]) >= MANY:
        return least_along(curves[0], weights[0])
    outer, places, height = turns(curves, weights)
    place = places[0]
    best = height(place)
    for y in places[1:]:
        found = height(y)
        better = found < best
        place, best = where(better, y, place), minimum(best, found)
    for y, g, end, outward in outer:
        best = _unbounded_below(losses.both_true(outward * g < 0, losses.negate(end > 0)), best)
        best = _unbounded_below(end < 0, best)
    return best, place


def turns(
    curves: Sequence[dict[str, Any]], weights: Sequence[Fraction]
) -> tuple[Any, list[Number | Counted], Callable[..., Any]]:
    """Return (outer, places, height) of a weighted sum of curves. `outer` holds for the first and
    the last knot the place, the derivative there, the second derivative beyond and the outward
    sign; `places` are the knots, then the zeros of the derivative; `height` is the sum's value as a
    function."""
    at = losses.sort_values([knot for f in curves for knot in losses.curve_knots(f)] or [ZERO])
    slope = lambda y: sum(w * losses.slope_at(f, y) for f, w in zip(curves, weights))
    height = lambda y: sum(w * losses.loss_value([f], [y]) for f, w in zip(curves, weights))
    ends = [
        sum(w * losses.second_derivatives(f)[end] for f, w in zip(curves, weights))
        for end in (0, -1)
    ]
    gs = [slope(y) for y in at]
    places = [*at]
    for y, h, z, k in zip(at, gs, at[1:], gs[1:]):  # a zero of the derivative between two knots
        places.append(
            where(losses.changes_sign(h, k), y + (z - y) * losses.safe_ratio(-h, k - h), y)
        )
    outer = ((at[0], gs[0], ends[0], -1), (at[-1], gs[-1], ends[1], 1))
    for y, g, end, outward in outer:  # beyond the last knot
        places.append(
            where(losses.both_true(outward * g < 0, end > 0), y - losses.safe_ratio(g, end), y)
        )
    return outer, places, height


def least_along(f: Mapping[str, Any], weight: Fraction) -> tuple[Number, Fraction]:
    """Return what `least_of` returns, for a single curve of many pieces, in one pass over the
    knots.

    Slope and height are carried from knot to knot: on a piece of curvature b from y to z, the slope
    changes by b (z - y), and the height by the mean of both slopes times z - y.
    """
    bends = losses.by_place(f["bends"])
    y, bend = bends[0][1], f["slope"]
    g = bend * y + f["tilt"]
    h, first = bend * y * y / 2 + f["tilt"] * y, (y, g, bend)
    place, best, start = y, h, h
    for (delta, _), (_, z) in pairwise(bends):
        bend = bend + delta
        k = g + bend * (z - y)
        inside, away = losses.changes_sign(g, k), losses.safe_ratio(-g, bend)
        for good, x, value in (
            (inside, y + away, h + g * away / 2),
            (True, z, h + (g + k) * (z - y) / 2),
        ):
            better = losses.both_true(good, value < best)
            place, best = where(better, x, place), where(better, value, best)
        y, g, h = z, k, h + (g + k) * (z - y) / 2
    bend = losses.second_derivatives(dict(f, bends=bends))[-1]
    tops = ((*first, start), (y, g, bend, h))
    for (x, k, end, top), outward in zip(tops, (-1, 1)):  # beyond the last knot
        away = losses.safe_ratio(-k, end)
        better = losses.both_true(
            losses.both_true(outward * k < 0, end > 0), top + k * away / 2 < best
        )
        place, best = where(better, x + away, place), where(better, top + k * away / 2, best)
    for (_, k, end, _), outward in zip(tops, (-1, 1)):
        best = _unbounded_below(losses.both_true(outward * k < 0, losses.negate(end > 0)), best)
        best = _unbounded_below(end < 0, best)
    return (best if isinstance(best, float) else weight * best), place


def _unbounded_below(truth: Number, best: Number | Counted) -> Number | Counted:
    """Return -infinity where `truth` holds, `best` elsewhere; in a batch, element by element."""
    if isinstance(truth, Many):
        return where(truth, Many(np.asarray(-INF)), best)
    return -INF if truth else best
