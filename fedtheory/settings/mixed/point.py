"""Mixed FL's two losses at one point and at a minimiser of their sum: definition 4.2, propositions
D.5 and D.6."""

from fractions import Fraction

from fedtheory.enclosure.arithmetic import vector
from fedtheory.schema import joined
from fedtheory.settings import Setting, losses, names
from fedtheory.settings.mixed.pair import (
    FACTS,
    SCHEMA,
    above,
    bounded_dissimilarity,
    build_pair,
    draw_pair,
    minimizer,
    mixed,
    pair_constants,
    pair_coordinates,
    pair_holds,
)
from fedtheory.settings.mixed.quantities import Instance, at_point
from fedtheory.settings.quantities import sq
from fedtheory.symbols.mixed import TABLE

MEASURED = (
    "f_t",
    "gap",
    "sq_grad",
    "sq_grad_f",
    "sq_grad_c",
    "sq_dist",
    "mean_sq_change",
    "sq_change_f",
    "sq_change_c",
    "excess_D5",
    "D_sq",
    "F",
)


def shapes(random, relaxed):
    finite = "dissimilar" not in relaxed
    return draw_pair(random, relaxed, alike=finite and random.random() < 0.5)


def coordinates(shape):
    return dict(pair_coordinates(shape), more_B="nonnegative")


def build(shape, point):
    return dict(build_pair(shape, point), B=1 + point["more_B"])


def constants(instance):
    return dict(
        pair_constants(instance),
        **bounded_dissimilarity(instance),
        w_f=Fraction(1, 2),
        w_c=Fraction(1, 2),
    )


def measure(instance, values, wanted):
    pair, x = instance["losses"], vector(instance["x"])
    f, grad = mixed(pair)
    (value_f, grad_f), (value_c, grad_c) = [
        (lambda y, h=h: losses.value(h, y), lambda y, h=h: losses.grad(h, y)) for h in pair
    ]
    named = dict(
        f_t=lambda: f(x),
        gap=lambda: above(instance, x),
        F=lambda: above(instance, x),
        sq_grad=lambda: sq(grad(x)),
        sq_grad_f=lambda: sq(grad_f(x)),
        sq_grad_c=lambda: sq(grad_c(x)),
        sq_dist=lambda: sq(x - minimizer(instance)),
        D_sq=lambda: sq(x - minimizer(instance)),
    )
    found = {name: named[name]() for name in wanted if name in named}
    changes = [name for name in wanted if name not in named]
    if changes:
        case = Instance(
            value_f,
            value_c,
            grad_f,
            grad_c,
            (),
            (),
            minimizer(instance),
            1,
            1,
            1,
            None,
            None,
            values["beta"],
            values["mu"],
            None,
            None,
        )
        found.update(at_point(case, x, changes))
    return found


def holds(instance):
    held = pair_holds(instance)
    apart = (
        isinstance(losses.relative_mismatch(*instance["losses"], instance["B"]), float)
        if held
        else True
    )
    return held | ({"dissimilar"} if held and instance["B"] >= 1 and not apart else set())


SETTING = Setting(
    name="mixed_point",
    says="a point and two losses",
    measures=names(TABLE, *MEASURED),
    algorithms=(),
    gives=("w_f", "w_c"),
    loose=dict(beta=1, mu=-1, G=1, B=1),
    takes=(),
    shapes=shapes,
    coordinates=coordinates,
    build=build,
    constants=constants,
    measure=measure,
    table=TABLE,
    ensures=FACTS | {"dissimilar"},
    holds=holds,
    kind="exact",
    schema=joined(SCHEMA, dict(B="factor")),
)
