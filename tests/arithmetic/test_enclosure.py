"""Enclosures against numbers worked out otherwise, and the fast path against enclosures."""

import itertools
import math
import operator
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
import sympy
from sympy import Max, Min, Piecewise, Rational, exp, log, sqrt

from fedtheory import arithmetic
from fedtheory.arithmetic import Undefined, arrays, decide_relation, enclose_value, exact_number
from fedtheory.arithmetic.intervals import FAR, Enclosures
from fedtheory.arithmetic.work import SQUARE_BITS, Counted, add_counted, limit_work, product
from fedtheory.errors import InvalidInput

a, b = sympy.symbols("a b", nonnegative=True)
x = sympy.Symbol("x", real=True)
k = sympy.Symbol("k", integer=True, positive=True)


def at(expr, **values):
    return enclose_value(expr, {name: exact_number(name, value) for name, value in values.items()})


def test_rational_formulas_are_exact():
    assert at((a + b) ** 3 / (1 + a) - Rational(1, 7), a="0.1", b=Fraction(1, 3)).exact == Fraction(
        13, 30
    ) ** 3 / Fraction(11, 10) - Fraction(1, 7)


def test_a_sum_that_cancels_keeps_its_digits():
    geometric = (1 - (1 - a) ** k) / a  # = 1 + (1 - a) + ... + (1 - a)^(k - 1)
    tiny = Fraction(1, 10**12)
    assert at(geometric, a=tiny, k=5).exact == sum((1 - tiny) ** j for j in range(5))
    fast = arrays.sweep_expression(geometric, dict(a=np.array([1e-12, 0.5]), k=5))
    assert fast == pytest.approx([5.0 - 1e-11, 1.9375], rel=1e-12)
    naive = (1 - (1 - 1e-12) ** 5) / 1e-12
    assert abs(naive - 5) > 1e-5  # what floats alone would say


def test_irrational_values_are_enclosed():
    getcontext().prec = 50
    for expr, truth in (
        (sqrt(a), Decimal(2).sqrt()),
        (exp(-a), Decimal(-2).exp()),
        (log(a), Decimal(2).ln()),
        (a ** Rational(3, 2), Decimal(8).sqrt()),
        (a**a, Decimal(4)),
        (exp(a) - exp(-a), Decimal(2).exp() - Decimal(-2).exp()),
    ):
        got = at(expr, a=2)
        assert Fraction(got.lower) <= Fraction(truth) + Fraction(1, 10**45)
        assert Fraction(truth) - Fraction(1, 10**45) <= Fraction(got.upper)
        assert got.upper - got.lower <= abs(got.upper) * 2**-59
        assert (
            Fraction(float(got)) >= got.upper and math.nextafter(float(got), -math.inf) < got.upper
        )


def test_perfect_roots_stay_exact():
    assert at(sqrt(a), a=Fraction(9, 4)).exact == Fraction(3, 2)
    assert at(a ** Rational(-1, 3), a=Fraction(8, 27)).exact == Fraction(3, 2)


def test_the_float_is_above_and_the_lower_float_below():
    third = at(x / 3, x=1)
    assert Fraction(float(third)) > Fraction(1, 3) == third.exact
    below = enclose_value(x / 3, dict(x=Fraction(1)), up=False)
    assert Fraction(float(below)) < Fraction(1, 3) and math.nextafter(float(below), 1) == float(
        third
    )


def test_huge_powers_do_not_hang():
    got = at((1 - a) ** k, a=0.001, k=10**7)
    assert 0 < float(got) <= 5e-324 and got.exact is None
    assert float(at((1 + a) ** k, a=0.001, k=10**7)) == math.inf


def test_one_over_zero_is_infinite_only_where_the_sign_is_known():
    assert float(at(Min(1 / a, b), a=0, b=2)) == 2
    assert arrays.sweep_expression(
        Min(1 / a, b), dict(a=np.array([0.0, 4.0]), b=2.0)
    ) == pytest.approx([2.0, 0.25])
    for expr in (1 / x, x / x**2, log(x), sqrt(x - 1)):
        with pytest.raises(Undefined):
            at(expr, x=0)
    with pytest.raises(Undefined):
        at(b / a - 1 / a, a=0, b=1)


def test_cases_and_extremes():
    step = Piecewise((0, sympy.Eq(k, 1)), (1 / (k - 1), True))
    assert at(step, k=1).exact == 0 and at(step, k=3).exact == Fraction(1, 2)
    assert arrays.sweep_expression(step, dict(k=np.array([1, 3]))) == pytest.approx([0, 0.5])
    assert at(Max(a**2, b, sympy.Abs(x)), a=1, b=Fraction(1, 2), x=-3).exact == 3
    assert at(sympy.floor(x) + sympy.ceiling(x), x=Fraction(-1, 2)).exact == -1


def test_relations_are_decided_at_the_last_bit():
    values = dict(a=Fraction(2), b=Fraction(math.isqrt(2 * 10**80), 10**40))
    assert (
        decide_relation(sqrt(a) > b, values) is True
        and decide_relation(sqrt(a) <= b, values) is False
    )
    assert decide_relation(a <= b, dict(a=Fraction(1, 3), b=Fraction(1, 3))) is True
    assert decide_relation(a < b, dict(a=Fraction(1, 3), b=Fraction(1, 3))) is False


def test_other_functions_are_refused_by_name():
    with pytest.raises(InvalidInput, match="sin"):
        arithmetic.compile_expression(sympy.sin(a))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "1e9999", "os", None, 1j, [1]])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(InvalidInput, match="sigma must be a"):
        exact_number("sigma", value)


def test_the_fast_path_agrees_with_enclosures():
    expr = (
        Max(4 * a**3, 2 / (b + 1) ** 2 - a) * (1 - (1 - a / 10**8) ** k) / a
        - exp(-b) * sqrt(a)
        + log(1 + a) / (1 + b)
    )
    generator = np.random.default_rng(0)
    points = dict(
        a=10 ** generator.uniform(-6, 2, 200),
        b=10 ** generator.uniform(-6, 2, 200),
        k=generator.integers(1, 9, 200),
    )
    fast = arrays.sweep_expression(expr, points)
    for n in range(200):
        exact = at(expr, a=points["a"][n], b=points["b"][n], k=int(points["k"][n]))
        assert fast[n] == pytest.approx(float(exact), rel=1.1e-12)


def test_products_of_intervals_are_the_extremes_of_all_four():
    ends = [Fraction(n, 7) for n in range(-3, 4)]
    pairs = [(low, high) for low in ends for high in ends if low <= high]
    rules = Enclosures(100)
    for a in pairs:
        for b in pairs:
            every = [x * y for x in a for y in b]
            assert rules.mul(a, b) == (min(every), max(every))


@pytest.mark.parametrize("size", [1, 50, 99, 100, 101, 250, 19_990, 20_010])
@pytest.mark.parametrize(
    "base, power", [(1, 1), (3, 1), (2, 90), (3, 70), (2, 19_990), (3, 12_700)]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_an_end_is_rounded_outward_to_so_many_bits(size, base, power, sign):
    value, rules = sign * Fraction(3**size + 2, base**power), Enclosures(100)
    low, high = rules.round(value, -1), rules.round(value, 1)
    assert low <= value <= high
    if abs(value) <= FAR and 1 / abs(value) <= FAR:
        assert high - low <= abs(value) / 2**98
        for end in (low, high):
            assert math.gcd(end.numerator, end.denominator) == 1 and end.denominator > 0
    else:
        assert {abs(low), abs(high)} in ({FAR, math.inf}, {Fraction(0), 1 / FAR})
    if value.numerator.bit_length() + value.denominator.bit_length() <= 200:
        assert low == value == high


def test_values_without_errors_are_those_with_them():
    steps = arithmetic.compile_expression(
        Max(a**3, 2 / (b - 1) ** 2, a**7) * (1 - a / 10) ** k
        + Min(a, b) * exp(-b) * sqrt(a)
        + Piecewise((log(b), (a <= b) & (b > 0)), (sympy.floor(a), sympy.Ne(a, 3)), (5, True))
        + abs(a - b) ** Rational(3, 2)
        + sympy.ceiling(b) * a ** Rational(-1, 3)
    )
    generator = np.random.default_rng(0)
    points = dict(
        a=np.append(10 ** generator.uniform(-6, 2, 200), [0.0, 3.0, 1.0]),
        b=np.append(generator.standard_normal(200), [0.0, 2.0, 1.0]),
        k=generator.integers(1, 9, 203),
    )
    with np.errstate(all="ignore"):
        alone = arithmetic.execute_program(steps, arrays.VALUES, points)
        pairs = {name: (value, 0.0) for name, value in points.items()}
        np.testing.assert_array_equal(
            alone, arithmetic.execute_program(steps, arrays.Arrays(), pairs)[0]
        )
    assert np.isnan(alone).any() and np.isfinite(alone).any()


def test_the_fast_path_is_right_beyond_the_range_of_floats():
    small = np.full(100, 1e-120)
    small[7] = 1e-3
    found = arrays.sweep_expression(a**3 / b**3, dict(a=small, b=small * 2))
    assert found == pytest.approx(np.full(100, 0.125), rel=1e-12)  # a^3 alone is below every float
    assert arrays.sweep_expression(
        a**3 / b**2, dict(a=np.array([1e200]), b=np.array([1e250]))
    ) == pytest.approx([1e100])
    assert arrays.sweep_expression(a / b, dict(a=np.array([1.0]), b=np.array([0.0])))[0] == math.inf


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_what_is_no_number_has_no_exact_ends(value):
    from fedtheory.arithmetic.operations import ends_of, root

    for ask in (ends_of, root):
        with pytest.raises(Undefined, match="infinite"):
            ask(value)


def test_formulas_bound_together_are_each_of_them_alone():
    some = (
        a**2 / (a + b) + Rational(1, 3),
        sqrt(b) * (a + b) - Max(a, b) ** 3,
        sympy.Le(a, b),
        Rational(2, 7) ** 2,
        b,
    )
    points = dict(a=np.linspace(0.1, 3, 7), b=np.linspace(2, 0.5, 7))
    found = arithmetic.bind_program(some, arrays.VALUES)(points)
    for expr, value in zip(some, found):
        alone = arithmetic.execute_program(
            arithmetic.compile_expression(expr), arrays.VALUES, points
        )
        np.testing.assert_array_equal(value, alone)


NUMBERS = [Fraction(0), Fraction(-7, 3), Fraction(5, 6), Fraction(10**40 + 1, 10**39), 1, 0, -4]


@pytest.mark.parametrize("way", ["add", "sub", "mul", "truediv", "lt", "le", "gt", "ge", "eq"])
def test_counted_numbers_are_fractions_that_pay(way):
    does = getattr(operator, way)
    for x, y in itertools.product(NUMBERS, NUMBERS):
        for one, other in ((Counted(x), y), (x, Counted(y)), (Counted(x), Counted(y))):
            if way == "truediv" and y == 0:
                with pytest.raises(ZeroDivisionError):
                    does(one, other)
                continue
            found = does(one, other)
            assert found == does(Fraction(x), Fraction(y))
            if way in ("add", "sub", "mul", "truediv"):
                assert type(found) is Counted and math.gcd(found.numerator, found.denominator) == 1
                assert found.denominator > 0
                with limit_work(10) as left:
                    does(one, other)
                assert left[0] == 9


def test_a_product_of_long_numbers_is_paid_by_its_length():
    long = Counted(2**20_000)
    with limit_work(10_000) as left:
        long * long
    assert left[0] == 10_000 - 1 - 20_002**2 // SQUARE_BITS


def test_sums_and_products_of_plain_fractions_are_those_of_fractions():
    for x, y in itertools.product(map(Fraction, NUMBERS), map(Fraction, NUMBERS)):
        assert (add_counted(x, y), product(x, y)) == (x + y, x * y)
        for found in (add_counted(x, y), product(x, y)):
            assert math.gcd(found.numerator, found.denominator) == 1 and found.denominator > 0
