"""One iteration of FED-LAMB from a known start, on losses of bounded gradient, with noise by
enumeration (appendix A.2).

Curves are piecewise quadratic, and linear far from the origin. Therefore H2's M, the supremum of a
stochastic gradient's norm over all of R^d, is known exactly. Iterations before the last provide the
history: momentum, drift inside a round, a larger v. Quantities of lemmas 1 and 2 are also taken in
expectation; a bound on every outcome implies a bound on the expectation.
"""

from fractions import Fraction
from itertools import product
from math import prod

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
from fedtheory.arithmetic.work import count_ways, spend
from fedtheory.models import Setting, beside, losses
from fedtheory.models.families import outcomes, sound_noise, two_point
from fedtheory.models.lamb import broken, quantities
from fedtheory.models.quantities import next_integer
from fedtheory.schema import either, entries, integer, join_schemas, list_of, row
from fedtheory.symbols.lamb import TABLE

BELOW_1 = 1 - Fraction(
    1, 2**20
)  # the largest decay in a search: rounding may give 1, where quantities are undefined
ROUNDING = 1e-12
MOST = 16  # most outcomes of the noise that are enumerated


def draw_common(random, steps):
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


def draw_shapes(random, relaxed):
    T = random.choice([1, 2, 2, 3])
    t = random.choice([0, 0, 1, 2] if T == 1 else [1, T - 1, T - 1, T, 2 * T - 1])
    return broken.draw_shape(random, relaxed, dict(T=T, t=t, **draw_common(random, t + 1)))


def _curve_names(shape):
    """Yield (client, coordinate, function that names the numbers of its curve). Where clients share
    curves, the names are those of client 0."""
    for i in range(shape["n"]):
        for j in range(shape["p"]):
            of = i if shape["own"] == "slopes" else 0
            yield i, j, lambda what, of=of, j=j: f"{what}_{of}_{j}"


def list_coordinates(shape):
    found = {"alpha": "positive", "scale": "positive", "phi": "positive"}
    if not shape["flat"]:
        found["phi_more"] = "positive"
    if shape["noise"] != "none":
        found["sigma"] = "positive"
    if "crowd" in shape:
        found["crowd"] = "positive"
    for i, j, name in _curve_names(shape):
        found[f"x_{j}"] = found[name("knot")] = "real"
        found[name("lean")] = "unit"
        for k in range(shape["pieces"]):
            found.update({name(f"slope{k}"): "unit", name(f"gap{k}"): "positive"})
        if shape["own"] != "none" and i:
            found[f"tilt_{i}_{j}"] = "real"
    return found | broken.list_coordinates(shape)


def build_losses(shape, point):
    """Build the losses of every client: curves bent between knots, with gradients tilted by amounts
    that add up to 0."""
    scale = point["scale"]
    bend = lambda u: scale * u if shape["convex"] else scale * (2 * u - 1)
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


def build_instance(shape, point):
    p, h = shape["p"], shape["h"]
    noise = two_point(point.get("sigma"), shape["noise"], p)
    if shape["spread"] == "all":  # all coordinates have the same noise
        noise = [[chance, [way[0]] * p] for chance, way in noise]
    first = p - h + 1  # all layers but the first have one coordinate
    copies = {"copies": next_integer(point["crowd"])} if "crowd" in shape else {}
    return dict(
        {name: shape[name] for name in ("n", "T", "t", "R") if name in shape},
        **copies,
        **broken.broken_entries(shape, point),
        layers=[[0, first], *([j, j + 1] for j in range(first, p))],
        losses=build_losses(shape, point),
        x=[point[f"x_{j}"] for j in range(p)],
        noise=noise,
        alpha=point["alpha"],
        phi=[point["phi"], point["phi"] + point.get("phi_more", Fraction(0))],
    )


def is_straight(f):
    """Tell whether a curve is straight beyond its first and last knots, so that its gradient is
    bounded."""
    ends = losses.second_derivatives(f)[0], losses.second_derivatives(f)[-1]
    # batches are built with straight ends
    return all(isinstance(end, Many) or end == 0 for end in ends)


def gradient_bound(instance):
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


def derive_constants(instance):
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


def in_range(values):
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


def loss_gradient(loss, x):
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


def build_case(instance, values):
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


def noise_outcomes(instance, steps):
    """Return [(probability, noise(t, i)), ...] over all outcomes of `steps` iterations."""
    n, each = instance["n"], outcomes(instance["noise"], len(instance["x"]))
    spend(n * steps)
    return [
        (prod(chance for chance, _ in way), lambda t, i, way=way: way[t * n + i][1])
        for way in count_ways(product(each, repeat=n * steps))
    ]


def measure_symbols(instance, values, wanted):
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


def is_sound(instance):
    """Tell whether the parts of an instance fit together."""
    p, layers = len(instance["x"]), instance["layers"]
    counts = [instance[name] for name in ("n", "T", "t", "R") if name in instance]
    return (
        all(type(k) is int for k in counts)
        and min(instance["n"], instance["T"], instance.get("R", 1)) >= 1
        and instance.get("t", 0) >= 0
        and len(instance["losses"]) == instance["n"]
        and all(len(loss) == p for loss in instance["losses"])
        and instance["alpha"] > 0
        and [j for layer in layers for j in range(*layer)] == list(range(p))
        and all(a < b for a, b in layers)
        and 0 < instance["phi"][0] <= instance["phi"][1]
        and all(len(way) == p for _, way in instance["noise"])
        and not any(f.get("soft") for loss in instance["losses"] for f in loss)
        and sound_noise(instance["noise"], p)
        and ("copies" not in instance or may_copy(instance))
        and broken.is_sound(instance)
    )


def may_copy(instance):
    """Tell whether each client of an instance may stand for `copies` equal clients: a whole number
    of copies, in a run without noise."""
    copies = instance["copies"]
    return (
        "t" not in instance
        and isinstance(copies, (int, Fraction))
        and copies >= 1
        and copies.denominator == 1
        and all(e == 0 for _, way in instance["noise"] for e in way)
    )


def least_loss(instance):
    """Return the infimum of the mean loss."""
    n = instance["n"]
    return losses.infimum_of(instance["losses"], [Fraction(1, n)] * n)


def conditions_held(instance):
    """Return the conditions that an instance meets."""
    if not is_sound(instance):
        return frozenset()
    bounded = all(is_straight(f) for loss in instance["losses"] for f in loss)
    below = not isinstance(least_loss(instance), float)
    return (
        ENSURES
        - (set() if bounded else {"bounded_gradient"})
        - (set() if below else {"bounded_below"})
        - broken.broken_conditions(instance)
    )


ENSURES = frozenset(
    {
        "equal_weights",
        "layer_smooth",
        "bounded_gradient",
        "coordinate_variance",
        "bounded_scale",
        "everyone",
        "plain_moments",
        "layers_apart",
        "independent_noise",
        "bounded_below",
    }
)
SHARED = dict(
    algorithms=("fed_lamb",),
    by=beside("fed_lamb", "the proof's own reading, which adds no epsilon to the root"),
    loose=dict(L_l=1, L_bar=1, M=1, sigma=1, phi_M=1, phi_m=-1),
    takes=("beta_1", "beta_2", "v_0"),
    coordinates=list_coordinates,
    build=build_instance,
    table=TABLE,
    ensures=ENSURES,
    holds=conditions_held,
)
SCHEMA = entries(
    dict(
        n=integer(),
        T=integer(),
        layers=list_of(row(integer(0), integer()), "h", covering="p"),
        losses=list_of(list_of(losses.CURVE, "p"), "n"),
        x=list_of("number", "p"),
        noise=either(
            list_of("number", 0), list_of(row("positive", list_of("number", "p")), total=0)
        ),
        alpha="positive",
        phi=list_of("positive", 2, rising=None),
    ),
    broken.SCHEMA,
)
SETTING = Setting(
    name="lamb_round",
    says="one iteration of FED-LAMB from a known start",
    measures=quantities.ITERATION.measures,
    schema=join_schemas(SCHEMA, dict(t=integer(0))),
    gives=("n", "T", "h", "p", "alpha", "alpha_r"),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    **SHARED,
)
