"""Definitions beside the kernels, in fractions: where a setting has one for speed it goes where the
kernels go, and algorithms 1 and 2 of mixed FL are written here once more, as another opinion."""

from fractions import Fraction
from random import Random

import pytest

from fedtheory import discover
from fedtheory.arithmetic.operations import ends_of, positive_part, vector
from fedtheory.exact.traces import Losses, Rounds, follow_rounds, uniform_cohorts
from fedtheory.models import losses
from fedtheory.models.families import two_point
from fedtheory.models.flex import quadratics
from fedtheory.models.fsl import large
from fedtheory.models.fsl import round as fsl_round
from fedtheory.models.fsl import run as fsl_run
from fedtheory.models.fsl.moments import by_paths, quadratic_gradients
from fedtheory.models.lamb import quantities as lamb
from fedtheory.models.mixed.moments import Case
from fedtheory.participation.moments import coefficients, rounds_of, two_lines

ZERO, HALF = Fraction(0), Fraction(1, 2)


def number(random, low=-4, high=4):
    return Fraction(random.randint(8 * low, 8 * high), 8)


def positive(random):
    return Fraction(random.randint(1, 8), 8)


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


@pytest.mark.parametrize("seed", range(6))
def test_moments_of_fsl_runs_are_those_of_the_kernels(seed):
    """Quadratics that are drawn as the setting draws them: all ways of the kernels' rounds, or two
    moments."""
    random = Random(seed)
    shape = fsl_run.draw_shapes(random, frozenset())
    while shape["pieces"] > 1 or fsl_round.ways(shape) > 16:
        shape = fsl_run.draw_shapes(random, frozenset())
    point = {name: positive(random) for name in fsl_run.MODEL.coordinates(shape)}
    instance = dict(fsl_run.MODEL.build(shape, point), T=2)
    f = fsl_run.curves(instance)
    case = fsl_round.case(
        dict(instance, losses=f),
        dict({name: positive(random) for name in fsl_run.MODEL.takes}, L=None, sigma=None),
    )
    x = vector(instance["x"])
    weights = [positive(random) for _ in f]
    along = lambda y: sum(w * losses.loss_gradient(one, y) for w, one in zip(weights, f))
    ways = by_paths(case, x, 2, [lambda y: along(y).dot(along(y))])
    spread = [
        [sum((p * v[j] * v[j] for p, v in instance[kind]), ZERO) for j in range(len(x))]
        for kind in ("noise_0", "noise")
    ]
    curves = [[(one[j]["slope"], one[j]["tilt"]) for one in f] for j in range(len(x))]
    assert ways == quadratic_gradients(case, curves, spread, x, 2, [weights])


@pytest.mark.parametrize("seed", range(6))
def test_large_rounds_of_fsl_are_the_kernels_where_they_are_small(seed):
    """fsl_large's closed form against all ways of a round of up to 3 clients and 2 steps."""
    random = Random(seed)
    N = random.choice([1, 2, 3])
    shape = dict(N=N, S=random.randint(1, N), kind_1=random.randint(1, N), convex=1, still=0)
    shape.update(K=random.choice([1, 2]), K_0=random.choice([1, 2]), noise=1, noise_0=1)
    shape.update(shared=0, own=1)
    point = {name: positive(random) for name in large.MODEL.coordinates(shape)}
    instance = large.MODEL.build(shape, point)
    values = {name: positive(random) for name in large.MODEL.takes}
    kinds = [1] * shape["kind_1"] + [2] * (N - shape["kind_1"])
    f = [
        [losses.make_curve(instance["slope_0"], instance["tilts"][0])],
        *([losses.make_curve(instance["slope"], instance["tilts"][kind])] for kind in kinds),
    ]
    told = dict(
        {name: shape[name] for name in ("N", "S", "K", "K_0")},
        losses=f,
        x=[instance["x"]],
        noise=two_point(instance["sigma"], "skewed", 1),
        noise_0=two_point(instance["sigma_0"], "even", 1),
    )
    wanted = list(large.MEASURED)
    enumerated = fsl_round.measure_symbols(told, dict(values, L=None, sigma=None), wanted)
    assert large.measure_symbols(instance, values, wanted) == enumerated


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scheme", "ABC")
def test_moments_and_reach_of_flex_are_those_of_the_kernels(scheme, seed):
    """Two rounds of one_round against all ways that the kernels go, work drawn from a joint law."""
    random = Random(seed)
    N, E = random.choice([1, 2]), 2
    sizes = [random.randint(1, 4) for _ in range(N)]
    devices = dict(
        {name: [positive(random) for _ in range(N)] for name in "ar"},
        b=[number(random) for _ in range(N)],
        p=[Fraction(size, sum(sizes)) for size in sizes],
    )
    works = [tuple(random.randint(0, E) for _ in range(N)), (E,) * N]  # scheme A needs one that is
    law, x, span = (
        [[Fraction(1, 3), works[0]], [Fraction(2, 3), works[1]]],
        number(random),
        [-99, 99],
    )
    kept = [(q, s) for q, s in law if scheme != "A" or E in s]  # discarded rounds are no rounds
    full = sum(q for q, _ in kept)
    rounds = Rounds(
        discover.algorithm(f"flex_{scheme.lower()}"),
        Losses(
            lambda i, y: vector([devices["a"][i - 1] * (y[0] - devices["b"][i - 1])]),
            lambda i, k: [(HALF, vector([s * devices["r"][i - 1]])) for s in (-1, 1)],
            (ZERO, *devices["p"]),
            1,
        ),
        dict(eta=Fraction(1, 8), E=E),
    )
    ways = [(q / full, tuple(range(1, N + 1)), s) for q, s in kept]
    ends = [
        (p, path[-1][0])
        for p, path, _ in follow_rounds(rounds.after, ways, rounds.start([x]), 2)[-1]
    ]
    state = quadratics.start(x, span)
    for _ in range(2):
        told = rounds_of(scheme, devices["p"], law, E)
        state = quadratics.one_round(state, devices, told, Fraction(1, 8), E, span)
    assert state[0] == sum(p * w for p, w in ends)
    assert state[1] == sum(p * w * w for p, w in ends)
    assert state[2:4] == (min(w for _, w in ends), max(w for _, w in ends))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_proof_s_reading_of_lamb_is_the_kernels(seed, wide):
    """One round of FED-LAMB on losses whose gradients are given: its kernels add epsilon to the
    root of v_hat, so that they start from (sqrt(v_0) - epsilon)^2 where the proof's reading starts
    from v_0; what v_hat becomes does not depend on the points, and is asked with v_0 itself."""
    random = Random(seed)
    n, T, d, epsilon = random.choice([1, 2]), random.choice([1, 2, 3]), 3, Fraction(1, 16)
    layers = [(0, 2), (2, 3)] if wide else [(j, j + 1) for j in range(d)]
    drawn = [[vector([number(random) for _ in range(d)]) for _ in range(T)] for _ in range(n)]
    h = dict(alpha=Fraction(1, 4), beta_1=Fraction(1, 2), beta_2=Fraction(3, 4), T=T)
    case = lamb.Instance(
        None,
        lambda i, x: vector([ZERO] * d),
        layers,
        None,
        lambda norm: Fraction(3, 2),
        n,
        T,
        h["alpha"],
        h["beta_1"],
        h["beta_2"],
        Fraction(1, 4),
    )
    x = vector([number(random) for _ in range(d)])
    its, (theta, _, v_hat) = lamb.follow_path(case, x, lambda t, i: drawn[i][t], T)
    rounds = Rounds(
        discover.algorithm("fed_lamb"),
        Losses(
            lambda i, y: vector([ZERO] * d),
            lambda i, k: [(Fraction(1), drawn[i - 1][k])],
            (ZERO, *[Fraction(1, n)] * n),
            d,
            tuple(start for start, _ in layers),
        ),
        dict(h, epsilon=epsilon, phi="clipped", phi_m=Fraction(3, 2), phi_M=Fraction(3, 2))
        | dict(momentum="kept", bias_correction="none"),
    )

    def after(v_0):
        state = rounds.start(x)
        state.v_hat[:] = v_0
        ((_, trace),) = rounds.of(state, uniform_cohorts(n, n, T))
        return trace.after

    moved = after((HALF - epsilon) ** 2)
    for found, told in zip(moved.x, theta[0]):  # roots of layers of two coordinates are enclosed
        low, high = zip(ends_of(found), ends_of(told))
        assert max(low) <= min(high)
        assert wide or found == told
    assert list(after(case.v_0).v_hat) == list(v_hat)
