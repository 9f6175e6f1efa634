"""Devices with quadratic losses in one dimension, a joint law of their work, and exact moments of
flex's rounds.

Device k has the loss a (w - b)^2 / 2. Its gradients have noise of +-r, drawn anew at each step.
Given the work s, a round is affine in w. Hence the mean and mean square over rounds follow exactly,
and so does the interval of points that devices can reach.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from math import prod
from random import Random
from typing import TYPE_CHECKING, Any

import sympy

from fedtheory import discover
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import (
    Many,
    maximum,
    minimum,
    root,
    shorten_ends,
    vector,
    where,
)
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.recursions import list_reaches
from fedtheory.exact.traces import Losses
from fedtheory.exact.typical_path import Round, record_path
from fedtheory.language.claim import Claim
from fedtheory.models.fields import ZERO, Field
from fedtheory.models.flex import work_law
from fedtheory.participation import moments
from fedtheory.schema import either, entries, list_of, word
from fedtheory.typing import Instance, Number, Point, Shape

if TYPE_CHECKING:
    import numpy as np

ONE = Fraction(1)
WHY = "moments and reach of quadratics, for speed"  # why `one_round` does not use the kernels
ALWAYS = frozenset(
    "devices_smooth devices_strongly_convex devices_noise static_law independent_noise "
    "work_independent".split()
)
ON_LAWS = frozenset(
    "homogeneous heterogeneous devices_independent some_complete all_active full_work".split()
)
BOUNDED = frozenset({"second_moment", "stays"})
ENSURES = ALWAYS | ON_LAWS | BOUNDED


# Fields of an instance


def devices_field(N: str | int = "N", build: Any = None, coordinates: Any = None) -> Any:
    """Return the field of N devices."""
    lists = dict(a="positive", b="number", r="nonnegative")
    form = entries(
        {name: list_of(kind, N) for name, kind in lists.items()}
        | {"p": list_of("positive", N, total=None)}
    )
    plain = lambda shape, point, built: build_devices(shape["N"], point)
    return Field("devices", form, build or plain, coordinates or device_coordinates)


def scheme_field(scheme: str) -> Any:
    """Return the field that names the scheme of aggregation."""
    return Field("scheme", word(scheme), lambda shape, point, built: scheme)


# An interval in which points stay, or an empty list
SPAN = Field(
    "span",
    either(list_of("number", 0), list_of("number", 2, rising=None)),
    lambda shape, point, built: span_of(shape, point, built["devices"], built["x"]),
    lambda shape: {"left": "unit", "right": "unit"},
)


def check_instance(constants: Callable[..., Any], holds: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function `constants` with a check before it: Undefined is raised where `holds`
    shows that plain data are no instance, such as where probabilities do not add up to 1. Batches
    are not checked."""

    def of(instance: Instance) -> dict[str, Any]:
        if not is_batched(instance) and not holds(instance):
            raise Undefined("no instance of this model")
        return constants(instance)

    return of


def is_batched(tree: Any) -> bool:
    """Tell whether plain data contain a batch of floats."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return isinstance(tree, Many) or any(is_batched(part) for part in parts)


def list_conditions(instance: Instance, law_members: Any = None, scheme: str | None = None) -> Any:
    """Return the conditions that an instance meets whose law is about `law_members` devices, or
    about all; none where devices or law are none. Whether a point leaves the span is tested during
    the run instead."""
    devices, law = instance["devices"], instance["law"]
    of_law = work_law.held_by_law(law, instance["E"], scheme)
    members = len(devices["a"]) if law_members is None else law_members
    if of_law is None or len(law[0][1]) != members or not sound_devices(devices):
        return frozenset()
    return ALWAYS | of_law | (BOUNDED if instance.get("span") else frozenset())


# Devices


UNITS = dict(a=(-2, 1), b=(1, 0), r=(-1, 1), x=(1, 0))  # units of a coordinate, by its first letter


def device_coordinates(shape: Shape) -> dict[str, str]:
    """Return the coordinates of N devices: minimisers, curvatures, weights if N > 1, sizes of
    noise."""
    N = shape["N"]
    found = {f"b_{k}": "real" for k in range(N)}
    found.update({f"a_{k}": "positive" for k in range(N)})
    found.update({f"weight_{k}": "positive" for k in range(N) if N > 1})
    return found | {f"r_{k}": "positive" for k in range(N) if shape["noise"] != "none"}


def build_devices(N: int, point: Point) -> dict[str, list[Number | Counted]]:
    """Build lists over devices: curvatures a, minimisers b, sizes of the noise r, weights p."""
    return dict(
        a=[point[f"a_{k}"] for k in range(N)],
        b=[point[f"b_{k}"] for k in range(N)],
        r=[point.get(f"r_{k}", ZERO) for k in range(N)],
        p=work_law.shares([point.get(f"weight_{k}", ONE) for k in range(N)]),
    )


def sound_devices(devices: Mapping[str, list[Fraction | Counted]]) -> bool:
    """Tell whether lists over devices fit together: a > 0, r >= 0, p > 0, and sum p = 1."""
    N = len(devices["a"])
    return (
        all(len(devices[name]) == N for name in ("b", "r", "p"))
        and all(a > 0 for a in devices["a"])
        and all(r >= 0 for r in devices["r"])
        and all(p > 0 for p in devices["p"])
        and sum(devices["p"]) == 1
    )


def choose_devices(
    devices: Mapping[str, list[Number | Counted]], members: range | Sequence[int]
) -> dict[str, list[Number | Counted]]:
    """Return the devices `members` with their weights scaled to add up to 1."""
    found = {name: [values[k] for k in members] for name, values in devices.items()}
    return {**found, "p": work_law.shares(found["p"])}


def minimiser(
    devices: Mapping[str, list[Number | Counted]], weights: Any = None
) -> Number | Counted:
    """Return sum_k p_k a_k b_k / sum_k p_k a_k, the minimiser of the weighted sum of losses."""
    pulls = [p * a for p, a in zip(devices["p"] if weights is None else weights, devices["a"])]
    # the origin of coordinates, so that nothing is rounded where all devices are equal
    first = devices["b"][0]
    return first + sum(pull * (b - first) for pull, b in zip(pulls, devices["b"])) / sum(pulls)


def counted_from(
    origin: Number | Counted,
    devices: Mapping[str, list[Number | Counted]],
    span: Sequence[Number | Counted],
) -> tuple[dict[str, list[Number | Counted]], list[Number | Counted]]:
    """Return (devices, span) with all points relative to `origin`, so that no digits are lost where
    the origin is far from 0."""
    near = dict(devices, b=[b - origin for b in devices["b"]])
    return near, [end - origin for end in span]


def excess(
    devices: Mapping[str, list[Number | Counted]], x: Number | Counted
) -> list[Number | Counted]:
    """Return F_k(x) - F_k* of each device."""
    return [a * (x - b) * (x - b) / 2 for a, b in zip(devices["a"], devices["b"])]


def second_moment(
    devices: Mapping[str, list[Number | Counted]], span: Sequence[Number | Counted]
) -> Any:
    """Return G, the root of the largest mean squared gradient between the ends of `span`; infinite
    where `span` is empty, which stands for all points."""
    if not span:
        return INF
    return root(
        maximum(
            *(
                a * a * (end - b) * (end - b) + r * r
                for a, b, r in zip(devices["a"], devices["b"], devices["r"])
                for end in span
            )
        )
    )


def span_of(
    shape: Shape, point: Point, devices: Mapping[str, list[Number | Counted]], x: Number | Counted
) -> list[Number | Counted]:
    """Return the interval [low, high] in which points stay, placed around the start by shares of
    the distance beyond which no device leads. [] stands for all points."""
    if shape["span"] == "everywhere":
        return []
    low, high = minimum(x, *devices["b"]), maximum(x, *devices["b"])
    room = high - low + maximum(*(r / a for r, a in zip(devices["r"], devices["a"])))
    return [x - point["left"] * (x - low + room), x + point["right"] * (high - x + room)]


def draw_span(random: Random, relaxed: Set[str]) -> str:
    """Return the kind of span: "everywhere" where a claim assumes bounded gradients and does not
    say that iterates stay in a set, else "interval"."""
    return "everywhere" if "stays" in relaxed and "second_moment" not in relaxed else "interval"


# Rounds


def is_paced(claim: Claim) -> bool:
    """Tell whether the learning rate that a claim prescribes is the rate of these runs: 1/eta grows
    by mu E[sum_k p^k_tau s^k_tau] / 16 in each round, from any start. The mean work is ps, or its
    value under the claim's hypotheses."""
    symbols = {name: entry.symbol for name, entry in claim.table.items()}
    assumed = {a.name for a in claim.assumptions}
    curvature = symbols.get("mu" if "mu" in claim.parameters else "any_mu")
    alike = {"flex_a": ("E",), "flex_b": ("E_s",), "flex_c": ("active", "E")}
    works = (
        [("ps",), ("tilde_ps",)]
        + ([("E",)] if "full_work" in assumed else [])
        + (
            [alike[name] for name in _algorithm_names(claim) if name in alike]
            if "homogeneous" in assumed
            else []
        )
    )
    paces = [
        curvature * prod((symbols[name] for name in work), start=ONE) / 16
        for work in works
        if curvature is not None and all(name in symbols for name in work)
    ]
    for relation in (
        claim.expand(a.relation) for a in claim.assumptions if isinstance(a.relation, sympy.Eq)
    ):
        if symbols["eta"] in relation.free_symbols:
            rate = next(
                (
                    other
                    for side, other in (relation.args, relation.args[::-1])
                    if side == symbols["eta"]
                ),
                None,
            )
            pace = (
                None
                if rate is None or symbols["eta"] in rate.free_symbols
                else (1 / rate).diff(symbols["tau"])
            )
            if pace is None or not any(sympy.simplify(pace - known) == 0 for known in paces):
                return False
    return True


def _algorithm_names(claim: Claim) -> list[str]:
    """Return the names of the methods of a claim, as given by the claim."""
    several = claim.algorithm if isinstance(claim.algorithm, tuple) else (claim.algorithm,)
    return [getattr(each, "name", each) for each in several]


def staircase(
    eta: Number | Counted, work: Number | Counted, mu: Number | Counted, rounds: int
) -> list[Number | Counted]:
    """Return the learning rates eta_t of theorem 3.1 for the `rounds` rounds before the rate
    reaches eta: 16 E / (mu ps) / (t E + gamma) for some gamma."""
    found = []
    for back in range(rounds, 0, -1):
        inverse = 1 / eta - back * mu * work / 16
        if isinstance(inverse, Many):
            inverse = where(inverse > 0, inverse, Many(inverse.at * float("nan")))
        elif not inverse > 0:
            raise Undefined("a learning rate that is not positive")
        found.append(1 / inverse)
    return found


def record_rounds(
    scheme: str,
    x: "np.ndarray | Sequence[Number | Counted]",
    devices: Mapping[str, list[Number | Counted]],
    law: Sequence[list[Any]],
    rates: Iterator[Any] | Sequence[Number | Counted],
    E: int,
    first: int = 0,
    what: str = "round",
) -> "np.ndarray | list[Number | Counted]":
    """Record one path through rounds at the given learning rates from x, where a run is being
    followed, and return where the path ends."""
    method, N = discover.algorithm(f"flex_{scheme.lower()}"), len(devices["a"])
    grad = lambda i, w: devices["a"][i - 1] * (w - devices["b"][i - 1])
    noise = lambda i, k: (
        [(Fraction(1, 2), vector([s * r])) for s in (1, -1)] if (r := devices["r"][i - 1]) else []
    )
    losses = Losses(grad, noise, (ZERO, *devices["p"]), 1)
    outcomes = [(q, tuple(range(1, N + 1)), tuple(s)) for q, s in law]
    rounds = (Round(method, losses, dict(eta=eta, E=E), outcomes) for eta in rates)
    return record_path(x, rounds, first, what)


def start(
    x: Number | Counted, span: Sequence[Number | Counted]
) -> tuple[
    Number | Counted, Number | Counted, Number | Counted, Number | Counted, Number | Counted
]:
    """Return the state at x: (mean, mean square, least and largest point reached, room left in the
    span; None where there is no span)."""
    return x, x * x, x, x, minimum(x - span[0], span[1] - x) if span else None


def one_round(
    state: tuple[
        Number | Counted, Number | Counted, Number | Counted, Number | Counted, Number | Counted
    ],
    devices: Mapping[str, list[Number | Counted]],
    rounds: Sequence[Any],
    eta: Number | Counted,
    E: int,
    span: Sequence[Number | Counted],
) -> tuple[
    Number | Counted, Number | Counted, Number | Counted, Number | Counted, Number | Counted
]:
    """Return the state after one round, for `rounds` = [(probability, coefficients, s), ...]. This
    is a definition beside the kernels of schemes A to C, because each round has its own learning
    rate and a batch cannot answer whether a weight is positive, as flex_a asks; tests compare it
    with the kernels."""
    m, m2, low, high, room = state
    paths = []
    for a, b, r in zip(devices["a"], devices["b"], devices["r"]):
        path = list_reaches(a, eta, r, E)
        for factor, _, reach in path[1:E]:  # points at which this device may compute a gradient
            ends = b + factor * (low - b), b + factor * (high - b)
            room = within(room, minimum(*ends) - reach, maximum(*ends) + reach, span)
        paths.append(path)
    mean, square, ends = ZERO, ZERO, []
    for q, coefficients, s in rounds:
        slope, shift, variance, reach = ONE, ZERO, ZERO, ZERO
        for c, b, path, steps in zip(coefficients, devices["b"], paths, s):
            if steps:
                factor, spread, far = path[steps]
                slope, shift = slope - c * (1 - factor), shift + c * (1 - factor) * b
                variance, reach = variance + c * c * spread, reach + c * far
        mean = mean + q * (slope * m + shift)
        square = square + q * (
            slope * slope * m2 + 2 * slope * shift * m + shift * shift + variance
        )
        one, other = slope * low + shift, slope * high + shift
        ends += [
            where(q > 0, minimum(one, other) - reach, low),
            where(q > 0, maximum(one, other) + reach, high),
        ]
    low, high = minimum(*ends), maximum(*ends)
    room = within(room, low, high, span)
    mean, square, low, high = map(shorten_ends, (mean, square, low, high))
    return mean, square, low, high, room if room is None else shorten_ends(room)


def within(
    room: Number | Counted,
    low: Number | Counted,
    high: Number | Counted,
    span: Sequence[Number | Counted],
) -> Number | Counted:
    return minimum(room, low - span[0], span[1] - high) if span else None


def kept_inside(
    value: Number | Counted, state: Sequence[Number | Counted], span: Sequence[Number | Counted]
) -> Number | Counted:
    """Return a value that is defined only if no point left the span; otherwise raise Undefined, or
    return NaN in a batch."""
    room = state[4]
    if isinstance(room, Many):
        return where(room >= -1e-12 * abs(span[1] - span[0]), value, Many(room.at * float("nan")))
    if room is None or room < 0:
        raise Undefined("a point outside the set in which gradients are bounded")
    return value


def sq_distance(state: Sequence[Number | Counted], x: Number | Counted) -> Number | Counted:
    """Return E (w - x)^2 for the state of w."""
    return state[1] - 2 * x * state[0] + x * x


def law_moments(
    scheme: str,
    devices: Mapping[str, list[Number | Counted]],
    law: Sequence[list[Any]],
    E: int,
    Gamma: Sequence[Number | Counted],
    wanted: Sequence[str] | None = None,
    tau: int = 0,
) -> dict[str, Any]:
    return moments.of_rounds(
        scheme, devices["p"], law, E, Gamma, [r * r for r in devices["r"]], wanted, tau
    )
