"""The record of a paper's experiment: what the paper states, what had to be chosen, and the runs at
each scale."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fedtheory.errors import refuse

SCALES = ("smoke", "quick", "paper")


class Experiment(NamedTuple):
    """An experiment of a paper. `figures` maps each part of the experiment to a function of the
    scale that returns {cell: arguments}; `request(scale, cell[0], seed=seed, **arguments)` is the
    dictionary of numbers and words that defines a run (see _training.py), and `chosen` gives the
    value and the reason for everything that the paper does not state or that differs at a smaller
    scale."""

    name: str
    cites: str
    printed: dict[str, Any]
    chosen: dict[str, Any]
    tuning: dict[str, Any]  # what is tuned: the grid, and by what its best is picked
    figures: dict[str, Any]
    request: Callable[..., Any]
    seeds: dict[str, Any]  # scale -> how many
    judges: str  # which findings the small scales may judge

    def runs_of(
        self, figure: str, scale: str
    ) -> dict[tuple[tuple[float | str, ...], int], dict[str, Any]]:
        """Return {(cell, seed): request} for a figure."""
        return {
            (cell, seed): self.request(scale, cell[0], seed=seed, **arguments)
            for cell, arguments in self.figures[figure](scale).items()
            for seed in range(self.seeds[scale])
        }

    def requests(self, scale: str) -> list[dict[str, Any]]:
        """Return the runs of a scale, figure by figure."""
        return [run for _, run in self.named(scale)]

    def named(self, scale: str, only: Sequence[str] = ()) -> list[Any]:
        """Return [(words, run)] for a scale, where the words are the parts of the run's cell, and
        its seed. With `only`, return only the runs that have all these words."""
        if scale not in SCALES:
            refuse("scale", f"must be one of {', '.join(SCALES)}", scale)
        found = [
            ((*(str(part) for part in cell if part != ""), f"seed={seed}"), run)
            for figure in self.figures
            for (cell, seed), run in self.runs_of(figure, scale).items()
        ]
        known = {word for words, _ in found for word in words}
        for word in only:
            if word not in known:
                refuse("only", f"must be words of runs: {', '.join(sorted(known))}", word)
        found = [(words, run) for words, run in found if {*only} <= {*words}]
        if not found:
            refuse("only", "must be words that one run has together", " ".join(only))
        return found
