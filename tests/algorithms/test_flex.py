"""Schemes A, B and C against rounds worked by hand, exact rationals, and the limits of their
recursions.

s steps of exact gradient descent take device k from w to b_k + (1 - eta a_k)^s (w - b_k): a change
of -phi_k(s) (w - b_k) with phi_k(s) = 1 - (1 - eta a_k)^s, coordinate by coordinate. A scheme with
coefficients c_k(s) then moves w by -sum_k c_k phi_k (w - b_k), which vanishes at the mean of b
weighted by c phi; as eta -> 0, phi_k(s) -> eta a_k s and this is the minimiser of sum_k c_k s_k
F_k.
"""

from fractions import Fraction as Q
from itertools import product

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.participation import Participation, distribution, staircase, steps, uniform

from .rational import EVEN, LINE, PLANE, START, close, vector

SCHEMES = ("flex_a", "flex_b", "flex_c")
E = 4


def coefficients(scheme, p, s, E=E):
    """p_tau^k of section 4.1 for all devices, from the text."""
    N = len(p) - 1
    complete = [k for k in range(1, N + 1) if s[k - 1] == E]
    if scheme == "flex_a":
        return [0, *(Q(N * p[k], len(complete)) if k in complete else 0 for k in range(1, N + 1))]
    if scheme == "flex_b":
        return p
    return [0, *(p[k] * Q(E, s[k - 1]) if s[k - 1] else 0 for k in range(1, N + 1))]


@pytest.mark.parametrize(
    "scheme, s, end",
    [
        # E = 2, eta = 1/4, from 0. Device 1: 1/4 after one step, 7/16 after two; device 2: -1/2,
        # -3/4. p = 1/2.
        ("flex_a", (1, 2), -3 / 4),  # N p / K = 2 (1/2) / 1 on device 2
        ("flex_b", (1, 2), 1 / 8 - 3 / 8),
        ("flex_c", (1, 2), 1 / 4 - 3 / 8),  # device 1 counts (2/1)(1/2)
        ("flex_a", (1, 1), 0.0),  # K = 0: discarded
        ("flex_b", (1, 1), 1 / 8 - 1 / 4),
        ("flex_c", (1, 1), 1 / 4 - 1 / 2),
        ("flex_a", (0, 2), -3 / 4),
        ("flex_b", (0, 2), -3 / 8),
        ("flex_c", (0, 2), -3 / 8),
        ("flex_a", (0, 0), 0.0),
        ("flex_b", (0, 0), 0.0),
        ("flex_c", (0, 0), 0.0),
        ("flex_a", (2, 2), -5 / 32),
        ("flex_b", (2, 2), -5 / 32),
        ("flex_c", (2, 2), -5 / 32),
    ],
)
def test_a_round_worked_by_hand(scheme, s, end):
    assert (
        LINE.run(scheme, 1, eta=0.25, E=2, participation=Participation(work=steps(s)))[1, 0] == end
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("f", [EVEN, PLANE], ids=["even", "weighted"])
def test_rounds_in_exact_rationals(scheme, f):
    """Random work, a learning rate that decays; the work drawn is read off, everything else is by
    hand."""
    part, rates = Participation("full", work=uniform(0, E)), [0.25, 0.125, 0.0625, 0.03125]
    work = part.draw(11, np.zeros(1, dtype=np.int64), 0, 4, f.N, np.full(4, E), f.N)[1][0]
    assert len({tuple(s) for s in work.tolist()}) > 1 and 0 < (work == E).sum() < work.size
    path = [vector(START)]
    for s, eta in zip(work.tolist(), map(Q, rates)):
        x = path[-1]
        c = coefficients(scheme, f.p, s)
        path.append(x + sum(c[k] * (f.walk(k, x, eta, s[k - 1]) - x) for k in range(1, f.N + 1)))
    assert close(f.run(scheme, 4, START, eta=rates, E=E, participation=part, seed=11), path)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_full_work_is_fedavg(scheme):
    """All p_tau^k are p^k then; the sums are the same, in the same order, up to the factor N / S =
    1."""
    problem = ft.problems.quadratic(
        3,
        8,
        L=2.0,
        mu=0.4,
        G=1.0,
        sigma=0.5,
        hessian="own",
        seed=3,
        weights=[1, 2, 1, 4, 3, 1, 2, 2],
    )
    part = Participation("full")
    common = dict(rounds=40, trials=3, keep="x", seed=5, participation=part)
    plain = ft.run(problem, "fedavg", eta_l=0.1, K=E, **common).x
    np.testing.assert_allclose(ft.run(problem, scheme, eta=0.1, E=E, **common).x, plain, rtol=1e-12)
    less = Participation("full", work=steps([E] * 7 + [E - 1]))
    partial = ft.run(problem, scheme, eta=0.1, E=E, **{**common, "participation": less}).x
    assert np.max(abs(partial - plain)) > 1e-3


WORK = (1, 4, 2, 4)  # of E = 4: two complete devices of four


def limit(f, scheme, s, eta):
    """The exact fixed point for work s in every round."""
    weight = [
        c * (1 - (1 - eta * a) ** n) for c, a, n in zip(coefficients(scheme, f.p, s), f.a, (0, *s))
    ]
    return sum(w * b for w, b in zip(weight, f.b)) / sum(weight)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("f", [EVEN, PLANE], ids=["even", "weighted"])
def test_where_it_ends_under_fixed_heterogeneous_work(scheme, f):
    eta = Q(1, 8)
    x = f.run(scheme, 600, START, eta=eta, E=E, participation=Participation(work=steps(WORK)))[-1]
    np.testing.assert_allclose(x, limit(f, scheme, WORK, eta).astype(float), rtol=1e-12)
    for other in SCHEMES:
        if other != scheme:  # the three limits are far apart: the check above can fail
            assert np.max(abs(x - limit(f, other, WORK, eta).astype(float))) > 0.05


@pytest.mark.parametrize("scheme", SCHEMES)
def test_its_limit_for_small_steps(scheme):
    """A: the minimiser over complete devices alone. B: of sum p_k s_k F_k. C: of F, whatever the
    work."""
    f = PLANE
    target = dict(
        flex_a=f.minimizer(weights=[0, *(p * (s == E) for p, s in zip(f.p[1:], WORK))]),
        flex_b=f.minimizer(weights=[0, *(p * s for p, s in zip(f.p[1:], WORK))]),
        flex_c=f.minimizer(),
    )[scheme].astype(float)
    gaps = []
    for eta in (2e-3, 1e-3):
        x = ft.run(
            f.problem,
            scheme,
            rounds=20_000,
            eta=eta,
            E=E,
            participation=Participation(work=steps(WORK)),
            metrics=(),
        ).final[0]
        gaps.append(np.linalg.norm(x - target))
    assert 0 < gaps[1] < 2e-3 and 1.9 < gaps[0] / gaps[1] < 2.1  # first order in eta
    if scheme != "flex_c":
        assert np.linalg.norm(target - f.minimizer().astype(float)) > 0.1


# Four devices with distributions of their own; s = 0 is possible for two of them.
TABLE = np.array(
    [
        [0.2, 0.2, 0.1, 0.1, 0.4],
        [0.0, 0.5, 0.0, 0.25, 0.25],
        [0.0, 0.0, 0.3, 0.3, 0.4],
        [0.4, 0.1, 0.1, 0.2, 0.2],
    ]
)


def mean_weights(f, scheme, eta):
    """E[c_k phi_k], (N + 1, d): scheme A by enumeration over who completes, B and C device by
    device."""
    a = f.problem.data.A
    phi = np.array([[1 - (1 - eta * a[k]) ** s for s in range(E + 1)] for k in range(f.N + 1)])
    p = np.array([float(w) for w in f.p])
    weights = np.zeros((f.N + 1, f.d))
    if scheme == "flex_a":
        chance = TABLE[:, E]
        for q in product((0, 1), repeat=f.N):
            if sum(q):
                likely = np.prod(np.where(q, chance, 1 - chance))
                for k in range(f.N):
                    weights[k + 1] += likely * q[k] * f.N * p[k + 1] / sum(q) * phi[k + 1, E]
        return weights
    for k in range(1, f.N + 1):
        for s in range(1, E + 1):
            weights[k] += (
                TABLE[k - 1, s] * p[k] * (E / s if scheme == "flex_c" else 1.0) * phi[k, s]
            )
    return weights


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_mean_under_random_heterogeneous_work(scheme):
    """s is drawn apart from w, so E[w] follows the mean map exactly: m - sum_k E[c_k phi_k] (m -
    b_k)."""
    f, eta, rounds, trials = PLANE, 0.125, 25, 20_000
    part = Participation(work=distribution(TABLE))
    final = ft.run(
        f.problem,
        scheme,
        rounds=rounds,
        trials=trials,
        x_0=np.array(START),
        eta=eta,
        E=E,
        participation=part,
        metrics=(),
    ).final
    errors = {}
    for name in SCHEMES:
        m, weights = np.array(START), mean_weights(f, name, eta)
        for _ in range(rounds):
            m = m - np.sum(weights * (m - f.problem.data.b), axis=0)
        errors[name] = np.max(abs(final.mean(axis=0) - m) / (final.std(axis=0) / np.sqrt(trials)))
    assert errors.pop(scheme) < 4.5
    assert min(errors.values()) > 20  # the other schemes' means are told apart by the same check


def test_scheme_c_is_unbiased_where_all_are_active():
    """To first order in eta its step is -eta E grad F(w) in every single round, whatever work was
    done; scheme B's is -eta sum p_k s_k grad F_k, right on average only where all E[s_k] are
    equal."""
    f, eta, x = PLANE, 1e-6, np.array(START)
    part = Participation("full", work=uniform(1, E))
    common = dict(rounds=1, trials=50, x_0=x, eta=eta, E=E, participation=part, metrics=())
    step = (ft.run(f.problem, "flex_c", **common).final - x) / (-eta * E)
    np.testing.assert_allclose(step, np.tile(f.problem.grad(x), (50, 1)), rtol=1e-4)
    s = part.draw(0, np.arange(50), 0, 1, f.N, np.array([E]), f.N)[1][:, 0]
    gradients = np.array([f.problem.client_grad(k, x) for k in range(1, f.N + 1)])
    step = (ft.run(f.problem, "flex_b", **common).final - x) / -eta
    np.testing.assert_allclose(step, (f.problem.weights[1:] * s) @ gradients, rtol=1e-4, atol=1e-5)
    assert np.ptp(step, axis=0).min() > 0.5


def test_inactive_devices_bias_scheme_c_by_their_activity():
    """Mean step -eta E sum_k P(s_k > 0) p_k grad F_k to first order: F only where activity is
    even."""
    f, eta, x, trials = PLANE, 1e-6, np.array(START), 20_000
    part = Participation(work=distribution(TABLE))
    final = ft.run(
        f.problem,
        "flex_c",
        rounds=1,
        trials=trials,
        x_0=x,
        eta=eta,
        E=E,
        participation=part,
        metrics=(),
    ).final
    step = (final - x) / (-eta * E)
    error = lambda target: np.max(
        abs(step.mean(axis=0) - target) / (step.std(axis=0) / np.sqrt(trials))
    )
    gradients = np.array([f.problem.client_grad(k, x) for k in range(1, f.N + 1)])
    active = 1 - TABLE[:, 0]
    assert error((f.problem.weights[1:] * active) @ gradients) < 4.5
    assert error(f.problem.grad(x)) > 20 and error(f.problem.grad(x) * active.mean()) > 20


def test_only_scheme_c_approaches_the_minimiser_under_the_staircase():
    f, rounds = PLANE, 4000
    star = f.minimizer().astype(float)
    gap = {}
    for scheme in SCHEMES:
        x = ft.run(
            f.problem,
            scheme,
            rounds=rounds,
            trials=4,
            eta=staircase(1.0, rounds, offset=8.0),
            E=E,
            participation=Participation(
                work=uniform(1, E) if scheme == "flex_c" else distribution(TABLE)
            ),
            metrics=(),
        ).final
        gap[scheme] = np.linalg.norm(x - star, axis=1)
    assert gap["flex_c"].max() < 2e-3 and min(gap["flex_a"].min(), gap["flex_b"].min()) > 0.05


def test_devices_outside_the_objective_count_for_nothing():
    """p^k = 0: such a device is in neither N nor K_tau, so scheme A's coefficients add up to 1
    without it."""
    a, b = EVEN.problem.data.A, EVEN.problem.data.b
    part = Participation("full", work=steps([E, E, 2, E]))
    without = ft.problems.quadratic_from_arrays(a[[0, 1, 2, 3]], b[[0, 1, 2, 3]])
    run = lambda problem, part: (
        ft.run(
            problem,
            "flex_a",
            rounds=10,
            x_0=np.array(START),
            eta=0.1,
            E=E,
            participation=part,
            keep="x",
            metrics=(),
        ).x
    )
    zero = run(ft.problems.quadratic_from_arrays(a, b, weights=[1, 1, 1, 0]), part)
    np.testing.assert_allclose(
        zero, run(without, Participation("full", work=steps([E, E, 2]))), rtol=1e-13
    )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_device_must_be_heard(scheme):
    for kw in (dict(S=3), dict(S=4, participation=Participation("with"))):
        with pytest.raises(InvalidInput, match="hears from every client"):
            ft.run(EVEN.problem, scheme, rounds=1, eta=0.1, **kw)
