"""One round of 1-way gradient transfer on losses known exactly, by enumeration of noise (mixed FL,
appendix D.2).

S of N homogeneous clients take K steps of SGD on f_f with the central gradient of f_c added. Two
losses, a start, and two-point noise at clients and center are drawn. Measured are f, its gradient
and distances to the minimiser before and after the round, and the terms of the appendix's bounds.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import root, vector
from fedtheory.models import Model, fields, kernels, losses
from fedtheory.models.families import draw_broken, outcomes, sound_noise, variance
from fedtheory.models.fields import count
from fedtheory.models.mixed import pair
from fedtheory.models.mixed.quantities import ROUND, Instance, round_quantities
from fedtheory.symbols.mixed import TABLE
from fedtheory.typing import Assignment

TO_MINIMUM = set("gap gap_f gap_c sq_dist sq_dist_next term_C term_C1 term_C2".split())
MOST = 600  # most outcomes that are enumerated


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, int | str]:
    """Draw a shape with at most MOST outcomes of the noise.

    A client's noise has 2^(K S) outcomes, the center's 2. Where one draw serves all steps, the
    number is small for any K.
    """
    while True:
        S = random.choice([1, 1, 1, 2, 2, 3])
        noise, noise_c = (random.choice(["none", "none", "even", "skewed"]) for _ in range(2))
        shape = dict(
            N=S + random.choice([0, 0, 1]),
            S=S,
            K=random.choice([1, 1, 2, 2, 3, 5, 10]),
            noise=noise,
            noise_c=noise_c,
            **pair.draw_pair(random, relaxed, noisy={noise, noise_c} != {"none"}),
        )
        if broken := draw_broken(random, relaxed & pair.BREAKABLE):
            shape["breaks"] = broken
            if broken == "uniform_cohort":  # with several clients, some clients never work
                shape["N"] = S + 1
            else:
                shape["noise"] = noise = random.choice(["even", "skewed"])
        if broken == "independent_noise":
            return shape
        ways = (1 if noise == "none" else 2 ** (shape["K"] * S)) * (1 if noise_c == "none" else 2)
        if ways <= MOST:
            return shape


FIELDS = pair.PAIR.replace(
    count("N"),
    count("S", most="N"),
    count("K"),
    fields.noise("noise", "sigma"),
    fields.noise("noise_c", "sigma_c"),
    pair.BREAKS,
)


def derive_constants(instance: Any) -> dict[str, Any]:
    """Return N, S, K, the constants of the two losses, and sigma, sigma_c: the roots of the
    variances."""
    return dict(
        {name: Fraction(instance[name]) for name in ("N", "S", "K")},
        **pair.pair_constants(instance),
        sigma=root(variance(instance["noise"])),
        sigma_c=root(variance(instance["noise_c"])),
    )


def measure_symbols(instance: Any, values: Assignment, wanted: Sequence[str]) -> dict[str, Any]:
    """Return the wanted quantities of appendix D of the round that starts at x.

    The minimiser of f is only computed for the quantities that need it (TO_MINIMUM), because losses
    without a minimiser can be drawn where a claim does not assume one.
    """
    (f, c), d = instance["losses"], len(instance["x"])
    star = pair.find_minimizer(instance) if TO_MINIMUM & set(wanted) else None
    case = Instance(
        lambda y: losses.loss_value(f, y),
        lambda y: losses.loss_value(c, y),
        lambda y: losses.loss_gradient(f, y),
        lambda y: losses.loss_gradient(c, y),
        outcomes(instance["noise"], d),
        outcomes(instance["noise_c"], d),
        star,
        *(instance[name] for name in ("N", "S", "K")),
        *(values[name] for name in ("eta", "eta_s", "beta", "mu", "sigma", "sigma_c")),
        instance.get("breaks") == "independent_noise",
    )
    x = vector(instance["x"])
    found = round_quantities(case, x, [name for name in wanted if name != "gap"])
    return (
        dict(found, gap=pair.height_above(instance, x)) if "gap" in wanted else found
    )  # f(x) - f(x*), computed with little rounding


# Conditions that the round meets by construction: equal clients do K plain steps each, with fresh
# draws.
BUILT = frozenset(
    "homogeneous noise own_smoothness sgd equal_steps independent_noise uniform_cohort "
    "equal_weights".split()
)
ENSURES = pair.FACTS | BUILT


@FIELDS.guard
def conditions_held(instance: Any) -> frozenset[str]:
    d = len(instance["x"])
    if not all(sound_noise(instance[kind], d) for kind in ("noise", "noise_c")):
        return frozenset()
    several = ("noise",) if instance["K"] * instance["S"] > 1 else ()
    return (pair.pair_holds(instance) | BUILT) - pair.broken_by(instance, several)


RECORD = dict(
    algorithms=("one_way_gt",),
    gives=("N", "S", "K"),
    loose=dict(beta=1, beta_sum=1, sigma=1, sigma_c=1, mu=-1),
    takes=("eta", "eta_s"),
    table=TABLE,
    ensures=ENSURES,
)
MODEL = Model(
    name="mixed_round",
    says="one round of 1-way gradient transfer from a known point",
    measures=ROUND.measures,
    by=kernels("one_way_gt"),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    holds=conditions_held,
    **RECORD,
    **FIELDS.record(),
)
