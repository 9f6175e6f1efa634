"""Methods of one's own whose kernels leave their arrays are refused before machine code runs them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import jit
from fedtheory.algorithm import Algorithm, count, positive
from fedtheory.errors import InvalidInput
from fedtheory.runs import trying


class Hyper(NamedTuple):
    eta_l: float = positive("step size", 0.5)
    K: int = count("local steps", 2)


class State(NamedTuple):
    x: np.ndarray
    last: np.ndarray  # (N + 1,)


class Local(NamedTuple):
    seen: np.ndarray  # (K,)


def init(x_0, N, layers, h):
    return State(x_0.copy(), np.zeros(N + 1))


def local(d, layers, h):
    return Local(np.zeros(h.K))


@jit.jit
def step(state, i, k, y, g, local, h):
    local.seen[k] = 1.0
    state.last[i] = k
    for j in range(y.size):
        y[j] -= h.eta_l * g[j]


@jit.jit
def mean(state, cohort, work, p, y, local, h):
    for j in range(state.x.size):
        state.x[j] = 0.0
        for s in range(cohort.size):
            state.x[j] += y[s, j] / cohort.size


@jit.jit
def step_behind(state, i, k, y, g, local, h):
    local.seen[k + 1] = 1.0


@jit.jit
def step_of_another(state, i, k, y, g, local, h):
    state.last[i + 1] = 1.0


@jit.jit
def mean_of_more(state, cohort, work, p, y, local, h):
    state.x[0] = y[cohort.size, 0] + local.seen[cohort.size - 1, 0]


@jit.jit
def mean_by_clients(state, cohort, work, p, y, local, h):
    for s in range(cohort.size):
        state.x[0] = y[cohort[s], 0]


@jit.jit
def begin_behind(state, t, g, h):
    state.x[0] = g[state.x.size]


METHOD = Algorithm("own_inside", "here", Hyper, init, step, mean, local=local)
PROBLEM = ft.problems.quadratic(d=3, clients=4, L=1.0, mu=0.5)


@pytest.mark.parametrize(
    "changed, says",
    [
        (
            dict(local_step=step_behind),
            "local_step .*local.seen.k . 1. = 1.0.*index 2 is out of bounds",
        ),
        (
            dict(local_step=step_of_another),
            "local_step .*index 5 is out of bounds for axis 0 with si",
        ),
        (
            dict(aggregate=mean_of_more),
            "aggregate .*index 2 is out of bounds for axis 0 with size 2",
        ),
        (dict(aggregate=mean_by_clients), "aggregate .*index 2 is out of bounds"),
        (dict(begin=begin_behind), "begin .*index 3 is out of bounds for axis 0 with size 3"),
    ],
)
def test_a_method_that_leaves_its_arrays_is_refused(changed, says):
    method = replace(METHOD, name="own_outside", **changed)
    with pytest.raises(InvalidInput, match=f"method own_outside: kernel {says}"):
        ft.run(PROBLEM, method, rounds=2, S=2)


def test_a_method_that_stays_inside_is_tried_once_for_its_counts(monkeypatch):
    tries, rounds = [], trying._try_rounds
    monkeypatch.setattr(trying, "_try_rounds", lambda *given: tries.append(given) or rounds(*given))
    problem = ft.problems.quadratic(d=3, clients=4, L=1.0, mu=0.5)
    first = ft.run(problem, METHOD, rounds=2, S=2, seed=1)
    again = ft.run(problem, METHOD, rounds=3, S=2, eta_l=0.1, seed=1)
    ft.run(problem, METHOD, rounds=1, S=2, K=3)
    ft.run(problem, "fedavg", rounds=1, S=2, K=1, eta_l=0.1)
    assert len(tries) == 2 and not np.array_equal(first.final, again.final)
    plain = ft.run(problem, METHOD, rounds=2, S=2, seed=1, compiled=False)
    assert np.allclose(plain.final, first.final, rtol=1e-14)
