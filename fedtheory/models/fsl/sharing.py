"""Samples as points z with losses ||x - z||^2 / 2: data sharing's objective (4), and a server with
drawn samples (10)."""

from fractions import Fraction
from itertools import combinations

from fedtheory.arithmetic.operations import vector
from fedtheory.arithmetic.work import count_ways
from fedtheory.models import Setting, names
from fedtheory.models.families import POINT
from fedtheory.models.quantities import square_norm
from fedtheory.schema import at_least, entries, integer, list_of, plus
from fedtheory.symbols.fsl import TABLE

SAMPLES = list_of(POINT, at_least(1))  # the samples of one owner


def sample_coordinates(prefix, counts, d):
    return {
        f"{prefix}_{i}_{k}_{j}": "real"
        for i, n in enumerate(counts)
        for k in range(n)
        for j in range(d)
    }


def place_coordinates(shape, counts):
    return {
        **sample_coordinates("z", counts, shape["d"]),
        **{f"x_{j}": "real" for j in range(shape["d"])},
    }


def read_samples(point, counts, d):
    rows = [
        [[point[f"z_{i}_{k}_{j}"] for j in range(d)] for k in range(n)]
        for i, n in enumerate(counts)
    ]
    return rows, [point[f"x_{j}"] for j in range(d)]


# Data sharing


def draw_shapes(random, relaxed):
    N = random.choice([1, 2, 3])
    sizes = {f"n_of_{i}": random.randint(1, 3) for i in range(1, N + 1)}
    return dict(
        N=N, d=random.choice([1, 1, 2]), n_0=random.randint(1, 3), n=sum(sizes.values()), **sizes
    )


def sizes(shape):
    return [shape["n_0"], *(shape[f"n_of_{i}"] for i in range(1, shape["N"] + 1))]


def build_instance(shape, point):
    samples, x = read_samples(point, sizes(shape), shape["d"])
    return dict(samples=samples, x=x)


def derive_constants(instance):
    server, *clients = instance["samples"]
    return dict(
        N=Fraction(len(clients)), n=Fraction(sum(map(len, clients))), n_0=Fraction(len(server))
    )


def measure_symbols(instance, values, wanted):
    server, *clients = instance["samples"]
    x, n = vector(instance["x"]), sum(map(len, clients))
    mean = lambda samples: sum(square_norm(x - vector(z)) / 2 for z in samples) / len(samples)
    whole = n + len(clients) * len(server)
    named = dict(
        F_x=lambda: sum(len(own) * mean(own) for own in clients) / n,
        f_0_x=lambda: mean(server),
        F_shared=lambda: (
            sum((len(own) + len(server)) * mean(own + server) for own in clients) / whole
        ),
    )
    return {name: named[name]() for name in wanted}


def conditions_held(instance):
    samples, d = instance["samples"], len(instance["x"])
    sound = len(samples) >= 2 and all(own and all(len(z) == d for z in own) for own in samples)
    return frozenset({"samples", "server"} if sound else ())


SHARING = Setting(
    name="fsl_sharing",
    says="samples that a server shares",
    measures=names(TABLE, "F_shared", "F_x", "f_0_x"),
    algorithms=("data_sharing", "fsl"),
    gives=("N", "n", "n_0"),
    loose={},
    takes=(),
    shapes=draw_shapes,
    coordinates=lambda shape: place_coordinates(shape, sizes(shape)),
    build=build_instance,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=frozenset({"samples", "server"}),
    holds=conditions_held,
    kind="exact",
    schema=entries(dict(samples=list_of(SAMPLES, plus("N", 1)), x=POINT)),
)


# A server whose samples are drawn from the clients' samples


def drawn_shapes(random, relaxed):
    n = random.randint(1, 6)
    return dict(n=n, n_0=random.randint(1, n), d=random.choice([1, 1, 2]))


def drawn_build(shape, point):
    (samples,), x = read_samples(point, [shape["n"]], shape["d"])
    return dict(samples=samples, x=x, n_0=shape["n_0"])


def drawn_measure(instance, values, wanted):
    x, n_0 = vector(instance["x"]), instance["n_0"]
    g = [x - vector(z) for z in instance["samples"]]
    mean = sum(g) / len(g)
    # without replacement, with equal probabilities of all subsets
    draws = list(count_ways(combinations(g, n_0)))
    named = dict(
        sampled_xi=lambda: (
            sum(square_norm(sum(drawn) / n_0 - mean) for drawn in draws) / len(draws)
        ),
        population=lambda: sum(square_norm(each - mean) for each in g) / len(g),
    )
    return {name: named[name]() for name in wanted}


def drawn_holds(instance):
    samples, d = instance["samples"], len(instance["x"])
    sound = 1 <= instance["n_0"] <= len(samples) and all(len(z) == d for z in samples)
    return frozenset({"samples"} if sound else ())


DRAWN = Setting(
    name="fsl_drawn_server",
    says="a server whose samples are drawn from the clients'",
    algorithms=(),
    measures=names(TABLE, "sampled_xi", "population"),
    gives=("n", "n_0"),
    loose={},
    takes=(),
    shapes=drawn_shapes,
    coordinates=lambda shape: place_coordinates(shape, [shape["n"]]),
    build=drawn_build,
    constants=lambda instance: dict(
        n=Fraction(len(instance["samples"])), n_0=Fraction(instance["n_0"])
    ),
    measure=drawn_measure,
    table=TABLE,
    ensures=frozenset({"samples"}),
    holds=drawn_holds,
    schema=entries(dict(samples=list_of(POINT, "n"), x=POINT, n_0=integer(1, "n"))),
)
SETTINGS = (SHARING, DRAWN)
