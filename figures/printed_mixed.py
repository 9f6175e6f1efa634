"""Mixed FL: the verdict on each statement as printed and as meant, the hypotheses that save it, and
how much of its constants is needed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fedtheory.figures import _needed

if TYPE_CHECKING:
    import numpy as np

PAPERS = ("mixed",)
FEW = ("mixed.propD5", "mixed.propD6")  # at smoke scale


def compute_arrays(scale: str, progress: Callable[..., Any]) -> "dict[str, np.ndarray]":
    return _needed.needed_arrays(PAPERS, FEW, scale, progress)


FIGURE = _needed.needed_figure("mixed FL", FEW, compute_arrays, minutes=4.0)
