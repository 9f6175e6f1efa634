"""Departure of a device (flex, section 4.3): losses at the deadline if the device is kept or
excluded, and the time from which on (8) holds.

The constants V, gamma and D of the bounds have their definitions' values at the smallest theta: of
(3) with all devices, and of (6) without the departing device, where Delta is the mean squared
distance at the departure. The text does not say whether D refers to the work before or after the
departure. Therefore (8) is checked with the smaller D, and so holds with both.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory import arithmetic
from fedtheory.arithmetic import Undefined, operations
from fedtheory.arithmetic.operations import Interval, Many, maximum, minimum, where
from fedtheory.arithmetic.work import Counted
from fedtheory.models import Model, beside, names
from fedtheory.models.fields import Field, Fields, count
from fedtheory.models.flex import quadratics, work_law
from fedtheory.models.flex.run import LAWS
from fedtheory.participation import moments
from fedtheory.schema import length_plus
from fedtheory.symbols.flex import TABLE
from fedtheory.typing import Assignment, Instance, Number, Point, Shape

BOTH = ("loss_included", "loss_excluded")


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, int | str]:
    N, E = random.choice([2, 2, 3]), random.choice([1, 1, 2])
    tau_0, law = random.choice([1, 1, 1, 2, 3]), work_law.draw_law(random, N, E, relaxed, "C")
    while not work_law.may_work(law, N - 1):
        law = work_law.draw_law(random, N, E, relaxed, "C")
    return dict(
        N=N,
        E=E,
        tau_0=tau_0,
        T=tau_0 + random.choice([1, 1, 2, 3, 5]),
        noise=random.choice(["none", "even"]),
        span=quadratics.draw_span(random, relaxed),
        **law,
    )


def build_devices(shape: Shape, point: Point, built: Any) -> Any:
    """Build the devices. The last one and the start are placed by their distances from minimisers,
    because (8) needs bounds that become small."""
    devices = quadratics.build_devices(shape["N"], point)
    *others, last = devices["b"]
    rest = quadratics.choose_devices(devices, range(shape["N"] - 1))
    devices["b"] = [*others, last + quadratics.minimiser(rest)]
    return devices


ALL = length_plus("others", 1)
FIELDS = Fields(
    count("E"),
    count("tau_0"),
    count("T", least=length_plus("tau_0", 1)),
    quadratics.devices_field(ALL, build_devices),
    Field(
        "x",
        "number",
        lambda shape, point, built: point["x"] + quadratics.minimiser(built["devices"]),
        lambda shape: {"x": "real"},
    ),
    work_law.law_field(ALL),
    quadratics.SPAN,
    order="devices law x",
)


def remaining(instance: Instance) -> tuple[dict[str, list[Fraction | Counted]], list[list[Any]]]:
    """Return the devices and the law of work without the last device."""
    rest = range(len(instance["devices"]["a"]) - 1)
    return quadratics.choose_devices(instance["devices"], rest), [
        [q, s[:-1]] for q, s in instance["law"]
    ]


def of_bound(
    devices: Mapping[str, list[Fraction | Counted]],
    law: Sequence[list[Any]],
    instance: Instance,
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """Return gamma, D, V and the expected work of theorem 3.1 for these devices. `more` gives
    sq_dist_0 or tilde_start."""
    E = instance["E"]
    found = quadratics.law_moments(
        "C",
        devices,
        law,
        E,
        quadratics.excess(devices, quadratics.minimiser(devices)),
        [name for name in LAWS if name != "I_sum"],
    )
    if not isinstance(found["ps"], Many) and found["ps"] == 0:
        raise Undefined("a bound where nothing is ever done")
    found.update(
        more,
        E=Fraction(E),
        theta=found["ratio_sup"],
        L=maximum(*instance["devices"]["a"]),
        mu=minimum(*instance["devices"]["a"]),
        G=quadratics.second_moment(instance["devices"], instance["span"]),
    )
    for name in ("gamma", "D", "B_tau", "V"):
        found[name] = value(name, found)
    return found


def value(name: str, found: Mapping[str, Any]) -> Number | Counted:
    """Return the value of a derived symbol of the table; infinite where gradients are not bounded."""
    return (
        found["G"]
        if isinstance(found["G"], float)
        else arithmetic.execute_program(
            arithmetic.compile_expression(TABLE[name].definition), operations.PLAIN, found
        )
    )


def until_departure(instance: Instance) -> tuple[dict[str, Any], tuple[Fraction | Counted, ...]]:
    """Return the numbers of the bound (3) with all devices, and the state at the departure."""
    devices, law, span = instance["devices"], instance["law"], instance["span"]
    kept = of_bound(
        devices, law, instance, dict(sq_dist_0=(instance["x"] - quadratics.minimiser(devices)) ** 2)
    )
    state = quadratics.start(instance["x"], span)
    if span:
        rounds = moments.rounds_of("C", devices["p"], law, instance["E"])
        for t in range(instance["tau_0"]):
            state = quadratics.one_round(state, devices, rounds, rate(kept, t), instance["E"], span)
    return kept, state


def rate(bound: Mapping[str, Any], t: int) -> Fraction | Counted:
    """Return the learning rate eta of theorem 3.1 in its round t."""
    return 16 * bound["E"] / (bound["mu"] * bound["ps"]) / (t * bound["E"] + bound["gamma"])


def exclude_device(instance: Instance, state: Sequence[Fraction | Counted]) -> dict[str, Any]:
    """Return the numbers of the bound (6) without the departing device."""
    devices, law = remaining(instance)
    old, new = quadratics.minimiser(instance["devices"]), quadratics.minimiser(devices)
    Delta, shift = quadratics.sq_distance(state, old), abs(old - new)
    return of_bound(
        devices,
        law,
        instance,
        dict(sq_dist_0=Delta + 2 * operations.root(Delta) * shift + shift * shift),
    )


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return V, gamma and D of the bounds (3) and (6), E, L, mu, G, tau_0 and T.

    D is the smaller of two readings: with the work before and after the departure.
    """
    kept, state = until_departure(instance)
    without, devices = exclude_device(instance, state), instance["devices"]
    gone = quadratics.law_moments(
        "C",
        devices,
        [[q, [*s[:-1], 0]] for q, s in instance["law"]],
        instance["E"],
        quadratics.excess(devices, quadratics.minimiser(devices)),
        ["ps", "ps_Gamma"],
    )
    D = minimum(kept["D"], value("D", {**kept, **gone}))
    return dict(
        V_0=kept["V"],
        gamma_0=kept["gamma"],
        D_0=D,
        V_1=without["V"],
        gamma_1=without["gamma"],
        E=kept["E"],
        L=kept["L"],
        mu=kept["mu"],
        G=kept["G"],
        tau_0=Fraction(instance["tau_0"]),
        T=Fraction(instance["T"]),
    )


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return the expected losses at the deadline T, with the device kept and with the device
    excluded.

    Each objective is measured with its own weights and minimiser, after its own learning rates.
    """
    (kept, state), span, E = until_departure(instance), instance["span"], instance["E"]
    devices, (rest, law) = instance["devices"], remaining(instance)
    without = exclude_device(instance, state)
    runs = dict(  # device kept: its weight stays, and no update of the device arrives
        loss_included=(devices, devices["p"][:-1], lambda t: rate(kept, t)),
        loss_excluded=(rest, rest["p"], lambda t: rate(without, t - instance["tau_0"])),
    )
    found, before, later = {}, range(instance["tau_0"]), range(instance["tau_0"], instance["T"])
    rates = [rate(kept, t) for t in before]
    left = quadratics.record_rounds("C", [instance["x"]], devices, instance["law"], rates, E)
    for name in wanted:
        objective, p, eta = runs[name]
        rounds, after = moments.rounds_of("C", p, law, E), state
        what = f"{name.removeprefix('loss_')}, round"
        quadratics.record_rounds(
            "C", left, {**rest, "p": p}, law, map(eta, later), E, later.start, what
        )
        for t in later:
            after = quadratics.one_round(after, rest, rounds, eta(t), E, span)
        curvature = sum(w * a for w, a in zip(objective["p"], objective["a"]))
        loss = curvature * quadratics.sq_distance(after, quadratics.minimiser(objective)) / 2
        found[name] = quadratics.kept_inside(loss, after, span)
    return found


@FIELDS.guard
def conditions_held(instance: Instance) -> frozenset[str]:
    """Return the conditions that devices and law meet."""
    return quadratics.list_conditions(instance)


# The remaining rounds, by bisection: only the two bounds are compared

STEPS = 60  # steps of doubling and of halving; exact numbers are halved to BITS


def least(holds_at: Callable[..., Any], one: Number, exact: bool) -> Number:
    """Return, by bisection, the least x >= 0 from which on a condition holds that is false before
    x. For exact numbers the result is an enclosure of that x."""
    high = one
    for _ in range(STEPS):
        high = where(holds_at(high), high, 2 * high)
    low = 0 * one
    for _ in range(operations.BITS if exact else STEPS):
        middle = (low + high) / 2
        enough = holds_at(middle)
        low, high = where(enough, low, middle), where(enough, middle, high)
    if not exact:
        return where(
            holds_at(high), where(holds_at(0 * one), 0 * high, high), Many(high.at * float("nan"))
        )
    if holds_at(0 * one):
        return Fraction(0)
    if not holds_at(high):
        raise Undefined("a condition that no time meets")
    return Interval(low, high)


def delays(instance: Instance, values: Assignment, wanted: Sequence[str]) -> dict[str, Number]:
    E, tau_0, V, gamma, D, start, gamma_1 = (
        values[name] for name in ("E", "tau_0", "V_0", "gamma_0", "D_0", "V_1", "gamma_1")
    )
    exact = not any(isinstance(value, Many) for value in (tau_0, V, gamma, D, start, gamma_1))
    f_1 = lambda x: start / (x * E + gamma_1)
    f_0 = lambda x: (x * D + V) / ((tau_0 + x) * E + gamma)
    # (8): f_1(T) (tau E + gamma) <= (tau - tau_0) D + V at tau_0, and growing no faster from there
    # on
    always = lambda x: maximum(f_1(x) * (tau_0 * E + gamma) - V, f_1(x) * E - D) <= 0
    named = dict(delay=always, delay_at_T=lambda x: f_1(x) <= f_0(x))
    one = Fraction(1) if exact else Many(0 * V.at + 1.0 if isinstance(V, Many) else 1.0)
    return {name: least(named[name], one, exact) for name in wanted}


MODELS = [
    Model(
        name="flex_departed",
        says="scheme C on quadratics in one dimension, from the start to a deadline after a "
        "departure",
        measures=names(TABLE, *BOTH),
        algorithms=("flex_c",),
        by=beside("flex_c", quadratics.WHY),
        gives=("E", "tau_0", "T", "V_0", "gamma_0", "D_0", "V_1", "gamma_1"),
        loose=dict(L=1, mu=-1, G=1),
        shapes=draw_shapes,
        constants=quadratics.check_instance(derive_constants, conditions_held),
        measure=measure_symbols,
        table=TABLE,
        ensures=quadratics.ENSURES,
        holds=conditions_held,
        **FIELDS.record(),
    ),
    Model(
        name="flex_delay",
        says="two bounds of section 4.3, whatever they bound",
        measures=names(TABLE, "delay", "delay_at_T"),
        takes=("V_0", "gamma_0", "D_0", "V_1", "gamma_1", "tau_0"),
        optional=("E", "Gamma_l"),
        shapes=lambda random, relaxed: {},
        constants=lambda instance: {},
        measure=delays,
        table=TABLE,
        ensures=quadratics.ENSURES,
        kind="exact",
        **Fields().record(),
    ),
]
