"""Moments of what is asked for against those of the whole state, which is the slow and obvious way."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.exact import needed_second_moments
from fedtheory.participation import Participation, uniform

LOCAL = dict(eta_l=0.05, K=4)
METHODS = [
    ("scaffold", LOCAL),
    ("scaffold", dict(LOCAL, option="I", eta_g=0.5)),
    ("feddyn", dict(LOCAL, alpha=0.5)),
]


def problem(hessian="diagonal", weights=None, sigma=1.0, N=8):
    return ft.problems.quadratic(
        3,
        N,
        L=1.0,
        mu=0.1,
        G=1.0,
        xi_bar=0.3,
        sigma=sigma,
        hessian=hessian,
        weights=weights,
        seed=2,
    )


@pytest.fixture
def kept(monkeypatch):
    """What `followed` was given and whether it found an answer, call after call."""
    calls, real = [], needed_second_moments.follow_pairs

    def watched(*given):
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
        found = real(*given)
        calls.append((copies, found is not None))
        return found

    monkeypatch.setattr(needed_second_moments, "follow_pairs", watched)
    return calls


def whole(monkeypatch, *given, **setting):
    """The same expectation, every entry of the covariance followed."""
    with monkeypatch.context() as patch:
        patch.setattr(needed_second_moments, "follow_pairs", lambda *given: None)
        return ft.expected(*given, **setting)


def agree(found, expected, tolerance=1e-12):
    """Round by round where a metric has a sign, else next to the largest of its values."""
    for name in expected.metrics:
        a, b = found.metrics[name], expected.metrics[name]
        scale = np.abs(b) if name.startswith("sq_") else np.abs(b).max()
        assert np.all(np.abs(a - b) <= tolerance * scale), name


@pytest.mark.parametrize("work", [None, uniform()], ids=["full", "uniform"])
@pytest.mark.parametrize("weights", [None, [1, 2, 3, 1, 2, 3, 4, 5]], ids=["even", "uneven"])
@pytest.mark.parametrize("hessian", ["diagonal", "dense"])
@pytest.mark.parametrize("method, hyper", METHODS, ids=["II", "I", "feddyn"])
def test_few_entries_give_the_moments_of_all(
    method, hyper, hessian, weights, work, kept, monkeypatch
):
    given = problem(hessian, weights), method
    setting = dict(rounds=40, S=3, participation=Participation(work=work), **hyper)
    found = ft.expected(*given, **setting)
    assert kept[-1][1], "the sum that the server keeps was not seen"
    agree(found, whole(monkeypatch, *given, **setting))


@pytest.mark.parametrize("method, hyper", METHODS, ids=["II", "I", "feddyn"])
def test_where_clients_curve_differently_no_sum_stands_for_them(method, hyper, kept, monkeypatch):
    given, setting = (problem("own"), method), dict(rounds=20, S=3, **hyper)
    agree(ft.expected(*given, **setting), whole(monkeypatch, *given, **setting))
    assert not kept[-1][1]


def test_what_goes_to_zero_is_followed_down(kept, monkeypatch):
    """Without noise the squared distance falls by orders, and so does what is known of it."""
    given, setting = (problem(sigma=0.0), "scaffold"), dict(rounds=50, S=4, K=4, eta_l=0.2)
    found = ft.expected(*given, **setting)
    assert kept[-1][1]
    assert found.metrics["sq_distance"][-1] < 1e-4 * found.metrics["sq_distance"][0]
    agree(found, whole(monkeypatch, *given, **setting), 1e-10)


def test_a_schedule_is_followed_whole_until_its_last_stretch(kept, monkeypatch):
    given = problem(), "scaffold"
    setting = dict(rounds=12, S=3, K=4, eta_l=[0.05] * 5 + [0.02] * 7)
    agree(ft.expected(*given, **setting), whole(monkeypatch, *given, **setting))
    assert [call[0][1] for call in kept] == [7]


@pytest.mark.parametrize("off", [1e-3, 1e-9])
def test_a_sum_that_is_nearly_kept_is_not_kept(off, kept):
    ft.expected(problem(), "scaffold", rounds=9, S=3, **LOCAL)
    map, _, m, C, _, memories, (x, c), p = kept[-1][0]
    k = np.zeros(m.shape[1])
    k[memories[0]], k[c] = -p, 1.0
    blocks = list(needed_second_moments.blocks_of(map))
    assert needed_second_moments.keeps_zero(map, blocks, m, C, k)
    memory = memories[0][2]
    moved = map._replace(linear=map.linear + off * outer(c, memory, k.size))
    assert not needed_second_moments.keeps_zero(moved, blocks, m, C, k)
    for bent in (blocks[0].E * (1 + off * (np.arange(3) == 1)[:, None]), blocks[0].E + off):
        assert not needed_second_moments.keeps_zero(
            map, [blocks[0]._replace(E=bent), *blocks[1:]], m, C, k
        )
    assert not needed_second_moments.keeps_zero(
        map, [blocks[0]._replace(weight=off), *blocks[1:]], m, C, k
    )
    assert not needed_second_moments.keeps_zero(
        map, blocks, m + off * (np.arange(k.size) == c), C, k
    )
    assert not needed_second_moments.keeps_zero(
        map._replace(Q=map.Q + off * outer(c, c, k.size)), blocks, m, C, k
    )


def outer(i, j, size):
    return (np.arange(size) == i)[:, None] * (np.arange(size) == j)
