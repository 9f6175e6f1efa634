"""Exact arithmetic with a limit on work, counted in steps rather than timed, for untrusted numbers
and formulas.

Arithmetic on long fractions is expensive: the time of a product is proportional to the product of
the factors' lengths. Checking a document therefore spends from a budget of steps; a step is a sum
or a product of short fractions (some 5 microseconds). `Counted` numbers charge the budget
themselves. Loops that only enumerate charge their length in advance. Where no budget is set,
nothing is counted.
"""

import operator
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from math import gcd
from typing import Any

from fedtheory.errors import FedtheoryError
from fedtheory.typing import Exact, Number

SAYS = "it takes more work than a document may"
SQUARE_BITS = 300_000  # bits of one factor times bits of the other, in one step
_budget: ContextVar[list[int] | None] = ContextVar("budget", default=None)


class Tally(threading.local):
    """The number of batch results computed so far in this thread, a measure of cost that is
    independent of the clock and of other computations."""

    count = 0


tally = Tally()


class Spent(FedtheoryError):
    """An error for a computation that would take more work than its budget."""


@contextmanager
def limit_work(steps: int) -> Iterator[list[int]]:
    """Spend at most `steps` steps inside this context, which yields `[left]` with the steps that
    remain. Inside another budget, the outer budget applies instead."""
    outer = _budget.get()
    left = [steps] if outer is None else outer
    token = _budget.set(left)
    try:
        yield left
    except SystemError:  # NumPy continues a sum in which a term has raised
        if left[0] >= 0:
            raise
        raise Spent(SAYS) from None
    finally:
        _budget.reset(token)


def is_metered() -> bool:
    """Tell whether a budget is set."""
    return _budget.get() is not None


def spend_work(steps: int) -> None:
    """Subtract steps from the budget, if there is one. Raises Spent when the budget is exhausted."""
    left = _budget.get()
    if left is not None:
        left[0] -= steps
        if left[0] < 0:
            raise Spent(SAYS)


def count_ways(ways: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield each tuple of an enumeration after spending steps by its length, since some
    enumerations are too long to finish."""
    for way in ways:
        spend_work(1 + len(way))
        yield way


def bit_length(value: Exact) -> int:
    """Return the length of an exact number in bits."""
    return value.numerator.bit_length() + value.denominator.bit_length()


def spend_product(one: Number, other: Number) -> None:
    """Spend the steps of a sum or a product of two exact numbers."""
    if _budget.get() is not None and not isinstance(one, float) and not isinstance(other, float):
        spend_work(1 + bit_length(one) * bit_length(other) // SQUARE_BITS)


class Counted(Fraction):
    """A Fraction whose sums, products and powers are Counted and spend from the budget."""

    __slots__ = ()
    _numerator: int
    _denominator: int

    def __pow__(self, n: Any) -> Any:
        if isinstance(n, int) or isinstance(n, Fraction) and n.denominator == 1:
            spend_work(1 + (abs(int(n)) * bit_length(self)) ** 2 // SQUARE_BITS)
        return _count_result(Fraction.__pow__(self, n))

    def __neg__(self) -> "Counted":
        return _make_fraction(Counted, -self._numerator, self._denominator)

    def __abs__(self) -> "Counted":
        return _make_fraction(Counted, abs(self._numerator), self._denominator)


def _make_fraction(kind: type[Fraction], top: int, bottom: int) -> Any:
    """Return a number from a numerator and denominator in lowest terms, without any checks."""
    number: Any = object.__new__(kind)
    number._numerator, number._denominator = top, bottom
    return number


def _count_result(result: Any) -> Any:
    if type(result) is not Fraction:
        return result
    return _make_fraction(Counted, result._numerator, result._denominator)  # type: ignore[attr-defined]


# Sums and products in lowest terms (Knuth, TAOCP 4.5.1) of fractions in lowest terms, given by
# numerators and denominators. `Fraction` does the same with two type checks more.


def _sum_pairs(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    common = gcd(b, d)
    if common == 1:
        return a * d + b * c, b * d
    rest = b // common
    top = a * (d // common) + c * rest
    again = gcd(top, common)
    return (top, rest * d) if again == 1 else (top // again, rest * (d // again))


def _subtract_pairs(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    return _sum_pairs(a, b, -c, d)


def _multiply_pairs(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    one, other = gcd(a, d), gcd(c, b)
    if one > 1:
        a, d = a // one, d // one
    if other > 1:
        c, b = c // other, b // other
    return a * c, b * d


def _divide_pairs(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    return _multiply_pairs(a, b, d, c) if c > 0 else _multiply_pairs(-a, b, d, -c)


QUICK = {Fraction, Counted}  # no other subclass of Fraction, which may hold further state


def add_counted(one: Number, other: Number) -> Number:
    """Return the sum of two exact numbers."""
    if type(one) is type(other) is Fraction:
        both = one._numerator, one._denominator, other._numerator, other._denominator  # type: ignore[attr-defined]
        return _make_fraction(Fraction, *_sum_pairs(*both))
    return one + other


def product(one: Number, other: Number) -> Number:
    """Return the product of two exact numbers."""
    if type(one) is type(other) is Fraction:
        both = one._numerator, one._denominator, other._numerator, other._denominator  # type: ignore[attr-defined]
        return _make_fraction(Fraction, *_multiply_pairs(*both))
    return one * other


def _paying(name: str, operation: Callable[..., Any], turned: bool) -> Callable[..., Any]:
    plain = getattr(Fraction, name)

    def paid(self, other: Any) -> Any:
        a, b, kind = self._numerator, self._denominator, type(other)
        if kind in QUICK:
            c, d = other._numerator, other._denominator
        elif kind is int:
            c, d = other, 1
        else:
            if isinstance(other, (int, Fraction)):
                spend_product(self, other)
            return _count_result(plain(self, other))
        left = _budget.get()
        if left is not None:
            length = a.bit_length() + b.bit_length()
            left[0] -= 1 + length * (c.bit_length() + d.bit_length()) // SQUARE_BITS
            if left[0] < 0:
                raise Spent(SAYS)
        if turned:
            a, b, c, d = c, d, a, b
        if operation is _divide_pairs and not c:
            return _count_result(plain(self, other))  # raises the refusal
        return _make_fraction(Counted, *operation(a, b, c, d))

    return paid


for _name, _operation in dict(
    add=_sum_pairs, sub=_subtract_pairs, mul=_multiply_pairs, truediv=_divide_pairs
).items():
    setattr(Counted, f"__{_name}__", _paying(f"__{_name}__", _operation, False))
    setattr(Counted, f"__r{_name}__", _paying(f"__r{_name}__", _operation, True))


def _comparing(name: str, relation: Callable[..., Any]) -> Callable[..., Any]:
    plain = getattr(Fraction, name)

    def compared(self, other: Any) -> bool:
        if type(other) in QUICK:
            return relation(
                self._numerator * other._denominator, other._numerator * self._denominator
            )
        return plain(self, other)

    return compared


for _name in ("lt", "le", "gt", "ge"):
    setattr(Counted, f"__{_name}__", _comparing(f"__{_name}__", getattr(operator, _name)))
