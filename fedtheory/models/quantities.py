"""What a setting measures: functions of what happened there, each registered under its symbol, in
one place."""

import math
from fractions import Fraction

import numpy as np

from fedtheory.arithmetic.operations import Many
from fedtheory.models import names


def square_norm(v):
    return v.dot(v)


def next_integer(value):
    """The next whole number, in any arithmetic."""
    return Many(np.ceil(value.at)) if isinstance(value, Many) else Fraction(math.ceil(value))


class Quantities:
    """Symbols of a table and the function of each, all of one thing: a round's traces, a point, a
    pair of losses."""

    def __init__(self, table, /, **functions):
        strangers = [n for n in functions if n not in table or table[n].measure is None]
        if strangers:
            raise KeyError(f"{table.paper} has no measured symbol {', '.join(strangers)}")
        self.functions, self.measures = functions, names(table, *functions)

    def __iter__(self):
        return iter(self.functions)

    def __call__(self, about, wanted=None):
        """Symbol name -> value; all of them, or those wanted."""
        return {n: self.functions[n](about) for n in (self if wanted is None else wanted)}
