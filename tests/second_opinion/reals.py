"""Real numbers by two Fractions that hold them: roots, exponentials and logarithms by integers,
everything else exact.

A second opinion shares no code with the checker that it judges: this folder imports the standard
library alone, and types every definition anew from the papers.
"""

from fractions import Fraction
from math import isqrt

BITS = 320  # of an enclosure that is not exact
LONG = 4000  # bits of a number from which ends are rounded outward


class Unknown(ArithmeticError):
    """Two enclosures overlap where their order matters, or a value does not exist."""


class Real:  # noqa: PLW1641 (a number that is not known exactly has no hash)
    """A number between `low` and `high`; exact where they agree."""

    __slots__ = ("low", "high")

    def __init__(self, low, high=None):
        self.low, self.high = Fraction(low), Fraction(low if high is None else high)

    def __add__(self, other):
        other = real(other)
        return outward(self.low + other.low, self.high + other.high)

    def __neg__(self):
        return Real(-self.high, -self.low)

    def __sub__(self, other):
        return self + -real(other)

    def __rsub__(self, other):
        return real(other) - self

    def __mul__(self, other):
        other = real(other)
        if self.low == self.high and other.low == other.high:
            return outward(self.low * other.low)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return outward(min(ends), max(ends))

    def inverse(self):
        if self.low <= 0 <= self.high:
            raise Unknown("a division by what may be zero")
        return Real(1 / self.high, 1 / self.low)

    def __truediv__(self, other):
        return self * real(other).inverse()

    def __rtruediv__(self, other):
        return real(other) * self.inverse()

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, n):
        if n < 0:
            return (self**-n).inverse()
        if n % 2 == 0 and self.low < 0 < self.high:
            return outward(Fraction(0), max(-self.low, self.high) ** n)
        ends = sorted((self.low**n, self.high**n))
        return outward(*ends)

    def __abs__(self):
        return (
            self
            if self.low >= 0
            else -self
            if self.high <= 0
            else Real(0, max(-self.low, self.high))
        )

    def __le__(self, other):
        return decided(self - other, lambda d: d.high <= 0, lambda d: d.low > 0)

    def __lt__(self, other):
        return decided(self - other, lambda d: d.high < 0, lambda d: d.low >= 0)

    def __ge__(self, other):
        return real(other) <= self

    def __gt__(self, other):
        return real(other) < self

    def __eq__(self, other):
        gap = self - other
        if gap.low == gap.high == 0:
            return True
        if gap.low > 0 or gap.high < 0:
            return False
        raise Unknown("two enclosures overlap")

    def __repr__(self):
        return f"{float(self.low):.12g}"


def real(value):
    if isinstance(value, float):
        raise Unknown("an infinite number")
    return value if isinstance(value, Real) else Real(value)


def decided(gap, yes, no):
    if yes(gap):
        return True
    if no(gap):
        return False
    raise Unknown("two enclosures overlap")


def outward(low, high=None):
    """An enclosure with ends of bounded length; what is exact and short stays exact."""
    high = low if high is None else high
    if max(low.denominator.bit_length(), high.denominator.bit_length()) <= LONG:
        return Real(low, high)
    scale = 1 << (BITS + max(0, -exponent(low), -exponent(high)))
    return Real(Fraction(low * scale // 1, scale), Fraction(-(-high * scale // 1), scale))


def exponent(x):
    return x.numerator.bit_length() - x.denominator.bit_length()


def root(value, n=2):
    """The nonnegative n-th root, n a power of two."""
    if n > 2:
        return root(root(value), n // 2)
    value = real(value)
    if value.low < 0:
        if value.high < 0:
            raise Unknown("the root of a negative number")
        value = Real(0, value.high)

    def below(x):
        p, q = isqrt(x.numerator), isqrt(x.denominator)
        if p * p == x.numerator and q * q == x.denominator:
            return Fraction(p, q), True
        scale = 1 << (BITS + max(0, -exponent(x)))
        return Fraction(isqrt(x.numerator * scale * scale // x.denominator), scale), False

    (low, _), (high, exact) = below(value.low), below(value.high)
    return Real(
        low, high if exact else high + Fraction(1, 1 << (BITS + max(0, -exponent(value.high))))
    )


def _exp(x):
    """(below, above) e^x."""
    if x < 0:
        low, high = _exp(-x)
        return 1 / high, 1 / low
    halvings = max(0, exponent(x) + 8)
    x = Fraction(x / 2**halvings)
    scale = 1 << (BITS + 64 + 2 * halvings)
    y = Fraction(x * scale // 1, scale), Fraction(-(-x * scale // 1), scale)
    ends = []
    for z, up in zip(y, (False, True)):
        term, total, k = Fraction(1), Fraction(1), 1
        while term * scale > 1:
            term = Fraction(term * z / k * scale // 1, scale)
            total, k = total + term, k + 1
        ends.append(total + (Fraction(4 * k, scale) if up else 0))  # cut terms and their rests
    for _ in range(halvings):
        ends = [
            Fraction(ends[0] ** 2 * scale // 1, scale),
            Fraction(-(-(ends[1] ** 2) * scale // 1), scale),
        ]
    return tuple(ends)


def exp(value):
    value = real(value)
    return Real(_exp(value.low)[0], _exp(value.high)[1])


def log(value):
    """By bisection of exp on dyadic numbers."""
    value = real(value)
    if value.low <= 0:
        raise Unknown("the logarithm of what may not be positive")
    ends = []
    for x, up in ((value.low, False), (value.high, True)):
        low, high = Fraction(-1), Fraction(1)
        while _exp(low)[1] > x:
            low *= 2
        while _exp(high)[0] < x:
            high *= 2
        for _ in range(160):
            middle = (low + high) / 2
            bottom, top = _exp(middle)
            if top <= x:
                low = middle
            elif bottom >= x:
                high = middle
            else:
                break
        ends.append(high if up else low)
    return Real(*ends)


def least(*values):
    values = list(map(real, values))
    return Real(min(v.low for v in values), min(v.high for v in values))


def most(*values):
    values = list(map(real, values))
    return Real(max(v.low for v in values), max(v.high for v in values))


def sq(v):
    return dot(v, v)


def dot(u, v):
    return sum((a * b for a, b in zip(u, v)), Fraction(0))


def plus(*vectors):
    return [sum(parts, Fraction(0)) for parts in zip(*vectors)]


def minus(u, v):
    return [a - b for a, b in zip(u, v)]


def times(c, v):
    return [c * a for a in v]
