"""The traces of flex, table 2: exact moments, largest entropy, least variance, and who is given
which."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.participation import Participation, traces

# Copied from the table: name, mean and standard deviation in percent; the first five are never
# inactive.
PAPER = [
    ("T_0", 100, 0),
    ("T_30", 75.3, 14.8),
    ("T_50", 67.2, 11.3),
    ("T_70", 57.2, 11.7),
    ("T_90", 56.3, 14.8),
    ("T_hi", 82.5, 23.3),
    ("T_mi", 74.1, 22.3),
    ("T_lo", 51.2, 18.3),
]
SIZES = (2, 3, 4, 5, 6, 8, 10, 13, 20, 40, 47, 100)


def moments(pmf):
    s = np.arange(len(pmf))
    mean = pmf @ s
    return mean, pmf @ (s - mean) ** 2


@pytest.mark.parametrize("E", SIZES)
@pytest.mark.parametrize("name, mean, deviation", PAPER)
def test_moments_are_the_paper_s_where_the_grid_has_them(name, mean, deviation, E):
    pmf = traces.pmf(name, E)
    assert pmf.shape == (E + 1,) and np.all(pmf >= 0) and pmf.sum() == pytest.approx(1, abs=1e-14)
    if name in ("T_0", "T_30", "T_50", "T_70", "T_90"):
        assert pmf[0] == 0
    m, v = moments(pmf)
    assert m == pytest.approx(mean / 100 * E, abs=1e-12 * E)
    part = (mean / 100 * E) % 1
    least = part * (1 - part)  # no law on the integers with this mean has a smaller variance
    assert v == pytest.approx(max((deviation / 100 * E) ** 2, least), abs=1e-12 * E**2)


def test_only_coarse_grids_miss_the_standard_deviation():
    """From five steps on, every trace has its deviation exactly; below, these are the ones that
    cannot."""
    missed = {
        (name, E)
        for name, mean, deviation in PAPER
        for E in range(2, 60)
        if abs(moments(traces.pmf(name, E))[1] - (deviation / 100 * E) ** 2) > 1e-9
    }
    assert missed == {
        ("T_30", 2),
        ("T_50", 2),
        ("T_50", 4),
        ("T_70", 2),
        ("T_70", 3),
        ("T_90", 2),
        ("T_90", 3),
        ("T_hi", 2),
        ("T_mi", 2),
    }


@pytest.mark.parametrize("name", ["T_30", "T_50", "T_lo", "T_hi"])
def test_no_law_of_the_same_moments_has_more_entropy(name):
    """Perturb along directions that keep the sum, mean and variance: entropy only falls."""
    pmf = traces.pmf(name, 10)
    s = np.flatnonzero(pmf)
    p = pmf[s]
    keeps = np.linalg.svd(np.stack([np.ones(s.size), s, s**2]).astype(float))[2][3:]
    entropy = lambda q: -np.sum(q * np.log(q))
    generator = np.random.default_rng(0)
    for _ in range(50):
        direction = generator.normal(size=len(keeps)) @ keeps
        direction *= 0.5 * np.min(p / abs(direction))
        np.testing.assert_allclose(moments_on(s, p + direction), moments_on(s, p), atol=1e-10)
        assert entropy(p + direction) < entropy(p) and entropy(p + direction / 100) < entropy(p)


def moments_on(s, p):
    return p.sum(), p @ s, p @ s**2


def test_its_form_is_exponential_of_a_quadratic():
    logs = np.log(traces.pmf("T_mi", 12))
    np.testing.assert_allclose(np.diff(logs, 3), 0, atol=1e-9)
    assert np.ptp(np.diff(logs, 2)) < 1e-9 and abs(np.diff(logs, 2)[0]) > 1e-3


@pytest.mark.parametrize(
    "mean, variance, low, high",
    [
        (3.5, 0.25 * (1 + 1e-6), 0, 9),
        (3.2, 0.16001, 1, 5),
        (5.0, 20.0, 0, 10),
        (0.5, 0.26, 0, 30),
        (9.6, 0.25, 0, 10),
    ],
)
def test_extreme_moments_are_met_too(mean, variance, low, high):
    pmf = traces.largest_entropy(mean, variance, low, high)
    s = np.arange(low, high + 1)
    assert pmf @ s == pytest.approx(mean, abs=1e-9) and pmf @ (s - mean) ** 2 == pytest.approx(
        variance, abs=1e-9
    )


def test_one_step_that_must_always_be_done_has_no_other_mean():
    assert traces.pmf("T_0", 1).tolist() == [0, 1]
    np.testing.assert_allclose(traces.pmf("T_lo", 1), [0.488, 0.512])
    with pytest.raises(InvalidInput, match="trace T_90 needs E >= 2"):
        traces.pmf("T_90", 1)


def test_devices_are_given_the_first_traces_at_random():
    names = traces.assignment(400, count=3, seed=1)
    assert set(names) == {"T_0", "T_30", "T_50"}
    for name in set(names):
        assert abs(names.count(name) - 400 / 3) < 4.5 * np.sqrt(400 * 2 / 9)
    assert (
        names == traces.assignment(400, count=3, seed=1) != traces.assignment(400, count=3, seed=2)
    )
    assert traces.assignment(5, count=1) == ["T_0"] * 5
    table = traces.traces(3, seed=1).table(400, 6)
    np.testing.assert_allclose(table, [traces.pmf(name, 6) for name in names], atol=1e-15)


def test_devices_may_be_given_traces_by_name():
    names = ["T_lo", "T_0", "T_hi"]
    np.testing.assert_allclose(
        traces.traces(names=names).table(3, 8), [traces.pmf(name, 8) for name in names], atol=1e-15
    )
    np.testing.assert_allclose(
        traces.trace("T_mi").table(3, 8), [traces.pmf("T_mi", 8)] * 3, atol=1e-15
    )


def test_a_run_draws_from_them():
    part = Participation("full", work=traces.traces(names=["T_0", "T_30", "T_lo"]))
    work = part.draw(0, np.arange(400), 0, 25, 3, np.full(25, 10), 3)[1].reshape(-1, 3)
    for column, (mean, deviation) in zip(work.T, ((100, 0), (75.3, 14.8), (51.2, 18.3))):
        assert abs(column.mean() - mean / 10) <= 4.5 * deviation / 10 / np.sqrt(len(column))
        assert abs(column.std() - deviation / 10) <= 0.05 * deviation / 10
    problem = ft.problems.quadratic(2, 3, L=1.0, mu=0.5, G=1.0)
    r = ft.run(problem, "flex_c", rounds=300, trials=2, eta=0.02, E=10, participation=part)
    assert np.all(r.metrics["sq_distance"][:, -1] < 0.01 * r.metrics["sq_distance"][:, 0])


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: traces.traces(9), "count must be an integer 1..8; got 9"),
        (lambda: traces.traces(0), "count must be an integer 1..8"),
        (lambda: traces.traces(True), "count must be an integer 1..8"),
        (lambda: traces.traces(names=["T_1"]), "trace must be one of T_0, T_30"),
        (lambda: traces.trace("lo"), "trace must be one of"),
        (
            lambda: traces.traces(names=["T_0"]).table(2, 5),
            "names must give each of 2 devices a trace",
        ),
    ],
)
def test_bad_requests_are_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
