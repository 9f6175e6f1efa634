"""Mixed FL's two losses at one point and at a minimiser of their sum: definition 4.2, propositions
D.5 and D.6."""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import vector
from fedtheory.models import Model, losses, names
from fedtheory.models.fields import Field
from fedtheory.models.mixed.pair import (
    FACTS,
    PAIR,
    bounded_dissimilarity,
    draw_pair,
    find_minimizer,
    has_dissimilarity,
    height_above,
    mix_pair,
    pair_constants,
    pair_holds,
)
from fedtheory.models.mixed.quantities import Instance, at_point
from fedtheory.models.quantities import square_norm
from fedtheory.symbols.mixed import TABLE
from fedtheory.typing import Assignment

MEASURED = (
    "f_t gap sq_grad sq_grad_f sq_grad_c sq_dist mean_sq_change sq_change_f sq_change_c excess_D5 "
    "D_sq F".split()
)


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, Any]:
    """Draw a pair of losses; where dissimilarity is assumed, their gradients often differ by a
    constant."""
    finite = "dissimilar" not in relaxed
    return draw_pair(random, relaxed, alike=finite and random.random() < 0.5)


FIELDS = PAIR.replace(
    Field(
        "B",
        "factor",
        lambda shape, point, built: 1 + point["more_B"],
        lambda shape: {"more_B": "nonnegative"},
    )
)


def derive_constants(instance: Any) -> dict[str, Any]:
    """Return the constants of the two losses, G and B of their dissimilarity, and equal w_f,
    w_c."""
    return dict(
        pair_constants(instance),
        **bounded_dissimilarity(instance),
        w_f=Fraction(1, 2),
        w_c=Fraction(1, 2),
    )


def measure_symbols(instance: Any, values: Assignment, wanted: Sequence[str]) -> dict[str, Any]:
    """Return values, gradients and distances of f, f_f and f_c at x and at a minimiser of f."""
    pair, x = instance["losses"], vector(instance["x"])
    f, grad = mix_pair(pair)
    (value_f, grad_f), (value_c, grad_c) = [
        (lambda y, h=h: losses.loss_value(h, y), lambda y, h=h: losses.loss_gradient(h, y))
        for h in pair
    ]
    named = dict(
        f_t=lambda: f(x),
        gap=lambda: height_above(instance, x),
        F=lambda: height_above(instance, x),
        sq_grad=lambda: square_norm(grad(x)),
        sq_grad_f=lambda: square_norm(grad_f(x)),
        sq_grad_c=lambda: square_norm(grad_c(x)),
        sq_dist=lambda: square_norm(x - find_minimizer(instance)),
        D_sq=lambda: square_norm(x - find_minimizer(instance)),
    )
    found = {name: named[name]() for name in wanted if name in named}
    changes = [name for name in wanted if name not in named]
    if changes:
        case = Instance(
            *(value_f, value_c, grad_f, grad_c),
            x_star=find_minimizer(instance),
            beta=values["beta"],
            mu=values["mu"],
        )
        found.update(at_point(case, x, changes))
    return found


@FIELDS.guard
def conditions_held(instance: Any) -> frozenset[str]:
    """Return the conditions of the pair, and "dissimilar" where G and B bound the dissimilarity."""
    return pair_holds(instance) | ({"dissimilar"} if has_dissimilarity(instance) else set())


MODEL = Model(
    name="mixed_point",
    says="a point and two losses",
    measures=names(TABLE, *MEASURED),
    gives=("w_f", "w_c"),
    loose=dict(beta=1, mu=-1, G=1, B=1),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=FACTS | {"dissimilar"},
    holds=conditions_held,
    kind="exact",
    **FIELDS.record(),
)
