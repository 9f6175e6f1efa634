"""Rounds of flex on quadratics at theorem 3.1's learning rate: exact moments over rounds.

Devices with losses a_k (w - b_k)^2 / 2 and noise of +-r_k work by a law that is drawn with the
shape. Measured are the expected squared distance to the minimiser at the end, its limit over
rounds, and moments of the law that the theorem's constants need. Long runs of up to 300 rounds are
drawn for small rounds, because noise and drift show only after the start is forgotten.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from fedtheory.models import Model, beside, names
from fedtheory.models.fields import Fields, count, number
from fedtheory.models.flex import quadratics, work_law
from fedtheory.participation import moments
from fedtheory.symbols.flex import TABLE
from fedtheory.typing import Assignment, Instance, Shape

LAWS = (
    "ps ps_Gamma ps_plus p_plus plus_A p2s_over_p p2s_sigma ratio_min ratio_max ratio_sup E_inv_K "
    "E_s E_inv_s active p_inv p_sigma_inv I_sum".split()
)
# numbers of rounds where N E <= FEW; tau is a text, so that long runs do not count as large shapes
LONG = (30, 100, 300)
# most local steps of all clients per round in runs of many rounds, and most rounds of other runs
FEW, MOST = 2, 10
END = tuple(name for name, entry in TABLE.items() if entry.measure == TABLE["sq_dist"].measure)


def draw_shapes(scheme: str, random: Random, relaxed: Set[str]) -> Any:
    """Draw N and E up to 3, a number of rounds tau, noise, a span of iterates and a law of work."""
    N = random.choice([1, 1, 2, 2, 3] if "heterogeneous" in relaxed else [2, 2, 3])
    E = random.choice([1, 1, 2, 2, 3])
    tau = random.choice([1, 1, 1, 2, 3, 5, 10] if N < 3 else [1, 1, 2, 4])
    # after many rounds, noise and drift outweigh the start
    if N * E <= FEW and random.random() < 0.4:
        tau = random.choice(LONG)
    return dict(
        N=N,
        E=E,
        tau=str(tau),
        noise=random.choice(["none", "even"]),
        span=quadratics.draw_span(random, relaxed),
        **work_law.draw_law(random, N, E, relaxed, scheme),
    )


def affords(shape: Shape) -> bool:
    """Tell whether a shape is cheap enough: a run of many rounds must have small rounds."""
    return shape["N"] * shape["E"] <= FEW or int(shape["tau"]) <= MOST


def fields_of(scheme: str) -> Any:
    """Return the fields of an instance of a scheme's runs."""
    return Fields(
        quadratics.scheme_field(scheme),
        count("E"),
        count("tau"),
        quadratics.devices_field(),
        work_law.law_field(),
        number("x"),
        quadratics.SPAN,
    )


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return the constants of theorem 3.1: law moments, E, N, tau, L, mu, G, Gamma and noise.

    Gamma is the weighted mean of each loss at the common minimiser above its own minimum, and
    sigma_bar_sq is the sum of (p_k r_k)^2.
    """
    devices, E, tau, best = (
        instance["devices"],
        instance["E"],
        instance["tau"],
        quadratics.minimiser(instance["devices"]),
    )
    Gamma = quadratics.excess(devices, best)
    return dict(
        quadratics.law_moments(instance["scheme"], devices, instance["law"], E, Gamma, LAWS, tau),
        E=Fraction(E),
        N=Fraction(len(devices["a"])),
        tau=Fraction(tau),
        L=quadratics.maximum(*devices["a"]),
        mu=quadratics.minimum(*devices["a"]),
        G=quadratics.second_moment(devices, instance["span"]),
        Gamma=sum(p * g for p, g in zip(devices["p"], Gamma)),
        sigma_bar_sq=sum((p * r) ** 2 for p, r in zip(devices["p"], devices["r"])),
        sq_dist_0=(instance["x"] - best) ** 2,
    )


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return the expected squared distance after tau rounds, and the squared bias in the limit.

    Rates that vanish, but whose sum does not, lead to the zero of the mean weighted gradient, which
    is the minimiser only for unbiased weights.
    """
    devices, E, span, law = instance["devices"], instance["E"], instance["span"], instance["law"]
    best = quadratics.minimiser(devices)
    rounds = moments.rounds_of(instance["scheme"], devices["p"], law, E)
    found = {}
    if (
        "limit_sq_dist" in wanted
    ):  # rates that vanish, but not their sum, lead to where the mean gradient is zero
        pulls = [sum(q * c[k] * s[k] for q, c, s in rounds) for k in range(len(devices["a"]))]
        limit = quadratics.minimiser(devices, pulls)
        found["limit_sq_dist"] = (limit - best) ** 2
        if span:  # gradients are bounded at the end of the run, too (A3.4)
            found["limit_sq_dist"] = quadratics.kept_inside(
                (limit - best) ** 2, quadratics.start(limit, span), span
            )
    if set(END) & set(wanted):
        work = sum(q * c[k] * s[k] for q, c, s in rounds for k in range(len(devices["a"])))
        rates = quadratics.staircase(values["eta"], work, values["mu"], instance["tau"])
        quadratics.record_rounds(instance["scheme"], [instance["x"]], devices, law, rates, E)
        devices, span = quadratics.counted_from(best, devices, span)
        state = quadratics.start(instance["x"] - best, span)
        for eta in rates:
            state = quadratics.one_round(state, devices, rounds, eta, E, span)
        found.update(dict.fromkeys(END, quadratics.kept_inside(state[1], state, span)))
    return found


def conditions_held(instance: Instance) -> frozenset[str]:
    """Return the conditions that an instance meets."""
    return quadratics.list_conditions(instance, scheme=instance["scheme"])


def make_model(scheme: str) -> Any:
    """Return the model of rounds of a scheme, "A", "B" or "C"."""
    method, fields = f"flex_{scheme.lower()}", fields_of(scheme)
    return Model(
        name=f"flex_run_{scheme.lower()}",
        says=f"rounds of scheme {scheme} on quadratics in one dimension",
        measures=names(TABLE, *LAWS, "sq_dist_0", "sq_dist", "limit_sq_dist"),
        algorithms=(method,),
        by=beside(method, quadratics.WHY),
        gives=("E", "N", "tau", "Gamma", "sigma_bar_sq"),
        loose=dict(L=1, mu=-1, G=1),
        takes=("eta",),
        shapes=partial(draw_shapes, scheme),
        affords=affords,
        coordinates_in=quadratics.UNITS,
        constants=quadratics.check_instance(derive_constants, conditions_held),
        measure=measure_symbols,
        table=TABLE,
        early=frozenset((*LAWS, "sq_dist_0")),
        ensures=quadratics.ENSURES,
        holds=conditions_held,
        runs=quadratics.is_paced,
        **fields.record(),
    )


MODELS = [make_model(scheme) for scheme in moments.SCHEMES]
