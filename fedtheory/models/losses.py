"""Losses for which everything is known exactly: separable, piecewise quadratic, with softened
corners on request.

A loss is a list of curves, one for each coordinate, as plain data for a document. The data
{"slope": a, "tilt": c, "bends": [[delta, at], ...], "soft": [[height, rate, at], ...]} stand for

    a x^2 / 2 + c x + sum delta max(x - at, 0)^2 / 2 + sum height log(1 + exp(rate (x - at))),

so that Huber-like, one-sided, logistic and non-convex losses take a few numbers. The numbers are
those of `arithmetic`.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import (
    Many,
    ends_of,
    exp,
    log,
    maximum,
    minimum,
    positive_part,
    vector,
    where,
)
from fedtheory.arithmetic.work import Counted
from fedtheory.schema import entries, list_of, row
from fedtheory.typing import Number

ZERO = Fraction(0)
BENDS = list_of(row("number", "number"), rising=1)
# Schemas of a curve with sharp corners only, and of one with soft corners as well
CURVE, SOFTENED = (
    entries(
        dict(slope="number", tilt="number", bends=BENDS),
        dict(soft=list_of(row("number", "number", "number"), most)),
    )
    for most in (0, None)
)
LOSS = list_of(CURVE, "d")


def make_curve(
    slope: Number | Counted,
    tilt: Number | Counted = ZERO,
    bends: Sequence[tuple[Number | Counted, Number | Counted]] = (),
    soft: Sequence[list[Many | Counted]] = (),
) -> dict[str, Any]:
    """Return a curve a x^2 / 2 + c x with slope a, tilt c, bends and soft corners, as plain
    data."""
    return dict(
        slope=slope, tilt=tilt, bends=[list(b) for b in bends], soft=[list(s) for s in soft]
    )


def curve_from_pieces(
    slopes: Sequence[Number | Counted],
    knots: Sequence[Number | Counted],
    tilt: Number | Counted = ZERO,
    soft: Sequence[list[Many | Counted]] = (),
) -> dict[str, Any]:
    """Build a curve from its second derivatives between increasing knots."""
    return make_curve(
        slopes[0],
        tilt,
        [(after - before, at) for before, after, at in zip(slopes, slopes[1:], knots)],
        soft,
    )


def loss_value(
    loss: Sequence[dict[str, Any]], x: np.ndarray | Sequence[Number | Counted]
) -> Number | Counted:
    """Return f(x), the sum of a loss's curves over the coordinates of x."""
    total = ZERO
    for f, y in zip(loss, x):
        total = total + f["slope"] * y * y / 2 + f["tilt"] * y
        for delta, at in f["bends"]:
            over = positive_part(y - at)
            total = total + delta * over * over / 2
        for height, rate, at in f.get("soft", ()):
            total = total + height * _softplus(rate * (y - at))
    return total


def loss_gradient(loss: Sequence[dict[str, Any]], x: np.ndarray | Sequence[Number]) -> np.ndarray:
    """Return grad f(x), one derivative for each coordinate."""
    return vector([slope_at(f, y) for f, y in zip(loss, x)])


def slope_at(f: Mapping[str, Any], y: Number | Counted) -> Number | Counted:
    """Return the derivative of a curve at y."""
    g = f["slope"] * y + f["tilt"]
    for delta, at in f["bends"]:
        g = g + delta * positive_part(y - at)
    for height, rate, at in f.get("soft", ()):
        g = g + height * rate / (1 + exp(-rate * (y - at)))
    return g


def _softplus(z: Number) -> Number:
    """Return log(1 + exp(z))."""
    # log(1 + e^z) = max(z, 0) + log(1 + e^-|z|): no overflow
    return positive_part(z) + log(1 + exp(-abs(z)))


def second_derivatives(f: Mapping[str, Any]) -> list[Number | Counted]:
    """Return the second derivatives of a curve's pieces, from left to right."""
    found, size = [f["slope"]], abs(f["slope"])
    for delta, _ in f["bends"]:
        size = size + abs(delta)
        found.append(remove_rounding(found[-1] + delta, size))
    return found


def remove_rounding(total: Number | Counted, size: Number | Counted) -> Number | Counted:
    """Return a sum whose terms have the given size. In a batch, the sum is 0 where rounding alone
    can account for its value."""
    return where(abs(total) <= 1e-14 * size, ZERO, total) if isinstance(total, Many) else total


def curve_knots(f: Mapping[str, Any]) -> list[Number | Counted]:
    """Return the places of a curve's sharp corners, from left to right."""
    return [at for _, at in f["bends"]]


def curvature_range(loss: Sequence[dict[str, Any]]) -> tuple[Number | Counted, Number | Counted]:
    """Return (least, largest) second derivative over all points; where corners are soft, an
    interval that contains both."""
    low, high = None, None
    for f in loss:
        # The second derivative of a soft corner lies between 0 and height rate^2 / 4.
        soft = [height * rate * rate / 4 for height, rate, _ in f.get("soft", ())]
        least = minimum(*second_derivatives(f)) + sum((minimum(s, ZERO) for s in soft), ZERO)
        most = maximum(*second_derivatives(f)) + sum((positive_part(s) for s in soft), ZERO)
        low = least if low is None else minimum(low, least)
        high = most if high is None else maximum(high, most)
    return low, high


def smoothness_of(*losses: Sequence[dict[str, Any]]) -> Number | Counted:
    """Return the least L for which every loss's gradient is L-Lipschitz, or an upper bound of this
    L where corners are soft."""
    ends = [end for loss in losses for end in curvature_range(loss)]
    return maximum(*(abs(end) for end in ends))


def convexity_of(*losses: Sequence[dict[str, Any]]) -> Number | Counted:
    """Return the largest mu for which each loss less mu ||x||^2 / 2 is convex."""
    return minimum(*(curvature_range(loss)[0] for loss in losses))


def same_number(a: Number | Counted, b: Number | Counted) -> Number:
    """Tell whether two numbers are equal, for each instance of a batch; floats in a batch are equal
    up to rounding."""
    if isinstance(a, Many) or isinstance(b, Many):
        one, other = (z.at if isinstance(z, Many) else float(z) for z in (a, b))
        return Many(abs(one - other) <= 1e-12 * np.maximum(abs(one), abs(other)))
    return ends_of(a) == ends_of(b)


def sup_square(
    losses: Sequence[list[dict[str, Any]]], combine: Callable[..., Any]
) -> Number | Counted:
    """Return the supremum over x of the sum over coordinates of combine([f_1', ..., f_n']), where
    `combine` is a nonnegative quadratic that bounds all differences of derivatives. The supremum is
    infinite unless these differences are bounded, and is reached at a knot otherwise."""
    total = ZERO
    for curves in zip(*losses):
        ends = [(second_derivatives(f)[0], second_derivatives(f)[-1]) for f in curves]
        at = [knot for f in curves for knot in curve_knots(f)] or [ZERO]
        highest = (
            maximum(*(combine([slope_at(dict(f, soft=()), y) for f in curves]) for y in at))
            if len(at) > 1
            else combine([slope_at(dict(f, soft=()), at[0]) for f in curves])
        )
        if any(f.get("soft") != curves[0].get("soft") for f in curves):
            highest = INF  # soft corners cancel in differences only if all curves share them
        for one, other in ends[1:]:
            for mine, first in ((one, ends[0][0]), (other, ends[0][1])):
                highest = _zero_unless(same_number(mine, first), highest)
        total = INF if isinstance(highest, float) or isinstance(total, float) else total + highest
    return total


def _zero_unless(truth: Number, value: Number | Counted) -> Number | Counted:
    """Return a value where `truth` holds, and infinity elsewhere."""
    if isinstance(value, float):
        return value
    if isinstance(truth, Many):
        return where(truth, value, Many(np.asarray(INF)))
    return value if truth else INF


def mismatch(server: Sequence[Any], clients: Sequence[Any]) -> Number | Counted:
    """Return the supremum over x of ||grad f_0(x) - grad F(x)||^2, where F is the plain mean of the
    clients' losses."""

    def gap(gs: Sequence[Number | Counted]) -> Number | Counted:
        away = gs[0] - sum(gs[1:]) / (len(gs) - 1)
        return away * away

    return sup_square([server, *clients], gap)


def joint_smoothness(*losses: Sequence[dict[str, Any]]) -> Number | Counted:
    """Return the least L for which the gradient of the losses' sum is L-Lipschitz."""
    found = [abs(bend) for bend in joint_slopes(losses)]
    return maximum(*found) if len(found) > 1 else found[0]


def joint_curvature(*losses: Sequence[dict[str, Fraction | list[Any]]]) -> Fraction:
    """Return the largest second derivative of the losses' sum along a coordinate."""
    found = joint_slopes(losses)
    return maximum(*found) if len(found) > 1 else found[0]


def joint_slopes(losses: Sequence[list[dict[str, Any]]]) -> list[Number | Counted]:
    """Return the second derivatives of the pieces of the losses' sum, coordinate by coordinate."""
    found = []
    for curves in zip(*losses):
        at = sort_values([knot for f in curves for knot in curve_knots(f)])
        found.append(sum(f["slope"] for f in curves))
        found += [sum(slope_right_of(f, y) for f in curves) for y in at]
    return found


def slope_right_of(f: Mapping[str, Any], y: Number | Counted) -> Many | Counted:
    """Return the second derivative of a curve right of y."""
    return f["slope"] + sum((where(at <= y, delta, ZERO) for delta, at in f["bends"]), ZERO)


def relative_mismatch(
    one: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]], B: Number | Counted
) -> Number | Counted:
    """Return the supremum over x of ||g - h||^2 - (B^2 - 1) ||g + h||^2, where g and h are the two
    gradients. Where nonnegative, this is the least G^2 for which 2 ||g||^2 + 2 ||h||^2 <= G^2 + B^2
    ||g + h||^2 everywhere."""
    more, total = B * B - 1, ZERO
    for f, h in zip(one, other):
        at = sort_values([*curve_knots(f), *curve_knots(h)]) or [ZERO]
        peaks = []
        for y, room in zip(at, [*(z - y for y, z in zip(at, at[1:])), None]):
            peaks.append(
                _largest_gap(f, h, y, more, slope_right_of(f, y), slope_right_of(h, y), 1, room)
            )
        peaks.append(_largest_gap(f, h, at[0], more, f["slope"], h["slope"], -1, None))
        highest = INF if any(isinstance(p, float) for p in peaks) else maximum(*peaks)
        total = INF if isinstance(total, float) or isinstance(highest, float) else total + highest
    return total


def _largest_gap(
    f: Mapping[str, Any],
    h: Mapping[str, Any],
    y: Number | Counted,
    more: Number | Counted,
    bend_f: Number | Counted,
    bend_h: Number | Counted,
    way: int,
    room: Number | Counted | None,
) -> Number | Counted:
    """Return the largest value of (f' - h')^2 - more (f' + h')^2 on one piece, from y in direction
    `way` up to the distance `room`, or without end where `room` is None."""
    g, k = slope_at(f, y), slope_at(h, y)
    value = (g - k) * (g - k) - more * (g + k) * (g + k)
    apart, along = bend_f - bend_h, bend_f + bend_h
    linear = 2 * way * ((g - k) * apart - more * (g + k) * along)
    square = apart * apart - more * along * along
    falls = square < 0
    away = safe_ratio(-linear, 2 * square)
    inside = both_true(falls, linear > 0)
    inside = inside if room is None else both_true(inside, away <= room)
    best = where(inside, value + linear * away / 2, value)
    if room is None:
        best = _zero_unless(negate(square > 0), best)
        best = _zero_unless(negate(both_true(negate(falls), linear > 0)), best)
    return best


def beyond_tangent(
    loss: Sequence[dict[str, Any]], x: np.ndarray, at: np.ndarray
) -> Number | Counted:
    """Return f(x) - f(at) - <grad f(at), x - at>, computed piece by piece so that no large numbers
    cancel.

    Near a minimiser, f(x) and f(at) agree in most digits; the difference of their floats would be
    rounding, while each term here is small by itself.
    """
    total = ZERO
    for f, y, s in zip(loss, x, at):
        total = total + f["slope"] * (y - s) * (y - s) / 2
        for delta, knot in f["bends"]:
            # the integral from s to y of max(u - knot, 0) - max(s - knot, 0)
            far, near = positive_part(y - knot), positive_part(s - knot)
            low = positive_part(knot - y)
            plain = where(near > 0, (y - s) * (y - s), far * far) / 2
            total = total + delta * where(
                both_true(near > 0, low > 0), near * low + near * near / 2, plain
            )
    return total


def by_place(bends: Sequence[Any]) -> list[Sequence[Fraction]]:
    """Return bends sorted from left to right."""
    if not any(isinstance(at, Many) for _, at in bends):
        return sorted(bends, key=lambda bend: bend[1])
    rows = [[v.at if isinstance(v, Many) else float(v) for v in each] for each in bends]
    size = np.broadcast_shapes(*(np.shape(v) for row in rows for v in row))
    deltas, knots_ = (np.array([np.broadcast_to(row[n], size) for row in rows]) for n in (0, 1))
    order = np.argsort(knots_, axis=0, kind="stable")
    found = (np.take_along_axis(each, order, axis=0) for each in (deltas, knots_))
    return [[Many(delta), Many(at)] for delta, at in zip(*found)]


def sort_values(values: Sequence[Any]) -> list[Fraction | Counted]:
    if any(isinstance(v, Many) for v in values):
        stack = np.sort(
            np.array(
                np.broadcast_arrays(*(v.at if isinstance(v, Many) else float(v) for v in values))
            ),
            axis=0,
        )
        return [Many(row) for row in stack]
    return sorted(values)


def changes_sign(h: Number | Counted, k: Number | Counted) -> Number:
    return both_true(h < 0, k > 0)


def both_true(a: Number, b: Number) -> Number:
    if isinstance(a, Many) or isinstance(b, Many):
        return Many(np.logical_and(*(z.at if isinstance(z, Many) else z for z in (a, b))))
    return a and b


def negate(a: Number | Counted) -> Any:
    return Many(~a.at) if isinstance(a, Many) else not a


def safe_ratio(a: Number | Counted, b: Number | Counted) -> Number | Counted:
    """Return a / b, or 0 where b = 0; a result at b = 0 is not used."""
    if isinstance(a, Many) or isinstance(b, Many):
        a, b = (z.at if isinstance(z, Many) else float(z) for z in (a, b))
        with np.errstate(all="ignore"):
            return Many(np.where(b == 0, 0.0, a / np.where(b == 0, 1.0, b)))
    return a / b if not same_number(b, ZERO) else ZERO
