"""FSL, tables II and III: output shapes and parameter counts, computed from the layers."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from fedtheory.claim import Claim
from fedtheory.symbols.fsl import TABLE


def conv(
    shape: Sequence[int | Any], filters: Any, lost: Any, size: int = 3
) -> tuple[tuple[int | Any, int | Any, int | Any], int | Any]:
    """Return (output shape, parameter count) of a convolution with stride 1. `lost` is the
    reduction of height and width: 0 with the padding "same", size - 1 with "valid"; the text prints
    neither."""
    side = shape[0] - lost, shape[1] - lost
    return (*side, filters), size * size * shape[2] * filters + filters


def pool(
    shape: Sequence[int | Any], size: Any = 2
) -> tuple[tuple[int | Any, int | Any, int | Any], int]:
    return (shape[0] // size, shape[1] // size, shape[2]), 0


def dropout(shape: Sequence[int | Any]) -> tuple[Any, ...]:
    return shape, 0


def flatten(shape: Sequence[int | Any]) -> tuple[tuple[int | Any, ...], int]:
    return (prod(shape),), 0


def dense(shape: Sequence[int | Any], units: Any) -> tuple[tuple[int | Any, ...], int | Any]:
    return (units,), shape[0] * units + units


LAYERS: dict[str, Callable[..., Any]] = {
    "Conv2D": conv,
    "MaxPooling2D": pool,
    "Dropout": dropout,
    "Flatten": flatten,
    "Dense": dense,
}


def walk(given: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return the cells of a table: each layer's output shape, and its parameter count where it has
    parameters."""
    cells: dict[str, Any] = {}
    seen: dict[str, int] = {}
    shape = tuple(given["image"])
    for name, *numbers in given["layers"]:
        seen[name] = seen.get(name, 0) + 1
        shape, parameters = LAYERS[name](shape, *numbers)
        cells[f"{name} {seen[name]}, shape"] = shape
        if name in ("Conv2D", "Dense"):
            cells[f"{name} {seen[name]}, parameters"] = parameters
    return cells


SAME, VALID = 0, 2
# The printed shapes of table II (28, then 26) need "same" in the first convolution and "valid" in
# the second.
EMNIST = dict(
    image=[28, 28, 1],
    layers=[
        ["Conv2D", 32, SAME],
        ["Conv2D", 64, VALID],
        ["MaxPooling2D", 2],
        ["Dropout"],
        ["Flatten"],
        ["Dense", 128],
        ["Dropout"],
        ["Dense", 45],
    ],
)
CIFAR = dict(
    image=[32, 32, 3],
    layers=[
        ["Conv2D", 32, SAME],
        ["MaxPooling2D", 2],
        ["Conv2D", 64, SAME],
        ["MaxPooling2D", 2],
        ["Dropout"],
        ["Flatten"],
        ["Dense", 128],
        ["Dropout"],
        ["Dense", 10],
    ],
)

CLAIMS = (
    Claim(
        id="fsl.table2",
        cites="FSL, table II",
        kind="structure",
        symbols=TABLE,
        figure="fsl_table2",
        says="Output shapes and parameter counts of the model for EMNIST.",
        printed={
            "Conv2D 1, shape": (28, 28, 32),
            "Conv2D 1, parameters": 320,
            "Conv2D 2, shape": (26, 26, 64),
            "Conv2D 2, parameters": 18_496,
            "MaxPooling2D 1, shape": (13, 13, 64),
            "Dropout 1, shape": (13, 13, 64),
            "Flatten 1, shape": (10_816,),
            "Dense 1, shape": (128,),
            "Dense 1, parameters": 1_384_576,
            "Dropout 2, shape": (128,),
            "Dense 2, shape": (45,),
            "Dense 2, parameters": 5_805,
        },
        compute=walk,
        given=EMNIST,
        meaning="The EMNIST network's sizes follow from its layers.",
    ),
    Claim(
        id="fsl.table3",
        cites="FSL, table III",
        kind="structure",
        symbols=TABLE,
        figure="fsl_table3",
        says="Output shapes and parameter counts of the model for CIFAR-10.",
        printed={
            "Conv2D 1, shape": (32, 32, 32),
            "Conv2D 1, parameters": 896,
            "MaxPooling2D 1, shape": (13, 13, 64),
            "Conv2D 2, shape": (16, 16, 64),
            "Conv2D 2, parameters": 18_496,
            "MaxPooling2D 2, shape": (8, 8, 64),
            "Dropout 1, shape": (8, 8, 64),
            "Flatten 1, shape": (4_096,),
            "Dense 1, shape": (128,),
            "Dense 1, parameters": 524_416,
            "Dropout 2, shape": (128,),
            "Dense 2, shape": (10,),
            "Dense 2, parameters": 1_290,
        },
        compute=walk,
        given=CIFAR,
        meaning="The CIFAR-10 network's sizes follow from its layers.",
    ),
)
