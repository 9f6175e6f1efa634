"""FSL, theorem 1: how much slack each line of its proof adds, at instances drawn inside its
hypotheses."""

from collections.abc import Callable
from typing import Any

from fedtheory.figures import _slack
from fedtheory.figures._record import Figure


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    return _slack.slack_arrays("fsl.theorem1", scale, progress)


FIGURE = Figure(
    cites="FSL, theorem 1",
    title="Where the proof's slack enters",
    shows=("fsl.theorem1",),
    compute=compute_arrays,
    draw=_slack.draw_figure,
    rows=_slack.table_rows,
    caption=_slack.write_caption,
    says=_slack.describe_result,
    width="page",
    height=6.8,
)
