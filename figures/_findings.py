"""Findings: a sentence about an experiment, decided from measured cells.

A cell is {(quantity, method, where): array over seeds}; a number alone is exact, without seeds. Seeds of two cells
pair up in order. Each comparison becomes an interval for a mean (Student's t over at least 5 seeds; the level is
divided by the number of comparisons of the claim), and the sentence asks where the mean lies:

    inside the interval that it allows: reproduced; outside: not reproduced; across its border: inconclusive.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

from fedtheory.errors import refuse

REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE = VERDICTS = ("reproduced", "not reproduced", "inconclusive")
LEVEL, SEEDS = .05, 5
BARS = 2    # "alike within error bars": the means differ by at most two standard deviations of a run
TREND = {"increases in": ">", "decreases in": "<"}
WORDS = {"<": "<", ">": ">", "<=": "≤", ">=": "≥", "~": "≈", "==": "="}


class Outcome(NamedTuple):
    verdict: str
    sentence: str


def judge(claim, cells, level=LEVEL):
    """(verdict, sentence) of a finding claim from measured cells."""
    if not claim.compares:
        return Outcome(INCONCLUSIVE, f"{claim.id} names no comparison")
    tests = [test for comparison in claim.compares for test in _tests(comparison, cells)]
    found = [(label, compare(one, relation, other, level / len(tests)) if why is None
              else Outcome(INCONCLUSIVE, why)) for label, one, relation, other, why in tests]
    verdicts = [outcome.verdict for _, outcome in found]
    verdict = (NOT_REPRODUCED if NOT_REPRODUCED in verdicts else
               INCONCLUSIVE if INCONCLUSIVE in verdicts else REPRODUCED)
    shown = [f"{label}: {outcome.sentence}" for label, outcome in found if outcome.verdict == verdict]
    count = f"{len(shown)} of {len(found)} comparisons; " if len(found) > 1 else ""
    more = f"; and {len(shown) - 3} more" if len(shown) > 3 else ""
    confidence = "" if _exact(tests) else f" (level {level:g}{_shared(len(tests))})"
    return Outcome(verdict, f"{verdict}: {count}{'; '.join(shown[:3])}{more}{confidence}")


def _shared(count):
    return f", shared by {count}" if count > 1 else ""


def _exact(tests):
    return all(why is None and np.ndim(one) == np.ndim(other) == 0 for _, one, _, other, why in tests)


def _tests(comparison, cells):
    """(label, one, relation, other, why not) of each place a comparison speaks of."""
    quantity, one, relation, other, where = comparison
    constant = _number(other) is not None or other in ("True", "False")
    needed = [one] if constant or relation in TREND else [one, other]
    places = [where]
    if where in ("", "every cell") and any((quantity, name, where) not in cells for name in needed):
        by_name = [{place for cell, name, place in cells if (cell, name) == (quantity, wanted)} for wanted in needed]
        places = sorted(set.intersection(*by_name)) or [where]
    for place in places:
        label = f"{quantity} of {one} {WORDS.get(relation, relation)} {other}" + (f" ({place})" if place else "")
        absent = [name for name in needed if (quantity, name, place) not in cells]
        if absent:
            yield label, None, relation, None, f"{quantity} of {', '.join(absent)} was not measured"
            continue
        values = cells[quantity, one, place]
        if relation in TREND:
            values, why = _slopes(values)
            yield label, values, TREND[relation], 0., why
        elif constant:
            yield label, values, relation, other, None
        else:
            yield label, values, relation, cells[quantity, other, place], None


def _slopes(values):
    """Least-squares slopes per level of an array (seeds, levels), levels in increasing order."""
    values = np.asarray(values, float)
    if values.ndim == 0 or values.shape[-1] < 2:
        return None, "a trend needs an array over seeds and at least 2 levels, in increasing order"
    steps = np.arange(values.shape[-1]) - (values.shape[-1] - 1) / 2
    pairs = steps > 0    # levels against their mirror images: what is level has slope 0, not a rounding
    return (values - values[..., ::-1])[..., pairs] @ steps[pairs] / (steps @ steps), None


def compare(one, relation, other, level=LEVEL):
    """The outcome of `one relation other` at a level; `other` may be a printed number, as text."""
    if relation not in WORDS:
        refuse("relation", f"must be one of {', '.join(WORDS)}", relation)
    half_unit = 0.
    if isinstance(other, str):
        other, half_unit = (other == "True", 0.) if other in ("True", "False") else (_number(other), _half_unit(other))
        if other is None:
            return Outcome(INCONCLUSIVE, "the text's side is no number")
    one, other = np.asarray(one, float), np.asarray(other, float)
    if one.ndim > 1 or other.ndim > 1 or (one.ndim and other.ndim and one.shape != other.shape):
        return Outcome(INCONCLUSIVE, f"seeds do not pair up: {one.shape} and {other.shape}")
    if not (np.isfinite(one).all() and np.isfinite(other).all()) or not one.size or not other.size:
        return Outcome(INCONCLUSIVE, _unmeasured(one, other))
    difference = one - other
    if difference.ndim and len(difference) < SEEDS:
        return Outcome(INCONCLUSIVE, f"{len(difference)} seeds, {SEEDS} are needed")
    if relation == "==":
        equal = difference == 0
        return Outcome(REPRODUCED if equal.all() else INCONCLUSIVE if equal.any() else NOT_REPRODUCED,
                       f"in {int(np.sum(equal))} of {equal.size} cases" if equal.ndim else _show(one, other))
    mean, low, high = interval(difference, level)
    bars = BARS * max(_deviation(one), _deviation(other)) + half_unit
    verdict = {"<": _place(high < 0, low >= 0), "<=": _place(high <= 0, low > 0), ">": _place(low > 0, high <= 0),
               ">=": _place(low >= 0, high < 0), "~": _place(-bars <= low and high <= bars, low > bars or high < -bars),
               }[relation]
    sentence = _show(one, other)
    if difference.ndim:
        sentence += f", difference {mean:.3g} in [{low:.3g}, {high:.3g}] over {len(difference)} seeds"
    if relation == "~":
        sentence += f", error bars ±{bars:.3g}"
    return Outcome(verdict, sentence)


def interval(values, level=LEVEL):
    """Mean and Student's interval of independent values; an exact number is its own."""
    if np.ndim(values) == 0:
        return float(values), float(values), float(values)
    mean, deviation = np.mean(values), np.std(values, ddof=1)
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0]), float(values[0])
    half = stats.t.isf(level / 2, len(values) - 1) * deviation / math.sqrt(len(values))
    return float(mean), float(mean - half), float(mean + half)


def exactly(truths, label="cells"):
    """The outcome of cells that are computed, not sampled: {cell: whether it agrees, None where unknown}."""
    wrong = [str(cell) for cell, true in truths.items() if true is not None and not true]
    open_ = [str(cell) for cell, true in truths.items() if true is None]
    if not truths or open_:
        return Outcome(INCONCLUSIVE, f"inconclusive: {', '.join(open_) or 'nothing'} was not computed")
    if wrong:
        return Outcome(NOT_REPRODUCED, f"not reproduced: {len(wrong)} of {len(truths)} {label} differ: "
                       + ", ".join(wrong))
    return Outcome(REPRODUCED, f"reproduced: all {len(truths)} {label} agree")


def _place(inside, outside):
    return REPRODUCED if inside else NOT_REPRODUCED if outside else INCONCLUSIVE


def _deviation(values):
    return float(np.std(values, ddof=1)) if values.ndim else 0.


def _show(one, other):
    return f"{np.mean(one):.4g} and {np.mean(other):.4g}"


def _unmeasured(one, other):
    bad = sum(int((~np.isfinite(side)).sum()) for side in (one, other))
    return f"{bad} values are not finite" if bad else "nothing was measured"


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None


def _half_unit(text):
    """Half a unit of the last printed digit."""
    return .5 * 10. ** -len(text.partition(".")[2]) if _number(text) is not None else 0.
