"""The number of rounds that mixed FL's methods need until the error stays below a given value
(table 1), for runs that take long or never end.

The count is the first T from which the theorem's error stays below epsilon. The error is that of
the mean of x^(0), ..., x^(T), weighted or not, or the least expected squared gradient so far. No
run of so many rounds is computed. The count is enclosed: the lower end is proved below, the upper
end is infinity. Both ends are infinite where the error never falls below epsilon.

Parallel training, noise at the clients, in one dimension. Let Phi(x) be the expected point after a
round from x, which does not decrease and contracts by kappa < 1 where eta beta <= 1 and K eta_m (eta
eta_s + eta_c) beta <= 1: so do paths of SGD steps. By Efron and Stein, a round's variance is at most
V = K (eta_m eta_s eta sigma)^2 / S. Next to d_t = Phi^t(x^(0)), E (x^(t) - d_t)^2 <= V/(1 - kappa^2)
= rho^2 therefore; and if Phi(x^(0)) >= x^(0) > x*, no d_t is below x^(0). By Jensen's inequality f at
any weighted mean of the points is then at least f(x^(0) - rho) in expectation, and E (f')^2 at least
(f'(x^(0)) - beta_f rho)^2, in every round.

2-way gradient transfer, without noise, on losses whose gradients are bounded by M_f and M_c. The
first transferred gradients may move x^(1) arbitrarily far. From x^(1) on, a round moves the point
by at most Delta = K eta_m (eta eta_s + eta_c) (M_f + M_c). The distance back divided by Delta
bounds the number of rounds from below.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import numpy as np

from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Interval, Many, maximum, minimum, root, vector, where
from fedtheory.arithmetic.work import Counted
from fedtheory.models import Model, kernels, losses, names
from fedtheory.models.families import NOISE, outcomes, sound_noise, two_point, variance
from fedtheory.models.fields import ZERO, guard_by
from fedtheory.models.mixed.moments import STEPS, Case, run_paths
from fedtheory.models.mixed.pair import (
    FACTS,
    bounded_dissimilarity,
    find_minimizer,
    has_dissimilarity,
    height_above,
    mix_pair,
    pair_constants,
    pair_holds,
)
from fedtheory.models.mixed.run import RUN, start_state
from fedtheory.models.quantities import next_integer, square_norm
from fedtheory.schema import entries, integer, list_of, row, word
from fedtheory.symbols.mixed import TABLE
from fedtheory.typing import Assignment, Instance, Number, Point, Shape

ONE = Fraction(1)
MEASURED = dict(
    parallel_training=("rounds", "rounds_weighted", "rounds_grad"),
    two_way_gt=("rounds", "rounds_grad"),
)
ROOM = 12  # 6 (1 + B^2) at B = 1
FAR = 40  # how far a step's noise goes at the longest step and a reach of 1, in units of the start


def draw_shapes(method: str, random: Random, relaxed: Set[str]) -> dict[str, int | str]:
    """Draw K (2 or 3) and `twin`, whether the pair of losses goes without a tilt; `method` is given."""
    return dict(K=random.choice([2, 2, 3]), twin=random.choice([0, 1]), method=method)


def list_coordinates(shape: Shape) -> dict[str, str]:
    """Return the coordinates of a shape: curvatures, a knot, a start, and in units of the start how
    far noise leads within a round or how far the first transferred gradients lead."""
    found = dict(scale="positive", x="positive", knot="unit")
    if shape["method"] == "two_way_gt":
        return dict(found, first="positive")
    found.update(bend="unit", reach="positive", crowd="positive", more_B="unit")
    return found if shape["twin"] else dict(found, tilt="real")


def build_instance(shape: Shape, point: Point) -> dict[str, Any]:
    """Build an instance: a pair of losses with kinks, and a start right of the minimiser of their
    sum."""
    scale, x, K = point["scale"], point["x"], shape["K"]
    found = dict(x=[x], smooth="each", K=K)
    if shape["method"] == "two_way_gt":
        at = x * point["knot"]
        clipped = [losses.curve_from_pieces([ZERO, scale, ZERO], [-at, at], -ZERO)]
        push = -point["first"] * scale * x
        return dict(
            found,
            losses=[_centre_loss(clipped), _centre_loss(clipped)],
            S=ONE,
            noise=[],
            first=[[push], [push]],
        )
    bends = [scale, scale * point["bend"]]
    tilt = point.get("tilt", ZERO) * scale * x
    pair = [[losses.curve_from_pieces(bends, [x * point["knot"]], way * tilt)] for way in (1, -1)]
    sigma = FAR * ROOM * scale * K * x * point["reach"]
    return dict(
        found,
        losses=pair,
        S=next_integer(point["crowd"] * ROOM * sq_of(sigma / (scale * x)) / K),
        noise=two_point(sigma, "even", 1),
        B=1 + point["more_B"],
    )


def _centre_loss(loss: Sequence[Any]) -> list[dict[str, Any]]:
    """Return a clipped loss tilted so that its gradient at 0 is 0."""
    return [dict(curve, tilt=curve["tilt"] - losses.slope_at(curve, ZERO)) for curve in loss]


def _integer_power(value: Number | Counted, k: int) -> Number | Counted:
    """Return value^k, which is 1 for k = 0."""
    found = ONE
    for _ in range(k):
        found = found * value
    return found


def sq_of(value: Number | Counted) -> Number | Counted:
    return value * value


def derive_constants(method: str, instance: Instance) -> dict[str, Any]:
    found = dict(
        K=Fraction(instance["K"]),
        S=instance["S"],
        **pair_constants(instance),
        sigma=root(variance(instance["noise"])),
        sigma_c=ZERO,
        D_sq=square_norm(vector(instance["x"]) - find_minimizer(instance)),
        F=height_above(instance, vector(instance["x"])),
    )
    return dict(found, **bounded_dissimilarity(instance)) if "B" in instance else found


def measure_symbols(
    method: str, instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Interval]:
    # Losses in coordinates relative to the start, so that small moves are not lost to rounding.
    f_f, f_c = (
        [seen_from(*pair) for pair in zip(loss, instance["x"])] for loss in instance["losses"]
    )
    case = Case(
        method,
        lambda y: losses.loss_gradient(f_f, y),
        lambda y: losses.loss_gradient(f_c, y),
        # S = 1: a cohort's paths have the same law, so their mean has the expectation of one path
        1,
        instance["K"],
        1,
        *(values[name] for name in STEPS[method]),
    )
    ways = run_paths(
        case,
        start_state(dict(instance, x=[ZERO])),
        outcomes(instance["noise"], 1),
        [(ONE, vector([ZERO]))],
    )
    change = sum(p * points[1][0] for p, points in ways)
    found = (parallel_rounds if method == "parallel_training" else throw_back)(
        case, instance, change
    )
    return {
        name: found(values[error_name(name)], name) for name in MEASURED[method] if name in wanted
    }


def error_name(name: str) -> str:
    return "eps_grad" if name == "rounds_grad" else "eps"


def seen_from(curve: Mapping[str, Any], x: Many | Counted) -> dict[str, Any]:
    """Return a curve in coordinates with origin x."""
    return dict(
        curve,
        tilt=curve["tilt"] + curve["slope"] * x,
        bends=[[delta, at - x] for delta, at in curve["bends"]],
    )


def parallel_rounds(case: Case, instance: Instance, change: Number | Counted) -> Callable[..., Any]:
    """Return a function (epsilon, name of the quantity) -> enclosure of the number of rounds of
    parallel training, where `change` is the expected change of the point in the first round. Either
    no round reaches epsilon, or nothing is known."""
    f, grad = mix_pair(instance["losses"])
    x, beta = instance["x"][0], losses.smoothness_of(*instance["losses"])
    mu = losses.convexity_of(*instance["losses"])
    clients, centre = case.eta_m * case.eta_s, case.eta_m
    # 1 - (1 - step mu)^K
    pulled = lambda step: (
        step * mu * sum((_integer_power(1 - step * mu, k) for k in range(case.K)), ZERO)
    )
    pull = clients * pulled(case.eta) + centre * pulled(case.eta_c)  # 1 - kappa
    spread = case.K * sq_of(clients * case.eta) * variance(instance["noise"]) / instance["S"]
    sound = _all_true(
        mu > 0,
        maximum(case.eta, case.eta_c) * beta <= 1,
        case.K * beta * (clients * case.eta + centre * case.eta_c) <= 1,
        change >= 0,
        find_minimizer(instance)[0] < x,
    )
    rho = root(spread / where(sound, pull * (2 - pull), ONE))
    lower = maximum(x - rho, find_minimizer(instance)[0])
    left_over = maximum(
        grad(vector([x]))[0] - losses.joint_smoothness(*instance["losses"]) * rho, ZERO
    )

    def rounds(eps: Fraction | Counted, name: str) -> Interval:
        kept_up = (
            left_over * left_over
            if name == "rounds_grad"
            else height_above(instance, vector([lower]))
        )
        return at_least(_all_true(sound, kept_up > eps), None)

    return rounds


def throw_back(case: Case, instance: Instance, change: Many | Counted) -> Callable[..., Any]:
    """Return the same function for 2-way gradient transfer: a lower bound by the number of rounds
    that lead back from where the first round ended."""
    f_f, f_c = instance["losses"]
    last, x = losses.curve_knots(f_f[0])[-1], instance["x"][0]
    most = sum(
        maximum(*(abs(losses.slope_at(loss[0], y)) for y in losses.curve_knots(loss[0])))
        for loss in (f_f, f_c)
    )
    move = case.K * case.eta_m * (case.eta * case.eta_s + case.eta_c) * most
    _, grad = mix_pair(instance["losses"])
    far = x + change - last
    slope = minimum(*(abs(grad(vector([y]))[0]) for y in (x, last)))

    def rounds(eps: Fraction | Counted, name: str) -> Interval:
        if name == "rounds_grad":
            return at_least(_all_true(far > 0, slope * slope > eps), 1 + far / move)
        # During the first half of the way back, no point except the start lies left of the middle.
        # Of `count` rounds, at least half are whole rounds.
        count, middle = far / (2 * move), last + far / 2
        mean = (minimum(x, middle) + count / 2 * middle) / (count / 2 + 1)
        truth = _all_true(
            far > 0, count >= 1, mean >= last, height_above(instance, vector([last])) > eps
        )
        return at_least(truth, count)

    return rounds


def _all_true(*truths: Number) -> Number:
    """Tell whether all truths hold, for each instance of a batch."""
    found = True
    for truth in truths:
        if isinstance(truth, Many) or isinstance(found, Many):
            plain = lambda t: t.at if isinstance(t, Many) else t
            found = Many(np.logical_and(plain(found), plain(truth)))
        else:
            found = found and truth
    return found


def at_least(truth: bool, rounds: Fraction | Counted | None) -> Interval:
    """Return the interval of numbers of rounds that are at least `rounds` where a truth holds, and
    [0, infinity] elsewhere. `rounds` = None stands for infinitely many rounds; a batch holds the
    lower ends alone."""
    if isinstance(truth, Many):
        return where(truth, Many(np.asarray(INF)) if rounds is None else rounds, ZERO)
    if not truth:
        return Interval(ZERO, INF)
    return Interval(INF, INF) if rounds is None else Interval(rounds, INF)


def conditions_held(method: str, instance: Instance) -> frozenset[str]:
    curves = [curve for loss in instance["losses"] for curve in loss]
    if not sound_noise(instance["noise"], 1) or (
        method == "two_way_gt" and not _has_bounded_gradients(curves)
    ):
        return frozenset()
    held = pair_holds(instance)
    if method == "parallel_training" and has_dissimilarity(instance):
        held |= {"dissimilar"}
    return held | RUN


def _has_bounded_gradients(curves: Sequence[dict[str, Any]]) -> bool:
    """Tell whether the curves' gradients are bounded and change between the same two knots in all
    curves."""
    return len({tuple(losses.curve_knots(curve)) for curve in curves}) == 1 and all(
        len(curve["bends"]) == 2
        and losses.second_derivatives(curve)[0] == losses.second_derivatives(curve)[-1] == 0
        for curve in curves
    )


PAIR = row(losses.LOSS, losses.LOSS)
ALL = dict(losses=PAIR, S="whole", x=row("number"), smooth=word("each"), K=integer())
FORMS = dict(
    parallel_training=entries(dict(ALL, noise=NOISE, B="factor")),
    two_way_gt=entries(
        dict(ALL, noise=list_of("number", 0), first=row(row("number"), row("number")))
    ),
)


def make_model(method: str, says: str, more: Any) -> Any:
    return Model(
        name=f"mixed_rounds_{method}",
        says=f"long runs of {says}, of which some never reach an error",
        measures=names(TABLE, *MEASURED[method], "D_sq F"),
        algorithms=(method,),
        by=kernels(method),
        gives=("S", "K"),
        loose=dict(
            beta=1, sigma=1, sigma_c=1, mu=-1, **({"G": 1, "B": 1} if "dissimilar" in more else {})
        ),
        takes=STEPS[method],
        shapes=partial(draw_shapes, method),
        coordinates=list_coordinates,
        coordinates_in=dict(scale=(-2, 1), x=(1, 0)),
        build=build_instance,
        constants=partial(derive_constants, method),
        measure=partial(measure_symbols, method),
        table=TABLE,
        early=frozenset({"D_sq", "F"}),
        ensures=FACTS | RUN | more,
        holds=guard_by(FORMS[method])(partial(conditions_held, method)),
        schema=FORMS[method],
    )


MODELS = (
    make_model("parallel_training", "parallel training", {"dissimilar"}),
    make_model("two_way_gt", "2-way gradient transfer", set()),
)
