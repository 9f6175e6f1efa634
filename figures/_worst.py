"""The worst case of a statement by the number of rounds: a search for each number, then further
searches from the best points at the neighbouring numbers, so that the plotted stars do not vary
with the progress of single searches."""

from collections.abc import Sequence, Set
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory import discover
from fedtheory.errors import refuse
from fedtheory.figures import _parts
from fedtheory.language.claim import Claim
from fedtheory.models import fitting
from fedtheory.search import resizing, scheduler
from fedtheory.search.coverage import Coverage
from fedtheory.search.objective import Target
from fedtheory.search.optimizer import PER_SECOND
from fedtheory.typing import Shape
from fedtheory.verdicts import confirmation
from fedtheory.verdicts.combination import conclude

if TYPE_CHECKING:
    from fedtheory.models import Setting
    from fedtheory.search.optimizer import ShapeSearch

ROUNDS = ("rounds", "R", "T", "tau")  # what shapes call them; FED-LAMB's T are local steps
LEADERS, BRIEF = 2, 12  # hunts that go along, and the most generations there
ENDS, ALONG = 0.2, 0.3  # shares of the seconds for exact looks, and for each hunt that goes along
LEAST = 1e-6  # a share of the bound below which a search has found no worst case


def rounds_name(shape: Shape) -> str:
    """Return the name of the number of rounds in a setting's shape."""
    return next(name for name in ROUNDS if name in shape)


def rounds_of(shape: Shape) -> int:
    return int(shape[rounds_name(shape)])


def of_rounds(setting: "Setting", rounds: int, /, tries: int = 2000, **more: int) -> "Setting":
    """Return the setting restricted to instances with the given number of rounds and with the other
    given entries of the shape."""

    def shapes(random: Random, relaxed: Set[str]) -> dict[str, int | str]:
        for _ in range(tries):
            shape = setting.shapes(random, relaxed)
            if rounds_of(shape) == rounds and more.items() <= shape.items():
                return shape
        refuse("rounds", f"must be those of some instance of {setting.says}", rounds)

    return setting._replace(shapes=shapes)


class Worst(NamedTuple):
    """The worst cases of a statement, for each number of rounds."""

    ratios: np.ndarray  # the largest certain ratio of left to right side, NaN where none was found
    broken: np.ndarray  # whether the statement is violated there


NONE = Worst(np.array([]), np.array([], bool))  # of no number of rounds


def worst_ratio(
    claim: Claim, Ts: Sequence[int], seconds: float, seed: int = 0, line: int = 0, **more: Any
) -> Worst:
    """Return the worst case for each number of rounds, searched for the given seconds each."""
    ratios, broken = np.full(len(Ts), np.nan), np.zeros(len(Ts), bool)
    settings = fitting(claim)
    for setting in settings:
        share = seconds / len(settings)
        searches = [Search(claim, line, of_rounds(setting, T, **more), share, seed) for T in Ts]
        neighbours = [(n - 1, n) for n in range(1, len(Ts))]
        for one, other in neighbours + [(n, m) for m, n in reversed(neighbours)]:
            searches[other].go_on(searches[one], Ts[other], seed)
        for n, search in enumerate(searches):
            found = confirmation.conclude_search(search.rank_found(), search.looked, ENDS * share)
            verdict = conclude(claim.id, found)
            if verdict.tightness is not None and verdict.tightness > LEAST:
                ratios[n] = np.fmax(ratios[n], float(verdict.tightness))
            broken[n] |= verdict.status == "violated"
    return Worst(ratios, broken)


def search_once(id: str, Ts: Sequence[int], seconds: float, line: int = 0, **more: Any) -> Worst:
    """Return `worst_ratio` of a claim given by its id, searched once and shared by all figures."""
    found = _parts.compute_part(of_claim, id, [*map(int, Ts)], seconds, line, more)
    return Worst(found["ratios"], found["broken"])


def of_claim(
    id: str, Ts: Sequence[int], seconds: float, line: int, more: dict[str, Any]
) -> dict[str, np.ndarray]:
    return worst_ratio(discover.claim(id), Ts, seconds, line=line, **more)._asdict()


class Search:
    """A search of one setting with the best ratio and point of each search at one shape."""

    def __init__(
        self, claim: Claim, line: int, setting: "Setting", seconds: float, seed: int
    ) -> None:
        self.target, self.looked, self.best = Target(claim, setting, line), Coverage(setting), {}
        self.most = ALONG * seconds * PER_SECOND
        for found in scheduler.search_waves(self.target, (1 - ENDS) * seconds, seed):
            self.add(*found)

    def add(self, hunt: "ShapeSearch", ratio: float, point: np.ndarray) -> None:
        self.looked.add(hunt)
        if ratio >= 0:
            self.best[hunt] = ratio, point

    def rank_found(self) -> "list[tuple[float, ShapeSearch, np.ndarray]]":
        """Return (ratio, search at one shape, point), the largest ratio first."""
        found = [(ratio, hunt, point) for hunt, (ratio, point) in self.best.items()]
        return sorted(found, key=lambda each: -each[0])

    def go_on(self, other: "Search", rounds: int, seed: int) -> None:
        """Climb at the given number of rounds from the best points of another search, if the number
        of rounds is a size that costs nothing (`resizing.is_free_size`)."""
        for n, (_, hunt, _) in enumerate(other.rank_found()[:LEADERS]):
            shape = {**hunt.shape, rounds_name(hunt.shape): str(rounds)}
            if not resizing.is_free_size(
                hunt.shape[rounds_name(hunt.shape)]
            ) or not scheduler.admits_shape(self.target, shape, hunt.numbers):
                continue
            new = resizing.transplant(hunt, shape, Random(f"{seed}/{rounds}/{n}"))
            if new.top is not None:
                for rated in new.climb_generations(BRIEF, new.top):
                    self.add(new, *rated)
                    if new.work > self.most:
                        break
