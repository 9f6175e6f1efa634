"""The quantities that a model measures: functions of what happened in an instance, each registered
under its symbol."""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.arithmetic.operations import Many
from fedtheory.arithmetic.work import Counted
from fedtheory.language.symbol import Table
from fedtheory.models import names
from fedtheory.typing import Number


def square_norm(v: np.ndarray) -> Number | Counted:
    """Return ||v||^2 = <v, v> of a vector of any number type."""
    return v.dot(v)


def next_integer(value: Number | Counted) -> Number:
    """Return the least whole number that is at least `value`, in any arithmetic."""
    return Many(np.ceil(value.at)) if isinstance(value, Many) else Fraction(math.ceil(value))


class Quantities:
    """Symbols of a table with the function of each, all of one object: a round's traces, a point,
    or a pair of losses."""

    def __init__(self, table: Table, /, **functions: Callable[..., Any]) -> None:
        strangers = [n for n in functions if n not in table or table[n].measure is None]
        if strangers:
            raise KeyError(f"{table.paper} has no measured symbol {', '.join(strangers)}")
        self.functions, self.measures = functions, names(table, *functions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.functions)

    def __call__(self, about: Any, wanted: Sequence[str] | None = None) -> dict[str, Any]:
        """Return {symbol name: value} for the object `about`, for the symbols `wanted`, or for all
        symbols."""
        return {n: self.functions[n](about) for n in (self if wanted is None else wanted)}
