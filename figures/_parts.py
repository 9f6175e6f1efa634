"""Slow parts of figures: each part is computed once, saved, and shared by all figures that use it,
so that an interrupted figure continues with the part at which it stopped.

A part is a function of a figure's file at plain arguments. It is kept under these and all that the
function reaches: a changed label leaves it alone, a changed experiment works it out anew.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fedtheory.experiments import _kept
from fedtheory.experiments._samples import request_text
from fedtheory.store import source_hash

FOLDER = "parts"


def part_name(function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    """Return the hexadecimal name of a part, from the function, its arguments and a digest of the
    code that the function reaches."""
    home = source_hash.home_file(function)
    reached = source_hash.part_digest(home, function.__name__)
    return _kept.content_name(home.stem, function.__name__, request_text(list(arguments)), reached)


def compute_part(
    function: Callable[..., Any], *arguments: float | str | Sequence[Any]
) -> dict[str, np.ndarray]:
    """Return function(*arguments), a dictionary of arrays, computed once and then loaded."""
    work = lambda: {label: np.asarray(value) for label, value in function(*arguments).items()}
    return _kept.load_or_compute(FOLDER, part_name(function, arguments), work)
