"""A start of FSL and the minimiser of its modified loss, on losses known exactly."""

from fractions import Fraction

from fedtheory.enclosure.arithmetic import vector
from fedtheory.schema import entries, list_of, plus
from fedtheory.settings import Setting, losses, names
from fedtheory.settings.families import POINT, build_family, draw_family, family_coordinates
from fedtheory.symbols.fsl import TABLE


def shapes(random, relaxed):
    return dict(
        N=random.choice([1, 1, 2]), **draw_family(random, random.random() < 0.9, False, soft=False)
    )


def coordinates(shape):
    return {
        **family_coordinates(shape, shape["N"] + 1),
        **{f"x_{j}": "real" for j in range(shape["d"])},
    }


def build(shape, point):
    return dict(
        losses=build_family(shape, point, shape["N"] + 1),
        x=[point[f"x_{j}"] for j in range(shape["d"])],
    )


def constants(instance):
    return dict(
        N=Fraction(len(instance["losses"]) - 1),
        f_0_start=losses.value(instance["losses"][0], vector(instance["x"])),
    )


def measure(instance, values, wanted):
    f, x, gamma = instance["losses"], vector(instance["x"]), values["gamma"]
    share = Fraction(1, len(f) - 1)
    weights = [gamma / (1 + gamma)] + [share / (1 + gamma)] * (len(f) - 1)
    lowest, best = losses.least(f, weights)
    F = lambda y: share * sum(losses.value(one, y) for one in f[1:])
    exists = lambda value: lowest if isinstance(lowest, float) else value()  # there is no minimiser
    named = dict(
        tilde_D_0=lambda: sum(w * losses.value(one, x) for w, one in zip(weights, f)) - lowest,
        D_0=lambda: F(x) - F(best),
        f_0_start=lambda: losses.value(f[0], x),
        f_0_star=lambda: losses.value(f[0], best),
    )
    return {name: exists(named[name]) for name in wanted}


def holds(instance):
    f, d = instance["losses"], len(instance["x"])
    if len(f) < 2 or any(len(loss) != d for loss in f):
        return frozenset()
    ends = (losses.infimum(part, [Fraction(1)] * len(part)) for part in (f[1:], f[:1]))
    return frozenset() if any(isinstance(end, float) for end in ends) else ENSURES


ENSURES = frozenset({"bounded_below"})
SETTING = Setting(
    name="fsl_pretrain",
    says="a start and the modified loss's minimiser",
    algorithms=("fsl",),
    measures=names(TABLE, "tilde_D_0", "D_0", "f_0_start", "f_0_star"),
    gives=("N",),
    loose={},
    takes=("gamma",),
    shapes=shapes,
    coordinates=coordinates,
    build=build,
    constants=constants,
    measure=measure,
    table=TABLE,
    early=frozenset({"f_0_start"}),
    ensures=ENSURES,
    holds=holds,
    kind="exact",
    schema=entries(dict(losses=list_of(losses.LOSS, plus("N", 1)), x=POINT)),
)
