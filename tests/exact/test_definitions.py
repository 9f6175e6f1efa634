"""Where a setting has a definition of its own beside the kernels, both give the same points, in
fractions."""

from fractions import Fraction
from random import Random

import pytest

from fedtheory import discover
from fedtheory.enclosure.arithmetic import positive_part, vector
from fedtheory.exact.traces import Losses, Rounds
from fedtheory.participation.moments import coefficients, two_lines
from fedtheory.settings.mixed._paths import Case, after

ZERO = Fraction(0)


def number(random, low=-4, high=4):
    return Fraction(random.randint(8 * low, 8 * high), 8)


def curved(random, d):
    """The gradient of a loss with a bend in every coordinate."""
    curves = [(number(random, 0), number(random), number(random), number(random)) for _ in range(d)]
    return lambda x: vector(
        [a * (y - b) + c * positive_part(y - at) for (a, b, c, at), y in zip(curves, x)]
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", ["parallel_training", "one_way_gt", "two_way_gt"])
def test_mixed_rounds_are_the_kernels(method, seed):
    """Algorithms 1 and 2 with SGD throughout, three rounds, noise of each call given."""
    random = Random(seed)
    d, S, K = random.choice([1, 2]), random.choice([1, 2, 3]), random.choice([1, 2, 3])
    grad_f, grad_c = curved(random, d), curved(random, d)
    eta, eta_s, eta_c, eta_m = (number(random, 0) / 16 + Fraction(1, 64) for _ in range(4))
    draws = lambda n: [vector([number(random, -1, 1) for _ in range(d)]) for _ in range(n)]
    h = dict(eta=eta, eta_s=eta_s, K=K)
    if method != "one_way_gt":
        h.update(eta_c=eta_c, eta_m=eta_m)
    case = Case(
        method,
        grad_f,
        grad_c,
        S,
        K,
        1,
        eta,
        eta_s,
        eta_c,
        eta_m if method != "one_way_gt" else Fraction(1),
    )
    x = vector([number(random) for _ in range(d)])
    zero, state = vector([ZERO] * d), None
    told = (x, zero, zero) if method == "two_way_gt" else (x,)
    for t in range(3):
        noise, noise_c = [draws(K) for _ in range(S)], draws(case.central)
        left = {i: list(n) for i, n in enumerate(noise, 1)}
        left[0] = list(noise_c)
        taken = lambda i, at: (grad_f if i else grad_c)(at) + left[i].pop(0)
        rounds = Rounds(
            discover.algorithms()[method],
            Losses(taken, lambda i: [], (0, *[Fraction(1, S)] * S), d),
            h,
            t,
        )
        state = rounds.start(x) if state is None else state
        ((_, trace),) = rounds.of(state, [(Fraction(1), tuple(range(1, S + 1)), (K,) * S)])
        state, told = trace.after, after(case, told, noise, noise_c)
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
        Losses(lambda i, y: grads[i - 1](y), lambda i: [], (0, *p), d),
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
