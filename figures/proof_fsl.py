"""FSL, theorems 1 and 2: the proof as a graph of its steps, with what each line is."""

from fedtheory.figures import _proofs
from fedtheory.figures._record import Figure

CLAIMS = ("fsl.theorem2", "fsl.theorem1")


def compute(scale, progress):
    return _proofs.arrays(CLAIMS, scale, progress)


FIGURE = Figure(
    cites="FSL, theorems 1 and 2",
    title="What theorems 1 and 2 rest on",
    shows=tuple(CLAIMS),
    compute=compute,
    draw=_proofs.draw,
    rows=_proofs.rows,
    caption=_proofs.caption,
    says=_proofs.says,
    width="page",
    height=8.4,
)
