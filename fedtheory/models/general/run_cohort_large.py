"""The mean gradient of a cohort drawn without replacement from thousands of clients of a few kinds,
with the variance of a sample in closed form (Cochran 1977, theorem 2.2)."""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import root
from fedtheory.models.fields import ZERO, Field, Fields, count, deviation
from fedtheory.models.general import run_cohort
from fedtheory.models.kinds import COHORT, Kinds, draw_count, draw_kinds, members_field
from fedtheory.schema import list_of
from fedtheory.typing import Assignment, Instance, Number, Shape


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, int | str]:
    N = draw_count(random, 30 if random.random() < 0.5 else 1)
    return dict(
        N=str(N),
        S=str(random.choice([N, max(1, N - 1), max(1, N // 2), random.randint(1, N)])),
        **draw_kinds(random, N),
        noise=int("exact_gradients" in relaxed and random.random() < 0.6),
    )


def list_gradients(shape: Shape) -> Any:
    """Return the coordinates of the gradients, one for each kind of clients."""
    return {f"grad_{k}": "real" for k in range(shape["kinds"])}


FIELDS = Fields(
    count("S")._replace(schema=COHORT),
    members_field(),
    Field(
        "grads",
        list_of("number", "kinds"),
        lambda shape, point, built: [point[name] for name in list_gradients(shape)],
        list_gradients,
    ),
    deviation("sigma", "noise"),
)


def gradient_spread(kinds: Any, grads: Any) -> Number:
    """Return the variance of the clients' gradients about their mean."""
    gaps = ((share, a - b) for share, a, b in kinds.pairs(grads))
    return sum((share * gap * gap for share, gap in gaps), ZERO)


def derive_constants(instance: Instance) -> dict[str, Number]:
    """Return N, S, d = 1, sigma, sigma_j and G, the root of the variance of the clients'
    gradients."""
    kinds, sigma = Kinds(instance["members"]), instance["sigma"]
    return dict(
        N=Fraction(kinds.N),
        S=Fraction(instance["S"]),
        d=Fraction(1),
        sigma=sigma,
        sigma_j=sigma,
        G=root(gradient_spread(kinds, instance["grads"])),
    )


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Number]:
    """Return the expected squared error and square of the cohort's mean noisy gradient.

    The error is ((N - S)/(N - 1) G^2 + sigma^2) / S for a sample without replacement.
    """
    kinds, S, grads = Kinds(instance["members"]), instance["S"], instance["grads"]
    apart = gradient_spread(kinds, grads)
    error = (kinds.left_over(S) * apart + instance["sigma"] * instance["sigma"]) / S
    mean = kinds.mean(grads)
    found = dict(
        cohort_error=error,
        cohort_square=mean * mean + error,
        sq_grad=mean * mean,
        mean_square=mean * mean + apart,
        G_t_sq=apart,
    )
    return {name: found[name] for name in wanted}


@FIELDS.guard
def conditions_held(instance: Instance) -> frozenset[str]:
    """Return all conditions of a cohort, exact gradients only where sigma is 0."""
    always = run_cohort.MODEL.ensures - {"exact_gradients"}
    return always | (frozenset() if instance["sigma"] else {"exact_gradients"})


MODEL = run_cohort.MODEL._replace(
    name="run_large_cohort",
    says="the gradients at one point of a cohort out of many clients",
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    holds=conditions_held,
    kind="exact",
    **FIELDS.record(),
)
