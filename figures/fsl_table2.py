"""FSL, table II: the network for EMNIST, its sizes computed from its layers."""

from fedtheory.figures import _network

FIGURE = _network.network_figure("fsl.table2", "II", "EMNIST")
