"""Fast evaluation of formulas on NumPy arrays that carry bounds of their own rounding errors.

Each result is a pair (value, error) with |true - value| <= error, by first-order running error
analysis with slack. Where cancellation leaves too few digits, `sweep` falls back on enclosures,
point by point.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import arithmetic
from fedtheory.errors import refuse
from fedtheory.typing import Assignment, Number

if TYPE_CHECKING:
    import sympy

EPS = np.finfo(np.float64).eps
BLOCK = 4096  # points at a time, so that intermediate results stay in the cache
SLACK = 1.01  # covers the second-order terms that the formulas below leave out


def _is_zero(error: Number) -> bool:
    return isinstance(error, float) and error == 0.0


class Values:
    """The operations of `arithmetic.program` on arrays without error bounds. The values equal those
    of `Arrays` and take a third of the time."""

    number, truth = staticmethod(float), staticmethod(lambda value: value)
    exp, log, abs = staticmethod(np.exp), staticmethod(np.log), staticmethod(abs)
    floor, ceiling = staticmethod(np.floor), staticmethod(np.ceil)
    lt, gt = staticmethod(operator.lt), staticmethod(operator.gt)

    def add(self, *terms: Number) -> Number:
        return reduce(operator.add, terms)

    def mul(self, *factors: Number) -> Number:
        return reduce(operator.mul, factors)

    def power(self, base: Number, detail: tuple[Fraction, bool]) -> Number:
        exponent, _ = detail
        n, q = abs(exponent.numerator), exponent.denominator
        if n > 4 or q > 2:
            return np.power(base, float(exponent))
        raised = self.mul(*[np.sqrt(base) if q == 2 else base] * n)
        return raised if exponent > 0 else 1.0 / raised

    def integer_power(self, base: Number, exponent: Number, nonnegative: bool) -> Number:
        return np.power(base, exponent)

    def min(self, *terms: Number) -> Number:
        return reduce(np.minimum, terms)

    def max(self, *terms: Number) -> Number:
        return reduce(np.maximum, terms)

    # Relations compare values; near equality the caller's tolerance decides.
    def le(self, a: Number, b: Number) -> Number:
        return a <= b + TOLERANCE * abs(b)

    def ge(self, a: Number, b: Number) -> Number:
        return self.le(b, a)

    def eq(self, a: Number, b: Number) -> Number:
        return abs(a - b) <= TOLERANCE * np.maximum(abs(a), abs(b))

    def ne(self, a: Number, b: Number) -> Number:
        return ~np.asarray(self.eq(a, b))

    def both(self, *truths: Number) -> Number:
        return np.logical_and.reduce(truths)

    def piecewise(self, *parts: Number) -> Number:
        shape = np.broadcast_shapes(*map(np.shape, parts))
        conditions, values = (
            [np.broadcast_to(each, shape) for each in of] for of in (parts[::2], parts[1::2])
        )
        return np.select(conditions, values, default=np.nan)


class Arrays:
    """The operations of `arithmetic.program` on (value, error) pairs."""

    def number(self, value: Fraction) -> tuple[float, float]:
        near = float(value)
        return near, 0.0 if Fraction(near) == value else EPS * abs(near)

    def truth(self, value: bool) -> bool:
        return value

    def add(self, *terms: tuple[Number, Number]) -> tuple[Number, Number]:
        value, error = terms[0]
        for other, more in terms[1:]:
            value = value + other
            error = error + more + EPS * abs(value)
        return value, error

    def mul(self, *factors: tuple[Number, Number]) -> tuple[Number, Number]:
        value, error = factors[0]
        for other, more in factors[1:]:
            if _is_zero(error):
                error = 0.0 if _is_zero(more) else SLACK * abs(value) * more
            elif _is_zero(more):
                error = SLACK * abs(other) * error
            else:
                error = SLACK * (abs(value) * more + abs(other) * error + error * more)
            value = value * other
            error = error + EPS * abs(value)
        return value, error

    def power(
        self, base: tuple[Number, Number], detail: tuple[Fraction, bool]
    ) -> tuple[Number, Number]:
        exponent, _ = detail
        n, q = abs(exponent.numerator), exponent.denominator
        if n > 4 or q > 2:
            result = np.power(base[0], float(exponent))
            return result, self._relative(result, *base, abs(float(exponent)))
        if q == 2:
            value, error = base
            root = np.sqrt(value)
            base = (
                root,
                EPS * root
                + (0.0 if _is_zero(error) else np.where(error == 0.0, 0.0, error / root)),
            )
        raised = base if n == 1 else self.mul(*[base] * n)
        return raised if exponent > 0 else self._inverse(raised)

    def _inverse(self, a: tuple[Number, Number]) -> tuple[Number, Number]:
        value, error = a
        result = 1.0 / value
        size = abs(result)
        bound = (
            EPS * size
            if _is_zero(error)
            else size * (error / np.maximum(abs(value) - error, 0.0) * SLACK + EPS)
        )
        return result, np.where(np.isinf(result), np.where(error == 0.0, 0.0, np.inf), bound)

    def integer_power(
        self, base: tuple[Number, Number], exponent: tuple[Number, Number], nonnegative: bool
    ) -> tuple[Number, Number]:
        result = np.power(base[0], exponent[0])
        return result, self._relative(result, *base, abs(exponent[0]))

    def _relative(self, result: Number, value: Number, error: Number, n: Number) -> Number:
        """Return |(1 +- r)^n - 1| times the size of the result, where r is the relative error of
        the value. An exact zero stays exact."""
        if _is_zero(error):
            return np.where(np.isinf(result), 0.0, 4 * EPS * abs(result))
        relative = np.where(error == 0.0, 0.0, error / abs(value))
        relative = np.where(relative < 0.5, relative / (1.0 - relative), np.inf)
        grown = np.where(relative == 0.0, 0.0, np.expm1(n * np.log1p(relative)))
        bound = abs(result) * (SLACK * grown + 4 * EPS)
        return np.where(np.isinf(result) & (error == 0.0), 0.0, bound)

    def exp(self, a: tuple[Number, Number]) -> tuple[Number, Number]:
        value, error = a
        result = np.exp(value)
        return result, result * (SLACK * np.expm1(error) + 4 * EPS)

    def log(self, a: tuple[Number, Number]) -> tuple[Number, Number]:
        value, error = a
        result = np.log(value)
        carried = np.where(error < abs(value), SLACK * error / (abs(value) - error), np.inf)
        return result, carried + 4 * EPS * abs(result)

    def min(self, *terms: tuple[Number, Number]) -> tuple[Number, Number]:
        return self._extreme(np.minimum, terms)

    def max(self, *terms: tuple[Number, Number]) -> tuple[Number, Number]:
        return self._extreme(np.maximum, terms)

    def _extreme(
        self, choose: Callable[..., Any], terms: Sequence[tuple[Number, Number]]
    ) -> tuple[Number, Number]:
        value, error = terms[0]
        if all(_is_zero(more) for _, more in terms):
            for other, _ in terms[1:]:
                value = choose(value, other)
            return value, 0.0
        for other, more in terms[1:]:
            # An infinite term that is not selected says nothing about the selected term's error.
            kept = choose(value, other)
            error = np.maximum(
                np.where(np.isinf(value) & (kept != value), 0.0, error),
                np.where(np.isinf(other) & (kept != other), 0.0, more),
            )
            value = kept
        return value, error

    def abs(self, a: tuple[Number, Number]) -> tuple[Number, Number]:
        return abs(a[0]), a[1]

    def floor(self, a: tuple[Number, Number]) -> tuple[Number, Number]:
        return self._step(np.floor, a)

    def ceiling(self, a: tuple[Number, Number]) -> tuple[Number, Number]:
        return self._step(np.ceil, a)

    def _step(
        self, function: Callable[..., Any], a: tuple[Number, Number]
    ) -> tuple[Number, Number]:
        value, error = a
        sure = function(value - error) == function(value + error)
        return function(value), np.where(sure, 0.0, np.inf)

    def le(self, a: tuple[Number, Number], b: tuple[Number, Number]) -> Number:
        return VALUES.le(a[0], b[0])

    def lt(self, a: tuple[Number, Number], b: tuple[Number, Number]) -> Number:
        return VALUES.lt(a[0], b[0])

    def ge(self, a: tuple[Number, Number], b: tuple[Number, Number]) -> Number:
        return VALUES.ge(a[0], b[0])

    def gt(self, a: tuple[Number, Number], b: tuple[Number, Number]) -> Number:
        return VALUES.gt(a[0], b[0])

    def eq(self, a: tuple[Number, Number], b: tuple[Number, Number]) -> Number:
        return VALUES.eq(a[0], b[0])

    def ne(self, a: tuple[Number, Number], b: tuple[Number, Number]) -> Number:
        return VALUES.ne(a[0], b[0])

    def both(self, *truths: Number) -> Number:
        return np.logical_and.reduce(truths)

    def piecewise(self, *parts: Any) -> tuple[Number, Number]:
        conditions, values = parts[::2], parts[1::2]
        shape = np.broadcast_shapes(*(np.shape(x) for x in (*conditions, *(v for v, _ in values))))
        everywhere = [np.broadcast_to(c, shape) for c in conditions]
        pick = lambda n: np.select(
            everywhere, [np.broadcast_to(v[n], shape) for v in values], default=np.nan
        )
        return pick(0), pick(1)


VALUES = Values()
# Numbers rounded to floats satisfy an equation, or lie on a boundary, only up to rounding.
TOLERANCE = 1e-12


def pair_columns(values: Mapping[str, Any]) -> dict[str, tuple[np.ndarray, float]]:
    """Return the given arrays as (float64 array, error 0) pairs."""
    pairs = {}
    for name, value in values.items():
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            refuse(name, "must be an array of numbers", value)
        if not np.all(np.isfinite(array)):
            refuse(name, "must be finite", value)
        pairs[name] = (array, 0.0)
    return pairs


def sweep_expression(expr: "sympy.Expr", values: Assignment, digits: int = 12) -> np.ndarray:
    """Return the values of an expression at many points, each accurate to `digits` digits of the
    enclosure."""
    pairs = pair_columns(values)
    shape = np.broadcast_shapes(*(np.shape(v) for v, _ in pairs.values()))
    flat = {
        name: v if v.ndim == 0 else np.broadcast_to(v, shape).ravel()
        for name, (v, _) in pairs.items()
    }
    size = int(np.prod(shape))
    found = np.empty(size)
    for start in range(0, size, BLOCK):
        part = slice(start, min(start + BLOCK, size))
        found[part] = _sweep_block(
            expr,
            {name: v if v.ndim == 0 else v[part] for name, v in flat.items()},
            part.stop - start,
            digits,
        )
    return found.reshape(shape)


def _sweep_block(
    expr: "sympy.Expr", values: Mapping[str, np.ndarray], size: int, digits: int
) -> np.ndarray:
    pairs = {name: (v, 0.0) for name, v in values.items()}
    try:
        # Beyond the range of floats the error bounds are void: those points are enclosed.
        with np.errstate(all="ignore", under="raise", over="raise"):
            value, error = arithmetic.execute_program(
                arithmetic.compile_expression(expr), Arrays(), pairs
            )
            value = np.array(np.broadcast_to(value, size), dtype=np.float64)
            poor = np.flatnonzero(np.broadcast_to(~(error <= 10.0**-digits * abs(value)), size))
    except FloatingPointError:
        if size > 32:
            halves = ((0, size // 2), (size // 2, size))
            return np.concatenate(
                [
                    _sweep_block(
                        expr,
                        {k: v if v.ndim == 0 else v[low:high] for k, v in values.items()},
                        high - low,
                        digits,
                    )
                    for low, high in halves
                ]
            )
        value, poor = np.empty(size), np.arange(size)
    for at in poor:
        exact = {name: Fraction(float(v if v.ndim == 0 else v[at])) for name, v in values.items()}
        try:
            value[at] = arithmetic.enclose_value(expr, exact)
        except arithmetic.Undefined:
            value[at] = np.nan
    return value


def holds_at(relation: "sympy.Rel", values: Assignment) -> Number:
    """Tell at which of many points a relation holds, up to rounding."""
    with np.errstate(all="ignore"):
        return arithmetic.execute_program(
            arithmetic.compile_expression(relation), Arrays(), pair_columns(values)
        )
