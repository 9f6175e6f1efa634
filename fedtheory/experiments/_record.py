"""An experiment of a paper: what is printed of it, what had to be chosen, and its runs at a scale."""

from collections.abc import Callable
from typing import NamedTuple

from fedtheory.errors import refuse

SCALES = ("smoke", "quick", "paper")


class Experiment(NamedTuple):
    """`figures` names parts of an experiment: a function of the scale, {cell: arguments}. A run is
    `request(scale, cell[0], seed=seed, **arguments)`, a dictionary of numbers and words that defines it
    (see _training.py). `chosen` says of what the paper does not print, or is not kept at a smaller
    scale, what stands here and why."""

    name: str
    cites: str
    printed: dict
    chosen: dict
    tuning: dict  # what is tuned: the grid, and by what its best is picked
    figures: dict
    request: Callable
    seeds: dict  # scale -> how many
    judges: str  # which findings the small scales may judge

    def runs_of(self, figure, scale):
        """{(cell, seed): request} of a figure."""
        return {
            (cell, seed): self.request(scale, cell[0], seed=seed, **arguments)
            for cell, arguments in self.figures[figure](scale).items()
            for seed in range(self.seeds[scale])
        }

    def requests(self, scale):
        """The runs of a scale, figure after figure."""
        return [run for _, run in self.named(scale)]

    def named(self, scale, only=()):
        """[(words, run)] of a scale: the words of a run are those of its cell, and its seed. With `only`,
        the runs that have all these words."""
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
