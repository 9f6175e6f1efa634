"""One round of 1-way gradient transfer with thousands of clients and steps, on quadratics in one
dimension, by closed forms of two moments.

Enumeration is limited to a few steps; here S and K may be thousands. Noise may have any law with
the given variance, because only moments enter. After k steps a client is at

    x - eta sum_{l<k} r^l (g + n_c) - eta sum_{l<k} r^l n_(k-1-l),    r = 1 - eta f_f'',

where g is the mixed gradient at x, n_c the noise of the one central gradient, and n_j the noise of
the client's step j.
"""

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Many, where
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.recursions import ZERO, Spread, Step, Steps, Sums, quadratic_steps, sum_rounds
from fedtheory.models import Model, beside, losses
from fedtheory.models.families import draw_broken
from fedtheory.models.fields import count, deviation
from fedtheory.models.kinds import draw_count
from fedtheory.models.mixed import pair
from fedtheory.models.mixed import round as enumerated
from fedtheory.models.quantities import Quantities
from fedtheory.schema import entries, list_of, row
from fedtheory.symbols.mixed import TABLE
from fedtheory.typing import Assignment, Instance, Number

QUADRATIC = dict(slope="number", tilt="number", bends=list_of("number", 0))
LINE = row(entries(QUADRATIC, dict(soft=list_of("number", 0))))


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, Any]:
    """Draw a shape. Sizes are texts, so that a shape with large sizes does not count as large."""
    S, K = draw_count(random, 1), draw_count(random, 30 if random.random() < 0.4 else 1)
    drawn = pair.draw_pair(random, relaxed, noisy=True)
    own = "slopes" if drawn["own"] == "slopes" else "tilt"
    shape = dict(
        drawn,
        d=1,
        pieces=1,
        soft=0,
        own=own,
        N=str(S + random.choice([0, 1, 100])),
        S=str(S),
        K=str(K),
        noise=int(random.random() < 0.5),
        noise_c=int(random.random() < 0.5),
    )
    if broken := draw_broken(random, relaxed & pair.BREAKABLE):
        shape.update(breaks=broken, N=str(S + 100))
        shape["noise"] = int(broken == "independent_noise" or shape["noise"])
    return shape


FIELDS = pair.PAIR.replace(
    pair.PAIR.fields["losses"]._replace(schema=row(LINE, LINE)),
    pair.PAIR.fields["x"]._replace(schema=row("number")),
    count("N"),
    count("S", most="N"),
    count("K"),
    deviation("sigma", "noise"),
    deviation("sigma_c", "noise_c"),
    pair.BREAKS,
)


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return N, S, K, the constants of the two losses, sigma and sigma_c."""
    return dict(
        {name: Fraction(instance[name]) for name in ("N", "S", "K")},
        **pair.pair_constants(instance),
        sigma=instance["sigma"],
        sigma_c=instance["sigma_c"],
    )


class Round:
    """The round of 1-way gradient transfer that starts at x."""

    def __init__(self, instance: Instance, values: Assignment) -> None:
        self.S, self.K, (self.x,) = instance["S"], instance["K"], instance["x"]
        self.eta, self.eta_s, self.instance = values["eta"], values["eta_s"], instance
        (self.f,), (self.c,) = instance["losses"]
        self.a = self.f["slope"]
        self.g_f, self.g_c = (losses.slope_at(curve, self.x) for curve in (self.f, self.c))
        self.noise, self.noise_c = (
            instance[name] * instance[name] for name in ("sigma", "sigma_c")
        )
        self.g, self.step = self.g_f + self.g_c, self.K * self.eta_s * self.eta
        self.augmented = self.g * self.g + self.noise_c  # E||grad f_f + g_c||^2
        # whether all steps have the same noise n, as they have the same g and n_c
        self.one = instance.get("breaks") == "independent_noise"

    # Quantities of the run are computed on demand only: with large steps they may overflow, where
    # quantities measured at x do not.

    @cached_property
    def walk(self) -> Steps:
        """Return the map of K exact steps of a client on f_f."""
        return quadratic_steps(self.a, self.eta, self.K)

    @property
    def move(self) -> Number:
        """Return the expected move of the model in the round."""
        return -self.eta_s * self.walk.pull * self.g

    @property
    def taken(self) -> Fraction:
        """Return the mean of r^l over l = 0, ..., K - 1, where r = 1 - eta a."""
        return self.walk.pull / (self.eta * self.K)

    @cached_property
    def away(self) -> Number | Counted:
        """Return x - x*."""
        return self.x - pair.find_minimizer(self.instance)[0]

    def along(self, n: int, **wanted: bool) -> tuple[Sums, Sums]:
        """Return two sums over a client's first n points less x: the factor of g + n_c, and the
        contribution of noise of variance 1."""
        keep = 1 - self.eta * self.a
        driven = sum_rounds(Step(keep, -self.eta, Spread()), n, spread=False, **wanted)
        if self.one:
            return driven, driven
        drawn = Step(keep, ZERO, Spread(keep * keep, ZERO, ZERO, self.eta * self.eta))
        return driven, sum_rounds(drawn, n, **wanted)

    def mean_square(self, n: int) -> Number | Counted:
        """Return the sum of E(y - x)^2 over the first n points of a client, x included, divided by
        K."""
        driven, drawn = self.along(n)
        return (self.augmented * driven.squares.one + self.noise * drawn.squares.one) / self.K

    @cached_property
    def drift(self) -> Number | Counted:
        """Return the mean of E ||y_k - x||^2 over the steps k = 0, ..., K - 1."""
        return self.mean_square(self.K)

    @cached_property
    def changed(self) -> tuple[Number, Number]:
        """Return (mean, variance) of the difference between the mean gradient at the points and the
        gradient at x."""
        driven, drawn = self.along(self.K, squares=False)
        pull = driven.shift / self.K
        spread = pull * pull if self.one else drawn.spread.one / (self.K * self.K * self.S)
        variance = pull * pull * self.noise_c + spread * self.noise
        return self.a * pull * self.g, self.a * self.a * variance

    @property
    def furthest(self) -> Fraction:
        """Return the mean squared distance from x of a client's last point, which is the largest
        where steps do not overshoot. Undefined is raised where steps overshoot; in a batch, the
        result is NaN."""
        pull = self.walk.pull * self.walk.pull
        end = pull * self.augmented + (pull if self.one else self.walk.noise) * self.noise
        rate = self.eta * self.a
        if isinstance(rate, Many):
            return where(rate <= 1, end, Many(np.asarray(np.nan)))
        if rate > 1:
            raise Undefined("steps that overshoot")
        return end

    @property
    def sq_move(self) -> Number:
        """Return the expected squared move of the model in the round."""
        pull = self.walk.pull * self.walk.pull
        drawn = pull if self.one else self.walk.noise / self.S
        spread = pull * self.noise_c + drawn * self.noise
        return self.move * self.move + self.eta_s * self.eta_s * spread

    @property
    def error(self) -> Number:
        """Return E||mean gradient estimate - grad f_f(x)||^2."""
        short = self.taken - 1
        scale = self.eta * self.eta * self.K * self.K * self.S
        drawn = self.taken * self.taken if self.one else self.walk.noise / scale
        return short * short * self.augmented + drawn * self.noise

    def value(self, curve: Mapping[str, Any]) -> Fraction:
        """Return the value of a loss at x."""
        return losses.loss_value([curve], [self.x])

    def above(self, curve: Mapping[str, Any], g: Number) -> Fraction:
        """Return the difference of a loss at x and at x*."""
        return self.away * (g - curve["slope"] * self.away / 2)

    @property
    def bend(self) -> Number | Counted:
        """Return the curvature of f = f_f + f_c."""
        return self.f["slope"] + self.c["slope"]


ROUND = Quantities(
    TABLE,
    f_t=lambda r: r.value(r.f) + r.value(r.c),
    gap=lambda r: r.bend * r.away * r.away / 2,
    gap_f=lambda r: r.above(r.f, r.g_f),
    gap_c=lambda r: r.above(r.c, r.g_c),
    sq_grad=lambda r: r.g * r.g,
    sq_grad_f=lambda r: r.g_f * r.g_f,
    sq_grad_c=lambda r: r.g_c * r.g_c,
    sq_dist=lambda r: r.away * r.away,
    sq_augmented=lambda r: r.augmented,
    drift=lambda r: r.drift,
    ends=lambda r: r.mean_square(r.K + 1),
    furthest=lambda r: r.furthest,
    mean_change=lambda r: r.a * r.a * r.drift,
    f_next=lambda r: r.value(r.f) + r.value(r.c) + r.g * r.move + r.bend * r.sq_move / 2,
    sq_dist_next=lambda r: (r.away + r.move) ** 2 + r.sq_move - r.move * r.move,
    sq_move=lambda r: r.sq_move,
    term_A=lambda r: 2 * r.step * r.step * r.error,
    term_B=lambda r: 2 * r.step * r.step * r.augmented,
    term_C=lambda r: 2 * r.move * r.away,
    term_C1=lambda r: -2 * r.step * r.g_c * r.away,
    term_C2=lambda r: -2 * r.step * (r.g_f + r.changed[0]) * r.away,
    change_mean=lambda r: r.changed[0] * r.changed[0] + r.changed[1],
    sq_mean_error=lambda r: r.changed[0] * r.changed[0],
    inner_move=lambda r: r.g * r.move,
)


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    return ROUND(Round(instance, values), wanted)


@FIELDS.guard
def conditions_held(instance: Instance) -> frozenset[str]:
    several = ("sigma",) if instance["K"] * instance["S"] > 1 else ()
    return (pair.pair_holds(instance) | enumerated.BUILT) - pair.broken_by(instance, several)


MODEL = Model(
    name="mixed_large",
    says="one round of 1-way gradient transfer with many clients and steps, on quadratics in one "
    "dimension",
    measures=ROUND.measures,
    by=beside("one_way_gt", "moments in closed form, for thousands of clients and steps"),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    holds=conditions_held,
    kind="exact",
    **enumerated.RECORD,
    **FIELDS.record(),
)
