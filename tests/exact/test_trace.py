"""Rounds read from the kernels, against the engine's machine code, recursions by hand, and what
must be refused."""

from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.arithmetic.operations import ends_of, vector
from fedtheory.errors import NotExact
from fedtheory.exact.kernel_interpreter import Count, reinterpret_kernel
from fedtheory.exact.traces import Losses, Rounds, expect_over, uniform_cohorts
from fedtheory.jit import jit
from tests.algorithms.rational import LINE, PLANE, START, cohorts

METHODS = {
    name: method for name, method in discover.algorithms().items() if method.transform is None
}
# Each word of each choice, one at a time.
READINGS = [(name, {}) for name in METHODS] + [
    (name, {field: word})
    for name, method in METHODS.items()
    for field, spec in method.hyper.items()
    for word in spec.choices[1:]
]
HALF = Fraction(1, 2)


def losses(quadratic, noise=()):
    return Losses(quadratic.grad, lambda i, k: noise, tuple(quadratic.p), quadratic.d)


def settings(method, changed):
    h = {
        name: 2 if field.integer else 0.0625
        for name, field in method.hyper.items()
        if field.default is None
    }
    for which in (method.steps, method.server_steps):
        if isinstance(which, str):
            h[which] = 2
    return {**h, **changed}


@pytest.mark.parametrize(
    "name, changed", READINGS, ids=lambda v: v if isinstance(v, str) else "-".join(v.values())
)
def test_the_kernels_read_on_fractions_go_where_the_engine_goes(name, changed):
    """Compiled on floats and read on fractions, a method's source gives one path."""
    method = METHODS[name]
    h = settings(method, changed)
    S = PLANE.N if method.everyone else 3
    x = PLANE.run(name, 3, START, S=S, seed=5, **h)
    drawn = cohorts(3, S, PLANE.N, seed=5)
    state, path = None, [START]
    for t in range(3):
        rounds = Rounds(method, losses(PLANE), h, t)
        state = rounds.start([Fraction(s) for s in START]) if state is None else state
        members = tuple(int(i) for i in drawn[t]) if S < PLANE.N else tuple(range(1, PLANE.N + 1))
        ((chance, trace),) = rounds.of(state, [(Fraction(1), members, (rounds.steps,) * S)])
        assert chance == 1
        state = trace.after
        path.append([float(sum(ends_of(z))) / 2 for z in state.x])
    np.testing.assert_allclose(x, np.array(path), rtol=1e-11, atol=1e-12)


def test_one_round_of_fsl_by_hand():
    """LINE: x_0 = 2, eta_l = 1/2: client 1 ends at 3/2, client 2 at -1; the mean is 1/4; the server
    halves to 3."""
    rounds = Rounds(METHODS["fsl"], losses(LINE), dict(eta_l=HALF, eta_0=HALF))
    ((_, trace),) = rounds.of(rounds.start([Fraction(2)]), uniform_cohorts(2, 2, 1))
    assert [walk.points[-1][0] for walk in trace.clients] == [Fraction(3, 2), -1]
    assert trace.middle[0] == Fraction(1, 4)
    assert trace.server.gradients[0][0] == Fraction(-11, 4)
    assert trace.after.x[0] == Fraction(13, 8)


def test_noise_and_cohorts_are_enumerated_with_their_chances():
    """One of two clients, one step with noise +-1: x - eta (g_i + n); E x and E x^2 by hand."""
    noise = [(HALF, vector([Fraction(1)])), (HALF, vector([Fraction(-1)]))]
    rounds = Rounds(
        METHODS["fedavg"], losses(LINE, noise), dict(eta_l=HALF, K=1, weighting="plain")
    )
    ways = rounds.of(rounds.start([Fraction(2)]), uniform_cohorts(2, 1, 1))
    assert sum(p for p, _ in ways) == 1 and len(ways) == 4
    ends = sorted(trace.after.x[0] for _, trace in ways)
    assert ends == [Fraction(-3, 2), Fraction(-1, 2), 1, 2]
    assert expect_over(ways, lambda trace: trace.after.x[0] ** 2) == Fraction(9 + 1 + 4 + 16, 16)


def test_the_engine_agrees_with_the_mean_over_all_ways():
    """`ft.expected`, which probes the engine, and the mean over the enumerated rounds of
    SCAFFOLD."""
    noise = [(HALF, vector([Fraction(1, 4)])), (HALF, vector([Fraction(-1, 4)]))]
    problem = ft.problems.quadratic_from_arrays(
        np.array([[1.0], [1.0], [2.0]]),
        np.array([[3.0], [1.0], [-1.0]]),
        sigma=0.25,
        noise="rademacher",
    )
    h = dict(eta_l=0.125, eta_g=1.0, K=2)
    told = ft.expected(problem, "scaffold", rounds=1, x_0=[2.0], S=1, **h)
    rounds = Rounds(METHODS["scaffold"], losses(LINE, noise), h)
    ways = rounds.of(rounds.start([Fraction(2)]), uniform_cohorts(2, 1, 2))
    assert float(expect_over(ways, lambda trace: trace.after.x[0])) == pytest.approx(
        told.mean[1, 0], rel=1e-13
    )
    x_star = LINE.minimizer()[0]
    square = float(expect_over(ways, lambda trace: (trace.after.x[0] - x_star) ** 2))
    assert square == pytest.approx(told.metrics["sq_distance"][1], rel=1e-12)


def test_counts_divide_exactly():
    assert Count(1) / Count(3) == Fraction(1, 3) and 2 / Count(3) == Fraction(2, 3)
    assert Fraction(1, 2) / Count(3) == Fraction(1, 6) and list(range(Count(2))) == [0, 1]


def test_literals_are_the_fractions_that_they_stand_for():
    @jit
    def kernel(x):
        for j in range(x.size):
            x[j] = 0.5 * x[j] + 0.25

    x = vector([Fraction(1, 3)])
    reinterpret_kernel(kernel)(x)
    assert x[0] == Fraction(5, 12)


def leaving(kernel):
    from dataclasses import replace

    return replace(METHODS["fedavg"], local_step=kernel)


def test_a_kernel_that_leaves_the_exact_numbers_is_refused():
    import math

    def sine(state, i, k, y, g, local, h):
        for j in range(y.size):
            y[j] -= np.sin(g[j])

    def through_floats(state, i, k, y, g, local, h):
        for j in range(y.size):
            y[j] = y[j] * math.pi

    for kernel, why in ((sine, "np.sin has no reading"), (through_floats, "floats")):
        rounds = Rounds(leaving(kernel), losses(LINE), dict(eta_l=HALF))
        with pytest.raises(NotExact, match=why):
            rounds.of(rounds.start([Fraction(2)]), uniform_cohorts(2, 2, 1))
