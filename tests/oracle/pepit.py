"""Worst cases against PEPit (Goujaud et al. 2022), which poses and solves the same programs on its
own.

PEPit is large, so this is not among the tests that run by themselves:

    pip install -e .[oracle] && python -m pytest tests/oracle/pepit.py
"""

from itertools import islice

import pytest
from PEPit import PEP
from PEPit.functions import SmoothFunction, SmoothStronglyConvexFunction

from fedtheory.proofs.worstcase import program

SPREAD = {"sq_dissimilarity": 1}
NEAR = {"sq_dissimilarity": 1, "sq_xi": 0.25}
CASES = {
    **{
        f"descent, {n} steps of {eta}": (program.gradient_descent(eta), n, {})
        for n, eta in ((1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (2, 1.5), (4, 1.7))
    },
    "descent, strongly convex": (program.gradient_descent(1.5), 2, dict(mu=0.125)),
    "descent, gradient": (program.gradient_descent(1), 2, dict(measure="sq_grad_norm")),
    "descent, L = 4": (program.gradient_descent(0.25), 2, dict(L=4, start={"sq_distance": 0.25})),
    "momentum": (program.momentum(0.5, 0.5), 3, {}),
    "Nesterov": (program.nesterov(1), 3, {}),
    **{
        f"FedAvg {N} {K} {R}": (program.fedavg(N, K, 0.1), R, dict(optimum=SPREAD))
        for N, K, R in (
            (2, 1, 1),
            (2, 2, 1),
            (2, 3, 1),
            (2, 2, 2),
            (2, 3, 2),
            (3, 2, 1),
            (4, 2, 1),
            (5, 3, 1),
        )
    },
    "FedAvg, large steps": (
        program.fedavg(2, 3, 0.75, 1.25),
        1,
        dict(optimum={"sq_dissimilarity": 2}),
    ),
    "FedAvg, strongly convex": (
        program.fedavg(2, 2, 0.5),
        1,
        dict(mu=0.125, optimum=SPREAD, measure="sq_distance"),
    ),
    "FedAvg, spread where visited": (program.fedavg(2, 2, 0.25), 2, dict(visited=SPREAD)),
    "FSL": (program.fsl(2, 2, 1, 0.125, 0.25, 0.5), 1, dict(visited=NEAR)),
    "FSL, two rounds": (program.fsl(2, 2, 2, 0.125, 0.125, 0.5), 2, dict(visited=NEAR)),
    "1-way transfer": (
        program.one_way_gt(2, 2, 0.125),
        1,
        dict(weights={0: 1, 1: 0.5, 2: 0.5}, optimum=SPREAD),
    ),
    "SCAFFOLD": (program.scaffold(2, 2, 0.125), 2, dict(optimum=SPREAD)),
    "not convex": (
        program.gradient_descent(1),
        2,
        dict(mu=-1, measure="sq_grad_norm", over="least"),
    ),
}


def asked_of_pepit(
    method,
    rounds,
    L=1,
    mu=0,
    weights=None,
    start=None,
    optimum=None,
    visited=None,
    measure="loss",
    over="last",
):
    problem, functions = PEP(), {}
    kind = SmoothFunction if mu < 0 else SmoothStronglyConvexFunction
    curvature = dict(L=L) if mu < 0 else dict(L=L, mu=mu)

    def f(i):
        if i not in functions:
            functions[i] = problem.declare_function(kind, **curvature)
        return functions[i]

    x_0 = problem.set_initial_point()
    points = list(islice(method(x_0, lambda i, x: f(i).gradient(x)), rounds + 1))
    clients = [i for i in sorted(functions) if i]
    F = sum(
        (
            w * f(i)
            for i, w in (weights or {i: 1 / len(clients) for i in clients}).items()
            if i != clients[0]
        ),
        (weights or {}).get(clients[0], 1 / len(clients)) * f(clients[0]),
    )
    x_star = F.stationary_point() if mu >= 0 else None
    lowest = F(x_star) if mu >= 0 else 0

    def quantity(name, x):
        if name == "loss":
            return F(x) - lowest
        if name == "sq_grad_norm":
            return F.gradient(x) ** 2
        if name == "sq_distance":
            return (x - x_star) ** 2
        g = {i: f(i).gradient(x) for i in functions}
        centre = sum((g[i] for i in clients[1:]), g[clients[0]]) / len(clients)
        if name == "sq_xi":
            return (g[0] - centre) ** 2
        first, *rest = [(g[i] - centre) ** 2 for i in clients]
        return sum(rest, first) / len(clients)

    if mu < 0:  # F >= 0 wherever one gradient step leads
        for x in points:
            problem.add_constraint(F(x) - F.gradient(x) ** 2 / (2 * L) >= 0)
    for name, bound in (start or ({"sq_distance": 1} if mu >= 0 else {"loss": 1})).items():
        problem.set_initial_condition(quantity(name, x_0) <= bound)
    for bounds, places in ((optimum, [x_star]), (visited, [x_star, *points])):
        for name, bound in (bounds or {}).items():
            for x in places:
                problem.add_constraint(quantity(name, x) <= bound)
    for x in points if over == "least" else points[-1:]:
        problem.set_performance_metric(quantity(measure, x))
    return problem.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0)


@pytest.mark.parametrize("case", CASES)
def test_pepit_says_the_same(case):
    method, rounds, about = CASES[case]
    worst, theirs = (
        program.worst_case(method, rounds, **about),
        asked_of_pepit(method, rounds, **about),
    )
    assert worst.value == pytest.approx(theirs, rel=1e-5)


def test_pepit_says_something_else_to_another_question():
    theirs = asked_of_pepit(program.fedavg(2, 2, 0.101), 1, optimum=SPREAD)
    assert program.worst_case(program.fedavg(2, 2, 0.1), 1, optimum=SPREAD).value != pytest.approx(
        theirs, rel=1e-4
    )
