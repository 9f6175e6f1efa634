"""FSL, theorem 1: where its proof gives away how much, at instances drawn inside its hypotheses."""

from fedtheory.figures import _slack
from fedtheory.figures._record import Figure


def compute(scale, progress):
    return _slack.arrays("fsl.theorem1", scale, progress)


FIGURE = Figure(
    cites="FSL, theorem 1",
    title="Where the proof's slack enters",
    shows=("fsl.theorem1",),
    compute=compute,
    draw=_slack.draw,
    rows=_slack.rows,
    caption=_slack.caption,
    says=_slack.says,
    width="page",
    height=6.8,
)
