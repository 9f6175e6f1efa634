"""Incomplete work: the law of s, its independence, and schedules of the steps asked."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.participation import Participation, Work, distribution, staircase, steps, uniform

PROBLEM = ft.problems.quadratic(2, 3, L=1.0, mu=1.0, G=1.0)


def draw(work, trials=200, rounds=50, N=3, E=4, cohort="full", S=None, first=0):
    E = np.full(rounds, E) if np.isscalar(E) else np.asarray(E)
    return Participation(cohort, work=work).draw(0, np.arange(trials), first, rounds, S or N, E, N)


TABLE = [[0.5, 0.0, 0.25, 0.0, 0.25], [0.0, 1.0, 0.0, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4, 0.0]]


def test_each_client_follows_its_own_row():
    _, work = draw(distribution(TABLE))
    for i, row in enumerate(TABLE):
        counts = np.bincount(work[:, :, i].ravel(), minlength=5)
        n = counts.sum()
        assert np.all(
            abs(counts - n * np.array(row))
            <= 4.5 * np.sqrt(n * np.array(row) * (1 - np.array(row)))
        )


def test_work_belongs_to_the_client_not_to_its_place_in_the_cohort():
    cohort, work = draw(steps([1, 2, 3]), cohort="without", S=2)
    assert np.all(work == cohort)


def test_work_is_independent_over_clients_rounds_and_trials():
    _, work = draw(uniform(), trials=400)
    flat = work - 2.0
    n = flat[:, :, 0].size
    for a, b in (
        (flat[:, :, 0], flat[:, :, 1]),
        (flat[:, 1:, 0], flat[:, :-1, 0]),
        (flat[1:, :, 2], flat[:-1, :, 2]),
    ):
        assert abs(np.mean(a * b)) < 4.5 * 2.0 / np.sqrt(n)  # each has mean 0, variance 2
    assert abs(np.mean(flat[:, :, 0] ** 2) - 2.0) < 0.05


@pytest.mark.parametrize(
    "work, E, rows",
    [
        (steps(2), 3, [[0, 0, 1, 0]] * 3),
        (steps([0, 3, 1]), 3, [[1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]]),
        (uniform(), 3, [[0.25] * 4] * 3),
        (uniform(1), 4, [[0, 0.25, 0.25, 0.25, 0.25]] * 3),
        (uniform(1, 2), 3, [[0, 0.5, 0.5, 0]] * 3),
        (distribution([0.5, 0.5]), 1, [[0.5, 0.5]] * 3),
        (distribution(TABLE), 4, TABLE),
    ],
)
def test_tables(work, E, rows):
    np.testing.assert_allclose(work.table(3, E), rows, rtol=1e-15)


def test_the_last_possible_work_catches_what_rounding_leaves():
    """Ten tenths add up to less than 1; the missing bit must not fall to s = 10, which is
    impossible."""
    ladder, kinds = Work("tenths", lambda N, E: np.array([0.1] * 10 + [0.0])).ladder(2, 10)
    assert kinds.tolist() == [0]  # one row for both clients
    assert (
        np.cumsum([0.1] * 10)[-1] < 1 and np.all(ladder[:, 9:] == 1) and np.all(ladder[:, :9] < 1)
    )


@pytest.mark.parametrize(
    "work, words",
    [
        (steps(5), "steps must be integers 0..4; got 5"),
        (steps([1.5, 1, 1]), "steps must be integers 0..4"),
        (steps(-1), "steps must be integers 0..4"),
        (uniform(3, 2), "uniform needs 0 <= low <= high <= 4"),
        (uniform(0, 5), "uniform needs 0 <= low <= high <= 4"),
        (distribution([0.5, 0.5]), r"distribution must have shape \(5,\) or \(3, 5\)"),
        (distribution([0.5, 0.5, 0.5, 0, 0]), "probabilities of 0..4 steps that sum to 1"),
        (distribution([1.5, -0.5, 0, 0, 0]), "probabilities of 0..4 steps"),
        (distribution([np.nan, 1, 0, 0, 0]), "probabilities of 0..4 steps"),
    ],
)
def test_bad_work_is_refused(work, words):
    with pytest.raises(InvalidInput, match=words):
        ft.run(PROBLEM, "fedavg", rounds=1, eta_l=0.1, K=4, participation=Participation(work=work))


def test_a_schedule_of_steps_draws_each_round_from_its_own_number():
    """uniform() means 0..E of that round, in a chunk with other rounds or alone."""
    E = np.array([1, 6, 0, 3] * 10)
    _, work = draw(uniform(), trials=60, rounds=40, E=E)
    assert np.all(work <= E[:, None]) and np.all(work[:, 2::4] == 0)
    for t, most in enumerate(E[:4]):
        assert set(work[:, t::4].ravel()) == set(range(most + 1))
    for t in range(40):
        np.testing.assert_array_equal(
            draw(uniform(), trials=60, rounds=1, E=E[t : t + 1], first=t)[1], work[:, t : t + 1]
        )


def test_a_scheduled_run_does_not_depend_on_chunks():
    common = dict(
        rounds=8,
        trials=2,
        eta_l=0.1,
        K=[2, 5, 1, 1, 4, 2, 3, 5],
        keep="x",
        seed=3,
        participation=Participation(work=uniform()),
    )
    whole = ft.run(PROBLEM, "fedavg", chunk=8, **common).x
    for chunk in (1, 3):
        np.testing.assert_array_equal(ft.run(PROBLEM, "fedavg", chunk=chunk, **common).x, whole)


def test_an_inactive_client_changes_nothing():
    part = Participation("full", work=steps([0, 2, 2]))
    r = ft.run(
        PROBLEM,
        "fedavg",
        rounds=1,
        eta_l=0.1,
        K=2,
        weighting="plain",
        participation=part,
        x_0=np.ones(2),
    )
    x, change = np.ones(2), 0
    for i in (2, 3):
        y = np.ones(2)
        for _ in range(2):
            y = y - 0.1 * PROBLEM.client_grad(i, y)
        change = change + (y - x) / 3
    np.testing.assert_allclose(r.final[0], x + change, rtol=1e-14)


def test_the_staircase_restarts_where_the_objective_shifts():
    np.testing.assert_allclose(staircase(2.0, 4), [2, 1, 2 / 3, 1 / 2])
    np.testing.assert_allclose(staircase(6.0, 7, shifts=(5, 2)), [6, 3, 6, 3, 2, 6, 3])
    np.testing.assert_allclose(staircase(6.0, 3, offset=2.0), [3, 2, 1.5])
    # Theorem 3.1: 16 E / (mu E[sum p s]) / (tau E + gamma) with mu = 2, E = 5, sum = 4, gamma = 30.
    tau = np.arange(6)
    np.testing.assert_allclose(
        staircase(16 / (2 * 4), 6, offset=30 / 5), 16 * 5 / (2 * 4) / (tau * 5 + 30)
    )
    with pytest.raises(InvalidInput, match="offset must be a finite number > 0; got 0"):
        staircase(1.0, 3, offset=0)
