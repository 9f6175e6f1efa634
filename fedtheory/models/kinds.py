"""Clients of a few kinds, all clients of a kind equal: how many kinds are drawn, how many clients
each has, and means over all clients. A model of thousands of clients costs as much as a few.

There are at most three kinds. The second of three kinds has a single client, so that a single
outlier among thousands can be drawn. Sizes are texts in a shape, because a search prefers shapes
with small integers and large sizes are meant here.
"""

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import Many
from fedtheory.models.fields import ZERO, Field
from fedtheory.schema import integer, list_of, total_of
from fedtheory.typing import Shape

MEMBERS = list_of(integer(), "kinds")
COHORT = integer(1, total_of("members"))  # the schema of a cohort's size


def draw_count(random: Random, least: int, most: int = 1000) -> int:
    """Draw a count from `least` to `most`, uniform in its logarithm. Where `least` is 1, the count
    is often 1 or 2."""
    if least == 1 and random.random() < 0.4:
        return random.choice([1, 1, 2])
    return round(least * (most / least) ** random.random())


def draw_kinds(random: Random, N: int) -> dict[str, Any]:
    """Draw the parts of a shape that say of how many kinds the N clients are, and how many clients
    are of the first kind."""
    kinds = min(N, random.choice([1, 2, 2, 2, 3]))
    first = random.choice([N // 2, 1, N - kinds + 1, random.randint(1, N)])
    return dict(kinds=kinds, first=str(N if kinds == 1 else min(max(1, first), N - kinds + 1)))


def count_members(shape: Shape) -> list[int]:
    """Return the number of clients of each kind."""
    N, first = int(shape["N"]), int(shape["first"])
    return {1: [N], 2: [first, N - first], 3: [first, 1, N - first - 1]}[shape["kinds"]]


def members_field() -> Field:
    """Return the field of the number of clients of each kind."""
    return Field("members", MEMBERS, lambda shape, point, built: count_members(shape))


def is_shared(values: Sequence[Any]) -> bool:
    """Tell whether all numbers are the same. Batches are compared by identity with the first and
    not by value."""
    first = values[0]
    return all(a is first or not isinstance(a, Many) and a == first for a in values)


class Kinds:
    """Numbers of clients by kind, and means over all clients of numbers by kind."""

    def __init__(self, members: Sequence[int]) -> None:
        self.members, self.N = members, sum(members)
        self.share = [Fraction(n, self.N) for n in members]

    def mean(self, values: Sequence[Any]) -> Any:
        """Return the mean over all clients."""
        return sum(share * value for share, value in zip(self.share, values))

    def pairs(self, values: Sequence[Any]) -> list[tuple[Fraction, Any, Any]]:
        """Return (share of the pairs of clients, both values) for each pair of kinds. The variance
        over all clients is the sum of share (a - b)^2, in which nothing cancels."""
        each = list(zip(self.share, values))
        return [(v * w, a, b) for k, (v, a) in enumerate(each) for w, b in each[:k]]

    def left_over(self, S: int) -> Fraction:
        """Return the share of the variance between clients that a cohort of S of them keeps, drawn
        without replacement."""
        return Fraction(self.N - S, self.N - 1) if self.N > 1 else ZERO
