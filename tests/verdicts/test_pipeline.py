"""A corpus of statements, each with the reason why it is true or false: what `check` may say of
them."""

import pytest
from sympy import Abs, Eq, Ge, Gt, Le, Max, Rational, sqrt

import fedtheory as ft
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import (
    BOUNDED_BELOW,
    CONVEX,
    EXACT_GRADIENTS,
    LIPSCHITZ,
    STRONGLY_CONVEX,
)
from fedtheory.language.symbol import Table
from fedtheory.symbols import run
from fedtheory.symbols.run import (
    L,
    N,
    S,
    T,
    best_sq_grad,
    eta,
    gap_0,
    gap_T,
    gap_x,
    mu,
    sq_distance_0,
    sq_grad_T,
    sq_grad_x,
)
from fedtheory.verdicts import worst_case_bounds

TABLE = Table("mine")
n, m = TABLE.count("n", "n", "a count"), TABLE.count("m", "m", "another")
x, z = TABLE.real("x", "x", "a number"), TABLE.real("z", "z", "another")
DESCENT = (EXACT_GRADIENTS, Eq(S, N), LIPSCHITZ)
CONVEX_DESCENT = (*DESCENT, CONVEX)
PRODUCT = (Eq(T, 3), Eq((L - 1) * (eta * L - 1), 0), Le(eta * L, 1))
UNIT = Eq(eta * L, 1)


def stated(left, relation, right, *assumes, on=TABLE, by=None):
    return Claim(
        id="mine.stated",
        cites="made up",
        symbols=on,
        measures=left,
        relation=relation,
        bound=right,
        assumes=assumes,
        algorithm=by,
    )


def descent(left, right, *assumes):
    return stated(left, "<=", right, *assumes, on=run.TABLE, by="fedsgd")


FALSE = {  # with where it fails
    "a factor vanishes at L = 1, so eta is free": descent(
        gap_T, L * sq_distance_0 / 10, *CONVEX_DESCENT, *PRODUCT
    ),
    "a factor vanishes at n = 1, so z is free": stated(z, "<=", 1, Eq((n - 1) * z, n - 1)),
    "slope and rest vanish at n = m = 1": stated(z, "<=", 1, Eq((n - 1) * z, m - 1), Le(m, n)),
    "x is free where z = 0": stated(x, "<=", 1, Eq(x * z, z)),
    "L = 1 loses nothing: one step on a parabola of curvature 1/4": descent(
        gap_T, L * sq_distance_0 / 20, *CONVEX_DESCENT, Eq(T, 1), Eq(L, 1), UNIT
    ),
    "n = 7": stated((n - 7) ** 2, ">=", 1),
    "n = 7, between two roots": stated((n - 6) * (n - 8), ">=", 0),
    "n = 9": stated(Abs(n - 9), ">=", 1),
    "n = 17 with m = 23": stated((n - 17) ** 2 + (m - 23) ** 2, ">", 0),
    "x = 7/3": stated((x - Rational(7, 3)) ** 2, ">", 0),
    "x = 3": stated(Max(x - 3, 3 - x), ">", 0),
    "x between 7/3 and 7/3 + 1/1000": stated(
        (x - Rational(7, 3)) * (x - Rational(2336, 1000)), ">=", 0
    ),
    "one Huber loss": descent(
        sq_grad_T, L**2 * sq_distance_0 / (2 * T**2), *CONVEX_DESCENT, UNIT, Ge(T, 20)
    ),
    "another Huber loss": descent(
        gap_T, L * sq_distance_0 / (6 * T), *CONVEX_DESCENT, UNIT, Ge(T, 20)
    ),
    "a derivative that dips between iterates": descent(
        best_sq_grad,
        Rational(115, 100) * L * gap_0 / (T + 1),
        *DESCENT,
        BOUNDED_BELOW,
        UNIT,
        Ge(T, 4),
    ),
    "a parabola, at equality with 2 L": stated(
        sq_grad_x, "<=", Rational(19, 10) * L * gap_x, LIPSCHITZ, BOUNDED_BELOW, on=run.TABLE
    ),
    "curvatures that are small and not 0": descent(
        mu * sq_distance_0, Rational(19, 10) * gap_0, *DESCENT, STRONGLY_CONVEX
    ),
    "0 to the power (T - 1)/2 at mu = L": descent(
        gap_0,
        (1 - mu / L) ** ((T - 1) / 2) * L * sq_distance_0,
        *DESCENT,
        STRONGLY_CONVEX,
        Eq(T, 3),
    ),
    "a root in a step size": descent(
        gap_T, gap_0 / 50, *CONVEX_DESCENT, Eq(eta, 1 / (sqrt(2) * L)), Eq(T, 1)
    ),
}
TRUE = {
    "half a unit away from any count": stated((n - Rational(15, 2)) ** 2, ">=", Rational(1, 4)),
    "0/0 at x = -1 is none": stated(x, "<=", (x**2 + x) / (x + 1)),
    "the hypothesis leaves 7/3 out": stated((x - Rational(7, 3)) ** 2, ">", 0, Gt(x, 3)),
    "no count's square is 2": stated((n**2 - 2) ** 2, ">", 0),
    "both ways to meet the product": stated(x**2, "<=", 1, Eq((x - 1) * (x + 1) * (n + 1), 0)),
    "self-bounding gradients": stated(
        sq_grad_x, "<=", 2 * L * gap_x, LIPSCHITZ, BOUNDED_BELOW, on=run.TABLE
    ),
    "Drori and Teboulle": descent(
        gap_T, L * sq_distance_0 / (4 * T + 2), *CONVEX_DESCENT, UNIT, Ge(T, 20)
    ),
    "a step size with a root": descent(gap_T, gap_0, *CONVEX_DESCENT, Eq(eta, 1 / (sqrt(2) * L))),
    "an identity, at 0/0 too": ft.claim("flex.eq2"),
}
OPEN = {  # with what the sentence has to name
    "n = 5": stated(1 / (n - 5) ** 2, "<=", 1),
    "x = 1.41421356": stated((x**2 - 2) ** 2 * (x + 3) ** 2 + Max(0, -x), ">", 0),
    "mu > L": descent(gap_T, gap_0, *CONVEX_DESCENT, STRONGLY_CONVEX, Gt(mu, L)),
}


@pytest.mark.parametrize("why", FALSE)
def test_what_is_false_is_refuted(why):
    verdict = ft.check(FALSE[why], budget=2)
    assert verdict.status == "violated", verdict.why
    assert ft.replay(verdict.certificate)["status"] == "violated"


@pytest.mark.parametrize("why", TRUE)
def test_what_is_true_is_not_doubted(why):
    verdict = ft.check(TRUE[why], budget=1)
    assert verdict.status in ("holds", "proved"), verdict.why


@pytest.mark.parametrize("named", OPEN)
def test_what_stays_open_is_named(named):
    verdict = ft.check(OPEN[named], budget=0.5)
    assert verdict.status == "undecided" and named in verdict.why


def test_no_program_proves_what_a_vanishing_factor_makes_false():
    claim = FALSE["a factor vanishes at L = 1, so eta is free"]
    assert (
        eta not in worst_case_bounds.solve_fixed(claim)
        and worst_case_bounds.prove_worst_case(claim, 0) is None
    )
    assert (
        worst_case_bounds.solve_fixed(claim.replace(name="plain", assumptions=[Eq(eta * L, 1)]))[
            eta
        ]
        == 1 / L
    )


def test_a_document_of_one_way_to_meet_an_equation_is_about_its_claim():
    from fedtheory.search import counterexample

    claim = FALSE["a factor vanishes at n = 1, so z is free"]
    written = ft.check(claim, budget=1).certificate
    assert counterexample.speaks_of(written, claim)
    other = claim.replace(name="other", assumptions=[Eq((n - 2) * z, n - 2)])
    assert not counterexample.speaks_of({**written, "claim": other.id}, other)
