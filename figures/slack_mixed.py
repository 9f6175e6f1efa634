"""Mixed FL, theorem B.2, convex: how much slack each line of its proof adds, at instances drawn
inside its hypotheses."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fedtheory.figures import _slack
from fedtheory.figures._record import Figure

if TYPE_CHECKING:
    import numpy as np


def compute_arrays(scale: str, progress: Callable[..., Any]) -> "dict[str, np.ndarray]":
    return _slack.slack_arrays("mixed.stepB2_convex", scale, progress)


FIGURE = Figure(
    cites="mixed FL, theorem B.2, convex",
    title="Where the proof's slack enters",
    shows=("mixed.stepB2_convex", "mixed.theoremB2_convex_explicit"),
    compute=compute_arrays,
    draw=_slack.draw_figure,
    rows=_slack.table_rows,
    caption=_slack.write_caption,
    says=_slack.describe_result,
    width="page",
    height=4.4,
)
