"""Mixed FL, theorems B.1 to B.3: the proofs as a graph of steps, with the status of each line."""

from collections.abc import Callable
from typing import Any

from fedtheory.figures import _proofs
from fedtheory.figures._record import Figure

CLAIMS = tuple(
    f"mixed.theorem{which}_{case}"
    for which in ("B1", "B2", "B3")
    for case in ("convex", "nonconvex")
)


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    return _proofs.graph_arrays(CLAIMS, scale, progress)


FIGURE = Figure(
    cites="mixed FL, theorems B.1 to B.3",
    title="What theorems B.1 to B.3 rest on",
    shows=tuple(CLAIMS),
    compute=compute_arrays,
    minutes=0.6,
    draw=_proofs.draw_figure,
    rows=_proofs.table_rows,
    caption=_proofs.write_caption,
    says=_proofs.describe_result,
    width="page",
    height=9,
)
