"""Gradients in pieces: each is taken once, in its phase, and no bit depends on who took it."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import jit
from fedtheory.app.contracts import broken_pieces
from fedtheory.problem import Kernels
from fedtheory.runs import execution
from fedtheory.runs.barriers import LINE, make_counters
from fedtheory.runs.groups import Desk, types_of
from fedtheory.runs.planning import plan_of
from fedtheory.runs.shared_gradients import SPAN, desk_at, in_pieces, wait_at_barrier

WORKERS, GRADIENTS, PHASES, D = 3, 300, 3, 40


class Data(NamedTuple):
    taken: np.ndarray  # (gradients, phases, pieces), how often


@jit.jit
def pieces(data, i, count, phase):
    """Five in the first phase, then four, then three."""
    return 5 - phase if phase < PHASES else 0


@jit.jit
def piece(data, i, rows, x, room, out, phase, n):
    """Tells what it was given, and what the phase before it left: what a torn gradient would mix."""
    data.taken[i, phase, n] += 1
    before = 0.0
    if phase > 0:
        for m in range(5 - phase + 1):
            before += room[5 * (phase - 1) + m]
    room[5 * phase + n] = before + x[0] + rows[0] + i
    if phase == PHASES - 1:
        for j in range(n, D, 5 - phase):
            out[j] = room[5 * phase + n]


@jit.jit
def no_grad(data, i, x, out):
    out[:] = np.nan


@jit.jit
def ask(gate, address, worker, workers, rows, g, ends):
    """Each worker asks for gradients of its own, more of them the higher its number, and then waits."""
    desk, x = desk_at(address, g), np.empty(D)
    for n in range(GRADIENTS * (1 + worker)):
        i = GRADIENTS * WORKERS * worker + n
        x[0] = np.float64(n)
        rows[0] = worker
        in_pieces(desk, i, rows, x)
        for j in range(D):
            ends[i, j] = g[j]
    wait_at_barrier(gate, address, g, worker, workers)


@pytest.mark.skipif(jit.DISABLED, reason="loops on one thread have nobody to help them")
def test_every_piece_is_taken_once_and_sees_what_its_gradient_was_asked_with():
    integers = lambda *shape: np.zeros(shape, np.int64)
    points = lambda n: np.zeros((WORKERS, n))
    data = Data(integers(GRADIENTS * WORKERS * WORKERS, PHASES, 5))
    kernels, words = Kernels(no_grad, None, pieces=pieces, piece=piece), jit.pack(data)
    roles = [kernels.role(name, data) for name in ("grad", "batch", "pieces", "piece")]
    rows, g, gate = integers(WORKERS, LINE), points(D), make_counters(WORKERS)
    shared = integers(SPAN * WORKERS), integers(WORKERS, LINE), rows, points(D), g, points(16)
    desks = [Desk(*roles, words.ctypes.data, w, *shared) for w in range(WORKERS)]
    there = [jit.pack(desk, types_of("float64")[Desk]) for desk in desks]
    ends = np.full((len(data.taken), D), np.nan)
    with ThreadPoolExecutor(WORKERS) as pool:
        jobs = [
            pool.submit(ask, gate, there[w].ctypes.data, w, WORKERS, rows[w, :1], g[w], ends)
            for w in range(WORKERS)
        ]
        for done in jobs:
            done.result()
    asked = [
        GRADIENTS * WORKERS * w + n for w in range(WORKERS) for n in range(GRADIENTS * (1 + w))
    ]
    for phase in range(PHASES):
        assert (data.taken[asked, phase, : 5 - phase] == 1).all()
    for i in asked:
        given = i % (GRADIENTS * WORKERS) + i // (GRADIENTS * WORKERS) + i
        assert (ends[i] == given * (1 + 4 * (1 + 5))).all()  # itself, and four that hold five


def samples(sizes, features, labels):
    generator = np.random.default_rng(4)
    X = [generator.standard_normal((n, features)) for n in sizes]
    return X, [labels[generator.permutation(n) % len(labels)] for n in sizes]


def softmax(features, classes, **noise):
    X, y = samples((130, 300, 171), features, np.arange(classes))
    return ft.problems.softmax(X[1:], y[1:], 1e-3, (X[0], y[0]), classes=classes, **noise)


def logistic():
    X, y = samples((300, 700, 411), 203, np.array([-1, 1]))
    return ft.problems.logistic(X[1:], y[1:], 0.1, (X[0], y[0]), batch=[333, 411], batch_0=201)


def dense(d):
    given = dict(L=1.0, mu=0.1, G=1.0, xi_bar=0.3, sigma=1.0, sigma_0=0.5)
    return ft.problems.quadratic(d, 2, hessian="own_dense", **given)


PROBLEMS = {
    "ten classes": lambda: softmax(317, 10, batch=[150, 130], batch_0=100),
    "all samples": lambda: softmax(317, 10, noise="gaussian", sigma=0.1, sigma_0=0.1),
    "seven classes": lambda: softmax(317, 7, batch=[150, 60], batch_0=120),
    "thirty classes": lambda: softmax(101, 30, batch=400, replacement=True),
    "logistic": logistic,
    "rows that fill blocks": lambda: dense(520),
    "rows that fill none": lambda: dense(523),
}


@pytest.mark.skipif(jit.DISABLED, reason="interpreted gradients of this size take minutes")
@pytest.mark.parametrize("name", PROBLEMS)
def test_pieces_in_any_order_are_the_gradient(name):
    seen, broken = broken_pieces(PROBLEMS[name]())
    assert seen >= 4 and not broken


@pytest.mark.skipif(jit.DISABLED, reason="interpreted gradients of this size take minutes")
def test_pieces_that_are_not_the_gradient_are_seen():
    problem = dense(520)
    kernels = problem.kernels._replace(grad=no_grad)
    assert broken_pieces(replace(problem, kernels=kernels))[1] == {0, 1, 2}


@pytest.mark.skipif(jit.DISABLED, reason="interpreted gradients of this size take minutes")
@pytest.mark.parametrize("name", PROBLEMS)
def test_who_helps_changes_no_bit(name):
    """A cohort of one, then the server's steps: with nobody beside, with one who waits, with two."""
    problem = PROBLEMS[name]()
    given = dict(K=3, K_0=2, eta_l=0.05, eta_0=0.05)
    asked = dict(trials=1, seed=3, S=1, participation=None, keep="x", names=("loss",), given=given)
    plan = plan_of(problem, "fsl", rounds=4, **asked)
    ends = []
    for workers, together in ((1, False), (2, True), (3, True)):
        job = execution.Job(plan, workers=workers)
        asked = job.machine.slabs.desks["asked"]
        with ThreadPoolExecutor(workers) as pool:
            while job.done < plan.rounds:
                part = job.chunk(2)
                job.machine.carry(part, pool, together)
                job.keep(part)
        ends.append(job.path)
        assert asked.any() == together  # gradients lay there
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])
    assert np.isfinite(ends[0]).all()
