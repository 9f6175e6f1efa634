"""flex: each statement as it is printed and as it is meant, what saves it, and how much of its
constants the truth needs."""

from figures import _needed
from figures._record import Figure

PAPERS = ("flex",)
FEW = ("flex.jensen_s", "flex.distance_by_gradient")  # at smoke scale


def compute(scale, progress):
    return _needed.arrays(PAPERS, FEW, scale, progress)


FIGURE = Figure(
    cites="flex, all statements with lines",
    title="Printed, meant, and what the truth needs",
    shows=FEW,
    compute=compute,
    draw=_needed.draw,
    rows=_needed.rows,
    width="page",
    height=3.4,
)
