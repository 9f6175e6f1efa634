"""Kernels of one's own that leave their arrays are refused in words, by an exception and not by the end of
the process; those that stay inside are tried once, and run as they are."""

from typing import NamedTuple

import numba
import numpy as np
import pytest

import fedtheory as ft
from fedtheory import indexing, jit
from fedtheory.errors import InvalidInput
from fedtheory.problem import Constant, Kernels, Problem, weights_from


class Data(NamedTuple):
    c: np.ndarray  # (N + 1, d)


@jit.jit
def grad(data, i, x, out):
    for j in range(x.size):
        out[j] = x[j] - data.c[i, j]


@jit.jit
def loss(data, i, x):
    total = 0.0
    for j in range(x.size):
        total += (x[j] - data.c[i, j]) ** 2 / 2
    return total


@jit.jit
def grad_behind(data, i, x, out):
    for j in range(x.size):
        out[j + 1] = x[j] - data.c[i, j]


@jit.jit
def loss_before(data, i, x):
    return x[i - 900]


@jit.jit
def put(out, j):
    out[j + 10**9] = 0.0


@jit.jit
def grad_by_another(data, i, x, out):
    put(out, x.size)


@jit.jit
def grad_of_the_next(data, i, x, out):
    for j in range(x.size):
        out[j] = x[j] - data.c[i + 1, j]


@jit.jit
def batch_behind(data, i, rows, draw, x, out):
    for b in range(rows.size):
        out[rows[b]] = 0.0


@jit.jit
def grad_without_a_type(data, i, x, out):
    out[0] = "a"


@jit.jit
def grad_by_zero(data, i, x, out):
    """What Python refuses and machine code does not: 1/0 is infinite there."""
    zero = 0.0
    for j in range(x.size):
        out[j] = x[j] - data.c[i, j] + 1.0 / (1.0 / zero)


@jit.jit
def grad_by_zero_behind(data, i, x, out):
    zero = 0.0
    out[x.size] = 1.0 / (1.0 / zero)


def made_in_a_closure(by):
    @jit.jit
    def grad_behind(data, i, x, out):
        by(out, x.size)

    return grad_behind


def problem(d=3, N=2, noise="none", **kernels):
    c = np.arange((N + 1) * d, dtype=float).reshape(N + 1, d)
    sizes = np.full(N + 1, 5 * (noise == "minibatch"))
    own = Kernels(**{**dict(grad=grad, loss=loss), **kernels})
    constants = dict(L=Constant(1.0), mu=Constant(1.0))
    more = dict(noise=noise, sizes=sizes, batch_size=sizes // 2)
    return Problem("own", Data(c), own, N, d, weights_from(None, N), constants, **more)


WRONG = [
    (dict(grad=grad_behind), "kernel grad must stay inside its arrays; line", "out[j + 1] = x[j]"),
    (
        dict(loss=loss_before),
        "kernel loss must",
        "index -900 is out of bounds for axis 0 with size",
    ),
    (
        dict(grad=grad_by_another),
        "kernel grad must",
        "'out[j + 10**9] = 0.0', does not: IndexError",
    ),
    (dict(grad=made_in_a_closure(put)), "kernel grad must", "out[j + 10**9] = 0.0"),
    (
        dict(grad=grad_of_the_next),
        "kernel grad must",
        "index 3 is out of bounds for axis 0 with size 3",
    ),
    (dict(batch=batch_behind, noise="minibatch"), "kernel batch must", "index 4 is out of bounds"),
    (dict(grad=grad_by_zero_behind), "kernel grad must stay inside its arrays", "out of bounds"),
    (dict(grad=grad_without_a_type), "kernel grad_without_a_type cannot be compiled", ""),
]


@pytest.mark.parametrize("changed, says, where", WRONG, ids=[str(n) for n in range(len(WRONG))])
def test_a_kernel_that_leaves_its_arrays_is_refused(changed, says, where):
    of = problem(**changed)
    with pytest.raises(InvalidInput) as caught:
        ft.run(of, "fedavg", rounds=1, K=1, eta_l=0.1)
    said = str(caught.value)
    assert says in said and where in said and "\n" not in said, said
    if "cannot be compiled" not in said:
        for asked in (lambda: of.loss(np.zeros(of.d)), lambda: of.client_grad(1, np.zeros(of.d))):
            with pytest.raises(InvalidInput, match="must stay inside its arrays"):
                asked()


def test_long_kernels_are_tried_as_machine_code(monkeypatch):
    of, compared = problem(d=200_000, grad=grad_of_the_next), []
    monkeypatch.setattr(indexing, "SECONDS", 1e-3)
    checked = indexing._compile_checked
    monkeypatch.setattr(
        indexing, "_compile_checked", lambda own: compared.append(own) or checked(own)
    )
    with pytest.raises(InvalidInput, match="kernel grad must .*index 3 is out of bounds"):
        of.loss(np.zeros(of.d))
    assert compared
    monkeypatch.setattr(indexing, "MORE", 1e-3)  # and where Python would take too long to say which
    with pytest.raises(InvalidInput, match="kernel grad must stay inside its arrays: IndexError"):
        of.loss(np.zeros(of.d))


def test_kernels_that_stay_inside_run_as_they_are_and_are_tried_once(monkeypatch):
    of, plays = problem(), []
    play = Problem._play
    monkeypatch.setattr(Problem, "_play", lambda *given: plays.append(given) or play(*given))
    r = ft.run(of, "fedavg", rounds=3, K=1, eta_l=0.5)
    assert np.allclose(r.final[0], 7 / 8 * np.array([4.5, 5.5, 6.5])) and of.loss(r.final[0]) > 0
    assert len(plays) == 1
    by_zero = problem(grad=grad_by_zero)
    assert np.array_equal(ft.run(by_zero, "fedavg", rounds=3, K=1, eta_l=0.5).final, r.final)


def test_the_library_own_kernels_are_not_tried(monkeypatch):
    monkeypatch.setattr(indexing, "_try_kernels", lambda *given: pytest.fail("it was"))
    of = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5)
    ft.run(of, "scaffold", rounds=1, K=1, eta_l=0.1)
    assert not any(map(indexing.is_own, of.kernels)) and indexing.is_own(grad)


def test_twins_call_twins():
    @numba.njit
    def inner(n):
        return n + 1

    @numba.njit
    def outer(n):
        return inner(n)

    (twin,) = indexing._interpret_kernels({"outer": outer}).values()
    (cell,) = twin.__closure__
    assert twin(1) == 2 and not hasattr(cell.cell_contents, "py_func")
