"""One typical path of rounds, computed by the method's own kernels, for an active recording. A
setting that follows moments over rounds computes no path otherwise."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory.arithmetic.operations import shorten_ends, vector
from fedtheory.exact.path_recorder import is_watched, record_if_watched, record_paths
from fedtheory.exact.traces import ONE, Losses, Rounds

if TYPE_CHECKING:
    pass


class Round(NamedTuple):
    """A round of a method whose state is x alone."""

    method: Any
    losses: Losses
    h: dict[str, Any]  # the method's hyper-parameters
    law: list[Any]  # [(probability, cohort, work)]


def record_path(
    x: Any, rounds: Iterator[Any] | Sequence[Round], first: int = 0, what: str = "round"
) -> Any:
    """Record one path of rounds from x, with the most probable cohort and work in each round and
    noise outcomes in turn; return the final point. Nothing is computed unless a recording is
    active."""
    for number, each in enumerate(rounds if is_watched() else (), first):
        way = _Way(each.losses)
        chance, cohort, work = max(each.law, key=lambda outcome: outcome[0])
        steps = Rounds(
            each.method, each.losses._replace(noise=way.noise, alike=False), each.h, number
        )
        with record_paths() as seen:
            ((_, trace),) = steps.of(steps.start(list(x)), [(ONE, cohort, work)])
        q = chance * way.chance
        told = dict(what=what, number=number, chance=q, ways=1 if q == 1 else None)
        record_if_watched(lambda seen=seen, told=told: seen[0]._replace(**told))
        x = vector([shorten_ends(part) for part in trace.after.x])
    return x


class _Way:
    """One outcome of the noise in each step, and the joint probability of these outcomes."""

    def __init__(self, losses: Losses) -> None:
        self.losses, self.chance = losses, ONE

    def noise(self, i: int, k: int) -> Any:
        """Return one outcome of the noise of client i in step k, as certain, and multiply `chance`
        by its probability. Outcomes alternate with i + k."""
        found = self.losses.noise(i, k)
        if not found:
            return found
        q, n = found[(i + k) % len(found)]
        self.chance = self.chance * q
        return [(ONE, n)]
