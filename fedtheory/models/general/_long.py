"""Long runs of one client without noise. Such a run has a single path, so that a hundred rounds
cost little.

Losses have up to three pieces, Huber losses among them, or are a saw. The derivative of a saw falls
and rises between two points of a run: a saw has a first piece, a tooth of two pieces for each
round, and a last piece. Points then start at the last tooth.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.typing import Point, Shape

MOST, TEETH = 100, 24  # most rounds, and most rounds of a saw: each round evaluates every tooth
SHORTEST = 6  # least rounds without a saw; shorter runs are drawn anyway


def shapes(
    random: Random, relaxed: Set[str], method: str, asked: Sequence[str]
) -> dict[str, Any] | None:
    """Return the shape of a long run, or None where a round may have several outcomes."""
    if "growing_noise" not in relaxed:
        return None
    convex = not {"convex", "strongly_convex"} <= relaxed or random.random() < 0.2
    quadratic = "quadratic" not in relaxed
    saw = not (quadratic or convex) and random.random() < 0.75
    least, most = (2, TEETH) if saw else (SHORTEST, MOST)
    pieces = [1] if quadratic else [4] if saw else [1, 2, 2, 3] if convex else [2, 3, 3]
    shape = dict(
        N=1,
        S=1,
        d=1,
        convex=int(convex),
        T=str(round(least * (most / least) ** random.random())),
        K=1 if method == "fedsgd" else random.choice([1, 1, 2, 3]),
        pieces=random.choice(pieces),
        lipschitz=int("lipschitz" not in relaxed or convex or random.random() < 0.5),
        shared=1,
        equal=1,
        noise="none",
        turned=0,
    )
    shape.update({name: 1 for name in asked if name not in relaxed})
    return {**shape, "saw": 1} if saw else shape


def coordinates() -> dict[str, str]:
    """Return the coordinates that place the knots of a sawtooth derivative: the first knot, and the
    width of a tooth relative to the first knot."""
    return dict(knot_0_0="positive", tooth_0_0="positive")


def knots(shape: Shape, point: Point) -> list[Fraction]:
    """Return the knots of a sawtooth derivative from left to right, such that the derivative falls
    and rises by the same amount."""
    falls, rises = point["slope_0_0_1"], point["slope_0_0_2"]
    at, width = [point["knot_0_0"]], point["knot_0_0"] * point["tooth_0_0"]
    share = rises / (falls + rises)
    for _ in range(int(shape["T"])):
        at += [at[-1] + width * share, at[-1] + width]
    return at


def slopes(shape: Shape, point: Point) -> list[Fraction]:
    """Return the second derivatives of the pieces of a loss with sawtooth derivative."""
    first, falls, rises, last = (point["scale"] * point[f"slope_0_0_{k}"] for k in range(4))
    return [first, *[-falls, rises] * int(shape["T"]), last]
