"""A search for families of instances along which left over shape grows without bound, which refutes
left = O(shape).

The search starts at points inside the hypotheses and scales some coordinates and numbers
geometrically. Each point moves in its own direction, and all points are evaluated at once in floats
(`search.scaling_moves`). A family is confirmed in rationals if left over shape grows by a factor at
every step without slowing down, if this ratio is infinite, or if the shape is 0 and the left side
is not.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import sympy

from fedtheory import discover
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Undecided, ends_of
from fedtheory.arithmetic.work import Counted, tally
from fedtheory.certificates import check_family, check_instance
from fedtheory.certificates.check_family import COEFFICIENT, CONSTANT, GROWTH
from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import Claim
from fedtheory.language.symbol import Entry
from fedtheory.models import Model
from fedtheory.search import counterexample, optimizer, scheduler
from fedtheory.search.objective import Target
from fedtheory.search.rational_points import Point
from fedtheory.search.scaling_moves import (
    BASE,
    STEPS,
    TRIES,
    find_growing,
    move_inside,
    step_counts,
)
from fedtheory.typing import Document, Number

# Elementary steps charged for each shape besides its own work, and for each exact confirmation.
DRAWN = 20_000


def bound_by_constant(claim: Claim, at: int, constant: int | None) -> Claim:
    """Return the claim left <= constant * shape, in which each symbol of the regime is a
    coefficient times its own shape.

    The relations that the explicit companion assumes are assumed too: an order hides its constants
    and mentions its hypotheses at best in passing.
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
    if counts_rounds(
        claim, at
    ):  # the companion has hypotheses of its own about the number of rounds
        told = {name for name, what in claim.table.run.items() if what == "rounds"}
        more = [a for a in more if not told & {s.name for s in a.relation.free_symbols}]
    here = {a.relation for a in claim.assumptions}
    coefficients = [entry.symbol for entry in entries]
    regime = [
        sympy.Eq(theta.symbol, c * theta.shape, evaluate=False)
        for theta, c in zip(claim.regime, coefficients)
    ]
    # An unevaluated product keeps the shape as one factor.
    bound = sympy.Mul(coefficients[-1] if constant is None else constant, shape, evaluate=False)
    return claim.replace(
        measures=left,
        relation="<=",
        bound=bound,
        kind="exact",
        also=(),
        regime=(),
        logs=None,
        weakened=None,
        unstated=(*claim.unstated, *regime, *(a for a in more if a.relation not in here)),
        symbols=table,
    )


def counts_rounds(claim: Claim, at: int) -> bool:
    """Tell whether a line's left side is the number of rounds to reach an error."""
    left = claim.lines[at][0]
    entry = next((e for e in claim.quantities.values() if e.symbol == left), None)
    return entry is not None and entry.measure.metric.startswith("rounds_to")


def whole_shape(claim: Claim, at: int) -> sympy.Expr:
    """Return a line's shape times the logarithms that an O~ hides besides its constant."""
    shape = claim.lines[at][2]
    return shape if claim.logs is None else shape * claim.logs


def mentioned_names(claim: Claim, at: int) -> set[str]:
    """Return the names in a line's shape, with derived symbols replaced by their definitions."""
    return {s.name for s in claim.expand(claim.lines[at][2]).free_symbols}


def hidden_symbols(claim: Claim) -> set[str]:
    """Return the names of the regime's coefficients and of parameters that only the explicit
    companion has."""
    companion = discover.claim(claim.explicit) if claim.explicit else claim
    coefficients = {f"{COEFFICIENT}{n + 1}" for n in range(len(claim.regime))}
    return coefficients | set(companion.parameters) - set(claim.parameters)


def refute_order(
    claim: Claim, at: int, setting: Model, budget: float, seed: int
) -> tuple[dict[str, Any] | list[Fraction], ...] | None:
    """Return (document of a family that refutes an order in a model, moves, constants), or None if
    none is found."""
    keep = hidden_symbols(claim)
    target, named = (Target(bound_by_constant(claim, at, c), setting, keep=keep) for c in (1, None))
    if target.impossible:
        return None
    left, random, still = budget * optimizer.PER_SECOND, Random(f"{seed}/families"), []
    for hunt in scheduler.generate_hunts(target, seed, target.relaxed):
        # Random points, not the points with the largest ratio: those are extreme already.
        points, flat = move_inside(hunt, hunt.draw(optimizer.BATCH))
        left -= hunt.work + DRAWN
        still += [(hunt, raw) for raw in flat[:1]]
        if not len(points):
            if left <= 0:
                break
            continue
        for turn in range(4):
            before = tally.count
            for here, raw, moves in find_growing(
                hunt, points, random, turn, mentioned_names(claim, at)
            ):
                found = confirm_family(claim, at, named, here, raw, moves)
                if found:
                    return found
                left -= DRAWN
            left -= (tally.count - before) * (1.0 + optimizer.BATCH / 400)
            if left <= 0:
                break
        if left <= 0:
            break
    # Where the shape is 0 and the left side is not, no constant helps, and no move is needed.
    each = (confirm_family(claim, at, named, hunt, raw, {}) for hunt, raw in still[:TRIES])
    return next(filter(None, each), None)


def confirm_family(
    claim: Claim,
    at: int,
    named: Target,
    hunt: optimizer.ShapeSearch,
    raw: np.ndarray,
    moves: Mapping[str, int],
) -> tuple[dict[str, Any] | list[Fraction], ...] | None:
    """Return (document, moves, constants) if the family grows in exact rationals as it did in
    floats, else None."""
    start = Point.near(hunt, raw)
    if start is None:
        return None
    try:
        return follow_family(claim, at, named, hunt, start, moves)
    except (ValueError, OverflowError):  # the numbers are too long to be written
        return None


def follow_family(
    claim: Claim,
    at: int,
    named: Target,
    hunt: optimizer.ShapeSearch,
    start: Point,
    moves: Mapping[str, int],
) -> Any:
    """Return the result of `confirm_family` from the exact point `start`.

    Member k of the family has each number multiplied by BASE^(k power). Each member is confirmed as
    a counterexample of left <= constant * shape, with a constant just below its ratio; the
    constants must grow by GROWTH at each step. Where the ratio is infinite, any constant serves,
    and a power of BASE is taken.
    """
    members, constants = [], []
    for step in range(STEPS + 1):
        here = step_counts(
            hunt, {name: p for name, p in moves.items() if name not in hunt.column}, step
        )
        numbers = {
            name: value * Fraction(BASE) ** (moves.get(name, 0) * step)
            for name, value in start.numbers.items()
        }
        ratio = exact_ratio(Point(here, numbers))
        if ratio is None or constants and ratio < GROWTH * constants[-1]:
            return None
        endless = ratio == INF  # no constant helps
        constants.append(Fraction(BASE) ** (step + 1) if endless else fraction_below(ratio))
        member = Point(
            optimizer.ShapeSearch(named, here.shape, here.numbers, None),
            {**numbers, CONSTANT: constants[-1]},
        )
        if member.breaks() is None:
            return None
        members.append(counterexample.point_document(member))
    says = {name: str(Fraction(BASE) ** power) for name, power in moves.items()}
    document = build_family_document(claim, at, says, members)
    return document and (document, says, constants)


def build_family_document(
    claim: Claim, at: int, moves: Mapping[str, str], members: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    """Return the document of a family, checked before it is returned, or None where it refutes
    nothing."""
    document = dict(
        format=check_family.FORMAT,
        claim=claim.id,
        cites=claim.cites,
        says=str(claim),
        line=at,
        moves=moves,
        members=members,
    )
    document["digest"] = check_instance.digest_of(document)
    try:
        check_family.check(document)
    except Refused:  # for example, a root that moved by less than the precision of floats
        return None
    return document


def restate_family(document: Document, claim: Claim, other: Claim) -> Any:
    """Return the document of a claim's family applied to another reading of the claim, or None
    where it refutes nothing there."""
    at, members = document["line"], []
    one, two = (bound_by_constant(reading, at, None) for reading in (claim, other))
    for member in document["members"]:
        found = counterexample.restate_counterexample(member, one, two)
        if found is None:
            return None
        members.append(found[0])
    return build_family_document(other, at, document["moves"], members)


def exact_ratio(point: Point) -> Number:
    """Return a lower bound on left over shape at a point inside the hypotheses, or None where there
    is none."""
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
        (low, _), (_, most) = ends_of(answer.left), ends_of(answer.right)
        if isinstance(low, float) or low > 0 == most:
            return INF
        return low / most if most > 0 and low > 0 else None
    except (Undefined, Undecided):
        return None


def fraction_below(ratio: Fraction | Counted) -> Fraction:
    """Return a Fraction with few bits slightly below a ratio."""
    scale = Fraction(2) ** (12 - int(np.floor(np.log2(float(ratio)))))
    return Fraction(int(ratio * scale) - 1) / scale


__all__ = ["bound_by_constant", "mentioned_names", "refute_order"]
