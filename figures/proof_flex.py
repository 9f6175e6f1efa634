"""Flex, theorems 3.1 and 3.2: the proofs as a graph of steps, with the status of each line."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fedtheory.figures import _proofs
from fedtheory.figures._record import Figure

if TYPE_CHECKING:
    import numpy as np

CLAIMS = ("flex.theorem3_1", "flex.theorem3_2_arrival", "flex.theorem3_2_departure")


def compute_arrays(scale: str, progress: Callable[..., Any]) -> "dict[str, np.ndarray]":
    return _proofs.graph_arrays(CLAIMS, scale, progress)


FIGURE = Figure(
    cites="flex, theorems 3.1 and 3.2",
    title="What theorems 3.1 and 3.2 rest on",
    shows=tuple(CLAIMS),
    compute=compute_arrays,
    draw=_proofs.draw_figure,
    rows=_proofs.table_rows,
    caption=_proofs.write_caption,
    says=_proofs.describe_result,
    width="page",
    height=4.4,
)
