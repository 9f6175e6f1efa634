"""Vectors, random variables and cohorts of gradients, for lemmas that hold for any of these
objects.

Random variables have finite support. Variable i of a chain depends on the outcomes of variables 1
to i, which are drawn independently. A chain can therefore have any dependence, including martingale
differences and independence.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import TYPE_CHECKING, Any

from fedtheory import schema
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import maximum, root, vector
from fedtheory.arithmetic.work import Counted, count_ways
from fedtheory.language.symbol import Table
from fedtheory.models import Model, names
from fedtheory.models.families import (
    NOISE,
    POINT,
    SKEWS,
    outcomes,
    sound_noise,
    two_point,
    variance,
)
from fedtheory.models.quantities import square_norm
from fedtheory.schema import integer, list_of, word
from fedtheory.symbols import fsl, mixed
from fedtheory.typing import Assignment, Instance, Number, Point, Shape

if TYPE_CHECKING:
    import numpy as np

# symbols of vectors, without random variables
HERE = {"sq_sum", "sum_sq", "sq_pair", "sq_i", "sq_j", "sq_cross"}


def vector_entries(point: Point, name: str, d: int) -> list[Number | Counted]:
    """Return the d entries of a vector from a point's coordinates."""
    return [point[f"{name}_{j}"] for j in range(d)]


# Vectors


def some_vectors(table: Table, count: str, split: str) -> Model:
    """Return the model of vectors v_1, ..., v_count. Lemmas on a pair of vectors use the first and
    the last."""

    def measure(instance: Instance, values: Assignment, wanted: Sequence[str]) -> dict[str, Any]:
        v = [vector(row) for row in instance["vectors"]]
        one, other, a = v[0], v[-1], values[split]
        named = dict(
            sq_sum=lambda: square_norm(sum(v)),
            sum_sq=lambda: sum(square_norm(each) for each in v),
            sq_pair=lambda: square_norm(one + other),
            sq_i=lambda: square_norm(one),
            sq_j=lambda: square_norm(other),
            sq_cross=lambda: a * square_norm(one) + 2 * one.dot(other) + square_norm(other) / a,
        )
        return {name: named[name]() for name in wanted}

    return Model(
        name=f"{table.paper}_vectors",
        says="vectors",
        measures=names(table, *HERE & set(table)),
        gives=(count,),
        takes=(split,),
        shapes=lambda random, relaxed: {
            count: random.choice([1, 2, 2, 3, 5]),
            "d": random.choice([1, 1, 2]),
        },
        coordinates=lambda shape: {
            f"v_{i}_{j}": "real" for i in range(shape[count]) for j in range(shape["d"])
        },
        build=lambda shape, point: dict(
            vectors=[vector_entries(point, f"v_{i}", shape["d"]) for i in range(shape[count])]
        ),
        constants=lambda instance: {count: Fraction(len(instance["vectors"]))},
        measure=measure,
        table=table,
        kind="exact",
        schema=schema.entries(dict(vectors=list_of(POINT, "N"))),
    )


# Random variables


def some_variables(table: Table, count: str, spread: str | None, ensures: Set[str]) -> Model:
    """Return the model of random variables Xi_1, ..., Xi_count with means xi_i, either plain means
    or means given the variables before."""

    def shapes(random: Random, relaxed: Set[Any]) -> dict[str, int | str]:
        how = "independent" if "zero_mean_independent" in ensures else "given"
        how = "chain" if ensures & relaxed - {"bounded_variance"} else how
        many = random.choice([1, 2, 2, 3])
        return {
            count: many,
            "d": random.choice([1, 1, 2]) if many < 3 else 1,
            "how": how,
            "skew": random.choice(["even", "even", "skewed"]),
        }

    return Model(
        name=f"{table.paper}_variables",
        says="random variables of finite support",
        gives=(count,),
        measures=names(
            table,
            *{"E_sq_sum", "E_sum_sq", "sq_sum_means", "E_sq_sum_means", "E_sq_sum_errors"}
            & set(table),
        ),
        loose={spread: 1} if spread else {},
        shapes=shapes,
        coordinates=lambda s: place_coordinates(s, s[count]),
        build=lambda s, point: build_chain(s, s[count], point),
        constants=lambda instance: {
            count: Fraction(len(instance["variables"])),
            **({spread: root(maximum(*mean_deviations(instance)))} if spread else {}),
        },
        measure=chain_moments,
        table=table,
        ensures=ensures,
        holds=lambda instance: ensures & conditions_met(instance),
        schema=schema.entries(
            dict(
                variables=list_of(list_of(POINT, ["doubled"]), "N"),
                up="share",
                means=word("given", "plain"),
            )
        ),
    )


def place_coordinates(shape: Shape, count: int) -> dict[str, str]:
    """Return the coordinates of a shape: one vector for each outcome of the draws up to a variable,
    or one vector for each variable where variables are independent."""
    each = (lambda i: 1) if shape["how"] == "independent" else (lambda i: 2 ** (i + 1))
    return {
        f"z_{i}_{way}_{j}": "real"
        for i in range(count)
        for way in range(each(i))
        for j in range(shape["d"])
    }


def build_chain(shape: Shape, count: int, point: Point) -> dict[str, Any]:
    """Return each variable's value for each outcome of the draws up to that variable. The last draw
    is the last bit of an outcome's index."""
    up, rows = SKEWS[shape["skew"]], []
    for i in range(count):
        at = lambda way: vector_entries(point, f"z_{i}_{way}", shape["d"])
        if shape["how"] == "independent":  # centred for every outcome of the earlier variables
            size = at(0)
            rows.append([size, [-x * up / (1 - up) for x in size]] * 2**i)
        else:
            rows.append([at(way) for way in range(2 ** (i + 1))])
    return dict(variables=rows, up=up, means="given" if shape["how"] == "given" else "plain")


def list_ways(instance: Instance, length: int) -> list[tuple[Fraction, int]]:
    """Return [(probability, index of an outcome of `length` draws)]."""
    found, up = [(Fraction(1), 0)], instance["up"]
    for _ in range(length):
        found = [
            each for p, way in found for each in ((p * up, 2 * way), (p * (1 - up), 2 * way + 1))
        ]
    return found


def conditional_means(instance: Instance) -> "list[list[np.ndarray]]":
    """Return xi_i for each outcome of the draws before variable i: the common mean, or the mean
    given that outcome."""
    found, up = [], instance["up"]
    for i, row in enumerate(instance["variables"]):
        row = [vector(v) for v in row]
        given = [up * row[2 * way] + (1 - up) * row[2 * way + 1] for way in range(2**i)]
        plain = sum(p * given[way] for p, way in list_ways(instance, i))
        found.append(given if instance["means"] == "given" else [plain] * 2**i)
    return found


def mean_deviations(instance: Instance) -> list[Number | Counted]:
    """Return E||Xi_i - xi_i||^2 of each variable."""
    xi = conditional_means(instance)
    return [
        sum(
            p * square_norm(vector(row[way]) - xi[i][way // 2])
            for p, way in list_ways(instance, i + 1)
        )
        for i, row in enumerate(instance["variables"])
    ]


def chain_moments(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Number]:
    """Return expectations of sums of a chain's variables Xi_i and their means xi_i, over all
    draws."""
    rows, xi = instance["variables"], conditional_means(instance)
    count = len(rows)
    Xi = lambda way: [vector(rows[i][way >> (count - 1 - i)]) for i in range(count)]
    mean = lambda way: [xi[i][way >> (count - i)] for i in range(count)]
    E = lambda value: sum(p * value(way) for p, way in list_ways(instance, count))
    named = dict(
        E_sq_sum=lambda: E(lambda way: square_norm(sum(Xi(way)))),
        E_sum_sq=lambda: E(lambda way: sum(square_norm(each) for each in Xi(way))),
        sq_sum_means=lambda: (
            square_norm(sum(mean(0))) if instance["means"] == "plain" else INF
        ),  # not defined for conditional means
        E_sq_sum_means=lambda: E(lambda way: square_norm(sum(mean(way)))),
        E_sq_sum_errors=lambda: E(lambda way: square_norm(sum(Xi(way)) - sum(mean(way)))),
    )
    return {name: named[name]() for name in wanted}


def conditions_met(instance: Instance) -> frozenset[str]:
    """Return the conditions that a chain of variables meets, decided from its values."""
    rows, up, d = instance["variables"], instance["up"], len(instance["variables"][0][0])
    if not (
        0 < up < 1
        and all(
            len(row) == 2 ** (i + 1) and all(len(v) == d for v in row) for i, row in enumerate(rows)
        )
    ):
        return frozenset()
    found, xi = {"bounded_variance"}, conditional_means(instance)
    own = all(
        row[way] == row[way % 2] for row in rows for way in range(len(row))
    )  # whether each variable depends on its own draw only
    if own and all(x == 0 for means_of in xi for mean in means_of for x in mean):
        found.add("zero_mean_independent")
    # xi_i is a function of the earlier values: outcomes with equal earlier values must have the
    # same mean, which is the true mean.
    seen = {}
    for i, row in enumerate(rows):
        for p, way in list_ways(instance, i):
            before = (i, *(tuple(rows[k][way >> (i - 1 - k)]) for k in range(i)))
            true = up * vector(row[2 * way]) + (1 - up) * vector(row[2 * way + 1])
            seen.setdefault(before, []).append((p, tuple(true), tuple(xi[i][way])))
    if all(
        len({said for _, _, said in group}) == 1
        and all(
            sum(p * true[j] for p, true, _ in group) == sum(p for p, _, _ in group) * group[0][2][j]
            for j in range(d)
        )
        for group in seen.values()
    ):
        found.add("martingale")
    return frozenset(found)


# A cohort's gradients


def cohort_shapes(random: Random, relaxed: Set[Any]) -> dict[str, int | str]:
    """Draw up to 4 clients, a cohort's size and noise; gradients differ only if that is not
    excluded."""
    N = random.choice([1, 2, 3, 4])
    return dict(
        N=N,
        S=random.randint(1, N),
        d=random.choice([1, 1, 2]),
        skew=random.choice(["even", "skewed"]),
        own=int("homogeneous" in relaxed),
        together=int("independent_noise" in relaxed),
    )


def cohort_coordinates(shape: Shape) -> dict[str, str]:
    """Return the coordinates of the clients' gradients and of the sizes of their noise."""
    found = {
        f"g_{i}_{j}": "real"
        for i in range(shape["N"] if shape["own"] else 1)
        for j in range(shape["d"])
    }
    return {**found, **{f"sigma_{i}": "positive" for i in range(shape["N"])}}


def cohort_instance(shape: Shape, point: Point) -> dict[str, int | list[list[Any]]]:
    """Build the gradients and the two-point noise of each client."""
    N, d = shape["N"], shape["d"]
    return dict(
        gradients=[vector_entries(point, f"g_{i if shape['own'] else 0}", d) for i in range(N)],
        S=shape["S"],
        together=shape["together"],
        noise=[two_point(point[f"sigma_{i}"], shape["skew"], d) for i in range(N)],
    )


def cohort_error(instance: Instance, values: Assignment, wanted: Sequence[str]) -> dict[str, Any]:
    """Return E ||mean noisy gradient of a cohort - mean gradient||^2, over cohorts and draws."""
    g, N, S = (
        [vector(row) for row in instance["gradients"]],
        len(instance["gradients"]),
        instance["S"],
    )
    noise, whole = [outcomes(rows, len(g[0])) for rows in instance["noise"]], sum(g) / N
    total, cohorts = Fraction(0), list(count_ways(combinations(range(N), S)))
    for members in cohorts:
        draws = (
            zip(*(noise[i] for i in members))
            if instance["together"]
            else product(*(noise[i] for i in members))
        )
        for drawn in draws:
            p = drawn[0][0]
            for q, _ in () if instance["together"] else drawn[1:]:
                p = p * q
            total = total + p * square_norm(
                sum(g[i] + n for i, (_, n) in zip(members, drawn)) / S - whole
            )
    return {"cohort_error": total / len(cohorts)}


def cohort_holds(instance: Instance) -> frozenset[str]:
    """Return the conditions that a cohort's gradients and noise meet; none for data that are no
    instance."""
    g, noise, d = instance["gradients"], instance["noise"], len(instance["gradients"][0])
    odds = {tuple(p for p, _ in rows) for rows in noise}
    if not (
        1 <= instance["S"] <= len(g) == len(noise)
        and all(len(row) == d for row in g)
        and len(odds) == 1
        and all(sound_noise(rows, d) for rows in noise)
    ):
        return frozenset()
    return (
        COHORT
        - ({"homogeneous"} if any(row != g[0] for row in g) else set())
        - ({"independent_noise"} if instance["together"] and instance["S"] > 1 else set())
    )


COHORT = frozenset({"homogeneous", "noise", "independent_noise", "uniform_cohort"})
MODELS = (
    some_vectors(fsl.TABLE, "m", "a_split"),
    some_vectors(mixed.TABLE, "tau", "a"),
    some_variables(fsl.TABLE, "m", None, frozenset({"bounded_variance", "zero_mean_independent"})),
    some_variables(mixed.TABLE, "tau", "spread", frozenset({"bounded_variance", "martingale"})),
    Model(
        name="mixed_cohort",
        says="a cohort's gradients at a point",
        measures=names(mixed.TABLE, "cohort_error"),
        gives=("N", "S"),
        loose=dict(sigma=1),
        shapes=cohort_shapes,
        coordinates=cohort_coordinates,
        build=cohort_instance,
        measure=cohort_error,
        table=mixed.TABLE,
        ensures=COHORT,
        constants=lambda instance: dict(
            N=Fraction(len(instance["gradients"])),
            S=Fraction(instance["S"]),
            sigma=root(maximum(*(variance(rows) for rows in instance["noise"]), Fraction(0))),
        ),
        holds=cohort_holds,
        schema=schema.entries(
            dict(
                gradients=list_of(POINT, "N"),
                S=integer(1, "N"),
                together=integer(0, 1),
                noise=list_of(NOISE, "N"),
            )
        ),
    ),
)
