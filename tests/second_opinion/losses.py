"""Separable losses of an instance, and suprema over all of space of what hypotheses speak of.

A loss has one curve for each coordinate: a y^2/2 + c y + sum of delta max(y - at, 0)^2 / 2. Soft
corners occur in no certificate that ships, and are refused.
"""

from fractions import Fraction

from tests.second_opinion.opinion import require
from tests.second_opinion.reals import real, root


class Curve:
    def __init__(self, given):
        require(
            set(given) <= {"slope", "tilt", "bends", "soft"} and not given.get("soft"),
            "no curve of this kind",
        )
        self.a, self.c = given["slope"], given["tilt"]
        require(all(len(bend) == 2 for bend in given["bends"]), "no bend")
        self.bends = [tuple(bend) for bend in given["bends"]]

    def value(self, y):
        return (
            self.a * y * y / 2
            + self.c * y
            + sum((d * over(y, at) ** 2 / 2 for d, at in self.bends), Fraction(0))
        )

    def slope(self, y):
        return self.a * y + self.c + sum((d * over(y, at) for d, at in self.bends), Fraction(0))

    def seconds(self):
        """Second derivatives between knots in increasing order."""
        found = [self.a]
        for at in sorted({at for _, at in self.bends}):
            found.append(found[-1] + sum(d for d, where in self.bends if where == at))
        return found

    def knots(self):
        return sorted({at for _, at in self.bends})


def over(y, at):
    gap = real(y) - at
    if gap.low >= 0:
        return y - at
    require(gap.high <= 0, "a point too near a knot to tell")
    return Fraction(0)


def read(losses, d):
    require(all(len(loss) == d for loss in losses), "losses of another dimension")
    return [[Curve(curve) for curve in loss] for loss in losses]


def value(loss, x):
    return sum((f.value(y) for f, y in zip(loss, x)), Fraction(0))


def grad(loss, x):
    return [f.slope(y) for f, y in zip(loss, x)]


def smoothness(losses):
    return max(abs(k) for loss in losses for f in loss for k in f.seconds())


def convexity(losses):
    return min(k for loss in losses for f in loss for k in f.seconds())


def combined(weights, curves):
    """The curve of a weighted sum."""
    found = Curve(
        dict(
            slope=sum(w * f.a for w, f in zip(weights, curves)),
            bends=[],
            tilt=sum(w * f.c for w, f in zip(weights, curves)),
        )
    )
    found.bends = [(w * d, at) for w, f in zip(weights, curves) for d, at in f.bends]
    return found


def infimum(weights, losses):
    """(inf of the weighted sum, a point that attains it); None where it is not bounded below."""
    total, point = Fraction(0), []
    for curves in zip(*losses):
        f = combined(weights, curves)
        best = None
        knots = f.knots()
        seconds, g = f.seconds(), None
        tried = list(knots) or [Fraction(0)]
        for k, (left, right) in zip(seconds, zip([None, *knots], [*knots, None])):
            inside = left if left is not None else right if right is not None else Fraction(0)
            g = f.slope(inside)
            if k:
                y = inside - g / k
                if (left is None or left <= y) and (right is None or y <= right):
                    tried.append(y)
            if (
                left is None
                and (k < 0 or k == 0 and g > 0)
                or right is None
                and (k < 0 or k == 0 and g < 0)
            ):
                return None
        best = min(tried, key=f.value)
        total, point = total + f.value(best), [*point, best]
    return total, point


def sup_difference(losses, weigh):
    """sup over x of the sum over coordinates of weigh(f_1', ..., f_n'), a convex function of the
    gradients' differences alone; None where these are not bounded."""
    total = Fraction(0)
    for curves in zip(*losses):
        if len({f.seconds()[0] for f in curves}) > 1 or len({f.seconds()[-1] for f in curves}) > 1:
            return None
        knots = sorted({at for f in curves for at in f.knots()}) or [Fraction(0)]
        total += max(weigh([f.slope(y) for f in curves]) for y in knots)
    return total


def outcomes(noise, d):
    """[(probability, vector), ...] with mean zero."""
    if not noise:
        return [(Fraction(1), [Fraction(0)] * d)]
    require(
        all(p > 0 and len(v) == d for p, v in noise) and sum(p for p, _ in noise) == 1,
        "no distribution",
    )
    require(all(sum(p * v[j] for p, v in noise) == 0 for j in range(d)), "noise with a mean")
    return [(p, list(v)) for p, v in noise]


def deviation(noise):
    return root(sum((p * sum(n * n for n in v) for p, v in noise), Fraction(0)))
