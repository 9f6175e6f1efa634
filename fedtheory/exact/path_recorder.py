"""What a computation passes on its way, for whoever tells of it; where nobody watches, nothing is
kept."""

from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import NamedTuple

from fedtheory.arithmetic.operations import pair

MOST = 2000  # passed of one computation: whoever tells of it follows one way alone
_watched = ContextVar("watched", default=None)


class Track(NamedTuple):
    """Where one of those who work went."""

    who: int  # client, from 1; 0 the server
    points: tuple  # where it was before each step, and where it ended
    taken: tuple  # the gradient estimate of each step
    first: object = None  # the gradient at the start that was asked for before any step


class Passed(NamedTuple):
    """One way that a round, or an iteration, went."""

    what: str  # "round", "iteration"
    number: int  # from 0
    chance: Fraction | None  # of this way, where it is known
    ways: int | None  # in which it could go
    tracks: tuple
    start: object  # the model before
    end: object  # and after
    before: object  # the very states, by which what follows on each other is known
    after: object


@contextmanager
def record_paths():
    """What is passed while it lasts, in order.

    >>> from fedtheory.exact.path_recorder import passed, watching
    >>> with watching() as seen:
    ...     passed(lambda: "a round")
    >>> seen
    ['a round']
    """
    seen = []
    token = _watched.set(seen)
    try:
        yield seen
    finally:
        _watched.reset(token)


def is_watched():
    """Whether somebody watches."""
    return _watched.get() is not None


def record_if_watched(told):
    """Keep what `told()` says, if somebody watches."""
    seen = _watched.get()
    if seen is not None and len(seen) < MOST:
        seen.append(told())


def one_way(seen):
    """Of what was passed one way through: each begins where the one before it ended, or, where
    rounds of another kind branch off, where an earlier one did."""
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


def _follows_round(each, last):
    """Whether a round is the one after another."""
    return each.number == last.number + 1 and _same_point(each.start, last.end)


def _same_point(one, other):
    """Whether two points are one, as far as enclosures tell."""
    ends = [(*pair(a), *pair(b)) for a, b in zip(one, other)]
    return len(one) == len(other) and all(a <= d and c <= b for a, b, c, d in ends)
