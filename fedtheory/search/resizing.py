"""Changes of sizes that are free of cost, for searches that have come far. Some bounds fail only at
a thousand clients, or after many rounds of a single step, and a drawn shape rarely has all of that
at once.

The search changes a size and moves the best points to the new shape. The change stays if it raises
the score. A model in which sizes add no cost writes them as texts in its shapes
(`fedtheory/models/general/run_large.py`).
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np

from fedtheory.search.optimizer import ShapeSearch, best_first, search_at
from fedtheory.search.rational_points import Point
from fedtheory.typing import Number, Shape

# DRAWN: shapes drawn to learn which sizes a model has. TURNS: changes made one after the other.
# TRIES: shapes tried for each change. ROWS: best points that are moved to a new shape. EACH: copies
# of each such point. TRIED: moved points of which the first with a value has to be an exact
# instance. LOOK: steps of exact arithmetic for each such test.
DRAWN, TURNS, TRIES, ROWS, EACH, TRIED, LOOK = 40, 4, 5, 16, 4, 2, 6_000
FURTHER = 1e-3  # the least gain in score for which a change stays


def vary_size(hunt: ShapeSearch, random: Random, admits: Callable[..., Any]) -> tuple[Any, float]:
    """Return (a search with other sizes at which the best points score higher, or None; the work
    done). `admits` tells whether a shape meets the assumptions between counts."""
    sizes, work = sizes_of(hunt, random), 0.0
    here, changed = hunt, None
    for _ in range(TURNS if sizes else 0):
        shapes = [resize_shape(here.shape, sizes, random) for _ in range(TRIES)]
        tried = [transplant(here, s, random) for s in shapes if s != here.shape and admits(s)]
        work += sum(each.work for each in tried)
        found = [each for each in tried if each.top is not None]
        if not found:
            continue
        ahead = max(found, key=best_score)
        if best_score(ahead) > best_score(here) + FURTHER:
            here = changed = ahead
    return changed, work


def best_score(hunt: Any) -> float:
    """Return the best score of a search; a negative score measures how far a ratio of 0 is from
    rising."""
    return float(hunt.scores[:, 0].max())


def is_free_size(value: int | str) -> bool:
    """Tell whether a shape's entry is a size that adds no cost, which is written as a text of
    digits."""
    return isinstance(value, str) and value.isdecimal()


def sizes_of(hunt: ShapeSearch, random: Random) -> dict[str, list[str]]:
    """Return {name: sizes as the model draws them} for the sizes that add no cost and vary between
    draws."""
    names = [name for name, value in hunt.shape.items() if is_free_size(value)]
    if not names:
        return {}
    target = hunt.target
    drawn = [target.setting.shapes(random, target.relaxed) for _ in range(DRAWN)]
    found = {name: [s[name] for s in drawn if is_free_size(s.get(name))] for name in names}
    return {name: sizes for name, sizes in found.items() if len(set(sizes)) > 1}


def resize_shape(
    shape: Shape, sizes: Mapping[str, list[str]], random: Random
) -> dict[str, int | str]:
    """Return a shape with one size changed. Sizes equal to this size usually change with it, as
    where all clients take part."""
    name = random.choice(sorted(sizes))
    size, alike = random.choice(sizes[name]), random.random() < 0.7
    changed = {
        n for n, v in shape.items() if n == name or alike and n in sizes and v == shape[name]
    }
    return {n: size if n in changed else v for n, v in shape.items()}


def transplant(hunt: Any, shape: Shape, random: Random) -> ShapeSearch:
    """Return a search at another shape whose population is the best points of a given search. The
    population is empty where the shape has no instances, or where its runs branch more than the
    model affords."""
    new = search_at(hunt.target, shape, hunt.numbers, random.getrandbits(128))
    new.look = LOOK
    affords = hunt.target.setting.affords
    if affords is not None and not affords(shape):
        return new
    if new.names == hunt.names and has_instances(new, hunt.top):
        points, scores = new.score_points(np.repeat(hunt.top[:ROWS], EACH, axis=0), edge=True)
        order = best_first(scores)
        new.top, new.scores = points[order], scores[order]
    return new


def has_instances(hunt: ShapeSearch, rows: Number) -> bool:
    """Tell whether the first of a few rows with a value is an instance in exact arithmetic."""
    holds = hunt.target.setting.holds
    for row in rows[:TRIED]:
        point = Point.near(hunt, row)
        given = point and point.answer_question(point.instance_and_values)
        if given:
            return holds is None or bool(holds(given[0]))
    return False
