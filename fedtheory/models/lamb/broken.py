"""The hypotheses that an instance of FED-LAMB may break, one at a time: all clients take part;
moments are the proof's moments; the gradient of a layer depends on that layer alone.

Where some clients do nothing, means are over the clients that take part, as in algorithm 1; sums
over all n then have no meaning. Where a layer's gradient depends on another layer, losses are the
same curves in rotated coordinates: u_1 = c x_1 + s x_p and u_p = c x_p - s x_1, for the first layer
and the last.
"""

from collections.abc import Sequence, Set
from random import Random
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import maximum, vector
from fedtheory.arithmetic.work import Counted
from fedtheory.models import losses
from fedtheory.models.families import draw_broken
from fedtheory.models.fields import Field, count, name_true
from fedtheory.schema import integer, row
from fedtheory.typing import Instance, Number, Point, Shape

if TYPE_CHECKING:
    import numpy as np

BREAKABLE = frozenset({"everyone", "plain_moments", "layers_apart"})
SUMS = frozenset(
    "B_1 B_2 sum_gap sum_inner sum_sq_grad sum_kept sum_wrong excess_sign noise_sum".split()
)


def draw_shape(random: Random, relaxed: Set[str], shape: dict[str, Any]) -> dict[str, Any]:
    """Return the shape, extended so that its instances break one hypothesis that need not hold, or
    unchanged."""
    broken = draw_broken(random, relaxed & BREAKABLE)
    return {**shape, **SHAPES[broken](random, shape)} if broken else shape


def _some_idle(random: Random, shape: Shape) -> dict[str, int | str]:
    n = max(2, shape["n"])
    own = shape["own"] if shape["own"] != "none" else random.choice(["tilt", "slopes"])
    quiet = {} if n == shape["n"] else dict(noise="none")
    return dict(n=n, S=random.randint(1, n - 1), own=own, **quiet)


def _other_moments(random: Random, shape: Shape) -> dict[str, str]:
    """Draw the way in which moments differ from the proof's: m begins each round at 0, as the
    listing has it, or a number is added to the root of v."""
    return dict(moments=random.choice(["reset", "added"]))


def _couple_coordinates(random: Random, shape: Shape) -> dict[str, int | str]:
    h = max(2, shape["h"])
    return dict(h=h, p=max(h, shape["p"]), turned=1, noise="none")


SHAPES = dict(everyone=_some_idle, plain_moments=_other_moments, layers_apart=_couple_coordinates)


def build_turn(shape: Shape, point: Point, built: Any) -> Any:
    u = point["turn"]
    return [(1 - u * u) / (1 + u * u), 2 * u / (1 + u * u)]


def uses_moments(kind: Any) -> Any:
    return lambda shape: shape.get("moments") == kind


# Fields of an instance that breaks one of these hypotheses
FIELDS = (
    count("S", most="n")._replace(when=lambda shape: "S" in shape),
    Field(
        "epsilon",
        "positive",
        lambda shape, point, built: point["epsilon"],
        lambda shape: {"epsilon": "positive"},
        uses_moments("added"),
    ),
    Field("reset", integer(1, 1), lambda shape, point, built: 1, when=uses_moments("reset")),
    Field(
        "turn",
        row("number", "number"),
        build_turn,
        lambda shape: {"turn": "unit"},
        lambda shape: "turned" in shape,
    ),
)


def idle_clients(instance: Instance) -> int:
    return instance["n"] - instance.get("S", instance["n"])


def is_sound(instance: Instance) -> bool:
    """Tell whether a rotation is one, in an instance that may have one."""
    c, s = instance.get("turn", (1, 0))
    may_turn = not instance["noise"] and len(instance["layers"]) > 1
    return c * c + s * s == 1 and ("turn" not in instance or may_turn)


def has_meaning(instance: Instance, wanted: Sequence[str]) -> None:
    """Raise Undefined where a wanted symbol is a sum over all clients and some clients are idle."""
    if idle_clients(instance) and SUMS & set(wanted):
        raise Undefined("a sum over clients of whom some do nothing")


def broken_conditions(instance: Instance) -> set[Any]:
    """Return the hypotheses that an instance breaks in a way that can make a difference."""
    t = instance.get("t")
    again = instance["R"] > 1 if t is None else t >= instance["T"]
    return name_true(
        everyone=idle_clients(instance) > 0,
        plain_moments="epsilon" in instance or "reset" in instance and again,
        layers_apart=all(instance.get("turn", (0,))),
    )


# Rotated coordinates


def rotate_point(instance: Instance, x: "np.ndarray") -> "np.ndarray":
    """Return a point in the rotated coordinates, in which losses are sums of curves."""
    if "turn" not in instance:
        return x
    (c, s), (first, *others, last) = instance["turn"], x
    return vector([c * first + s * last, *others, c * last - s * first])


def turned_back(instance: Instance, g: "np.ndarray") -> "np.ndarray":
    """Return a gradient in the coordinates x, given the gradient in the rotated coordinates."""
    if "turn" not in instance:
        return g
    (c, s), (first, *others, last) = instance["turn"], g
    return vector([c * first - s * last, *others, c * last + s * first])


def layer_smoothness(instance: Instance) -> list[Number | Counted]:
    """Return L_l for each layer with the other layers fixed. For a rotated coordinate, the
    curvatures of both coordinates count, with the factors c^2 and s^2."""
    f = instance["losses"]
    found = [[[each[j] for j in range(*layer)] for each in f] for layer in instance["layers"]]
    if "turn" not in instance:
        return [losses.smoothness_of(*layer) for layer in found]
    c, s = instance["turn"]
    first = maximum(*(largest_mixture(each[0], each[-1], c * c, s * s) for each in f))
    last = maximum(*(largest_mixture(each[-1], each[0], c * c, s * s) for each in f))
    wide = [layer[1:] for layer in found[0]]
    if wide[0]:
        first = maximum(first, losses.smoothness_of(*wide))
    return [first, *(losses.smoothness_of(*layer) for layer in found[1:-1]), last]


def largest_mixture(f: dict[str, Any], g: dict[str, Any], share: Number, rest: Number) -> Number:
    """Return the supremum of |share f'' + rest g''| over the points of f and of g."""
    ends = zip(losses.curvature_range([f]), losses.curvature_range([g]))
    return maximum(*(abs(share * a + rest * b) for a, b in ends))
