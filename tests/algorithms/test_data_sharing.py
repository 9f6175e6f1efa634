"""Data sharing: f'_i, p'_i and F' by brute force, rounds by hand, and where it ends. DSL adds FSL's
server steps."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction as Q
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.jit import jit
from fedtheory.participation import Departure, Participation
from fedtheory.problem import Kernels, Problem, weights_from
from fedtheory.problems.shared import share
from fedtheory.rng import NO_DRAW
from fedtheory.runs.execution import Job
from fedtheory.runs.planning import plan_of

from .rational import EVEN, LINE, PLANE, START, Quadratic, close, cohorts, vector


def test_a_round_worked_by_hand():
    # ratio 1: n_0 = n_i. f'_1 has gradient x - 2, f'_2 has (3x - 1) / 2. Two steps of 1/4 from 0:
    # 1/2, 7/8 and 1/8, 13/64. Mean 69/128. DSL then steps gamma eta_0 = 1/4 on x - 3: 591/512.
    assert LINE.run("data_sharing", 1, eta_l=0.25, K=2)[1, 0] == 69 / 128
    assert LINE.run("dsl", 1, eta_l=0.25, K=2, eta_0=0.5, gamma=0.5)[1, 0] == 591 / 512


def mixed(f, ratio):
    """n_i proportional to p_i and N n_0 / n = ratio: f'_i, which is a quadratic too, and p'_i
    (3)."""
    n_0 = Q(ratio) / f.N
    own = [1, *(p / (p + n_0) for p in f.p[1:])]
    a = [o * a + (1 - o) * f.a[0] for o, a in zip(own, f.a)]
    b = [(o * a * b + (1 - o) * f.a[0] * f.b[0]) / c for o, a, b, c in zip(own, f.a, f.b, a)]
    return a, b, [0, *((p + n_0) / (1 + Q(ratio)) for p in f.p[1:])]


@pytest.mark.parametrize("f", [EVEN, PLANE], ids=["even", "weighted"])
@pytest.mark.parametrize("S", [2, 4])
@pytest.mark.parametrize("gamma", [0, Q(1, 2)])
def test_rounds_in_exact_rationals(f, S, gamma):
    a, b, p = mixed(f, Q(3, 4))
    assert sum(p) == 1

    def walk(i, x, eta, K):
        for _ in range(K):
            x = x - eta * a[i] * (x - b[i])
        return x

    path = [vector(START)]
    for cohort in cohorts(3, S, f.N):
        x = path[-1]
        x = x + sum(f.N * p[i] * (walk(i, x, Q(1, 8), 2) - x) for i in cohort) / S
        path.append(walk(0, x, gamma * Q(1, 4), 2))
    method, server = (
        ("dsl", dict(eta_0=0.25, K_0=2, gamma=gamma)) if gamma else ("data_sharing", {})
    )
    assert close(f.run(method, 3, START, eta_l=0.125, K=2, S=S, ratio=0.75, **server), path)


@pytest.mark.parametrize("f", [EVEN, PLANE], ids=["even", "weighted"])
def test_it_descends_f_plus_ratio_f_0(f):
    """Equation (4), checked on values, on gradients, and by where gradient steps end."""
    s = share(f.problem, 0.75)
    for x in np.random.default_rng(0).normal(size=(5, f.d)):
        assert s.loss(x) == pytest.approx(
            (f.problem.loss(x) + 0.75 * f.problem.client_loss(0, x)) / 1.75, rel=1e-13
        )
        np.testing.assert_allclose(
            s.grad(x), (f.problem.grad(x) + 0.75 * f.problem.client_grad(0, x)) / 1.75, rtol=1e-12
        )
    joint = f.minimizer(gamma=Q(3, 4)).astype(float)
    np.testing.assert_allclose(s.minimizer(), joint, rtol=1e-12)
    np.testing.assert_allclose(
        f.run("data_sharing", 400, START, eta_l=0.25, ratio=0.75)[-1], joint, rtol=1e-11
    )
    assert np.max(abs(f.minimizer().astype(float) - joint)) > 0.1
    drifted = f.run("data_sharing", 400, START, eta_l=0.25, K=8, ratio=0.75)[-1]
    assert np.max(abs(drifted - joint)) > 1e-3  # local steps drift from F' as FedAvg's do from F


def test_what_is_measured_stays_the_federated_objective():
    r = ft.run(
        PLANE.problem,
        "data_sharing",
        rounds=3,
        x_0=np.array(START),
        eta_l=0.1,
        keep="x",
        metrics=("loss",),
    )
    np.testing.assert_allclose(
        r.metrics["loss"][0], [PLANE.problem.loss(x) for x in r.x[0]], rtol=1e-13
    )


@pytest.mark.parametrize("weighting", ["unbiased", "plain", "samples"])
def test_without_server_samples_it_is_fedavg_bit_for_bit(weighting):
    problem = ft.problems.quadratic(
        3,
        5,
        L=2.0,
        mu=0.3,
        G=1.0,
        xi_bar=1.0,
        sigma=0.4,
        hessian="own",
        seed=2,
        weights=[1, 2, 3, 4, 5],
    )
    common = dict(
        rounds=30, trials=2, S=2, eta_l=0.07, eta_g=1.3, K=4, keep="x", weighting=weighting
    )
    plain = ft.run(problem, "fedavg", **common).x
    np.testing.assert_array_equal(ft.run(problem, "data_sharing", ratio=0.0, **common).x, plain)
    assert not np.array_equal(ft.run(problem, "data_sharing", ratio=1e-3, **common).x, plain)


def test_dsl_is_data_sharing_without_server_steps_and_fsl_without_sharing():
    problem = ft.problems.quadratic(
        3, 5, L=2.0, mu=0.3, G=1.0, xi_bar=1.0, sigma=0.4, sigma_0=0.2, seed=2
    )
    common = dict(rounds=30, trials=2, S=2, eta_l=0.07, eta_g=1.3, K=4, keep="x")
    np.testing.assert_array_equal(
        ft.run(problem, "dsl", gamma=0.0, eta_0=0.1, **common).x,
        ft.run(problem, "data_sharing", **common).x,
    )
    np.testing.assert_array_equal(
        ft.run(
            problem, "dsl", ratio=0.0, weighting="plain", gamma=0.5, eta_0=0.1, K_0=3, **common
        ).x,
        ft.run(problem, "fsl", gamma=0.5, eta_0=0.1, K_0=3, **common).x,
    )


def test_a_departed_client_takes_its_share_of_sharing_with_it():
    """After the departure F' is that of the clients who stay."""
    part = Participation(departures=(Departure(2, 3),))
    stay = Quadratic(
        [[1, 2], [1, 0.5], [0.5, 1.5], [1.5, 2]],
        [[1, -2], [3, 1], [0.5, -3], [2, 0]],
        weights=[1, 4, 1],
    )
    end = ft.run(
        PLANE.problem, "data_sharing", rounds=400, eta_l=0.25, ratio=0.75, participation=part
    ).final[0]
    np.testing.assert_allclose(end, stay.minimizer(gamma=Q(3, 4)).astype(float), rtol=1e-11)


# ---------------------------------------------------------------- problems with samples


class Samples(NamedTuple):
    z: (
        np.ndarray
    )  # rows of all, (total, d); f_i(x) = mean over its rows of sum_j w_j(z) (x_j - z_j)^2 / 2
    first: np.ndarray  # (N + 2,)


@jit
def batch(data, i, rows, draw, x, out):
    for j in range(x.size):
        out[j] = 0.0
    for b in range(rows.size):
        z = data.z[data.first[i] + rows[b]]
        for j in range(x.size):
            out[j] += (1.0 + z[0] * z[0]) * (x[j] - z[j]) / rows.size


@jit
def grad(data, i, x, out):
    batch(data, i, np.arange(data.first[i + 1] - data.first[i]), NO_DRAW, x, out)


@jit
def loss(data, i, x):
    total = 0.0
    for row in range(data.first[i], data.first[i + 1]):
        z = data.z[row]
        for j in range(x.size):
            total += 0.5 * (1.0 + z[0] * z[0]) * (x[j] - z[j]) ** 2
    return total / (data.first[i + 1] - data.first[i])


def sampled(blocks, **kw):
    """A problem from lists of rows, server first, p_i = n_i / n."""
    sizes = np.array([len(block) for block in blocks])
    data = Samples(np.vstack(blocks), np.concatenate([[0], np.cumsum(sizes)]))
    return Problem(
        "samples",
        data,
        Kernels(grad, loss, batch=batch),
        len(blocks) - 1,
        blocks[0].shape[1],
        weights_from(sizes[1:], len(blocks) - 1),
        {},
        sizes=sizes,
        affine=True,
        **kw,
    )


BLOCKS = np.split(np.random.default_rng(4).normal(size=(14, 2)), [3, 5, 10])


def test_samples_are_shared_as_the_union_of_the_data():
    shared = share(sampled(BLOCKS))
    union = sampled([BLOCKS[0], *(np.vstack([block, BLOCKS[0]]) for block in BLOCKS[1:])])
    np.testing.assert_allclose(
        shared.weights, union.weights, rtol=1e-14
    )  # p'_i = (n_i + n_0) / (n + N n_0)
    assert shared.sizes.tolist() == union.sizes.tolist() == [3, 5, 8, 7]
    x, out = np.array([0.3, -0.7]), np.empty(2)
    for i in range(4):
        assert shared.client_loss(i, x) == pytest.approx(union.client_loss(i, x), rel=1e-13)
        np.testing.assert_allclose(shared.client_grad(i, x), union.client_grad(i, x), rtol=1e-12)
        for B in (1, 2, 3):
            for rows in combinations(range(shared.sizes[i]), B):
                shared.kernels.batch(shared.data, np.int64(i), np.array(rows), NO_DRAW, x, out)
                expected = np.empty(2)
                union.kernels.batch(union.data, np.int64(i), np.array(rows), NO_DRAW, x, expected)
                np.testing.assert_allclose(out, expected, rtol=1e-12)
    original, n, n_0, N = sampled(BLOCKS), 11, 3, 3
    joint = n / (n + N * n_0) * (original.loss(x) + N * n_0 / n * original.client_loss(0, x))
    assert shared.loss(x) == pytest.approx(joint, rel=1e-13)


def test_minibatches_come_from_the_union_and_count_by_p_prime():
    """Every pair of the five samples of client 1, and no other point, is where one step from 0 can
    lead."""
    problem = sampled(BLOCKS[:2], noise="minibatch", batch_size=np.array([2, 2]))
    r = ft.run(problem, "data_sharing", rounds=1, trials=200, eta_l=0.1, metrics=())
    union = np.vstack([BLOCKS[1], BLOCKS[0]])
    steps = [
        0.1 * np.mean([(1 + z[0] ** 2) * z for z in pair], axis=0)
        for pair in combinations(union, 2)
    ]
    nearest = np.argmin(np.linalg.norm(r.final[:, None] - np.array(steps)[None], axis=2), axis=1)
    np.testing.assert_allclose(r.final, np.array(steps)[nearest], rtol=1e-12)
    assert len(set(nearest)) == 10


def test_clients_spread_over_threads_draw_from_the_union_too():
    """The loops for few trials of much work, which the engine would choose by its clock, give the
    same bits."""
    problem = sampled(BLOCKS, noise="minibatch", batch_size=np.array([2, 2, 3, 3]))
    plan = plan_of(
        problem,
        "dsl",
        rounds=4,
        trials=1,
        seed=0,
        S=3,
        participation=None,
        keep="x",
        names=(),
        given=dict(eta_l=0.1, eta_0=0.1, K=3, K_0=2),
    )
    paths = []
    for together in (False, True):
        job = Job(plan, workers=2)
        with ThreadPoolExecutor(2) as pool:
            part = job.chunk(4)
            job.machine.carry(part, pool, together)
        paths.append(part.path)
    np.testing.assert_array_equal(*paths)
    assert np.all(np.isfinite(paths[0])) and np.all(paths[0][0, 0] != 0)


def test_unequal_samples_end_at_the_minimiser_of_f_prime():
    """p' is not p here; aggregating by p instead would end elsewhere."""
    problem = sampled(BLOCKS)
    x = ft.run(problem, "data_sharing", rounds=600, eta_l=0.2, metrics=()).final[0]
    gamma = problem.N * 3 / 11
    np.testing.assert_allclose(problem.grad(x) + gamma * problem.client_grad(0, x), 0, atol=1e-12)
    by_p = sum(problem.weights[i] * share(problem).client_grad(i, x) for i in range(1, 4))
    assert np.linalg.norm(by_p) > 1e-2


def test_the_gradient_of_a_shared_problem_keeps_the_client_s_noise():
    quiet = EVEN.problem
    noisy = ft.problems.quadratic_from_arrays(
        quiet.data.A, quiet.data.b, sigma=0.5, sigma_0=3.0, noise="sphere"
    )
    r = ft.run(noisy, "data_sharing", rounds=1, trials=1, S=1, eta_l=1.0, seed=3, metrics=()).final[
        0
    ]
    exact = ft.run(
        quiet, "data_sharing", rounds=1, trials=1, S=1, eta_l=1.0, seed=3, metrics=()
    ).final[0]
    assert np.linalg.norm(r - exact) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize(
    "kw, words",
    [
        (dict(ratio=-1.0), "ratio must be a finite number >= 0"),
        (dict(ratio=[1.0, 2.0]), "ratio must be"),
    ],
)
def test_a_bad_ratio_is_refused(kw, words):
    with pytest.raises(InvalidInput, match=words):
        ft.run(EVEN.problem, "data_sharing", rounds=2, eta_l=0.1, **kw)


def test_what_cannot_be_shared_is_refused():
    with pytest.raises(InvalidInput, match="ratio must be left at 1 where samples are counted"):
        ft.run(sampled(BLOCKS), "data_sharing", rounds=1, eta_l=0.1, ratio=0.5)
    with pytest.raises(InvalidInput, match="needs a problem with a server loss"):
        ft.run(sampled(BLOCKS, has_server=False), "data_sharing", rounds=1, eta_l=0.1)


def test_compiled_and_interpreted_runs_agree():
    problem = sampled(BLOCKS, noise="minibatch", batch_size=np.array([2, 2, 3, 3]))
    common = dict(rounds=5, eta_l=0.1, eta_0=0.05, K=3, K_0=2, S=2, keep="x")
    np.testing.assert_allclose(
        ft.run(problem, "dsl", compiled=False, **common).x,
        ft.run(problem, "dsl", **common).x,
        rtol=1e-13,
    )
