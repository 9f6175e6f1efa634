"""Rounds of flex on quadratics at theorem 3.1's learning rate: exact moments over rounds."""

from fractions import Fraction

from fedtheory.models import Setting, beside, names
from fedtheory.models.flex import quadratics
from fedtheory.participation import moments
from fedtheory.schema import entries, integer, word
from fedtheory.symbols.flex import TABLE

LAWS = (
    "ps",
    "ps_Gamma",
    "ps_plus",
    "p_plus",
    "plus_A",
    "p2s_over_p",
    "p2s_sigma",
    "ratio_min",
    "ratio_max",
    "ratio_sup",
    "E_inv_K",
    "E_s",
    "E_inv_s",
    "active",
    "p_inv",
    "p_sigma_inv",
    "I_sum",
)
# numbers of rounds where N E <= FEW; tau is a text, so that long runs do not count as large shapes
LONG = (30, 100, 300)
# most local steps of all clients per round in runs of many rounds, and most rounds of other runs
FEW, MOST = 2, 10
END = tuple(name for name, entry in TABLE.items() if entry.measure == TABLE["sq_dist"].measure)


def draw_shapes(scheme):
    def draw(random, relaxed):
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
            **quadratics.draw_law(random, N, E, relaxed, scheme),
        )

    return draw


def affords(shape):
    """Tell whether a shape is cheap enough: a run of many rounds must have small rounds."""
    return shape["N"] * shape["E"] <= FEW or int(shape["tau"]) <= MOST


def list_coordinates(shape):
    return dict(
        quadratics.device_coordinates(shape["N"], shape["noise"] != "none"),
        **quadratics.law_coordinates(shape),
        x="real",
        left="unit",
        right="unit",
    )


def build_instance(scheme):
    def instance(shape, point):
        devices = quadratics.build_devices(shape["N"], point)
        return dict(
            scheme=scheme,
            E=shape["E"],
            tau=int(shape["tau"]),
            devices=devices,
            law=quadratics.build_law(shape, point),
            x=point["x"],
            span=quadratics.span_of(shape, point, devices, point["x"]),
        )

    return instance


def derive_constants(instance):
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


def measure_symbols(instance, values, wanted):
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


def conditions_held(instance):
    """Return the conditions that an instance meets. Whether a point leaves the span is tested
    during the run instead."""
    devices, N = instance["devices"], len(instance["devices"]["a"])
    of_law = quadratics.held_by_law(instance["law"], instance["E"], instance["scheme"])
    if of_law is None or len(instance["law"][0][1]) != N or not quadratics.sound_devices(devices):
        return frozenset()
    bounded = {"second_moment", "stays"} if instance["span"] else set()
    return frozenset(quadratics.ALWAYS | of_law | bounded)


def setting(scheme):
    return Setting(
        name=f"flex_run_{scheme.lower()}",
        says=f"rounds of scheme {scheme} on quadratics in one dimension",
        measures=names(TABLE, *LAWS, "sq_dist_0", "sq_dist", "limit_sq_dist"),
        algorithms=(f"flex_{scheme.lower()}",),
        by=beside(f"flex_{scheme.lower()}", quadratics.WHY),
        gives=("E", "N", "tau", "Gamma", "sigma_bar_sq"),
        loose=dict(L=1, mu=-1, G=1),
        takes=("eta",),
        shapes=draw_shapes(scheme),
        affords=affords,
        coordinates=list_coordinates,
        coordinates_in=quadratics.UNITS,
        build=build_instance(scheme),
        constants=quadratics.check_instance(derive_constants, conditions_held),
        measure=measure_symbols,
        table=TABLE,
        early=frozenset((*LAWS, "sq_dist_0")),
        ensures=quadratics.ENSURES,
        holds=conditions_held,
        runs=quadratics.is_paced,
        schema=entries(
            dict(
                scheme=word(scheme),
                E=integer(),
                tau=integer(),
                devices=quadratics.devices_of("N"),
                x="number",
                law=quadratics.law_of("N"),
                span=quadratics.SPAN,
            )
        ),
    )


SETTINGS = [setting(scheme) for scheme in moments.SCHEMES]
