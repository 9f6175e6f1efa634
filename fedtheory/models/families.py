"""Families of losses from which models draw, and noise to go with the losses.

A family has a shape and coordinates. The shape holds the number of "pieces" of the second
derivative, whether losses are "convex", whether they are "alike", and what each loss has of its
"own". Coordinates give the numbers. Small shapes are drawn most often, since a small counterexample
is worth more.
"""

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic.operations import maximum, root, vector
from fedtheory.arithmetic.work import Counted
from fedtheory.models import losses
from fedtheory.schema import either, list_of, row
from fedtheory.typing import Number, Point, Shape

if TYPE_CHECKING:
    import numpy as np

HALF = Fraction(1, 2)
# Schemas of a point and of noise: [probability, vector] of each outcome, or an empty list
POINT = list_of("number", "d")
NOISE = either(list_of("number", 0), list_of(row("positive", POINT), total=0))
SKEWS = {
    "even": Fraction(1, 2),
    "skewed": Fraction(1, 5),
}  # probability of the upper value; the square roots of the odds are rational


def draw_family(random: Random, convex: int, bounded: bool, soft: bool = True) -> dict[str, Any]:
    """Draw the shape of a family of losses. With `bounded`, the gradients differ by a bounded
    amount, as the definitions of G and xi_bar over R^d need.

    "pieces" is the number of intervals on which a loss's second derivative is constant; "own" says
    what differs between losses: only the tilt (a constant gradient difference), all curvatures, or
    the curvature of the middle piece, beyond which gradients differ by a constant. With a
    probability of 1/4 all losses but the first are equal.
    """
    pieces = random.choice([1, 1, 1, 2, 2, 3])
    return dict(
        d=random.choice([1, 1, 1, 2]),
        pieces=pieces,
        convex=convex,
        alike=int(random.random() < 0.25),
        soft=int(soft and pieces == 1 and random.random() < 0.15),
        own=random.choice(
            ["tilt", "middle"]
            if bounded and pieces == 3
            else ["tilt"]
            if bounded
            else ["tilt", "slopes", "slopes"]
        ),
    )


def draw_broken(random: Random, breakable: Set[str]) -> str:
    """Draw the name of one of the conditions in `breakable` that an instance is to break, or "".
    Nothing is drawn from `random` where `breakable` is empty."""
    return random.choice(sorted(breakable)) if breakable and random.random() < 0.4 else ""


# Units of coordinates, by the part before the first "_": (power of a point, power of a loss)
UNITS = dict(
    scale=(-2, 1),
    sigma=(-1, 1),
    rate=(-1, 0),
    height=(2, 0),
    **dict.fromkeys(("x", "knot", "gap", "tilt", "corner"), (1, 0)),
)


def family_coordinates(shape: Shape, count: int) -> dict[str, str]:
    """Return {name: kind} of the coordinates of a family of `count` losses."""
    found = {"scale": "positive"}
    for j in range(shape["d"]):
        found.update({f"slope_{j}_{k}": "unit" for k in range(shape["pieces"])})
        found.update(name_knots(shape, str(j)))
        if shape["soft"]:
            found.update(
                {f"height_{j}": "positive", f"rate_{j}": "positive", f"corner_{j}": "real"}
            )
        # if alike, all losses but the first are equal
        for i in range(min(count, 2) if shape["alike"] else count):
            found[f"tilt_{i}_{j}"] = "real"
            if shape["own"] == "slopes":
                found.update({f"own_{i}_{j}_{k}": "unit" for k in range(shape["pieces"])})
            elif shape["own"] == "middle":
                found[f"own_{i}_{j}_1"] = "unit"
    return found


def name_knots(shape: Mapping, curve: str) -> dict[str, str]:
    """Return {name: kind} of the coordinates of a curve's knots."""
    if shape["pieces"] == 1:
        return {}
    gaps = {f"gap_{curve}_{k}": "positive" for k in range(2, shape["pieces"])}
    return {f"knot_{curve}": "real", **gaps}


def read_knots(shape: Mapping, point: Mapping, curve: str) -> list:
    """Return a curve's knots from left to right."""
    at = [point[f"knot_{curve}"]] if shape["pieces"] > 1 else []
    for k in range(2, shape["pieces"]):
        at.append(at[-1] + point[f"gap_{curve}_{k}"])
    return at


def scale_curvature(shape: Shape, point: Point) -> Any:
    """Return the function from a number in [0, 1] to a curvature: at least 0 where the shape is
    convex, of either sign elsewhere."""
    scale = point["scale"]
    return (lambda u: scale * u) if shape["convex"] else (lambda u: scale * (2 * u - 1))


def build_family(shape: Shape, point: Point, count: int) -> list[list[dict[str, Any]]]:
    """Build the `count` losses of a family at a point of its coordinates.

    Losses share knots and soft corners; curvatures and tilts are common or own, as the shape says.
    A loss is a list of curves, one for each coordinate. Curvatures, tilts and heights are multiples of `scale`.
    """
    scale, bend = point["scale"], scale_curvature(shape, point)
    found = [[] for _ in range(count)]
    for j in range(shape["d"]):
        common = [bend(point[f"slope_{j}_{k}"]) for k in range(shape["pieces"])]
        at = read_knots(shape, point, str(j))
        soft = (
            [[scale * point[f"height_{j}"], point[f"rate_{j}"], point[f"corner_{j}"]]]
            if shape["soft"]
            else []
        )
        for i, loss in enumerate(found):
            who = min(i, 1) if shape["alike"] else i
            own = [
                bend(point[name]) if (name := f"own_{who}_{j}_{k}") in point else slope
                for k, slope in enumerate(common)
            ]
            loss.append(losses.curve_from_pieces(own, at, scale * point[f"tilt_{who}_{j}"], soft))
    return found


def flatten_losses(losses_: Sequence[list[dict[str, Any]]], x: Sequence[Number | Counted]) -> None:
    """Change the tilts of all losses by the same amount, in place, so that the gradient of their
    mean at x is 0."""
    slopes = [losses.loss_gradient(loss, x) for loss in losses_]
    for j in range(len(x)):
        mean = sum(g[j] for g in slopes) / len(slopes)
        for loss in losses_:
            loss[j]["tilt"] = loss[j]["tilt"] - mean


def upper_curvature(losses_: Sequence[list[dict[str, Any]]]) -> Number | Counted:
    """Return the least L for which each loss lies below its upper quadratics: smoothness as FSL's
    text defines it."""
    return maximum(*(losses.curvature_range(loss)[1] for loss in losses_))


def two_point(
    size: Any, skew: str, d: int, across: bool = False
) -> list[list[Fraction | list[Number | Counted]]]:
    """Return zero-mean two-point noise along the first coordinate, or with `across` the same along
    all coordinates, with standard deviation `size` along each. [] stands for no noise.

    The upper value has probability 1/2 ("even") or 1/5 ("skewed"). With odds o = sqrt(p / (1 - p)),
    the values size / o with probability p and -size o with probability 1 - p have mean 0 and
    variance size^2; o is rational for both.
    """
    if skew == "none":
        return []
    up = SKEWS[skew]
    odds = Fraction(1) if skew == "even" else Fraction(1, 2)  # the square root of up / (1 - up)
    along = lambda value: [value] * d if across else [value, *[Fraction(0)] * (d - 1)]
    return [[up, along(size / odds)], [1 - up, along(-size * odds)]]


def outcomes(noise: Sequence[list[Any]], d: int) -> "list[tuple[Fraction | Counted, np.ndarray]]":
    """Return the outcomes [(probability, vector), ...] of an instance's noise, as vectors of
    dimension d."""
    return [(p, vector(v)) for p, v in noise] or [(Fraction(1), vector([Fraction(0)] * d))]


def variance(noise: Sequence[list[Any]]) -> Number | Counted:
    """Return E ||n||^2 of zero-mean noise n, given as [probability, vector] pairs."""
    return sum((p * sum(n * n for n in v) for p, v in noise), Fraction(0))


def by_coordinate(
    noise: Sequence[list[Fraction | list[Number | Counted]]], sigma: Number
) -> Number:
    """Return the largest standard deviation of noise along a coordinate. `sigma`, the standard
    deviation over all coordinates together, is returned where at most one coordinate has noise."""
    kept = lambda part: getattr(part, "numerator", 1) != 0
    columns = list(zip(*(v for _, v in noise)))
    if sum(any(map(kept, column)) for column in columns) < 2:
        return sigma
    odds = [p for p, _ in noise]
    return root(maximum(*(sum(p * n * n for p, n in zip(odds, each)) for each in columns)))


def sound_noise(noise: Sequence[list[Any]], d: int) -> bool:
    """Tell whether the probabilities of noise add up to 1 and its mean is 0."""
    return drawn_noise(noise, d)


def drawn_noise(noise: Sequence[list[Any]], d: int, centred: bool = True) -> bool:
    """Tell whether noise is a probability distribution: probabilities are positive and add up to 1,
    and with `centred` the mean is 0."""
    return (
        not noise
        or sum(p for p, _ in noise) == 1
        and all(p > 0 for p, _ in noise)
        and (not centred or all(sum(p * v[j] for p, v in noise) == 0 for j in range(d)))
    )


def shift_noise(
    noise: Sequence[list[Fraction | list[Number | Counted]]], bias: Number | Counted, d: int
) -> list[list[Fraction | list[Number | Counted]]]:
    """Return the noise with `bias` added to its first coordinate; where there is no noise, the bias
    alone."""
    along = lambda v: [v[0] + bias, *v[1:]]
    return [[p, along(v)] for p, v in noise or [[Fraction(1), [Fraction(0)] * d]]]
