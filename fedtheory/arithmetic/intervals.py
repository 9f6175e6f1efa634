"""Interval arithmetic with rational ends and outward rounding."""

import math
import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import sympy

from fedtheory.arithmetic.program import Undefined, Unknown
from fedtheory.arithmetic.work import (
    SQUARE_BITS,
    add_counted,
    bit_length,
    product,
    spend_product,
    spend_work,
)
from fedtheory.typing import Bound, Number

# LIMIT is the bit length beyond which an exact rational is rounded outward; FAR and TINY, powers of
# two, bound the values beyond.
LIMIT = 20_000
INF = math.inf
FAR = Fraction(2) ** LIMIT
TINY = 1 / FAR


# mpmath has one precision and one store of constants, shared by all threads: one thread at a time.
ALONE = threading.Lock()


class Enclosures:
    """Interval arithmetic on pairs (lower, upper) of Fractions; an end may be infinite.

    Ends stay exact until they exceed LIMIT bits. From then on, and at roots, exponentials and
    logarithms, they are rounded outward to `bits` significant bits. An end beyond FAR becomes FAR
    or infinity, and an end nearer to 0 than TINY becomes TINY or 0, always outward: no formula can
    make a number that does not fit in memory.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def keep(self, low: Bound, high: Bound) -> tuple[Bound, Bound]:
        if low is high:  # the value is exact so far
            if isinstance(low, float) or bit_length(low) <= LIMIT:
                return low, low
        return self.round(low, -1), self.round(high, 1)

    def round(self, value: Bound, direction: int) -> Bound:
        if isinstance(value, float) or bit_length(value) <= 2 * self.bits:
            return value
        top, bottom = value.numerator, value.denominator
        shift = self.bits - top.bit_length() + bottom.bit_length()
        if abs(shift - self.bits) >= LIMIT:
            if abs(value) > FAR:
                return (INF if top > 0 else -FAR) if direction > 0 else (FAR if top > 0 else -INF)
            if abs(value) < TINY:
                return (
                    (TINY if top > 0 else Fraction(0))
                    if direction > 0
                    else (Fraction(0) if top > 0 else -TINY)
                )
        top, bottom = (top << shift, bottom) if shift > 0 else (top, bottom << -shift)
        return _dyadic_fraction(top // bottom if direction < 0 else -(-top // bottom), shift)

    def number(self, value: Fraction) -> tuple[Bound, Bound]:
        return value, value

    def truth(self, value: bool) -> bool:
        return value

    def add(self, *terms: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        found = terms[0]
        for term in terms[1:]:
            low = _add_ends(found[0], term[0])
            high = (
                low if found[0] is found[1] and term[0] is term[1] else _add_ends(found[1], term[1])
            )
            found = (
                self.keep(low, high)
                if max(_bit_length(low), _bit_length(high)) > LIMIT
                else (low, high)
            )
        return self.keep(*found)

    def mul(self, *factors: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        found = factors[0]
        for factor in factors[1:]:
            if found[0] is found[1] and factor[0] is factor[1]:
                end = _multiply_ends(found[0], factor[0])
                found = self.keep(end, end)
            else:
                found = self.keep(*_extreme_products(found, factor))
        return found

    def power(
        self, base: tuple[Bound, Bound], detail: tuple[Fraction, bool]
    ) -> tuple[Bound, Bound]:
        exponent, nonnegative = detail
        if exponent.denominator == 1:
            return self._whole(base, exponent.numerator, nonnegative)
        raised = self._whole(base, abs(exponent.numerator), nonnegative)
        if raised[0] < 0:
            told = Undefined if raised[1] < 0 or raised[0] == raised[1] else Unknown
            raise told("the root of a negative number")
        low, high = self._root(raised[0], exponent.denominator)
        if raised[0] is not raised[1]:
            high = self._root(raised[1], exponent.denominator)[1]
        return (low, high) if exponent > 0 else self._inverse((low, high), True)

    def integer_power(
        self, base: tuple[Bound, Bound], exponent: tuple[Number, Number], nonnegative: bool
    ) -> tuple[Bound, Bound]:
        if exponent[0] != exponent[1] or exponent[0].denominator != 1:
            told = Undefined if exponent[0] == exponent[1] else Unknown
            raise told("an exponent that is not a known integer")
        return self._whole(base, exponent[0].numerator, nonnegative)

    def _whole(self, base: tuple[Bound, Bound], n: int, nonnegative: bool) -> tuple[Bound, Bound]:
        if n < 0:
            return self._inverse(self._whole(base, -n, nonnegative), nonnegative or n % 2 == 0)
        if n % 2 == 0 and base[0] < 0:  # an even power: work with the absolute value
            low, high = base
            one = low is high
            low, high = (-high, -low) if high <= 0 else (Fraction(0), max(-low, high))
            base = (low, low) if one else (low, high)
        result: tuple[Bound, Bound] = (Fraction(1),) * 2
        square = base
        spend_work(n.bit_length())
        while n:
            if n & 1:
                result = self._monotone(result, square)
            n >>= 1
            square = self._monotone(square, square) if n else square
        return result

    def _monotone(self, a: tuple[Bound, Bound], b: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        """Return the product of two intervals, by products of their ends where both are
        nonnegative."""
        if a[0] >= 0 and b[0] >= 0 and not (a[0] is a[1] and b[0] is b[1]):
            return self.keep(_multiply_ends(a[0], b[0]), _multiply_ends(a[1], b[1]))
        return self.mul(a, b)

    def _inverse(self, value: tuple[Bound, Bound], nonnegative: bool) -> tuple[Bound, Bound]:
        low, high = value
        if low is high:
            if low == 0 and not nonnegative:
                raise Undefined("a division by zero")
            end = INF if low == 0 else Fraction(0) if isinstance(low, float) else 1 / low
            return self.keep(end, end)
        if low < 0 < high or (0 in value and not nonnegative):
            raise Unknown("a division by a number that may be zero")
        flip = lambda end: Fraction(0) if isinstance(end, float) else INF if end == 0 else 1 / end
        return self.keep(flip(high), flip(low))

    def _root(self, value: Bound, q: int) -> tuple[Bound, Bound]:
        """Return an enclosure of the q-th root of a nonnegative end; exact for perfect powers."""
        if isinstance(value, float) or value == 0:
            return value, value
        top, top_exact = sympy.integer_nthroot(value.numerator, q)
        bottom, bottom_exact = sympy.integer_nthroot(value.denominator, q)
        if top_exact and bottom_exact:
            root = Fraction(int(top), int(bottom))
            return root, root
        scale = max(
            0, self.bits + (value.denominator.bit_length() - value.numerator.bit_length()) // q + q
        )
        spend_work(1 + (bit_length(value) + q * scale) ** 2 // SQUARE_BITS)
        floor = int(
            sympy.integer_nthroot((value.numerator << (q * scale)) // value.denominator, q)[0]
        )
        return Fraction(floor, 2**scale), Fraction(floor + 1, 2**scale)

    def exp(self, value: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        return self._transcendental(mpmath.exp, value)

    def log(self, value: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        if value[0] < 0 or value[1] == 0:
            told = Undefined if value[1] <= 0 else Unknown
            raise told("the logarithm of a number that is not positive")
        return self._transcendental(mpmath.log, value)

    def _transcendental(
        self, function: Callable[..., Any], value: tuple[Bound, Bound]
    ) -> tuple[Bound, Bound]:
        if value[0] is value[1] and value[0] == (0 if function is mpmath.exp else 1):
            end = Fraction(1 if function is mpmath.exp else 0)
            return end, end
        return self._apply(function, value[0], -1), self._apply(function, value[1], 1)

    def _apply(self, function: Callable[..., Any], end: Bound, direction: int) -> Bound:
        if function is mpmath.log and end == 0:
            return -INF
        if function is mpmath.exp and not -LIMIT <= end <= LIMIT:  # e^LIMIT is beyond 2^LIMIT
            return (
                (FAR if direction < 0 else INF)
                if end > 0
                else (Fraction(0) if direction < 0 else TINY)
            )
        if isinstance(end, float):
            return end
        spend_work(10)
        with ALONE, mpmath.workprec(self.bits + 30):
            # Guard bits and a pad of 2^-bits cover the library's own rounding many times over.
            result = function(mpmath.mpf(end.numerator) / end.denominator)
            sign, mantissa, exponent, _ = result._mpf_
        found = Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** exponent
        pad = (abs(found) + (abs(end) if function is mpmath.exp else 1) * abs(found)) / 2**self.bits
        if function is mpmath.log:  # near 1 the rounding of the argument is an absolute error
            pad += Fraction(1, 2**self.bits)
        return self.round(found + direction * pad, direction)

    def min(self, *terms: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        return self._extreme(min, terms)

    def max(self, *terms: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        return self._extreme(max, terms)

    def _extreme(
        self, choose: Callable[..., Any], terms: Sequence[tuple[Bound, Bound]]
    ) -> tuple[Bound, Bound]:
        for one, other in zip(terms, terms[1:]):
            spend_comparison(one, other)
        low, high = choose(t[0] for t in terms), choose(t[1] for t in terms)
        return (low, low) if low == high else (low, high)

    def abs(self, value: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        low, high = value
        if low >= 0:
            return value
        if low is high:
            return -low, -low
        return (-high, -low) if high <= 0 else (Fraction(0), max(-low, high))

    def floor(self, value: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        return self._step(math.floor, value)

    def ceiling(self, value: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
        return self._step(math.ceil, value)

    def _step(
        self, function: Callable[..., Any], value: tuple[Bound, Bound]
    ) -> tuple[Bound, Bound]:
        if INF in value or -INF in value:
            raise Undefined("a whole number next to infinity")
        low, high = Fraction(function(value[0])), Fraction(function(value[1]))
        return (low, low) if low == high else (low, high)

    # Relations are True, False, or None where the enclosures overlap.
    def le(self, a: tuple[Bound, Bound], b: tuple[Bound, Bound]) -> bool | None:
        spend_comparison(a, b)
        return True if a[1] <= b[0] else False if a[0] > b[1] else None

    def lt(self, a: tuple[Bound, Bound], b: tuple[Bound, Bound]) -> bool | None:
        spend_comparison(a, b)
        return True if a[1] < b[0] else False if a[0] >= b[1] else None

    def ge(self, a: tuple[Bound, Bound], b: tuple[Bound, Bound]) -> bool | None:
        return self.le(b, a)

    def gt(self, a: tuple[Bound, Bound], b: tuple[Bound, Bound]) -> bool | None:
        return self.lt(b, a)

    def eq(self, a: tuple[Bound, Bound], b: tuple[Bound, Bound]) -> bool | None:
        spend_comparison(a, b)
        if a[0] == a[1] == b[0] == b[1]:
            return True
        return False if a[1] < b[0] or b[1] < a[0] else None

    def ne(self, a: tuple[Bound, Bound], b: tuple[Bound, Bound]) -> bool | None:
        same = self.eq(a, b)
        return None if same is None else not same

    def both(self, *truths: bool | None) -> bool | None:
        return False if False in truths else None if None in truths else True

    def piecewise(self, *parts: Any) -> Any:
        for condition, value in zip(parts[::2], parts[1::2]):
            if condition is None:
                raise Undefined("a case whose condition is undecided")
            if isinstance(condition, Undefined):
                raise condition
            if condition and isinstance(value, Undefined):
                raise value
            if condition:
                return value
        raise Undefined("no case applies")


def _bit_length(end: Bound) -> int:
    return 0 if isinstance(end, float) else bit_length(end)


def _dyadic_fraction(top: int, shift: int) -> Fraction:
    """Return top / 2^shift as a Fraction. The common factor is a power of two, so that no division
    is needed."""
    if shift <= 0:
        return Fraction(top << -shift)
    twos = min(shift, (top & -top).bit_length() - 1) if top else shift
    number: Any = object.__new__(Fraction)
    number._numerator, number._denominator = top >> twos, 1 << (shift - twos)
    return number


def _extreme_products(a: tuple[Number, Number], b: tuple[Number, Number]) -> tuple[Bound, Bound]:
    """Return (least, largest) product of a number of one interval and a number of another. The
    signs of the ends usually leave two products to compute."""
    if any(isinstance(end, float) for end in (*a, *b)):
        products = [_multiply_ends(x, y) for x in a for y in b]
        return min(products), max(products)
    if _around_zero(a):
        if _around_zero(b):
            least = min(_multiply_ends(a[0], b[1]), _multiply_ends(a[1], b[0]))
            return least, max(_multiply_ends(a[0], b[0]), _multiply_ends(a[1], b[1]))
        a, b = b, a
    near, far = a if a[0].numerator >= 0 else (a[1], a[0])  # near and far from 0
    ends = (
        _multiply_ends(far if b[0].numerator < 0 else near, b[0]),
        _multiply_ends(far if b[1].numerator > 0 else near, b[1]),
    )
    return ends if a[0].numerator >= 0 else (ends[1], ends[0])


def _around_zero(pair: tuple[Number, Number]) -> bool:
    return pair[0].numerator < 0 < pair[1].numerator


def spend_comparison(a: tuple[Bound, Bound], b: tuple[Bound, Bound]) -> None:
    """Spend the steps of a comparison of two pairs."""
    spend_product(a[0], b[1])
    spend_product(a[1], b[0])


def _add_ends(a: Bound, b: Bound) -> Bound:
    if isinstance(a, float) or isinstance(b, float):
        if isinstance(a, float) and isinstance(b, float) and a != b:
            raise Undefined("infinity minus infinity")
        return a if isinstance(a, float) else b
    spend_product(a, b)
    return add_counted(a, b)


def _multiply_ends(a: Bound, b: Bound) -> Bound:
    if isinstance(a, float) or isinstance(b, float):
        if a == 0 or b == 0:
            raise Undefined("zero times infinity")
        return INF if (a > 0) == (b > 0) else -INF
    spend_product(a, b)
    return product(a, b)
