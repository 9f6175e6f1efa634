"""Sampled gradients of a cohort and of the center, with the proportions of influence (mixed FL,
(7)).

There are no losses: S client gradients and one central gradient are free vectors, because (7) and
definition 4.2 only speak of observed gradients. Measured are squared norms and the least G_t^2 and
B_t^2 for which definition 4.2 holds with the other constant at its least value.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import vector
from fedtheory.models import Model, names
from fedtheory.models.families import POINT
from fedtheory.models.fields import read_vector
from fedtheory.models.quantities import square_norm
from fedtheory.schema import entries, list_of
from fedtheory.symbols.mixed import TABLE
from fedtheory.typing import Assignment, Instance, Point, Shape

MEASURED = "sq_seen_f sq_seen_c sq_seen G_t_sq B_t_sq".split()


def draw_shapes(random: Random, relaxed: Set[Any]) -> dict[str, int]:
    """Draw the dimension and the cohort's size S, each from 1 to 3."""
    return dict(d=random.choice([1, 1, 2, 3]), S=random.choice([1, 2, 3]))


def list_coordinates(shape: Shape) -> dict[str, str]:
    """Return the coordinates of the central gradient and of the S clients' gradients."""
    whose = ["c", *range(shape["S"])]
    return {f"g_{name}_{j}": "real" for j in range(shape["d"]) for name in whose}


def build_instance(shape: Shape, point: Point) -> dict[str, list[Any]]:
    """Build {clients: S gradients, center: one gradient} at a point."""
    part = lambda who: read_vector(point, f"g_{who}", shape["d"])
    return dict(clients=[part(i) for i in range(shape["S"])], center=part("c"))


def derive_constants(instance: Instance) -> dict[str, Fraction]:
    """Return S, the size of the cohort."""
    return dict(S=Fraction(len(instance["clients"])))


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return squared norms of the gradients, and the estimates G_t^2 and B_t^2.

    With g_f the mean of the clients' gradients and g_c the center's, definition 4.2 bounds w_f
    ||g_f / w_f||^2 + w_c ||g_c / w_c||^2; G_t^2 is its excess over ||g_f + g_c||^2, and B_t^2 its
    ratio to this number.
    """
    w_f, w_c = values["w_f"], values["w_c"]
    f, c = (
        sum(map(vector, instance["clients"])) / len(instance["clients"]),
        vector(instance["center"]),
    )
    needed = lambda: (
        w_f * square_norm(f / w_f) + w_c * square_norm(c / w_c)
    )  # the left side of definition 4.2
    named = dict(
        sq_seen_f=lambda: square_norm(f),
        sq_seen_c=lambda: square_norm(c),
        sq_seen=lambda: square_norm(f + c),
        G_t_sq=lambda: needed() - square_norm(f + c),
        B_t_sq=lambda: needed() / square_norm(f + c),
    )
    return {name: named[name]() for name in wanted}


MODEL = Model(
    name="mixed_samples",
    says="sampled gradients",
    measures=names(TABLE, *MEASURED),
    gives=("S",),
    takes=("w_f", "w_c"),
    shapes=draw_shapes,
    coordinates=list_coordinates,
    build=build_instance,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    kind="exact",
    schema=entries(dict(clients=list_of(POINT, "S"), center=POINT)),
)
