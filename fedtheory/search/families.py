"""Looks for families of instances along which left over shape grows without bound: what refutes
left = O(shape).

From points inside the hypotheses some coordinates and numbers are scaled geometrically, each point
in its own direction and all at once in floats; what grows by a factor at every step, without
slowing down, is confirmed in rationals.
"""

from fractions import Fraction
from itertools import islice
from random import Random

import numpy as np
import sympy

from fedtheory import discover
from fedtheory.certificates import check_family, check_instance
from fedtheory.certificates.check_family import COEFFICIENT, CONSTANT, GROWTH
from fedtheory.certificates.check_proof import Refused
from fedtheory.enclosure import Undefined
from fedtheory.enclosure.arithmetic import Many, Undecided, pair
from fedtheory.enclosure.intervals import INF
from fedtheory.search import counterexample, hunting
from fedtheory.search.rationals import Point
from fedtheory.search.target import Target, as_array
from fedtheory.symbol import PLAIN, Entry

# Members after the first; a move of 1 takes a number times 1296 at each step, far beyond what any
# hypothesis leaves between two finite ends, and roots of it are rational.
STEPS, BASE = 8, 6**4
FARTHEST = 10**6  # growth from the first member to the last, at least
MODERATE = (
    100.0  # what a constant may depend on is between this and its inverse, or 0: no huge constants
)
MOVES = (1, -1, 2, -2)
TRIES = 12  # families of a batch that are looked at exactly
DRAWN = 20_000  # steps of work that a shape costs at least, and a look in fractions
MOST = 6_000  # operations at one step, which fractions are to repeat
SLOWING = 0.99  # each of the last factors against the one before


def bounded(claim, at, constant):
    """left <= constant * shape as a claim, each symbol of its regime a coefficient times its own
    shape.

    What the explicit companion assumes is assumed as well: the order hides its constants, and names
    its hypotheses at best in passing.
    """
    left, shape = claim.lines[at][0], whole_shape(claim, at)
    companion = discover.claim(claim.explicit) if claim.explicit else None
    names = [f"{COEFFICIENT}{n + 1}" for n in range(len(claim.regime))] + [CONSTANT]
    entries = [
        Entry(
            sympy.Symbol(name, positive=True),
            name,
            "a constant that the order hides",
            domain="positive",
        )
        for name in names
    ]
    known = {**companion.table.entries, **claim.table.entries} if companion else claim.table.entries
    table = claim.table.extended([*known.values(), *entries])
    more = [a for a in companion.assumptions if a.relation is not None] if companion else []
    if counts_rounds(claim, at):  # of the rounds themselves the companion assumes something of its own
        told = {name for name, what in claim.table.run.items() if what == "rounds"}
        more = [a for a in more if not told & {s.name for s in a.relation.free_symbols}]
    here = {a.relation for a in claim.assumptions}
    coefficients = [entry.symbol for entry in entries]
    regime = [
        sympy.Eq(theta.symbol, c * theta.shape, evaluate=False)
        for theta, c in zip(claim.regime, coefficients)
    ]
    # As one factor, so that the shape stays what it is.
    bound = sympy.Mul(coefficients[-1] if constant is None else constant, shape, evaluate=False)
    return claim.replace(
        measures=left,
        relation="<=",
        bound=bound,
        kind="exact",
        also=(),
        regime=(),
        logs=None,
        teeth=None,
        unstated=(*claim.unstated, *regime, *(a for a in more if a.relation not in here)),
        symbols=table,
    )


def counts_rounds(claim, at):
    """Whether what a line measures is rounds to an error."""
    left = claim.lines[at][0]
    entry = next((e for e in claim.quantities.values() if e.symbol == left), None)
    return entry is not None and entry.measure.metric.startswith("rounds_to")


def whole_shape(claim, at):
    """A line's shape, times what an O~ hides beside its constant."""
    shape = claim.lines[at][2]
    return shape if claim.logs is None else shape * claim.logs


def mentioned(claim, at):
    """Names in a line's shape, derived symbols replaced by what they are."""
    return {s.name for s in claim.expand(claim.lines[at][2]).free_symbols}


def hidden_symbols(claim):
    """Coefficients of the regime, and what only the explicit companion names."""
    companion = discover.claim(claim.explicit) if claim.explicit else claim
    coefficients = {f"{COEFFICIENT}{n + 1}" for n in range(len(claim.regime))}
    return coefficients | set(companion.parameters) - set(claim.parameters)


def refuted(claim, at, setting, budget, seed):
    """The document of a family that refutes an order in a setting, with (moves, constants); or
    None."""
    keep = hidden_symbols(claim)
    target, named = (Target(bounded(claim, at, c), setting, keep=keep) for c in (1, None))
    if target.impossible:
        return None
    left, random, still = budget * hunting.PER_SECOND, Random(f"{seed}/families"), []
    for hunt in hunting.hunts(target, seed, target.relaxed):
        # not the worst ones, which are extreme already
        points, flat = inside(hunt, hunt.draw(hunting.BATCH))
        left -= hunt.work + DRAWN
        still += [(hunt, raw) for raw in flat[:1]]
        if not len(points):
            if left <= 0:
                break
            continue
        for turn in range(4):
            before = Many.count
            for raw, moves in growing(hunt, points, random, turn, mentioned(claim, at)):
                found = confirmed(claim, at, named, hunt, raw, moves)
                if found:
                    return found
                left -= DRAWN
            left -= (Many.count - before) * (1.0 + hunting.BATCH / 400)
            if left <= 0:
                break
        if left <= 0:
            break
    # No constant helps where the shape is 0, and nothing need move.
    each = (confirmed(claim, at, named, hunt, raw, {}) for hunt, raw in still[:TRIES])
    return next(filter(None, each), None)


def inside(hunt, points):
    """(points moved inside the hypotheses at which left over shape has a value, those at which the
    shape is 0 and the left side is not)."""
    points = hunt.lived(points)[0]
    ratio, good, _ = values_at(hunt, points)
    return points[good & (ratio > 0)], points[good & (ratio < 0)]


def movable(hunt):
    """What may be scaled: coordinates and free numbers, counts among them; runs of many more rounds
    take too long."""
    reals = [
        name
        for name in hunt.names
        if hunt.kinds[name] in ("positive", "nonnegative", "real")
        and not name.startswith(COEFFICIENT)
    ]
    return reals, list(hunt.numbers)


def growing(hunt, points, random, turn, shown):
    """[(raw point, {name: power of the base})] that grow in floats: first those along which nothing
    that the shape shows shrinks, the fastest first."""
    reals, counts = movable(hunt)
    alone = [{name: 1} for name in counts] if turn == 0 else []
    # A number without a unit, such as of rounds, goes to infinity and not to 0: there is no small
    # fraction of a round.
    q = hunt.target  # a setting may take numbers that the claim does not mention
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
    if turn == 3:  # other units of a loss or of points, and something else besides
        units = measured_in(hunt)
        rows = [
            together(random.choice(units), row, random) if units and n % 2 else row
            for n, row in enumerate(rows)
        ]
    if turn == 0 and singles:
        rows = list(islice(singles * (len(points) // len(singles) + 1), len(points)))
    count = {random.choice(counts): 1} if counts and (turn % 2 or not reals) else {}
    # Where rounds have no end, all that could help is a step's coefficient that is small.
    smaller = {name: -1 for name in hunt.names if name.startswith(COEFFICIENT)}
    endless = np.isinf(values_at(hunt, points)[0])
    rows = [{**row, **smaller} if never else row for row, never in zip(rows, endless)]
    for whole, moves in [*((each, [{}] * len(points)) for each in alone), (count, rows)]:
        ratios, still = along(hunt, points, moves, whole)
        if ratios is None:
            continue
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
        shrinking = [
            any(power < 0 for name, power in each.items() if name in shown) for each in moves
        ]
        order = np.lexsort((-np.where(good, factors[-1], 0.0), shrinking, ~good))[:TRIES]
        never = np.nonzero(still & np.isinf(ratios).all(axis=0))[0][:TRIES]
        yield from (
            (points[n], {**moves[n], **whole}) for n in [*(n for n in order if good[n]), *never]
        )


def measured_in(hunt):
    """[{name: power}] of what a unit of points, or of a loss, that is smaller or larger does to an
    instance's coordinates and to free numbers."""
    q, found = hunt.target, []
    for axis in (0, 1):
        powers = {name: unit[axis] for name in hunt.column if (unit := unit_of(q, name))[axis]}
        found += [{n: way * p for n, p in powers.items()} for way in (1, -1) if powers]
    return found


def unit_of(q, name):
    """(power of a point, power of a loss) of a coordinate or a free number."""
    if name in q.setting.coordinates_in:
        return q.setting.coordinates_in[name]
    if name.rpartition("_")[0] and name.partition("_")[0] in q.setting.coordinates_in:
        return q.setting.coordinates_in[name.partition("_")[0]]
    entry = q.claim.symbols[name] if name in q.claim.symbols else None
    return entry.unit if entry is not None and name in q.free else PLAIN


def together(units, row, random):
    """A change of units and perhaps one move more; a move of what it changes comes on top."""
    more = dict(random.sample(sorted(row.items()), 1)) if random.random() < 0.5 else {}
    found = {name: units.get(name, 0) + more.get(name, 0) for name in {**units, **more}}
    return {name: power for name, power in found.items() if power}


def along(hunt, points, moves, whole):
    """(left over shape after each step, one row a step; where all stays admitted and what is hidden
    stays put)."""
    ratios, still, first = [], np.ones(len(points), dtype=bool), None
    for step in range(STEPS + 1):
        here = stepped(hunt, whole, step)
        before = Many.count
        try:
            ratio, good, kept = values_at(here, scaled(hunt, points, moves, step))
        except Exception:  # whatever a shape that its setting does not draw leads to
            return None, None
        work = Many.count - before
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


def stepped(hunt, whole, step):
    """The hunt with its counts after some steps."""
    numbers = {
        n: v * BASE ** (whole[n] * step) if n in whole else v for n, v in hunt.numbers.items()
    }
    return hunting.Hunt(hunt.target, hunt.shape, numbers, None)


def scaled(hunt, points, moves, step):
    points = points.copy()
    for row, move in enumerate(moves):
        for name, power in move.items():
            n = hunt.column[name]
            if hunt.kinds[name] == "real":
                points[row, n] *= float(BASE) ** (power * step)
            elif points[row, n] > hunting.NOTHING:
                points[row, n] += np.log(BASE) * power * step
    return points


def values_at(hunt, points):
    """(left over right, -1 where this is 0 and that is not, admitted, {hidden name: (values, way)})
    of points as they are."""
    q, size = hunt.target, len(points)
    with np.errstate(all="ignore"):
        instance, values = hunt.laid_out(points)
        tight = q.setting.constants(instance)
        values = hunt.settled(values, points)
        good = q.admitted(values, size)
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


def confirmed(claim, at, named, hunt, raw, moves):
    """(document, moves, constants) if the family does in rationals what it did in floats."""
    start = Point.near(hunt, raw)
    if start is None:
        return None
    try:
        return rational(claim, at, named, hunt, start, moves)
    except (ValueError, OverflowError):  # numbers too long to be written down
        return None


def rational(claim, at, named, hunt, start, moves):
    members, constants = [], []
    for step in range(STEPS + 1):
        here = stepped(
            hunt, {name: p for name, p in moves.items() if name not in hunt.column}, step
        )
        numbers = {
            name: value * Fraction(BASE) ** (moves.get(name, 0) * step)
            for name, value in start.numbers.items()
        }
        ratio = exact_ratio(Point(here, numbers))
        if ratio is None or constants and ratio < GROWTH * constants[-1]:
            return None
        endless = ratio == INF  # no constant helps, whichever it is
        constants.append(Fraction(BASE) ** (step + 1) if endless else below(ratio))
        member = Point(
            hunting.Hunt(named, here.shape, here.numbers, None),
            {**numbers, CONSTANT: constants[-1]},
        )
        if member.breaks() is None:
            return None
        members.append(counterexample.document(member))
    says = {name: str(Fraction(BASE) ** power) for name, power in moves.items()}
    document = dict(
        format=check_family.FORMAT,
        claim=claim.id,
        cites=claim.cites,
        says=str(claim),
        line=at,
        moves=says,
        members=members,
    )
    document["digest"] = check_instance.digest(document)
    try:
        check_family.check(document)
    except Refused:  # a root that moved by less than floats see
        return None
    return document, says, constants


def exact_ratio(point):
    """The least that left over shape can be at a point inside the hypotheses, or None."""
    answer = point.answer()
    try:
        setting = point.hunt.target.setting
        if (
            answer is None
            or any(answer.failing())
            or setting.holds is not None
            and not setting.holds(answer.instance)
        ):
            return None
        (low, _), (_, most) = pair(answer.left), pair(answer.right)
        if isinstance(low, float) or low > 0 == most:
            return INF
        return low / most if most > 0 and low > 0 else None
    except (Undefined, Undecided):
        return None


def below(ratio):
    """A short Fraction a little below."""
    scale = Fraction(2) ** (12 - int(np.floor(np.log2(float(ratio)))))
    return Fraction(int(ratio * scale) - 1) / scale


__all__ = ["bounded", "mentioned", "refuted"]
