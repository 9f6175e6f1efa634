"""Blocks of a covariance where coordinates mix against the covariance as one matrix."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.exact import (
    affine_maps,
    client_state_moments,
    cross_client_covariance,
    moment_recursion,
    moments,
)
from fedtheory.participation import Participation, uniform

LOCAL = dict(eta_l=0.1, K=4)
METHODS = [
    ("scaffold", LOCAL),
    ("scaffold", dict(LOCAL, option="I", eta_g=0.5)),
    ("feddyn", dict(LOCAL, alpha=0.5)),
]
NAMES = ["II", "I", "feddyn"]
FORMS = dict(series=0, whole=np.inf)  # how much dearer than every entry a term is said to be


def problem(d=5, N=6, weights=None):
    constants = dict(L=2.0, mu=0.5, G=1.0, xi_bar=0.5, sigma=0.3)
    return ft.problems.quadratic(d, N, hessian="own_dense", seed=1, weights=weights, **constants)


@pytest.fixture(params=FORMS)
def kept(monkeypatch, request):
    """What `memories_of` was given and found, call after call, however few the states are."""
    monkeypatch.setattr(cross_client_covariance, "PRODUCTS", FORMS[request.param])
    calls, real = [], client_state_moments.memories_of

    def watched(*given):
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
        found = real(*given)
        calls.append((copies, found))
        return found

    monkeypatch.setattr(client_state_moments, "FROM", 1)
    monkeypatch.setattr(client_state_moments, "memories_of", watched)
    return calls


def forms(kept):
    """How the covariances of different clients' memories were followed, call after call."""
    return [found and type(found.memories).__name__.lower() for _, found in kept]


def whole(monkeypatch, *given, **setting):
    """The same expectation, the covariance followed as one matrix."""
    with monkeypatch.context() as patch:
        patch.setattr(moment_recursion, "follow_memories", lambda *given: None)
        return ft.expected(*given, **setting)


def agree(found, expected):
    for a, b in ((found.mean, expected.mean), (found.covariance, expected.covariance)):
        size = np.abs(b).reshape(len(b), -1).max(axis=1)  # of each round
        assert np.all(np.abs(a - b).reshape(len(b), -1).max(axis=1) <= 1e-12 * size)
    for name in expected.metrics:
        a, b = found.metrics[name], expected.metrics[name]
        assert np.all(np.abs(a - b) <= 1e-12 * np.abs(b).max()), name


@pytest.mark.parametrize("S", [2, 6])
@pytest.mark.parametrize("weights", [None, [1, 2, 3, 1, 2, 3]], ids=["even", "uneven"])
@pytest.mark.parametrize("method, hyper", METHODS, ids=NAMES)
def test_blocks_give_the_moments_of_the_whole(
    method, hyper, weights, S, kept, monkeypatch, request
):
    given = problem(weights=weights), method
    setting = dict(rounds=9, S=S, covariance=True, **hyper)
    found = ft.expected(*given, **setting)
    assert forms(kept) == [request.node.callspec.params["kept"]]
    agree(found, whole(monkeypatch, *given, **setting))


@pytest.mark.parametrize("method, hyper", METHODS, ids=NAMES)
def test_blocks_give_what_all_cohorts_give(method, hyper, kept):
    given = ft.problems.quadratic(
        2, 3, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, sigma=0.0, hessian="own_dense", seed=1
    )
    setting = dict(rounds=5, S=2, covariance=True, **hyper)
    found = ft.expected(given, method, how="moments", **setting)
    assert kept[-1][1] is not None
    agree(ft.expected(given, method, how="enumeration", **setting), found)


def test_a_schedule_leaves_the_state_as_it_was_given(kept, monkeypatch):
    given = problem(), "scaffold"
    setting = dict(rounds=8, S=3, covariance=True, K=4, eta_l=[0.1] * 3 + [0.05] * 5)
    agree(ft.expected(*given, **setting), whole(monkeypatch, *given, **setting))
    assert forms(kept) == ["whole", "whole"]  # what is left behind is asked for entry by entry


def test_many_rounds_in_which_memories_fade_or_stay(kept, monkeypatch, request):
    for method, hyper in (("scaffold", dict(eta_l=0.5, K=10)), ("feddyn", METHODS[2][1])):
        given = problem(), method
        setting = dict(rounds=80, S=2, covariance=True, **hyper)
        agree(ft.expected(*given, **setting), whole(monkeypatch, *given, **setting))
    assert forms(kept) == [request.node.callspec.params["kept"]] * 2
    if kept[0][1].memories.__class__ is cross_client_covariance.Series:
        assert [5 < found.memories.count < cross_client_covariance.MOST for _, found in kept] == [
            True,
            True,
        ]


def test_clients_that_work_differently_are_followed_entry_by_entry(kept, monkeypatch):
    given = problem(), "scaffold"
    law = Participation(work=uniform(1))
    setting = dict(rounds=6, S=6, covariance=True, participation=law, **LOCAL)
    agree(ft.expected(*given, **setting), whole(monkeypatch, *given, **setting))
    assert forms(kept)[0] is not None


def test_a_method_without_memory_and_few_states_are_followed_whole(monkeypatch):
    seen, real = [], client_state_moments.memories_of

    def watched(*given):
        seen.append(real(*given))
        return seen[-1]

    monkeypatch.setattr(client_state_moments, "memories_of", watched)
    ft.expected(problem(), "fedavg", rounds=3, S=2, **LOCAL)
    assert not seen
    ft.expected(problem(), "scaffold", rounds=3, S=2, **LOCAL)
    assert seen == [None]


def test_deviations_small_next_to_the_mean_are_known_to_its_rounding(kept, monkeypatch, request):
    given = problem(), "feddyn"
    setting = dict(rounds=9, S=2, covariance=True, eta_l=1e-3, K=4, alpha=1e-3)
    agree(ft.expected(*given, **setting), whole(monkeypatch, *given, **setting))
    assert forms(kept) == [request.node.callspec.params["kept"]]
    map, m, C, own, *_ = kept[0][0]
    monkeypatch.setattr(client_state_moments, "DUST", 0.0)
    assert client_state_moments.memories_of(map, m, C, own) is None


def test_deviations_are_told_as_blocks_or_not(kept, monkeypatch):
    given, setting = (problem(), "scaffold"), dict(rounds=5, S=2, covariance=True, **LOCAL)
    monkeypatch.setattr(affine_maps, "THIN", np.inf)
    expected = ft.expected(*given, **setting)
    monkeypatch.setattr(affine_maps, "THIN", 0)
    agree(ft.expected(*given, **setting), expected)
    thin = [len(found[0].thin) for found, _ in kept]
    assert thin == [0, 7]  # six clients', and what is left over
    assert None not in forms(kept)


@pytest.mark.parametrize("off", [1e-3, 1e-9])
def test_maps_that_are_nearly_of_the_form_are_not(off, kept):
    ft.expected(problem(), "scaffold", rounds=3, S=2, **LOCAL)
    map, m, C, own, *_ = kept[-1][0]
    assert client_state_moments.memories_of(map, m, C, own) is not None
    entry = lambda i, j: off * (np.arange(len(m)) == i)[:, None] * (np.arange(len(m)) == j)
    a, b = own[0, 0], own[1, 0]
    for moved in (
        map._replace(linear=map.linear + entry(a, b)),  # a client reads another
        map._replace(Q=map.Q + entry(a, b) + entry(b, a)),  # their noise is one
        map._replace(linear=map.linear + entry(a, own[0, 1]) - entry(own[0, 1], a)),
    ):
        assert client_state_moments.memories_of(moved, m, C, own) is None


def test_states_that_are_zero_and_stay_so_are_left_out(kept):
    ft.expected(problem(), "scaffold", rounds=3, S=2, **LOCAL)
    map, m, C, own, *_ = kept[-1][0]
    unused = client_state_moments.resting_states(map, m, C)
    assert unused.sum() == 5  # the first row of c_i
    assert not client_state_moments.resting_states(map, m + 1.0 * unused, C).any()
    n = np.flatnonzero(unused)[0]
    read = map.linear.copy()
    read[0, n, own[0, 0]] = 1.0
    assert not client_state_moments.resting_states(map._replace(linear=read), m, C)[n]


@pytest.mark.parametrize("method, hyper", METHODS, ids=NAMES)
def test_clients_shared_by_cores_give_the_same_bits(method, hyper, kept, monkeypatch):
    monkeypatch.setattr(moments, "SPREAD", 0)  # however little there is to share

    def found(count):
        monkeypatch.setenv("FEDTHEORY_NUM_THREADS", count)
        return ft.expected(problem(), method, rounds=9, S=2, covariance=True, **hyper)

    one, three = found("1"), found("3")
    assert [call[1] is not None for call in kept] == [True, True]
    assert np.array_equal(one.mean, three.mean) and np.array_equal(one.covariance, three.covariance)
