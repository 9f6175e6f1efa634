"""The mean of noisy gradients of a cohort drawn without replacement, by enumeration of all cohorts
and all draws.

The field `breaks` of an instance has the same meaning as in runs: F has weights "p", the cohort is
always the first S clients, all clients have the same draw of noise, or this draw and its opposite
by turns, or noise has a mean.
"""

from collections.abc import Callable, Sequence, Set
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from random import Random
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Many, root, vector
from fedtheory.arithmetic.work import Counted, count_ways
from fedtheory.models import Model, names
from fedtheory.models.families import (
    POINT,
    by_coordinate,
    draw_broken,
    drawn_noise,
    outcomes,
    variance,
)
from fedtheory.models.fields import Field, Fields, count, read_vector
from fedtheory.models.general import run
from fedtheory.models.general._laws import broken_law, differs
from fedtheory.models.quantities import square_norm
from fedtheory.schema import list_of
from fedtheory.symbols.run import TABLE
from fedtheory.typing import Assignment, Instance, Number

if TYPE_CHECKING:
    import numpy as np

MEASURED = ("cohort_error", "cohort_square", "sq_grad", "mean_square", "G_t_sq")


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, Any]:
    """Draw up to 4 clients, a cohort's size, the dimension and noise, and perhaps a law to
    break."""
    N = random.choice([1, 2, 2, 3, 4])
    shape = dict(
        N=N,
        S=random.randint(1, N),
        d=random.choice([1, 1, 2]),
        noise="none"
        if "exact_gradients" not in relaxed
        else random.choice(["none", "even", "skewed"]),
    )
    if broken := draw_broken(random, run.breakable(relaxed, ENSURES)):
        shape.update(run.BROKEN[broken](random, shape), breaks=broken)
    if "coordinate_noise" not in relaxed:  # drawn only where a claim assumes the condition
        shape.update(coordinate_noise=1, d=random.choice([1, 2, 3]))
    return shape


FIELDS = Fields(
    count("S", most="N"),
    Field(
        "grads",
        list_of(POINT, "N"),
        lambda s, point, built: [read_vector(point, f"grad_{i}", s["d"]) for i in range(s["N"])],
        lambda s: {f"grad_{i}_{j}": "real" for i in range(s["N"]) for j in range(s["d"])},
    ),
    run.noise_field(),
    *run.law_fields(),
    run.weights_field(run.breaks("equal_weights")),
    run.BIAS,
)


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return N, S, d, sigma, sigma_j (along one coordinate), and G: the root of the gradients'
    variance."""
    grads, S = instance["grads"], instance["S"]
    d = len(grads[0])
    if not 1 <= S <= len(grads) or any(len(g) != d for g in grads):
        raise Undefined("a cohort that does not fit its clients")
    exact, p, broken = not isinstance(grads[0][0], Many), instance.get("p"), broken_law(instance)
    if ("p" in instance) != (broken == "equal_weights") or p and len(p) != len(grads):
        raise Undefined("weights that do not fit the clients")
    if exact and p and not (min(p) > 0 and sum(p) == 1):
        raise Undefined("weights that are none")
    if exact and not drawn_noise(instance["noise"], d, broken != "noise"):
        raise Undefined("noise that is none, or has a mean")
    sigma = root(variance(instance["noise"]))
    return dict(
        N=Fraction(len(grads)),
        S=Fraction(S),
        d=Fraction(d),
        sigma=sigma,
        sigma_j=by_coordinate(instance["noise"], sigma),
        G=root(gradient_spread(instance)),
    )


def mean_of(instance: Instance) -> Number:
    """Return the gradient of F."""
    grads = [vector(g) for g in instance["grads"]]
    if "p" in instance:
        return sum(p * g for p, g in zip(instance["p"], grads))
    return sum(grads) / len(grads)


def gradient_spread(instance: Instance) -> Number | Counted:
    """Return the mean over clients of ||grad f_i - grad F||^2."""
    grads, mean = [vector(g) for g in instance["grads"]], mean_of(instance)
    return sum(square_norm(g - mean) for g in grads) / len(grads)


def cohorts(instance: Instance) -> "list[tuple[Fraction, tuple[np.ndarray, ...]]]":
    """Return [(probability, gradients of a cohort)]."""
    grads, S = [vector(g) for g in instance["grads"]], instance["S"]
    if instance.get("breaks") == "uniform_cohort":
        return [(Fraction(1), grads[:S])]
    chance = Fraction(1, comb(len(grads), S))
    return [(chance, cohort) for cohort in count_ways(combinations(grads, S))]


def errors(instance: Instance) -> "list[tuple[Fraction, list[np.ndarray]]]":
    """Return [(probability, errors of a cohort's gradients)]."""
    noise, S = outcomes(instance["noise"], len(instance["grads"][0])), instance["S"]
    if instance.get("breaks") == "independent_noise":
        turns = "turns" in instance
        return [(p, [-n if turns and k % 2 else n for k in range(S)]) for p, n in noise]
    return [
        (prod(p for p, _ in draws), [n for _, n in draws])
        for draws in count_ways(product(noise, repeat=S))
    ]


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return the expected squared error and square of the cohort's mean noisy gradient.

    Expectations are over all cohorts and all draws of noise; the error is relative to grad F.
    """
    grads, S, mean = [vector(g) for g in instance["grads"]], instance["S"], mean_of(instance)

    def expected(value: Callable[..., Any]) -> Number | Counted:
        return sum(
            chance * p * value(sum(g + n for g, n in zip(cohort, drawn)) / S)
            for chance, cohort in cohorts(instance)
            for p, drawn in errors(instance)
        )

    named = dict(
        cohort_error=lambda: expected(lambda g: square_norm(g - mean)),
        cohort_square=lambda: expected(square_norm),
        sq_grad=lambda: square_norm(mean),
        mean_square=lambda: sum(square_norm(g) for g in grads) / len(grads),
        G_t_sq=lambda: gradient_spread(instance),
    )
    return {name: named[name]() for name in wanted}


# conditions that every cohort meets unless it breaks a law
MET = frozenset(
    "noise coordinate_noise independent_noise uniform_cohort equal_weights dissimilar".split()
)
ENSURES = MET | {"exact_gradients"}


def holds(instance: Instance) -> frozenset[str]:
    """Return the conditions that an instance meets."""
    N, broken = len(instance["grads"]), instance.get("breaks")
    if not differs(dict(instance, N=N, x_0=instance["grads"][0])):
        lost = set()
    else:
        lost = {broken, "coordinate_noise"} if broken == "noise" else {broken}
    return (MET - lost) | (set() if instance["noise"] else {"exact_gradients"})


MODEL = Model(
    name="run_cohort",
    says="a cohort's gradients at one point",
    measures=names(TABLE, *MEASURED),
    gives=("N", "S", "d"),
    loose=dict(sigma=1, sigma_j=1, G=1),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=ENSURES,
    holds=holds,
    **FIELDS.record(),
)
