"""mixed FL, theorem B.2: the proof as a graph of its steps, with what each line is."""

from figures import _proofs
from figures._record import Figure

CLAIMS = ("mixed.theoremB2_convex", "mixed.theoremB2_nonconvex")


def compute(scale, progress):
    return _proofs.arrays(CLAIMS, scale, progress)


FIGURE = Figure(
    cites="mixed FL, theorem B.2",
    title="What theorem B.2 rests on",
    shows=tuple(CLAIMS),
    compute=compute,
    draw=_proofs.draw,
    rows=_proofs.rows,
    width="page",
    height=8.0,
)
