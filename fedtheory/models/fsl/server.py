"""Exact steps on the server's loss (FSL, section III-A), on losses known exactly.

K_0 steps of size eta_0 are taken with exact gradients of f_0 from a known point, by the kernels of
FSL. Measured are F before and after the steps, and squared norms, inner products and differences of grad F and grad f_0 on the way.
There is neither noise nor a cohort, so each instance has a single outcome.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import vector
from fedtheory.models import Model, fields, kernels, losses
from fedtheory.models.families import draw_family, upper_curvature
from fedtheory.models.fields import Fields, count, family
from fedtheory.models.fsl.quantities import SERVER, Instance, server_quantities
from fedtheory.schema import length_plus, list_of
from fedtheory.symbols.fsl import TABLE
from fedtheory.typing import Assignment

LOSSES = list_of(list_of(losses.SOFTENED, "d"), length_plus("N", 1))
FIELDS = Fields(
    count("K_0"), family("losses", LOSSES, lambda shape: shape["N"] + 1), fields.vector("x")
)


def draw_shapes(random: Random, relaxed: Set[Any]) -> dict[str, int]:
    """Draw 1 to 3 clients, K_0 from 1 to 10 and a family of losses, convex in half of the cases."""
    return dict(
        N=random.choice([1, 1, 2, 3]),
        K_0=random.choice([1, 2, 3, 5, 10]),
        **draw_family(random, random.random() < 0.5, False),
    )


def derive_constants(instance: Any) -> dict[str, Any]:
    """Return K_0, N, and L: the least L with which all losses lie below their upper quadratics."""
    return dict(
        K_0=Fraction(instance["K_0"]),
        N=Fraction(len(instance["losses"]) - 1),
        L=upper_curvature(instance["losses"]),
    )


def measure_symbols(instance: Any, values: Assignment, wanted: Sequence[str]) -> dict[str, Any]:
    """Return the server's quantities at x, with K_0 steps of size eta_0 on f_0."""
    f = instance["losses"]
    case = Instance(
        lambda i, y: losses.loss_value(f[i], y),
        lambda i, y: losses.loss_gradient(f[i], y),
        N=len(f) - 1,
        K_0=instance["K_0"],
        eta_0=values["eta_0"],
    )
    return server_quantities(case, vector(instance["x"]), wanted)


ENSURES = frozenset({"smooth", "exact_gradients", "server"})


@FIELDS.guard
def conditions_held(instance: Any) -> frozenset[str]:
    """Return every condition of the model: gradients are exact and losses smooth by
    construction."""
    return ENSURES


MODEL = Model(
    name="fsl_server",
    says="exact steps on the server's loss from a known point",
    measures=SERVER.measures,
    algorithms=("server_sgd", "fsl"),
    by=kernels("fsl"),
    gives=("N", "K_0"),
    loose=dict(L=1),
    takes=("eta_0",),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=ENSURES,
    holds=conditions_held,
    kind="exact",
    **FIELDS.record(),
)
