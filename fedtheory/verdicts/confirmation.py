"""Evidence from the results of a floating-point search: instances are evaluated in exact arithmetic,
as far as the work left allows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from fedtheory.arithmetic.operations import Interval
from fedtheory.certificates.check_proof import Laborious, Refused
from fedtheory.models.instances import texts
from fedtheory.search import counterexample, optimizer, roots
from fedtheory.search.coordinates import LOOK
from fedtheory.search.coverage import Coverage
from fedtheory.search.objective import Target
from fedtheory.search.optimizer import ShapeSearch
from fedtheory.search.rational_points import SIMPLER, STEP, Point
from fedtheory.search.tightness_score import OVER
from fedtheory.verdicts.evidence import Counterexample, Doubt, Evidence, Gap, Search, Tightest

NEAR = 1.0 - 1e-6  # a ratio in floats from which an instance is evaluated exactly
ENDS = 0.2  # a share of the budget, for exact evaluations at the end of a search
EXACT = 6  # shapes whose ratio is evaluated exactly at the end of a search
# LOOKS: shapes with a ratio above 1 that are evaluated exactly at the end, whatever the budget.
# ROWS: instances of each such shape.
LOOKS, ROWS = 40, 3
# BESIDE: unsettled candidates whose neighbours are evaluated too. NEIGHBOURS: neighbours of each.
BESIDE, NEIGHBOURS = 12, 3
# A multiple of the budget for exact evaluations. The evaluations may take so much as long as each
# of them shows that floats were wrong.
LONGER = 4
# A factor. A candidate is evaluated exactly only if its ratio in floats exceeds the largest certain
# ratio by more than this factor.
ALIKE = 1.001
# Cheap candidates that are evaluated although the work is spent, if no other gave an answer. Also
# the number of costly candidates with a ratio above 1 whose evaluation gets a larger limit.
FEW = 3
# A multiple of the budget for exact evaluations: the limit on one of these few evaluations, and on
# finding a simpler counterexample, unless a smaller general limit applies.
MORE = 40


class RankedInstance(NamedTuple):
    """The best instance of a search at one shape."""

    ratio: float  # of left to right side, in floats
    hunt: ShapeSearch
    raw: np.ndarray  # the coordinates


def conclude_search(ranked: Sequence[RankedInstance], looked: Coverage, seconds: float) -> Evidence:
    """Return the evidence of a search from its ranked instances, with exact evaluations limited to
    `seconds`."""
    ends = ConfirmationWork(ranked, seconds)
    found = resolve_apparent_failures(ranked, looked, ends)
    return found or conclude_tightest(ranked, looked, ends)


class ConfirmationWork:
    """The limit on the work of exact evaluations at the end of a search."""

    def __init__(self, ranked: Sequence[RankedInstance], seconds: float) -> None:
        self.hunts, self.steps = [hunt for _, hunt, _ in ranked], seconds * optimizer.PER_SECOND
        self.begun = self.work_done()
        most = int(MORE * self.steps / STEP)
        self.look, self.simpler = min(LOOK, most), min(SIMPLER * LOOK, most)

    def work_done(self) -> float:
        return sum(hunt.work for hunt in self.hunts)

    def is_spent(self, times: float = 1) -> bool:
        return self.work_done() - self.begun > times * self.steps


def resolve_apparent_failures(
    ranked: Sequence[RankedInstance], looked: Coverage, ends: ConfirmationWork
) -> Evidence | None:
    """Return the evidence of instances with a ratio above 1: a counterexample if one of them is
    confirmed, a doubt if one is neither confirmed nor explained by rounding. The result is None if
    rounding explains all of them."""
    # A strict line fails where its sides are equal, so nearly equal sides are examined too.
    high, again = NEAR if ranked and ranked[0][1].target.strict else OVER, FEW
    above = [(hunt, raw) for ratio, hunt, raw in ranked if ratio > high]
    doubts: list[tuple[ShapeSearch, np.ndarray, str]] = []
    beside = BESIDE
    for n, (hunt, raw) in enumerate(above):
        # All apparent failures are examined if the budget is large enough, and always the first
        # LOOKS.
        if n >= LOOKS and ends.is_spent(1 if doubts else LONGER):
            doubts.append((hunt, raw, "no work is left for exact looks"))
            break
        rows = [
            raw,
            *(row for row, rate in zip(hunt.top, hunt.rates) if rate > high and (row != raw).any()),
        ][: 1 if ends.is_spent() else ROWS]
        for row in rows:
            point = Point.near(hunt, row)
            if point is not None and not point.certainly_holds() and point.dear and again:
                # An unsettled candidate leaves the claim undecided: a few of them get more work.
                hunt.look, again = max(hunt.look, ends.look), again - 1
                point = Point.near(hunt, row)
            if point is not None and (point.certainly_holds() or point.none):  # rounding, or no run
                continue
            near = (
                near for near in Point.nearby_points(hunt, row) if near.answer() or not near.dear
            )
            points: list[Point] = []
            # Lazy: points after the first that violates the line are not computed.
            asked = keep_points(near, points)
            violation = refute_at_points(asked, looked.cases, looks=ends.simpler)
            if violation:
                return violation
            seen = [*points, *asked]
            told = [r for r in (p.ratio(certified=True) for p in seen) if r is not None]
            if any(ratio > 1 for ratio in told):
                return doubt_at(hunt, row, looked, "no document may say so")
            if told:
                continue
            # The candidate is no instance, or stays open. Its neighbours are evaluated, and then
            # the candidate is noted as doubtful.
            if beside:
                beside -= 1
                violation = refute_beside(hunt, row, looked, ends, high)
                if violation:
                    return violation
            tried = seen if point is None else [point, *seen]
            why = next(filter(None, (p.why_unsettled() for p in tried)), "")
            doubts += [(hunt, row, why)] if why else []
    return doubt_at(*doubts[0][:2], looked, doubts[0][2]) if doubts else None


def refute_beside(
    hunt: ShapeSearch, row: np.ndarray, looked: Coverage, ends: ConfirmationWork, high: float
) -> Counterexample | None:
    """Return the counterexample if the line fails for certain at one of a few points near `row`;
    None otherwise."""
    rows, rates = hunt.sample_around(row)
    finite = np.where(np.isinf(rates), high, np.nan_to_num(rates, nan=-1.0))  # infinite: last
    worst = np.argsort(-finite, kind="stable")
    near = (Point.near(hunt, rows[n]) for n in worst[:NEIGHBOURS] if rates[n] > high)
    return refute_at_points(near, looked.cases, looks=ends.simpler)


def keep_points(points: Iterable[Point], into: list[Point]) -> Iterator[Point]:
    """Yield points unchanged and append each to the list `into`."""
    for point in points:
        into.append(point)
        yield point


def at_roots(
    target: Target, looked: Coverage, seed: int, seconds: float
) -> Counterexample | Gap | None:
    """Return the evidence on a line about numbers alone from exact evaluation at integer counts and
    at roots, which no random draw meets; None where the line holds at these points."""
    first: Gap | None = None
    for point in roots.points_at_roots(target, seed, seconds):
        irrational = any(isinstance(each, Interval) for each in point.numbers.values())
        violation = None if irrational else refute_at_points([point], looked.cases)
        if violation:
            return violation
        if first is None and (why := roots.explain_doubt(point)):
            witness = dict(shape={}, numbers=texts(point.numbers))
            kind = target.setting.kind
            first = Gap(says=why, kind=kind, cases=looked.cases, witness=witness)
    return first


def doubt_at(hunt: ShapeSearch, raw: np.ndarray, looked: Coverage, reason: str) -> Doubt:
    """Return the doubt about an instance at which a line seems to fail, with the reason why exact
    numbers do not confirm the failure."""
    point, model = Point.near(hunt, raw), hunt.target.setting
    witness = dict(shape=hunt.shape, numbers=texts(point.numbers) if point else {})
    return Doubt(model=model, cases=looked.cases, reason=reason, witness=witness)


def conclude_tightest(
    ranked: Sequence[RankedInstance], looked: Coverage, ends: ConfirmationWork
) -> Evidence:
    """Return the evidence of a search without counterexample, with the largest ratio that is
    certain, or a gap where no instance gives one."""
    model, reached, seen = looked.setting, None, 0
    for rate, hunt, raw in affordable_looks(ranked, ends, lambda: not seen):
        # If the first candidates do not confirm the ratio of floats for certain, further candidates
        # are evaluated: a larger budget must not give a weaker verdict.
        enough = reached is not None and rate <= ALIKE * reached[0]
        if seen >= EXACT and (enough or seen >= LOOKS):
            break
        if (point := Point.near(hunt, raw)) is not None and point.equality_undecided():
            return doubt_at(hunt, raw, looked, "its two sides may be equal there")
        near = chain(Point.nearby_points(hunt, raw), inside(hunt))
        certain = ((point.ratio(certified=True), point) for point in near)
        found = next((each for each in certain if each[0] is not None), None)
        if found and found[0] > 1:  # above 1 by less than a float shows
            violation = refute_at_points([found[1]], looked.cases)
            return violation or doubt_at(hunt, raw, looked, "no document may say so")
        seen += found is not None or point is not None and point.ratio() is not None
        if found and (reached is None or found[0] > reached[0]):
            reached = found
    if not seen:
        says = (
            f"No instance of {model.says} was found inside its hypotheses at which its sides "
            f"differ from zero{describe_unmet(looked)}."
        )
        return Gap(says=says, kind=model.kind, cases=looked.cases)
    mute = ranked[0][1].target.rating.mute  # a single term
    tightest = Tightest.at_point(*reached) if reached and not mute else None
    return Search(model=model, cases=looked.cases, tightest=tightest)


def describe_unmet(looked: Coverage) -> str:
    """Return words for the hypotheses that none of the first few instances meets; "" where there is
    no such hypothesis."""
    rows = [
        (hunt, row)
        for hunt in islice(looked.seen, EXACT)
        if hunt.top is not None
        for row in hunt.top[:ROWS]
    ]
    points = [Point.near(hunt, row) for hunt, row in rows]
    failing = [point.failing() for point in points if point is not None]
    shared = [says for says in failing[0] if all(says in f for f in failing)] if failing else []
    return f"; none that was looked at meets: {'; '.join(shared)}" if shared else ""


def inside(hunt: Any) -> Iterator[Point]:
    """Yield points from the other rows of a search whose best row has a ratio beyond what the line
    can reach: that row may be no instance."""
    rates = hunt.rates
    if rates[0] > OVER:
        rows = (row for row, rate in zip(hunt.top, rates) if 0 <= rate <= OVER)
        yield from (point for row in islice(rows, NEIGHBOURS) if (point := Point.near(hunt, row)))


def affordable_looks(
    ranked: Sequence[RankedInstance], ends: ConfirmationWork, lacking: Callable[[], bool]
) -> Iterator[RankedInstance]:
    """Yield the ranked candidates for exact evaluation: the best while work is left, then a few of
    the cheapest while `lacking()` says that an answer is missing."""
    for each in ranked:
        if ends.is_spent():
            break
        yield each
    for each in sorted(ranked, key=lambda each: each[1].cost)[:FEW]:
        if lacking():
            each[1].look = max(each[1].look, ends.look)
            yield each


def confirm_violation(
    hunt: ShapeSearch, raw: np.ndarray, cases: int, effort: int = 400
) -> Counterexample | None:
    """Return the counterexample if the line fails for certain at a point; None otherwise."""
    return refute_at_points([Point.near(hunt, raw)], cases, effort)


def refute_at_points(
    points: Iterable[Point | None], cases: int, effort: int = 400, looks: int | None = None
) -> Counterexample | None:
    """Return the counterexample if the line fails for certain at one of the points, with numbers as
    simple as possible; None otherwise."""
    small = next((p.simpler(effort, looks) for p in points if p is not None and p.breaks()), None)
    if small is None:
        return None
    try:
        written = counterexample.point_document(small)
    except Laborious:  # a replay would take more work than a document may
        return None
    except Refused:  # the search is wrong, which is an error and not a verdict
        raise
    except (ValueError, OverflowError):  # the numbers are too long to be written
        return None
    model = small.hunt.target.setting
    return Counterexample(model=model, document=written, ratio=small.ratio(), cases=cases)
