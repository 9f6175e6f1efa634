"""mixed FL, theorem B.2, convex: where its proof gives away how much, at instances drawn inside its
hypotheses."""

from fedtheory.figures import _slack
from fedtheory.figures._record import Figure


def compute(scale, progress):
    return _slack.arrays("mixed.stepB2_convex", scale, progress)


FIGURE = Figure(
    cites="mixed FL, theorem B.2, convex",
    title="Where the proof's slack enters",
    shows=("mixed.stepB2_convex", "mixed.theoremB2_convex_explicit"),
    compute=compute,
    draw=_slack.draw,
    rows=_slack.rows,
    caption=_slack.caption,
    says=_slack.says,
    width="page",
    height=4.4,
)
