"""Flex, table 3 (a): test accuracy of schemes A, B and C on MNIST as devices become heterogeneous."""

from fedtheory.figures import _flex_networks

FIGURE = _flex_networks.table3_figure("MNIST", "a", minutes=0.9)
