"""Numbers at which a line about numbers alone may fail: counts one after the other, and roots."""

from fractions import Fraction as Q

import pytest
from sympy import Abs, Eq, Gt, Max, Piecewise, Rational, Symbol, sqrt

from fedtheory.arithmetic.operations import Interval
from fedtheory.language.claim import Claim
from fedtheory.language.symbol import Table
from fedtheory.models import by_name
from fedtheory.search import roots
from fedtheory.search.objective import Target

TABLE = Table("numbers of mine")
n, m = TABLE.count("n", "n", "a count"), TABLE.count("m", "m", "another")
x = TABLE.real("x", "x", "a number")
t = Symbol("t")


def target(left, relation, right, *assumes):
    claim = Claim(
        id="mine.line",
        cites="made up",
        symbols=TABLE,
        measures=left,
        relation=relation,
        bound=right,
        assumes=assumes,
    )
    return Target(claim, by_name("numbers"))


def values(expr):
    return [each for each in roots.real_zeros(expr, t) if not isinstance(each, Interval)]


def test_zeros_are_fractions_where_they_can_be():
    assert sorted(values((t - Rational(7, 3)) * (3 * t + 5))) == [Q(-5, 3), Q(7, 3)]
    assert values((sqrt(t) - 2) * (sqrt(t) + 3)) == [4]
    found = list(roots.real_zeros(t**2 - 2, t))
    assert all(isinstance(each, Interval) for each in found) and len(found) == 2
    assert any(each.low > 0 and each.low**2 <= 2 <= each.high**2 for each in found)
    assert values(t**2 + 1) == []


def test_one_number_lies_between_two_zeros_and_beyond_the_outermost():
    found = list(roots.rational_between({Q(1), Q(3, 2), Q(3, 2) + Q(1, 1000)}))
    assert any(1 < each < Q(3, 2) for each in found)
    assert any(Q(3, 2) < each < Q(3, 2) + Q(1, 1000) for each in found)
    assert min(found) < 1 and max(found) > 2
    assert list(roots.rational_between(set())) == []


@pytest.mark.parametrize("at", [(7,), (100,)])
def test_counts_to_a_hundred_are_enumerated(at):
    (k,) = at
    found = list(roots.count_points(target((n - k) ** 2, ">=", 1), [0, 0]))
    assert [point.hunt.numbers["n"] for point in found] == [k]


def test_two_counts_are_enumerated_together():
    found = roots.count_points(target((n - 17) ** 2 + (m - 23) ** 2, ">", 0), [0, 0])
    assert {**next(found).hunt.numbers} == {"n": 17, "m": 23}
    assert list(roots.count_points(target((n - 17) ** 2, ">", 0, Gt(n, 17)), [0, 0])) == []


@pytest.mark.parametrize(
    "left, at",
    [
        ((x - Rational(7, 3)) ** 2, Q(7, 3)),
        (Max(x - 3, 3 - x), 3),
        (Abs(x - Rational(22, 7)), Q(22, 7)),
        (Piecewise((0, Eq(x, Rational(3, 7))), (1, True)), Q(3, 7)),
    ],
)
def test_kinks_and_critical_points_are_asked(left, at):
    found = roots.root_points(target(left, ">", 0), [0, 0], 60)
    assert any(point.numbers["x"] == at and point.breaks() for point in found)


def test_what_no_document_can_say_is_a_doubt():
    """x^2 = 2 has no fraction; a square in a denominator is infinite at one count; 0/0 is none, and a
    hypothesis may leave either out."""
    doubts = lambda q: [
        why
        for point in roots.points_at_roots(q, 0, 1.0)
        if not point_is_fraction(point) or point.breaks() is None
        for why in [roots.explain_doubt(point)]
        if why
    ]
    assert any("no fraction" in why for why in doubts(target((x**2 - 2) ** 2, ">", 0)))
    assert not doubts(target((x**2 - 2) ** 2, ">", 0, Gt(x, 2)))
    assert any("infinite" in why for why in doubts(target(1 / (n - 5) ** 2, "<=", 1)))
    assert not doubts(target(1 / (n - 5) ** 2, "<=", 1, Gt(n, 5)))
    assert not doubts(target(x, "<=", (x**2 + x) / (x + 1)))
    assert any(
        "divides by 0" in why for why in doubts(target(x, "<=", (x**2 + 2) / (x + 1) + x**2))
    )


def point_is_fraction(point):
    return not any(isinstance(each, Interval) for each in point.numbers.values())
