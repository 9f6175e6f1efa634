"""FSL, theorems 1 and 2: the proofs as a graph of steps, with the status of each line."""

from collections.abc import Callable
from typing import Any

from fedtheory.figures import _proofs
from fedtheory.figures._record import Figure

CLAIMS = ("fsl.theorem2", "fsl.theorem1")


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    return _proofs.graph_arrays(CLAIMS, scale, progress)


FIGURE = Figure(
    cites="FSL, theorems 1 and 2",
    title="What theorems 1 and 2 rest on",
    shows=tuple(CLAIMS),
    compute=compute_arrays,
    draw=_proofs.draw_figure,
    rows=_proofs.table_rows,
    caption=_proofs.write_caption,
    says=_proofs.describe_result,
    width="page",
    height=8.4,
)
