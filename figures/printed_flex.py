"""Flex: the verdict on each statement as printed and as meant, the hypotheses that save it, and how
much of its constants is needed."""

from collections.abc import Callable
from typing import Any

from fedtheory.figures import _needed

PAPERS = ("flex",)
FEW = ("flex.jensen_s", "flex.distance_by_gradient")  # at smoke scale


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    return _needed.needed_arrays(PAPERS, FEW, scale, progress)


FIGURE = _needed.needed_figure("flex", FEW, compute_arrays, minutes=0.8)
