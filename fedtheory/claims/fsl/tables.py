"""FSL, tables II and III: output shapes and parameter counts, computed from the layers."""

from math import prod

from fedtheory.claim import Claim
from fedtheory.symbols.fsl import TABLE


def conv(filters, padding, size=3):
    """Stride 1; the padding is not printed: "same" keeps height and width, "valid" loses size -
    1."""

    def apply(shape):
        lost = 0 if padding == "same" else size - 1
        return (shape[0] - lost, shape[1] - lost, filters), size * size * shape[
            2
        ] * filters + filters

    return "Conv2D", apply


def pool(size=2):
    return "MaxPooling2D", lambda shape: ((shape[0] // size, shape[1] // size, shape[2]), 0)


def dropout():
    return "Dropout", lambda shape: (shape, 0)


def flatten():
    return "Flatten", lambda shape: ((prod(shape),), 0)


def dense(units):
    return "Dense", lambda shape: ((units,), shape[0] * units + units)


def walk(shape, layers):
    """Cells of a table: each layer's output shape, and its parameter count where it has any."""
    cells, seen = {}, {}
    for name, apply in layers:
        seen[name] = seen.get(name, 0) + 1
        shape, parameters = apply(shape)
        cells[f"{name} {seen[name]}, shape"] = shape
        if parameters:
            cells[f"{name} {seen[name]}, parameters"] = parameters
    return cells


# The printed shapes of table II (28, then 26) need "same" in the first convolution and "valid" in
# the second.
EMNIST = (
    conv(32, "same"),
    conv(64, "valid"),
    pool(),
    dropout(),
    flatten(),
    dense(128),
    dropout(),
    dense(45),
)
CIFAR = (
    conv(32, "same"),
    pool(),
    conv(64, "same"),
    pool(),
    dropout(),
    flatten(),
    dense(128),
    dropout(),
    dense(10),
)


def emnist():
    return walk((28, 28, 1), EMNIST)


def cifar():
    return walk((32, 32, 3), CIFAR)


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
        compute=emnist,
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
        compute=cifar,
        meaning="The CIFAR-10 network's sizes follow from its layers.",
    ),
)
