"""A start of FSL and the minimiser of its modified loss, on losses known exactly.

No method runs. Measured are the distance of the start to the optimum in loss, tilde-D_0 of the
modified loss and D_0 of F at its minimiser, and f_0 at the start and at this minimiser.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import vector
from fedtheory.models import Model, fields, losses, minima, names
from fedtheory.models.families import draw_family
from fedtheory.models.fields import Fields, family
from fedtheory.schema import length_plus, list_of
from fedtheory.symbols.fsl import TABLE
from fedtheory.typing import Assignment, Instance, Number

LOSSES = family("losses", list_of(losses.LOSS, length_plus("N", 1)), lambda shape: shape["N"] + 1)
FIELDS = Fields(LOSSES, fields.vector("x"))


def draw_shapes(random: Random, relaxed: Set[Any]) -> dict[str, int]:
    """Draw 1 or 2 clients and a family of losses, mostly convex, without soft corners (no closed
    minimum)."""
    return dict(
        N=random.choice([1, 1, 2]), **draw_family(random, random.random() < 0.9, False, soft=False)
    )


def derive_constants(instance: Instance) -> dict[str, Number]:
    """Return N and f_0(x_0), the server's loss at the start."""
    return dict(
        N=Fraction(len(instance["losses"]) - 1),
        f_0_start=losses.loss_value(instance["losses"][0], vector(instance["x"])),
    )


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Number]:
    """Return the gaps between the start and the minimiser of (gamma f_0 + F) / (1 + gamma).

    D_0 is F(x_0) - F(x), and f_0_star is f_0(x), at the minimiser x of the modified loss. All
    values are -infinity where the modified loss is not bounded below.
    """
    f, x, gamma = instance["losses"], vector(instance["x"]), values["gamma"]
    share = Fraction(1, len(f) - 1)
    weights = [gamma / (1 + gamma)] + [share / (1 + gamma)] * (len(f) - 1)
    lowest, best = minima.least_point(f, weights)
    F = lambda y: share * sum(losses.loss_value(one, y) for one in f[1:])
    exists = lambda value: lowest if isinstance(lowest, float) else value()  # there is no minimiser
    named = dict(
        tilde_D_0=lambda: sum(w * losses.loss_value(one, x) for w, one in zip(weights, f)) - lowest,
        D_0=lambda: F(x) - F(best),
        f_0_start=lambda: losses.loss_value(f[0], x),
        f_0_star=lambda: losses.loss_value(f[0], best),
    )
    return {name: exists(named[name]) for name in wanted}


@FIELDS.guard
def conditions_held(instance: Instance) -> frozenset[str]:
    """Return "bounded_below" where F and f_0 are each bounded below."""
    f = instance["losses"]
    ends = (minima.infimum_of(part, [Fraction(1)] * len(part)) for part in (f[1:], f[:1]))
    return frozenset() if any(isinstance(end, float) for end in ends) else ENSURES


ENSURES = frozenset({"bounded_below"})
MODEL = Model(
    name="fsl_pretrain",
    says="a start and the modified loss's minimiser",
    algorithms=("fsl",),
    measures=names(TABLE, "tilde_D_0 D_0 f_0_start f_0_star"),
    gives=("N",),
    takes=("gamma",),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    early=frozenset({"f_0_start"}),
    ensures=ENSURES,
    holds=conditions_held,
    kind="exact",
    **FIELDS.record(),
)
