"""An experiment of a paper: what is printed of it, what had to be chosen, and its runs at a scale."""

from collections.abc import Callable
from typing import NamedTuple

from fedtheory.errors import refuse

SCALES = ("smoke", "quick", "paper")


class Experiment(NamedTuple):
    """`runs(scale)` are requests: dictionaries of numbers and words, each of which defines one run
    (see _training.py). `chosen` says of what the paper does not print, or is not kept at a smaller
    scale, what stands here and why."""

    name: str
    cites: str
    printed: dict
    chosen: dict
    tuning: dict  # what is tuned: the grid, and by what its best is picked
    runs: Callable
    judges: str  # which findings the small scales may judge

    def requests(self, scale):
        """The runs of a scale, without repetition."""
        if scale not in SCALES:
            refuse("scale", f"must be one of {', '.join(SCALES)}", scale)
        return self.runs(scale)
