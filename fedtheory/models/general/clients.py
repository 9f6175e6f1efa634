"""The losses of the clients of an instance of a run, and the constants that follow from them.

Where losses are convex, coordinates are relative to the minimiser, so clients' gradients at 0 add
up to 0 by construction. In two dimensions each client's loss may be rotated, since worst cases need
not be separable.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Many, vector, where
from fedtheory.arithmetic.work import Counted
from fedtheory.models import distances, losses, minima
from fedtheory.models.fields import ZERO
from fedtheory.models.general._laws import broken_law
from fedtheory.models.quantities import square_norm
from fedtheory.typing import Instance, Number

ONE = Fraction(1)


class Clients:
    """The losses of an instance, with the constants that follow from the losses."""

    def __init__(self, instance: Instance) -> None:
        self.N, self.d, own = instance["N"], len(instance["x_0"]), instance["losses"]
        self.exact, self._least = not isinstance(instance["x_0"][0], Many), None
        self.convex, self.shared = instance["convex"], len(own) == 1
        given = [vector(v) for v in instance["at_star"]]
        zero = vector([ZERO] * self.d)
        self.weighted, self.breaks = "p" in instance, broken_law(instance)
        self.drawn_by_weight = self.weighted and self.breaks != "equal_weights"
        self.p = [*instance["p"]] if self.weighted else [Fraction(1, self.N)] * self.N
        self._refuse_weights()
        self.at_star = [*given, self._balancing(given)] if given else [zero] * self.N
        loose = (
            len(own) not in (1, self.N)
            or len(self.at_star) != self.N
            or any(
                len(f["curves"]) != self.d or any(c.get("soft") for c in f["curves"]) for f in own
            )
        )
        if loose or any("turn" in f for f in own) and (self.d != 2 or not self.convex):
            raise Undefined("losses that do not fit together")
        own = [own[0 if self.shared else i] for i in range(self.N)]
        self.turns = [rational_rotation(f["turn"]) if "turn" in f else None for f in own]
        self.curves = [self._tilt_curves(own[i]["curves"], i) for i in range(self.N)]
        self.at_zero = [losses.loss_gradient(remove_tilt(f), [ZERO] * self.d) for f in self.curves]
        self.low, self.high = losses.convexity_of(*self.curves), losses.smoothness_of(*self.curves)
        if self.exact and self.convex and self.low < 0:
            raise Undefined("a loss that is not convex")

    def _refuse_weights(self) -> None:
        """Raise Undefined for weights that are no distribution, or beside another broken law."""
        if self.weighted and self.breaks not in (None, "equal_weights"):
            raise Undefined("weights, where something else is broken")
        if len(self.p) != self.N:
            raise Undefined("weights that do not fit the clients")
        if self.exact and self.weighted and not (min(self.p) > 0 and sum(self.p) == 1):
            raise Undefined("weights that are none")

    def _balancing(self, given: Sequence[np.ndarray]) -> np.ndarray:
        """Return the last client's gradient at the minimiser, so that the weighted gradients of all
        clients add up to 0."""
        if not self.weighted:
            return vector([ZERO] * self.d) - sum(given)
        return -sum(p * v for p, v in zip(self.p, given)) / self.p[-1]

    def mean(self, values: Iterator[Any] | Sequence[Many]) -> Number | Counted:
        """Return the mean of values over clients, with the clients' weights in F."""
        if not self.weighted:
            return sum(values) / self.N
        return sum(p * value for p, value in zip(self.p, values))

    def _tilt_curves(self, curves: Sequence[dict[str, Any]], i: int) -> list[dict[str, Any]]:
        """Return curves tilted so that the gradient of client i at 0 is the one that the instance
        gives."""
        asked = rotate_to(self.turns[i], self.at_star[i])
        return [
            dict(c, tilt=g - h)
            for c, g, h in zip(
                curves, asked, losses.loss_gradient(remove_tilt(curves), [ZERO] * self.d)
            )
        ]

    def value(self, i: int, x: np.ndarray) -> Number | Counted:
        """Return f_i(x), with i counted from 0."""
        return losses.loss_value(self.curves[i], rotate_to(self.turns[i], x))

    def grad(self, i: int, x: np.ndarray) -> np.ndarray:
        """Return grad f_i(x), with i counted from 0."""
        # Adding the change keeps the gradient at 0 equal to at_star to the last bit.
        change = (
            losses.loss_gradient(remove_tilt(self.curves[i]), rotate_to(self.turns[i], x))
            - self.at_zero[i]
        )
        return rotate_back(self.turns[i], change) + self.at_star[i]

    def F(self, x: np.ndarray) -> Number | Counted:
        """Return F(x), the mean of the clients' losses with their weights."""
        return self.mean(self.value(i, x) for i in range(self.N))

    def mean_grad(self, x: np.ndarray) -> Number:
        """Return grad F(x)."""
        return self.mean(self.grad(i, x) for i in range(self.N))

    def dissimilarity(self, x: np.ndarray) -> Number | Counted:
        """Return the mean of ||grad f_i(x) - grad F(x)||^2 over clients."""
        mean = self.mean_grad(x)
        return self.mean(square_norm(self.grad(i, x) - mean) for i in range(self.N))

    def gap(self, value: Number | Counted, x_0: np.ndarray) -> Number | Counted:
        """Return the difference of a value of F and the infimum of F."""
        infimum, x_star = self.least()
        return height_above(
            value, infimum, size_of_losses(self.curves, self.high, x_0, x_star), square_norm(x_0)
        )

    @property
    def spread(self) -> Number | Counted:
        """Return the mean square of the clients' gradients at the minimiser."""
        return self.mean(square_norm(v) for v in self.at_star)

    @property
    def farthest(self) -> Number | Counted:
        """Return the supremum over x of the dissimilarity; INF where no bound is known."""
        if self.shared:
            return self.spread
        if any(self.turns):
            return INF
        return losses.sup_square(self.curves, self.mean_square_gap)

    def mean_square_gap(self, gs: Sequence[Number | Counted]) -> Number | Counted:
        """Return the mean square of the differences of derivatives and their mean."""
        mean = self.mean(gs)
        return self.mean((g - mean) * (g - mean) for g in gs)

    def sq_distance(self, x: np.ndarray) -> Number | Counted:
        """Return the squared distance of a point to the nearest minimiser of F. The distance is
        infinite where there is no minimiser, or where rotated losses have many."""
        if not self.convex:
            return distances.from_least(self.curves, self.p, x)
        if any(self.turns):
            return self._alone(square_norm(x))
        away = [distances.beyond_straight(each, y) for each, y in zip(zip(*self.curves), x)]
        return sum(gap * gap for gap in away)

    def _alone(self, value: Number) -> Number:
        """Return a value that is defined only if 0 is certainly the only minimiser of rotated
        losses; otherwise INF, or NaN in a batch. The test is that two linearly independent
        directions exist in each of which some loss is not straight at 0."""
        steep = []
        for curves, turned in zip(self.curves, self.turns):
            for j, f in enumerate(curves):
                along = rotate_back(turned, vector([Fraction(int(k == j)) for k in range(self.d)]))
                one, other = (distances.beyond_straight([f], Fraction(n)) for n in (1, -1))
                steep.append((along, losses.both_true(one >= 1, other >= 1)))
        spans = [
            losses.both_true(losses.both_true(curved, also), abs(u[0] * v[1] - u[1] * v[0]) > 1e-9)
            for n, (u, curved) in enumerate(steep)
            for v, also in steep[:n]
        ]
        if self.exact:
            return value if any(spans) else INF
        good = ZERO
        for each in spans:
            good = where(each, ONE, good)
        return where(good > 0, value, Many(np.asarray(np.nan)))

    def least(self) -> tuple[Number | Counted, ...] | None:
        """Return (infimum of F, a point that attains the infimum)."""
        if self._least is None:
            self._least = self._found_least()
        return self._least

    def _found_least(self) -> tuple[Number | Counted, np.ndarray]:
        """Return (inf F, minimiser): 0 is the minimiser of convex losses by construction."""
        if self.convex:
            zero = vector([ZERO] * self.d)
            return self.F(zero), zero
        return minima.least_point(self.curves, self.p)


def height_above(
    value: Number | Counted,
    infimum: Number | Counted,
    size: Number | Counted,
    away: Number | Counted,
) -> Number | Counted:
    """Return value - infimum; Undefined is raised where there is no infimum. In a batch, where
    rounding of numbers of the given size hides the difference, the result is 0 where `away` is 0
    and NaN elsewhere, and NaN where there is no infimum."""
    if isinstance(infimum, float):
        raise Undefined("an infimum that is not there")
    gap = value - infimum
    if not isinstance(gap, Many):
        return gap
    hidden = abs(gap) <= 1e-10 * (abs(value) + abs(infimum) + size)
    none = Many(np.asarray(np.nan))
    return where(gap < INF, where(hidden, where(away > 0, none, ZERO), gap), none)


def remove_tilt(curves: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return curves with the tilt 0."""
    return [dict(c, tilt=ZERO) for c in curves]


def size_of_losses(
    curves: Sequence[list[dict[str, Any]]], L: Number | Counted, *points: np.ndarray
) -> Number | Counted:
    """Return an estimate of the size of the losses' values around points and knots."""
    return L * (
        sum(square_norm(x) for x in points)
        + sum(at * at for f in curves for c in f for at in losses.curve_knots(c))
    )


def rational_rotation(t: Number) -> tuple[Number, Number]:
    """Return (cosine, sine) of an angle as rational functions of t, the tangent of half the angle."""
    below = 1 / (1 + t * t)
    return (1 - t * t) * below, 2 * t * below


def rotate_to(turned: tuple[Fraction, Fraction] | None, x: np.ndarray) -> np.ndarray:
    """Return x in the coordinates of a rotated loss, unchanged without a rotation."""
    if turned is None:
        return x
    c, s = turned
    return vector([c * x[0] + s * x[1], c * x[1] - s * x[0]])


def rotate_back(turned: Sequence[Number] | None, x: np.ndarray) -> np.ndarray:
    """Return a vector of a rotated loss's coordinates in the common coordinates."""
    return x if turned is None else rotate_to((turned[0], -turned[1]), x)
