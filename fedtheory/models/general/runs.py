"""Runs by their methods' own kernels: enumeration of all cohorts and noise, and the quantities that
are measured on runs.

Where losses are convex, coordinates are relative to the minimiser, so clients' gradients at 0 add
up to 0 by construction. In two dimensions each client's loss may be rotated, since worst cases need
not be separable.

An instance `breaks` at most one of the laws of chance that a claim may leave unstated: F weighs
clients by "p", which the sampling of cohorts ignores; the same clients work in every round; all
clients have the same draw of noise in every step, or this draw and its opposite by turns; noise has
a mean.
"""

from fractions import Fraction
from functools import cache

import numpy as np

from fedtheory import discover
from fedtheory.arithmetic import NoInstance, Undefined
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Interval, Many, minimum, root, vector, where
from fedtheory.exact.kernel_interpreter import Kernels
from fedtheory.exact.traces import Rounds, by_weight, follow_rounds, uniform_cohorts
from fedtheory.language.conditions import SAMPLED_BY_WEIGHT, settle_words
from fedtheory.models import distances, losses
from fedtheory.models.families import by_coordinate, drawn_noise, variance
from fedtheory.models.fields import name_true
from fedtheory.models.general._laws import broken_law, differs, draws, turning
from fedtheory.models.general._sight import origin, sight
from fedtheory.models.quantities import square_norm

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


class Clients:
    """The losses of an instance, with the constants that follow from the losses."""

    def __init__(self, instance):
        self.N, self.d, own = instance["N"], len(instance["x_0"]), instance["losses"]
        self.exact, self._least = not isinstance(instance["x_0"][0], Many), None
        self.convex, self.shared = instance["convex"], len(own) == 1
        given = [vector(v) for v in instance["at_star"]]
        zero = vector([ZERO] * self.d)
        self.weighted, self.breaks = "p" in instance, broken_law(instance)
        self.drawn_by_weight = self.weighted and self.breaks != "equal_weights"
        self.p = [*instance["p"]] if self.weighted else [Fraction(1, self.N)] * self.N
        self._refuse_weights()
        self.at_star = [*given, self._balancing(given)] if given else [zero] * self.N
        loose = (
            len(own) not in (1, self.N)
            or len(self.at_star) != self.N
            or any(
                len(f["curves"]) != self.d or any(c.get("soft") for c in f["curves"]) for f in own
            )
        )
        if loose or any("turn" in f for f in own) and (self.d != 2 or not self.convex):
            raise Undefined("losses that do not fit together")
        own = [own[0 if self.shared else i] for i in range(self.N)]
        self.turns = [rational_rotation(f["turn"]) if "turn" in f else None for f in own]
        self.curves = [self._placed(own[i]["curves"], i) for i in range(self.N)]
        self.at_zero = [losses.loss_gradient(remove_tilt(f), [ZERO] * self.d) for f in self.curves]
        self.low, self.high = losses.convexity_of(*self.curves), losses.smoothness_of(*self.curves)
        if self.exact and self.convex and self.low < 0:
            raise Undefined("a loss that is not convex")

    def _refuse_weights(self):
        if self.weighted and self.breaks not in (None, "equal_weights"):
            raise Undefined("weights, where something else is broken")
        if len(self.p) != self.N:
            raise Undefined("weights that do not fit the clients")
        if self.exact and self.weighted and not (min(self.p) > 0 and sum(self.p) == 1):
            raise Undefined("weights that are none")

    def _balancing(self, given):
        """Return the last client's gradient at the minimiser, so that the weighted gradients of all
        clients add up to 0."""
        if not self.weighted:
            return vector([ZERO] * self.d) - sum(given)
        return -sum(p * v for p, v in zip(self.p, given)) / self.p[-1]

    def mean(self, values):
        """Return the mean of values over clients, with the clients' weights in F."""
        if not self.weighted:
            return sum(values) / self.N
        return sum(p * value for p, value in zip(self.p, values))

    def _placed(self, curves, i):
        """Return curves tilted so that the gradient of client i at 0 is the one that the instance
        gives."""
        asked = rotate_to(self.turns[i], self.at_star[i])
        return [
            dict(c, tilt=g - h)
            for c, g, h in zip(
                curves, asked, losses.loss_gradient(remove_tilt(curves), [ZERO] * self.d)
            )
        ]

    def value(self, i, x):
        return losses.loss_value(self.curves[i], rotate_to(self.turns[i], x))

    def grad(self, i, x):
        # Adding the change keeps the gradient at 0 equal to at_star to the last bit.
        change = (
            losses.loss_gradient(remove_tilt(self.curves[i]), rotate_to(self.turns[i], x))
            - self.at_zero[i]
        )
        return rotate_back(self.turns[i], change) + self.at_star[i]

    def F(self, x):
        return self.mean(self.value(i, x) for i in range(self.N))

    def mean_grad(self, x):
        return self.mean(self.grad(i, x) for i in range(self.N))

    def dissimilarity(self, x):
        mean = self.mean_grad(x)
        return self.mean(square_norm(self.grad(i, x) - mean) for i in range(self.N))

    def gap(self, value, x_0):
        """Return the difference of a value of F and the infimum of F."""
        infimum, x_star = self.least()
        return height_above(
            value, infimum, size_of_losses(self.curves, self.high, x_0, x_star), square_norm(x_0)
        )

    @property
    def spread(self):
        """Return the mean square of the clients' gradients at the minimiser."""
        return self.mean(square_norm(v) for v in self.at_star)

    @property
    def farthest(self):
        """Return the supremum over x of the dissimilarity; INF where no bound is known."""
        if self.shared:
            return self.spread
        if any(self.turns):
            return INF
        return losses.sup_square(self.curves, self.mean_square_gap)

    def mean_square_gap(self, gs):
        """Return the mean square of the differences of derivatives and their mean."""
        mean = self.mean(gs)
        return self.mean((g - mean) * (g - mean) for g in gs)

    def sq_distance(self, x):
        """Return the squared distance of a point to the nearest minimiser of F. The distance is
        infinite where there is no minimiser, or where rotated losses have many."""
        if not self.convex:
            return distances.from_least(self.curves, self.p, x)
        if any(self.turns):
            return self._alone(square_norm(x))
        away = [distances.beyond_straight(each, y) for each, y in zip(zip(*self.curves), x)]
        return sum(gap * gap for gap in away)

    def _alone(self, value):
        """Return a value that is defined only if 0 is certainly the only minimiser of rotated
        losses; otherwise INF, or NaN in a batch. The test is that two linearly independent
        directions exist in each of which some loss is not straight at 0."""
        steep = []
        for curves, turned in zip(self.curves, self.turns):
            for j, f in enumerate(curves):
                along = rotate_back(turned, vector([Fraction(int(k == j)) for k in range(self.d)]))
                one, other = (distances.beyond_straight([f], Fraction(n)) for n in (1, -1))
                steep.append((along, losses.both_true(one >= 1, other >= 1)))
        spans = [
            losses.both_true(losses.both_true(curved, also), abs(u[0] * v[1] - u[1] * v[0]) > 1e-9)
            for n, (u, curved) in enumerate(steep)
            for v, also in steep[:n]
        ]
        if self.exact:
            return value if any(spans) else INF
        good = ZERO
        for each in spans:
            good = where(each, ONE, good)
        return where(good > 0, value, Many(np.asarray(np.nan)))

    def least(self):
        """Return (infimum of F, a point that attains the infimum)."""
        if self._least is None:
            self._least = self._found_least()
        return self._least

    def _found_least(self):
        if self.convex:
            zero = vector([ZERO] * self.d)
            return self.F(zero), zero
        return losses.least_point(self.curves, self.p)


def height_above(value, infimum, size, away):
    """Return value - infimum; Undefined is raised where there is no infimum. In a batch, where
    rounding of numbers of the given size hides the difference, the result is 0 where `away` is 0
    and NaN elsewhere, and NaN where there is no infimum."""
    if isinstance(infimum, float):
        raise Undefined("an infimum that is not there")
    gap = value - infimum
    if not isinstance(gap, Many):
        return gap
    hidden = abs(gap) <= 1e-10 * (abs(value) + abs(infimum) + size)
    none = Many(np.asarray(np.nan))
    return where(gap < INF, where(hidden, where(away > 0, none, ZERO), gap), none)


def remove_tilt(curves):
    return [dict(c, tilt=ZERO) for c in curves]


def size_of_losses(curves, L, *points):
    """Return an estimate of the size of the losses' values around points and knots."""
    return L * (
        sum(square_norm(x) for x in points)
        + sum(at * at for f in curves for c in f for at in losses.curve_knots(c))
    )


def rational_rotation(t):
    """Return (cosine, sine) of an angle as rational functions of t, the tangent of half the angle."""
    below = 1 / (1 + t * t)
    return (1 - t * t) * below, 2 * t * below


def rotate_to(turned, x):
    if turned is None:
        return x
    c, s = turned
    return vector([c * x[0] + s * x[1], c * x[1] - s * x[0]])


def rotate_back(turned, x):
    return x if turned is None else rotate_to((turned[0], -turned[1]), x)


def derive_constants(instance):
    """Return the constants that follow from an instance."""
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


def conditions_met(instance):
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


def rounds_of(clients, instance, values, method, letters=None):
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


def choose_word(field, number):
    """Return the choice of a field that a number stands for; 1 stands for the first."""
    if type(number) is not int or not 1 <= number <= len(field.choices):
        raise NoInstance("a choice that there is not")
    return field.choices[number - 1]


def within_range(field, value):
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


def law_of(clients, instance, steps):
    """Return the law of a round's cohorts: S clients without replacement, S draws by weight, or
    always the first S clients."""
    if clients.drawn_by_weight:
        return by_weight(clients.p, instance["S"], steps)
    if clients.breaks == "uniform_cohort":
        return [(ONE, tuple(range(1, instance["S"] + 1)), (steps,) * instance["S"])]
    return uniform_cohorts(clients.N, instance["S"], steps)


def outcomes_of(instance, values, method, letters=None):
    """Return (clients, levels) by enumeration of the method's own kernels: level t = 0, ..., T is
    [(probability, points x_0, ..., x_t, state)]."""
    clients, levels = Clients(instance), [[] for _ in range(instance["T"] + 1)]
    for chance, drawn in draws(instance):
        for level, ways in zip(levels, _follow_runs(clients, drawn, values, method, letters)):
            level += [(chance * p, path, state) for p, path, state in ways]
    return clients, levels


def _follow_runs(clients, instance, values, method, letters):
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


def measure_entries(instance, values, entries, method, letters=None):
    """Return {symbol: value} of symbols, each as its Measure defines."""
    clients, levels = outcomes_of(instance, values, method, letters)
    at = dict(
        loss=clients.F,
        sq_grad_norm=lambda x: square_norm(clients.mean_grad(x)),
        sq_distance=clients.sq_distance,
        sq_dissimilarity=clients.dissimilarity,
    )

    @cache
    def series(metric, t):
        found = [(p, at[metric](path[-1])) for p, path, _ in levels[t]]
        endless = any(isinstance(value, float) for _, value in found)
        return INF if endless else sum(p * value for p, value in found)

    def along(metric):
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
