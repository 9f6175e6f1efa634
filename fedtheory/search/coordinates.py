"""The coordinates of a target at one shape: their kinds, the numbers that they encode, random
starting points, and projections into the assumptions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.arithmetic.operations import Many
from fedtheory.arithmetic.work import tally
from fedtheory.search.objective import Target, as_array
from fedtheory.typing import Assignment, Number, Shape

if TYPE_CHECKING:
    import sympy

# Largest absolute values of natural logarithms. FREE: of free symbols and of the scale of losses.
# PLACED: of an instance's other coordinates.
FREE, PLACED = 25.0, 9.0
# A constant that equations fix has to be at least the instance's own constant. SIZES: the columns
# that change the instance's own. BELOW: the logarithmic margin by which the own constant is moved
# below the fixed one.
SIZES, BELOW = ("scale", "sigma"), 1e-6
NOTHING = -99.0  # a raw logarithm that encodes the number 0
# Steps of exact arithmetic that the evaluation of one point may take, unless the search sets a
# smaller limit.
LOOK = 240_000


class Columns:
    """The raw coordinates of a target at one shape, one column each, and their conversion to
    numbers."""

    def __init__(
        self,
        target: Target,
        shape: Shape,
        numbers: Mapping[str, Number],
        generator: np.random.Generator,
    ) -> None:
        self.target, self.shape, self.numbers, self.generator = target, shape, numbers, generator
        kinds = dict(target.setting.coordinates(shape))
        kinds.update({f"slack {name}": "slack" for name in target.slack})
        kinds.update(
            {
                name: {"positive": "positive", "nonnegative": "nonnegative"}.get(
                    target.free[name], "real"
                )
                for name in target.reals
            }
        )
        self.kinds, self.names = kinds, list(kinds)
        self.column = {name: n for n, name in enumerate(self.names)}
        self.work = 0  # elementary steps done so far
        self.look = LOOK  # steps of exact arithmetic that the evaluation of a point may take

    # Points

    def draw(self, size: int) -> np.ndarray:
        """Draw raw points (size, columns). Corners are frequent: halves for a coordinate of the
        unit interval, no slack, zeros, and logarithms of a wide and of a narrow spread."""
        g, columns = self.generator, []
        wide = np.where(g.random(size) < 0.3, 2.0, 0.7)
        for name in self.names:
            kind = self.kinds[name]
            if kind == "unit":
                column = np.where(g.random(size) < 0.6, g.integers(0, 3, size) / 2, g.random(size))
            elif kind == "slack":
                column = np.where(g.random(size) < 0.8, 0.0, g.exponential(0.5, size))
            elif kind == "real":
                column = np.where(
                    g.random(size) < 0.25,
                    0.0,
                    g.standard_normal(size) * np.exp(wide * g.normal(size=size)),
                )
            else:
                column = wide * g.normal(size=size) * 1.5
                rare = 0.05 if name == "scale" else 0.15
                column = np.where(g.random(size) < rare, column * 4, column)
                if kind == "nonnegative":
                    column = np.where(g.random(size) < 0.1, NOTHING, column)
            columns.append(column)
        points = np.array(columns).T.reshape(size, len(self.names))
        return self.equate_coordinates(points) if self.target.strict else points

    def equate_coordinates(self, points: np.ndarray) -> np.ndarray:
        """Return points of which about a fifth have two coordinates of one kind set equal. A strict
        inequality fails where its sides are equal, and no ratio leads a search there."""
        alike = [
            [n for n, name in enumerate(self.names) if self.kinds[name] == kind]
            for kind in sorted(set(self.kinds.values()))
        ]
        for kind in (each for each in alike if len(each) > 1):
            one, other = self.generator.choice(kind, 2, replace=False)
            rows = self.generator.random(len(points)) < 0.2
            points[rows, one] = points[rows, other]
        return points

    def proper(self, points: np.ndarray) -> np.ndarray:
        """Limit raw points to the ranges of their kinds, in place, and return the points. A
        nonnegative number whose logarithm is below the range becomes 0."""
        for n, name in enumerate(self.names):
            kind = self.kinds[name]
            if kind == "unit":
                points[:, n] = np.clip(points[:, n], 0.0, 1.0)
            elif kind == "slack":
                points[:, n] = np.clip(points[:, n], 0.0, 20.0)
            elif kind in ("positive", "nonnegative"):
                most = FREE if name in self.target.free or name == "scale" else PLACED
                points[:, n] = np.where(
                    points[:, n] < -most,
                    NOTHING if kind == "nonnegative" else -most,
                    np.minimum(points[:, n], most),
                )
            else:
                points[:, n] = np.clip(points[:, n], -1e4, 1e4)
        return points

    def number(self, name: str, raw: float | np.ndarray) -> float | np.ndarray:
        """Return the number that a raw coordinate encodes."""
        kind = self.kinds[name]
        if kind == "slack":
            return np.exp(raw * self.target.setting.loose[name[6:]])
        if kind in ("positive", "nonnegative"):
            return np.where(raw <= NOTHING, 0.0, np.exp(raw))
        return raw

    def raw(self, name: str, number: float) -> float | np.ndarray:
        """Return the raw coordinate that encodes a number, the inverse of `number`."""
        if self.kinds[name] in ("positive", "nonnegative"):
            with np.errstate(divide="ignore"):
                return np.where(number > 0, np.log(number), NOTHING)
        return number

    def build_instances(self, points: np.ndarray) -> tuple[dict[str, Any], dict[str, Number]]:
        """Return (instance, values) at points: the instances and all values that are known before a
        method runs."""
        q, at = (
            self.target,
            {name: Many(self.number(name, points[:, n])) for name, n in self.column.items()},
        )
        instance = q.setting.build(
            self.shape, {name: at[name] for name in q.setting.coordinates(self.shape)}
        )
        values = q.known_constants(instance, {name: at[f"slack {name}"] for name in q.slack})
        values.update(self.numbers)
        return instance, values

    def settle_values(self, values: Mapping[str, Number], points: np.ndarray) -> dict[str, Number]:
        """Return the values with the free real numbers at these points, and with the symbols that
        equations fix."""
        values = dict(values)
        values.update(
            {
                name: Many(self.number(name, points[:, self.column[name]]))
                for name in self.target.reals
            }
        )
        return self.target.settle(values)

    # Inside the assumptions

    def fit_points(self, points: np.ndarray) -> np.ndarray:
        """Return points with losses and noise scaled so that they are small enough for the bounds
        that equations fix. Some points meet these bounds almost with equality."""
        q, points = self.target, points.copy()
        for name in q.pinned:
            tighter = self._tightness_of_bound(points, name)
            near = self.generator.random(len(points)) < 0.5
            for n in (self.column[size] for size in SIZES if size in self.column):
                nudged = points.copy()
                nudged[:, n] += 1.0
                slope = self._tightness_of_bound(nudged, name) - tighter
                moves = np.isfinite(slope) & (abs(slope) > 1e-6) & (near | (tighter > 0))
                points[moves, n] -= (tighter[moves] + BELOW) / slope[moves]
                tighter = np.where(moves, -BELOW, tighter)
        return points

    def _tightness_of_bound(self, points: np.ndarray, name: str) -> np.ndarray:
        """Return by how much, in logarithms, a bound that an equation fixes is tighter than the
        instance's own constant."""
        q, size = self.target, len(points)
        values = self.build_instances(points)[1]
        own = as_array(values[name], size)
        fixed = as_array(q.value(dict(q.solved)[name], self.settle_values(values, points)), size)
        with np.errstate(all="ignore"):
            return (np.log(own) - np.log(fixed)) * q.setting.loose[name]

    def move_inside(self, point: np.ndarray, margin: float) -> np.ndarray:
        """Return a raw point moved inside every inequality by a margin in logarithms, as far as
        moving free symbols achieves this."""
        q, points, before = self.target, point[None].copy(), tally.count
        reals = [
            self.column[name] for name in q.reals if self.kinds[name] in ("positive", "nonnegative")
        ]
        with np.errstate(all="ignore"):
            values = self.build_instances(points)[1]
            for _ in range(4 if reals else 0):
                close = [
                    r
                    for r in q.between
                    if q.excess(r, self.settle_values(values, points), 1)[0] > -margin / 2
                ]
                for relation in close:
                    # From a corner of the searched box, the direction to the inside of the
                    # inequality may leave the box: the box is 1 larger here.
                    one = np.full(1, margin), np.ones(1, dtype=bool)
                    self._project(points, values, relation, reals, *one, reach=FREE + 1.0)
                if not close:
                    break
        self.work += tally.count - before
        return points[0]

    def moved_inside(self, points: np.ndarray, values: Assignment, edge: bool) -> np.ndarray:
        """Return points with free symbols moved along the gradient in logarithms until every
        inequality holds."""
        q, size, g = self.target, len(points), self.generator
        reals = [
            self.column[name] for name in q.reals if self.kinds[name] in ("positive", "nonnegative")
        ]
        if not reals or not q.between:
            return points
        points = points.copy()
        wanted = np.where(g.random(size) < 0.5, 0.0, g.exponential(0.7, size))
        order = list(g.permutation(len(q.between)))
        if edge and q.between:  # half of the points start on an edge
            chosen = g.integers(0, len(q.between), size)
            for n, relation in enumerate(q.between):
                self._project(
                    points,
                    values,
                    relation,
                    reals,
                    np.zeros(size),
                    (chosen == n) & (g.random(size) < 0.5),
                )
        for _ in range(4):
            moved = False
            for n in order:
                moved |= self._project(points, values, q.between[n], reals, wanted, None)
            if not moved:
                break
        return points

    def _project(
        self,
        points: np.ndarray,
        values: Assignment,
        relation: "sympy.Rel",
        reals: Sequence[int],
        margin: np.ndarray,
        only: np.ndarray | None,
        reach: float = FREE,
    ) -> bool:
        """Move points, in place, along the gradient of one inequality's excess in logarithms by one
        Newton step to `margin` inside, in a random part of the coordinates. `only` marks the points
        to move (default: those outside). Return whether any point was to be moved."""
        q, size = self.target, len(points)
        here = q.excess(relation, self.settle_values(values, points), size)
        off = (here > 1e-13) if only is None else only
        off = off & np.isfinite(here)
        if not off.any():
            return False
        slopes = []
        for n in reals:
            nudged = points.copy()
            nudged[:, n] += 1e-4
            slopes.append(
                np.nan_to_num(
                    (q.excess(relation, self.settle_values(values, nudged), size) - here) / 1e-4,
                    nan=0.0,
                    posinf=0.0,
                    neginf=0.0,
                )
            )
        slopes = np.array(slopes)
        mask = self.generator.random(slopes.shape) < 0.6
        masked = np.where(mask & (abs(slopes) > 1e-6), slopes, 0.0)
        masked = np.where((masked**2).sum(axis=0) > 1e-8, masked, slopes)
        norm = (masked**2).sum(axis=0)
        move = np.where(
            off & (norm > 1e-8), (here + margin + 1e-12) / np.where(norm > 1e-8, norm, 1.0), 0.0
        )
        for n, slope in zip(reals, masked):
            points[:, n] = np.where(
                points[:, n] <= NOTHING,
                points[:, n],
                np.clip(points[:, n] - np.clip(move * slope, -30, 30), -reach, reach),
            )
        return True
