"""Exact expectations against rationals, enumeration and sampling; and what has none is refused with
its reason."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.algorithm import example_hyper
from fedtheory.errors import InvalidInput, NotExact
from fedtheory.exact import moment_recursion, round_map_models
from fedtheory.exact.participation_law import law_of
from fedtheory.participation import Arrival, Departure, Participation, distribution, uniform
from tests.verdicts import rational

BASIC = ("loss", "server_loss", "sq_grad_norm", "sq_distance")
ALGORITHMS = discover.algorithms()


def equal(found, expected, tolerance=1e-12):
    """Agreement relative to the series' size; false for NaN."""
    found, expected = np.asarray(found), np.asarray(expected)
    return found.shape == expected.shape and np.max(np.abs(found - expected)) <= tolerance * np.max(
        np.abs(expected)
    )


# ---------------------------------------------------------------- against rationals

# own dense Hessians, unequal weights and noise; all dyadic, so that floats hold them exactly
PLANE = dict(
    A=[
        [[1, 0.25], [0.25, 2]],
        [[2, 0.5], [0.5, 1]],
        [[0.5, 0], [0, 1.5]],
        [[1.5, -0.25], [-0.25, 0.75]],
    ],
    b=[[1, -2], [3, 1], [-1, 2], [0.5, -3]],
    p=[0.25, 0.25, 0.5],
    s=[0.5, 0.25, 0.125, 0.75],
)
SHARED = dict(PLANE, A=[[[1, 0.25], [0.25, 2]]] * 4)
LINE = dict(A=[[[1]], [[2]], [[0.5]]], b=[[3], [1], [-2]], p=[0.5, 0.5], s=[0.5, 0.25, 0.125])
DIAGONAL = dict(PLANE, A=[np.diag(a) for a in ([1, 2], [2, 1], [0.5, 1.5], [1.5, 0.75])])
ALL, SOME = {2: Fraction(1)}, {0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 2)}
WORKED, IDLE = {1: Fraction(1, 2), 2: Fraction(1, 2)}, {0: Fraction(1, 4), 2: Fraction(3, 4)}
LOCAL = dict(eta_l=0.125, eta_g=0.75)
FSL = dict(LOCAL, eta_0=0.25, gamma=0.5, K_0=2)
GT = dict(eta=0.125, eta_s=0.5, beta_1=0.25)
CASES = [  # (method, instance, hyper, rounds, S, cohort, work)
    ("fsl", PLANE, FSL, 3, 2, "without", ALL),
    ("fsl", SHARED, FSL, 3, 2, "without", ALL),
    ("fsl", LINE, FSL, 2, 2, "with", SOME),
    ("fsl", DIAGONAL, FSL, 2, 2, "without", IDLE),
    ("fedavg", PLANE, LOCAL, 2, 2, "without", SOME),
    ("fedavg", DIAGONAL, LOCAL, 2, 2, "with", WORKED),
    ("fedavg", SHARED, LOCAL, 3, 3, "full", ALL),
    ("fedavg", LINE, LOCAL, 3, 3, "with", ALL),
    ("scaffold", PLANE, LOCAL, 3, 2, "without", ALL),
    ("scaffold", SHARED, LOCAL, 2, 2, "without", WORKED),
    ("scaffold", LINE, LOCAL, 4, 1, "without", WORKED),
    ("feddyn", PLANE, dict(eta_l=0.125, alpha=0.5), 3, 2, "without", ALL),
    ("feddyn", DIAGONAL, dict(eta_l=0.125, alpha=0.5), 2, 2, "without", IDLE),
    ("one_way_gt", PLANE, GT, 3, 2, "without", ALL),
    ("one_way_gt", SHARED, GT, 2, 2, "without", WORKED),
    ("flex_a", PLANE, dict(eta=0.125, E=2), 2, 3, "without", SOME),
    ("flex_b", SHARED, dict(eta=0.125, E=2), 2, 3, "full", IDLE),
    ("flex_c", DIAGONAL, dict(eta=0.125, E=2), 2, 3, "without", WORKED),
]


def problem_of(instance, noise="gaussian"):
    A, b, s = (
        np.array(instance["A"], dtype=float),
        np.array(instance["b"], dtype=float),
        np.array(instance["s"]),
    )
    d = b.shape[1]
    if (A == A[0]).all():
        A = A[0]
    elif (A * (1 - np.eye(d)) == 0).all():
        A = np.einsum("ijj->ij", A).copy()
    return ft.problems.quadratic_from_arrays(
        A, b, instance["p"], sigma=s[1:] * np.sqrt(d), sigma_0=s[0] * np.sqrt(d), noise=noise
    )


def settings_of(method, hyper, cohort, works):
    hyper = dict(hyper) if "E" in hyper else dict(hyper, K=2)
    if method == "one_way_gt":
        hyper.update(server_opt="momentum")
    table = [float(works.get(s, 0)) for s in range(3)]
    return hyper, Participation(cohort, work=None if works is ALL else distribution(table))


@pytest.mark.parametrize("method, instance, hyper, rounds, S, cohort, works", CASES)
def test_moments_equal_rationals(method, instance, hyper, rounds, S, cohort, works):
    q = rational.Instance(**instance)
    x_0 = [2.0, -1.0][: q.d]
    h = {
        name: Fraction(value) if isinstance(value, float) else value
        for name, value in hyper.items()
    }
    losses, means = rational.expectations(
        q, getattr(rational, method), h, rounds, x_0, S, cohort, works
    )
    hyper, participation = settings_of(method, hyper, cohort, works)
    e = ft.expected(
        problem_of(instance),
        method,
        rounds=rounds,
        x_0=x_0,
        S=S,
        participation=participation,
        **hyper,
    )
    assert e.how == "moments"
    assert equal(e.mean, means)
    for name, column in zip(BASIC, losses.T):
        assert equal(e.metrics[name], column), name


def test_enumeration_equals_rationals():
    q = rational.Instance(**LINE)
    h = {name: Fraction(value) for name, value in FSL.items() if name != "K_0"} | dict(K_0=2)
    losses, means = rational.expectations(q, rational.fsl, h, 2, [2.0], 2, "with", SOME)
    hyper, participation = settings_of("fsl", FSL, "with", SOME)
    e = ft.expected(
        problem_of(LINE, "rademacher"),
        "fsl",
        rounds=2,
        x_0=[2.0],
        S=2,
        participation=participation,
        how="enumeration",
        **hyper,
    )
    assert e.how == "enumeration" and e.paths[0] == 1 < e.paths[1] < e.paths[2]
    assert equal(e.mean, means)
    assert all(equal(e.metrics[name], column) for name, column in zip(BASIC, losses.T))


# ---------------------------------------------------------------- moments against enumeration and
# sampling


def small(noise, N=3):
    sigmas = dict(sigma=0.3, sigma_0=0.2) if noise != "none" else {}
    return ft.problems.quadratic(
        2,
        N,
        L=2.0,
        mu=0.5,
        G=1.0,
        xi_bar=0.5,
        hessian="own_dense",
        noise=noise,
        seed=1,
        weights=np.arange(1.0, N + 1),
        **sigmas,
    )


def either(name, problem, **kw):
    """Exact expectations, or None where they are refused with a reason."""
    algorithm = ALGORITHMS[name]
    kw["S"] = problem.N if algorithm.everyone else kw["S"]
    try:
        return ft.expected(problem, name, **kw, **example_hyper(algorithm))
    except NotExact as reason:
        assert "by moments: " in str(reason) or "by enumeration: " in str(reason)
        return None


@pytest.mark.parametrize("work", [None, uniform(0)], ids=["all", "some"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_enumeration_equals_moments(name, work):
    kw = dict(
        rounds=1, x_0=[1.0, -2.0], S=2, participation=Participation(work=work), covariance=True
    )
    rounds = dict(rounds=2) if name == "server_sgd" else {}
    enumerated = either(name, small("rademacher", N=2), how="enumeration", **kw | rounds)
    followed = either(name, small("rademacher", N=2), how="moments", **kw | rounds)
    assert enumerated is not None and np.isfinite(enumerated.metrics["loss"]).all()
    if followed is None:
        return
    assert set(followed.metrics) >= set(BASIC) | {"tilde_loss", "sq_dissimilarity"}
    for metric in followed.metrics:
        assert equal(followed.metrics[metric], enumerated.metrics[metric]), metric
    assert equal(followed.mean, enumerated.mean) and equal(
        followed.covariance, enumerated.covariance
    )


@pytest.mark.parametrize("work", [None, uniform(0)], ids=["all", "some"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_moments_agree_with_sampling(name, work):
    problem = ft.problems.quadratic(
        3,
        20,
        L=2.0,
        mu=0.5,
        G=1.0,
        xi_bar=0.5,
        sigma=0.3,
        sigma_0=0.2,
        hessian="own",
        weights=np.arange(1.0, 21),
        seed=2,
    )
    S = 20 if ALGORITHMS[name].everyone else 5
    kw = dict(rounds=3, x_0=[1.0, -2.0, 3.0], S=S, participation=Participation(work=work))
    e = either(name, problem, how="moments", **kw)
    if e is None:
        assert name in (
            "fed_ams",
            "fed_lamb",
            "fedadam",
        )  # the methods that divide by a root of gradients
        return
    r = ft.run(
        problem, name, trials=4000, seed=3, keep="x", **kw, **example_hyper(ALGORITHMS[name])
    )
    samples = [r.metrics[metric][:, 1:] for metric in BASIC] + [r.x[:, 1:, j] for j in range(3)]
    exact = [e.metrics[metric][1:] for metric in BASIC] + [e.mean[1:, j] for j in range(3)]
    for sample, value in zip(samples, exact):
        error = sample.std(axis=0) / np.sqrt(len(sample)) + 1e-12 * np.abs(value)
        assert np.all(np.abs(sample.mean(axis=0) - value) <= 4.5 * error)
    assert np.any(
        np.abs(r.metrics["loss"][:, 1:].mean(axis=0) - 1.5 * e.metrics["loss"][1:])
        > 4.5 * r.metrics["loss"][:, 1:].std(axis=0) / np.sqrt(4000)
    )  # the interval can say no


@pytest.mark.parametrize("hessian", ["diagonal", "dense", "own", "own_dense"])
def test_all_forms_of_a_hessian_agree_with_enumeration(hessian):
    problem = ft.problems.quadratic(
        2,
        3,
        L=2.0,
        mu=0.5,
        G=1.0,
        xi_bar=0.5,
        sigma=0.3,
        hessian=hessian,
        seed=4,
        weights=[1, 2, 3],
        noise="rademacher",
    )
    kw = dict(rounds=2, S=2, x_0=[1.0, -2.0], eta_l=0.1, K=1, covariance=True)
    assert (moment_recursion.eigenbasis_twin(problem)[1] is not None) == (hessian == "dense")
    a, b = (ft.expected(problem, "scaffold", how=how, **kw) for how in ("moments", "enumeration"))
    plain = ft.expected(problem, "scaffold", **kw | dict(covariance=False))
    assert equal(a.covariance, b.covariance) and equal(a.mean, b.mean) and plain.covariance is None
    for metric in a.metrics:
        assert equal(a.metrics[metric], b.metrics[metric]) and equal(
            plain.metrics[metric], b.metrics[metric]
        )


@pytest.mark.parametrize(
    "name, hessian",
    [
        ("fedavg", "diagonal"),
        ("scaffold", "dense"),
        ("feddyn", "own_dense"),
        ("data_sharing", "dense"),
        ("flex_a", "own"),
    ],
)
def test_arrivals_and_departures_shift_the_objective(name, hessian):
    problem = ft.problems.quadratic(
        2, 3, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, hessian=hessian, weights=[1, 2, 3], seed=1
    )
    events = Participation(
        arrivals=(Arrival(2, 1, 3.0),), departures=(Departure(3, 2), Departure(1, 3, False))
    )
    kw = dict(rounds=5, S=3, x_0=[1.0, -2.0], participation=replace(events, work=uniform(0)))
    a, b = (either(name, problem, how=how, **kw) for how in ("moments", "enumeration"))
    for metric in a.metrics:
        assert equal(a.metrics[metric], b.metrics[metric])
    still = either(
        name, problem, how="moments", **kw | dict(participation=Participation(work=events.work))
    )
    assert not equal(still.metrics["loss"], a.metrics["loss"], 1e-3)


def test_schedules_are_probed_round_by_round():
    kw = dict(rounds=3, x_0=[1.0, -2.0], S=2, eta_l=[0.2, 0.1, 0.05], K=[1, 2, 1])
    problem = small("none")
    a, b = (ft.expected(problem, "fedavg", how=how, **kw) for how in ("moments", "enumeration"))
    assert all(equal(a.metrics[name], b.metrics[name]) for name in BASIC)


def test_noise_of_equal_variance_has_equal_moments():
    kw = dict(rounds=4, S=2, eta_l=0.1, eta_0=0.1, K=2)
    first, *others = [
        ft.expected(small(noise), "fsl", **kw).metrics["loss"]
        for noise in ("gaussian", "rademacher", "sphere")
    ]
    assert all(np.array_equal(first, other) for other in others)


def test_minibatches_and_curved_losses_are_enumerated():
    """FedSGD on two clients of logistic regression, each sample drawn alone, against the definition
    in loops."""
    X = [
        np.array([[1.0, -1.0]]),
        np.array([[1.0, 0.5], [-1.0, 2.0]]),
        np.array([[0.5, 1.0], [2.0, 0.0], [1.0, 1.0]]),
    ]
    y = [np.array([1.0]), np.array([1.0, -1.0]), np.array([-1.0, 1.0, 1.0])]
    problem = ft.problems.logistic(X[1:], y[1:], 0.5, (X[0], y[0]), batch=1, weights=[1, 1])
    slope = lambda v, label, x: -label * v / (1 + np.exp(label * (v @ x))) + 0.5 * x
    x_0, found = np.array([0.5, -0.25]), []
    for i in range(2):
        for j in range(3):
            g = 0.5 * (slope(X[1][i], y[1][i], x_0) + slope(X[2][j], y[2][j], x_0))
            found.append(problem.loss(x_0 - 0.25 * g))
    e = ft.expected(problem, "fedavg", rounds=1, x_0=x_0, eta_l=0.25, K=1)
    assert e.how == "enumeration" and e.paths[1] == 6
    assert equal(e.metrics["loss"], [problem.loss(x_0), np.mean(found)], 1e-14)
    repeated = replace(problem, replacement=True, batch_size=np.array([0, 2, 1]))
    e = ft.expected(repeated, "fedavg", rounds=1, x_0=x_0, eta_l=0.25, K=1)
    assert e.paths[1] == 9 and equal(
        e.mean[1],
        np.mean(
            [
                x_0
                - 0.25
                * 0.5
                * (
                    (slope(X[1][i], y[1][i], x_0) + slope(X[1][k], y[1][k], x_0)) / 2
                    + slope(X[2][j], y[2][j], x_0)
                )
                for i in range(2)
                for k in range(2)
                for j in range(3)
            ],
            axis=0,
        ),
        1e-14,
    )


# ---------------------------------------------------------------- who takes part


@pytest.mark.parametrize(
    "cohort, N, S",
    [("without", 4, 2), ("with", 3, 3), ("full", 3, 3), ("without", 1, 1), ("with", 1, 2)],
)
def test_a_law_has_the_moments_of_its_outcomes(cohort, N, S):
    law = law_of(Participation(cohort, work=uniform(1)), 0, N, S, 2)
    chances, cohorts, works = law.outcomes(1000)
    assert len(chances) == law.count and law.outcomes(law.count - 1) is None
    assert np.isclose(chances.sum(), 1, atol=1e-14)
    visits = np.stack([(cohorts == i).sum(axis=1) for i in range(1, N + 1)])
    covariance = (chances * visits) @ visits.T - np.outer(visits @ chances, visits @ chances)
    assert np.allclose(covariance, law.variance_factor * (np.eye(N) - 1 / N), atol=1e-14)
    assert np.allclose(
        (chances * visits) @ visits.T @ np.eye(N)[0],
        [law.square, *covariance[1:, 0] + (S / N) ** 2],
    )


@pytest.mark.parametrize(
    "name, S, cohort",
    [("flex_a", 5, "without"), ("one_way_gt", 2, "without"), ("parallel_training", 3, "with")],
)
def test_clients_coupled_by_a_count_need_not_be_enumerated(name, S, cohort, monkeypatch):
    kw = dict(rounds=3, x_0=[1.0, -2.0], S=S, participation=Participation(cohort, work=uniform(0)))
    one_by_one = either(name, small("gaussian", 5), **kw)
    monkeypatch.setattr(round_map_models, "OUTCOMES", 1)
    counted = either(name, small("gaussian", 5), **kw)
    assert all(equal(counted.metrics[metric], one_by_one.metrics[metric]) for metric in BASIC)


# ---------------------------------------------------------------- the algorithm's own kernels, and
# refusals


def forward(state, i, k, y, g, local, h):
    y[:] += h.eta_l * g


def by_coordinate(state, i, k, y, g, local, h):
    y[:] -= h.eta_l * g * np.arange(1.0, y.size + 1)


def mixing(state, i, k, y, g, local, h):
    y[:] -= h.eta_l * g.mean()


def clipped(state, i, k, y, g, local, h):
    y[:] -= h.eta_l * np.clip(g, -1.0, 1.0)


def by_time(state, t, g, h):
    state.x[:] /= t + 1.0


def damaged(**kernels):
    return replace(ALGORITHMS["fsl"], **kernels)


PLAIN = dict(rounds=3, S=2, x_0=[1.0, -2.0], eta_l=0.1, eta_0=0.1, K=1)


@pytest.mark.parametrize("hessian", ["diagonal", "dense", "own_dense"])
@pytest.mark.parametrize(
    "kernels",
    [
        dict(local_step=forward),
        dict(local_step=by_coordinate),
        dict(local_step=mixing),
        dict(begin=by_time),
    ],
    ids=["forward", "by coordinate", "mixing", "by time"],
)
def test_moments_follow_the_kernels_that_are_given(kernels, hessian):
    problem = ft.problems.quadratic(2, 3, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, hessian=hessian, seed=4)
    a, b = (
        ft.expected(problem, damaged(**kernels), how=how, **PLAIN)
        for how in ("moments", "enumeration")
    )
    sound = ft.expected(problem, "fsl", **PLAIN)
    for metric in BASIC:
        assert equal(a.metrics[metric], b.metrics[metric])
        assert not equal(a.metrics[metric], sound.metrics[metric], 1e-3)


class Counter(NamedTuple):
    x: np.ndarray
    seen: np.ndarray


def count_first(state, cohort, work, p, y, local, h):
    state.seen[0] += cohort[0]


def test_what_has_no_exact_form_is_refused_with_its_reason():
    gaussian, signs = small("gaussian"), small("rademacher")
    curved = ft.problems.logistic(
        [np.eye(2)] * 2, [np.array([1.0, -1.0])] * 2, 0.5, noise="gaussian", sigma=0.1
    )
    refused = lambda reason: pytest.raises(NotExact, match=reason)
    with refused("gradients that are not affine; by enumeration: gaussian noise has a continuum"):
        ft.expected(curved, "fedavg", rounds=1, eta_l=0.1)
    with refused("its round is not an affine map of points and noise"):
        ft.expected(gaussian, damaged(local_step=clipped), **PLAIN)
    with refused("fedadam on quadratic .* not an affine map"):
        ft.expected(gaussian, "fedadam", rounds=1, **example_hyper(ALGORITHMS["fedadam"]))
    with refused("more than 100 rounds of single paths"):
        ft.expected(signs, "fsl", how="enumeration", budget=100, **PLAIN)
    many = ft.problems.quadratic(
        1, 40, L=1.0, mu=1.0, G=1.0, sigma=1.0, weights=np.sqrt(np.arange(1.0, 41))
    )
    with refused("parts neither add up nor do so given the number of complete clients"):
        ft.expected(many, "fedavg", rounds=2, S=10, eta_l=0.1, weighting="samples")
    counting = damaged(
        init=lambda x_0, N, layers, h: Counter(x_0.copy(), np.zeros(1)), aggregate=count_first
    )
    with refused("keeps seen, which is not a point and depends on what is drawn"):
        ft.expected(gaussian, counting, **PLAIN)
    drifts = ft.expected(gaussian, "fsl", **PLAIN).metrics
    with refused("client_drift has no exact value here"):
        drifts["client_drift"]
    with pytest.raises(InvalidInput, match="metric must be among"):
        drifts["regret"]
    with pytest.raises(InvalidInput, match="how must be"):
        ft.expected(gaussian, "fsl", how="sampling", **PLAIN)
    assert ft.expected(gaussian, "fsl", **PLAIN | dict(rounds=0)).metrics["loss"].shape == (1,)


def test_drifts_come_from_enumeration():
    problem = small("none")
    e = ft.expected(problem, "fsl", how="enumeration", **PLAIN | dict(K=2))
    r = ft.run(
        problem, "fsl", trials=1, **PLAIN | dict(K=2, S=3, rounds=1), metrics=("client_drift",)
    )
    full = ft.expected(problem, "fsl", how="enumeration", **PLAIN | dict(K=2, S=3, rounds=1))
    assert np.allclose(full.metrics["client_drift"], r.metrics["client_drift"][0])
    pairs = [
        0.5 * sum(np.sum((0.1 * problem.client_grad(i, [1.0, -2.0])) ** 2) for i in pair) / 2
        for pair in combinations(range(1, 4), 2)
    ]
    assert np.isclose(e.metrics["client_drift"][1], np.mean(pairs))
