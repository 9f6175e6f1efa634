"""FSL: each statement as it is printed and as it is meant, what saves it, and how much of its
constants the truth needs."""

from figures import _needed
from figures._record import Figure

PAPERS = ("fsl", "fsls")
FEW = ("fsl.lemma3", "fsl.lemma4")  # at smoke scale


def compute(scale, progress):
    return _needed.arrays(PAPERS, FEW, scale, progress)


FIGURE = Figure(
    cites="FSL, all statements with lines",
    title="Printed, meant, and what the truth needs",
    shows=FEW,
    compute=compute,
    draw=_needed.draw,
    rows=_needed.rows,
    width="page",
    height=3.4,
)
