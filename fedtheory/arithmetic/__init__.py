"""Trusted values of formulas: exact where rational, otherwise enclosed in intervals with outward
rounding.

A SymPy expression is compiled to a short program. Two arithmetics run it: `intervals.Enclosures` on
intervals with rational ends, and `arrays.Arrays` on NumPy arrays that carry their own error bounds.
"""

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Self

import numpy as np
import sympy

from fedtheory.arithmetic.intervals import INF, Enclosures
from fedtheory.arithmetic.program import (
    NoInstance,
    Undefined,
    Unknown,
    bind_program,
    compile_expression,
    execute_program,
)
from fedtheory.errors import refuse
from fedtheory.typing import Assignment, Bound

__all__ = [
    "Enclosed",
    "NoInstance",
    "Undefined",
    "Unknown",
    "bind_program",
    "decide_relation",
    "enclose_value",
    "execute_program",
    "exact_number",
    "compile_expression",
]
ACCURACY = Fraction(1, 2**60)  # an enclosure of this relative width is narrow enough for a float


class Enclosed(float):
    """A number with its enclosure; as a float it is the end that is safe for its inequality."""

    lower: Bound
    upper: Bound

    def __new__(cls, lower: Bound, upper: Bound, up: bool = True) -> Self:
        self = super().__new__(cls, float_above(upper) if up else -float_above(-lower))
        self.lower, self.upper = lower, upper
        return self

    @property
    def exact(self) -> Fraction | None:
        """Return the value as a Fraction, or None where only an enclosure is known."""
        return self.lower if self.lower == self.upper and isinstance(self.lower, Fraction) else None


def float_above(value: Bound) -> float:
    """Return the least float that is >= value."""
    if isinstance(value, float):
        return value
    try:
        near = float(value)
    except OverflowError:
        return INF if value > 0 else -np.finfo(float).max
    return near if Fraction(near) >= value else float(np.nextafter(near, INF))


def exact_number(name: str, value: object) -> Fraction:
    """Return a given number as an exact Fraction; floats are taken at their binary value."""
    if isinstance(value, bool):
        refuse(name, "must be a number", value)
    if (
        isinstance(value, str)
        and value.isascii()
        and len(value) <= 64
        and abs(_exponent(value)) <= 400
    ):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            refuse(name, "must be a finite number", value)
    if isinstance(value, sympy.Rational):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, (Integral, Rational)):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, (float, Decimal, np.floating)) and math.isfinite(value):
        return Fraction(value if isinstance(value, Decimal) else float(value))
    refuse(name, "must be a finite number", value)


def _exponent(text: str) -> int:
    tail = text.lower().rpartition("e")[2] if "e" in text.lower() else "0"
    try:
        return int(tail)
    except ValueError:
        return 0


def enclose_value(expr: sympy.Expr, values: Assignment, up: bool = True) -> float:
    """Return the value of an expression at {symbol name: Fraction}, in an enclosure narrower than
    floats resolve."""
    steps = compile_expression(expr)
    pairs = {name: (value, value) for name, value in values.items()}
    bits = 160
    while True:
        low, high = execute_program(steps, Enclosures(bits), pairs)
        if low == high or isinstance(low, float) or isinstance(high, float):
            break
        if high - low <= ACCURACY * max(abs(low), abs(high)) or bits > 20_000:
            break
        bits *= 4
    return Enclosed(low, high, up)


def decide_relation(relation: sympy.Basic, values: Assignment) -> bool | None:
    """Tell whether a relation holds at Fractions: True, False, or None where no enclosure decides."""
    pairs = {name: (value, value) for name, value in values.items()}
    for bits in (160, 640, 2560, 10_240):
        truth = execute_program(compile_expression(relation), Enclosures(bits), pairs)
        if truth is not None:
            return truth
    return None
