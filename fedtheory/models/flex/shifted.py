"""Quadratics in one dimension around a shift of the objective (flex, corollary 3.2.1): the last
device arrives or departs.

`flex_shifted` runs scheme C after the shift, from a point x in which the run before ended.
`flex_shifting` holds what is known of a run of scheme B until a device arrives: the points of this
run stay between minimisers, and it starts at rates up to 1/L.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import maximum, minimum
from fedtheory.arithmetic.work import Counted
from fedtheory.models import Model, beside, names
from fedtheory.models.fields import Fields, count, guard_by, number, word
from fedtheory.models.flex import quadratics, work_law
from fedtheory.models.flex.arrivals import sizes, sizes_field, weights
from fedtheory.models.flex.run import END, LAWS
from fedtheory.participation import moments
from fedtheory.schema import either, length_plus
from fedtheory.symbols.flex import TABLE
from fedtheory.typing import Assignment, Instance, Number, Point, Shape

AFTER = ("ps", "ps_Gamma", "ps_plus", "p2s_over_p", "p2s_sigma", "ratio_min", "ratio_max")
BEFORE = tuple(name for name in LAWS if name != "I_sum")


def draw_shapes(scheme: str, random: Random, relaxed: Set[str]) -> Any:
    """Draw devices, an event, tau_0 rounds before and up to 5 rounds after the event, and a law of
    work.

    Scheme B knows arrivals only. The law is about the devices that work: after the event for scheme
    C, before the arrival for scheme B.
    """
    N, E, event = (
        random.choice([2, 2, 3]),
        random.choice([1, 1, 2, 3]),
        random.choice(["arrival", "departure"]),
    )
    if scheme == "B":
        event = "arrival"
    return dict(
        N=N,
        E=E,
        tau_0=random.choice([0, 1, 5, 50]),
        rounds=random.choice([1, 1, 1, 2, 3, 5]),
        event=event,
        sizes=sizes(random, N),
        noise=random.choice(["none", "even"]),
        span=quadratics.draw_span(random, relaxed),
        **work_law.draw_law(
            random, N if (event, scheme) == ("arrival", "C") else N - 1, E, relaxed, scheme
        ),
    )


def list_devices(shape: Shape) -> Any:
    """Return the coordinates of the devices without weights, which follow from numbers of
    samples."""
    found = quadratics.device_coordinates(shape)
    return {name: kind for name, kind in found.items() if not name.startswith("weight")}


def build_devices(shape: Shape, point: Point, built: Any) -> Any:
    """Build the devices, with weights in proportion to their numbers of samples."""
    return {**quadratics.build_devices(shape["N"], point), "p": weights(built["n"])}


def fields_of(event: str, law_members: Any) -> Any:
    """Return the fields of an instance with an event and a law of so many devices."""
    return Fields(
        count("E"),
        count("tau_0", least=0),
        count("rounds"),
        word("event", event),
        sizes_field(),
        quadratics.devices_field(length_plus("others", 1), build_devices, list_devices),
        number("x"),
        work_law.law_field(law_members),
        quadratics.SPAN,
        order="devices law x",
    )


ARRIVAL = fields_of("arrival", "others")


def members(instance: Instance) -> tuple[int, ...]:
    """Return the numbers of devices in the objective before and after the event. The devices of the
    law are among these devices."""
    N = len(instance["n"])
    return (N - 1, N) if instance["event"] == "arrival" else (N, N - 1)


def objectives(instance: Instance) -> list[dict[str, list[Number | Counted]]]:
    """Return the devices of the objective before and after the event."""
    return [
        quadratics.choose_devices(instance["devices"], range(count)) for count in members(instance)
    ]


def shared_constants(instance: Instance) -> dict[str, Any]:
    """Return the constants that do not depend on the law."""
    devices, n, arrives = instance["devices"], instance["n"], instance["event"] == "arrival"
    old, new = map(quadratics.minimiser, objectives(instance))
    last = quadratics.choose_devices(devices, [-1])
    # Each event has its own excess, at the optimum without the device. The excess of the other
    # event is not given.
    return dict(
        E=Fraction(instance["E"]),
        L=maximum(*devices["a"]),
        mu=minimum(*devices["a"]),
        shift=abs(old - new),
        n=Fraction(sum(n[:-1] if arrives else n)),
        n_l=Fraction(n[-1]),
        Gamma_l=quadratics.excess(last, old)[0] if arrives else INF,
        tilde_Gamma_l=INF if arrives else quadratics.excess(last, new)[0],
    )


def after_constants(instance: Instance) -> dict[str, Any]:
    """Return the constants after the event: law moments, the shift, rounds, G and Delta.

    Delta is the squared distance of x to the minimiser before the event.
    """
    before, after = objectives(instance)
    laws = quadratics.law_moments(
        "C",
        after,
        instance["law"],
        instance["E"],
        quadratics.excess(after, quadratics.minimiser(after)),
        AFTER,
    )
    return dict(
        {f"tilde_{name}": value for name, value in laws.items()},
        **shared_constants(instance),
        **quadratics.law_moments("C", after, instance["law"], instance["E"], [], ["ratio_sup"]),
        tau_0=Fraction(instance["tau_0"]),
        tau=Fraction(instance["tau_0"] + instance["rounds"]),
        G=quadratics.second_moment(instance["devices"], instance["span"]),
        Delta=(instance["x"] - quadratics.minimiser(before)) ** 2,
    )


def after_measure(instance: Instance, values: Assignment, wanted: Sequence[str]) -> dict[str, Any]:
    """Return the expected squared distance to the new minimiser after the remaining rounds."""
    _, after = objectives(instance)
    rounds = moments.rounds_of("C", after["p"], instance["law"], instance["E"])
    work = sum(q * c[k] * s[k] for q, c, s in rounds for k in range(len(after["p"])))
    rates = quadratics.staircase(values["eta"], work, values["mu"], instance["rounds"])
    quadratics.record_rounds("C", [instance["x"]], after, instance["law"], rates, instance["E"])
    state = quadratics.start(instance["x"], instance["span"])
    for eta in rates:
        state = quadratics.one_round(state, after, rounds, eta, instance["E"], instance["span"])
    return dict.fromkeys(
        END,
        quadratics.kept_inside(
            quadratics.sq_distance(state, quadratics.minimiser(after)), state, instance["span"]
        ),
    )


def before_span(instance: Instance) -> list[Number | Counted]:
    """Return the interval that contains the start and all devices' minimisers, each extended by how
    far noise leads beyond the minimiser, or an empty span where the instance has none."""
    devices = instance["devices"]
    far = [r / a for r, a in zip(devices["r"], devices["a"])]
    return (
        [
            minimum(instance["x"], *(b - f for b, f in zip(devices["b"], far))),
            maximum(instance["x"], *(b + f for b, f in zip(devices["b"], far))),
        ]
        if instance["span"]
        else []
    )


def before_constants(instance: Instance) -> dict[str, Any]:
    """Return the constants of a run of scheme B before the arrival: law moments, the shift, G,
    sq_dist_0."""
    before, _ = objectives(instance)
    old = quadratics.minimiser(before)
    return dict(
        quadratics.law_moments(
            "B", before, instance["law"], instance["E"], quadratics.excess(before, old), BEFORE
        ),
        **shared_constants(instance),
        G=quadratics.second_moment(instance["devices"], before_span(instance)),
        sq_dist_0=(instance["x"] - old) ** 2,
    )


def conditions_held(side: int, instance: Instance) -> Any:
    """Return the conditions on one side of the event: 0 before, 1 after; none for other weights."""
    if instance["devices"]["p"] != weights(instance["n"]):
        return frozenset()
    return quadratics.list_conditions(instance, members(instance)[side])


SHIFTED = either(
    fields_of("arrival", length_plus("others", 1)).schema, fields_of("departure", "others").schema
)
held_after = guard_by(SHIFTED)(partial(conditions_held, 1))
held_before = ARRIVAL.guard(partial(conditions_held, 0))
SHARED = dict(
    loose=dict(L=1, mu=-1, G=1),
    coordinates_in=quadratics.UNITS,
    table=TABLE,
    ensures=quadratics.ENSURES,
)
MODELS = [
    Model(
        name="flex_shifted",
        says="rounds of scheme C after an arrival or a departure, on quadratics in one dimension",
        measures=names(
            TABLE, "sq_dist_new", "shift", "ratio_sup", *(f"tilde_{name}" for name in AFTER)
        ),
        algorithms=("flex_c",),
        by=beside("flex_c", quadratics.WHY),
        gives=("E", "tau", "tau_0", "n", "n_l", "Gamma_l", "tilde_Gamma_l"),
        **SHARED | {"loose": dict(L=1, mu=-1, G=1, Delta=1)},
        takes=("eta",),
        shapes=partial(draw_shapes, "C"),
        **ARRIVAL.record() | {"schema": SHIFTED},
        constants=quadratics.check_instance(after_constants, held_after),
        measure=after_measure,
        early=frozenset(("shift", "ratio_sup", *(f"tilde_{name}" for name in AFTER))),
        holds=held_after,
        runs=quadratics.is_paced,
    ),
    Model(
        name="flex_shifting",
        says="a run of scheme B until a device arrives, on quadratics in one dimension",
        measures=names(TABLE, "sq_dist_0", "shift", *BEFORE),
        algorithms=("flex_b",),
        by=beside("flex_b", "the coefficients of section 4.1"),
        gives=("E", "n", "n_l", "Gamma_l", "tilde_Gamma_l"),
        optional=("tau", "Delta"),  # the device may arrive in any round
        **SHARED,
        shapes=partial(draw_shapes, "B"),
        **ARRIVAL.record(),
        constants=quadratics.check_instance(before_constants, held_before),
        measure=lambda instance, values, wanted: {},
        early=frozenset(("sq_dist_0", "shift", *BEFORE)),
        holds=held_before,
    ),
]
