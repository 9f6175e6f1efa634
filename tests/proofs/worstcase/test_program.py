"""Worst cases over classes of functions: closed forms lie between what is attained and what is
proved."""

import copy
import json
import subprocess
import sys
from fractions import Fraction as F
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.certificates import check_worst_case
from fedtheory.certificates.check_worst_case import Reading, Refused, is_semidefinite
from fedtheory.errors import FedtheoryError, InvalidInput, NotExact
from fedtheory.proofs.worstcase import program, solver

TENTH = F(1, 10)
SPREAD = {"sq_dissimilarity": 1}
# (N, K, rounds): F(x_R) - F* at eta_l = 1/10, L = 1, |x_0 - x*| <= 1, spread 1 at x*; PEPit 0.5.1
# with Clarabel.
PEPIT = {
    (2, 1, 1): 0.41666666666,
    (2, 2, 1): 0.35811329943,
    (2, 3, 1): 0.31559537921,
    (2, 2, 2): 0.27878959236,
    (2, 3, 2): 0.23052847792,
    (3, 2, 1): 0.35811329846,
}

# What is asked, and its closed form. Drori and Teboulle 2014 (theorems 3.1 and 3.2, and their
# conjecture, which Rotaru and others proved); contraction; Abbaszadehpeivasti, de Klerk and Zamani
# 2022 for F that is not convex.
CLOSED = {
    **{
        f"descent, {n} steps of 1/L": ((program.gradient_descent(1), n), {}, F(1, 4 * n + 2))
        for n in range(1, 6)
    },
    "long steps": ((program.gradient_descent(F(3, 2)), 3), {}, max(F(1, 2) / 10, F(1, 2) / 4**3)),
    "longer steps": (
        (program.gradient_descent(F(19, 10)), 2),
        {},
        max(F(1, 2) / F(86, 10), F(9, 10) ** 4 / 2),
    ),
    "contraction, short": (
        (program.gradient_descent(1), 2),
        dict(mu=TENTH, measure="sq_distance"),
        F(9, 10) ** 4,
    ),
    "contraction, long": (
        (program.gradient_descent(F(19, 10)), 2),
        dict(mu=TENTH, measure="sq_distance"),
        max(F(81, 100), F(9, 10)) ** 4,
    ),
    "gradient after contraction": (
        (program.gradient_descent(1), 1),
        dict(mu=TENTH, measure="sq_grad_norm", start={"sq_grad_norm": 4}),
        4 * F(81, 100),
    ),
    "loss from loss": (
        (program.gradient_descent(1), 2),
        dict(mu=TENTH, start={"loss": 1}),
        F(9, 10) ** 4,
    ),
    **{
        f"not convex, {n} steps": (
            (program.gradient_descent(1), n),
            dict(mu=-1, measure="sq_grad_norm", over="least"),
            F(4, 3 * n + 2),
        )
        for n in (1, 2, 3)
    },
    "equal steps of three clients": (
        (program.fedavg(3, 1, TENTH), 2),
        dict(optimum=SPREAD),
        F(1, 2) / F(14, 10),
    ),
    "aggregation step 2": ((program.fedavg(2, 1, TENTH, eta_g=2), 1), {}, F(1, 2) / F(14, 10)),
}


def loss(N, K, rounds, **more):
    return program.worst_case(program.fedavg(N, K, TENTH), rounds, optimum=SPREAD, **more)


@pytest.mark.parametrize("case", CLOSED)
def test_a_closed_form_lies_between(case):
    asked, about, true = CLOSED[case]
    worst = program.worst_case(*asked, **about)
    assert worst.least <= true <= worst.bound <= worst.value
    assert worst.value <= true * (1 + 1e-8) and worst.least >= true * (1 - 1e-8)


def test_simple_fractions_make_the_bound_the_worst_case_itself():
    worst = program.worst_case(program.gradient_descent(1), 2)
    assert worst.least == worst.bound == F(1, 10)


@pytest.mark.parametrize("sizes", PEPIT, ids=str)
def test_federated_averaging_agrees_with_what_pepit_said(sizes):
    worst = loss(*sizes)
    assert worst.least <= worst.bound <= worst.least * (1 + F(1, 10**7))
    assert abs(worst.value - PEPIT[sizes]) <= 2e-7


def test_clients_that_are_alike_need_not_be_told_apart():
    few, many = loss(2, 2, 1), loss(5, 2, 1)
    assert many.least <= few.bound and few.least <= many.bound
    reading = Reading(many.certificate)
    costs = []
    for alike in (True, False):
        program = solver.Program(reading, alike)
        status, multipliers, _, _ = program.solved(program.cost)
        costs.append(program.cost @ multipliers / float(program.top))
    assert len(program.names) > 3 * len(solver.Program(reading).names)
    assert abs(costs[0] - costs[1]) <= 1e-7


def test_clients_of_different_curvature_are_told_apart():
    worst = loss(2, 2, 1, L={1: 1, 2: F(1, 2)})
    assert worst.bound < loss(2, 2, 1).least
    assert program.worst_case(program.fedavg(2, 1, TENTH), 1, L={1: 1, 2: F(1, 2)}).bound < F(5, 12)


def brute(K, rounds, eta, spread, rng, tries=50_000):
    """Largest loss seen over pairs of quadratics and Huber losses on a line, each with its x_star
    by bisection."""
    c, b = rng.uniform(0.05, 1, (2, tries)), rng.uniform(-4, 4, (2, tries))
    s = rng.choice([0.3, 0.6, 1, 50], (2, tries)) * rng.uniform(1, 2, (2, tries))
    grad = lambda i, x: np.clip(c[i - 1] * (x - b[i - 1]), -s[i - 1], s[i - 1])
    value = lambda i, x: grad(i, x) * (x - b[i - 1]) - grad(i, x) ** 2 / (2 * c[i - 1])
    low, high = b.min(axis=0), b.max(axis=0)
    for _ in range(80):
        x_star = (low + high) / 2
        falls = grad(1, x_star) + grad(2, x_star) < 0
        low, high = np.where(falls, x_star, low), np.where(falls, high, x_star)
    start = rng.uniform(-3, 3, tries)
    size = np.maximum(start**2, (grad(1, x_star) ** 2 + grad(2, x_star) ** 2) / (2 * spread))
    *_, x = islice(program.fedavg(2, K, eta)(x_star + start, grad), rounds + 1)
    return (sum(value(i, x) - value(i, x_star) for i in (1, 2)) / 2 / size).max()


@pytest.mark.parametrize(
    "K, rounds, eta, spread", [(2, 1, 0.1, 1), (3, 1, 0.5, 4), (2, 2, 0.5, 4), (3, 2, 0.1, 1)]
)
def test_no_pair_of_losses_on_a_line_exceeds_it(K, rounds, eta, spread):
    worst = program.worst_case(
        program.fedavg(2, K, eta), rounds, optimum={"sq_dissimilarity": spread}
    )
    seen = brute(K, rounds, eta, spread, np.random.Generator(np.random.Philox(7)))
    assert 0.8 * worst.value < seen <= worst.value
    assert (
        F(1, 2) / (1 + 2 * F(eta) * K * rounds) < worst.least
    )  # equal clients: K rounds steps of descent


FEDERATED = {
    "FedAvg": (
        program.fedavg(2, 2, F(1, 2)),
        1,
        dict(mu=TENTH, optimum={"sq_dissimilarity": 1}, measure="sq_distance"),
    ),
    "FSL": (
        program.fsl(2, 2, 1, TENTH, 2 * TENTH, F(1, 2)),
        1,
        dict(visited={"sq_dissimilarity": 1, "sq_xi": F(1, 4)}),
    ),
    "1-way transfer": (
        program.one_way_gt(2, 2, TENTH),
        1,
        dict(weights={0: 1, 1: "1/2", 2: "1/2"}, optimum=SPREAD),
    ),
    "SCAFFOLD": (program.scaffold(2, 2, TENTH), 2, dict(optimum=SPREAD)),
    "descent": (program.gradient_descent(1), 3, {}),
    "momentum": (program.momentum(TENTH, F(1, 2)), 2, {}),
    "not convex": (
        program.gradient_descent(1),
        2,
        dict(mu=-1, measure="sq_grad_norm", over="least"),
    ),
}


@pytest.mark.parametrize("name", FEDERATED)
def test_a_worst_instance_is_a_run_of_the_method_on_functions_of_the_class(name):
    method, rounds, about = FEDERATED[name]
    worst = program.worst_case(method, rounds, **about)
    assert worst.bound <= worst.least * (1 + F(1, 10**6))
    seen = worst.instance

    def gradient(i, x):
        gaps = [np.abs(x - point).astype(float).max() for point, _, _ in seen.samples[i]]
        assert min(gaps) < 1e-5
        return seen.samples[i][int(np.argmin(gaps))][1]

    for x, point in zip(islice(method(seen.points[0], gradient), rounds + 1), seen.points):
        np.testing.assert_allclose(x.astype(float), point, atol=1e-5)
    mu, L = float(about.get("mu", 0)), 1.0
    for samples in seen.samples.values():
        for x, g, f in samples:
            for (
                y,
                h,
                e,
            ) in samples:  # convex: f >= e + <h, x-y> + |g-h|^2 / 2 in units of L, for f - mu x^2/2
                p, q, dx = g - mu * x, h - mu * y, x - y
                gap = f - e - mu * (x @ x - y @ y) / 2 - q @ dx - (p - q) @ (p - q) / (2 * (L - mu))
                assert gap >= -1e-5
    assert seen.measure <= worst.value * (1 + 1e-6) and seen.measure >= worst.value * (1 - 1e-5)


@pytest.mark.parametrize("eta, rounds, kind", [(1, 3, "Huber"), (F(19, 10), 2, "Quadratic")])
def test_on_a_line_the_worst_function_is_named_and_attains_it(eta, rounds, kind):
    worst = program.worst_case(program.gradient_descent(eta), rounds)
    loss = worst.instance.shapes[1]
    assert type(loss).__name__ == kind
    *_, x = islice(
        program.gradient_descent(float(eta))(
            worst.instance.points[0, 0], lambda i, x: loss.gradient(x)
        ),
        rounds + 1,
    )
    assert loss.value(x) - loss.a == pytest.approx(worst.value, rel=1e-6)


def test_units_scale_it():
    one = program.worst_case(program.fedavg(2, 2, F(1, 8)), 1, optimum=SPREAD)
    other = program.worst_case(
        program.fedavg(2, 2, F(1, 32)),
        1,
        L=4,
        start={"sq_distance": F(1, 64)},
        optimum={"sq_dissimilarity": F(1, 4)},
    )
    assert (
        other.bound == one.bound / 16 and other.least == one.least / 16
    )  # loss goes as L R^2; by powers of two


def test_an_assumption_where_points_were_visited_only_lowers_it():
    more = program.worst_case(program.fedavg(2, 2, TENTH), 2, visited=SPREAD)
    assert more.value < loss(2, 2, 2).least


def test_several_functions_that_are_not_convex_give_an_upper_bound_only():
    about = dict(mu=-1, measure="sq_grad_norm", over="least")
    several = program.worst_case(program.fedavg(2, 1, 1), 1, visited=SPREAD, **about)
    assert several.least is None and several.instance is None
    assert (
        several.value >= program.worst_case(program.gradient_descent(1), 1, **about).least
    )  # equal clients


ENGINE = {
    "fedavg": (dict(K=3, eta_l=0.1, eta_g=1.5), program.fedavg(3, 3, 0.1, 1.5)),
    "fsl": (
        dict(K=2, K_0=2, eta_l=0.1, eta_0=0.2, gamma=0.5, eta_g=1.5),
        program.fsl(3, 2, 2, 0.1, 0.2, 0.5, 1.5),
    ),
    "one_way_gt": (dict(K=2, eta=0.1, eta_s=0.7), program.one_way_gt(3, 2, 0.1, 0.7)),
    "scaffold": (dict(K=2, eta_l=0.1, eta_g=0.7), program.scaffold(3, 2, 0.1, 0.7)),
}


@pytest.mark.parametrize("name", ENGINE)
def test_these_are_the_engines_methods(name):
    hyper, method = ENGINE[name]
    problem, start = (
        ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5, G=1.0, xi_bar=0.5),
        np.array([3.0, -2.0]),
    )
    run = ft.run(problem, name, rounds=4, x_0=start, keep="x", **hyper)
    np.testing.assert_allclose(
        list(islice(method(start, problem.client_grad), 5)), run.x[0], atol=1e-12
    )


@pytest.fixture(scope="module")
def document():
    return loss(2, 2, 1).certificate


def test_a_document_is_checked_alone(document):
    source = Path(check_worst_case.__file__)
    script = (
        f"import json, sys\nexec(open({str(source)!r}).read())\nprint(*check(json.load(sys.stdin)))"
    )
    out = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        input=json.dumps(document),
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    assert tuple(map(F, out.split())) == program.replay_worst_case(json.dumps(document))
    assert program.speaks_of(document, program.fedavg(2, 2, TENTH), 1, optimum=SPREAD)
    assert not program.speaks_of(
        document, program.fedavg(2, 2, TENTH), 1, optimum={"sq_dissimilarity": 2}
    )
    assert not program.speaks_of(
        document, program.fedavg(2, 2, 0.1), 1, optimum=SPREAD
    )  # 0.1 is not 1/10


def set_to(*path):
    *way, last, value = path

    def change(document):
        for step in way:
            document = document[step]
        document[last] = value(document[last]) if callable(value) else value

    return change


less = lambda text: str(F(text) * (1 - F(1, 10**6)))
TAMPERED = {
    "a lower bound": set_to("bound", less),
    "steeper losses": set_to("functions", "1", ["0", "11/10", "1/2"]),
    "other weights": set_to("functions", "1", ["0", "1", "2/3"]),
    "a farther start": set_to("assumes", 0, 2, "2"),
    "more spread": set_to("assumes", 1, 2, "2"),
    "a start elsewhere": set_to("assumes", 0, 1, "*"),
    "another step": set_to("queries", 1, 1, "1", "-1/11"),
    "a method that knows x*": set_to("queries", 1, 1, "0", "1/2"),
    "a method that looks ahead": set_to("queries", 0, 1, "3", "1"),
    "another end": set_to("points", 1, "1", "-1/40"),
    "another measure": set_to("measure", ["sq_distance", [1]]),
    "a measure at the start": set_to("measure", ["loss", [0]]),
    "no minimiser": set_to("minimiser", False),
    "a negative multiplier": set_to("multipliers", "assumed:0", lambda text: "-" + text),
    "a larger multiplier": set_to("multipliers", "1:*:1", "1"),
    "a multiplier of nothing": set_to("multipliers", "1:1:1", "0"),
    "half of the measure": set_to("multipliers", "measure:1", "1/2"),
    "more attained": set_to("instance", "least", lambda text: str(F(text) * (1 + F(1, 10**6)))),
    "another Gram matrix": set_to("instance", "gram", 0, 0, "11/10"),
    "another value": set_to("instance", "values", 0, "2"),
    "a value too few": set_to("instance", "values", []),
    "a float": set_to("bound", 0.4),
    "code": set_to("bound", "__import__('os')"),
    "another format": set_to("format", "fedtheory pep 3"),
}


@pytest.mark.parametrize("change", TAMPERED)
def test_a_document_that_was_changed_is_refused(document, change):
    other = copy.deepcopy(document)
    TAMPERED[change](other)
    with pytest.raises(Refused):
        program.replay_worst_case(other)


def test_every_multiplier_counts(document):
    for name, value in document["multipliers"].items():
        if F(value) > F(1, 10**6):
            other = copy.deepcopy(document)
            other["multipliers"][name] = str(F(value) * F(11, 10))
            with pytest.raises(Refused):
                program.replay_worst_case(other)


def test_semidefinite_is_what_eigenvalues_say_and_exact_where_they_cannot():
    rng = np.random.Generator(np.random.Philox(3))
    verdicts = []
    for _ in range(300):
        half = rng.integers(-2, 3, (4, rng.integers(1, 5)))
        matrix = half @ half.T + (rng.random() < 0.5) * rng.integers(-1, 2) * np.diag(
            rng.integers(0, 2, 4)
        )
        verdicts.append(is_semidefinite([[F(int(v), 3) for v in row] for row in matrix]))
        assert verdicts[-1] == (np.linalg.eigvalsh(matrix).min() > -1e-9)
    assert 30 < sum(verdicts) < 290
    tiny = F(1, 10**40)
    assert is_semidefinite([[F(1), F(1)], [F(1), F(1)]]) and is_semidefinite(
        [[F(1), F(1)], [F(1), 1 + tiny]]
    )
    assert not is_semidefinite([[F(1), F(1)], [F(1), 1 - tiny]]) and not is_semidefinite(
        [[F(0), tiny], [tiny, F(1)]]
    )


@pytest.mark.parametrize(
    "asked, about, says",
    [
        ((program.gradient_descent(1), -1), {}, "rounds must be"),
        ((program.gradient_descent(1), 1), dict(L=0), "L of f_1 must exceed"),
        ((program.gradient_descent(1), 1), dict(mu=1), "L of f_1 must exceed"),
        ((program.gradient_descent(1), 1), dict(L=float("inf")), "L must be a finite number"),
        ((program.gradient_descent(float("nan")), 1), {}, "a method's number must be a finite"),
        ((program.gradient_descent(1), 1), dict(measure="gap"), "a measure must be among"),
        (
            (program.gradient_descent(1), 1),
            dict(start={"sq_distance": -1}),
            "the bound on sq_distance must be",
        ),
        ((program.gradient_descent(1), 1), dict(mu=-1, measure="sq_distance"), "needs a minimiser"),
        (
            (program.gradient_descent(1), 1),
            dict(visited={"sq_xi": 1}),
            "needs clients, and sq_xi the server",
        ),
        ((program.gradient_descent(1), 1), dict(weights={1: -1}), "weights must be nonnegative"),
        ((program.fedavg(2, 1, 1), 1), dict(L={1: 1}), "L must be a finite number"),
        ((program.gradient_descent(1), 1), dict(over="mean"), "over must be"),
    ],
)
def test_what_makes_no_sense_is_refused(asked, about, says):
    with pytest.raises(InvalidInput, match=says):
        program.worst_case(*asked, **about)


def test_what_nothing_bounds_is_not_claimed():
    with pytest.raises(NotExact, match="no worst case is claimed"):
        program.worst_case(program.fedavg(2, 2, TENTH), 1)  # no bound on how clients differ


def test_without_the_solver_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(FedtheoryError, match=r"fedtheory\[pep\]"):
        program.worst_case(program.gradient_descent(1), 1)


def test_a_solver_that_almost_solved_it_is_not_believed(monkeypatch):
    import clarabel

    solver = clarabel.DefaultSolver

    class Almost:
        def __init__(self, *problem):
            self.answer = solver(*problem).solve()

        def solve(self):
            return self

        status = "AlmostSolved"
        x, z = property(lambda self: self.answer.x), property(lambda self: self.answer.z)

    monkeypatch.setattr(clarabel, "DefaultSolver", Almost)
    with pytest.raises(NotExact, match="AlmostSolved"):
        program.worst_case(program.gradient_descent(1), 1)


def test_a_solver_that_lies_proves_nothing(monkeypatch):
    solved = solver.Program.solved

    def lies(self, cost, *args, **more):
        status, multipliers, values, grams = solved(self, cost, *args, **more)
        return status, multipliers * 0.9, values, grams

    monkeypatch.setattr(solver.Program, "solved", lies)
    with pytest.raises(NotExact, match="no multipliers"):
        program.worst_case(program.fedavg(2, 2, TENTH), 1, optimum=SPREAD)


def test_a_convex_function_is_not_said_to_turn_down_again():
    """Where F need not attain its infimum, a point with gradient 0 is 1 above it in a class that is not
    convex, by a dip elsewhere; in a convex one it is the infimum."""
    about = dict(measure="loss", start={"loss": 1}, minimiser=False)
    found = program.worst_case(program.gradient_descent(1), 0, mu=0, **about)
    assert found.bound == 1 and found.least is None
    flat = dict(least="1", gram=[["0"]], values=["1"])
    with pytest.raises(Refused, match="suffice"):
        check_worst_case.check(dict(found.certificate, instance=flat))
    curved = dict(found.certificate["functions"], **{"1": ["-1", "1", "1"]})
    document = dict(found.certificate, functions=curved, instance=flat)
    assert check_worst_case.check(document) == (1, 1)
    with pytest.raises(InvalidInput, match="minimiser"):
        program.worst_case(program.gradient_descent(1), 0, mu=-1, **dict(about, minimiser=True))
