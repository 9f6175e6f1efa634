"""Participation laws and their effect on a scheme's aggregate, at first order in the step size
(flex, section 4.1).

With small steps, a round moves the model by E[p_tau^k s_tau^k] times the gradients of the devices.
Measured are these weights, their ratios and sums, moments of the law of work, and the squared
distance between the minimiser and the point to which a scheme leads. No round is run.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from fedtheory.models import Model, beside, names
from fedtheory.models.fields import Fields, count
from fedtheory.models.flex import quadratics, work_law
from fedtheory.models.flex.run import LAWS
from fedtheory.participation import moments
from fedtheory.symbols.flex import TABLE
from fedtheory.typing import Assignment, Instance

OF_DEVICE = (
    "ps_k gain_k E_s_k E_complete_k limit_weight_A_k limit_weight_B_k sum_weight_A sum_weight_B "
    "sq_bias limit_sq_dist Gamma_max".split()
)
ENSURES = quadratics.ENSURES - quadratics.BOUNDED


def draw_shapes(scheme: str, random: Random, relaxed: Set[str]) -> Any:
    """Draw N, E, tau, a device k, a number of steps s_k, noise and a law of work."""
    N = random.choice([1, 2, 2, 3] if "heterogeneous" in relaxed else [2, 2, 3])
    E = random.choice([1, 2, 2, 3, 5])
    return dict(
        N=N,
        E=E,
        tau=random.choice([1, 2, 10]),
        k=random.randint(1, N),
        s_k=random.randint(1, E),
        noise=random.choice(["none", "even"]),
        **work_law.draw_law(random, N, E, relaxed, scheme),
    )


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return E, tau, s_k, N, p_k of the device k, L, mu, Gamma and sigma_bar_sq."""
    devices, best = instance["devices"], quadratics.minimiser(instance["devices"])
    Gamma = quadratics.excess(devices, best)
    return dict(
        {name: Fraction(instance[name]) for name in ("E", "tau", "s_k")},
        N=Fraction(len(devices["a"])),
        p_k=devices["p"][instance["k"] - 1],
        L=quadratics.maximum(*devices["a"]),
        mu=quadratics.minimum(*devices["a"]),
        Gamma=sum(p * g for p, g in zip(devices["p"], Gamma)),
        sigma_bar_sq=sum((p * r) ** 2 for p, r in zip(devices["p"], devices["r"])),
    )


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return moments of the law, limit weights by scheme, and squared biases of the limit.

    Scheme A is biased by E[q^k N / K_tau] given a complete device, scheme B by E[s^k], scheme C by
    its own coefficients; each bias moves the minimiser of the weighted quadratics.
    """
    devices, law, E, k = instance["devices"], instance["law"], instance["E"], instance["k"] - 1
    p, best = devices["p"], quadratics.minimiser(devices)
    Gamma = quadratics.excess(devices, best)
    found = quadratics.law_moments(
        instance["scheme"],
        devices,
        law,
        E,
        Gamma,
        [name for name in wanted if name in LAWS],
        instance["tau"],
    )
    # Per round: E[p_tau^k s_tau^k], to which the mean change by small steps is proportional
    pulls = lambda scheme: [
        sum(q * c[j] * s[j] for q, c, s in moments.rounds_of(scheme, p, law, E))
        for j in range(len(p))
    ]
    # Per device: E[s_tau^k], and E[q_tau^k N / K_tau] given that some device is complete
    done = [sum(q * s[j] for q, s in law) for j in range(len(p))]
    counts = [(q, [steps == E for steps in s]) for q, s in law if E in s]
    complete = lambda: [
        sum(q * Fraction(len(p) * c[j], sum(c)) for q, c in counts) / sum(q for q, _ in counts)
        for j in range(len(p))
    ]
    weighted = lambda each: [w * e for w, e in zip(p, each)]
    bias = dict(A=lambda: weighted(complete()), B=lambda: weighted(done), C=lambda: pulls("C"))[
        instance["scheme"]
    ]
    named = dict(
        Gamma_max=lambda: quadratics.maximum(*Gamma),
        ps_k=lambda: pulls(instance["scheme"])[k],
        E_s_k=lambda: done[k],
        E_complete_k=lambda: complete()[k],
        gain_k=lambda: moments.one_coefficient(p[k], instance["s_k"], E, "C") / p[k],
        limit_weight_A_k=lambda: pulls("A")[k] / sum(pulls("A")),
        limit_weight_B_k=lambda: pulls("B")[k] / sum(pulls("B")),
        sum_weight_A=lambda: sum(weighted(complete())),
        sum_weight_B=lambda: sum(weighted(done)),
        sq_bias=lambda: (quadratics.minimiser(devices, bias()) - best) ** 2,
        limit_sq_dist=lambda: (
            (quadratics.minimiser(devices, pulls(instance["scheme"])) - best) ** 2
        ),
    )
    return {**found, **{name: named[name]() for name in wanted if name in named}}


def make_model(scheme: str) -> Any:
    """Return the model of laws under a scheme, "A", "B" or "C"."""
    method = f"flex_{scheme.lower()}"
    fields = Fields(
        quadratics.scheme_field(scheme),
        quadratics.devices_field(),
        work_law.law_field(),
        count("E"),
        count("tau"),
        count("k", most="N"),
        count("s_k", most="E"),
    )
    conditions_held = fields.guard(quadratics.list_conditions)
    return Model(
        name=f"flex_laws_{scheme.lower()}",
        says=f"participation laws under scheme {scheme}, with small steps",
        measures=names(TABLE, *LAWS, *OF_DEVICE),
        algorithms=(method,),
        by=beside(method, "the coefficients of section 4.1"),
        gives=("E", "N", "tau", "p_k", "s_k", "Gamma", "sigma_bar_sq"),
        loose=dict(L=1, mu=-1),
        shapes=partial(draw_shapes, scheme),
        constants=quadratics.check_instance(derive_constants, conditions_held),
        measure=measure_symbols,
        table=TABLE,
        ensures=ENSURES,
        holds=conditions_held,
        **fields.record(),
    )


MODELS = [make_model(scheme) for scheme in moments.SCHEMES]
