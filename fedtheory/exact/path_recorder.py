"""A recorder of the rounds that a computation evaluates, for reports that show an example. Nothing
is recorded unless `record_paths` is active."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory.arithmetic.operations import ends_of

MOST = 2000  # most rounds recorded in one computation; a report follows a single path
_watched = ContextVar("watched", default=None)


class Track(NamedTuple):
    """The sequence of points of one client, or of the server, within a round."""

    who: int  # the client's number from 1; 0 for the server
    points: tuple[Any, ...]  # the points before each step, and the final point
    taken: tuple[Any, ...]  # the gradient estimate used in each step
    # the gradient at the start, where the method requests one before its steps
    first: Any = None


class RecordedOutcome(NamedTuple):
    """One recorded outcome of a round or of an iteration."""

    what: str  # "round", "iteration"
    number: int  # from 0
    chance: Fraction | None  # the probability of this outcome, where known
    ways: int | None  # the number of possible outcomes
    tracks: tuple[Any, ...]
    start: Any  # the model before the round
    end: Any  # the model after the round
    before: Any  # the states themselves, by identity, to link consecutive rounds
    after: Any


@contextmanager
def record_paths() -> Iterator[list[Any]]:
    """Yield a list that collects, in order, everything recorded while the context is active.

    >>> from fedtheory.exact.path_recorder import record_if_watched, record_paths
    >>> with record_paths() as seen:
    ...     record_if_watched(lambda: "a round")
    >>> seen
    ['a round']
    """
    seen = []
    token = _watched.set(seen)
    try:
        yield seen
    finally:
        _watched.reset(token)


def is_watched() -> bool:
    """Tell whether a recording is active."""
    return _watched.get() is not None


def record_if_watched(told: Callable[..., Any]) -> None:
    """Record the value of `told()` if a recording is active, up to MOST values."""
    seen = _watched.get()
    if seen is not None and len(seen) < MOST:
        seen.append(told())


def one_way(seen: itertools.dropwhile | Sequence[RecordedOutcome]) -> list[RecordedOutcome]:
    """Return from the recorded rounds one consecutive path. Each round begins where the round
    before it ended; a round of another kind may begin where any earlier round of the path ended."""
    found = []
    for each in seen:
        last = found[-1] if found else None
        if last is None or each.before is last.after or _follows_round(each, last):
            found.append(each)
        elif all(each.what != one.what for one in found) and any(
            _follows_round(each, one) for one in found
        ):
            found.append(each)
    return found


def _follows_round(each: RecordedOutcome, last: RecordedOutcome) -> bool:
    """Tell whether one round directly follows another, by number and by point."""
    return each.number == last.number + 1 and _same_point(each.start, last.end)


def _same_point(one: Any, other: Any) -> bool:
    """Tell whether two points are the same, as far as their enclosures can decide."""
    ends = [(*ends_of(a), *ends_of(b)) for a, b in zip(one, other)]
    return len(one) == len(other) and all(a <= d and c <= b for a, b, c, d in ends)
