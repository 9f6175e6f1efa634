"""What every problem and every algorithm must meet, over everything discovered."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover, jit
from fedtheory.app.contracts import (
    broken_constants,
    client_range,
    example_settings,
    gradient_gap,
    sample_points,
)
from fedtheory.problem import Constant

PROBLEMS = dict(discover.examples())
ALGORITHMS = discover.algorithms()
PAIRS = [
    (a, p)
    for a in sorted(ALGORITHMS)
    for p in PROBLEMS
    if PROBLEMS[p].has_server or not ALGORITHMS[a].server
]
TESTS = Path(__file__).parent


@pytest.mark.parametrize("name", PROBLEMS)
def test_gradients_match_finite_differences(name):
    problem = PROBLEMS[name]
    for x in sample_points(problem, 2):
        for i in client_range(problem):
            assert gradient_gap(problem, i, x) < 1e-6


def test_a_wrong_gradient_is_seen():
    problem = PROBLEMS["quadratics.diagonal"]

    def grad(data, i, x, out):
        problem.kernels.grad(data, i, x, out)
        out[0] *= 1.001

    broken = replace(problem, kernels=problem.kernels._replace(grad=grad))
    assert (
        max(gradient_gap(broken, i, x) for i in client_range(broken) for x in sample_points(broken))
        > 1e-6
    )


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_objective_is_the_weighted_sum(name):
    problem = PROBLEMS[name]
    p = problem.weights
    assert p[0] == 0 and p.sum() == pytest.approx(1, rel=1e-15)
    for x in sample_points(problem, 2):
        each = [
            (problem.client_loss(i, x), problem.client_grad(i, x)) for i in range(1, problem.N + 1)
        ]
        assert problem.loss(x) == pytest.approx(
            sum(p[i] * f for i, (f, _) in enumerate(each, 1)), rel=1e-12, abs=1e-14
        )
        np.testing.assert_allclose(
            problem.grad(x),
            sum(p[i] * g for i, (_, g) in enumerate(each, 1)),
            rtol=1e-10,
            atol=1e-12,
        )


@pytest.mark.parametrize("name", [n for n in PROBLEMS if PROBLEMS[n].minimize])
def test_the_minimiser_is_stationary(name):
    problem = PROBLEMS[name]
    scale = max(1.0, *(np.linalg.norm(problem.grad(x)) for x in sample_points(problem)))
    assert np.linalg.norm(problem.grad(problem.minimizer())) < 1e-9 * scale


@pytest.mark.parametrize("name", PROBLEMS)
def test_global_constants_hold_at_random_points(name):
    assert not broken_constants(PROBLEMS[name])


@pytest.mark.parametrize("name", [n for n in PROBLEMS if n.startswith("quadratics")])
def test_constants_that_are_too_good_are_seen(name):
    problem = PROBLEMS[name]
    for constant in ("G", "xi_bar"):
        c = problem.constants.get(constant)  # none where clients curve apart and F has no minimiser
        if c and c.scope == "global" and c.value > 0:
            better = {**problem.constants, constant: Constant(0.999 * c.value)}
            assert constant in broken_constants(replace(problem, constants=better))


# Quadratics use + - * / only; the others call the machine's exp, whose vector and scalar forms may
# differ.
def agree(a, b, exact):
    np.testing.assert_allclose(a, b, rtol=0 if exact else 1e-11, atol=0 if exact else 1e-12)


ADAPTIVE = ("adam", "lamb", "ams")


@pytest.mark.parametrize("name, on", PAIRS, ids=lambda v: v)
def test_compiled_and_interpreted_runs_agree(name, on):
    problem, algorithm = PROBLEMS[on], ALGORITHMS[name]
    fast, slow = (
        ft.run(problem, name, compiled=c, **example_settings(algorithm, problem))
        for c in (True, False)
    )
    exact = on.startswith("quadratics.") and not any(word in name for word in ADAPTIVE)
    agree(fast.x, slow.x, exact)
    agree(fast.metrics["loss"], slow.metrics["loss"], exact)
    assert np.isfinite(fast.x).all()


@pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT")
def test_everything_in_the_house_is_compiled():
    assert all(algorithm.compiled for algorithm in ALGORITHMS.values())
    assert all(problem.kernels.compiled for problem in PROBLEMS.values())


@pytest.mark.parametrize("name", ALGORITHMS)
def test_bits_do_not_depend_on_workers_or_chunks(name):
    problem, algorithm = PROBLEMS["quadratics.diagonal"], ALGORITHMS[name]
    runs = [
        ft.run(problem, name, workers=w, chunk=c, **example_settings(algorithm, problem))
        for w, c in ((1, 2), (2, 1))
    ]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_clients_write_only_what_is_theirs(name):
    """Spread over workers, the clients of a round give the same bits as one after the other."""
    from concurrent.futures import ThreadPoolExecutor

    from fedtheory.runs.execution import Job
    from fedtheory.runs.planning import plan_of

    problem, algorithm = PROBLEMS["quadratics.own"], ALGORITHMS[name]
    given = example_settings(algorithm, problem)
    S = given.pop("S")
    for key in ("rounds", "trials", "seed", "keep", "metrics"):
        given.pop(key)
    plan = plan_of(
        problem,
        name,
        rounds=3,
        trials=1,
        seed=2,
        S=S,
        participation=None,
        keep="x",
        names=("loss",),
        given=given,
    )
    ends = []
    for together in (False, True):
        job = Job(plan, workers=2)
        with ThreadPoolExecutor(2) as pool:
            part = job.chunk(3)
            job.machine.carry(part, pool, together)
            job.keep(part)
        ends.append(job.path)
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_hyper_parameters_are_described_and_guarded(name):
    algorithm = ALGORITHMS[name]
    assert algorithm.cites and algorithm.meaning and name.isidentifier()
    problem = PROBLEMS["quadratics.diagonal"]
    for field, spec in algorithm.hyper.items():
        assert len(spec.meaning) > 3
        bad = "no such word" if spec.choices else float("nan")
        with pytest.raises(ft.errors.InvalidInput, match=f"^{field} must be"):
            ft.run(problem, name, **{**example_settings(algorithm, problem), field: bad})


@pytest.mark.parametrize("name", ALGORITHMS)
def test_each_algorithm_has_a_mirror_test(name):
    mirrors = {"dsl": "data_sharing", "flex_a": "flex", "flex_b": "flex", "flex_c": "flex"}
    path = TESTS / "algorithms" / f"test_{mirrors.get(name, name)}.py"
    assert path.exists() and "by_hand" in path.read_text()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_one_client_one_dimension_runs(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r = ft.run(
            PROBLEMS["quadratics.one"],
            name,
            **example_settings(ALGORITHMS[name], PROBLEMS["quadratics.one"]),
        )
    assert np.isfinite(r.x).all()
