"""Two assumptions that an enumeration of cohorts makes about a method: a cohort is a set, and a
client's steps do not change the state.

The enumeration computes each cohort in one order, and each client's steps once for all cohorts.
Both assumptions are checked wherever exact numbers go through kernels from outside this library.
"""

from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.arithmetic.operations import Many, ends_of
from fedtheory.errors import NotExact
from fedtheory.exact.linear import Linear


class NoSet(NotExact):
    """A refusal: the method's result depends on the order in which a cohort is listed or works."""


def generating_orders(size: int) -> list[list[int]]:
    """Return permutations of a cohort of `size` that generate all permutations: the exchange of the
    first two members, and the cyclic shift by one."""
    places = list(range(size))
    found = [[1, 0, *places[2:]], [*places[1:], 0]] if size > 1 else []
    return found[: max(0, size - 1)]


def are_alike(one: Any, other: Any) -> bool:
    """Tell whether two numbers are equal, as far as their representation can decide. Batches of
    floats (Many) always count as equal."""
    if one is other or isinstance(one, Many) or isinstance(other, Many):
        return True
    if isinstance(one, Linear) or isinstance(other, Linear):
        terms = [number.terms if isinstance(number, Linear) else {} for number in (one, other)]
        return terms[0].keys() == terms[1].keys() and all(
            are_alike(value, terms[1][key]) for key, value in terms[0].items()
        )
    (low, high), (least, most) = ends_of(one), ends_of(other)
    return bool(low <= most and least <= high)


def same_states(state: Any, other: Any) -> bool:
    """Tell whether two states are equal in every entry."""
    return all(
        all(map(are_alike, a.flat, b.flat)) if a.dtype == object else np.array_equal(a, b)
        for a, b in zip(state, other)
    )


def require_unwritten(method: Algorithm, before: Any, after: Any) -> None:
    """Refuse a method whose clients have written into the state, where other clients of the cohort
    would read the change."""
    if not same_states(before, after):
        raise NoSet(
            f"{method.name}'s clients write into the state before their cohort is aggregated, where "
            "others would read it"
        )


def require_set(method: Algorithm, state: Any, other: Any) -> None:
    """Refuse a method that leads to another state when the cohort is permuted."""
    if not same_states(state, other):
        raise NoSet(f"{method.name}'s aggregate depends on the order of the cohort, which is drawn")
