"""Numbers that record how they were computed: the operations of a model on such numbers become
steps.

`Exact` is a Fraction and `Enclosed` an Interval, so definitions accept them as any other number.
Comparisons are recorded, since they select the branches of a computation.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.arithmetic.operations import RULES, Interval, TracedNumber, Undecided
from fedtheory.arithmetic.work import Counted
from fedtheory.certificates.check_proof import Refused, require
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.rocq.steps import Step, Steps


class Book:
    """The steps of one computation, and the comparisons that decided its branches."""

    def __init__(self, steps: "Steps") -> None:
        self.steps, self.taken = steps, {}

    def number(self, step: Any) -> "Exact":
        """Return a step as a number that can be used in computations."""
        if step.exact:
            number = object.__new__(Exact)
            number._numerator, number._denominator = step.low.numerator, step.low.denominator
        else:
            number = Enclosed(step.low, step.high)
        number.step, number.book = step, self
        return number

    def step(self, value: Any) -> "Step":
        """Return the step of a number; an integer or fraction without a step becomes a numeral."""
        if isinstance(value, (Exact, Enclosed)):
            return value.step
        if isinstance(value, (int, Fraction)):
            return self.steps.number(value)
        raise Refused("a number lost how it came about")

    def tree(self, instance: Any) -> Any:
        """Return plain data with its fractions replaced by numbers that record their steps."""
        if isinstance(instance, dict):
            return {name: self.tree(value) for name, value in instance.items()}
        if isinstance(instance, list):
            return [self.tree(value) for value in instance]
        if isinstance(instance, Fraction):
            return self.number(self.steps.number(instance))
        return instance

    def compare(self, one: "Exact", sign: str, other: "Any") -> bool:
        if isinstance(other, float) and math.isinf(other):  # an unbounded end of a range
            return {"<": 1, "<=": 1, ">": -1, ">=": -1}.get(sign, 0) * other > 0
        a, b = self.step(one), self.step(other)
        truth = decide_relation(a, sign, b)
        if truth is None:
            raise Undecided(f"{one!r} and {other!r} overlap")
        if a.op != "number" or b.op != "number":
            self.taken[a.at, b.at, sign if truth else DENIED[sign]] = a, b
        return truth

    def floor(self, step: "Step") -> int:
        """Return the largest integer not above a number, as an int without steps."""
        require(step.low // 1 == step.high // 1, "the integer below a number that is not exact")
        return int(step.low // 1)

    def short(self, step: "Step") -> Any:
        """Return an interval of short ends that encloses a number, without its steps."""
        return Interval(RULES.round(step.low, -1), RULES.round(step.high, 1))

    def choose_extreme(self, way: str, values: "Sequence[Fraction | Exact]") -> "Exact":
        total = self.step(values[0])
        for value in values[1:]:
            total = getattr(self.steps, way)(total, self.step(value))
        return self.number(total)


DENIED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}


def decide_relation(a: "Step", sign: str, b: "Step") -> bool | None:
    """Tell whether a relation between two steps holds. Return None where their enclosing intervals
    do not decide the relation."""
    if sign in (">", ">="):
        a, sign, b = b, {">": "<", ">=": "<="}[sign], a
    if sign == "<":
        return True if a.high < b.low else False if a.low >= b.high else None
    if sign == "<=":
        return True if a.high <= b.low else False if a.low > b.high else None
    apart = a.high < b.low or b.high < a.low
    same = a.exact and b.exact and a.low == b.low
    if not apart and not same:
        return None
    return same if sign == "=" else apart


class TrackedNumber(TracedNumber):
    """The operations that exact and enclosed numbers share."""

    __slots__ = ()

    def _combine(self, way: str, other: Any, turned: bool = False) -> "np.ndarray | Exact":
        if isinstance(other, np.ndarray):
            found = np.empty(other.shape, dtype=object)
            found.ravel()[:] = [self._combine(way, part, turned) for part in other.ravel()]
            return found
        if not isinstance(other, (int, Fraction, Interval)):
            return NotImplemented
        a, b = self.step, self.book.step(other)
        if turned:
            a, b = b, a
        return self.book.number(getattr(self.book.steps, way)(a, b))

    def __add__(self, other: "Fraction | Exact") -> Number:
        return self._combine("add", other)

    def __radd__(self, other: Any) -> Number:
        return self._combine("add", other, True)

    def __sub__(self, other: "int | Exact") -> Number:
        return self._combine("sub", other)

    def __rsub__(self, other: Any) -> Number:
        return self._combine("sub", other, True)

    def __mul__(self, other: "Number | Exact") -> "np.ndarray | Exact":
        return self._combine("mul", other)

    def __rmul__(self, other: Any) -> Number:
        return self._combine("mul", other, True)

    def __truediv__(self, other: int | Counted) -> Number:
        return self._combine("div", other)

    def __rtruediv__(self, other: Fraction) -> Number:
        return self._combine("div", other, True)

    def __floordiv__(self, other: Number) -> "Exact":
        return self.book.floor((self / other).step)

    def __neg__(self) -> "TrackedNumber":
        return self.book.number(self.book.steps.neg(self.step))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> "Exact":
        return self.book.number(self.book.steps.abs(self.step))

    def __pow__(self, n: Number) -> "Exact":
        n = Fraction(n)
        if n.denominator != 1:
            return self.root(n.denominator) ** n.numerator
        return self.book.number(self.book.steps.power(self.step, int(n)))

    def __lt__(self, other: Number) -> bool:
        return self.book.compare(self, "<", other)

    def __le__(self, other: Number) -> bool:
        return self.book.compare(self, "<=", other)

    def __gt__(self, other: Number) -> bool:
        return self.book.compare(self, ">", other)

    def __ge__(self, other: Number) -> bool:
        return self.book.compare(self, ">=", other)

    def root(self, q: Number) -> "Exact":
        return self.book.number(self.book.steps.root(self.step, q))

    def short(self) -> "Enclosed":
        return self.book.short(self.step)

    def most(self, *values: Number) -> "Exact":
        return self.book.choose_extreme("max", values)

    def least(self, *values: Number) -> "Exact":
        return self.book.choose_extreme("min", values)


class Exact(TrackedNumber, Counted):
    """A Fraction that records its steps."""

    __slots__ = ("book", "step")

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, (int, Fraction)):
            return self.book.compare(self, "=", other)
        return NotImplemented

    __hash__ = Fraction.__hash__

    @property
    def ends(self) -> tuple[Fraction | Counted, Fraction | Counted]:
        return self.step.low, self.step.high

    def __bool__(self) -> bool:
        return self._numerator != 0


class Enclosed(TrackedNumber, Interval):
    """An Interval that records its steps."""

    __slots__ = ("book", "step")
