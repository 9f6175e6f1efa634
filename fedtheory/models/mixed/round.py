"""One round of 1-way gradient transfer on losses known exactly, by enumeration of noise (mixed FL,
appendix D.2)."""

from fractions import Fraction

from fedtheory.arithmetic.operations import root, vector
from fedtheory.models import Setting, kernels, losses
from fedtheory.models.families import NOISE, draw_broken, outcomes, sound_noise, two_point, variance
from fedtheory.models.mixed.pair import (
    BREAKABLE,
    BREAKS,
    FACTS,
    SCHEMA,
    broken_by,
    build_pair,
    draw_pair,
    find_minimizer,
    height_above,
    pair_constants,
    pair_coordinates,
    pair_holds,
)
from fedtheory.models.mixed.quantities import ROUND, Instance, round_quantities
from fedtheory.schema import integer, join_schemas
from fedtheory.symbols.mixed import TABLE

TO_MINIMUM = {"gap", "gap_f", "gap_c", "sq_dist", "sq_dist_next", "term_C", "term_C1", "term_C2"}
MOST = 600  # most outcomes that are enumerated


def draw_shapes(random, relaxed):
    while True:
        S = random.choice([1, 1, 1, 2, 2, 3])
        noise, noise_c = (random.choice(["none", "none", "even", "skewed"]) for _ in range(2))
        shape = dict(
            N=S + random.choice([0, 0, 1]),
            S=S,
            K=random.choice([1, 1, 2, 2, 3, 5, 10]),
            noise=noise,
            noise_c=noise_c,
            **draw_pair(random, relaxed, noisy={noise, noise_c} != {"none"}),
        )
        if broken := draw_broken(random, relaxed & BREAKABLE):
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


def list_coordinates(shape):
    found = pair_coordinates(shape)
    found.update(
        {
            name: "positive"
            for name, kind in (("sigma", "noise"), ("sigma_c", "noise_c"))
            if shape[kind] != "none"
        }
    )
    return found


def build_instance(shape, point):
    return dict(
        build_pair(shape, point),
        **{name: shape[name] for name in ("N", "S", "K")},
        noise=two_point(point.get("sigma"), shape["noise"], shape["d"]),
        noise_c=two_point(point.get("sigma_c"), shape["noise_c"], shape["d"]),
        **{name: shape[name] for name in ("breaks",) if name in shape},
    )


def derive_constants(instance):
    return dict(
        {name: Fraction(instance[name]) for name in ("N", "S", "K")},
        **pair_constants(instance),
        sigma=root(variance(instance["noise"])),
        sigma_c=root(variance(instance["noise_c"])),
    )


def measure_symbols(instance, values, wanted):
    (f, c), d = instance["losses"], len(instance["x"])
    star = find_minimizer(instance) if TO_MINIMUM & set(wanted) else None
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
        dict(found, gap=height_above(instance, x)) if "gap" in wanted else found
    )  # f(x) - f(x*), computed with little rounding


def conditions_held(instance):
    d = len(instance["x"])
    sound = (
        1 <= instance["S"] <= instance["N"]
        and instance["K"] >= 1
        and all(sound_noise(instance[kind], d) for kind in ("noise", "noise_c"))
    )
    held = pair_holds(instance) if sound else frozenset()
    several = ("noise",) if instance["K"] * instance["S"] > 1 else ()
    return (held | BUILT) - broken_by(instance, several) if held else frozenset()


# Conditions that the round meets by construction: equal clients do K plain steps each, with fresh
# draws.
BUILT = frozenset(
    {
        "homogeneous",
        "noise",
        "own_smoothness",
        "sgd",
        "equal_steps",
        "independent_noise",
        "uniform_cohort",
        "equal_weights",
    }
)
ENSURES = FACTS | BUILT
SETTING = Setting(
    name="mixed_round",
    says="one round of 1-way gradient transfer from a known point",
    measures=ROUND.measures,
    algorithms=("one_way_gt",),
    by=kernels("one_way_gt"),
    gives=("N", "S", "K"),
    loose=dict(beta=1, beta_sum=1, sigma=1, sigma_c=1, mu=-1),
    takes=("eta", "eta_s"),
    shapes=draw_shapes,
    coordinates=list_coordinates,
    build=build_instance,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=ENSURES,
    holds=conditions_held,
    schema=join_schemas(
        SCHEMA,
        dict(N=integer(), S=integer(1, "N"), K=integer(), noise=NOISE, noise_c=NOISE),
        dict(breaks=BREAKS),
    ),
)
