"""A cohort's round of 2-way gradient transfer, one outcome of the noise at a time: which gradients
can be recovered from deltas (mixed FL, A.2)."""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.algorithms import two_way_gt
from fedtheory.arithmetic.operations import vector
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.traces import Losses, Rounds
from fedtheory.models import Model, fields, kernels, losses
from fedtheory.models.families import POINT, draw_family
from fedtheory.models.fields import Field, Fields, family, read_vector
from fedtheory.models.quantities import Quantities, square_norm
from fedtheory.schema import at_least, list_of
from fedtheory.symbols.mixed import TABLE
from fedtheory.typing import Assignment, Instance, Number, Point, Shape

DRAWS = list_of(POINT, at_least(1))  # the draws of a client's steps
# the losses are a cohort's losses
CALLED = dict(x="the start", transferred="the gradient that is transferred")


def draw_shapes(random: Random, relaxed: Set[Any]) -> dict[str, Any]:
    """Draw S clients, each with its own number of steps K_i from 1 to 3, and losses convex or
    not."""
    S = random.choice([1, 2, 3])
    family = draw_family(random, False, False, soft=False)
    return dict(family, S=S, **{f"K_{i}": random.choice([1, 2, 3]) for i in range(S)})


def list_draws(shape: Shape) -> Any:
    """Return (client, step) of each draw of noise."""
    return [(i, k) for i in range(shape["S"]) for k in range(shape[f"K_{i}"])]


def list_points(shape: Shape) -> Any:
    """Return the coordinates of the start, the transferred gradient and each draw of noise."""
    found = {}
    for j in range(shape["d"]):
        found.update({f"x_{j}": "real", f"transferred_{j}": "real"})
        found.update({f"noise_{i}_{k}_{j}": "real" for i, k in list_draws(shape)})
    return found


def build_noise(shape: Shape, point: Point, built: Any) -> Any:
    """Return the noise vector of each step of each client."""
    return [
        [read_vector(point, f"noise_{i}_{k}", shape["d"]) for k in range(shape[f"K_{i}"])]
        for i in range(shape["S"])
    ]


FIELDS = Fields(
    family("losses", list_of(losses.LOSS, "S"), lambda shape: shape["S"]),
    fields.vector("x")._replace(coordinates=list_points),
    fields.vector("transferred"),
    Field("noise", list_of(DRAWS, "S"), build_noise),
)


def derive_constants(instance: Instance) -> dict[str, Fraction]:
    """Return S, the size of the cohort."""
    return dict(S=Fraction(len(instance["losses"])))


class Cohort:
    """A cohort's walks by the kernels of two_way_gt; the client i of the statement is the first
    member. f_c has no gradient here, and there is one central step."""

    def __init__(self, instance: Instance, eta: Number | Counted) -> None:
        f, noise, x = instance["losses"], instance["noise"], vector(instance["x"])
        zero, d, S = vector([Fraction(0)] * len(x)), len(x), len(f)
        rounds = Rounds(
            two_way_gt.ALGORITHM,
            Losses(
                lambda i, y: losses.loss_gradient(f[i - 1], y) if i else zero,
                lambda i, k: [(Fraction(1), vector(noise[i - 1][k]))] if i else [],
                (Fraction(0), *[Fraction(1, S)] * S),
                d,
            ),
            dict(eta=eta, eta_c=eta, K=1),
        )
        state = rounds.start(x)
        state.g_c[:] = self.g_c = vector(instance["transferred"])
        work = tuple(map(len, noise))
        ((_, trace),) = rounds.of(state, [(Fraction(1), tuple(range(1, S + 1)), work)])
        self.deltas = [walk.points[-1] - x for walk in trace.clients]
        self.sums = [sum(walk.estimates) for walk in trace.clients]
        self.eta, self.steps = eta, sum(work)
        self.own, self.recovered = self.sums[0] / work[0], -self.deltas[0] / (eta * work[0])


MEASURED = Quantities(
    TABLE,
    miss_8=lambda c: square_norm(c.recovered - (c.own + c.g_c)),
    miss_9=lambda c: square_norm(c.recovered - c.g_c - c.own),
    miss_10=lambda c: square_norm(
        -sum(c.deltas) / (c.eta * c.steps) - c.g_c - sum(c.sums) / c.steps
    ),
    sq_transferred=lambda c: square_norm(c.g_c),
    sq_applied=lambda c: square_norm(c.own + c.g_c),
)


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    return MEASURED(Cohort(instance, values["eta"]), wanted)


conditions_held = FIELDS.guard(lambda instance: frozenset({"sgd"}))
MODEL = Model(
    name="mixed_transfer",
    says="a cohort's round of 2-way gradient transfer",
    measures=MEASURED.measures,
    algorithms=("two_way_gt",),
    by=kernels("two_way_gt"),
    gives=("S",),
    takes=("eta",),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=frozenset({"sgd"}),
    holds=conditions_held,
    kind="exact",
    **FIELDS.record(),
)
