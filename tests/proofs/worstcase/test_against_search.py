"""Theorem >= exact worst case >= searched instance: the adversary against performance
estimation."""

from fractions import Fraction
from functools import cache

import pytest
from sympy import Eq, Rational

from fedtheory.language.conditions import CONVEX, EXACT_GRADIENTS, SMOOTH
from fedtheory.proofs.worstcase import program
from fedtheory.symbols.run import (
    K,
    L,
    N,
    R,
    S,
    T,
    eta,
    eta_g,
    eta_l,
    gap_T,
    sq_distance_0,
    sq_distance_T,
    zeta,
)
from fedtheory.verdicts import pipeline
from tests.checker.known_statements import STRONG, house, reach_ratio

TENTH = Fraction(1, 10)
LOCAL = {
    (2, 1): 0.3581133066,
    (3, 1): 0.3155953820,
    (2, 2): 0.2787896149,
    (3, 2): 0.2305284831,
}  # (K, T)


def rational(value):
    return Rational(value.numerator, value.denominator)


@cache
def descent(n):
    """PEP's worst case of n steps of 1/L, L = R = 1, and the claim that it bounds them in any
    units."""
    worst = program.worst_case(program.gradient_descent(1), n)
    claim = lambda share: house(
        f"descent_{n}",
        "PEP",
        gap_T,
        "<=",
        share * rational(worst.bound) * L * R**2,
        Eq(T, n),
        Eq(S, N),
        Eq(eta * L, 1),
        SMOOTH,
        CONVEX,
        EXACT_GRADIENTS,
        by="fedsgd",
    )
    return worst, claim


@cache
def averaging(steps, rounds):
    """Likewise of FedAvg with two clients, eta_l = 1 / (10 L), and gradients of mean square (L R)^2
    at x*."""
    worst = program.worst_case(
        program.fedavg(2, steps, TENTH), rounds, optimum={"sq_dissimilarity": 1}
    )
    claim = lambda share: house(
        f"averaging_{steps}_{rounds}",
        "PEP",
        gap_T,
        "<=",
        share * rational(worst.bound) * L * R**2,
        Eq(T, rounds),
        Eq(K, steps),
        Eq(N, 2),
        Eq(S, 2),
        Eq(eta_l * L, rational(TENTH)),
        Eq(eta_g, 1),
        zeta <= L * R,
        SMOOTH,
        CONVEX,
        EXACT_GRADIENTS,
        by="fedavg",
    )
    return worst, claim


CASES = {
    **{f"descent, {n} steps": (descent, n) for n in range(1, 6)},
    **{f"averaging, K = {k}, T = {t}": (averaging, k, t) for k, t in LOCAL},
}


@pytest.mark.parametrize("case", CASES)
def test_the_search_comes_within_two_per_cent_and_never_beyond(case):
    make, *sizes = CASES[case]
    worst, claim = make(*sizes)
    assert 0.98 <= reach_ratio(claim(1), 0.98, 10.0) <= 1


@pytest.mark.parametrize("case", CASES)
def test_what_lies_below_the_worst_case_by_three_per_cent_is_refuted(case):
    make, *sizes = CASES[case]
    _, claim = make(*sizes)
    verdict = pipeline.check(claim(Rational(97, 100)), budget=10.0)
    assert verdict.status == "violated", verdict
    shown = pipeline.replay(verdict.certificate)
    assert shown["left"] > shown["right"]


@pytest.mark.parametrize("case", list(CASES)[::4])
def test_the_worst_case_itself_stands(case):
    make, *sizes = CASES[case]
    _, claim = make(*sizes)
    for seed in (1, 2):
        assert pipeline.check(claim(1), budget=0.2, seed=seed).status == "holds"


def test_worst_cases_are_the_known_ones():
    for n in range(1, 6):
        assert abs(descent(n)[0].value - 1 / (4 * n + 2)) <= 1e-9
    for sizes, value in LOCAL.items():
        assert abs(averaging(*sizes)[0].value - value) <= 1e-8


def test_a_contraction_between_the_two_curvatures():
    # mu = L / 10, steps of 1.9 / L: both ends contract by 0.81 a step; the worst case is the
    # larger.
    worst = program.worst_case(
        program.gradient_descent(Fraction(19, 10)), 2, mu=TENTH, measure="sq_distance"
    )
    claim = house(
        "contraction",
        "PEP",
        sq_distance_T,
        "<=",
        rational(worst.bound) * sq_distance_0,
        Eq(T, 2),
        Eq(S, N),
        Eq(eta * L, Rational(19, 10)),
        *STRONG,
        L <= 10 * STRONG[2].lhs,
        EXACT_GRADIENTS,
        by="fedsgd",
    )
    assert 0.98 <= reach_ratio(claim, 0.98, 10.0) <= 1
