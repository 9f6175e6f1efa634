"""FED-LAMB: the verdict on each statement as printed and as meant, the hypotheses that save it, and
how much of its constants is needed."""

from collections.abc import Callable
from typing import Any

from fedtheory.figures import _needed

PAPERS = ("lamb",)
FEW = ("lamb.step7", "lamb.step_average")  # at smoke scale


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    return _needed.needed_arrays(PAPERS, FEW, scale, progress)


FIGURE = _needed.needed_figure("FED-LAMB", FEW, compute_arrays, minutes=0.5)
