"""One loss at two points: the inequalities of smoothness and convexity.

A separable loss with sharp corners, points x and y, and a share lam of their mean are free.
Measured are values, the gap of f(x) to inf f, squared norms of points, gradients and their change,
and inner products. No method runs.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import vector
from fedtheory.arithmetic.work import Counted
from fedtheory.models import Model, fields, losses, minima, names
from fedtheory.models.families import draw_family, upper_curvature
from fedtheory.models.fields import Fields, flag, name_true, single_loss
from fedtheory.models.general.clients import height_above, size_of_losses
from fedtheory.models.quantities import square_norm
from fedtheory.symbols.run import TABLE
from fedtheory.typing import Assignment, Instance, Number

MEASURED = (
    "f_x f_y f_mix gap_x sq_x sq_y sq_sum sq_xy inner_points sq_grad_x sq_change inner_xy "
    "inner_change".split()
)


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, int | str]:
    """Draw the shape of one loss; where the claim assumes convexity or a quadratic, the loss is
    drawn so."""
    convex = "convex" not in relaxed or "strongly_convex" not in relaxed or random.random() < 0.3
    shape = draw_family(random, int(convex), False, soft=False)
    lipschitz = int("lipschitz" not in relaxed or convex or random.random() < 0.5)
    return dict(
        shape, lipschitz=lipschitz, pieces=1 if "quadratic" not in relaxed else shape["pieces"]
    )


FIELDS = Fields(
    flag("lipschitz"), single_loss("loss", losses.LOSS), *(fields.vector(name) for name in "xy")
)


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return d, L (Lipschitz, or only the largest curvature) and mu, the least curvature."""
    f = instance["loss"]
    return dict(
        d=Fraction(len(f)),
        L=losses.smoothness_of(f) if instance["lipschitz"] else upper_curvature([f]),
        mu=losses.convexity_of(f),
    )


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return values, gradients and inner products of the loss at x and y."""
    f, x, y = instance["loss"], vector(instance["x"]), vector(instance["y"])
    value, g, h = (
        lambda z: losses.loss_value(f, z),
        losses.loss_gradient(f, x),
        losses.loss_gradient(f, y),
    )

    def gap() -> Number | Counted:
        infimum, x_star = minima.least_point([f], [Fraction(1)])
        return height_above(
            value(x),
            infimum,
            size_of_losses([f], losses.smoothness_of(f), x, x_star),
            square_norm(x - x_star),
        )

    named = dict(
        f_x=lambda: value(x),
        f_y=lambda: value(y),
        f_mix=lambda: value(values["lam"] * x + (1 - values["lam"]) * y),
        gap_x=gap,
        sq_x=lambda: square_norm(x),
        sq_y=lambda: square_norm(y),
        sq_sum=lambda: square_norm(x + y),
        sq_xy=lambda: square_norm(x - y),
        inner_points=lambda: x.dot(y),
        sq_grad_x=lambda: square_norm(g),
        sq_change=lambda: square_norm(g - h),
        inner_xy=lambda: g.dot(y - x),
        inner_change=lambda: (g - h).dot(x - y),
    )
    return {name: named[name]() for name in wanted}


@FIELDS.guard
def conditions_held(instance: Instance) -> frozenset[Any]:
    f = instance["loss"]
    low, high = losses.curvature_range(f)
    infimum = minima.infimum_of([f], [Fraction(1)])
    return {"smooth"} | name_true(
        lipschitz=instance["lipschitz"] or low >= -high,
        convex=low >= 0,
        strongly_convex=low > 0,
        quadratic=all(not c["bends"] for c in f),
        bounded_below=not isinstance(infimum, float),
    )


MODEL = Model(
    name="run_points",
    says="one loss at two points",
    measures=names(TABLE, *MEASURED),
    gives=("d",),
    loose=dict(L=1, mu=-1),
    takes=("lam",),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    holds=conditions_held,
    kind="exact",
    **FIELDS.record(),
    ensures=frozenset(
        {"smooth", "lipschitz", "convex", "strongly_convex", "quadratic", "bounded_below"}
    ),
)
