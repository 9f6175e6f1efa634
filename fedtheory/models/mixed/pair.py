"""The losses f_f and f_c that mixed FL's models share, the minimiser of their sum, and constants
(section 4.1)."""

from collections.abc import Callable, Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import (
    Many,
    difference_of_sums,
    maximum,
    positive_part,
    root,
    vector,
    where,
)
from fedtheory.arithmetic.work import Counted
from fedtheory.models import losses, minima
from fedtheory.models.families import POINT, build_family, draw_family, family_coordinates
from fedtheory.models.fields import ZERO, Field, Fields, name_true, name_vector, word
from fedtheory.schema import row
from fedtheory.typing import Instance, Number, Point, Shape

# Conditions that an instance may break, one at a time, where a claim does not assume them: noise is
# drawn once for all steps of a round at all clients, and once for all steps at the center; the
# cohort is always the same.
BREAKABLE = frozenset({"independent_noise", "uniform_cohort"})
BREAKS = word("breaks", *sorted(BREAKABLE), when=lambda shape: "breaks" in shape)
PLAIN_SUM = (Fraction(1), Fraction(1))  # f = f_f + f_c
FACTS = frozenset("smooth smooth_sum convex strongly_convex bounded_below".split())


def draw_pair(
    random: Random, relaxed: Set[str], alike: bool = False, noisy: bool = False
) -> dict[str, Any]:
    """Draw the shape of the two losses and of a start. With `alike` the gradients differ by a
    constant; with `noisy` the start may be stationary, which without noise would leave nothing to
    measure."""
    convex = not {"convex", "strongly_convex"} <= relaxed or random.random() < 0.5
    return dict(
        draw_family(random, convex, alike, soft=False),
        smooth="each" if "smooth_sum" in relaxed else "sum",
        tilts="free" if "bounded_below" in relaxed and random.random() < 0.3 else "opposed",
        start="still"
        if noisy and random.random() < 0.3
        else random.choice(["left", "right", "mixed"]),
    )


def broken_by(instance: Instance, several: Sequence[str]) -> set[Any]:
    """Return the set of conditions of BREAKABLE that an instance breaks in a way that can make a
    difference. `several` names the kinds of noise that are drawn more than once in a round."""
    differs = name_true(
        independent_noise=any(instance[kind] for kind in several),
        uniform_cohort=instance["S"] < instance["N"],
    )
    return differs & {instance.get("breaks")}


def list_losses(shape: Shape) -> Any:
    """Return the coordinates of both losses: opposed tilts leave f_c none of its own."""
    opposed = shape["tilts"] == "opposed"
    found = family_coordinates(shape, 2)
    return {n: kind for n, kind in found.items() if not (opposed and n.startswith("tilt_1_"))}


def build_losses(shape: dict[str, Any], point: dict[str, Any], built: Any) -> Any:
    """Build the losses [f_f, f_c]. Opposed tilts make 0 stationary, because the two gradients there
    are opposite, and rounding hides nothing near 0."""
    pair = build_family(shape, dict.fromkeys(name_vector("tilt_1", shape["d"]), ZERO) | point, 2)
    if shape["tilts"] == "opposed":
        for f, c in zip(*pair):
            c["tilt"] = -losses.slope_at(f, ZERO) - losses.slope_at(c, ZERO)
    return pair


def build_start(shape: Shape, point: Point, built: Any) -> Any:
    signs = dict(left=(-1, -1), right=(1, 1), mixed=(1, -1), still=(0, 0))[shape["start"]]
    return [signs[j] * point[f"x_{j}"] if signs[j] else ZERO for j in range(shape["d"])]


def list_start(shape: Shape) -> Any:
    """Return the coordinates of the start; a stationary start has none."""
    return {} if shape["start"] == "still" else name_vector("x", shape["d"], "positive")


PAIR = Fields(
    Field("losses", row(losses.LOSS, losses.LOSS), build_losses, list_losses),
    word("smooth", "each", "sum"),
    Field("x", POINT, build_start, list_start),
)


def mix_pair(pair: Sequence[list[dict[str, Any]]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return (f, gradient of f). In a batch, the gradient is 0 where rounding alone can account for
    its value."""
    parts = lambda f, y: [
        f["slope"] * y,
        f["tilt"],
        *(delta * positive_part(y - at) for delta, at in f["bends"]),
    ]
    grad = lambda x: vector(
        [
            difference_of_sums([part for f in curves for part in parts(f, y)], [])
            for curves, y in zip(zip(*pair), x)
        ]
    )
    return (lambda x: sum(losses.loss_value(loss, x) for loss in pair)), grad


def infimum_of_pair(instance: Instance) -> Number | Counted:
    """Return the infimum of f, which is infinite where f is not bounded below."""
    return minima.infimum_of(instance["losses"], PLAIN_SUM)


def height_above(instance: Instance, x: np.ndarray) -> Number | Counted:
    """Return f(x) less the infimum of f, which is reached where the gradient vanishes; INF where f
    is not bounded below."""
    low, star = minima.least_point(instance["losses"], PLAIN_SUM)
    if isinstance(low, float):
        return INF
    found = sum(losses.beyond_tangent(loss, x, star) for loss in instance["losses"])
    return where(low > -INF, found, Many(np.asarray(INF))) if isinstance(low, Many) else found


def find_minimizer(instance: Instance) -> np.ndarray:
    """Return a minimiser of f. Where there is none, Undefined is raised; in a batch, the result is
    NaN."""
    low, star = minima.least_point(instance["losses"], PLAIN_SUM)
    if isinstance(low, float):
        raise Undefined("f has no minimiser")
    return (
        vector([where(low > -INF, y, Many(np.asarray(np.nan))) for y in star])
        if isinstance(low, Many)
        else star
    )


def pair_constants(instance: Instance) -> dict[str, Any]:
    """Return beta, the smoothness constant of f itself (beta_sum), and mu. beta is at least
    beta_sum where f itself is to be beta-smooth; mu is 0 where a loss is not convex, which
    `pair_holds` reports.

    A hypothesis "f is beta-smooth" and a hypothesis "f_f and f_c are beta-smooth" give different
    least values; `smooth` of the instance says which reading the instance serves.
    """
    pair = instance["losses"]
    beta, own = losses.smoothness_of(*pair), losses.joint_smoothness(*pair)
    if instance["smooth"] == "sum":
        beta = maximum(beta, own)
    return dict(beta=beta, beta_sum=own, mu=positive_part(losses.convexity_of(*pair)))


def bounded_dissimilarity(instance: dict[str, Any]) -> dict[str, Any]:
    """Return G and B of definition 4.2 at w_f = w_c = 1/2: the instance's B, and the least G for
    this B."""
    square = losses.relative_mismatch(*instance["losses"], instance["B"])
    return dict(
        B=instance["B"],
        G=square if isinstance(square, float) else root(maximum(square, Fraction(0))),
    )


def has_dissimilarity(instance: dict[str, Any]) -> bool:
    """Tell whether definition 4.2 holds with the instance's B and some G."""
    square = losses.relative_mismatch(*instance["losses"], instance["B"])
    return not isinstance(square, float)


def pair_holds(instance: Instance) -> frozenset[str]:
    """Return the conditions in FACTS that the losses meet."""
    mu = losses.convexity_of(*instance["losses"])
    return FACTS - name_true(
        smooth_sum=instance["smooth"] != "sum",
        convex=mu < 0,
        strongly_convex=mu <= 0,
        bounded_below=isinstance(infimum_of_pair(instance), float),
    )
