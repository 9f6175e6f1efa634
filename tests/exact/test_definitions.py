"""Definitions beside the kernels, in fractions: where a setting has one for speed it goes where the
kernels go, and algorithms 1 and 2 of mixed FL are written here once more, as another opinion."""

from fractions import Fraction
from random import Random

import pytest

from fedtheory import discover
from fedtheory.enclosure.arithmetic import positive_part, vector
from fedtheory.exact.traces import Losses, Rounds
from fedtheory.participation.moments import coefficients, two_lines
from fedtheory.settings.mixed.moments import Case

ZERO = Fraction(0)


def number(random, low=-4, high=4):
    return Fraction(random.randint(8 * low, 8 * high), 8)


def curved(random, d):
    """The gradient of a loss with a bend in every coordinate."""
    curves = [(number(random, 0), number(random), number(random), number(random)) for _ in range(d)]
    return lambda x: vector(
        [a * (y - b) + c * positive_part(y - at) for (a, b, c, at), y in zip(curves, x)]
    )


def walk(grad, x, eta, noise, augmenting):
    """(move of the steps, mean of the gradient estimates), one step for each noise."""
    move, total = 0 * x, 0
    for n in noise:
        g = grad(x + move) + n
        move, total = move - eta * (g + augmenting), total + g
    return move, total / len(noise)


def after(case, state, noise, noise_c):
    """The state after a round as algorithms 1 and 2 list it; noise: of each client's steps,
    noise_c: of the central gradients. A state is (x,), or (x, g_c, g_f) with the gradients
    transferred from the round before."""
    x, *transferred = state
    g_c, g_f = transferred or (0, 0)
    if case.method == "one_way_gt":
        g_c = case.grad_c(x) + noise_c[-1]
    walks = [walk(case.grad_f, x, case.eta, noise[i], g_c) for i in sorted(noise)]
    delta = case.eta_s * sum(move for move, _ in walks) / len(walks)
    if case.method == "one_way_gt":
        return (x + delta,)
    central, next_c = walk(case.grad_c, x, case.eta_c, [noise_c[k] for k in range(case.K)], g_f)
    x = x + case.eta_m * (central + delta)
    return (x, next_c, sum(mean for _, mean in walks) / len(walks)) if transferred else (x,)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", ["parallel_training", "one_way_gt", "two_way_gt"])
def test_mixed_rounds_are_the_kernels(method, seed):
    """Three rounds with SGD throughout, noise of each call given."""
    random = Random(seed)
    d, S, K = random.choice([1, 2]), random.choice([1, 2, 3]), random.choice([1, 2, 3])
    eta, eta_s, eta_c, eta_m = (number(random, 0) / 16 + Fraction(1, 64) for _ in range(4))
    case = Case(method, curved(random, d), curved(random, d), S, K, 1, eta, eta_s, eta_c)
    case = case if method == "one_way_gt" else case._replace(eta_m=eta_m)
    x = vector([number(random) for _ in range(d)])
    zero, state = vector([ZERO] * d), None
    told = (x, zero, zero) if method == "two_way_gt" else (x,)
    for _ in range(3):
        draw = lambda: vector([number(random, -1, 1) for _ in range(d)])
        drawn = {i: {k: draw() for k in range(-1, K)} for i in range(S + 1)}
        rounds = case.rounds(lambda i, k: [(Fraction(1), drawn[i][k])], d)
        rounds.losses = rounds.losses._replace(alike=False)  # each client has noise of its own
        state = rounds.start(x) if state is None else state
        ((_, trace),) = rounds.of(state, case.law())
        noise = {i: [drawn[i][k] for k in range(K)] for i in range(1, S + 1)}
        state, told = trace.after, after(case, told, noise, drawn[0])
        assert list(state.x) == list(told[0])
        if method == "two_way_gt":
            assert list(state.g_c) == list(told[1]) and list(state.g_f) == list(told[2])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scheme", "ABC")
def test_flex_rounds_are_the_kernels(scheme, seed):
    """(2) with the coefficients of section 4.1, for work that is complete, partial and absent."""
    random = Random(seed)
    N, E, d = random.choice([2, 3, 4]), random.choice([2, 3]), random.choice([1, 2])
    weights = [random.randint(1, 4) for _ in range(N)]
    p = [Fraction(w, sum(weights)) for w in weights]
    grads, eta = [curved(random, d) for _ in range(N)], Fraction(random.randint(1, 8), 32)
    x, work = (
        vector([number(random) for _ in range(d)]),
        tuple(random.randint(0, E) for _ in range(N)),
    )
    rounds = Rounds(
        discover.algorithms()[f"flex_{scheme.lower()}"],
        Losses(lambda i, y: grads[i - 1](y), lambda i, k: [], (0, *p), d),
        dict(eta=eta, E=E),
    )
    ((_, trace),) = rounds.of(rounds.start(x), [(Fraction(1), tuple(range(1, N + 1)), work)])
    found = (
        coefficients(scheme, p, work, E) or [ZERO] * N
    )  # scheme A discards a round that nobody completes
    ends = [walk.points[-1] for walk in trace.clients]
    assert list(trace.after.x) == list(x + sum(c * (y - x) for c, y in zip(found, ends)))
    lines = two_lines(lambda k, i, w: grads[k](w), x, found, work, eta)
    assert lines["sq_gap_eq2"] == 0
