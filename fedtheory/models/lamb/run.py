"""A few rounds of FED-LAMB from a known start, on losses of bounded gradient: theorem 1, corollary
1, last display.

Round 1 starts from theta-bar_0, as in algorithm 1: theta-bar_r is the mean model after r rounds and
v-hat_r the second moment that belongs to it. Where the text counts iterations t, theta-bar_t is the
mean model after t iterations; tau is the number of all iterations, R T.

Where nothing is random, clients may come in copies. Clients with the same loss then compute the
same points, so means over all clients equal means over one client of each kind, and any number of
clients costs as much as a few.
"""

from collections.abc import Callable, Sequence, Set
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import vector
from fedtheory.models import Model, names
from fedtheory.models.fields import Field, count
from fedtheory.models.lamb import broken, quantities
from fedtheory.models.lamb import round as lamb_round
from fedtheory.models.lamb.round import (
    SHARED,
    build_case,
    draw_common,
    fields_of,
    in_range,
    least_loss,
    list_conditions,
    noise_outcomes,
)
from fedtheory.models.quantities import next_integer
from fedtheory.symbols.lamb import TABLE
from fedtheory.typing import Assignment, Instance

if TYPE_CHECKING:
    import numpy as np

MEASURED = ("mean_sq", "f_excess", "mean_sq_t", "f_excess_t", "loss_drop", "noise_sum")


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, int]:
    """Draw R rounds of T local steps, at most 6 iterations; without noise, clients often have
    copies."""
    R, T = random.choice(
        [(1, 1), (1, 1), (2, 1), (3, 1), (6, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 2)]
    )
    shape = dict(R=R, T=T, **draw_common(random, R * T + 1))
    if shape["noise"] == "none" and random.random() < 0.7:
        shape["crowd"] = 1
    return broken.draw_shape(random, relaxed, shape)


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return the constants of an iteration, R, and tau = R T."""
    R = Fraction(instance["R"])
    return dict(lamb_round.derive_constants(instance), R=R, tau=R * instance["T"])


def outcome_numbers(
    case: quantities.Instance,
    start: "np.ndarray",
    noise: Callable[..., Any],
    instance: Instance,
    wanted: Sequence[str],
) -> dict[str, Any]:
    """Return the wanted numbers for one outcome of the noise. f_excess and f_excess_t are returned
    before the infimum is subtracted."""
    R, T = instance["R"], instance["T"]
    steps, _ = quantities.follow_path(case, start, noise, R * T + 1)
    after = [
        (quantities.mean_of(it.theta), it.v_hat) for it in steps
    ]  # after t = 0, 1, ... iterations
    size = lambda t: quantities.by_root(quantities.full_grad(case, after[t][0]), after[t][1])
    loss = lambda x: quantities.full_loss(case, x)
    row = lambda t, name: quantities.iteration_quantities(case, steps[t], [name])[name]
    named = dict(
        mean_sq=lambda: sum(size(r * T) for r in range(1, R + 1)) / R,
        mean_sq_t=lambda: sum(size(t) for t in range(1, R * T + 1)) / (R * T),
        f_excess=lambda: loss(after[T][0]),
        f_excess_t=lambda: loss(after[1][0]),
        loss_drop=lambda: row(1, "loss_now") - row(R * T, "loss_next"),
        noise_sum=lambda: sum(quantities.noise_row(steps[t]) for t in range(1, R * T + 1)),
    )
    return {name: named[name]() for name in wanted}


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return the expected left sides and initial terms of theorem 1 over all draws of noise.

    f_excess and f_excess_t are the mean loss at the model after T and after 1 iterations, minus its
    infimum; Undefined is raised where the mean loss has none.
    """
    broken.has_meaning(instance, wanted)
    good, start, this = in_range(values), vector(instance["x"]), build_case(instance, values)
    total = dict.fromkeys(wanted, Fraction(0))
    for probability, noise in noise_outcomes(instance, instance["R"] * instance["T"] + 1):
        for name, value in outcome_numbers(this, start, noise, instance, wanted).items():
            total[name] = total[name] + probability * value
    for name in {"f_excess", "f_excess_t"} & set(total):
        lowest = least_loss(instance)
        if isinstance(lowest, float):
            raise Undefined("a loss that is not bounded below")
        total[name] = total[name] - lowest
    if "noise_sum" in total:  # H3's sigma is used as the sigma_i of every client
        sigma = lamb_round.derive_constants(instance)["sigma"]
        total["noise_sum"] = sigma * sigma * total["noise_sum"]
    return {name: good * value for name, value in total.items()}


COPIES = Field(
    "copies",
    "whole",
    lambda shape, point, built: next_integer(point["crowd"]),
    lambda shape: {"crowd": "positive"},
    lambda shape: "crowd" in shape,
)
FIELDS = fields_of(count("R"), COPIES)
MODEL = Model(
    name="lamb_run",
    says="a few rounds of FED-LAMB from a known start",
    measures=names(TABLE, *MEASURED),
    gives=("n", "T", "h", "p", "alpha", "alpha_r", "R", "tau"),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    holds=FIELDS.guard(list_conditions),
    **SHARED,
    **FIELDS.record(),
)
