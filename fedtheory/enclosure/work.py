"""Exact arithmetic with a meter: what a stranger's numbers and formulas may cost, counted and not
timed.

Long fractions are dear: a product takes time like the product of the factors' lengths. Whoever runs
a document spends from a budget of steps, one of them a sum or a product of short fractions (some 5
microseconds); `Counted` numbers pay for themselves, loops that only enumerate say beforehand how
long they are. Where no budget is set, nothing is counted.
"""

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction

from fedtheory.errors import FedtheoryError

SAYS = "it takes more work than a document may"
SQUARE_BITS = 300_000  # bits times bits that a step may multiply
_budget = ContextVar("budget", default=None)


class Tally(threading.local):
    """Results of batches so far, in this thread: what a computation costs, whatever the clock says
    and whatever others compute beside it."""

    count = 0


tally = Tally()


class Spent(FedtheoryError):
    """A computation would take more work than it may."""


@contextmanager
def within(steps):
    """Spend at most so many steps inside; the count so far is `[left]`. An inner budget never
    outgrows the outer."""
    outer = _budget.get()
    left = [steps] if outer is None else outer
    token = _budget.set(left)
    try:
        yield left
    except SystemError:  # NumPy goes on with a sum in which a term has raised
        if left[0] >= 0:
            raise
        raise Spent(SAYS) from None
    finally:
        _budget.reset(token)


def metered():
    """Whether a budget is set."""
    return _budget.get() is not None


def spend(steps):
    """Take steps from the budget, if there is one."""
    left = _budget.get()
    if left is not None:
        left[0] -= steps
        if left[0] < 0:
            raise Spent(SAYS)


def counted(ways):
    """What an enumeration of tuples yields, each for its length: some have more ways than there is
    time for."""
    for way in ways:
        spend(1 + len(way))
        yield way


def bits(value):
    """The length of an exact number."""
    return value.numerator.bit_length() + value.denominator.bit_length()


def multiplied(one, other):
    """Spend what a sum or a product of two exact numbers takes."""
    if _budget.get() is not None and not isinstance(one, float) and not isinstance(other, float):
        spend(1 + bits(one) * bits(other) // SQUARE_BITS)


class Counted(Fraction):
    """A Fraction whose sums, products and powers are Counted and spend from the budget."""

    __slots__ = ()

    def __pow__(self, n):
        if isinstance(n, int) or isinstance(n, Fraction) and n.denominator == 1:
            spend(1 + (abs(int(n)) * bits(self)) ** 2 // SQUARE_BITS)
        return _counted(Fraction.__pow__(self, n))

    def __neg__(self):
        return _counted(Fraction.__neg__(self))

    def __abs__(self):
        return _counted(Fraction.__abs__(self))


def _counted(result):
    if type(result) is not Fraction:
        return result
    number = object.__new__(Counted)
    number._numerator, number._denominator = result._numerator, result._denominator
    return number


def _paying(name):
    plain = getattr(Fraction, name)

    def operation(self, other):
        if isinstance(other, (int, Fraction)):
            multiplied(self, other)
        return _counted(plain(self, other))

    return operation


for _name in ("add", "sub", "mul", "truediv", "radd", "rsub", "rmul", "rtruediv"):
    setattr(Counted, f"__{_name}__", _paying(f"__{_name}__"))
