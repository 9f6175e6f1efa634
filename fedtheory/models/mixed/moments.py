"""Runs of mixed FL's three methods by their kernels, with SGD for all steps, and expected values of
a run.

The functions accept vectors of any number type of `fedtheory.arithmetic`. Noise of finite support
is enumerated, which is possible for few rounds. Where both losses are quadratics in one dimension,
means and covariances are propagated from round to round, and only variances of the noise are
needed. Clients are homogeneous, or their gradients differ from grad f_f by constants. Points are
x^(0), ..., x^(T).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory import discover
from fedtheory.arithmetic.operations import Interval, Many, shorten_ends, vector
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.kernel_interpreter import copy_memory
from fedtheory.exact.linear import Linear, linear_coefficients
from fedtheory.exact.recursions import quadratic_steps
from fedtheory.exact.traces import Losses, Rounds, follow_rounds, uniform_cohorts
from fedtheory.symbols.mixed import CONTRACTIONS
from fedtheory.typing import Number

ZERO, ONE = Fraction(0), Fraction(1)
READ = 5  # most steps of a round that are computed by the kernels; longer rounds use a closed form
STEPS = dict(
    parallel_training=("eta", "eta_s", "eta_c", "eta_m"),
    one_way_gt=("eta", "eta_s"),
    two_way_gt=("eta", "eta_s", "eta_c", "eta_m"),
)


class Case(NamedTuple):
    """A run of T rounds of a method with K steps each and cohorts of S clients.

    `grad_f` and `grad_c` are the gradients of the clients' and the center's loss; the step sizes
    have the papers' letters. A method that has no eta_c or eta_m ignores these fields.
    """

    method: str
    grad_f: Callable[..., Any]
    grad_c: Callable[..., Any]
    S: int
    K: int
    T: int
    eta: Number
    eta_s: Number
    eta_c: Number = None
    eta_m: Number = ONE
    # grad f_i - grad f_f of each client, with sum 0; () for homogeneous clients
    apart: tuple[Any, ...] = ()
    # whether all steps of all clients in a round have the same noise, and likewise at the center
    one: bool = False
    always: bool = False  # whether the cohort is the same in every round

    @property
    def contraction(self) -> Number | Counted:
        """Return the contraction of a round, divided by mu."""
        return CONTRACTIONS[self.method] * self.K * self.eta_m * self.eta_s * self.eta

    def rounds(self, noise: Callable[..., Any], d: int) -> Rounds:
        """Return the rounds of the case by the method's kernels, with noise: (i, k) ->
        [(probability, vector), ...]."""
        own = lambda i, y: self.grad_f(y) + vector(self.apart[i - 1])
        federated = own if self.apart else lambda i, y: self.grad_f(y)
        return Rounds(
            discover.algorithms()[self.method],
            Losses(
                lambda i, y: federated(i, y) if i else self.grad_c(y),
                noise,
                (ZERO, *[Fraction(1, self.clients)] * self.clients),
                d,
                alike=not self.apart,
            ),
            dict({name: getattr(self, name) for name in STEPS[self.method]}, K=self.K),
        )

    @property
    def clients(self) -> int:
        """Return the number of clients from which a cohort is drawn. Where all clients are alike,
        this number is S, because the choice makes no difference."""
        return len(self.apart) or self.S

    def law(self) -> list[Any]:
        if self.always:
            return [(ONE, tuple(range(1, self.S + 1)), (self.K,) * self.S)]
        return uniform_cohorts(self.clients, self.S, self.K)

    @property
    def sampling_variance(self) -> Number | Counted:
        """Return the variance, in one dimension, of the difference between a cohort's mean gradient
        and grad f_f, for S of N clients drawn without replacement."""
        N = len(self.apart)
        if N < 2 or self.always:
            return ZERO
        return sum(sum(o * o for o in own) for own in self.apart) * Fraction(
            N - self.S, N * (N - 1) * self.S
        )

    @property
    def leading_bias(self) -> Fraction:
        """Return, in one dimension, the difference between the mean gradient of a cohort that is
        always the same and grad f_f."""
        if not self.always or not self.apart:
            return ZERO
        return sum((own[0] for own in self.apart[: self.S]), ZERO) / self.S


def carried_fields(method: str) -> tuple[str, ...]:
    """Return the names of the fields of the method's state that carry over from one round to the
    next, where all steps are SGD."""
    return ("x", "g_c", "g_f") if method == "two_way_gt" else ("x",)


def begin_state(rounds: Rounds, method: str, state: Sequence[np.ndarray]) -> Any:
    """Return the kernels' state with the given values of the carried fields."""
    found = rounds.start(state[0])
    for name, value in zip(carried_fields(method), state):
        getattr(found, name)[:] = value
    return found


def run_paths(
    case: Case,
    state: Sequence[np.ndarray],
    noise: Sequence[tuple[Fraction | Counted, np.ndarray]],
    noise_c: Sequence[tuple[Fraction, np.ndarray]],
) -> list[tuple[Fraction | Counted, tuple[np.ndarray, ...]]]:
    """Return all paths of a run, [(probability, [x^(0), ..., x^(T)])], for noise [(probability,
    vector), ...]. A state is (x,), or (x, g_c, g_f) with the gradients transferred from the round
    before."""
    d = len(state[0])
    rounds = case.rounds(lambda i, k: noise if i else noise_c, d)
    ways = [(ONE, rounds)]
    if case.one:
        ways = [
            (p * q, case.rounds(lambda i, k, n=n, m=m: [(ONE, n if i else m)], d))
            for p, n in noise
            for q, m in noise_c
        ]
    batched = isinstance(case.eta, Many)

    def after(now: Any, law: Sequence[Any]) -> list[tuple[Fraction | Counted, Any]]:
        return [(p * q, then) for p, way in ways for q, then in one_after(way, now, law)]

    def one_after(
        rounds: Rounds, now: Any, law: Sequence[Any]
    ) -> list[tuple[Fraction | Counted, Any]]:
        return (
            counted_from_x(rounds, now, law)
            if batched or is_interval(now.x)
            else rounds.after(now, law)
        )

    kept = (lambda now: now) if batched else lambda now: type(now)(*map(shorten_ends, now))
    start = begin_state(rounds, case.method, state)
    levels = follow_rounds(after, case.law(), start, case.T, kept)
    return [(p, points) for p, points, _ in levels[-1]]


def is_interval(x: np.ndarray) -> bool:
    return any(isinstance(number, Interval) for number in x)


def counted_from_x(rounds: Rounds, state: Any, law: Sequence[Any]) -> list[tuple[Fraction, Any]]:
    """Return `rounds.after(state, law)` for a point x that is known up to intervals or floats, with
    each point written as x plus a change, so that x cancels in the kernels' differences of points
    and adds no width. (Thirty rounds at eta_s eta_m = 10^6 keep 14 digits of a batch instead of 5;
    a batch takes 1.4 times as long.)"""
    x = state.x
    constant = lambda numbers: vector([Linear({"1": number}) for number in numbers])

    def value(number: Any, j: int) -> Number:
        if not isinstance(number, Linear):
            return number
        share, change = number.row([("x", j), "1"])
        return share * x[j] + change

    values = lambda y: vector([value(number, j) for j, number in enumerate(y)])
    seen = rounds.losses._replace(
        grad=lambda i, y: constant(rounds.losses.grad(i, values(y))),
        noise=lambda i, k: [(q, constant(n)) for q, n in rounds.losses.noise(i, k)],
    )
    name = rounds.method.name
    lifted = [
        vector([Linear({("x", j): ONE}) for j in range(len(x))]),
        *(constant(getattr(state, field)) for field in carried_fields(name)[1:]),
    ]
    above = Rounds(rounds.method, seen, rounds.h._asdict())
    found = []
    for p, then in above.after(begin_state(above, name, lifted), law):
        back = copy_memory(state)
        for field in carried_fields(name):
            getattr(back, field)[:] = values(getattr(then, field))
        found.append((p, back))
    return found


def of_a_round(case: Case, bends: Sequence[Any], tilts: Sequence[Any]) -> tuple[Any, ...]:
    """Return (unknowns, matrix of the carried fields' coefficients in the unknowns after a round)
    for a cohort of one and losses bends y^2/2 + tilts y of f_f and f_c. A round is linear in the
    carried fields, in 1 and in its noise ("noise", i, step); the deviation of the cohort's
    gradients, the same in all steps, counts as noise with i = 2."""
    names = carried_fields(case.method)
    unknown = lambda key: vector([Linear({key: ONE})])
    apart = {("noise", 2, 0): ONE} if case.apart else {}
    linear = case._replace(
        S=1,
        apart=(),
        always=False,
        grad_f=lambda y: vector([y[0] * bends[0] + Linear({"1": tilts[0], **apart})]),
        grad_c=lambda y: vector([y[0] * bends[1] + Linear({"1": tilts[1]})]),
    )
    draw = lambda i, k: ("noise", min(i, 1), 0 if case.one else k)
    rounds = linear.rounds(lambda i, k: [(ONE, unknown(draw(i, k)))], 1)
    start = begin_state(rounds, case.method, [unknown(name) for name in names])
    ((_, then),) = rounds.after(start, linear.law())
    after = [getattr(then, name)[0] for name in names]
    drawn = {
        key
        for number in after
        if isinstance(number, Linear)
        for key in number.terms
        if isinstance(key, tuple)
    }
    unknowns = [*names, "1", *sorted(drawn)]
    return unknowns, np.array(
        [linear_coefficients(number, unknowns) for number in after], dtype=object
    )


def by_kernels(
    case: Case,
    bends: Sequence[Number | Counted],
    tilts: Sequence[Number | Counted],
    variances: Sequence[Number | Counted],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (linear part, constant, covariance of the noise) of the map from the carried fields
    before a round to those after it, by the kernels."""
    unknowns, then = of_a_round(case, bends, tilts)
    n = len(carried_fields(case.method))
    drawn = then[:, n + 1 :]
    # the mean of the cohort's paths is treated as one path
    size = {
        1: variances[0] / (1 if case.one else case.S),
        0: variances[1],
        2: case.sampling_variance,
    }
    spread = [size[i] for _, i, _ in unknowns[n + 1 :]]
    fresh = [
        [sum((a * b * v for a, b, v in zip(p, q, spread)), ZERO) for q in drawn] for p in drawn
    ]
    return then[:, :n], then[:, n], np.array(fresh, dtype=object)


def in_closed_form(
    case: Case,
    bends: Sequence[Number | Counted],
    tilts: Sequence[Number | Counted],
    variances: Sequence[Number | Counted],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `by_kernels` returns, in closed form for any number of steps. With r = 1 - eta
    bend, K steps under an augmenting gradient h move a client by z = -eta (1 + r + ... + r^(K-1))
    (gradient + h), and the client's mean estimate is -z / (eta K) - h, so that the noise of z
    enters both."""
    K, method = case.K, case.method
    f, c = quadratic_steps(bends[0], case.eta, K), None
    # variance factor of one draw that is used in all steps
    shared = lambda walk: walk.pull * walk.pull
    noise_f = variances[0] * (shared(f) if case.one else f.noise / case.S)
    noise_f = noise_f + shared(f) * case.sampling_variance
    # a row of coefficients of (x, ..., 1)
    point = lambda of, shift: vector([of, *[ZERO] * (n - 1), shift])
    n = len(carried_fields(method))
    grad_f, grad_c = (point(bend, tilt) for bend, tilt in zip(bends, tilts))
    # rows of the next fields, and `drawn` as [(coefficients, variance)]
    here, drawn = point(ONE, ZERO), []
    if method == "one_way_gt":
        scale = case.eta_s
        rows = [here - scale * f.pull * (grad_f + grad_c)]
        drawn = [([-scale * f.pull], variances[1]), ([scale], noise_f)]
    else:
        c = quadratic_steps(bends[1], case.eta_c, K)
        noise_c = variances[1] * (shared(c) if case.one else c.noise)
        zero = vector([ZERO] * (n + 1))
        unit = lambda k: vector([ONE if k == j else ZERO for j in range(n + 1)])
        h_f, h_c = (
            (unit(1), unit(2)) if n == 3 else (zero, zero)
        )  # g_c augments the clients' steps, g_f the server's
        z_f, z_c = -f.pull * (grad_f + h_f), -c.pull * (grad_c + h_c)
        rows = [here + case.eta_m * (z_c + case.eta_s * z_f)]
        both = ([case.eta_m * case.eta_s], [case.eta_m])
        if n == 3:
            share_f, share_c = 1 / (case.eta * K), 1 / (case.eta_c * K)
            rows += [-share_c * z_c - h_c, -share_f * z_f - h_f]
            both = ([*both[0], ZERO, -share_f], [*both[1], -share_c, ZERO])
        drawn = [(both[0], noise_f), (both[1], noise_c)]
    fresh = [[sum((a[i] * a[j] * v for a, v in drawn), ZERO) for j in range(n)] for i in range(n)]
    every = np.array(rows, dtype=object)
    return every[:, :n], every[:, n], np.array(fresh, dtype=object)


def point_moments(
    case: Case,
    state: Sequence[Number | Counted],
    bends: Sequence[Number | Counted],
    tilts: Sequence[Number | Counted],
    variances: Sequence[Number | Counted],
    weights: Sequence[Number | Any],
) -> tuple[list[tuple[Any, Any]], tuple[Any, Any]]:
    """Return ([(mean, variance) of x^(t)], (mean, variance) of the weighted mean of the points) for
    losses bends y^2/2 + tilts y of f_f and f_c. `state` consists of numbers; `variances` are those
    of a client's gradient and of a central gradient."""
    tilts = [tilts[0] + case.leading_bias, *tilts[1:]]
    n, read = len(state), by_kernels if case.K <= READ else in_closed_form
    carry, constant, fresh = read(case, bends, tilts, variances)
    along = lambda row: sum(
        row * fresh.dot(row)
    )  # the variance that a round's noise adds to row . state
    first = vector([ONE, *[ZERO] * (n - 1)])
    mean, spread, row = vector(list(state)), ZERO, first
    found = [(mean[0], spread)]
    for _ in weights[1:]:
        mean, spread, row = (
            shorten_ends(carry.dot(mean) + constant),
            shorten_ends(spread + along(row)),
            shorten_ends(row.dot(carry)),
        )
        found.append((mean[0], spread))
    row, variance = weights[-1] * first, ZERO
    for w in weights[
        -2::-1
    ]:  # `row`: dependence of the weighted sum on the state after each round, from the last round
        variance, row = (
            shorten_ends(variance + along(row)),
            shorten_ends(w * first + row.dot(carry)),
        )
    full = sum(weights)
    return found, (sum(w * m for w, (m, _) in zip(weights, found)) / full, variance / (full * full))
