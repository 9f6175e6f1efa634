"""One round of flex with given noise and given work, on quadratics: both lines of (2).

Device k does s^k steps from x on a_k w^2 / 2, with a tilt of its own at each step in the place of
noise, so that any sequence of gradients can occur. Measured is how far the two lines of (2), and
two readings of the coefficients, are apart. Nothing is random.
"""

from collections.abc import Callable, Collection, Sequence, Set
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from fedtheory import discover
from fedtheory.arithmetic.operations import vector
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.traces import Losses
from fedtheory.exact.typical_path import Round, record_path
from fedtheory.models import Model, beside, fields, names
from fedtheory.models.families import POINT
from fedtheory.models.fields import Field, Fields, count, name_true, name_vector, read_vector
from fedtheory.models.flex import quadratics, work_law
from fedtheory.participation import moments
from fedtheory.schema import integer, list_of
from fedtheory.symbols.flex import TABLE
from fedtheory.typing import Assignment, Instance, Number, Point, Shape

ENSURES = frozenset(
    {"devices_smooth", "devices_strongly_convex", "all_active", "some_complete", "full_work"}
)


def draw_shapes(scheme: str, random: Random, relaxed: Set[str]) -> Any:
    """Draw N devices, E and each device's steps s^k.

    A device does all E steps if full work is assumed, and at least one step if activity is assumed.
    Scheme A needs a device that completes E steps.
    """
    N, E = random.choice([1, 1, 2, 3]), random.choice([1, 2, 3])
    lowest = E if "full_work" not in relaxed else 1 if "all_active" not in relaxed else 0
    s = [random.randint(lowest, E) for _ in range(N)]
    if scheme == "A" or "some_complete" not in relaxed:
        s[0] = E
    return dict(N=N, E=E, s="".join(map(str, s)), d=random.choice([1, 1, 2]))


def list_devices(shape: Shape) -> Any:
    """Return the coordinates of the devices: curvatures, and the noise of each gradient, with one
    gradient more than is applied."""
    found, d = {}, shape["d"]
    for k, s in enumerate(shape["s"]):
        found.update(name_vector(f"a_{k}", d, "positive"))
        for i in range(int(s) + 1):
            found.update(name_vector(f"tilt_{k}_{i}", d))
        if shape["N"] > 1:
            found[f"weight_{k}"] = "positive"
    return found


def build_curvatures(shape: Shape, point: Point, built: Any) -> Any:
    """Return the curvatures of each device by coordinate."""
    return [read_vector(point, f"a_{k}", shape["d"]) for k in range(shape["N"])]


def build_tilts(shape: Shape, point: Point, built: Any) -> Any:
    """Return the tilts of each device: one for each step, and one more."""
    return [
        [read_vector(point, f"tilt_{k}_{i}", shape["d"]) for i in range(int(s) + 1)]
        for k, s in enumerate(shape["s"])
    ]


def build_weights(shape: Shape, point: Point, built: Any) -> Any:
    """Return the weights p_k of the devices: positive, with sum 1."""
    return work_law.shares([point.get(f"weight_{k}", quadratics.ONE) for k in range(shape["N"])])


def fields_of(scheme: str) -> Any:
    """Return the fields of a round of a scheme."""
    work = lambda shape, point, built: [int(s) for s in shape["s"]]
    return Fields(
        quadratics.scheme_field(scheme),
        count("E"),
        Field("s", list_of(integer(0, "E"), "N"), work),
        fields.vector("x"),
        Field("a", list_of(list_of("positive", "d"), "N"), build_curvatures, list_devices),
        Field("tilt", list_of(list_of(POINT, ["item", "s", 1]), "N"), build_tilts),
        Field("p", list_of("positive", "N", total=None), build_weights),
    )


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return E, N, and L and mu: the largest and the least curvature."""
    return dict(
        E=Fraction(instance["E"]),
        N=Fraction(len(instance["s"])),
        L=quadratics.maximum(*(a for row in instance["a"] for a in row)),
        mu=quadratics.minimum(*(a for row in instance["a"] for a in row)),
    )


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Collection[str]
) -> dict[str, Any]:
    """Return squared distances between the lines of (2) with step size eta and the scheme's
    p_tau."""
    p_tau = moments.coefficients(instance["scheme"], instance["p"], instance["s"], instance["E"])
    grad = lambda k, i, w: vector(instance["a"][k]) * w + vector(instance["tilt"][k][i])
    found = moments.two_lines(grad, vector(instance["x"]), p_tau, instance["s"], values["eta"])
    record_path(instance["x"], [as_round(instance, values["eta"])])
    if "sq_gap_rate" in wanted:
        found["sq_gap_rate"] = of_rates(grad, instance, p_tau, values["eta"])
    return {name: found[name] for name in wanted}


def as_round(instance: Instance, eta: Number | Counted) -> Round:
    """Build the round as its method runs it: losses a w^2 / 2, with tilts that are noise."""
    scheme, s = instance["scheme"].lower(), tuple(instance["s"])
    losses = Losses(
        lambda i, w: vector(instance["a"][i - 1]) * w,
        lambda i, k: [(Fraction(1), vector(instance["tilt"][i - 1][k]))],
        (Fraction(0), *instance["p"]),
        len(instance["x"]),
    )
    law = [(Fraction(1), tuple(range(1, len(s) + 1)), s)]
    return Round(discover.algorithm(f"flex_{scheme}"), losses, dict(eta=eta, E=instance["E"]), law)


def of_rates(
    grad: Callable[..., Any], instance: Instance, p_tau: Sequence[Number], eta: Number
) -> Number:
    """Return the squared distance between two readings: scaling what each device sends by c / p,
    and scaling the learning rate of that device's steps by c / p."""
    x, gap = vector(instance["x"]), vector(instance["x"]) * 0
    for k, (c, p, steps) in enumerate(zip(p_tau, instance["p"], instance["s"])):
        w = faster = x
        for i in range(steps):
            w = w - eta * grad(k, i, w)
            faster = faster - eta * (c / p) * grad(k, i, faster)
        gap = gap + c * (w - x) - p * (faster - x)
    return gap.dot(gap)


def list_conditions(instance: Instance) -> Any:
    """Return the conditions on activity and work that the given steps meet, none without sum p =
    1."""
    s, E = instance["s"], instance["E"]
    lost = name_true(all_active=0 in s, some_complete=E not in s, full_work=set(s) != {E})
    return ENSURES - lost if sum(instance["p"]) == 1 else frozenset()


def make_model(scheme: str) -> Any:
    """Return the model of one round of a scheme, "A", "B" or "C"."""
    method, fields = f"flex_{scheme.lower()}", fields_of(scheme)
    conditions_held = fields.guard(list_conditions)
    return Model(
        name=f"flex_round_{scheme.lower()}",
        says=f"one round of scheme {scheme} with any noise and work",
        measures=names(TABLE, "sq_gap_eq2 sq_gap_printed sq_extra sq_gap_rate"),
        algorithms=(method,),
        by=beside(method, "both lines of (2) as they stand"),
        gives=("E", "N"),
        loose=dict(L=1, mu=-1),
        takes=("eta",),
        shapes=partial(draw_shapes, scheme),
        constants=quadratics.check_instance(derive_constants, conditions_held),
        measure=measure_symbols,
        table=TABLE,
        ensures=ENSURES,
        holds=conditions_held,
        kind="exact",
        **fields.record(),
    )


MODELS = [make_model(scheme) for scheme in moments.SCHEMES]
