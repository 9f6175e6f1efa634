"""FED-LAMB, theorem 1 and corollary 1: the proofs as a graph of steps, with the status of each
line."""

from collections.abc import Callable
from typing import Any

from fedtheory.figures import _proofs
from fedtheory.figures._record import Figure

CLAIMS = ("lamb.corollary1", "lamb.theorem1", "lamb.theorem1_explicit")


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    return _proofs.graph_arrays(CLAIMS, scale, progress)


FIGURE = Figure(
    cites="FED-LAMB, theorem 1 and corollary 1",
    title="Where the proof of theorem 1 breaks",
    shows=tuple(CLAIMS),
    compute=compute_arrays,
    draw=_proofs.draw_figure,
    rows=_proofs.table_rows,
    caption=_proofs.write_caption,
    says=_proofs.describe_result,
    width="page",
    height=6.4,
)
