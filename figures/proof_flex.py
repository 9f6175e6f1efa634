"""Flex, theorem 3.2: the proof as a graph of its steps, with what each line is."""

from figures import _proofs
from figures._record import Figure

CLAIMS = ("flex.theorem3_2_arrival", "flex.theorem3_2_departure")


def compute(scale, progress):
    return _proofs.arrays(CLAIMS, scale, progress)


FIGURE = Figure(
    cites="flex, theorem 3.2",
    title="What theorem 3.2 rests on",
    shows=tuple(CLAIMS),
    compute=compute,
    draw=_proofs.draw,
    rows=_proofs.rows,
    width="page",
    height=3.4,
)
