"""One iteration of FED-LAMB from a known start, on losses of bounded gradient, with noise by
enumeration (appendix A.2).

Curves are piecewise quadratic, and linear far from the origin. Therefore H2's M, the supremum of a
stochastic gradient's norm over all of R^d, is known exactly. Iterations before the last provide the
history: momentum, drift inside a round, a larger v. Quantities of lemmas 1 and 2 are also taken in
expectation; a bound on every outcome implies a bound on the expectation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import (
    Many,
    maximum,
    minimum,
    positive_part,
    root,
    vector,
    where,
)
from fedtheory.arithmetic.work import Counted, count_ways, spend_work
from fedtheory.models import Model, beside, losses, minima
from fedtheory.models.families import outcomes, scale_curvature, sound_noise, two_point
from fedtheory.models.fields import (
    ZERO,
    Field,
    Fields,
    coordinate,
    count,
    name_true,
    number,
    read_vector,
)
from fedtheory.models.lamb import broken, quantities
from fedtheory.schema import either, integer, list_of, row
from fedtheory.symbols.lamb import TABLE
from fedtheory.typing import Assignment, Instance, Number, Point, Shape

BELOW_1 = 1 - Fraction(
    1, 2**20
)  # the largest decay in a search: rounding may give 1, where quantities are undefined
ROUNDING = 1e-12
MOST = 16  # most outcomes of the noise that are enumerated


def draw_common(random: Random, steps: int) -> dict[str, int | str]:
    """Draw the common part of a run's shape: clients, layers, losses and noise, for `steps`
    iterations."""
    n = random.choice([1, 2, 2, 2, 2, 2, 2, 3, 3, 5])
    h = random.choice([1, 1, 1, 2, 3])
    noisy = random.random() < 0.5 and 2 ** (n * steps) <= MOST
    return dict(
        n=n,
        h=h,
        p=h + random.choice([0, 0, 0, 1, 2]),
        pieces=random.choice([1, 1, 1, 2]),
        convex=int(random.random() < 0.7),
        own=random.choice(["none", "tilt", "tilt", "slopes"]) if n > 1 else "none",
        flat=int(random.random() < 0.6),
        noise=random.choice(["even", "skewed"]) if noisy else "none",
        spread=random.choice(["one", "all"]),
    )


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, int]:
    """Draw T local steps and the number t of iterations before the measured one, mostly at a
    round's end."""
    T = random.choice([1, 2, 2, 3])
    t = random.choice([0, 0, 1, 2] if T == 1 else [1, T - 1, T - 1, T, 2 * T - 1])
    return broken.draw_shape(random, relaxed, dict(T=T, t=t, **draw_common(random, t + 1)))


def _curve_names(shape: Shape) -> Iterator[tuple[int, int, Callable[..., Any]]]:
    """Yield (client, coordinate, function that names the numbers of its curve). Where clients share
    curves, the names are those of client 0."""
    for i in range(shape["n"]):
        for j in range(shape["p"]):
            of = i if shape["own"] == "slopes" else 0
            yield i, j, lambda what, of=of, j=j: f"{what}_{of}_{j}"


def list_losses(shape: Shape) -> Any:
    """Return the coordinates of all curves and of the start."""
    found = {}
    for i, j, name in _curve_names(shape):
        found[f"x_{j}"] = found[name("knot")] = "real"
        found[name("lean")] = "unit"
        for k in range(shape["pieces"]):
            found.update({name(f"slope{k}"): "unit", name(f"gap{k}"): "positive"})
        if shape["own"] != "none" and i:
            found[f"tilt_{i}_{j}"] = "real"
    return found


def build_losses(shape: Shape, point: Point, built: Any) -> list[list[dict[str, Any]]]:
    """Build the losses of every client: curves bent between knots, with gradients tilted by amounts
    that add up to 0."""
    scale, bend = point["scale"], scale_curvature(shape, point)
    found = [[] for _ in range(shape["n"])]
    for i, j, name in _curve_names(shape):
        gaps = [point[name(f"gap{k}")] for k in range(shape["pieces"])]
        bends = [bend(point[name(f"slope{k}")]) for k in range(shape["pieces"])]
        knots = [point[name("knot")]]
        for gap in gaps:
            knots.append(knots[-1] + gap)
        rise = sum((b * gap for b, gap in zip(bends, gaps)), Fraction(0))
        tilts = [point.get(f"tilt_{k}_{j}", Fraction(0)) for k in range(1, shape["n"])]
        tilt = tilts[i - 1] if i else -sum(tilts, Fraction(0))
        found[i].append(
            losses.curve_from_pieces(
                [Fraction(0), *bends, Fraction(0)], knots, scale * tilt - point[name("lean")] * rise
            )
        )
    return found


def build_noise(shape: Shape, point: Point, built: Any) -> Any:
    """Return two-point noise along the first coordinate, or along all at once."""
    across = shape["spread"] == "all"  # all coordinates have the same noise
    return two_point(point.get("sigma"), shape["noise"], shape["p"], across)


def build_layers(shape: Shape, point: Point, built: Any) -> Any:
    """Return the ranges of coordinates of the layers: all but the first have one coordinate."""
    first = shape["p"] - shape["h"] + 1
    return [[0, first], *([j, j + 1] for j in range(first, shape["p"]))]


def build_phi(shape: Shape, point: Point, built: Any) -> Any:
    """Return [phi_m, phi_M], the least and largest scale of a layer's step."""
    return [point["phi"], point["phi"] + point.get("phi_more", ZERO)]


def list_phi(shape: Shape) -> Any:
    """Return the coordinates of the scale's range; a flat range has one."""
    return {"phi": "positive"} | ({} if shape["flat"] else {"phi_more": "positive"})


def fields_of(*own: Any) -> Any:
    """Return the fields of an instance, with a model's own fields after the first counts."""
    return Fields(
        count("n"),
        count("T"),
        *own,
        *broken.FIELDS,
        Field("layers", list_of(row(integer(0), integer()), "h", covering="p"), build_layers),
        Field("losses", list_of(list_of(losses.CURVE, "p"), "n"), build_losses, list_losses),
        Field(
            "x",
            list_of("number", "p"),
            lambda shape, point, built: read_vector(point, "x", shape["p"]),
        ),
        Field(
            "noise",
            either(list_of("number", 0), list_of(row("positive", list_of("number", "p")), total=0)),
            build_noise,
            lambda shape: {} if shape["noise"] == "none" else {"sigma": "positive"},
        ),
        number("alpha", "positive", "positive"),
        Field("phi", list_of("positive", 2, rising=None), build_phi, list_phi),
        coordinate("scale", "positive"),
        order="alpha scale phi noise copies losses",
    )


def is_straight(f: Mapping[str, Any]) -> bool:
    """Tell whether a curve is straight beyond its first and last knots, so that its gradient is
    bounded."""
    ends = losses.second_derivatives(f)[0], losses.second_derivatives(f)[-1]
    # batches are built with straight ends
    return all(isinstance(end, Many) or end == 0 for end in ends)


def gradient_bound(instance: Instance) -> Number | Counted:
    """Return M^2, the largest squared norm of a stochastic gradient over clients, outcomes and all
    points; INF where gradients are not bounded."""
    if not all(is_straight(f) for loss in instance["losses"] for f in loss):
        return INF
    found = []
    for loss in instance["losses"]:
        slopes = [
            [losses.slope_at(f, knot) for knot in losses.curve_knots(f) or [Fraction(0)]]
            for f in loss
        ]
        for _, error in outcomes(instance["noise"], len(loss)):
            found.append(
                sum(
                    maximum(Fraction(0), *((g + e) * (g + e) for g in gs))
                    for gs, e in zip(slopes, error)
                )
            )
    return maximum(Fraction(0), *found)


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return n, T, h, p, alpha, and the suprema L, M, sigma and phi_m, phi_M over all points.

    M^2 bounds a stochastic gradient's squared norm, sigma^2 the largest variance of a coordinate,
    and the clients count with their copies.
    """
    noise, p = instance["noise"], len(instance["x"])
    L, M = maximum(Fraction(0), *broken.layer_smoothness(instance)), gradient_bound(instance)
    variance = maximum(
        Fraction(0),
        *(sum((c * way[j] * way[j] for c, way in noise), Fraction(0)) for j in range(p)),
    )
    return dict(
        n=instance["n"] * instance.get("copies", Fraction(1)),
        T=Fraction(instance["T"]),
        h=Fraction(len(instance["layers"])),
        p=Fraction(p),
        alpha=instance["alpha"],
        alpha_r=instance["alpha"],
        L_l=L,
        L_bar=L,
        M=M if isinstance(M, float) else root(M),
        sigma=root(variance),
        phi_m=instance["phi"][0],
        phi_M=instance["phi"][1],
    )


def in_range(values: Assignment) -> Number:
    """Return 1 where the method's numbers are within their ranges. Elsewhere Undefined is raised;
    in a batch, the result is NaN."""
    betas = values["beta_1"], values["beta_2"]
    found = Fraction(1)
    for good in (
        values["v_0"] > 0,
        *(beta >= 0 for beta in betas),
        *(beta <= BELOW_1 if isinstance(beta, Many) else beta < 1 for beta in betas),
    ):
        if isinstance(good, Many):
            found = where(good, found, Many(np.asarray(np.nan)))
        elif not good:
            raise Undefined("a number outside the method's range")
    return found


def loss_gradient(loss: Sequence[dict[str, Any]], x: np.ndarray) -> np.ndarray:
    """Return the gradient of a loss. In a batch, a coordinate is 0 where rounding alone can account
    for its value, because a normalised step would enlarge the rounding error."""
    found = losses.loss_gradient(loss, x)
    for j, (f, y, g) in enumerate(zip(loss, x, found)):
        if isinstance(g, Many):
            size = sum(
                (abs(delta) * positive_part(y - at) for delta, at in f["bends"]), abs(f["tilt"])
            )
            found[j] = where(abs(g) > ROUNDING * size, g, Fraction(0))
    return found


def build_case(instance: Instance, values: Assignment) -> quantities.Instance:
    """Return the record of an instance for `lamb.quantities`: losses, layers, scales and the
    method's numbers."""
    f, (least, most) = instance["losses"], instance["phi"]
    turned = lambda x: broken.rotate_point(instance, x)
    return quantities.Instance(
        lambda i, x: losses.loss_value(f[i], turned(x)),
        lambda i, x: broken.turned_back(instance, loss_gradient(f[i], turned(x))),
        instance["layers"],
        broken.layer_smoothness(instance),
        lambda norm: minimum(maximum(norm, least), most),
        instance["n"],
        instance["T"],
        instance["alpha"],
        values["beta_1"],
        values["beta_2"],
        values["v_0"],
        values["M"],
        values["phi_M"],
        broken.idle_clients(instance),
        "reset" in instance,
        instance.get("epsilon", Fraction(0)),
    )


def noise_outcomes(
    instance: Instance, steps: int
) -> list[tuple[Fraction | Counted, Callable[..., Any]]]:
    """Return [(probability, noise(t, i)), ...] over all outcomes of `steps` iterations."""
    n, each = instance["n"], outcomes(instance["noise"], len(instance["x"]))
    spend_work(n * steps)
    return [
        (prod(chance for chance, _ in way), lambda t, i, way=way: way[t * n + i][1])
        for way in count_ways(product(each, repeat=n * steps))
    ]


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return quantities of the iteration after t others, in expectation over all draws of noise."""
    if not wanted:
        return {}
    broken.has_meaning(instance, wanted)
    t, good = instance["t"], in_range(values)
    found = quantities.expect_quantities(
        build_case(instance, values),
        vector(instance["x"]),
        noise_outcomes(instance, t + 1),
        t,
        wanted,
    )
    return {name: good * value for name, value in found.items()}


def is_sound(instance: Instance) -> bool:
    """Tell whether an instance is one where its schema cannot say so: noise has mean 0, and a client
    stands for several equal clients only in a run without noise."""
    quiet = all(e == 0 for _, way in instance["noise"] for e in way)
    return (
        sound_noise(instance["noise"], len(instance["x"]))
        and ("copies" not in instance or quiet)
        and broken.is_sound(instance)
    )


def least_loss(instance: Instance) -> Number | Counted:
    """Return the infimum of the mean loss."""
    n = instance["n"]
    return minima.infimum_of(instance["losses"], [Fraction(1, n)] * n)


def list_conditions(instance: Instance) -> Any:
    """Return the conditions that an instance meets."""
    if not is_sound(instance):
        return frozenset()
    lost = name_true(
        bounded_gradient=not all(is_straight(f) for loss in instance["losses"] for f in loss),
        bounded_below=isinstance(least_loss(instance), float),
    )
    return ENSURES - lost - broken.broken_conditions(instance)


ENSURES = frozenset(
    "equal_weights layer_smooth bounded_gradient coordinate_variance bounded_scale everyone "
    "plain_moments layers_apart independent_noise bounded_below".split()
)
SHARED = dict(
    algorithms=("fed_lamb",),
    by=beside("fed_lamb", "the proof's own reading, which adds no epsilon to the root"),
    loose=dict(L_l=1, L_bar=1, M=1, sigma=1, phi_M=1, phi_m=-1),
    takes=("beta_1", "beta_2", "v_0"),
    table=TABLE,
    ensures=ENSURES,
)
FIELDS = fields_of(count("t", least=0))
conditions_held = FIELDS.guard(list_conditions)
MODEL = Model(
    name="lamb_round",
    says="one iteration of FED-LAMB from a known start",
    measures=quantities.ITERATION.measures,
    gives=("n", "T", "h", "p", "alpha", "alpha_r"),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    holds=conditions_held,
    **SHARED,
    **FIELDS.record(),
)
