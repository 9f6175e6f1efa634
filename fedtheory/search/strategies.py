"""Hypothesis strategies: `cases(claim)` draws instances inside a claim's assumptions, for users'
own property tests.

Numbers are Fractions and corners are frequent: zeros, clients alike, extreme and marginal step
sizes. Free numbers are not filtered but moved to where the assumptions hold; a case shrinks to the
smallest shape and to simple numbers.

>>> import fedtheory as ft
>>> from hypothesis import HealthCheck, given, settings
>>> @settings(max_examples=2, database=None, suppress_health_check=list(HealthCheck), deadline=None)
... @given(ft.strategies.cases("fsl.theorem1"))
... def inside(case):
...     claim = ft.claim("fsl.theorem1")
...     assert not claim.admits(case.values)
...     assert ft.strategies.measure(claim, case).lower <= claim.evaluate(case.values)
>>> inside()
"""

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from hypothesis import reject
from hypothesis import strategies as st

from fedtheory import arithmetic, discover
from fedtheory.arithmetic.operations import ends_of
from fedtheory.errors import refuse
from fedtheory.language.claim import Claim
from fedtheory.models import fitting
from fedtheory.search import optimizer, scheduler
from fedtheory.search.exact_instances import (
    NO_VALUE,
    ExactInstance,
    draw_case,
    measure,
    of_point,
    target_at,
)
from fedtheory.search.objective import EXACT, exact_value
from fedtheory.search.rational_points import Point, round_to_bits

if TYPE_CHECKING:
    pass

__all__ = ["cases", "measure"]
SHAPES, DRAWS = 24, 100  # shapes that cases of a claim have in one setting, out of so many
COPIES = 8  # ways in which free numbers are moved inside at once
BITS = (2, 5, 12, 30)  # of a number that was moved: the fewest with which all assumptions hold
EXTREME = [Fraction(text) for text in "10 1/10 100 1/100 1000 1/1000 1000000 1/1000000".split()]
SMALL = sorted(
    {Fraction(n, d) for n in range(1, 7) for d in range(1, 7)},
    key=lambda f: (f.numerator + f.denominator, f),
)  # 1, 1/2, 2, 1/3, 3, ...
ZEROS, ONES = [Fraction(0)] * 8, [Fraction(1)] * 4
KINDS = {
    kind: st.sampled_from(numbers)
    for kind, numbers in dict(  # the simplest first: cases shrink to those
        unit=[*ONES, *ZEROS[:4], *[Fraction(1, 2)] * 4, *[Fraction(n, 12) for n in range(1, 12)]],
        real=[*ZEROS, *(sign * number for number in [*SMALL, *EXTREME[:6]] for sign in (1, -1))],
        positive=[*ONES, *SMALL, *EXTREME],
        nonnegative=[*ZEROS[:4], *ONES, *SMALL, *EXTREME],
        slack=[*ONES, *map(Fraction, ("11/10", "2", "10"))],
    ).items()
}


def cases(claim: str | Claim, setting: str | None = None) -> Any:
    """Return a strategy for Cases inside the assumptions of a claim or an id, in the given model,
    or in any model that fits."""
    claim = discover.claim(claim)
    if not claim.lines or claim.lines[0][1] == "O":
        refuse(
            "claim",
            "must have a line with constants, because cases are drawn inside its hypotheses",
            claim.id,
        )
    fit = [s.name for s in fitting(claim)]
    names = fit if setting is None else [getattr(setting, "name", setting)]
    if not set(names) <= set(fit):
        refuse("setting", f"must be one of {', '.join(fit) or 'none'} for {claim.id}", setting)
    able = [
        name
        for name in names
        if not target_at(claim, name).impossible and shapes_with_instances(claim, name)
    ]
    if not able:
        refuse("claim", "must have a model with instances inside its hypotheses", claim.id)
    return st.sampled_from(able).flatmap(lambda name: _draw_case(claim, name))


@lru_cache(maxsize=512)
def shapes_with_instances(claim: Claim, setting: str) -> list[Any]:
    """Return [(shape, counts)] of a claim in a model, sorted by size, as drawn for the strategy."""
    q, found = target_at(claim, setting), {}
    random = Random(f"cases/{setting}")
    for _ in range(DRAWS):
        drawn = scheduler.shapes_of(q, random, q.relaxed)
        if drawn is None:
            break
        found.setdefault(repr(drawn), drawn)
        if len(found) == SHAPES:
            break
    return sorted(found.values(), key=lambda each: (scheduler.shape_size(each), repr(each)))


@st.composite
def _draw_case(draw: Callable[..., Any], claim: Claim, setting: str) -> ExactInstance:
    """Draw a Case: a shape, simple numbers for its coordinates, and free numbers moved to where the
    assumptions hold. Where that finds no way in, a random point of a search at the shape is used,
    or else the draw is rejected."""
    q = target_at(claim, setting)
    shape, counts = draw(st.sampled_from(shapes_with_instances(claim, setting)))
    seed = draw(st.integers(0, 7))
    hunt = optimizer.search_at(q, shape, counts, seed)
    numbers = {name: draw(KINDS[kind]) for name, kind in hunt.kinds.items()}
    for name in q.slack:
        if q.setting.loose[name] < 0:
            numbers[f"slack {name}"] = 1 / numbers[f"slack {name}"]
    points = list(move_inside(hunt, numbers, draw(st.booleans())))
    found = next((case for case in map(of_point, points) if case is not None), None)
    if found is None and (
        q.after or q.reals and not points
    ):  # no way in from there: a search's points, any shape's
        found = search_shape(hunt) or draw_case(claim, setting, seed, tries=6)
    return found or reject()


def move_inside(
    hunt: optimizer.ShapeSearch, numbers: Mapping[str, Fraction], edge: bool
) -> Iterator[Point]:
    """Yield Points that keep an instance and move free numbers to where the assumptions hold that
    precede a run of the method."""
    q, own = hunt.target, row_of_numbers(hunt, numbers)
    points = np.tile(own, (COPIES, 1))
    with np.errstate(all="ignore"):
        points = hunt.moved_inside(points, hunt.build_instances(points)[1], edge)
    tried = set()
    for row in points:
        moved = [name for name in q.reals if row[hunt.column[name]] != own[hunt.column[name]]]
        if tuple(row) in tried:
            continue
        tried.add(tuple(row))
        for bits in BITS if moved else BITS[:1]:
            changed = {
                name: round_to_bits(float(hunt.number(name, row[hunt.column[name]])), bits)
                for name in moved
            }
            point = Point(hunt, {**numbers, **changed})
            if certainly_meets(point):
                yield point
                break


def search_shape(hunt: optimizer.ShapeSearch) -> Any:
    """Return the first Case among random points of a search at its shape, or None."""
    points, ratios = hunt.rate_points(hunt.draw(8 * COPIES), edge=True)
    near = (Point.near(hunt, row) for row in points[~np.isnan(ratios)][:COPIES])
    return next((case for case in map(of_point, filter(None, near)) if case is not None), None)


def row_of_numbers(hunt: optimizer.ShapeSearch, numbers: Mapping[str, Fraction]) -> np.ndarray:
    """Return the row of raw coordinates that encodes these numbers."""
    row = []
    for name, kind in hunt.kinds.items():
        if kind == "slack":
            row.append(abs(math.log(numbers[name])))
        elif kind in ("positive", "nonnegative"):
            row.append(math.log(numbers[name]) if numbers[name] else optimizer.NOTHING)
        else:
            row.append(float(numbers[name]))
    return np.array(row, dtype=float)


def certainly_meets(point: Point) -> bool:
    """Tell whether every relation that can be decided before the method runs certainly holds."""
    q, hunt = point.hunt.target, point.hunt
    try:
        instance = q.setting.build(
            hunt.shape, {n: point.numbers[n] for n in q.setting.coordinates(hunt.shape)}
        )
        values = dict(q.setting.constants(instance))
        for name in q.slack:
            values[name] = values[name] * point.numbers[f"slack {name}"]
        values.update(
            {mine: values[theirs] for mine, theirs in q.measured.items() if theirs in values}
        )
        values.update({name: Fraction(n) for name, n in hunt.numbers.items()})
        values.update({name: point.numbers[name] for name in q.reals})
        for name, expr in reversed(q.solved):
            values[name] = exact_value(expr, values)
        pairs = {
            name: ends_of(value) for name, value in values.items() if not isinstance(value, float)
        }
        solved = {name for name, _ in q.solved}
        return all(
            isinstance(r, sympy.Eq)
            and solved & set(q.names(r))
            or arithmetic.execute_program(arithmetic.compile_expression(r), EXACT, pairs) is True
            for r in q.before
        )
    except (*NO_VALUE, KeyError):
        return False
