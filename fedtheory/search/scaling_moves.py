"""Moves scale several coordinates and numbers of an instance geometrically, so that left over shape
may grow. All points of a batch are evaluated in floats.

A move scales one to three numbers, and sometimes counts too. A move may also change the unit of
points or of losses, which scales everything measured in that unit.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from random import Random
from typing import Any

import numpy as np

from fedtheory.arithmetic.work import tally
from fedtheory.certificates.check_family import COEFFICIENT, GROWTH
from fedtheory.language.symbol import PLAIN
from fedtheory.search import optimizer
from fedtheory.search.objective import Target, as_array
from fedtheory.typing import Number

# STEPS: members of a family after the first. BASE: a move of power 1 multiplies a number by 1296 at
# each step. Such steps leave every range that a hypothesis bounds on both sides, and the square
# root and the fourth root of 1296 are rational.
STEPS, BASE = 8, 6**4
LATE = 2  # steps after which growth may begin, when the start of a run no longer hides it
FARTHEST = 10**6  # the least growth factor from the first member to the last
# A quantity on which the hidden constant may depend lies between 1/MODERATE and MODERATE, or is 0.
# Otherwise the hidden constant could be huge.
MODERATE = 100.0
MOVES = (1, -1, 2, -2)  # powers of BASE by which a move may scale a number at each step
TRIES = 12  # families of a batch that are evaluated exactly
MOST = 6_000  # operations at one step of a family; exact arithmetic has to repeat them
SLOWING = 0.99  # the least ratio of one of the last growth factors to the factor before


def move_inside(hunt: Any, points: Number) -> tuple[np.ndarray, np.ndarray]:
    """Return (points moved inside the hypotheses with positive left over shape, points at which the
    shape is 0 and the left side is not)."""
    points = hunt.evaluate_feasible(points)[0]
    ratio, good, _ = values_at(hunt, points)
    return points[good & (ratio > 0)], points[good & (ratio < 0)]


def movable_names(hunt: optimizer.ShapeSearch) -> tuple[list[str], list[str]]:
    """Return (coordinates and real free numbers that may be scaled, counts that may be scaled).
    Entries of the shape are not scaled, since runs of many more rounds take too long."""
    reals = [
        name
        for name in hunt.names
        if hunt.kinds[name] in ("positive", "nonnegative", "real")
        and not name.startswith(COEFFICIENT)
    ]
    return reals, list(hunt.numbers)


def find_growing(
    hunt: optimizer.ShapeSearch, points: np.ndarray, random: Random, turn: Any, shown: Any
) -> Iterator[tuple[Any, ...]]:
    """Yield (hunt, raw point, {name: power of the base}) for moves along which the ratio grows in
    floats. Moves that shrink no symbol of the shape come first, then the fastest growth."""
    reals, counts = movable_names(hunt)
    alone = [{name: 1} for name in counts] if turn == 0 else []
    # A number without a unit, such as a number of rounds, is only scaled up: there is no small
    # fraction of a round.
    q = hunt.target  # the model may take numbers that the claim does not mention
    unit = lambda name: (q.claim.symbols if name in q.claim.symbols else q.setting.table)[name].unit
    ways = {
        name: [p for p in MOVES if p > 0] if name in q.free and unit(name) == PLAIN else MOVES
        for name in reals
    }
    singles = [{name: power} for name in reals for power in ways[name]] if turn < 2 else []
    rows = [
        random.choice(singles)
        if singles and turn == 1
        else {
            name: random.choice(ways[name])
            for name in random.sample(reals, min(len(reals), random.choice([1, 2, 2, 3])))
        }
        for _ in points
    ]
    if turn == 3:  # every second point: another unit of losses or of points, perhaps one move more
        units = measured_in(hunt)
        rows = [
            combine_moves(random.choice(units), row, random) if units and n % 2 else row
            for n, row in enumerate(rows)
        ]
    if turn == 0 and singles:
        rows = list(islice(singles * (len(points) // len(singles) + 1), len(points)))
    several = random.sample(counts, random.randint(1, len(counts))) if counts else []
    count = dict.fromkeys(several, 1) if turn % 2 or not reals else {}
    # Where the number of rounds is infinite, only a smaller coefficient of a step size could help.
    smaller = {name: -1 for name in hunt.names if name.startswith(COEFFICIENT)}
    endless = np.isinf(values_at(hunt, points)[0])
    rows = [{**row, **smaller} if never else row for row, never in zip(rows, endless)]
    for whole, moves in [*((each, [{}] * len(points)) for each in alone), (count, rows)]:
        ratios, still = follow_moves(hunt, points, moves, whole)
        if ratios is None:
            continue
        shrinking = [
            any(power < 0 for name, power in each.items() if name in shown) for each in moves
        ]
        for begun in (0, LATE):
            good, rate = find_growth(ratios[begun:], still)
            order = np.lexsort((-np.where(good, rate, 0.0), shrinking, ~good))[:TRIES]
            never = np.nonzero(still & np.isinf(ratios).all(axis=0))[0][: 0 if begun else TRIES]
            here, there = step_counts(hunt, whole, begun), scale_points(hunt, points, moves, begun)
            yield from (
                (here, there[n], {**moves[n], **whole})
                for n in [*(n for n in order if good[n]), *never]
            )


def find_growth(ratios: np.ndarray, still: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (mask of points where left over shape grows at each step without slowing down, growth
    factor of the last step)."""
    with np.errstate(all="ignore"):
        factors = ratios[1:] / ratios[:-1]
        good = (
            still
            & np.all(np.isfinite(ratios), axis=0)
            & np.all(ratios > 0, axis=0)
            & np.all(factors >= float(GROWTH) * 1.001, axis=0)
            & (ratios[-1] >= FARTHEST * ratios[0])
            & np.all(factors[-4:] >= SLOWING * factors[-5:-1], axis=0)
        )
    return good, factors[-1]


def measured_in(hunt: optimizer.ShapeSearch) -> list[dict[str, int]]:
    """Return [{name: power}] of the effects of a larger or smaller unit, of points or of losses, on
    an instance's coordinates and free numbers."""
    q, found = hunt.target, []
    for axis in (0, 1):
        powers = {name: unit[axis] for name in hunt.column if (unit := unit_of(q, name))[axis]}
        found += [{n: way * p for n, p in powers.items()} for way in (1, -1) if powers]
    return found


def unit_of(q: Target, name: str) -> tuple[int, ...]:
    """Return (power of a point, power of a loss), the unit of a coordinate or a free number."""
    if name in q.setting.coordinates_in:
        return q.setting.coordinates_in[name]
    if name.rpartition("_")[0] and name.partition("_")[0] in q.setting.coordinates_in:
        return q.setting.coordinates_in[name.partition("_")[0]]
    entry = q.claim.symbols[name] if name in q.claim.symbols else None
    return entry.unit if entry is not None and name in q.free else PLAIN


def combine_moves(
    units: Mapping[str, int], row: Mapping[str, int], random: Random
) -> dict[str, int]:
    """Return a change of units, to which with probability 1/2 one further move is added."""
    more = dict(random.sample(sorted(row.items()), 1)) if random.random() < 0.5 else {}
    found = {name: units.get(name, 0) + more.get(name, 0) for name in {**units, **more}}
    return {name: power for name, power in found.items() if power}


def follow_moves(
    hunt: optimizer.ShapeSearch, points: np.ndarray, moves: Any, whole: Mapping[str, int]
) -> tuple[Any, ...]:
    """Return (left over shape after each step, one row per step; mask of points that stay admitted
    with hidden quantities unchanged). Return (None, None) where no point remains or a step takes
    too much work."""
    ratios, still, first = [], np.ones(len(points), dtype=bool), None
    for step in range(STEPS + 1):
        here = step_counts(hunt, whole, step)
        before = tally.count
        try:
            ratio, good, kept = values_at(here, scale_points(hunt, points, moves, step))
        except Exception:  # a shape that the model does not draw may raise anything
            return None, None
        work = tally.count - before
        if work > MOST:
            return None, None
        first = first or kept
        still &= good
        for name, (value, way) in kept.items():
            origin = first[name][0]
            with np.errstate(all="ignore"):
                change = np.nan_to_num((value - origin) / np.maximum(abs(origin), 1e-300), nan=0.0)
            size = abs(origin)
            way = 1 if name.startswith(COEFFICIENT) else way
            moderate = (size <= MODERATE) & (size >= 1 / MODERATE)
            still &= (size == 0) | moderate | np.isinf(value) & np.isinf(origin)
            still &= (
                change <= 1e-9 if way > 0 else change >= -1e-9 if way < 0 else abs(change) <= 1e-9
            )
        if not still.any():
            return None, None
        ratios.append(ratio)
    return np.array(ratios), still


def step_counts(
    hunt: optimizer.ShapeSearch, whole: Mapping[str, int], step: int
) -> optimizer.ShapeSearch:
    """Return the search with its counts scaled by a number of steps."""
    numbers = {
        n: v * BASE ** (whole[n] * step) if n in whole else v for n, v in hunt.numbers.items()
    }
    return optimizer.ShapeSearch(hunt.target, hunt.shape, numbers, None)


def scale_points(
    hunt: optimizer.ShapeSearch, points: np.ndarray, moves: Any, step: int
) -> np.ndarray:
    """Return raw points after a number of steps of their moves: a real number is multiplied by
    BASE^(power step), a logarithm gains log(BASE) power step, and 0 stays 0."""
    points = points.copy()
    for row, move in enumerate(moves):
        for name, power in move.items():
            n = hunt.column[name]
            if hunt.kinds[name] == "real":
                points[row, n] *= float(BASE) ** (power * step)
            elif points[row, n] > optimizer.NOTHING:
                points[row, n] += np.log(BASE) * power * step
    return points


def values_at(
    hunt: optimizer.ShapeSearch, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return (left over right, mask of admitted points, {hidden name: (values, way)}) of points
    without moving them. The ratio is -1 where the right side is 0 and the left side is not."""
    q, size = hunt.target, len(points)
    with np.errstate(all="ignore"):
        instance, values = hunt.build_instances(points)
        tight = q.setting.constants(instance)
        values = hunt.settle_values(values, points)
        good = q.admissible_mask(values, size)
        known = dict(values)
        begun = [
            name
            for name, entry in q.setting.table.items()
            if entry.measure in q.setting.measures
            and entry.measure.at in ("0", "1")
            and name not in known
        ]
        starts = q.setting.measure(instance, dict(known), begun) if begun else {}
        q.measure(instance, values)
        good = good & q.admitted_measured(values, size)
        over, shape = (as_array(q.value(side, values), size) for side in (q.left, q.right))
        ratio = np.where((shape == 0) & (over > 0), -1.0, over / shape)
    shown = set(q.names(q.right))
    shown |= {q.measured.get(name, name) for name in shown}
    fixed = {name for name, _ in q.solved if not name.startswith(COEFFICIENT)}
    kept = {
        name: (as_array(value, size), q.setting.loose.get(name, 0))
        for name, value in {**tight, **known, **starts}.items()
        if name not in shown and name not in fixed and q.measured.get(name, name) not in shown
    }
    return ratio, good, kept
