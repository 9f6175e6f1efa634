"""Samples as points z with losses ||x - z||^2 / 2: data sharing's objective (4), and a server with
drawn samples (10).

`fsl_sharing` has clients with samples of their own and a server whose samples all clients receive;
measured are F, f_0 and the mean loss after sharing. The second model draws the server's n_0 samples
from the clients' n samples without replacement. Both are exact, since losses of points are
quadratics.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import vector
from fedtheory.arithmetic.work import count_ways
from fedtheory.models import Model, fields, names
from fedtheory.models.families import POINT
from fedtheory.models.fields import Field, Fields, count, name_vector, read_vector
from fedtheory.models.quantities import square_norm
from fedtheory.schema import at_least, length_plus, list_of
from fedtheory.symbols.fsl import TABLE
from fedtheory.typing import Assignment, Instance, Shape

SAMPLES = list_of(POINT, at_least(1))  # the samples of one owner


def samples_field(form: Any, list_counts: Any, several: bool = True) -> Any:
    """Return the field of the samples of owners who have as many as `list_counts(shape)` says, or
    with `several` false of the only owner."""
    places = lambda shape: [(i, k) for i, n in enumerate(list_counts(shape)) for k in range(n)]

    def build(shape: Shape, point: Any, built: Any) -> Any:
        rows = [
            [read_vector(point, f"z_{i}_{k}", shape["d"]) for k in range(n)]
            for i, n in enumerate(list_counts(shape))
        ]
        return rows if several else rows[0]

    def coordinates(shape: Shape) -> Any:
        found = {}
        for i, k in places(shape):
            found.update(name_vector(f"z_{i}_{k}", shape["d"]))
        return found

    return Field("samples", form, build, coordinates)


# Data sharing


def draw_shapes(random: Random, relaxed: Set[Any]) -> dict[str, int]:
    """Draw 1 to 3 clients, the server's n_0 and each client's number of samples (1 to 3), and d."""
    N = random.choice([1, 2, 3])
    sizes = {f"n_of_{i}": random.randint(1, 3) for i in range(1, N + 1)}
    return dict(
        N=N, d=random.choice([1, 1, 2]), n_0=random.randint(1, 3), n=sum(sizes.values()), **sizes
    )


def count_samples(shape: Shape) -> Any:
    """Return the numbers of samples: n_0 of the server first, then those of the clients."""
    return [shape["n_0"], *(shape[f"n_of_{i}"] for i in range(1, shape["N"] + 1))]


def derive_constants(instance: Instance) -> dict[str, Fraction]:
    """Return N, n (samples of all clients together) and n_0 (samples of the server)."""
    server, *clients = instance["samples"]
    return dict(
        N=Fraction(len(clients)), n=Fraction(sum(map(len, clients))), n_0=Fraction(len(server))
    )


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return F, f_0 and the shared objective at x.

    F weighs clients by their numbers of samples; after sharing, client i has n_i + n_0 samples, and
    the total is n + N n_0.
    """
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


FIELDS = Fields(
    samples_field(list_of(SAMPLES, length_plus("N", 1)), count_samples), fields.vector("x")
)
SHARING = Model(
    name="fsl_sharing",
    says="samples that a server shares",
    measures=names(TABLE, "F_shared F_x f_0_x"),
    algorithms=("data_sharing", "fsl"),
    gives=("N", "n", "n_0"),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=frozenset({"samples", "server"}),
    holds=FIELDS.guard(lambda instance: frozenset({"samples", "server"})),
    kind="exact",
    **FIELDS.record(),
)


# A server whose samples are drawn from the clients' samples


def drawn_shapes(random: Random, relaxed: Set[Any]) -> dict[str, int]:
    """Draw n from 1 to 6 samples of the clients, n_0 of them for the server, and the dimension."""
    n = random.randint(1, 6)
    return dict(n=n, n_0=random.randint(1, n), d=random.choice([1, 1, 2]))


def drawn_measure(instance: Instance, values: Assignment, wanted: Sequence[str]) -> dict[str, Any]:
    """Return the expected squared error of the server's mean gradient, and the samples' variance.

    The n_0 samples are drawn without replacement, all subsets with equal probability.
    """
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


DRAWN_FIELDS = Fields(
    samples_field(list_of(POINT, "n"), lambda shape: [shape["n"]], several=False),
    fields.vector("x"),
    count("n_0", most="n"),
)
DRAWN = Model(
    name="fsl_drawn_server",
    says="a server whose samples are drawn from the clients'",
    measures=names(TABLE, "sampled_xi population"),
    gives=("n", "n_0"),
    shapes=drawn_shapes,
    constants=lambda instance: dict(
        n=Fraction(len(instance["samples"])), n_0=Fraction(instance["n_0"])
    ),
    measure=drawn_measure,
    table=TABLE,
    ensures=frozenset({"samples"}),
    holds=DRAWN_FIELDS.guard(lambda instance: frozenset({"samples"})),
    **DRAWN_FIELDS.record(),
)
MODELS = (SHARING, DRAWN)
