"""Exact steps on the server's loss (FSL, section III-A), on losses known exactly."""

from fractions import Fraction

from fedtheory.arithmetic.operations import vector
from fedtheory.models import Setting, kernels, losses
from fedtheory.models.families import (
    POINT,
    build_family,
    draw_family,
    family_coordinates,
    upper_curvature,
)
from fedtheory.models.fsl.quantities import SERVER, Instance, server_quantities
from fedtheory.schema import entries, integer, list_of, plus
from fedtheory.symbols.fsl import TABLE


def draw_shapes(random, relaxed):
    return dict(
        N=random.choice([1, 1, 2, 3]),
        K_0=random.choice([1, 2, 3, 5, 10]),
        **draw_family(random, random.random() < 0.5, False),
    )


def list_coordinates(shape):
    return {
        **family_coordinates(shape, shape["N"] + 1),
        **{f"x_{j}": "real" for j in range(shape["d"])},
    }


def build_instance(shape, point):
    return dict(
        K_0=shape["K_0"],
        losses=build_family(shape, point, shape["N"] + 1),
        x=[point[f"x_{j}"] for j in range(shape["d"])],
    )


def derive_constants(instance):
    return dict(
        K_0=Fraction(instance["K_0"]),
        N=Fraction(len(instance["losses"]) - 1),
        L=upper_curvature(instance["losses"]),
    )


def measure_symbols(instance, values, wanted):
    f = instance["losses"]
    case = Instance(
        lambda i, y: losses.loss_value(f[i], y),
        lambda i, y: losses.loss_gradient(f[i], y),
        None,
        len(f) - 1,
        None,
        None,
        instance["K_0"],
        None,
        None,
        values["eta_0"],
        None,
        None,
        None,
    )
    return server_quantities(case, vector(instance["x"]), wanted)


def conditions_held(instance):
    f, d = instance["losses"], len(instance["x"])
    sound = len(f) >= 2 and instance["K_0"] >= 1 and d >= 1 and all(len(loss) == d for loss in f)
    return ENSURES if sound else frozenset()


ENSURES = frozenset({"smooth", "exact_gradients", "server"})
SETTING = Setting(
    name="fsl_server",
    says="exact steps on the server's loss from a known point",
    measures=SERVER.measures,
    algorithms=("server_sgd", "fsl"),
    by=kernels("fsl"),
    gives=("N", "K_0"),
    loose=dict(L=1),
    takes=("eta_0",),
    shapes=draw_shapes,
    coordinates=list_coordinates,
    build=build_instance,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=ENSURES,
    holds=conditions_held,
    kind="exact",
    schema=entries(
        dict(K_0=integer(), losses=list_of(list_of(losses.SOFTENED, "d"), plus("N", 1)), x=POINT)
    ),
)
