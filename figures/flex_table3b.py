"""Flex, table 3 (b): test accuracy of schemes A, B and C on EMNIST as devices become heterogeneous."""

from fedtheory.figures import _flex_networks

FIGURE = _flex_networks.table3_figure("EMNIST", "b", minutes=3)
