"""What an enumeration of cohorts takes for granted of a method: a cohort is a set, and a client's steps
leave the state as it is.

Each cohort is followed in one order, each client's steps once for all cohorts. Both are looked at
wherever exact numbers go through kernels that are not of this library.
"""

import numpy as np

from fedtheory.arithmetic.operations import Many, pair
from fedtheory.errors import NotExact
from fedtheory.exact.linear import Linear


class NoSet(NotExact):
    """A method for which it matters in which order a cohort stands, or works."""


def orders(size):
    """Orders of a cohort from which every other is made: its first two exchanged, and all moved on by
    one."""
    places = list(range(size))
    found = [[1, 0, *places[2:]], [*places[1:], 0]] if size > 1 else []
    return found[: max(0, size - 1)]


def alike(one, other):
    """Whether two numbers are the same, as far as they can tell; floats of a batch decide nothing."""
    if one is other or isinstance(one, Many) or isinstance(other, Many):
        return True
    if isinstance(one, Linear) or isinstance(other, Linear):
        terms = [number.terms if isinstance(number, Linear) else {} for number in (one, other)]
        return terms[0].keys() == terms[1].keys() and all(
            alike(value, terms[1][key]) for key, value in terms[0].items()
        )
    (low, high), (least, most) = pair(one), pair(other)
    return bool(low <= most and least <= high)


def same(state, other):
    """Whether two states are."""
    return all(
        all(map(alike, a.flat, b.flat)) if a.dtype == object else np.array_equal(a, b)
        for a, b in zip(state, other)
    )


def require_unwritten(method, before, after):
    """Refuse a method whose clients have written into the state."""
    if not same(before, after):
        raise NoSet(
            f"{method.name}'s clients write into the state before their cohort is aggregated, where "
            "others would read it"
        )


def require_set(method, state, other):
    """Refuse a method that a cohort in another order leads to another state."""
    if not same(state, other):
        raise NoSet(f"{method.name}'s aggregate depends on the order of the cohort, which is drawn")
