"""FSL, table III: the network for CIFAR-10, its sizes computed from its layers."""

from fedtheory.figures import _network, _structure
from fedtheory.figures._record import Figure

CLAIM = "fsl.table3"


def compute_arrays(scale, progress):
    return _network.compute_arrays(CLAIM)


def judge_findings(data):
    return {CLAIM: _structure.judge_structure(data)}


FIGURE = Figure(
    cites="FSL, table III",
    title="The network for CIFAR-10: sizes as they follow from its layers",
    compute=compute_arrays,
    draw=_network.draw_figure,
    rows=_network.table_rows,
    findings=judge_findings,
    caption=_network.write_caption,
    height=2.1,
)
