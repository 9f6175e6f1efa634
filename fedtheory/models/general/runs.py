"""Runs by their methods' own kernels: enumeration of all cohorts and noise, and the quantities that
are measured on runs.

An instance `breaks` at most one of the laws of chance that a claim may leave unstated: F weighs
clients by "p", which the sampling of cohorts ignores; the same clients work in every round; all
clients have the same draw of noise in every step, or this draw and its opposite by turns; noise has
a mean.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from fedtheory import discover
from fedtheory.algorithm import Algorithm, Field
from fedtheory.arithmetic import NoInstance, Undefined
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Interval, Many, minimum, root, vector, where
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.kernel_interpreter import Kernels
from fedtheory.exact.traces import Rounds, by_weight, follow_rounds, uniform_cohorts
from fedtheory.language.conditions import SAMPLED_BY_WEIGHT, settle_words
from fedtheory.language.symbol import Measure
from fedtheory.models import losses
from fedtheory.models.families import by_coordinate, drawn_noise, variance
from fedtheory.models.fields import name_true
from fedtheory.models.general._laws import differs, draws, turning
from fedtheory.models.general._sight import origin, sight
from fedtheory.models.general.clients import Clients
from fedtheory.models.quantities import square_norm
from fedtheory.typing import Assignment, Instance, Number

ZERO, ONE = Fraction(0), Fraction(1)
OPTIONS = {1: "I", 2: "II"}  # the options of SCAFFOLD, as its kernels name them
MOST = 64  # most outcomes of a run that is enumerated
TIMES = {
    "0": lambda T: [0],
    "T": lambda T: [T],
    "T-1": lambda T: [T - 1],
    "t": lambda T: [0],
    "min": range,
    "mean": range,
    "min_T": lambda T: range(T + 1),
}


def derive_constants(instance: Instance) -> dict[str, Fraction]:
    """Return the constants that follow from an instance.

    L is the Lipschitz constant of the gradients, or only the largest curvature where the instance
    is not Lipschitz; G^2 bounds the dissimilarity over all points, zeta^2 is its value at the
    minimiser, R the distance of x_0 to the minimisers. Raises Undefined for counts, weights or
    noise that are no instance.
    """
    clients, N, S, d = Clients(instance), instance["N"], instance["S"], len(instance["x_0"])
    T, K, option = instance["T"], instance["K"], instance.get("option", 1)
    if not (1 <= S <= N and T >= 1 and K >= 1 and option in (1, 2)):
        raise Undefined("counts that do not fit together")
    if clients.exact and not drawn_noise(instance["noise"], d, clients.breaks != "noise"):
        raise Undefined("noise that is none, or has a mean")
    growth = instance.get("growth", ZERO)
    if clients.exact and growth < 0:
        raise Undefined("noise that grows by less than nothing")
    infimum, x_star = clients.least()
    x_0 = vector(instance["x_0"])
    start, found = clients.sq_distance(x_0), not isinstance(infimum, float)
    farthest, sigma = clients.farthest, root(variance(instance["noise"]))
    spread = clients.spread if clients.convex or not found else clients.dissimilarity(x_star)
    return dict(
        N=Fraction(N),
        d=Fraction(d),
        S=Fraction(S),
        K=Fraction(K),
        T=Fraction(T),
        option=Fraction(option),
        mu=clients.low,
        L=clients.high
        if instance["lipschitz"]
        else losses.maximum(*(losses.curvature_range(f)[1] for f in clients.curves)),
        G=farthest if isinstance(farthest, float) else root(farthest),
        zeta=root(spread) if found else INF,
        sigma=sigma,
        sigma_j=by_coordinate(instance["noise"], sigma),
        growth=growth,
        R=start if isinstance(start, float) else root(start),
        sq_distance_0=start,
        gap_0=INF if isinstance(infimum, float) else clients.gap(clients.F(x_0), x_0),
    )


def conditions_met(instance: Instance) -> frozenset[str]:
    """Return the conditions that an instance meets."""
    clients = Clients(instance)
    met = frozenset({"smooth", "independent_noise"})
    by_weight = clients.drawn_by_weight
    met |= {"sampled_by_weight"} if by_weight else {"equal_weights", "uniform_cohort"}
    met |= {"growing_noise"} if "growth" in instance else {"noise", "coordinate_noise"}
    if differs(instance):
        met -= {clients.breaks}
        met -= {"coordinate_noise", "growing_noise"} if clients.breaks == "noise" else set()
    upper = losses.maximum(*(losses.curvature_range(f)[1] for f in clients.curves))
    infimum = clients.least()[0]
    return met | name_true(
        lipschitz=instance["lipschitz"] or clients.low >= -upper,
        convex=clients.low >= 0,
        strongly_convex=clients.low > 0,
        dissimilar=not isinstance(clients.farthest, float),
        bounded_below=not isinstance(infimum, float),
        exact_gradients=not instance["noise"] and "growth" not in instance,
        quadratic=all(not c["bends"] for f in clients.curves for c in f),
        same_curvature=clients.shared,
    )


def rounds_of(
    clients: Any,
    instance: Instance,
    values: Assignment,
    method: Algorithm,
    letters: Mapping[str, str] | None = None,
) -> Rounds:
    """Return the rounds of a method on an instance's losses, with step sizes from `values`.
    `letters` maps names of the method's hyper-parameters to the names in instance and values; None
    means that the names are the same."""
    given = {}
    for name, field in method.hyper.items():
        letter = (letters or {}).get(name, name)
        if letter in instance or letter in values:
            number = instance[letter] if letter in instance else values[letter]
            given[name] = (
                choose_word(field, number) if field.choices else within_range(field, number)
            )
        elif letters is not None and isinstance(field.default, float):
            given[name] = Fraction(repr(field.default))  # 0.9 means 9/10
    if letters is None and "option" in given:
        given["option"] = OPTIONS[instance["option"]]
    if clients.drawn_by_weight:
        given = {**settle_words([SAMPLED_BY_WEIGHT], None, method.hyper)[0], **given}
    h = Kernels(method).hyper(given)
    if clients.exact and method.check is not None:
        try:
            method.check(h, clients.N, instance["S"])
        # TypeError: the message cannot be formatted for these numbers
        except (ValueError, TypeError) as why:
            raise NoInstance(str(why)) from None
    rounds = Rounds(method, sight(clients, instance, method, h), given)
    if "turns" in instance:
        rounds.losses = rounds.losses._replace(noise=turning(rounds.losses.noise, rounds))
    return rounds


def choose_word(field: Field, number: int) -> str:
    """Return the choice of a field that a number stands for; 1 stands for the first."""
    if type(number) is not int or not 1 <= number <= len(field.choices):
        raise NoInstance("a choice that there is not")
    return field.choices[number - 1]


def within_range(field: Field, value: Number | Counted) -> Number | Counted:
    """Return the value of a hyper-parameter if it lies within the field's range. Elsewhere
    NoInstance is raised; in a batch, the value is NaN."""
    # Intervals can be compared with finite numbers only.
    free = {INF, -INF} if isinstance(value, Interval) else ()
    low = field.low in free or (value > field.low if field.open_low else value >= field.low)
    high = field.high in free or (value < field.high if field.open_high else value <= field.high)
    if isinstance(value, Many):
        return where(low, where(high, value, Many(np.asarray(np.nan))), Many(np.asarray(np.nan)))
    if not (low and high):
        raise NoInstance(f"a hyper-parameter that {field.rule()}")
    return value


def law_of(clients: Any, instance: Instance, steps: int) -> list[Any]:
    """Return the law of a round's cohorts: S clients without replacement, S draws by weight, or
    always the first S clients."""
    if clients.drawn_by_weight:
        return by_weight(clients.p, instance["S"], steps)
    if clients.breaks == "uniform_cohort":
        return [(ONE, tuple(range(1, instance["S"] + 1)), (steps,) * instance["S"])]
    return uniform_cohorts(clients.N, instance["S"], steps)


def outcomes_of(
    instance: Instance,
    values: Assignment,
    method: str | Algorithm,
    letters: Mapping[str, str] | None = None,
) -> tuple[Any, Any]:
    """Return (clients, levels) by enumeration of the method's own kernels: level t = 0, ..., T is
    [(probability, points x_0, ..., x_t, state)]."""
    clients, levels = Clients(instance), [[] for _ in range(instance["T"] + 1)]
    for chance, drawn in draws(instance):
        for level, ways in zip(levels, _follow_runs(clients, drawn, values, method, letters)):
            level += [(chance * p, path, state) for p, path, state in ways]
    return clients, levels


def _follow_runs(
    clients: Any,
    instance: Instance,
    values: Assignment,
    method: str | Algorithm,
    letters: Mapping[str, str] | None,
) -> list[Any]:
    """Return the levels of runs for a given law of noise, with points relative to the instance's
    origin."""
    method = discover.algorithm(method)
    rounds = rounds_of(clients, instance, values, method, letters)
    away = origin(instance, clients.d)
    law = law_of(clients, instance, rounds.steps)
    x_0 = vector(instance["x_0"])
    start = rounds.start(x_0 if away is None else x_0 + away)
    levels = follow_rounds(rounds.after, law, start, instance["T"], at=rounds.at)
    if away is not None:  # measured points are relative to `away`
        levels = [[(p, tuple(x - away for x in path), s) for p, path, s in ways] for ways in levels]
    return levels


def measure_entries(
    instance: dict[str, Any],
    values: Assignment,
    entries: Mapping[str, Measure],
    method: str | Algorithm,
    letters: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return {symbol: value} of symbols, each as its Measure defines.

    A Measure names a metric, the rounds over which it is taken (TIMES), and whether inf F is
    subtracted. "min" and "mean" are over rounds of expectations; `loss_of_mean` and
    `least_sq_grad_norm` are taken along each path first.
    """
    clients, levels = outcomes_of(instance, values, method, letters)
    at = dict(
        loss=clients.F,
        sq_grad_norm=lambda x: square_norm(clients.mean_grad(x)),
        sq_distance=clients.sq_distance,
        sq_dissimilarity=clients.dissimilarity,
    )

    @cache
    def series(metric: str, t: int) -> Number | Counted:
        found = [(p, at[metric](path[-1])) for p, path, _ in levels[t]]
        endless = any(isinstance(value, float) for _, value in found)
        return INF if endless else sum(p * value for p, value in found)

    def along(metric: str) -> Number | Counted:
        if metric == "loss_of_mean":
            return sum(p * clients.F(sum(path[:-1]) / (len(path) - 1)) for p, path, _ in levels[-1])
        return sum(p * minimum(*(at["sq_grad_norm"](x) for x in path)) for p, path, _ in levels[-1])

    found = {}
    for name, measure in entries.items():
        over = (
            [series(measure.metric, t) for t in TIMES[measure.at](instance["T"])]
            if measure.metric in at
            else [along(measure.metric)]
        )
        if any(isinstance(each, float) for each in over):
            raise Undefined("a minimiser that is not there, or is not known to be alone")
        value = (
            minimum(*over)
            if measure.at.startswith("min") and len(over) > 1
            else sum(over) / len(over)
        )
        found[name] = clients.gap(value, vector(instance["x_0"])) if measure.minus else value
    return found
