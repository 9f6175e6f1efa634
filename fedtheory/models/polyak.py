"""The inequality of Polyak and Lojasiewicz, for sums of separable losses."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Many, minimum, where
from fedtheory.arithmetic.work import Counted
from fedtheory.models import losses, minima
from fedtheory.typing import Number

ZERO = Fraction(0)


def polyak_lojasiewicz(
    curves: Sequence[list[dict[str, Any]]], weights: Sequence[Fraction]
) -> Many | Counted:
    """Return the largest mu with f'^2 >= 2 mu (f - inf f) along each coordinate of the weighted sum
    f of separable losses, or 0 where there is none.

    On a piece of curvature b > 0, f'^2 / (2 (f - inf f)) is monotone, so the smallest value lies at
    a knot or far out, where the quotient tends to b. A local minimum above the infimum gives mu =
    0. Losses with soft corners give 0, because no closed form is known.
    """
    return minimum(*(_polyak(list(each), weights) for each in zip(*curves)), INF)


def _polyak(curves: Sequence[dict[str, Any]], weights: Sequence[Fraction]) -> Number | Counted:
    slope = lambda y: sum(w * losses.slope_at(f, y) for f, w in zip(curves, weights))
    height = lambda y: sum(w * losses.loss_value([f], [y]) for f, w in zip(curves, weights))
    lowest, _ = minima.least_of(curves, weights)
    if isinstance(lowest, float) or any(f.get("soft") for f in curves):
        return ZERO
    at = losses.sort_values([knot for f in curves for knot in losses.curve_knots(f)] or [ZERO])
    gs, size = [slope(y) for y in at], sum(abs(height(y)) for y in at) + abs(lowest)
    above = [losses.remove_rounding(height(y) - lowest, 1e3 * size) for y in at]
    bends = [sum(w * f["slope"] for f, w in zip(curves, weights))]
    bends += [sum(w * losses.slope_right_of(f, y) for f, w in zip(curves, weights)) for y in at]
    found = [where(gap > 0, losses.safe_ratio(g * g, 2 * gap), INF) for g, gap in zip(gs, above)]

    def inside(
        bend: Many | Counted, g: Many | Counted, gap: Many | Counted, turns: Number
    ) -> Many | Counted:
        """Return the bound on mu from one piece: 0 where `turns` is true (the derivative changes
        its sign from negative to positive on the piece) and the piece's minimum lies above the
        infimum, else the piece's curvature."""
        low = gap - losses.safe_ratio(g * g, 2 * bend)  # the piece's minimum minus the infimum
        high = low > 1e-11 * size if isinstance(low, Many) else low > 0
        return where(losses.both_true(turns, high), ZERO, bend)

    for outward, bend, g, gap in (
        (-1, bends[0], gs[0], above[0]),
        (1, bends[-1], gs[-1], above[-1]),
    ):
        straight = where(losses.same_number(g, ZERO), INF, ZERO)
        upwards = inside(bend, g, gap, outward * g < 0)
        found.append(where(bend > 0, upwards, where(bend < 0, ZERO, straight)))
    for bend, g, k, gap in zip(bends[1:], gs, gs[1:], above):
        turned = where(bend > 0, inside(bend, g, gap, losses.changes_sign(g, k)), INF)
        found.append(
            where(losses.changes_sign(g, k), turned, where(losses.changes_sign(k, g), ZERO, INF))
        )
    return minimum(*found)
