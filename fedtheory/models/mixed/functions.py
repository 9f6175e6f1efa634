"""One function at three points: mixed FL's perturbed strong convexity and contracting map (lemmas
D.7 and D.8)."""

from fedtheory.arithmetic.operations import positive_part, vector
from fedtheory.models import Setting, losses
from fedtheory.models.families import POINT, build_family, draw_family, family_coordinates
from fedtheory.models.mixed.quantities import FUNCTION, of_function
from fedtheory.schema import entries, list_of
from fedtheory.symbols.mixed import TABLE

POINTS = ("x", "y", "z")


def draw_shapes(random, relaxed):
    return draw_family(random, "convex" not in relaxed or random.random() < 0.5, True)


def list_coordinates(shape):
    found = family_coordinates(shape, 1)
    found.update({f"{name}_{j}": "real" for name in POINTS for j in range(shape["d"])})
    return found


def build_instance(shape, point):
    return dict(
        loss=build_family(shape, point, 1)[0],
        **{name: [point[f"{name}_{j}"] for j in range(shape["d"])] for name in POINTS},
    )


def derive_constants(instance):
    return dict(
        beta=losses.smoothness_of(instance["loss"]),
        mu=positive_part(losses.convexity_of(instance["loss"])),
    )


def measure_symbols(instance, values, wanted):
    h, points = instance["loss"], [vector(instance[name]) for name in POINTS]
    return of_function(
        lambda y: losses.loss_value(h, y),
        lambda y: losses.loss_gradient(h, y),
        *points,
        values["eta"],
        wanted,
    )


def conditions_held(instance):
    if any(len(instance[name]) != len(instance["loss"]) for name in POINTS):
        return frozenset()
    return frozenset(
        {"smooth", "convex"} if losses.convexity_of(instance["loss"]) >= 0 else {"smooth"}
    )


SETTING = Setting(
    name="mixed_functions",
    says="a function at three points",
    measures=FUNCTION.measures,
    algorithms=(),
    gives=(),
    loose=dict(beta=1, mu=-1),
    takes=("eta",),
    shapes=draw_shapes,
    coordinates=list_coordinates,
    build=build_instance,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=frozenset({"smooth", "convex"}),
    holds=conditions_held,
    kind="exact",
    schema=entries(dict(loss=list_of(losses.SOFTENED, "d"), **dict.fromkeys(POINTS, POINT))),
)
