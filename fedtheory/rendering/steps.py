"""The run of a counterexample, step by step: the document is derived again, and the intermediate
points are recorded and described.

Only points in exact numbers or enclosures are described. Rendering has a limit EFFORT of its own on
exact arithmetic, so that showing a verdict never takes longer than a moment.
"""

import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import dropwhile
from typing import TYPE_CHECKING

from fedtheory.arithmetic import Undefined, work
from fedtheory.arithmetic.operations import Interval, Undecided, ends_of
from fedtheory.certificates import check_instance
from fedtheory.errors import FedtheoryError
from fedtheory.exact.path_recorder import RecordedOutcome, Track, one_way, record_paths
from fedtheory.models import by_name
from fedtheory.rendering.losses import readable_number
from fedtheory.typing import Document

if TYPE_CHECKING:
    import numpy as np

# steps of exact arithmetic that rendering may take; deciding has a budget of its own
EFFORT = 200_000
ROUNDS, STEPS = 5, 4  # rounds of a run, and steps of a round, that are rendered
FAILS = (FedtheoryError, Undefined, Undecided, ArithmeticError, LookupError, ValueError, TypeError)


def record_steps(document: Document | None) -> tuple[RecordedOutcome, ...]:
    """Return the rounds on one path through a counterexample, in order, or () where the model
    records none.

    Where noise or cohorts are random, one path is shown: the rounds that follow each other from the
    instance's start. Errors on the way end the recording, and the rounds before stay.
    """
    return _record_steps(json.dumps(document, sort_keys=True))


@lru_cache(maxsize=64)  # cached: words, picture and LaTeX of one document use the same steps
def _record_steps(text: str) -> tuple[RecordedOutcome, ...]:
    """Return the rounds of a document given as JSON text, because a cache needs a hashable
    argument."""
    document = json.loads(text)
    try:
        with work.limit_work(EFFORT), record_paths() as seen:
            setting = by_name(document["setting"])
            stated = check_instance.Statement(document, setting)
            stated.values(document, check_instance.read_numbers(document["instance"]))
    except FAILS:
        pass  # the steps before the failure are rendered all the same
    numbers = lambda x: all(isinstance(v, (int, Fraction, Interval)) for v in x)
    known = [each for each in seen if numbers(each.start) and numbers(each.end)]
    return tuple(one_way(dropwhile(lambda each: not begins_at_start(document, each), known)))


def begins_at_start(document: Document, each: RecordedOutcome) -> bool:
    """Tell whether a recorded round starts where the instance starts. A definition may evaluate
    other points too."""
    start = document["instance"].get("x")
    if not isinstance(start, list) or len(start) != len(each.start):
        return not isinstance(start, list)
    return all(
        ends_of(a) == ends_of(b)
        for a, b in zip(each.start, map(check_instance.parse_fraction, start))
    )


def run_lines(document: Document) -> list[str]:
    """Return the lines that describe a run, several for each round or iteration."""
    rounds = record_steps(document)
    shown = first_rounds(rounds)
    told = [line for each in shown for line in told_of(each)]
    if len(rounds) > len(shown):
        told.append(
            f"... and {len(rounds) - len(shown)} more of them, after which it is at "
            f"{point_text(rounds[-1].end)}"
        )
    return told


def first_rounds(rounds: Sequence[RecordedOutcome]) -> list[RecordedOutcome]:
    """Return the first ROUNDS rounds of each kind, which are the rounds that are described."""
    kinds = [each.what for each in rounds]
    return [each for n, each in enumerate(rounds) if kinds[:n].count(each.what) < ROUNDS]


def reason_untold(document: Document) -> str:
    """Return a sentence that says why no steps are described although a method runs; "" where no
    method runs, or where steps are described."""
    by = by_name(document["setting"]).by
    if not by or record_steps(document):
        return ""
    why = re.search(r"\((.*)\)$", by)
    if by.startswith("a definition beside") and why:
        return f"No steps are told: what is measured comes of {why[1]}."
    return "No steps are told: the line speaks of what is known before any is taken."


def told_of(each: RecordedOutcome) -> Iterator[str]:
    """Yield the lines on one round: the path of each client and of the server, and the resulting
    model.

    Clients with the same path share a line; the server has its own. The chance of the path is named
    where the round can go in several ways.
    """
    chance = (
        f" (one of {each.ways} ways that it can go, of probability {each.chance})"
        if each.ways
        else f" (one of the ways that it can go, of probability {number_text(each.chance)})"
        if each.chance is not None
        else " (one of the ways that it can go, by its noise)"
    )
    title = f"{each.what} {each.number + 1}, from {point_text(each.start)}"
    yield title + chance * (each.ways != 1)
    alike = {}
    for track in each.tracks:
        alike.setdefault((track.who == 0, describe_walk(track)), []).append(track.who)
    for (server, words), who in alike.items():
        yield f"  {name_walkers(who)}: {words}"
    yield f"  {'the mean of the models' if each.what == 'iteration' else 'the model'} is then {point_text(each.end)}"


def name_walkers(who: Sequence[int]) -> str:
    """Return the name of the server (index 0), or the names of the clients, that took one path."""
    plural = "s" * (len(who) > 1)
    return "the server" if who == [0] else f"client{plural} {', '.join(map(str, who))}"


def describe_walk(track: Track) -> str:
    """Return the path and gradients of one client or the server in words."""
    if not track.taken:
        return f"its gradient at the start is {point_text(track.first)}"
    first = (
        ""
        if track.first is None
        else f", after the gradient {point_text(track.first)} at the start"
    )
    return f"{describe_path(track)}{first}"


def describe_path(track: Track) -> str:
    """Return a path as points with arrows, and the gradients that were taken at the points."""
    if len(track.taken) == 1:
        start, end = map(point_text, track.points)
        return f"{start} -> {end}, with the gradient {point_text(track.taken[0])}"
    places = [point_text(each) for each in track.points]
    taken = [point_text(each) for each in track.taken]
    if len(taken) > STEPS:
        places = [*places[:STEPS], "...", places[-1]]
        taken = [*taken[:STEPS], "..."]
    return f"{' -> '.join(places)}, with the gradients {', '.join(taken)}"


def point_text(x: "np.ndarray") -> str:
    """Return a point, or a gradient, as text for a reader."""
    parts = [number_text(each) for each in x]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def number_text(value: work.Counted | Fraction) -> str:
    low, high = ends_of(value)
    return readable_number(low) if low == high else f"{float((low + high) / 2):.6g}"
