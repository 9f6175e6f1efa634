"""The choice of shapes to search, their order and their shares of the work. A wave of new shapes is
rated briefly, the best and the most novel are optimised, then the best shape so far again.

A *shape* holds the whole numbers and words of an instance: clients, dimension, rounds, kinds of
losses and of noise. Everything continuous is searched within a shape by a ShapeSearch (optimizer.py). In
each wave, WAVE shapes are drawn and rated; the DEEP best get GENERATIONS generations and the BROAD
most novel ones BRIEF; then the best ShapeSearch so far, a fresh start at one of the best shapes, and
VARIED changes of size take their turns. The order of shapes depends on the seed and not on the
clock, so a search repeats exactly.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import combinations, islice
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import arithmetic
from fedtheory.arithmetic.operations import ends_of
from fedtheory.search import resizing
from fedtheory.search.coordinates import LOOK
from fedtheory.search.objective import EXACT, Target
from fedtheory.search.optimizer import PER_SECOND, ShapeSearch, best_first, search_at
from fedtheory.search.tightness_score import OVER
from fedtheory.typing import Number, Shape

if TYPE_CHECKING:
    import sympy

# WAVE: shapes that are drawn and rated in one wave. DEEP: the best of them, each optimised for
# GENERATIONS generations. BROAD: the most novel of the others, each optimised for BRIEF
# generations: what lies behind a plateau appears within a dozen generations or not at all.
WAVE, DEEP, GENERATIONS, BROAD, BRIEF = 12, 2, 30, 5, 12
# The evaluation of one point may take SHARE (a share) of the steps of exact arithmetic that the
# budget buys, at EXACTLY steps a second. FEWEST: the least such limit, in steps, for any budget.
SHARE, EXACTLY, FEWEST = 0.1, 120_000, 20_000
VARIED = 3  # attempts after each wave to improve one of the best searches at other sizes
OTHERS = 8  # every so many-th shape is searched although it is not wanted


def shapes_of(
    target: Target, random: Random, relaxed: Set[str], number: int = 1000
) -> tuple[dict[str, Any], dict[str, int]] | None:
    """Return (a random shape that meets the assumptions between counts, the counts that the model
    does not give), or None."""
    for _ in range(number):
        shape = target.setting.shapes(random, relaxed)
        numbers = {name: random.choice([1, 1, 2, 3, 5, 10, 100]) for name in target.counts}
        if shape is not None and admits_shape(target, shape, numbers):
            return shape, numbers
    return None


def admits_shape(target: Target, shape: Shape, numbers: Mapping[str, int]) -> bool:
    """Tell whether a shape meets the assumptions between counts."""
    counted = ((name, shape_number(v)) for name, v in (*shape.items(), *numbers.items()))
    known = {name: ends_of(v) for name, v in counted if v is not None}
    return all(
        certainly_true(relation, known)
        for relation in dict.fromkeys((*target.relations, *target.unsolved))
        if all(name in known for name in target.names(relation))
    )


def shape_number(value: int | str) -> int | None:
    """Return the number of a shape's entry, or None where the entry is a word. A size written as a
    text of digits gives its number too, although such a size does not make a shape count as large.
    """
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) else None


def certainly_true(relation: "sympy.Rel", known: Mapping[str, Any]) -> bool:
    """Tell whether a relation certainly holds at enclosures {name: (low, high)}; an undefined value
    counts as no."""
    try:
        return (
            arithmetic.execute_program(arithmetic.compile_expression(relation), EXACT, known)
            is True
        )
    except arithmetic.Undefined:
        return False


def shape_size(found: Any) -> int:
    """Return how large a shape is: the sum of its numbers, plus 1 for each text other than "none"
    and "tilt" (sizes written as texts included)."""
    shape, numbers = found
    return sum(
        v if isinstance(v, int) else v not in ("none", "tilt")
        for v in (*shape.values(), *numbers.values())
    )


def shape_tags(found: Any, small: Number = 2) -> set[tuple[str, int | str]]:
    """Return the features of a shape apart from its size: its words, and its numbers of at most
    `small`."""
    return {
        (name, v)
        for name, v in found[0].items()
        if shape_number(v) is None or shape_number(v) <= small
    }


def generate_hunts(
    target: Any, seed: int, relaxed: Set[str] = frozenset()
) -> Iterator[ShapeSearch]:
    """Yield searches at one shape after another from a seed, small shapes first. Every second shape
    is the least similar to all before, so that each kind of instance is reached within a small
    budget."""
    n, met = 0, set()
    while True:
        random = Random(f"{seed}/{target.setting.name}/{target.line}/{n}")
        drawn = [shapes_of(target, random, relaxed) for _ in range(max(1, 6 - n // 2))]
        drawn = [each for each in drawn if each is not None]
        if not drawn:
            return
        found = min(
            drawn, key=lambda each: (-len(shape_tags(each) - met) if n % 2 else 0, shape_size(each))
        )
        met |= shape_tags(found)
        yield search_at(target, *found, random.getrandbits(128))
        n += 1


def prefer_wanted(
    hunts: Iterator[Any], wanted: Callable[..., Any], others: int = OTHERS
) -> Iterator[Any]:
    """Return an iterator over the wanted searches and every `others`-th search, so that a next one
    always exists."""
    return (hunt for n, hunt in enumerate(hunts) if n % others == others - 1 or wanted(hunt))


def search_waves(
    target: Target,
    seconds: float,
    seed: int,
    reached: Callable[..., Any] = lambda ratio: ratio > OVER,
    wanted: Callable[..., Any] | None = None,
    others: Number = OTHERS,
) -> Iterator[tuple[Any, ...]]:
    """Yield (hunt, ratio, raw point) after each generation until the work of `seconds` seconds is
    done: many shapes briefly, some at length, and the best again after each wave.

    Shapes that are `wanted` come first, with every `others`-th shape besides. A ShapeSearch for whose
    ratio `reached` is true is not optimised further. The caller may stop the whole search then.
    Nothing is yielded for a target whose hypotheses exclude each other.
    """
    left, source = seconds * PER_SECOND, generate_hunts(target, seed, target.relaxed)
    random, sized = Random(f"{seed}/waves"), Random(f"{seed}/sizes")
    if target.impossible:
        return
    look = look_of(seconds)
    source = source if wanted is None else prefer_wanted(source, wanted, others)
    best, peaks, climbed, resizing = (-1.0, None), [], set(), set()
    while left > 0:
        wave = []
        for hunt in islice(source, WAVE):
            hunt.look = look
            for rated in hunt.climb_generations(0):
                yield hunt, *rated
            wave.append(hunt)
            left -= hunt.work
            if left <= 0:
                break
        if not wave:
            return
        wave = rank_hunts(wave)
        chosen, others = wave[:DEEP], wave[DEEP:]
        climbed = climbed.union(*map(shape_features, chosen))
        for _ in range(min(BROAD, len(others))):
            chosen.append(max(others, key=lambda hunt: len(shape_features(hunt) - climbed)))
            others.remove(chosen[-1])
            climbed |= shape_features(chosen[-1])
        for turn in range(len(chosen) + 2 + VARIED):
            if left <= 0:
                return
            if turn < len(chosen):
                hunt = chosen[turn]
            elif turn == len(chosen):
                hunt = best[1]  # the best search again, or None if its ratio reached 1
            elif turn == len(chosen) + 1:
                hunt = restart_hunt(peaks, random)
            else:
                hunt, work = resize_hunt(peaks, sized, resizing)
                left -= work
            if hunt is None:
                continue
            hunt.look = look
            before, far = hunt.work, turn < DEEP or hunt is best[1]
            for rated in hunt.climb_generations(GENERATIONS if far else BRIEF, hunt.top):
                yield hunt, *rated
                if reached(rated[0]) or hunt.work - before > left:
                    break
            left -= hunt.work - before
            if max(0.0, best[0]) <= rated[0] < 1.0 - 1e-9 or hunt is best[1]:
                best = (rated[0], hunt) if rated[0] < 1.0 - 1e-9 else (-1.0, None)
            peaks = sorted([*peaks, (rated[0], hunt)], key=lambda each: -each[0])[:WAVE]


def look_of(seconds: float) -> int:
    """Return how many exact steps the evaluation of one point may take in a search of `seconds`
    seconds."""
    return int(min(LOOK, max(FEWEST, SHARE * seconds * EXACTLY)))


def shape_features(hunt: ShapeSearch) -> set[Any]:
    """Return pairs of features of a search's shape, such as a bump together with a single round."""
    like = sorted(shape_tags((hunt.shape, hunt.numbers), 4), key=repr)
    return set(combinations(like, 2))


def restart_hunt(peaks: Sequence[tuple[float, ShapeSearch]], random: Random) -> ShapeSearch | None:
    """Return a new search from other points at the shape of one of the best searches, or None
    without any. A population that has gathered on one peak does not leave it."""
    if not peaks:
        return None
    _, hunt = random.choice(peaks)
    return search_at(hunt.target, hunt.shape, hunt.numbers, random.getrandbits(128))


def resize_hunt(
    peaks: Sequence[tuple[float, ShapeSearch]], random: Random, before: set[ShapeSearch]
) -> tuple[None, float]:
    """Return (a search at other sizes that scores higher than one of the best searches, or None;
    the work done). Searches in `before` are not tried again."""
    below = [hunt for ratio, hunt in peaks if ratio < 1.0 - 1e-9 and hunt not in before]
    if not below:
        return None, 0.0
    hunt = below[0] if random.random() < 0.5 else random.choice(below)
    before.add(hunt)
    return resizing.vary_size(
        hunt, random, lambda shape: admits_shape(hunt.target, shape, hunt.numbers)
    )


def rank_hunts(wave: Sequence[Any]) -> list[ShapeSearch]:
    """Return searches by decreasing score, taken by turns from both scores."""
    tops = np.array([hunt.scores.max(axis=0) for hunt in wave])
    return [wave[n] for n in best_first(tops)]
