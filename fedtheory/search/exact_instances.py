"""A case: an instance of a model with the numbers of a claim, all exact. Any line of a paper can be
evaluated at a case.

`answer` gives both sides of a line at the instance, and the hypotheses that the instance fails.
`measure` gives the left side alone.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from fedtheory.arithmetic import Enclosed, Undefined
from fedtheory.arithmetic.operations import Interval, Undecided, ends_of
from fedtheory.arithmetic.work import Counted
from fedtheory.errors import FedtheoryError, refuse
from fedtheory.language.claim import Claim
from fedtheory.models import by_name
from fedtheory.search import scheduler
from fedtheory.search.counterexample import texts
from fedtheory.search.objective import Answer, Target
from fedtheory.search.rational_points import Point
from fedtheory.typing import Number

NO_VALUE = (Undefined, Undecided, ZeroDivisionError, OverflowError, FedtheoryError)


class ExactInstance(NamedTuple):
    """An instance of a model with all numbers of a claim, exact: the input of every line's
    evaluation."""

    setting: str  # the name of a model in fedtheory.models
    instance: Any  # the instance's plain data, in Fractions
    numbers: dict[str, Any]  # parameter -> Fraction, or Interval where the number is a root
    # The values that `evaluate` takes, with measured quantities: Fractions, or floats for roots.
    values: dict[str, Any]

    def __repr__(self) -> str:
        return f"Case({self.setting}, {texts(self.instance)}, {texts(self.numbers)})"


@lru_cache(maxsize=1024)
def target_at(claim: Claim, setting: str, line: int = 0) -> Target:
    """Return the Target of a line in the model with this name."""
    return Target(claim, by_name(setting), line)


def answer_at(
    claim: Claim,
    case: ExactInstance,
    line: int = 0,
    measured: Mapping[str, Fraction | Counted] | None = None,
) -> Answer:
    """Return the target.Answer of a line at a case. `measured` holds symbols of the model's table
    whose values are already known."""
    q = target_at(claim, case.setting, line)
    lacking = [name for name in (*q.reals, *q.counts) if name not in case.numbers]
    if lacking:
        refuse("case", f"must give {', '.join(lacking)} for {claim.id}", sorted(case.numbers))
    return q.exactly(
        case.instance,
        q.values_before_run(
            case.numbers, {**q.setting.constants(case.instance), **(measured or {})}
        ),
    )


def measure(claim: Claim, case: ExactInstance, line: int = 0) -> float:
    """Return the left side of a line at a case, with .lower and .upper, as a float rounded to the
    safe side of the line's inequality."""
    found = answer_at(claim, case, line)
    return Enclosed(*ends_of(found.left), up=found.target.way < 0)


def of_point(point: Any) -> ExactInstance | None:
    """Return the Case at a Point at which the hypotheses of every line certainly hold, else None."""
    found = point.answer()
    try:
        if found is None or any(found.failing()):
            return None
        q, values = found.target, dict(found.values)
        case = ExactInstance(q.setting.name, found.instance, parameters_at(found), {})
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


def parameters_at(found: Answer) -> dict[str, Fraction | Counted]:
    """Return the parameters at an Answer. A bound that is a root is given as its rational upper end
    (lower end for mu)."""
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
            kept[name] = ends_of(kept[name])[1 if way > 0 else 0]
    return kept


def short_number(value: Number | Counted, measured: bool) -> Any:
    """Return a Fraction unchanged, the midpoint of a measured interval, or a float for a parameter
    that an equation with roots fixes. The float satisfies that equation up to rounding."""
    if not isinstance(value, Interval):
        return value
    return sum(value.pair) / 2 if measured else float(value)


def draw_case(claim: Claim, setting: str, seed: int, line: int = 0, tries: int = 40) -> Any:
    """Return the Case at the first random point inside the hypotheses for a seed, or None if there
    is none."""
    q = target_at(claim, setting, line)
    if q.impossible:
        return None
    for _, hunt in zip(range(tries), scheduler.generate_hunts(q, seed, q.relaxed)):
        points, ratios = hunt.rate_points(hunt.draw(8))
        for raw in points[ratios == ratios]:
            point = Point.near(hunt, raw)
            case = point and of_point(point)
            if case is not None:
                return case
    return None


def find_worst(
    claim: Claim, setting: str, budget: float, seed: int, line: int = 0
) -> ExactInstance | None:
    """Return the Case with the largest ratio that a search finds, or None."""
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
