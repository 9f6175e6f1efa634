"""FED-LAMB by the proof's own reading: every quantity that lemmas 1 and 2 and appendix A.2 name,
from its definition.

The proof keeps m from step to step, corrects no bias, divides by sqrt(v) with the v of the round's
start, adds no epsilon, and counts iterations t, T to a round. One outcome of the noise at a time,
in any numbers of `enclosure.arithmetic`; where p = 0 there is no direction, and the layer rests.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from fedtheory.enclosure.arithmetic import maximum, minimum, root, vector, where

ZERO, ONE = Fraction(0), Fraction(1)


class Instance(NamedTuple):
    """n losses with layers (start, stop) of smoothness L, and the method's numbers."""

    loss: Callable  # (i, x) -> number, i = 0..n-1
    grad: Callable  # (i, x) -> vector
    layers: tuple
    L: tuple
    phi: Callable  # of a layer's norm
    n: int
    T: int
    alpha: object
    beta_1: object
    beta_2: object
    v_0: object
    M: object = ONE
    phi_M: object = ONE


class Iteration(NamedTuple):
    """One iteration: lists have an entry for each client."""

    theta: list  # where it starts
    lag: object  # from the mean model to the point (8)
    v_hat: object  # of the round's start
    exact: list  # gradients
    g: list  # their estimates
    past: list  # m before the step
    before: list  # the stretch of the step before
    phi: list  # by coordinate
    stretch: list  # phi / (||p|| sqrt(v)) by coordinate: a step is alpha stretch m
    moved: list  # where it ends
    next_lag: object


def sq(u):
    return u.dot(u)


def mean(each):
    return sum(each[1:], each[0]) / len(each)


def _stretch(case, theta, m, v):
    """phi, and phi / (||p|| sqrt(v)), p = m / sqrt(v), layer by layer; 0 where p = 0."""
    phis, stretch = vector([ZERO] * len(theta)), vector([ZERO] * len(theta))
    for start, stop in case.layers:
        layer = range(start, stop)
        phi = case.phi(root(sum(theta[j] * theta[j] for j in layer)))
        for j in layer:
            # (||p|| sqrt(v_j))^2: m_j^2 itself in a layer of one coordinate, so that no root of v_j
            # is taken
            square = sum((m[k] * m[k] * v[j] / v[k] for k in layer if k != j), m[j] * m[j])
            moves = square > 0
            phis[j], stretch[j] = phi, where(moves, phi / root(where(moves, square, ONE)), ZERO)
    return phis, stretch


def path(case, x_0, noise, steps):
    """Iterations from x_0, and the (models, lag, v-hat) they end in; noise(t, i) is client i's
    error."""
    clients, none = range(case.n), vector([ZERO] * len(x_0))
    theta, lag, v_hat = [x_0] * case.n, none, vector([case.v_0] * len(x_0))
    m = before = [none] * case.n
    v = [v_hat] * case.n
    found = []
    for t in range(steps):
        exact = [case.grad(i, theta[i]) for i in clients]
        g = [exact[i] + noise(t, i) for i in clients]
        past, m = m, [case.beta_1 * m[i] + (1 - case.beta_1) * g[i] for i in clients]
        v = [case.beta_2 * v[i] + (1 - case.beta_2) * (g[i] * g[i]) for i in clients]
        phi, stretch = zip(*(_stretch(case, theta[i], m[i], v_hat) for i in clients))
        moved = [theta[i] - case.alpha * (stretch[i] * m[i]) for i in clients]
        next_lag = case.beta_1 / (1 - case.beta_1) * (mean(moved) - mean(theta))
        found.append(
            Iteration(theta, lag, v_hat, exact, g, past, before, phi, stretch, moved, next_lag)
        )
        theta, lag, before = moved, next_lag, stretch
        if (t + 1) % case.T == 0:  # the round ends
            theta, v_hat = (
                [mean(moved)] * case.n,
                vector([maximum(a, b) for a, b in zip(v_hat, mean(v))]),
            )
            v = [v_hat] * case.n
    return found, (theta, lag, v_hat)


def full_loss(case, x):
    return sum(case.loss(i, x) for i in range(case.n)) / case.n


def full_grad(case, x):
    return mean([case.grad(i, x) for i in range(case.n)])


def by_root(u, v_hat):
    """||u / v^(1/4)||^2."""
    return sum(part * part / root(v) for part, v in zip(u, v_hat))


def quantities(case, it, wanted=None):
    """Symbol name -> value in an iteration: all of them, or those wanted."""
    clients = range(case.n)
    full, loss = lambda x: full_grad(case, x), lambda x: full_loss(case, x)
    bar, ahead = mean(it.theta), mean(it.moved)
    point, after = bar + it.lag, ahead + it.next_lag  # (8)
    sizes = [
        (stop - start, L)
        for (start, stop), L in zip(case.layers, case.L)
        for _ in range(start, stop)
    ]
    by = lambda u: by_root(u, it.v_hat)
    over_v = lambda u: sum(part * part / v for part, v in zip(u, it.v_hat))
    move, at_point = cache(lambda: after - point), cache(lambda: full(point))
    at_bar = cache(lambda: [case.grad(i, bar) for i in clients])
    # (11), (14), (15); the first sum of (11) as printed, without line 13's minus sign
    by_momentum = cache(
        lambda: (
            case.alpha
            * (case.beta_1 / (1 - case.beta_1))
            * mean([(it.stretch[i] - it.before[i]) * it.past[i] for i in clients])
        )
    )
    by_gradient = cache(lambda: case.alpha * mean([it.stretch[i] * it.g[i] for i in clients]))
    root_v = cache(lambda: vector([root(v) for v in it.v_hat]))
    scale = cache(lambda: [it.stretch[i] * root_v() for i in clients])  # phi / ||p||
    g_bar_i = cache(lambda: [scale()[i] * it.g[i] for i in clients])
    g_bar = cache(lambda: mean(g_bar_i()))
    products = cache(lambda: [it.exact[i] * it.g[i] for i in clients])
    # Where signs differ, as far as it matters: products that are not positive, in terms with the
    # exact coordinate
    wrong = cache(lambda: [vector([where(z > 0, ZERO, ONE) for z in each]) for each in products()])
    B_1 = cache(lambda: sum(by(at_bar()[i] - it.exact[i]) for i in clients))
    named = dict(
        loss_now=lambda: loss(point),
        loss_next=lambda: loss(after),
        inner_move=lambda: at_point().dot(move()),
        sq_move_L=lambda: sum(L * z * z for (_, L), z in zip(sizes, move())) / 2,
        sq_gap_11=lambda: sq(move() + by_momentum() + by_gradient()),
        sq_momentum_11=lambda: sq(by_momentum()),
        momentum_14=lambda: at_point().dot(by_momentum()),
        A_1=lambda: -at_point().dot(by_gradient()),
        inner_g=lambda: at_point().dot(mean([it.stretch[i] * it.g[i] for i in clients])),
        sq_grad_vartheta=lambda: by(at_point()),
        sq_g_bar=lambda: by(g_bar()),
        sq_error=lambda: by(at_point() - g_bar()),
        error_momentum=lambda: 2 * mean([by(case.grad(i, point) - at_bar()[i]) for i in clients]),
        error_17=lambda: 2 * mean([by(at_bar()[i] - g_bar_i()[i]) for i in clients]),
        B_1=B_1,
        B_2=lambda: sum(by(it.exact[i] - g_bar_i()[i]) for i in clients),
        sum_gap=lambda: sum(sq(bar - it.theta[i]) for i in clients),
        sq_lag=lambda: sq(it.lag),
        sum_inner=lambda: sum(it.exact[i].dot(it.stretch[i] * it.g[i]) for i in clients),
        sum_sq_grad=lambda: sum(sq(it.exact[i]) for i in clients),
        sum_kept=lambda: sum(
            root((1 - case.beta_2) / width) / case.M * it.phi[i][j] * products()[i][j]
            for i in clients
            for j, (width, _) in enumerate(sizes)
        ),
        sum_wrong=lambda: sum(
            s * minimum(z, ZERO) for i in clients for s, z in zip(scale()[i], products()[i])
        ),
        grad_by_root_v=lambda: by(full(bar)),
        avg_grad_by_root_v=lambda: by(mean(it.exact)),
        gap_sq=lambda: maximum(ZERO, *(sq(ahead - it.moved[i]) for i in clients)),
        avg_grad_by_v=lambda: over_v(mean([case.grad(i, it.moved[i]) for i in clients])),
        grad_by_v=lambda: over_v(full(ahead)),
        noise_row=lambda: sum(sq(it.stretch[i]) for i in clients),
        excess_by_coordinate=lambda: vector(
            [
                -(s * z + case.phi_M * e) * w
                for i in clients
                for s, z, e, w in zip(scale()[i], products()[i], it.exact[i], wrong()[i])
            ]
        ),
    )
    return {name: named[name]() for name in (named if wanted is None else wanted)}


def iterate(case, x_0, noise, steps, wanted=None):
    """The quantities of each iteration."""
    return [quantities(case, it, wanted) for it in path(case, x_0, noise, steps)[0]]


def expected(case, x_0, outcomes, t, wanted=None):
    """Those of iteration t in expectation over [(probability, noise), ...]; excess_sign is the
    largest of several."""
    asked = wanted and [
        "excess_by_coordinate" if name == "excess_sign" else name for name in wanted
    ]
    total = {}
    for probability, noise in outcomes:
        for name, value in quantities(case, path(case, x_0, noise, t + 1)[0][t], asked).items():
            total[name] = total.get(name, ZERO) + probability * value
    if "excess_by_coordinate" in total:
        worst = total.pop("excess_by_coordinate")
        total["excess_sign"] = maximum(worst[0], *worst)
    return total
