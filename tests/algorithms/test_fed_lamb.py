"""FED-LAMB against its listing written out, the length of its steps, and its undefined cases."""

from dataclasses import replace
from math import hypot, sqrt

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.algorithms import fed_lamb
from fedtheory.jit import python

# Three clients, d = 3 in layers of 2 and 1; row 0 (no server here) is a placeholder.
A = [[1.0, 1.0, 1.0], [2.0, 1.0, 0.5], [1.0, 1.5, 1.0], [0.5, 1.0, 2.0]]
B = [[0.0, 0.0, 0.0], [1.0, 2.0, -1.0], [-2.0, 0.5, 3.0], [3.0, 1.0, 0.5]]
X = [1.0, -2.0, 0.8]
RATES = dict(alpha=0.1, beta_1=0.8, beta_2=0.9, epsilon=0.05, T=3)


def problem(**kw):
    return ft.problems.quadratic_from_arrays(np.array(A), np.array(B), layers=[2, 1], **kw)


def run(problem, rounds, x_0, algorithm="fed_lamb", **kw):
    return ft.run(problem, algorithm, rounds=rounds, x_0=np.array(x_0), keep="x", metrics=(), **kw)


def final(r):
    return fed_lamb.State(*(slab[0] for slab in r._state))


def by_hand(
    x,
    rounds,
    alpha,
    beta_1,
    beta_2,
    epsilon,
    T,
    lambda_=0.0,
    phi=lambda a: a,
    correction="m",
    denominator="round",
    kept=False,
    weights=(1, 1, 1),
    layers=((0, 1), (2,)),
):
    """Algorithm 1 with the readings of fed_lamb.py; points and v_hat of each round."""
    d, clients = len(x), (1, 2, 3)
    v_hat, memory = [epsilon] * d, {i: [0.0] * d for i in clients}
    path, hats = [list(x)], [list(v_hat)]
    for _ in range(rounds):
        ends, moments = [], []
        for i in clients:
            theta, v = list(path[-1]), list(v_hat)
            m = memory[i] if kept else [0.0] * d
            for t in range(1, T + 1):
                g = [A[i][j] * (theta[j] - B[i][j]) for j in range(d)]
                m = [beta_1 * a + (1 - beta_1) * b for a, b in zip(m, g)]
                v = [beta_2 * a + (1 - beta_2) * b * b for a, b in zip(v, g)]
                one, two = 1 - beta_1**t, 1 - beta_2**t
                if correction == "overwrite":
                    m, v = [a / one for a in m], [a / two for a in v]
                m_used = [a / one for a in m] if correction in ("m", "copies") else m
                v_used = [a / two for a in v] if correction == "copies" else v
                low = (
                    [max(a, b) for a, b in zip(v_hat, v_used)] if denominator == "local" else v_hat
                )
                u = [a / (sqrt(b) + epsilon) + lambda_ * c for a, b, c in zip(m_used, low, theta)]
                for layer in layers:
                    size = (
                        alpha
                        * phi(hypot(*(theta[j] for j in layer)))
                        / hypot(*(u[j] for j in layer))
                    )
                    for j in layer:
                        theta[j] -= size * u[j]
            memory[i] = m
            ends.append(theta)
            moments.append(v_used)
        mean = lambda rows, j: sum(p * row[j] for p, row in zip(weights, rows)) / sum(weights)
        path.append([mean(ends, j) for j in range(d)])
        v_hat = [max(v_hat[j], mean(moments, j)) for j in range(d)]
        hats.append(v_hat)
    return np.array(path), np.array(hats)


def test_a_step_worked_by_hand():
    # theta = (3, 4 | -2), g = (8, -6 | 5), v_hat equal in all dimensions, so p is along g in each
    # layer: layer 1 moves by 0.1 * 5 against (0.8, -0.6), layer 2 by 0.1 * 2 against +1.
    p = ft.problems.quadratic_from_arrays(
        np.ones(3), np.array([[0.0] * 3, [-5.0, 10.0, -7.0]]), layers=[2, 1]
    )
    r = run(p, 1, [3.0, 4.0, -2.0], alpha=0.1, beta_2=0.75, epsilon=1.0)
    np.testing.assert_allclose(r.x[0, 1], [2.6, 4.3, -2.2], rtol=1e-15)
    np.testing.assert_allclose(
        final(r).v_hat, [0.75 + 64 / 4, 0.75 + 36 / 4, 0.75 + 25 / 4], rtol=1e-15
    )
    # With the whole of theta in one layer: ||theta|| = sqrt 29, ||g|| = sqrt 125.
    whole = ft.problems.quadratic_from_arrays(np.ones(3), np.array([[0.0] * 3, [-5.0, 10.0, -7.0]]))
    expected = np.array([3, 4, -2]) - 0.1 * sqrt(29 / 125) * np.array([8, -6, 5])
    np.testing.assert_allclose(
        run(whole, 1, [3.0, 4.0, -2.0], alpha=0.1, epsilon=1.0).x[0, 1], expected, rtol=1e-15
    )


READINGS = [
    dict(),
    dict(lambda_=0.3),
    dict(phi="clipped", phi_m=0.8, phi_M=1.5),
    dict(bias_correction="copies", lambda_=0.3),
    dict(bias_correction="overwrite", lambda_=0.3),
    dict(bias_correction="none", lambda_=0.3),
    dict(denominator="local"),
    dict(momentum="kept"),
    dict(momentum="kept", bias_correction="none", denominator="local", lambda_=0.1, phi="clipped"),
]


def expected(rounds, reading, **more):
    given = dict(reading)
    if given.pop("phi", "identity") == "clipped":
        low, high = given.pop("phi_m", 0.01), given.pop("phi_M", 10.0)
        given["phi"] = lambda a: min(max(a, low), high)
    given["correction"] = given.pop("bias_correction", "m")
    given["kept"] = given.pop("momentum", "reset") == "kept"
    return by_hand(X, rounds, **{**RATES, **given, **more})


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_rounds_against_the_listing(reading):
    r = run(problem(), 4, X, **RATES, **reading)
    path, hats = expected(4, reading)
    np.testing.assert_allclose(r.x[0], path, rtol=1e-11)
    np.testing.assert_allclose(final(r).v_hat, hats[-1], rtol=1e-11)


def test_the_readings_are_different_methods():
    ends = [expected(4, reading)[0][-1] for reading in READINGS]
    for n, one in enumerate(ends):
        assert all(np.abs(one - other).max() > 1e-4 for other in ends[:n])


def test_weights_by_samples():
    p = problem(weights=[5.0, 1.0, 2.0])
    path, hats = expected(4, {}, weights=(5, 1, 2))
    r = run(p, 4, X, weighting="samples", **RATES)
    np.testing.assert_allclose(r.x[0], path, rtol=1e-11)
    np.testing.assert_allclose(final(r).v_hat, hats[-1], rtol=1e-11)
    np.testing.assert_allclose(run(p, 4, X, **RATES).x[0], expected(4, {})[0], rtol=1e-11)


def unscaled(state, i, k, y, g, local, h):
    before = y.copy()
    python(fed_lamb.local_step)(state, i, k, y, g, local, h)
    y[:] = before - h.alpha * local.u


def uphill(state, i, k, y, g, local, h):
    python(fed_lamb.local_step)(state, i, k, y, -g, local, h)


def one_layer(x_0, N, layers, h):
    return fed_lamb.init(x_0, N, layers[[0, -1]], h)


def mean_for_max(state, cohort, work, p, y, local, h):
    python(fed_lamb.aggregate)(state, cohort, work, p, y, local, h)
    state.v_hat[:] = local.v.mean(axis=0)


@pytest.mark.parametrize(
    "damage",
    [
        dict(local_step=unscaled),
        dict(local_step=uphill),
        dict(init=one_layer),
        dict(aggregate=mean_for_max),
    ],
    ids=lambda damage: next(iter(damage.values())).__name__,
)
def test_a_damaged_copy_is_caught(damage):
    # Twelve rounds: near the minimiser gradients shrink, and a mean lets go of v_hat where a
    # maximum does not.
    x = run(problem(), 12, X, replace(fed_lamb.ALGORITHM, **damage), **RATES).x[0]
    path, _ = by_hand(X, 12, **RATES)
    assert not np.allclose(x, path, rtol=1e-3)
    np.testing.assert_allclose(run(problem(), 12, X, **RATES).x[0], path, rtol=1e-10)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    "options, phi",
    [
        (dict(), lambda a: a),
        (dict(lambda_=0.5, bias_correction="overwrite"), lambda a: a),
        (
            dict(phi="clipped", phi_m=2.0, phi_M=3.0, denominator="local"),
            lambda a: min(max(a, 2.0), 3.0),
        ),
    ],
)
def test_every_step_moves_a_layer_by_alpha_phi(options, phi, size):
    generator = np.random.default_rng(7)
    p = ft.problems.quadratic_from_arrays(
        np.full(6, size), generator.standard_normal((2, 6)), layers=[1, 3, 2], sigma=size
    )
    x = run(p, 20, generator.standard_normal(6), alpha=0.05, seed=5, **options).x[0]
    for before, after in zip(x, x[1:]):
        for layer in (slice(0, 1), slice(1, 4), slice(4, 6)):
            assert np.linalg.norm(after[layer] - before[layer]) == pytest.approx(
                0.05 * phi(np.linalg.norm(before[layer])), rel=1e-9
            )


def test_v_hat_never_falls():
    def falls(algorithm):
        hats = np.array(
            [
                final(run(problem(), rounds, X, algorithm, **RATES)).v_hat
                for rounds in range(0, 30, 3)
            ]
        )
        return np.any(np.diff(hats, axis=0) < 0)

    assert not falls("fed_lamb")
    assert falls(replace(fed_lamb.ALGORITHM, aggregate=mean_for_max))


def test_correcting_a_v_that_starts_at_v_hat_inflates_it():
    # T = 1: v^1 / (1 - beta_2) = beta_2 / (1 - beta_2) v_hat + g^2, a factor 9 a round here; a mean
    # of v_hat and squares stays below the larger of epsilon and the largest squared gradient.
    p = ft.problems.quadratic_from_arrays(np.array([1.0]), np.array([[0.0], [4.0]]))
    options = dict(alpha=0.01, beta_2=0.9, epsilon=1.0)
    assert final(run(p, 6, [1.0], bias_correction="copies", **options)).v_hat[0] > 9.0**6
    assert final(run(p, 6, [1.0], **options)).v_hat[0] < 9.0  # g^2 <= (4 - 1)^2 on the way


def test_a_layer_of_zeros():
    x_0 = [0.0, 0.0, 0.5]
    assert np.array_equal(
        run(problem(), 3, x_0, alpha=0.1).x[0, :, :2], np.zeros((4, 2))
    )  # phi(0) = 0
    p = ft.problems.quadratic_from_arrays(np.array(A[:2]), np.array(B[:2]), layers=[2, 1])
    x = run(p, 1, x_0, alpha=0.1, phi="clipped", phi_m=0.25).x[0, 1]
    assert np.linalg.norm(x[:2]) == pytest.approx(0.025, rel=1e-14)


def test_a_layer_without_direction_rests():
    # Layer 1 starts at the minimiser: p = 0 there, while layer 2 takes its step.
    p = ft.problems.quadratic_from_arrays(
        np.ones(3), np.array([[0.0] * 3, [1.0, 2.0, 3.0]]), layers=[2, 1]
    )
    x = run(p, 1, [1.0, 2.0, 2.0], alpha=0.1).x[0, 1]
    assert x[:2].tolist() == [1.0, 2.0] and x[2] == pytest.approx(2.2, rel=1e-15)


def test_nan_is_not_taken_for_rest():
    h = fed_lamb.ALGORITHM.resolve(dict(alpha=0.1), 1)[0]
    y = np.array([1.0, 2.0])
    state = fed_lamb.init(y, 1, np.array([0, 2]), h)
    fed_lamb.local_step(state, 1, 0, y, np.array([np.nan, 1.0]), fed_lamb.local(2, None, h), h)
    assert np.isnan(y).all()


def test_means_are_over_the_cohort():
    # Cohorts of one out of two: the next point is where one of the clients ends alone, never half
    # of it.
    def ends(b, seeds=(0,), **kw):
        p = ft.problems.quadratic_from_arrays(np.array([1.0, 1.0]), np.array([[0.0, 0.0], *b]))
        return {
            tuple(run(p, 1, [1.0, 1.0], alpha=0.1, T=2, epsilon=0.3, seed=seed, **kw).x[0, 1])
            for seed in seeds
        }

    one, two = [4.0, 0.0], [0.0, -6.0]
    assert ends([one, two], range(8), S=1) == ends([one]) | ends([two])


def test_the_order_of_phi_is_checked():
    with pytest.raises(ft.errors.InvalidInput, match="phi_m"):
        run(problem(), 1, X, alpha=0.1, phi_m=2.0, phi_M=1.0)


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_compiled_equals_interpreted(reading):
    runs = [
        run(problem(sigma=0.3), 3, X, S=2, compiled=compiled, **RATES, **reading).x
        for compiled in (None, False)
    ]
    np.testing.assert_allclose(*runs, rtol=1e-12)
