"""Every argument of a public function is what its rule says, or is refused with one sentence before
anything is made."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.participation import Arrival, Departure, Participation, steps, uniform

PROBLEM = ft.problems.quadratic(2, 3, L=1, mu=0.5)
NAN = float("nan")


def refused(words, call):
    with pytest.raises(InvalidInput) as caught:
        call()
    said = str(caught.value)
    assert said.startswith(words) and "\n" not in said, said


def made(**changes):
    return ft.problems.quadratic(**{**dict(d=2, clients=3, L=1, mu=0.5), **changes})


def ran(problem=PROBLEM, algorithm="fedavg", **changes):
    return ft.run(problem, algorithm, **{**dict(rounds=1, K=1, eta_l=0.1), **changes})


@pytest.mark.parametrize(
    "name, values",
    [
        ("L", ("1", b"1", True, 1 + 0j, [1], None, NAN, 10**400)),
        ("mu", ("0", -1, None)),
        ("G", ([0.1], True)),
        ("d", (2.0, "2", None, True, 0, 10**30, 2**63)),
        ("clients", (2.5, [3], 10**30, 2**63, 2**40)),
        ("seed", (None, NAN, [1], "0", -1, True)),
        ("layers", ("abc", 3, [], [[3]], [1.5, 0.5], [None], [("a", 1), ("a", 1)])),
        ("weights", ("abc", {}, [1, None, 2], ["1", "2", "3"], [1j, 1, 1], [1, 2])),
        ("hessian", ([], None, "flat")),
        ("noise", ([], None, 3)),
        ("sigma", ("1", None, [1, 2], 1j, NAN, True)),
        ("sigma_0", ([1, 2], "x")),
        ("radius", ("x", 0, NAN)),
    ],
)
def test_arguments_of_a_problem(name, values):
    for value in values:
        refused(f"{name} must be", lambda: made(**{name: value}))


@pytest.mark.parametrize(
    "name, values",
    [
        ("K", (2**63, 10**30, -1, 1.5, "1", True, [1, None])),
        ("eta_l", ("1", b"1", True, [None], 1j, NAN, {})),
        ("rounds", (10**30, 2**63, -1, 1.0, "1")),
        ("trials", (10**30, 2**63, 0, 1.5)),
        ("S", (10**30, "1", 0, True, 4)),
        ("x_0", ("abc", {}, [1j, 0], [None, 0], ["1", "2"], [1], [NAN, 0], True)),
        ("seed", (None, NAN, [1], 2**64)),
        ("metrics", (5, "loss", [[]], [None], ["loss", "gain"])),
        ("participation", ("full", 1, {}, [], False)),
        ("progress", (5, "x")),
        ("keep", ([], None, "all")),
        ("workers", (0, "2", 1.5)),
        ("chunk", ("a", 0)),
        ("compiled", (5, "yes")),
        ("resume", (3, {})),
        ("pretrained", (3, {})),
        ("problem", (None, "quadratic", {})),
        ("algorithm", (["fedavg"], None, {}, "fedprx")),
    ],
)
def test_arguments_of_a_run(name, values):
    for value in values:
        refused(f"{name} must", lambda: ran(**{name: value}))


def test_a_count_of_steps_is_never_a_negative_number():
    """2^63 as a signed 64-bit number is -2^63: no step at all."""
    refused("K must be at most 2147483646; got 9223372036854775808", lambda: ran(K=2**63))
    refused("K_0 must be at most", lambda: ft.pretrain(PROBLEM, steps=2**63, eta=0.1))
    refused("K must be at most", lambda: ran(K=[2**63]))


def test_points_and_clients():
    for x in (
        [None] * 2,
        ["1", "2"],
        [1j, 2],
        [True, False],
        None,
        3,
        [[1, 2]],
        [1, 2, 3],
        "ab",
        {},
    ):
        refused("x must ", lambda: PROBLEM.loss(x))
        refused("x must ", lambda: PROBLEM.client_grad(1, x))
    for i in (1.5, "1", None, True, -1, 4):
        refused("i must be a client 1..3 or 0, the server", lambda: PROBLEM.client_loss(i, [0, 0]))
    assert PROBLEM.client_loss(np.int64(1), [0, 0]) == PROBLEM.client_loss(1, np.zeros(2))


@pytest.mark.parametrize(
    "part, words",
    [
        (Participation(cohort=[]), "cohort must be one of"),
        (Participation(work=3), "work must be a Work"),
        (Participation(arrivals=3), "arrivals must be"),
        (Participation(departures=(Arrival(1, 1),)), "departures must be"),
        (Participation(arrivals=(Arrival(1, 1, "x"),)), "Arrival: boost must be"),
        (Participation(departures=(Departure(1.5, 1),)), "Departure needs a client"),
        (Participation(work=steps("x")), "steps must be"),
        (Participation(work=steps([1, 2])), "steps must be"),
        (Participation(work=uniform("0")), "uniform: low must be"),
        (Participation(work=uniform(0, 1.5)), "uniform: high must"),
    ],
)
def test_arguments_of_participation(part, words):
    refused(words, lambda: ran(participation=part))


def test_arrays_are_of_real_numbers():
    of = ft.problems.quadratic_from_arrays
    for b in (
        [[1j, 0], [0, 0]],
        [["1", "0"], ["0", "0"]],
        [[None, 0], [0, 0]],
        {},
        None,
        "b",
        [[0, 0], [0]],
    ):
        refused("b must be", lambda: of([1, 1], b))
    for A in (None, {}, "A", [True, True], [1j, 1]):
        refused("A must be", lambda: of(A, [[0, 0], [0, 0]]))


def test_what_no_memory_holds_is_not_asked_for():
    refused("d and clients must leave room for", lambda: made(clients=2**31 - 3, d=100))
    refused("d and clients must leave room for", lambda: made(d=10**7, hessian="dense"))
    refused("rounds and trials must leave room for", lambda: ran(rounds=2**31 - 3, trials=1000))
    assert made(d=10**5).d == 10**5  # a diagonal takes d numbers, not d^2
    refused(
        "d must leave room for", lambda: ft.problems.mixed(10**7, 2, L=1, mu=1, hessian="own_dense")
    )
    X, y = [np.ones((2, 2))] * 2, [[0, 1]] * 2
    refused("hidden must leave room for", lambda: ft.problems.mlp(X, y, hidden=(2**30, 2**30)))
    refused("samples must leave room for", lambda: ft.problems.synthetic(0, 0, 2, samples=2**62))


@pytest.mark.parametrize(
    "maker, rest, name, values",
    [
        ("bounded", dict(M=2), "L", (b"1", "1", None, True, 1j)),
        ("bounded", dict(L=1, M=2), "shape", ([], None)),
        ("huber", dict(L=1), "width", ("x", True, None, [1], -1)),
        ("nonconvex", dict(L=1), "growth", ("1", [1], True)),
        ("mixed", dict(L=1, mu=0.5), "G", ("1", None, NAN)),
        ("mixed", dict(L=1, mu=0.5), "sigma_c", ("x", 1j)),
    ],
)
def test_arguments_of_other_problems(maker, rest, name, values):
    for value in values:
        refused(
            f"{name} must be", lambda: getattr(ft.problems, maker)(2, 2, **{**rest, name: value})
        )


@pytest.mark.parametrize(
    "name, values",
    [
        ("batch", ("x", [1, None], 0)),
        ("replacement", ("no", 1)),
        ("weights", (5, "all")),
        ("layers", (3, "ab")),
        ("ridge", ("1", True)),
        ("batch_0", (2.5,)),
        ("noise", (None, [])),
    ],
)
def test_arguments_of_samples(name, values):
    for value in values:
        refused(
            f"{name} must be",
            lambda: ft.problems.logistic(
                **{**dict(X=[np.ones((2, 2))] * 2, y=[[1, -1]] * 2, ridge=0.1), name: value}
            ),
        )
