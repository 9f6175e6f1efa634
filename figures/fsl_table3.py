"""FSL, table III: the network for CIFAR-10, its sizes computed from its layers."""

from fedtheory.figures import _network

FIGURE = _network.network_figure("fsl.table3", "III", "CIFAR-10")
