"""FSL, table III: the network for CIFAR-10, its sizes computed from its layers."""

from fedtheory.figures import _network, _structure
from fedtheory.figures._record import Figure

CLAIM = "fsl.table3"


def compute(scale, progress):
    return _network.compute(CLAIM)


def findings(data):
    return {CLAIM: _structure.finding(data)}


FIGURE = Figure(
    cites="FSL, table III",
    title="The network for CIFAR-10: sizes as they follow from its layers",
    compute=compute,
    draw=_network.draw,
    rows=_network.rows,
    findings=findings,
    caption=_network.caption,
    height=2.1,
)
