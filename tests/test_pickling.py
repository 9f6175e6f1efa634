"""Problems, methods, claims and results cross processes and can be kept: what comes out does what
went in did."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover, jit
from fedtheory.participation import Arrival, Participation, distribution, steps, uniform
from fedtheory.participation.traces import trace, traces
from fedtheory.problem import Kernels, Problem

EXAMPLES = dict(discover.examples())
SETTING = dict(rounds=2, trials=2, seed=3, eta_l=0.05, K=2, keep="x")


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def elsewhere(problem, algorithm, claim, run):
    """What a process that shares nothing but files makes of what it is sent."""
    fresh = ft.run(problem, algorithm, **SETTING)
    on = ft.run(run.problem, run.algorithm, resume=run, **{**SETTING, "rounds": 3})
    return (
        fresh,
        on,
        claim.latex(),
        claim is ft.claim(claim.id),
        algorithm is ft.algorithm(algorithm.name),
    )


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize(
    "name", ["quadratics.dense", "logistic.own", "mlp.tiny", "shared.own", "mixed.own_dense"]
)
def test_a_spawned_process_runs_what_it_is_sent(pool, name):
    problem, claim = EXAMPLES[name], ft.claim("fsl.theorem2")
    run = ft.run(problem, "fedavg", **SETTING)
    fresh, on, latex, same_claim, same_method = pool.submit(
        elsewhere, problem, ft.algorithm("fedavg"), claim, run
    ).result(timeout=300)
    assert np.array_equal(fresh.x, run.x) and np.array_equal(
        fresh.metrics["loss"], run.metrics["loss"]
    )
    assert np.array_equal(on.x, ft.run(problem, "fedavg", **{**SETTING, "rounds": 3}).x)
    assert latex == claim.latex() and same_claim and same_method


@pytest.mark.parametrize("name", EXAMPLES)
def test_problems(name):
    problem, x = EXAMPLES[name], np.linspace(-1, 1, EXAMPLES[name].d)
    other = again(problem)
    assert other.loss(x) == problem.loss(x) and np.array_equal(
        other.client_grad(1, x), problem.client_grad(1, x)
    )
    assert other.constants == problem.constants and other.layers == problem.layers
    assert all(
        a is b for a, b in zip(other.kernels, problem.kernels)
    )  # found again, not compiled again
    if problem.minimize is not None:
        assert np.array_equal(other.minimizer(), problem.minimizer())
    if problem.reweigh is not None:
        assert again(problem.reweighted(problem.weights[1:])).loss(x) == problem.reweighted(
            problem.weights[1:]
        ).loss(x)


@pytest.mark.parametrize("name", ft.algorithms())
def test_methods_are_found_again(name):
    assert again(ft.algorithm(name)) is ft.algorithm(name)


def test_every_recorded_claim_is_found_again():
    assert all(again(claim) is claim for claim in discover.claims())


@pytest.mark.slow
def test_variants_of_claims_cross_by_their_parts():
    for claim in discover.claims():
        variant = claim.replace(f"{claim.id}_mine")
        other = again(variant)
        assert (
            other.lines == variant.lines
            and other.assumptions == variant.assumptions
            and str(other) == str(variant)
        )
        assert list(other.symbols) == list(variant.symbols)
    claim = ft.claim("fsl.theorem1").without("lipschitz")
    assert again(claim).bound == claim.bound and str(again(claim)) == str(claim)


@pytest.mark.parametrize(
    "work",
    [
        None,
        steps(1),
        steps([0, 1, 2]),
        steps(np.array([1, 1, 2])),
        uniform(1, 2),
        distribution([0, 0.5, 0.5]),
        distribution(np.full((3, 3), 1 / 3)),
        trace("T_50"),
        traces(3, 1),
        traces(names=["T_50", "T_lo", "T_50"]),
    ],
    ids=str,
)
def test_results(work):
    problem = ft.problems.quadratic(2, 3, L=1, mu=0.5, G=0.1, sigma=0.1)
    part = Participation(work=work, arrivals=(Arrival(3, 1),))
    assert again(part) == part
    run = ft.run(problem, "fedavg", participation=part, **SETTING)
    other = again(run)
    assert np.array_equal(other.final, run.final) and other.hyper[0] == run.hyper[0]
    assert np.array_equal(
        ft.run(
            other.problem, "fedavg", resume=other, participation=part, **{**SETTING, "rounds": 4}
        ).final,
        ft.run(problem, "fedavg", participation=part, **{**SETTING, "rounds": 4}).final,
    )
    e = ft.expected(problem, "fedavg", rounds=2, eta_l=0.1, K=2, participation=part)
    other = again(e)
    assert set(other.metrics) == set(e.metrics) and all(
        np.array_equal(other.metrics[n], e.metrics[n]) for n in e.metrics
    )
    assert np.array_equal(other.mean, e.mean)


def test_verdicts_and_what_is_made_of_them():
    verdict = ft.check("fsl.lemma5", budget=0.3)
    assert again(verdict).as_dict() == verdict.as_dict()
    minimised = ft.minimise("fsl.lemma1", budget=0.3)
    assert again(minimised).as_dict() == minimised.as_dict() and str(again(minimised)) == str(
        minimised
    )
    mutation = ft.mutate("fsl.lemma1", budget=0.3)
    assert again(mutation).as_dict() == mutation.as_dict()


def test_a_kernel_without_a_name_says_why_it_cannot_cross():
    @jit.jit
    def grad(data, i, x, out):
        out[0] = x[0]

    @jit.jit
    def loss(data, i, x):
        return 0.5 * x[0] * x[0]

    problem = Problem(
        "mine", EXAMPLES["quadratics.one"].data, Kernels(grad, loss), 1, 1, np.array([0.0, 1.0]), {}
    )
    with pytest.raises(
        pickle.PicklingError,
        match="kernel grad of .*test_pickling is held by no name of that module",
    ):
        pickle.dumps(problem)
