"""ResNet-9, FED-LAMB's larger network on CIFAR-10 (section 4): eight convolutions and one fully
connected layer, two shortcuts.

The paper prints no more than the name. Widths 64, 128, 256 and 512 are those of the usual ResNet-9;
BatchNorm follows the rule *batch statistics* (experiments/layers/norm.py), and GroupNorm of 8 groups, which
averaging leaves as it is, stands beside it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from fedtheory.experiments.layers import add, conv, dense, pool, relu
from fedtheory.experiments.layers.norm import batchnorm, groupnorm
from fedtheory.experiments.network import Layer, Network
from fedtheory.typing import Number


def residual_block(filters: Number, norm: Any) -> list[Layer]:
    return [conv(filters), norm(), relu()]


def shortcut_layers(name: str, filters: int, norm: Callable[..., Any]) -> list[Layer]:
    first, second = residual_block(filters, norm), residual_block(filters, norm)
    return [pool(2).called(name), *first, *second, add(name)]


def resnet_layers(width: Number, norm: Any, classes: Number) -> list[Layer]:
    return [
        *residual_block(width, norm),
        *(*residual_block(2 * width, norm), *shortcut_layers("second", 2 * width, norm)),
        *(*residual_block(4 * width, norm), pool(2)),
        *(*residual_block(8 * width, norm), *shortcut_layers("fourth", 8 * width, norm)),
        *(pool(4), dense(classes)),
    ]


SAYS = "Its widths are chosen, so it may judge orders of methods, and no printed accuracy."
SMALL = "An eighth of the width: it may judge orders of methods, and no printed accuracy."
NORMS = {"": batchnorm, "_groups": partial(groupnorm, 8)}
NETWORKS = tuple(
    record
    for ending, norm in NORMS.items()
    for record in (
        Network(
            f"resnet9{ending}",
            "FED-LAMB, section 4",
            (32, 32, 3),
            10,
            partial(resnet_layers, 64, norm),
            SAYS,
            f"resnet9{ending}_twin",
        ),
        Network(
            f"resnet9{ending}_twin",
            "FED-LAMB, section 4, small",
            (32, 32, 3),
            10,
            partial(resnet_layers, 8, norm),
            SMALL,
        ),
    )
)
