"""Findings: verdicts on sentences about experiments, decided from measured cells.

A cell is {(quantity, method, where): array over seeds}; a number alone is exact, without seeds.
Seeds of two cells pair up in order. Each comparison asks where the mean of differences lies, by
one-sided tests (Student's t over at least 5 seeds) of the bounds that the sentence sets it:

    one < other           below 0: reproduced; not below: not reproduced; else inconclusive
    one ~ other (alike)   within a margin of 0: reproduced; beyond it: not reproduced; an interval too wide to lie within
                          the margin wherever it stands: no power; else, across the border,
                          inconclusive

What a scale cannot judge, because its data, networks or lengths are not those that a sentence is
about, is *not judged*, with the reason.

The margin is a record's, fixed before any run: half a unit of the last printed digit, and the noise
that the paper's own numbers show. It never depends on the runs that are judged, so that noise buys
no agreement.

Errors: where a comparison is false, it is reproduced with probability LEVEL at most; where all of a
sentence's are true, the sentence is not reproduced with probability LEVEL at most. A sentence is
reproduced if all of its comparisons are, each at the whole level (an intersection of tests needs no
correction), and not reproduced if one fails at the level divided by their number (Bonferroni).
Sentences that are the cells of one table divide the level by the number of cells.

So it is where differences are about normal. Where they are as skewed as exp(N(0, 1)), false
agreement reaches 23 % at 5 seeds and 17 % at 20; and what happens at a seed with probability p is
missed by n seeds with probability (1 - p)^n, which no rule on n values mends. Hence a sentence says
how many seeds there were, and where they were all equal.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

from fedtheory.errors import refuse

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim
    from fedtheory.language.statements import Comparison

REPRODUCED, NOT_REPRODUCED, NO_POWER, INCONCLUSIVE, NOT_JUDGED = VERDICTS = (
    "reproduced",
    "not reproduced",
    "no power",
    "inconclusive",
    "not judged",
)
LEVEL, SEEDS = 0.05, 5
TREND = {"increases in": ">", "decreases in": "<"}
WORDS = {"<": "<", ">": ">", "<=": "≤", ">=": "≥", "~": "≈", "==": "="}


class Outcome(NamedTuple):
    verdict: str
    sentence: str


def judge_claim(
    claim: "Claim",
    cells: Mapping[tuple[str, str, str], np.ndarray],
    level: float = LEVEL,
    family: int = 1,
    compares: "Sequence[Comparison] | None" = None,
) -> Outcome:
    """Judge a finding claim from measured cells and return Outcome(verdict, sentence). `family` is
    the number of sentences that share the level; `compares` are the comparisons of the claim to be
    tested (None: all)."""
    asked = claim.compares if compares is None else compares
    if not asked:
        return Outcome(INCONCLUSIVE, f"{claim.id} names no comparison")
    tests = [test for comparison in asked for test in _list_tests(comparison, cells)]
    found = [
        (
            label,
            compare_cells(one, relation, other, margin, level / family, len(tests))
            if why is None
            else Outcome(INCONCLUSIVE, why),
        )
        for label, one, relation, other, margin, why in tests
    ]
    verdict = worst_verdict(outcome.verdict for _, outcome in found)
    shown = [
        f"{label}: {outcome.sentence}" for label, outcome in found if outcome.verdict == verdict
    ]
    count = f"{len(shown)} of {len(found)} comparisons; " if len(found) > 1 else ""
    more = f"; and {len(shown) - 3} more" if len(shown) > 3 else ""
    confidence = (
        "" if _all_exact(tests) else f" (level {level:g}{_describe_sharing(len(tests), family)})"
    )
    return Outcome(verdict, f"{verdict}: {count}{'; '.join(shown[:3])}{more}{confidence}")


def not_judged(why: str) -> Outcome:
    """Return the outcome of a sentence that cannot be judged at this scale, with the reason."""
    return Outcome(NOT_JUDGED, f"{NOT_JUDGED} at this scale: {why}")


def of_stand_ins(claim: "Claim") -> "tuple[Comparison, ...]":
    """Return the comparisons of a finding that data other than the paper's may judge: all except
    comparisons with a printed number or with True or False."""
    exact = ("True", "False")
    return tuple(
        c for c in claim.compares if _parse_number(c.other) is None and c.other not in exact
    )


def worst_verdict(verdicts: Iterator[Any] | Sequence[str]) -> str:
    """Return the verdict of several findings that must all hold: `not reproduced` comes first, then
    the undecided verdicts, and `reproduced` last."""
    verdicts = list(verdicts)
    order = (NOT_REPRODUCED, INCONCLUSIVE, NOT_JUDGED, NO_POWER, REPRODUCED)
    return next(v for v in order if v in verdicts)


def _describe_sharing(count: int, family: int) -> str:
    return (f", of refuting shared by {count}" if count > 1 else "") + (
        f", shared by {family} cells" if family > 1 else ""
    )


def _all_exact(tests: Sequence[tuple[Any, ...]]) -> bool:
    return all(
        why is None and np.ndim(one) == np.ndim(other) == 0 for _, one, _, other, _, why in tests
    )


def _list_tests(
    comparison: "Comparison", cells: Mapping[tuple[str, str, str], np.ndarray]
) -> Iterator[tuple[str, np.ndarray, str, np.ndarray, None, None]]:
    """Yield (label, one, relation, other, margin, why not) for each place at which a comparison
    makes a statement."""
    quantity, one, relation, other, where, margin = comparison
    constant = _parse_number(other) is not None or other in ("True", "False")
    needed = [one] if constant or relation in TREND else [one, other]
    places = [where]
    if where in ("", "every cell") and any((quantity, name, where) not in cells for name in needed):
        by_name = [
            {place for cell, name, place in cells if (cell, name) == (quantity, wanted)}
            for wanted in needed
        ]
        places = sorted(set.intersection(*by_name)) or [where]
    for place in places:
        label = f"{quantity} of {one} {WORDS.get(relation, relation)} {other}" + (
            f" ({place})" if place else ""
        )
        absent = [name for name in needed if (quantity, name, place) not in cells]
        if absent:
            yield (
                label,
                None,
                relation,
                None,
                None,
                f"{quantity} of {', '.join(absent)} was not measured",
            )
            continue
        values = cells[quantity, one, place]
        if relation in TREND:
            values, why = _fit_slopes(values)
            yield label, values, TREND[relation], 0.0, None, why
        elif constant:
            yield label, values, relation, other, margin, None
        else:
            yield label, values, relation, cells[quantity, other, place], margin, None


def _fit_slopes(values: np.ndarray) -> tuple[Any, Any]:
    """Fit least-squares slopes over the levels of an array (seeds, levels), whose levels are in
    increasing order."""
    values = np.asarray(values, float)
    if values.ndim == 0 or values.shape[-1] < 2:
        return None, "a trend needs an array over seeds and at least 2 levels, in increasing order"
    steps = np.arange(values.shape[-1]) - (values.shape[-1] - 1) / 2
    pairs = (
        steps > 0
    )  # levels against their mirror images: what is level has slope 0, not a rounding
    return (values - values[..., ::-1])[..., pairs] @ steps[pairs] / (steps @ steps), None


def compare_cells(
    one: np.ndarray,
    relation: str,
    other: np.ndarray,
    margin: float | None = None,
    level: float = LEVEL,
    shared: int = 1,
) -> Outcome:
    """Judge `one relation other` and return the outcome; `other` may be a printed number, as text.

    Agreement is decided at `level`, refutation at its part of what is `shared`.
    """
    if relation not in WORDS:
        refuse("relation", f"must be one of {', '.join(WORDS)}", relation)
    if isinstance(other, str):
        margin = (margin or 0.0) + _half_unit(other)
        other = other == "True" if other in ("True", "False") else _parse_number(other)
        if other is None:
            return Outcome(INCONCLUSIVE, "the text's side is no number")
    one, other = np.asarray(one, float), np.asarray(other, float)
    if one.ndim > 1 or other.ndim > 1 or (one.ndim and other.ndim and one.shape != other.shape):
        return Outcome(INCONCLUSIVE, f"seeds do not pair up: {one.shape} and {other.shape}")
    if not (np.isfinite(one).all() and np.isfinite(other).all()) or not one.size or not other.size:
        return Outcome(INCONCLUSIVE, _describe_missing(one, other))
    difference = one - other
    if difference.ndim and len(difference) < SEEDS:
        return Outcome(INCONCLUSIVE, f"{len(difference)} seeds, {SEEDS} are needed")
    if relation == "==":
        equal = difference == 0
        return Outcome(
            REPRODUCED if equal.all() else INCONCLUSIVE if equal.any() else NOT_REPRODUCED,
            f"in {int(np.sum(equal))} of {equal.size} cases"
            if equal.ndim
            else _show_means(one, other),
        )
    if relation == "~" and margin is None:
        return Outcome(INCONCLUSIVE, "no margin was fixed beforehand")
    sentence = _show_means(one, other)
    if difference.ndim:
        low, high = confidence_ends(difference, level)
        sentence += f", difference {difference.mean():.3g} " + (
            f"in [{low:.3g}, {high:.3g}] over {len(difference)} seeds"
            if low < high
            else f"at each of {len(difference)} seeds"
        )
    if relation == "~":
        sentence += f", margin ±{margin:.3g}"
    return Outcome(str(decide_means(difference, relation, margin or 0.0, level, shared)), sentence)


def decide_means(
    differences: np.ndarray,
    relation: str,
    margin: float = 0.0,
    level: float = LEVEL,
    shared: int = 1,
) -> np.ndarray:
    """Return the verdicts on the means of independent differences (..., seeds), or on exact
    differences of shape ()."""
    low, high = confidence_ends(differences, level)
    least, most = confidence_ends(
        differences, level / shared / (2 if relation == "~" else 1)
    )  # what is alike fails on two sides
    inside, outside, blind = {
        "<": (high < 0, least >= 0, False),
        "<=": (high <= 0, least > 0, False),
        ">": (low > 0, most <= 0, False),
        ">=": (low >= 0, most < 0, False),
        "~": (
            (-margin <= low) & (high <= margin),
            (least > margin) | (most < -margin),
            high - low > 2 * margin,
        ),
    }[relation]
    return np.select([inside, outside, blind], [REPRODUCED, NOT_REPRODUCED, NO_POWER], INCONCLUSIVE)


def confidence_ends(values: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """Return the ends (low, high) of confidence intervals of means over seeds, values (..., seeds):
    each end is beyond the mean with probability `level` at most (Student's t). For an exact number
    both ends are the number itself."""
    values = np.asarray(values, float)
    if not values.ndim:
        return values, values
    count, same = values.shape[-1], np.ptp(values, axis=-1) == 0
    mean = np.where(same, values[..., 0], values.mean(axis=-1))
    half = np.where(
        same,
        0.0,
        _student_quantile(level, count - 1) * values.std(axis=-1, ddof=1) / math.sqrt(count),
    )
    return mean - half, mean + half


@cache
def _student_quantile(level: float, freedom: int) -> float:
    return float(stats.t.isf(level, freedom))


def judge_exactly(truths: Mapping[str, Any], label: str = "cells") -> Outcome:
    """Judge cells that are computed instead of sampled, given {cell: whether it agrees, None where
    unknown}, and return the outcome."""
    wrong = [str(cell) for cell, true in truths.items() if true is not None and not true]
    open_ = [str(cell) for cell, true in truths.items() if true is None]
    if not truths or open_:
        return Outcome(
            INCONCLUSIVE, f"inconclusive: {', '.join(open_) or 'nothing'} was not computed"
        )
    if wrong:
        return Outcome(
            NOT_REPRODUCED,
            f"not reproduced: {len(wrong)} of {len(truths)} {label} differ: " + ", ".join(wrong),
        )
    return Outcome(REPRODUCED, f"reproduced: all {len(truths)} {label} agree")


def _show_means(one: np.ndarray, other: np.ndarray) -> str:
    return f"{np.mean(one):.4g} and {np.mean(other):.4g}"


def _describe_missing(one: np.ndarray, other: np.ndarray) -> str:
    bad = sum(int((~np.isfinite(side)).sum()) for side in (one, other))
    endless = max(int(np.isposinf(side).sum()) for side in (one, other))
    return (
        f"{endless} of {max(one.size, other.size)} runs are censored"
        if bad == endless and bad
        else f"{bad} values are not finite"
        if bad
        else "nothing was measured"
    )


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _half_unit(text: str) -> float:
    """Return half a unit of the last printed digit of a number given as text; 0 for other text."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2]) if _parse_number(text) is not None else 0.0
