"""The search for the worst instance at one shape. Hyper-parameters and instance are optimised
together, many points at a time, inside the assumptions.

A batch of points starts at corners and at random places. The points are moved inside the
assumptions or onto their edges. New points arise from differences of points (differential
evolution) and from random steps of many sizes around the best points. Work is counted and not
timed, so that the result depends on the seed and the budget alone.

Points are rows of raw coordinates (coordinates.py), and a population is ranked by two scores, by
turns: the ratio against the weakened bound and the plain ratio. The second leads on where the first
is flat. Ratios above 1 are checked against rounding here, and in exact rationals by the caller.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.work import tally
from fedtheory.search.coordinates import NOTHING, PLACED, Columns
from fedtheory.search.objective import Target, as_array
from fedtheory.search.tightness_score import OVER
from fedtheory.typing import Number, Shape

BATCH = 128  # points of a population, and new points per generation
FAR = 100.0  # a logarithm: the largest amount by which one failing relation counts
NO_VALUE = Undefined, ZeroDivisionError  # raised where a quantity has no value at a shape
# Shifts of raw coordinates (shares of a coordinate that is no logarithm), tried in turn. A ratio
# whose parts change under such a shift is due to rounding.
NUDGES = (1e-9, -8e-10, 6e-10, -4e-10)
# Elementary steps added for each evaluation of a batch: numbers outside the batch are exact, and
# their arithmetic is slow.
LEAST = 1000
# PER_SECOND: elementary steps that the first second of a budget buys; set-up takes its share of
# this second. AT_LENGTH: elementary steps that a core does in each later second.
PER_SECOND, AT_LENGTH = 300_000, 800_000


def budget_to_units(seconds: float) -> float:
    """Return a budget, given in seconds of one core, in units of PER_SECOND elementary steps."""
    return min(1.0, seconds) + max(0.0, seconds - 1.0) * AT_LENGTH / PER_SECOND


class ShapeSearch(Columns):
    """A search at one shape and its population of points, given as columns of raw coordinates."""

    def __init__(
        self,
        target: Target,
        shape: Shape,
        numbers: Mapping[str, Number],
        generator: np.random.Generator,
    ) -> None:
        super().__init__(target, shape, numbers, generator)
        self.top = None  # the raw coordinates of the best points so far
        self.scores = None  # the two scores of each of these points
        self.cost = 0  # operations of the last evaluation of a batch
        self.admitted = 0  # number of rated instances inside the hypotheses

    def evaluate_feasible(
        self, points: np.ndarray, edge: bool = False
    ) -> tuple[np.ndarray | dict[str, Number], ...]:
        """Return (points moved inside the assumptions, values of all symbols there, mask of
        admitted points)."""
        return self._count_work(self._evaluate_feasible, points, edge)

    def evaluate_hypotheses(self, points: np.ndarray) -> tuple[np.ndarray | dict[str, Number], ...]:
        """Return the same as `evaluate_feasible`, but run a method only if an assumption needs
        measured quantities. Without such an assumption, measured quantities have no values."""
        return self._count_work(
            self._evaluate_feasible if self.target.after else self._evaluate_before_run,
            points,
            False,
        )

    def _count_work(
        self, look: Callable[..., Any], points: Number, edge: bool
    ) -> tuple[np.ndarray | dict[str, Number], ...]:
        """Return the first three results of `look(points, edge)`, and charge LEAST steps, plus the
        steps counted times 1 + points / 400, to the search."""
        before = tally.count
        try:
            with np.errstate(all="ignore"):
                return look(self.proper(points), edge)[:3]
        finally:
            self.cost = tally.count - before
            self.work += LEAST + (tally.count - before) * (1.0 + len(points) / 400)

    def _evaluate_before_run(
        self, points: np.ndarray, edge: bool
    ) -> tuple[np.ndarray, dict[str, Number], np.ndarray, dict[str, Any]]:
        """Return (points moved inside, values known before a run, mask of admitted points,
        instance), and store in `outside` how far each point is from the assumptions, in logarithms.
        """
        q, size = self.target, len(points)
        points = self.fit_points(points) if q.pinned else points
        instance, values = self.build_instances(points)
        points = self.moved_inside(points, values, edge)
        values = self.settle_values(values, points)
        good = q.admissible_mask(values, size)
        self.outside = sum(
            (
                np.clip(np.nan_to_num(q.excess(r, values, size), nan=FAR), 0.0, FAR)
                for r in q.between
            ),
            np.zeros(size),
        )
        return points, values, good, instance

    def _evaluate_feasible(
        self, points: np.ndarray, edge: bool
    ) -> tuple[np.ndarray, dict[str, Number], np.ndarray]:
        """Return (points moved inside, values with the measured quantities, mask of points that are
        admitted and whose values are finite)."""
        points, values, good, instance = self._evaluate_before_run(points, edge)
        q, size = self.target, len(points)
        if good.any():
            try:
                q.measure(instance, values)
            except NO_VALUE:
                return points, values, np.zeros(size, dtype=bool)
            good &= np.all(
                [
                    np.isfinite(as_array(values[n], size))
                    for n in values
                    if n in q.claim.symbols and not isinstance(values[n], float)
                ],
                axis=0,
            )
            good &= q.admitted_measured(values, size)
        return points, values, good

    def rate_points(self, points: np.ndarray, edge: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return (points moved inside the assumptions, their ratios). A ratio is NaN where a point
        is not admitted or its ratio has no value."""
        points, scores = self._scores(points, edge)
        return points, np.maximum(scores[:, 0], 0.0)

    def _scores(self, points: Number, edge: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return (points, scores): the columns of `Rating.scores` at the points moved inside, NaN
        at points that are not admitted."""
        points, values, good = self.evaluate_feasible(points, edge)
        before = tally.count
        if good.any():
            found = np.where(good[:, None], self.target.scores(values, len(points)), np.nan)
        else:
            found = np.full((len(points), 1), np.nan)
        self.work += (tally.count - before) * (1.0 + len(points) / 400)
        self.admitted += int(np.count_nonzero(~np.isnan(found[:, 0])))
        return points, found

    def score_points(self, points: np.ndarray, edge: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return (points, two scores each): the ratio, which is negative where it would be clipped
        to 0, and the plain ratio. The scores are -1 where the ratio has no value, and lower the
        further a point lies outside the assumptions."""
        points, scores = self._scores(points, edge)
        scores = np.where(np.isnan(scores), -1.0 - self.outside[:, None], scores)
        return points, scores[:, [0, -1]]

    def sample_around(self, row: np.ndarray, size: int = BATCH // 2) -> tuple[np.ndarray, ...]:
        """Return (points near a given point, their ratios). Near a point on an edge of the
        assumptions, some points lie inside."""
        g = np.random.Generator(np.random.Philox(key=len(self.names)))
        away = 10.0 ** g.uniform(-6, -1, (size, 1)) * g.standard_normal((size, len(row)))
        points = np.where(g.random(away.shape) < 0.5, row + away, row)
        faint = g.uniform(-PLACED, -1, away.shape)
        points = np.where((points <= NOTHING / 2) & (g.random(away.shape) < 0.5), faint, points)
        return self.rate_points(points)

    def drop_rounding_artifacts(
        self, points: np.ndarray, rates: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (points, ratios) by decreasing ratio, with points whose ratio is due to rounding
        last."""
        rates = np.where(self.is_steady(points, rates), rates, np.minimum(rates, -1.0))
        order = np.argsort(-rates, kind="stable")
        return points[order], rates[order]

    def is_steady(self, points: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return a mask of points whose ratio is not due to rounding: its parts stay the same when
        the points are nudged. Ratios above 1 are nudged several times, since rounding may give the
        same value twice."""
        steady = self._stays_same(points, NUDGES[0])
        for by in NUDGES[1:]:
            above = np.flatnonzero(steady & (rates > OVER))
            if not above.size:
                break
            steady[above] = self._stays_same(points[above], by)
        return steady

    def _stays_same(self, points: np.ndarray, by: float) -> np.ndarray:
        """Return a mask of points at which the parts of the ratio stay the same when the points are
        nudged by `by`."""
        before, q, size = tally.count, self.target, len(points)
        logarithms = [
            self.kinds[name] in ("positive", "nonnegative", "slack") for name in self.names
        ]
        nudge = by * (-1.0) ** np.arange(len(self.names)) * np.where(logarithms, 1.0, points)
        both = np.vstack([points, np.where(points <= NOTHING, points, points + nudge)])
        with np.errstate(all="ignore"):
            instance, values = self.build_instances(both)
            try:
                measured = q.measure(instance, self.settle_values(values, both))
            except NO_VALUE:
                return np.zeros(size, dtype=bool)
            up, down = q.pulls(measured, 2 * size)
            alike = lambda part: abs(part[size:] - part[:size]) <= 1e-3 * part[:size]
            small = (
                down[:size] <= 1e-9 * up[:size] if q.way == 0 else up[:size] <= 1e-6 * down[:size]
            )
            steady = alike(down) | small if q.way == 0 else alike(down) & (alike(up) | small)
        self.work += (tally.count - before) * (1.0 + 2 * size / 400)
        return steady

    def _keep(self, points: np.ndarray, scores: np.ndarray, checked: bool) -> tuple[Any, ...]:
        """Keep the best points, taken by turns from both scores, as the population, and return
        (points, scores)."""
        if checked:
            steady = self.is_steady(points, scores[:, 0])[:, None]
            scores = np.where(steady, scores, np.minimum(scores, -1.0))
        order = best_first(scores)[:BATCH]
        self.top, self.scores = points[order], scores[order]
        return self.top, self.scores

    @property
    def rates(self) -> Number:
        """Return the ratios of the best points so far; a ratio is negative where a point is not
        admitted."""
        return clip_score(self.scores[:, 0])

    def climb_generations(
        self, generations: int, start: np.ndarray | None = None
    ) -> Iterator[tuple[float, np.ndarray]]:
        """Optimise over generations from a population, or from random points without one. Yields
        (ratio, raw point) of the best point after each generation."""
        g = self.generator
        points, scores = self.score_points(
            self.draw(BATCH) if start is None else np.resize(start, (BATCH, start.shape[1])),
            edge=start is None,
        )
        points_b, scores_b = self.score_points(self.draw(BATCH), edge=True)
        points, scores = np.vstack([points, points_b]), np.vstack([scores, scores_b])
        points, scores = self._keep(points, scores, False)
        if scores[0, 0] > OVER:
            points, scores = self._keep(points, scores, True)
        yield clip_score(scores[0, 0]), points[0]
        for n in range(generations):
            best = points[: max(2, BATCH // 8)]
            a, b = points[g.permutation(BATCH)], points[g.permutation(BATCH)]
            base = np.where(
                (g.random(BATCH) < 0.5)[:, None], best[g.integers(0, len(best), BATCH)], points
            )
            trial = base + g.choice([0.3, 0.6, 0.9], (BATCH, 1)) * np.clip(a - b, -5, 5)
            keep = g.random(trial.shape) < 0.4
            trial = np.where(keep, base, trial)
            small = 10.0 ** g.uniform(-5, 0, (BATCH, 1))
            near = g.random(BATCH) < 0.35
            steps = small * g.standard_normal(trial.shape) * (g.random(trial.shape) < 0.5)
            spread = (
                g.standard_normal((BATCH, len(best)))
                @ (best - best.mean(axis=0))
                / np.sqrt(len(best))
            )
            # Half of the steps follow the spread of the best points, since valleys are narrow.
            along = (g.random(BATCH) < 0.5)[:, None]
            steps = np.where(along, g.choice([0.5, 1.0, 2.0], (BATCH, 1)) * spread, steps)
            trial = np.where(near[:, None], best[g.integers(0, len(best), BATCH)] + steps, trial)
            fresh = g.random(trial.shape) < 0.02  # coordinates that are drawn anew
            trial = np.where(fresh, self.draw(BATCH), trial)
            trial, found = self.score_points(trial, edge=n % 4 == 3)
            points, scores = np.vstack([points, trial]), np.vstack([scores, found])
            points, scores = self._keep(points, scores, False)
            if scores[0, 0] > OVER or n % 5 == 4 or n == generations - 1:
                points, scores = self._keep(points, scores, True)
            yield clip_score(scores[0, 0]), points[0]


def clip_score(score: float | np.ndarray) -> float | np.ndarray:
    """Return the ratio that a score encodes: scores between -1 and 0 become 0."""
    return np.where(score > -1.0, np.maximum(score, 0.0), score)[()]


def best_first(scores: np.ndarray) -> np.ndarray:
    """Return indices of points, taking the best of each column of scores by turns."""
    orders = np.argsort(-scores, axis=0, kind="stable")
    if (scores[:, 0] == scores[:, -1]).all():
        return orders[:, 0]
    turns = orders.ravel()
    return turns[np.sort(np.unique(turns, return_index=True)[1])]


def search_at(target: Target, shape: Shape, numbers: Mapping[str, int], key: Number) -> ShapeSearch:
    """Return a new ShapeSearch at a shape, with random numbers keyed by `key`."""
    return ShapeSearch(target, shape, numbers, np.random.Generator(np.random.Philox(key=key)))
