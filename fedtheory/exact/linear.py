"""Numbers that are linear in unknowns: a kernel that runs on them yields the linear map of a round.

A whole point can be such a number where a method treats all coordinates alike and separately (which
`worstcase.structure` decides). The unknowns are gradients that a method receives, draws of noise
and a method's memory. A kernel that multiplies two such numbers, compares one, or tests whether one
is zero, is not linear. Such a kernel is refused with a message by `kernel_interpreter.Kernels`.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.arithmetic.work import Counted
from fedtheory.exact.kernel_interpreter import exact_number
from fedtheory.typing import Number


class Linear:
    """A linear combination of unknowns; `terms` is {unknown: coefficient}, with coefficients of any
    number type."""

    __slots__ = ("terms",)
    __array_ufunc__ = None  # so that a NumPy number on the left leaves the operation to this class
    number = staticmethod(exact_number)  # conversion of factors

    def __init__(self, terms: Mapping[str | tuple[int | str, ...], Any]) -> None:
        self.terms = {key: value for key, value in terms.items() if not is_zero(value)}

    def _of(self, terms: Mapping[str | tuple[int | str, ...], Any]) -> Any:
        return type(self)(terms)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Linear):  # sums in kernels start from the number 0
            return self if is_zero(other) else NotImplemented
        few, terms = other.terms, dict(self.terms)
        for key, value in few.items():
            terms[key] = terms[key] + value if key in terms else value
        return self._of(terms)

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, Linear):
            raise TypeError("it multiplies unknown numbers")
        factor = self.number(factor)
        return self._of({key: value * factor for key, value in self.terms.items()})

    def __truediv__(self, divisor: Number) -> Any:
        if isinstance(divisor, Linear):
            raise TypeError("it divides by an unknown number")
        divisor = self.number(divisor)
        return self._of({key: value / divisor for key, value in self.terms.items()})

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def _refuse_comparison(self, other: Any = None) -> Any:
        raise TypeError("what it does depends on the size or the sign of unknown numbers")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __abs__ = _refuse_comparison
    __hash__ = None

    def __rtruediv__(self, other: Any) -> Any:
        raise TypeError("it divides by an unknown number")

    def row(self, unknowns: Sequence[str | tuple[int | str, ...]]) -> Any:
        """Return the coefficients of the given unknowns, in their order; 0 for unknowns that do not
        occur."""
        return [self.terms.get(key, Fraction(0)) for key in unknowns]


def is_zero(value: Number | Counted) -> Any:
    """Tell whether a number is an exact 0. An interval or a Linear is never one."""
    return isinstance(value, (int, Fraction)) and value == 0


def linear_coefficients(
    number: Fraction | Linear, unknowns: Sequence[str | tuple[str, int, int]]
) -> Any:
    """Return the coefficients of a number that a kernel may have left at 0."""
    return (number if isinstance(number, Linear) else Linear({})).row(unknowns)
