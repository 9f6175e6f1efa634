"""A cohort's round of 2-way gradient transfer, draw by draw: what deltas tell of gradients (mixed
FL, A.2)."""

from fractions import Fraction

from fedtheory.enclosure.arithmetic import vector
from fedtheory.settings import Setting, losses, names
from fedtheory.settings.families import build_family, draw_family, family_coordinates
from fedtheory.settings.quantities import sq
from fedtheory.symbols.mixed import TABLE

MEASURED = ("miss_8", "miss_9", "miss_10", "sq_transferred", "sq_applied")


def shapes(random, relaxed):
    S = random.choice([1, 2, 3])
    family = draw_family(random, False, False, soft=False)
    return dict(family, S=S, **{f"K_{i}": random.choice([1, 2, 3]) for i in range(S)})


def coordinates(shape):
    found = family_coordinates(shape, shape["S"])
    for j in range(shape["d"]):
        found.update({f"x_{j}": "real", f"transferred_{j}": "real"})
        found.update(
            {
                f"noise_{i}_{k}_{j}": "real"
                for i in range(shape["S"])
                for k in range(shape[f"K_{i}"])
            }
        )
    return found


def build(shape, point):
    axes = range(shape["d"])
    return dict(
        losses=build_family(shape, point, shape["S"]),
        x=[point[f"x_{j}"] for j in axes],
        transferred=[point[f"transferred_{j}"] for j in axes],
        noise=[
            [[point[f"noise_{i}_{k}_{j}"] for j in axes] for k in range(shape[f"K_{i}"])]
            for i in range(shape["S"])
        ],
    )


def constants(instance):
    return dict(S=Fraction(len(instance["losses"])))


def measure(instance, values, wanted):
    """Client i is the first of the cohort."""
    eta, x, g_c = values["eta"], vector(instance["x"]), vector(instance["transferred"])
    deltas, sums, steps = [], [], [len(noise) for noise in instance["noise"]]
    for loss, noise in zip(instance["losses"], instance["noise"]):
        y, total = x, 0
        for n in noise:
            g = losses.grad(loss, y) + vector(n)
            y, total = y - eta * (g + g_c), total + g
        deltas.append(y - x)
        sums.append(total)
    own, recovered = sums[0] / steps[0], -deltas[0] / (eta * steps[0])
    named = dict(
        miss_8=lambda: sq(recovered - (own + g_c)),
        miss_9=lambda: sq(recovered - g_c - own),
        miss_10=lambda: sq(-sum(deltas) / (eta * sum(steps)) - g_c - sum(sums) / sum(steps)),
        sq_transferred=lambda: sq(g_c),
        sq_applied=lambda: sq(own + g_c),
    )
    return {name: named[name]() for name in wanted}


def holds(instance):
    d = len(instance["x"])
    sound = (
        len(instance["noise"]) == len(instance["losses"])
        and len(instance["transferred"]) == d
        and all(len(loss) == d for loss in instance["losses"])
        and all(noise and all(len(n) == d for n in noise) for noise in instance["noise"])
    )
    return frozenset({"sgd"}) if sound else frozenset()


SETTING = Setting(
    name="mixed_transfer",
    says="a cohort's round of 2-way gradient transfer",
    measures=names(TABLE, *MEASURED),
    algorithms=("two_way_gt",),
    gives=("S",),
    loose={},
    takes=("eta",),
    shapes=shapes,
    coordinates=coordinates,
    build=build,
    constants=constants,
    measure=measure,
    table=TABLE,
    ensures=frozenset({"sgd"}),
    holds=holds,
    kind="exact",
)
