"""A case: an instance of a setting with the numbers that go with it, all exact; any line of a paper
can be read off it.

`answer` gives both sides of a line there and the hypotheses it fails, `measure` its left side
alone.
"""

from functools import lru_cache
from typing import NamedTuple

from fedtheory.arithmetic import Enclosed, Undefined
from fedtheory.arithmetic.operations import Interval, Undecided, pair
from fedtheory.errors import FedtheoryError, refuse
from fedtheory.models import by_name
from fedtheory.search import scheduler
from fedtheory.search.counterexample import texts
from fedtheory.search.objective import Target
from fedtheory.search.rational_points import Point

NO_VALUE = (Undefined, Undecided, ZeroDivisionError, OverflowError, FedtheoryError)


class Case(NamedTuple):
    setting: str  # a name of fedtheory.models
    instance: object  # its plain data, in Fractions
    numbers: dict  # parameter -> Fraction, or Interval where it is a root
    values: dict  # what `evaluate` takes, measured quantities included: Fractions (floats: roots)

    def __repr__(self):
        return f"Case({self.setting}, {texts(self.instance)}, {texts(self.numbers)})"


@lru_cache(maxsize=1024)
def target_at(claim, setting, line=0):
    """A line in the setting of this name."""
    return Target(claim, by_name(setting), line)


def answer_at(claim, case, line=0, measured=None):
    """The target.Answer of a line at a case; `measured`: symbols of the setting's table that are
    known there."""
    q = target_at(claim, case.setting, line)
    lacking = [name for name in (*q.reals, *q.counts) if name not in case.numbers]
    if lacking:
        refuse("case", f"must give {', '.join(lacking)} for {claim.id}", sorted(case.numbers))
    return q.exactly(
        case.instance,
        q.given(case.numbers, {**q.setting.constants(case.instance), **(measured or {})}),
    )


def measure_side(claim, case, line=0):
    """The left side of a line at a case: a float on the safe side for its inequality, with .lower
    and .upper."""
    found = answer_at(claim, case, line)
    return Enclosed(*pair(found.left), up=found.target.way < 0)


def of_point(point):
    """The Case at a Point whose hypotheses hold for certain on every line, else None."""
    found = point.answer()
    try:
        if found is None or any(found.failing()):
            return None
        q, values = found.target, dict(found.values)
        case = Case(q.setting.name, found.instance, parameters_at(found), {})
        for line in range(len(q.claim.lines)):
            if line != q.line:
                other = answer_at(q.claim, case, line)
                if any(other.failing()):
                    return None
                values.update(other.values)
    except NO_VALUE:
        return None
    known = {**values, **case.numbers}
    return case._replace(
        values={
            name: short_number(value, name in q.measured)
            for name, value in known.items()
            if name in q.claim.symbols and not isinstance(value, float)
        }
    )


def parameters_at(found):
    """The parameters at an Answer; a bound that is a root is given as its rational upper end
    (lower, for mu)."""
    q = found.target
    measured = set(q.measured) | {
        name for name, entry in q.setting.table.items() if entry.measure is not None
    }
    kept = {
        name: value
        for name, value in found.values.items()
        if name not in measured and not isinstance(value, float)
    }
    for name, way in q.setting.loose.items():
        if name in kept:
            kept[name] = pair(kept[name])[1 if way > 0 else 0]
    return kept


def short_number(value, measured):
    """A Fraction as it is; of what is measured, the middle of hundreds of bits; a parameter that an
    equation with roots fixes as a float, which meets it up to rounding."""
    if not isinstance(value, Interval):
        return value
    return sum(value.pair) / 2 if measured else float(value)


def draw_case(claim, setting, seed, line=0, tries=40):
    """A Case from a seed: the first of random points inside the hypotheses, or None."""
    q = target_at(claim, setting, line)
    if q.impossible:
        return None
    for _, hunt in zip(range(tries), scheduler.generate_hunts(q, seed, q.relaxed)):
        points, ratios = hunt.rated(hunt.draw(8))
        for raw in points[ratios == ratios]:
            point = Point.near(hunt, raw)
            case = point and of_point(point)
            if case is not None:
                return case
    return None


def find_worst(claim, setting, budget, seed, line=0):
    """The Case with the largest ratio that a search finds, or None."""
    q, best = target_at(claim, setting, line), {}
    for hunt, ratio, raw in scheduler.search_waves(q, budget, seed):
        if ratio >= 0:
            best[hunt] = ratio, raw
    reached = None
    for hunt, (_, raw) in sorted(best.items(), key=lambda item: -item[1][0])[:6]:
        point = Point.near(hunt, raw)
        ratio = point and point.ratio()
        if ratio is not None and (reached is None or ratio > reached[0]):
            case = of_point(point)
            reached = (ratio, case) if case is not None else reached
    return reached and reached[1]
