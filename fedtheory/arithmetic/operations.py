"""The kinds of numbers on which a definition can be evaluated: Fractions, many floats at once, and
intervals with rational ends.

A quantity is written once, with + - * / ** and the functions below. `Many` lets a search evaluate
it at a batch of instances, and `Interval` makes it rigorous where roots and logarithms appear. A
Fraction can be combined with both.
"""

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.intervals import Enclosures
from fedtheory.arithmetic.work import spend_work, tally
from fedtheory.errors import FedtheoryError
from fedtheory.typing import Bound, Exact, Number

BITS = 400


# Whether == compares batches and intervals, as it does in users' kernels; otherwise == is identity.
COMPARED = ContextVar("compared", default=False)


class Undecided(FedtheoryError):
    """An error for two intervals that overlap where their order matters."""


class NoTruth(TypeError):
    """An error for a comparison that is true for some instances of a batch and false for others."""


class Many:
    """An array of floats, one for each instance of a batch, which NumPy's object arrays treat as a
    number."""

    __slots__ = ("at",)
    __array_ufunc__ = None  # so that `object_array * many` calls this class, element by element

    def __init__(self, at: Any) -> None:
        self.at = at
        tally.count += 1

    def _other(self, other: Number) -> Number:
        if isinstance(other, Many):
            return other.at
        if isinstance(other, (float, np.ndarray)):
            return other
        return nearest_float(other) if isinstance(other, (Fraction, Interval, Rational)) else other

    def __add__(self, other: Number) -> Number:
        return _broadcast_entrywise(self, other, np.add)

    def __sub__(self, other: Number) -> Number:
        return _broadcast_entrywise(self, other, np.subtract)

    def __mul__(self, other: Number) -> Number:
        return _broadcast_entrywise(self, other, np.multiply)

    def __truediv__(self, other: Number) -> Number:
        return _broadcast_entrywise(self, other, np.true_divide)

    def __rsub__(self, other: Number) -> Number:
        return _broadcast_entrywise(self, other, lambda a, b: np.subtract(b, a))

    def __rtruediv__(self, other: Number) -> Number:
        return _broadcast_entrywise(self, other, lambda a, b: np.true_divide(b, a))

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, n: Exact) -> "Many":
        return Many(self.at * self.at) if n == 2 else Many(self.at ** float(n))

    def __neg__(self) -> "Many":
        return Many(-self.at)

    def __abs__(self) -> "Many":
        return Many(np.abs(self.at))

    def __lt__(self, other: Number) -> "Many":
        return Many(self.at < self._other(other))

    def __le__(self, other: Number) -> "Many":
        return Many(self.at <= self._other(other))

    def __gt__(self, other: Number) -> "Many":
        return Many(self.at > self._other(other))

    def __ge__(self, other: Number) -> "Many":
        return Many(self.at >= self._other(other))

    def __eq__(self, other: object) -> Any:
        return Many(self.at == self._other(other)) if COMPARED.get() else self is other

    def __ne__(self, other: object) -> Any:
        return Many(self.at != self._other(other)) if COMPARED.get() else self is not other

    __hash__ = object.__hash__

    def __bool__(self) -> Number:
        if np.size(self.at) == 1:
            return bool(np.all(self.at))
        raise NoTruth("a batch has no single truth: use arithmetic.where, maximum, minimum")

    def __repr__(self) -> Number:
        return f"Many({self.at})"


def _broadcast_entrywise(one: Many, other: Number, operation: Callable[..., Any]) -> Number:
    if isinstance(other, np.ndarray):  # a vector of numbers
        found = np.empty(other.shape, dtype=object)
        found.ravel()[:] = [_broadcast_entrywise(one, part, operation) for part in other.ravel()]
        return found
    try:
        return Many(operation(one.at, one._other(other)))
    except TypeError:  # the other operand's class may support the operation
        return NotImplemented


class Interval:
    """A number between two Fractions."""

    __slots__ = ("low", "high")
    __array_ufunc__ = None

    def __init__(self, low: Bound, high: Bound | None = None) -> None:
        self.low, self.high = low, low if high is None else high

    @property
    def pair(self) -> tuple[Bound, Bound]:
        return self.low, self.high

    def _with(self, other: Number, operation: Callable[..., Any]) -> Number:
        if isinstance(other, np.ndarray):
            found = np.empty(other.shape, dtype=object)
            found.ravel()[:] = [self._with(part, operation) for part in other.ravel()]
            return found
        if isinstance(other, Many):
            return NotImplemented  # a batch uses the interval's midpoint
        try:
            return Interval(*operation(self.pair, ends_of(other)))
        except TypeError:  # the other operand's class may support the operation
            return NotImplemented

    def __add__(self, other: Number) -> Number:
        return self._with(other, RULES.add)

    def __sub__(self, other: Number) -> Number:
        return self._with(other, lambda a, b: RULES.add(a, _negate_ends(b)))

    def __rsub__(self, other: Number) -> Number:
        return self._with(other, lambda a, b: RULES.add(b, _negate_ends(a)))

    def __mul__(self, other: Number) -> Number:
        return self._with(other, RULES.mul)

    def __truediv__(self, other: Number) -> Number:
        return self._with(other, lambda a, b: RULES.mul(a, RULES.power(b, (Fraction(-1), False))))

    def __rtruediv__(self, other: Number) -> Number:
        return self._with(other, lambda a, b: RULES.mul(b, RULES.power(a, (Fraction(-1), False))))

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, n: Exact) -> "Interval":
        return Interval(*RULES.power(self.pair, (Fraction(n), False)))

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __abs__(self) -> "Interval":
        return Interval(*RULES.abs(self.pair))

    def __lt__(self, other: Number) -> bool:
        return _require_truth(RULES.lt(self.pair, ends_of(other)), self, other)

    def __le__(self, other: Number) -> bool:
        return _require_truth(RULES.le(self.pair, ends_of(other)), self, other)

    def __gt__(self, other: Number) -> bool:
        return _require_truth(RULES.gt(self.pair, ends_of(other)), self, other)

    def __ge__(self, other: Number) -> bool:
        return _require_truth(RULES.ge(self.pair, ends_of(other)), self, other)

    def __eq__(self, other: object) -> bool:
        if not COMPARED.get() or not isinstance(other, (int, float, Rational, Interval)):
            return self is other
        if isinstance(other, float) and not math.isfinite(other):
            return False
        (a, b), (c, d) = self.pair, ends_of(other)
        return _require_truth(
            False if b < c or d < a else True if a == b == c == d else None, self, other
        )

    __hash__ = object.__hash__

    def __bool__(self) -> Number:
        return not self == 0

    def __float__(self) -> Number:
        return float((self.low + self.high) / 2)

    def __repr__(self) -> Number:
        return f"Interval({float(self.low)!r}, {float(self.high)!r})"


class TracedNumber:
    """A number that records how it was computed, and so computes its own roots and extremes and
    shortens itself: `root(q)`, `most(*values)`, `least(*values)`, `short()`. Its `ends` are plain
    numbers."""

    ends: tuple[Bound, Bound]
    root: Callable[[int], Number]
    short: Callable[[], Number]


RULES = Enclosures(BITS)


def _negate_ends(ends: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
    return -ends[1], -ends[0]


def _require_truth(truth: bool | None, one: object, other: object) -> bool:
    if truth is None:
        raise Undecided(f"{one!r} and {other!r} overlap")
    return truth


def ends_of(value: Number) -> tuple[Bound, Bound]:
    """Return (lower, upper) of an exact number or an interval."""
    if isinstance(value, Interval):
        return value.pair
    if isinstance(value, float) and not math.isfinite(value):
        raise Undefined("an infinite value")
    if isinstance(value, Fraction):
        return value.ends if isinstance(value, TracedNumber) else (value, value)
    end = Fraction(value)
    return end, end


def collapse_interval(value: Number) -> Number:
    """Return an interval of a single point as a Fraction, and any other number unchanged."""
    return value.low if isinstance(value, Interval) and value.low == value.high else value


def vector(numbers: Any) -> np.ndarray:
    """Return a vector of such numbers, which supports +, - and .dot()."""
    spend_work(len(numbers))
    found = np.empty(len(numbers), dtype=object)
    found[:] = numbers
    return found


def where(condition: Number, one: Number, other: Number) -> Number:
    if isinstance(condition, Many):
        return Many(np.where(condition.at, _plain_value(one), _plain_value(other)))
    return one if condition else other


def _plain_value(value: Number) -> float | np.ndarray:
    return value.at if isinstance(value, Many) else nearest_float(value)


def nearest_float(value: Number) -> float:
    """Return a float near a number, infinite beyond the range of floats."""
    try:
        if isinstance(value, Fraction):
            return value._numerator / value._denominator  # type: ignore[attr-defined]
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def maximum(*values: Number) -> Number:
    return _choose_extreme(values, np.maximum, RULES.max, max, "most")


def minimum(*values: Number) -> Number:
    return _choose_extreme(values, np.minimum, RULES.min, min, "least")


def _choose_extreme(
    values: Sequence[Number],
    on_arrays: Callable[..., Any],
    on_pairs: Callable[..., Any],
    on_numbers: Callable[..., Any],
    way: str,
) -> Number:
    followed = next((value for value in values if isinstance(value, TracedNumber)), None)
    if followed is not None:
        return getattr(followed, way)(*values)
    if any(isinstance(value, Many) for value in values):
        found = _plain_value(values[0])
        for value in values[1:]:
            found = on_arrays(found, _plain_value(value))
        return Many(found)
    if any(isinstance(value, Interval) for value in values):
        return Interval(*on_pairs(*map(ends_of, values)))
    return on_numbers(values)


def positive_part(value: Number) -> Number:
    return maximum(value, Fraction(0))


def difference_of_sums(ups: Sequence[Number], downs: Sequence[Number]) -> Number:
    """Return sum(ups) - sum(downs); in a batch, 0 where the difference may be due to rounding
    alone."""
    gap: Number = sum(ups) - sum(downs)
    if not isinstance(gap, Many):
        return gap
    return where(abs(gap) <= 1e-12 * sum(abs(part) for part in (*ups, *downs)), Fraction(0), gap)


def shorten_ends(value: Number) -> Number:
    """Return an interval that contains a number of thousands of bits, and any other number
    unchanged. Long runs remain affordable this way."""
    if isinstance(value, np.ndarray):
        found = np.empty(value.shape, dtype=object)
        found.ravel()[:] = [shorten_ends(part) for part in value.ravel()]
        return found
    if isinstance(value, Many):
        return value
    low, high = ends_of(value)
    if isinstance(low, float) or isinstance(high, float):
        raise Undefined("a number beyond what is followed")
    if (
        max(end.numerator.bit_length() + end.denominator.bit_length() for end in (low, high))
        <= 10 * BITS
    ):
        return value
    if isinstance(value, TracedNumber):
        return value.short()
    return Interval(RULES.round(low, -1), RULES.round(high, 1))


def root(value: Number, q: int = 2) -> Number:
    """Return the q-th root of a nonnegative number, exact where it is rational."""
    if isinstance(value, Many):
        with np.errstate(all="ignore"):
            return Many(value.at ** (1.0 / q) if q != 2 else np.sqrt(value.at))
    if isinstance(value, TracedNumber):
        return value.root(q)
    return collapse_interval(Interval(*RULES.power(ends_of(value), (Fraction(1, q), True))))


def exp(value: Number) -> Number:
    if isinstance(value, Many):
        with np.errstate(all="ignore"):
            return Many(np.exp(value.at))
    return collapse_interval(Interval(*RULES.exp(ends_of(value))))


def log(value: Number) -> Number:
    if isinstance(value, Many):
        with np.errstate(all="ignore"):
            return Many(np.log(value.at))
    return collapse_interval(Interval(*RULES.log(ends_of(value))))


class Arithmetic:
    """The operations of `arithmetic.program` on any of these numbers, used to evaluate a batch."""

    def number(self, value: Number) -> Number:
        return value

    def truth(self, value: Number) -> Number:
        return value

    def add(self, *terms: Number) -> Number:
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def mul(self, *factors: Number) -> Number:
        product = factors[0]
        for factor in factors[1:]:
            product = product * factor
        return product

    def power(self, base: Number, detail: tuple[Fraction, bool]) -> Number:
        exponent, nonnegative = detail
        if exponent.denominator == 1:
            if isinstance(base, Fraction) and exponent < 0 and base == 0:
                if nonnegative:
                    return Many(np.array(np.inf))
                raise Undefined("a division by zero")
            return base ** int(exponent)
        return root(base, exponent.denominator) ** exponent.numerator

    def integer_power(self, base: Number, exponent: Number, nonnegative: bool) -> Number:
        if isinstance(exponent, Many) or isinstance(base, Many):
            with np.errstate(all="ignore"):
                return Many(np.power(_plain_value(base), _plain_value(exponent)))
        return base ** int(exponent)

    exp = staticmethod(exp)
    log = staticmethod(log)
    min = staticmethod(minimum)
    max = staticmethod(maximum)
    abs = staticmethod(abs)

    def floor(self, value: Number) -> Number:
        return Many(np.floor(_plain_value(value)))

    def ceiling(self, value: Number) -> Number:
        return Many(np.ceil(_plain_value(value)))

    def le(self, a: Number, b: Number) -> Number:
        return a <= b

    def lt(self, a: Number, b: Number) -> Number:
        return a < b

    def ge(self, a: Number, b: Number) -> Number:
        return a >= b

    def gt(self, a: Number, b: Number) -> Number:
        return a > b

    def eq(self, a: Number, b: Number) -> Number:
        if isinstance(a, Many) or isinstance(b, Many):
            return Many(np.isclose(_plain_value(a), _plain_value(b), rtol=1e-12, atol=0))
        return ends_of(a) == ends_of(b)

    def ne(self, a: Number, b: Number) -> Number:
        same = self.eq(a, b)
        return Many(~same.at) if isinstance(same, Many) else not same

    def both(self, *truths: Number) -> Number:
        if any(isinstance(t, Many) for t in truths):
            return Many(np.logical_and.reduce([t.at if isinstance(t, Many) else t for t in truths]))
        return all(truths)

    def piecewise(self, *parts: Any) -> Number:
        found = None
        for condition, value in reversed(list(zip(parts[::2], parts[1::2]))):
            if isinstance(value, Undefined):
                value = Many(np.array(np.nan))
            if isinstance(condition, Undefined):
                raise condition
            if found is None:
                found = value
            elif isinstance(condition, Many):
                found = where(condition, value, found)
            elif condition:
                found = value
        return found


PLAIN = Arithmetic()
