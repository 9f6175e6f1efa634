"""Which lines a worst-case program decides, against closed forms from the literature; and of which it
must not speak."""

from fractions import Fraction as Q

import pytest
from sympy import Eq, Rational, sqrt

import fedtheory as ft
from fedtheory.language.conditions import (
    BOUNDED_BELOW,
    CONVEX,
    EXACT_GRADIENTS,
    LIPSCHITZ,
    NOISE,
    SAMPLED_BY_WEIGHT,
    SMOOTH,
)
from fedtheory.symbols.run import (
    L,
    N,
    S,
    T,
    best_sq_grad,
    eta,
    gap_0,
    gap_T,
    loss_0,
    loss_T,
    mu,
    sq_distance_0,
    sq_grad_T,
)
from fedtheory.verdicts import worst_case_bounds
from tests.checker.known_statements import TRUE

pytest.importorskip("clarabel")
half = Rational(1, 2)
WHOLE = (EXACT_GRADIENTS, Eq(S, N))
THREE = (*WHOLE, Eq(T, 3), Eq(eta * L, 1))


def stated(name, *more, **changes):
    claim = TRUE[name]
    return claim.replace(name="house.x", assumptions=[*claim.assumptions, *more], **changes)


def of(*assumed, left=gap_T, right=L * sq_distance_0):
    return TRUE["gd_rate"].replace(
        name="house.x", measures=left, bound=right, assumptions=list(assumed)
    )


@pytest.mark.parametrize(
    "name, more",
    [
        ("gd_rate", (Eq(T, 1),)),
        ("gd_rate", (Eq(T, 5),)),
        ("gd_short", (Eq(T, 3), Eq(eta * L, half))),
        ("gd_gradient", (Eq(T, 3),)),
        ("gd_contraction", (Eq(T, 2), Eq(eta * L, half), Eq(mu, L / 10))),
        ("gd_contraction", (Eq(T, 2), Eq(eta * L, Rational(19, 10)), Eq(10 * mu, L))),
        ("gd_monotone", (Eq(eta * L, Rational(3, 2)), BOUNDED_BELOW)),
        ("gradient_below_gap", ()),
    ],
)
def test_closed_forms_of_worst_cases_are_reached_and_not_exceeded(name, more):
    """What theorems of Drori and Teboulle, Polyak, and others say is the worst case of these."""
    question, number = worst_case_bounds.parse_question(stated(name, *more), 0)
    bound, _ = worst_case_bounds.solve_question(question)
    assert abs(bound - Q(int(number.p), int(number.q))) < Q(1, 10**7)


def test_units_do_not_matter():
    """A step of 1/L however it is said, and numbers of rounds that follow from others."""
    plain = of(SMOOTH, CONVEX, *THREE)
    other = of(SMOOTH, CONVEX, *WHOLE, Eq(N, 6), Eq(2 * T, N), Eq(eta, 1 / L))
    assert worst_case_bounds.parse_question(plain, 0) == worst_case_bounds.parse_question(other, 0)


FREE = {
    "rounds left open": of(SMOOTH, CONVEX, *WHOLE, Eq(eta * L, 1)),
    "a range of steps": of(SMOOTH, CONVEX, *WHOLE, Eq(T, 3), eta * L <= 1),
    "a step in no units": of(SMOOTH, CONVEX, *WHOLE, Eq(T, 3), Eq(eta, 1)),
    "noise": of(SMOOTH, CONVEX, NOISE, Eq(S, N), Eq(T, 3), Eq(eta * L, 1)),
    "some clients": of(SMOOTH, CONVEX, EXACT_GRADIENTS, Eq(T, 3), Eq(eta * L, 1)),
    "clients drawn by weight": of(SMOOTH, CONVEX, SAMPLED_BY_WEIGHT, *THREE),
    "curvature that nothing bounds below": of(
        SMOOTH, BOUNDED_BELOW, *THREE, left=best_sq_grad, right=4 * L * gap_0
    ),
    "no smoothness": of(CONVEX, *THREE),
    "no infimum": of(LIPSCHITZ, *THREE, left=best_sq_grad, right=4 * L * gap_0),
    "other units": of(SMOOTH, CONVEX, *THREE, right=L**2 * sq_distance_0),
    "a root": of(SMOOTH, CONVEX, *THREE, right=L * sqrt(sq_distance_0)),
    "two measures": of(SMOOTH, CONVEX, *THREE, right=L * sq_distance_0 + gap_0),
    "a loss counted from nowhere": of(SMOOTH, CONVEX, *THREE, left=loss_T, right=loss_0),
    "the other way round": of(SMOOTH, CONVEX, *THREE, left=-gap_T, right=L * sq_distance_0),
    "another method": of(SMOOTH, CONVEX, *THREE).replace(name="house.y", algorithm="scaffold"),
    "an infimum that may not be there": stated("gd_monotone", Eq(eta * L, 1)),
    "many rounds": of(SMOOTH, CONVEX, *WHOLE, Eq(T, 1000), Eq(eta * L, 1)),
}


@pytest.mark.parametrize("what", FREE)
def test_what_no_program_says_is_not_asked_of_one(what):
    assert worst_case_bounds.parse_question(FREE[what], 0) is None


def test_convex_losses_need_no_minimiser():
    """Losses such as log(1 + e^x) attain no infimum; 2 L gap/(2 T + 1) is known of the last gradient."""
    claim = of(SMOOTH, CONVEX, BOUNDED_BELOW, *THREE, left=sq_grad_T, right=2 * L * gap_0)
    question, _ = worst_case_bounds.parse_question(claim, 0)
    assert not question.minimiser and question.low == 0
    assert abs(worst_case_bounds.solve_question(question)[0] - Q(2, 7)) < Q(1, 10**7)


def test_a_constant_is_needed_between_what_is_refuted_and_the_worst_case():
    """2 L D/(T + 4), for T = 3: the truth is L D/14, so 49/100 to 1/2 of it."""
    claim = stated("gd_rate", Eq(T, 3), bound=2 * L * sq_distance_0 / (T + 4))
    (part,) = ft.sharpen(claim, budget=1, only=lambda part: part.kind == "constant").parts
    assert Q(49, 100) < part.refuted < Q(1, 2) <= part.proved < Q(51, 100)
    assert ft.replay(part.certificate)["status"] == "violated"
    found = ft.replay(part.document)
    assert found["status"] == "proved" and found["bound"] <= part.proved * Q(2, 7)


def test_proposition_D6_needs_its_4():
    (part,) = ft.sharpen("mixed.propD6", budget=0.3, only=lambda p: p.kind == "constant").parts
    assert 3.9 < part.refuted < part.proved == 4 and ft.replay(part.document)["bound"] == 4
