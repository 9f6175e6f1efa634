"""The law of the devices' work: how many steps each of them does in a round, jointly.

A shape holds a law's outcomes as a text such as "apart 02 2" (supports of independent devices) or
"tied 02 21" (joint outcomes); an instance holds [probability, [s^1, ..., s^N]] of each outcome.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Any

from fedtheory.arithmetic.work import Counted, count_ways
from fedtheory.models.fields import ZERO, Field, name_true
from fedtheory.schema import integer, list_of, row
from fedtheory.typing import Number, Point, Shape

ONE = Fraction(1)


def law_form(N: int) -> Any:
    """Return the schema of a law of the work of N devices: [probability, [s^1, ..., s^N]] for each
    outcome."""
    return list_of(row("nonnegative", list_of(integer(0, "E"), N)), total=0)


def law_field(N: str | int = "N") -> Any:
    """Return the field of the law of the work of N devices."""
    build = lambda shape, point, built: build_law(shape, point)
    return Field("law", law_form(N), build, law_coordinates)


def draw_law(random: Random, N: int, E: int, relaxed: Set[str], scheme: str) -> dict[str, str]:
    """Draw the entries of a shape that describe the law of work: the supports of the devices, and
    whether all devices have the same probabilities."""
    steps = range(0 if "all_active" in relaxed else 1, E + 1)
    alike, complete = "homogeneous" not in relaxed, scheme == "A" or "some_complete" not in relaxed
    if "full_work" not in relaxed:
        return dict(law=" ".join(["apart"] + [str(E)] * N), rows="each")
    some = lambda most: "".join(
        map(str, sorted(random.sample(steps, random.randint(1, min(most, len(steps))))))
    )
    if "devices_independent" in relaxed and random.random() < 0.3:
        outcomes = {
            tuple([random.choice(steps)] * N)
            if alike
            else tuple(random.choice(steps) for _ in range(N))
            for _ in range(random.randint(1, 4))
        } | ({(E,) * N} if complete else set())
        if complete and scheme != "A":
            outcomes = {s for s in outcomes if E in s}
        return dict(
            law=" ".join(["tied", *("".join(map(str, s)) for s in sorted(outcomes))]), rows="each"
        )
    supports = (
        [some(3 if N < 3 else 2)] * N if alike else [some(3 if N < 3 else 2) for _ in range(N)]
    )
    if complete and scheme == "A" and not any(str(E) in s for s in supports):
        supports = (
            [s + str(E) for s in supports] if alike else [supports[0] + str(E), *supports[1:]]
        )
    elif complete and scheme != "A":  # K_tau >= 1 for all outcomes of the other devices
        supports = [str(E)] * N if alike else [str(E), *supports[1:]]
    return dict(law=" ".join(["apart", *supports]), rows="one" if alike else "each")


def may_work(shape: Shape, members: int) -> bool:
    """Tell whether one of the first `members` devices does a step with positive probability."""
    kind, *parts = shape["law"].split()
    return (
        set("".join(parts[:members] if kind == "apart" else (s[:members] for s in parts))) - {"0"}
        != set()
    )


def law_coordinates(shape: Shape) -> dict[str, str]:
    """Return the coordinates of the law's probabilities; an outcome that is certain has none."""
    kind, *parts = shape["law"].split()
    if kind == "tied":
        return {f"q_{j}": "unit" for j in range(len(parts))} if len(parts) > 1 else {}
    return {
        f"q_{k}_{j}": "unit"
        for k, support in enumerate(parts[:1] if shape["rows"] == "one" else parts)
        for j in range(len(support))
        if len(support) > 1
    }


def build_law(shape: Shape, point: Point) -> list[list[Any]]:
    """Build the law of work [[probability, [s^1, ..., s^N]], ...] from a shape and a point."""
    kind, *parts = shape["law"].split()
    if kind == "tied":
        return [
            [q, list(map(int, s))]
            for q, s in zip(shares([point.get(f"q_{j}", ONE) for j in range(len(parts))]), parts)
        ]
    rows = [
        shares([point.get(f"q_{k}_{j}", ONE) for j in range(len(support))])
        for k, support in enumerate(parts[:1] if shape["rows"] == "one" else parts)
    ]
    rows = rows * len(parts) if shape["rows"] == "one" else rows
    found = []
    for choice in product(*(range(len(support)) for support in parts)):
        q = ONE
        for odds, j in zip(rows, choice):
            q = q * odds[j]
        found.append([q, [int(support[j]) for support, j in zip(parts, choice)]])
    return found


def shares(weights: Sequence[Number | Counted]) -> list[Number | Counted]:
    """Return weights divided by their sum."""
    total = sum(weights)
    return [w / total for w in weights] if len(weights) > 1 else [ONE]


def held_by_law(law: Sequence[Any], E: int, scheme: str | None = None) -> frozenset[str] | None:
    """Return the conditions that a law of work meets, or None where the data are no law.

    Independence is tested exactly: the joint probability of each outcome has to be the product of
    the devices' own probabilities.
    """
    N = len(law[0][1])
    if (
        sum(q for q, _ in law) != 1
        or any(q < 0 for q, _ in law)
        or any(len(s) != N or not all(0 <= steps <= E for steps in s) for _, s in law)
    ):
        return None
    law = [(q, s) for q, s in law if q > 0]
    rows = [[sum(q for q, s in law if s[k] == steps) for steps in range(E + 1)] for k in range(N)]
    alike = all(row == rows[0] for row in rows)
    joint = {}
    for q, s in law:
        joint[tuple(s)] = joint.get(tuple(s), ZERO) + q
    apart = all(
        joint.get(s, ZERO) == prod((row[steps] for row, steps in zip(rows, s)), start=ONE)
        for s in count_ways(product(range(E + 1), repeat=N))
    )
    # Rounds of scheme A without a complete device are discarded and not counted.
    complete = any(E in s for _, s in law) if scheme == "A" else all(E in s for _, s in law)
    return name_true(
        homogeneous=alike,
        heterogeneous=not alike,
        devices_independent=apart,
        some_complete=complete,
        all_active=all(0 not in s for _, s in law),
        full_work=all(set(s) == {E} for _, s in law),
    )
