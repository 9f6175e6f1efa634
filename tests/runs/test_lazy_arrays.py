"""Memory of zeros: nothing of it is there until it is written, and it is an array like any other."""

import subprocess
import sys

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.participation import Arrival, Participation, traces
from fedtheory.runs import lazy_arrays

METHODS = dict(
    scaffold=dict(eta_l=0.1, K=3),
    feddyn=dict(eta_l=0.1, alpha=0.5, K=3),
    fed_ams=dict(alpha=0.05, epsilon=0.01, T=3),
    fed_lamb=dict(alpha=0.05, epsilon=0.01, T=3, momentum="kept"),
)


def test_arrays_are_copied_page_by_page_and_no_bit_is_lost():
    generator = np.random.default_rng(0)
    array = lazy_arrays.lazy_zeros((3, 1000, 300), np.float64)
    assert array.flags.c_contiguous and array.flags.writeable and not array.any()
    array[:, generator.integers(1000, size=40)] = generator.standard_normal((3, 40, 300))
    array[2, 999, 299] = np.nan
    copy = lazy_arrays.copy_array(array)
    np.testing.assert_array_equal(copy, array)
    array[1, 5], array[2, 999] = 7.0, 0.0
    lazy_arrays.put_array(array, copy)
    np.testing.assert_array_equal(copy, array)
    assert lazy_arrays.repeat_array(np.ones(3), 2).tolist() == [[1, 1, 1]] * 2
    assert lazy_arrays.repeat_array(np.ones(2**20), 2).sum() == 2**21


@pytest.mark.parametrize("name", METHODS)
def test_lazy_rows_are_the_bits_of_dense_ones_whatever_workers_and_chunks(name, monkeypatch):
    problem = ft.problems.crowd(6, 40, L=2.0, mu=0.5, G=1.0, sigma=0.3, seed=1)
    part = Participation(work=traces.traces(seed=2), arrivals=(Arrival(7, 4, 2.0),))
    asked = dict(rounds=9, trials=3, S=11, seed=5, participation=part, keep="x", **METHODS[name])
    monkeypatch.setattr(lazy_arrays, "LARGE", 2**40)
    dense = ft.run(problem, name, workers=1, **asked)
    assert np.isfinite(dense.x).all()
    monkeypatch.setattr(lazy_arrays, "LARGE", 8)
    for how in (
        dict(workers=1),
        dict(workers=3, chunk=1),
        dict(chunk=4),
        dict(executor="threads:2"),
    ):
        run = ft.run(problem, name, **how, **asked)
        np.testing.assert_array_equal(run.x, dense.x)
        for mine, theirs in zip(run._state, dense._state):
            np.testing.assert_array_equal(mine, theirs)
    half = ft.run(problem, name, **asked | dict(rounds=4))
    np.testing.assert_array_equal(ft.run(problem, name, resume=half, **asked).x, dense.x)


MILLION = """
import resource, fedtheory as ft
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run = lambda N: ft.run(ft.problems.crowd(100, N, L=1.0, mu=0.1, G=1.0), "scaffold", rounds=20, S=100, eta_l=0.1)
run(200)
before = peak()
run(10**6)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_a_million_clients_take_what_those_that_took_part_do():
    """2,000 rows of 800 bytes are on at most 4,000 pages of 4 kB, 16 MB; all of them are 800 MB."""
    done = subprocess.run(
        [sys.executable, "-c", MILLION], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 100_000
