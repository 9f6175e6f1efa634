"""The search for the worst instance: hyper-parameters and instance together, many at a time, inside
the assumptions.

Work is counted, not timed, so that what is found depends on the seed and the budget alone. A batch
of points starts from corners and random places, is moved onto or inside the edges that the
assumptions leave, and climbs by differences of points (differential evolution) and by shrinking
random steps around the best.
"""

from itertools import combinations, islice
from random import Random

import numpy as np

from fedtheory import enclosure
from fedtheory.enclosure.arithmetic import Many, pair
from fedtheory.search.target import EXACT, as_array

BATCH = 128
# How far logarithms may go: those of free symbols and of the scale of losses, and of an instance's
# other coordinates
FREE, PLACED = 25.0, 9.0
NOTHING = -99.0  # a logarithm that stands for the number 0
# shapes begun at once; how many of them are climbed because they lead, and how far; and because
# they are like none before: what lies behind a plateau shows in a dozen generations, or not at all
WAVE, DEEP, GENERATIONS, BROAD, BRIEF = 12, 2, 30, 5, 12
OTHERS = 8  # of so many shapes one is looked at though it is not wanted
FAR = 100.0  # the most that a relation counts where it fails, in logarithms
# steps that an evaluation is counted as at least: numbers that are no batch are exact, and slow
LEAST = 1000
PER_SECOND = 300_000  # elementary steps that a core does: what turns a budget in seconds into work


class Hunt:
    """A target at one shape: columns of raw coordinates, and what they come to."""

    def __init__(self, target, shape, numbers, generator):
        self.target, self.shape, self.numbers, self.generator = target, shape, numbers, generator
        kinds = dict(target.setting.coordinates(shape))
        kinds.update({f"slack {name}": "slack" for name in target.loose})
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
        self.top = None  # the best points so far, raw
        self.scores = None  # theirs
        self.work = 0  # done so far, in elementary steps
        self.admitted = 0  # instances inside the hypotheses that were rated

    # Points

    def draw(self, size):
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
        return self.coincident(points) if self.target.strict else points

    def coincident(self, points):
        """Points of which some have two coordinates alike: where sides are equal, a line that
        leaves equality out fails, and no ratio leads there."""
        alike = [
            [n for n, name in enumerate(self.names) if self.kinds[name] == kind]
            for kind in sorted(set(self.kinds.values()))
        ]
        for kind in (each for each in alike if len(each) > 1):
            one, other = self.generator.choice(kind, 2, replace=False)
            rows = self.generator.random(len(points)) < 0.2
            points[rows, one] = points[rows, other]
        return points

    def proper(self, points):
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

    def number(self, name, raw):
        """A raw coordinate as the number it stands for."""
        kind = self.kinds[name]
        if kind == "slack":
            return np.exp(raw * self.target.setting.loose[name[6:]])
        if kind in ("positive", "nonnegative"):
            return np.where(raw <= NOTHING, 0.0, np.exp(raw))
        return raw

    def raw(self, name, number):
        """The raw coordinate that stands for a number, as `number` reads it."""
        if self.kinds[name] in ("positive", "nonnegative"):
            with np.errstate(divide="ignore"):
                return np.where(number > 0, np.log(number), NOTHING)
        return number

    def laid_out(self, points):
        """(instance, values): what the points stand for, before anything runs."""
        q, at = (
            self.target,
            {name: Many(self.number(name, points[:, n])) for name, n in self.column.items()},
        )
        instance = q.setting.build(
            self.shape, {name: at[name] for name in q.setting.coordinates(self.shape)}
        )
        values = q.known(instance, {name: at[f"slack {name}"] for name in q.loose})
        values.update(self.numbers)
        return instance, values

    def settled(self, values, points):
        values = dict(values)
        values.update(
            {
                name: Many(self.number(name, points[:, self.column[name]]))
                for name in self.target.reals
            }
        )
        return self.target.settle(values)

    # Inside the assumptions

    def deeper(self, point, margin):
        """A raw point moved inside every inequality by a margin, in logarithms, as far as free
        symbols lead there."""
        q, points = self.target, point[None].copy()
        reals = [
            self.column[name] for name in q.reals if self.kinds[name] in ("positive", "nonnegative")
        ]
        with np.errstate(all="ignore"):
            values = self.laid_out(points)[1]
            for _ in range(4 if reals else 0):
                close = [
                    r
                    for r in q.between
                    if q.excess(r, self.settled(values, points), 1)[0] > -margin / 2
                ]
                for relation in close:
                    self._project(
                        points, values, relation, reals, np.full(1, margin), np.ones(1, dtype=bool)
                    )
                if not close:
                    break
        return points[0]

    def moved_inside(self, points, values, edge):
        """Free symbols moved, along the logarithms' gradient, to where every inequality holds."""
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

    def _project(self, points, values, relation, reals, margin, only):
        q, size = self.target, len(points)
        here = q.excess(relation, self.settled(values, points), size)
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
                    (q.excess(relation, self.settled(values, nudged), size) - here) / 1e-4,
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
                np.clip(points[:, n] - np.clip(move * slope, -30, 30), -FREE, FREE),
            )
        return True

    def lived(self, points, edge=False):
        """(points inside the assumptions, values of all symbols there, where they are admitted)."""
        before = Many.count
        try:
            with np.errstate(all="ignore"):
                return self._lived(self.proper(points), edge)
        finally:
            self.work += LEAST + (Many.count - before) * (1.0 + len(points) / 400)

    def _lived(self, points, edge):
        q, size = self.target, len(points)
        instance, values = self.laid_out(points)
        points = self.moved_inside(points, values, edge)
        values = self.settled(values, points)
        good = q.admitted(values, size)
        self.outside = sum(
            (
                np.clip(np.nan_to_num(q.excess(r, values, size), nan=FAR), 0.0, FAR)
                for r in q.between
            ),
            np.zeros(size),
        )
        if good.any():
            try:
                q.measure(instance, values)
            except (
                enclosure.Undefined,
                ZeroDivisionError,
            ):  # what is asked for has no value at this shape
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

    def rated(self, points, edge=False):
        """Points inside the assumptions, and their ratios (NaN: outside, or nothing to say)."""
        points, scores = self._scores(points, edge)
        return points, np.maximum(scores[:, 0], 0.0)

    def _scores(self, points, edge=False):
        points, values, good = self.lived(points, edge)
        before = Many.count
        if good.any():
            found = np.where(good[:, None], self.target.scores(values, len(points)), np.nan)
        else:
            found = np.full((len(points), 1), np.nan)
        self.work += (Many.count - before) * (1.0 + len(points) / 400)
        self.admitted += int(np.count_nonzero(~np.isnan(found[:, 0])))
        return points, found

    def scored(self, points, edge=False):
        """As `rated`, but with two scores each: the ratio, negative where it is 0 the further it is
        from rising, and the plain one; -1 where there is nothing to say, and less the further a
        point lies outside."""
        points, scores = self._scores(points, edge)
        scores = np.where(np.isnan(scores), -1.0 - self.outside[:, None], scores)
        return points, scores[:, [0, -1]]

    def steadied(self, points, rates):
        """Points in order, those last whose ratio is rounding's own."""
        rates = np.where(self.steady(points), rates, np.minimum(rates, -1.0))
        order = np.argsort(-rates, kind="stable")
        return points[order], rates[order]

    def steady(self, points):
        """Where a ratio is not rounding's own: its parts stay when they are nudged by 1e-9."""
        before, q, size = Many.count, self.target, len(points)
        logarithms = [
            self.kinds[name] in ("positive", "nonnegative", "slack") for name in self.names
        ]
        nudge = 1e-9 * (-1.0) ** np.arange(len(self.names)) * np.where(logarithms, 1.0, points)
        both = np.vstack([points, np.where(points <= NOTHING, points, points + nudge)])
        with np.errstate(all="ignore"):
            instance, values = self.laid_out(both)
            up, down = q.pulls(q.measure(instance, self.settled(values, both)), 2 * size)
            alike = lambda part: abs(part[size:] - part[:size]) <= 1e-3 * part[:size]
            small = (
                down[:size] <= 1e-9 * up[:size] if q.way == 0 else up[:size] <= 1e-6 * down[:size]
            )
            steady = alike(down) | small if q.way == 0 else alike(down) & (alike(up) | small)
        self.work += (Many.count - before) * (1.0 + 2 * size / 400)
        return steady

    def _keep(self, points, scores, checked):
        """The best of some points by turns of both scores, as the population that is left."""
        if checked:
            steady = self.steady(points)[:, None]
            scores = np.where(steady, scores, np.minimum(scores, -1.0))
        order = best_first(scores)[:BATCH]
        self.top, self.scores = points[order], scores[order]
        return self.top, self.scores

    @property
    def rates(self):
        """Ratios of the best points so far; negative where a point is none."""
        return told(self.scores[:, 0])

    def climb(self, generations, start=None):
        """Generations of points, from a population or from nowhere; yields (ratio, raw point) of
        the best after each."""
        g = self.generator
        points, scores = self.scored(
            self.draw(BATCH) if start is None else np.resize(start, (BATCH, start.shape[1])),
            edge=start is None,
        )
        points_b, scores_b = self.scored(self.draw(BATCH), edge=True)
        points, scores = np.vstack([points, points_b]), np.vstack([scores, scores_b])
        points, scores = self._keep(points, scores, False)
        if scores[0, 0] > 1.0 + 1e-9:
            points, scores = self._keep(points, scores, True)
        yield told(scores[0, 0]), points[0]
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
            along = (g.random(BATCH) < 0.5)[:, None]  # steps as the best lie: valleys are narrow
            steps = np.where(along, g.choice([0.5, 1.0, 2.0], (BATCH, 1)) * spread, steps)
            trial = np.where(near[:, None], best[g.integers(0, len(best), BATCH)] + steps, trial)
            fresh = g.random(trial.shape) < 0.02  # a corner, or a new place
            trial = np.where(fresh, self.draw(BATCH), trial)
            trial, found = self.scored(trial, edge=n % 4 == 3)
            points, scores = np.vstack([points, trial]), np.vstack([scores, found])
            points, scores = self._keep(points, scores, False)
            if scores[0, 0] > 1.0 + 1e-9 or n % 5 == 4 or n == generations - 1:
                points, scores = self._keep(points, scores, True)
            yield told(scores[0, 0]), points[0]


def told(score):
    """A score as the ratio that it stands for: no part of what a line is rated over is needed."""
    return np.where(score > -1.0, np.maximum(score, 0.0), score)[()]


def best_first(scores):
    """Points in order, by turns the best of each column."""
    orders = np.argsort(-scores, axis=0, kind="stable")
    if (scores[:, 0] == scores[:, -1]).all():
        return orders[:, 0]
    turns = orders.ravel()
    return turns[np.sort(np.unique(turns, return_index=True)[1])]


def shapes_of(target, random, relaxed, number=1000):
    """A shape that meets the assumptions between counts, with the counts the setting does not
    give."""
    for _ in range(number):
        shape = target.setting.shapes(random, relaxed)
        numbers = {name: random.choice([1, 1, 2, 3, 5, 10, 100]) for name in target.counts}
        counted = ((name, whole(v)) for name, v in (*shape.items(), *numbers.items()))
        known = {name: pair(v) for name, v in counted if v is not None}
        if all(
            certain(relation, known)
            for relation in target.relations
            if all(name in known for name in target.names(relation))
        ):
            return shape, numbers
    return None


def whole(value):
    """A shape's number; one that is written as a text is a size that is not to count as large."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) else None


def certain(relation, known):
    try:
        return enclosure.execute(enclosure.program(relation), EXACT, known) is True
    except enclosure.Undefined:
        return False


def extent(found):
    """How large a shape is."""
    shape, numbers = found
    return sum(
        v if isinstance(v, int) else v not in ("none", "tilt")
        for v in (*shape.values(), *numbers.values())
    )


def kinds(found, small=2):
    """What a shape is like, whatever its size: its words, and its smallest numbers."""
    return {(name, v) for name, v in found[0].items() if whole(v) is None or whole(v) <= small}


def hunts(target, seed, relaxed=frozenset()):
    """Hunts at one shape after another, from a seed: small ones first, then any; every other one is
    the most unlike those before, so that no kind of instance waits until a budget is large."""
    n, met = 0, set()
    while True:
        random = Random(f"{seed}/{target.setting.name}/{target.line}/{n}")
        drawn = [shapes_of(target, random, relaxed) for _ in range(max(1, 6 - n // 2))]
        drawn = [each for each in drawn if each is not None]
        if not drawn:
            return
        found = min(drawn, key=lambda each: (-len(kinds(each) - met) if n % 2 else 0, extent(each)))
        met |= kinds(found)
        yield hunt_at(target, *found, random.getrandbits(128))
        n += 1


def preferred(hunts, wanted):
    """The hunts that are wanted, and a few of the others, so that there always is a next one."""
    return (hunt for n, hunt in enumerate(hunts) if wanted(hunt) or n % OTHERS == OTHERS - 1)


def searched(target, seconds, seed, reached=lambda ratio: ratio > 1.0 + 1e-9, wanted=None):
    """(hunt, ratio, point) after each generation, until the work is done: many shapes briefly, some
    at length, and the best so far again after each wave; shapes that are `wanted` first.

    A hunt whose ratio is `reached` is not climbed further; the caller may stop the search there.
    """
    left, source, random = (
        seconds * PER_SECOND,
        hunts(target, seed, target.relaxed),
        Random(f"{seed}/waves"),
    )
    if target.impossible:
        return
    source = source if wanted is None else preferred(source, wanted)
    best, peaks, climbed = (-1.0, None), [], set()
    while left > 0:
        wave = []
        for hunt in islice(source, WAVE):
            for rated in hunt.climb(0):
                yield hunt, *rated
            wave.append(hunt)
            left -= hunt.work
            if left <= 0:
                break
        if not wave:
            return
        wave = leading(wave)
        chosen, others = wave[:DEEP], wave[DEEP:]
        climbed = climbed.union(*map(features, chosen))
        for _ in range(min(BROAD, len(others))):
            chosen.append(max(others, key=lambda hunt: len(features(hunt) - climbed)))
            others.remove(chosen[-1])
            climbed |= features(chosen[-1])
        for turn in range(len(chosen) + 2):
            if left <= 0:
                return
            if turn < len(chosen):
                hunt = chosen[turn]
            elif turn == len(chosen):
                hunt = best[1]  # the best so far once more, unless nothing is left to gain
            else:
                hunt = restarted(peaks, random)
            if hunt is None:
                continue
            before, far = hunt.work, turn < DEEP or hunt is best[1]
            for rated in hunt.climb(GENERATIONS if far else BRIEF, hunt.top):
                yield hunt, *rated
                if reached(rated[0]) or hunt.work - before > left:
                    break
            left -= hunt.work - before
            if max(0.0, best[0]) <= rated[0] < 1.0 - 1e-9 or hunt is best[1]:
                best = (rated[0], hunt) if rated[0] < 1.0 - 1e-9 else (-1.0, None)
            peaks = sorted([*peaks, (rated[0], hunt)], key=lambda each: -each[0])[:WAVE]


def features(hunt):
    """Pairs of what a hunt's shape is like: a bump, say, together with a single round."""
    like = sorted(kinds((hunt.shape, hunt.numbers), 4), key=repr)
    return set(combinations(like, 2))


def restarted(peaks, random):
    """A hunt at the shape of one of those that came far, from other places: a population that has
    gathered on one peak leaves it no more."""
    if not peaks:
        return None
    _, hunt = random.choice(peaks)
    return hunt_at(hunt.target, hunt.shape, hunt.numbers, random.getrandbits(128))


def leading(wave):
    """Hunts in order of how far they have come, by turns of both scores."""
    tops = np.array([hunt.scores.max(axis=0) for hunt in wave])
    return [wave[n] for n in best_first(tops)]


def hunt_at(target, shape, numbers, key):
    return Hunt(target, shape, numbers, np.random.Generator(np.random.Philox(key=key)))
