"""One function at three points: mixed FL's perturbed strong convexity and contracting map (lemmas
D.7 and D.8).

The loss h is separable with soft or sharp corners; x, y and z are free. Its smoothness beta and
strong convexity mu are exact. Measured are values, inner products and distances at the three
points, and after a gradient step of size eta. No method, no noise and no second loss enter.
"""

from collections.abc import Sequence, Set
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import positive_part, vector
from fedtheory.models import Model, fields, losses
from fedtheory.models.families import draw_family
from fedtheory.models.fields import Fields, single_loss
from fedtheory.models.mixed.quantities import FUNCTION, of_function
from fedtheory.schema import list_of
from fedtheory.symbols.mixed import TABLE
from fedtheory.typing import Assignment, Instance

POINTS = ("x", "y", "z")


def draw_shapes(random: Random, relaxed: Set[Any]) -> dict[str, Any]:
    """Draw the shape of a single loss; convexity is left out in half of the cases where it is not
    assumed."""
    return draw_family(random, "convex" not in relaxed or random.random() < 0.5, True)


FIELDS = Fields(
    single_loss("loss", list_of(losses.SOFTENED, "d")), *(fields.vector(name) for name in POINTS)
)


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return beta, the Lipschitz constant of h', and mu, its least curvature or 0 if this is
    negative."""
    return dict(
        beta=losses.smoothness_of(instance["loss"]),
        mu=positive_part(losses.convexity_of(instance["loss"])),
    )


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return the quantities of lemmas D.7 and D.8 of h at x, y and z, with steps of size eta."""
    h, points = instance["loss"], [vector(instance[name]) for name in POINTS]
    return of_function(
        lambda y: losses.loss_value(h, y),
        lambda y: losses.loss_gradient(h, y),
        *points,
        values["eta"],
        wanted,
    )


@FIELDS.guard
def conditions_held(instance: Instance) -> frozenset[Any]:
    """Return "smooth", and "convex" where no piece of the loss has negative curvature."""
    return {"smooth", "convex"} if losses.convexity_of(instance["loss"]) >= 0 else {"smooth"}


MODEL = Model(
    name="mixed_functions",
    says="a function at three points",
    measures=FUNCTION.measures,
    loose=dict(beta=1, mu=-1),
    takes=("eta",),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=frozenset({"smooth", "convex"}),
    holds=conditions_held,
    kind="exact",
    **FIELDS.record(),
)
