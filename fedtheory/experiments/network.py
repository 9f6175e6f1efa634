"""The record of a layer, and the argument that its kernels receive.

A layer is one file of layers/: a function that users call, and two kernels of one argument, `here`.
`forward` writes Z from A. `backward` writes E, the loss's derivative by A, and adds the derivative
by w to G; it computes both from D, the loss's derivative by Z. Arrays have a row for each sample of
a minibatch. A loss is the last layer: its Z is a column of the samples' losses.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fedtheory import jit
from fedtheory.errors import refuse
from fedtheory.typing import Number

SIZES, NUMBERS = 12, 4  # the number of integers and of reals that a layer may have of its own
REALS = {"float64": np.float64, "float32": np.float32}


class Here(NamedTuple):
    """The argument of a layer's kernels: one layer applied to one minibatch. All reals are float32,
    or all are float64."""

    sizes: np.ndarray  # (SIZES,) the layer's own integers
    numbers: np.ndarray  # (NUMBERS,) the layer's own reals
    w: np.ndarray  # the layer's parameters, flat
    A: np.ndarray  # (n, inputs)
    Z: np.ndarray  # (n, outputs)
    kept: np.ndarray  # values that forward stores for backward, flat
    D: np.ndarray  # (n, outputs)
    E: np.ndarray  # (n, inputs), or (0, inputs) where no layer needs it
    G: np.ndarray  # shaped like w
    other: np.ndarray  # (n, outputs) of the earlier layer to which this layer skips
    y: np.ndarray  # (n, labels of a sample)
    draw: int  # the key of this gradient's draws
    place: int  # the layer's position in the list
    training: int  # 0 where a loss is measured: dropout is off
    fresh: int  # whether G is overwritten instead of added to: 0 unless the layer `writes`


@cache
def here_type(real: str) -> Any:
    """Return Numba's type of Here for one kind of reals."""
    t = jit.types
    vector, matrix = (t.Array(getattr(t, real), axes, "C") for axes in (1, 2))
    table = t.Array(t.int64, 2, "C")
    return jit.tuple_type(
        Here,
        jit.INTEGERS,
        jit.VECTOR,
        *(vector, matrix, matrix, vector, matrix, matrix, vector, matrix),
        *(table, t.uint64, t.int64, t.int64, t.int64),
    )


class Parameter(NamedTuple):
    """One array among a layer's parameters."""

    name: str
    size: int
    start: Callable[..., Any]  # (NumPy generator) -> (size,) initial values


class Fitted(NamedTuple):
    """A layer in its place in a network, when the shape of its input is known."""

    shape: tuple[Any, ...]  # shape of an output sample
    parameters: tuple[Any, ...] = ()
    sizes: tuple[Any, ...] = ()
    numbers: tuple[Any, ...] = ()
    kept: int = 0  # numbers for each sample that forward stores for backward


class Layer(NamedTuple):
    """A layer of a network."""

    name: str
    forward: Callable[..., Any]
    backward: Callable[..., Any]
    fit: Callable[..., Any]  # (shape) -> Fitted, or a refusal
    in_place: bool = False  # Z may use the memory of A
    draws: bool = False  # forward draws from `here.draw`
    reads_output: bool = False  # backward reads Z, so no later layer may overwrite Z
    # a loss only: (here) writes loss, right, within the best k, score into the columns of Z
    judge: Callable[..., Any] | None = None
    skips_to: str = ""  # the name of the earlier layer whose output is `other`
    writes: bool = False  # backward writes all of G where `here.fresh` says so
    shares: str = ""  # the name of a layer with which this layer shares its parameters
    # a first layer only: (samples) -> None, or a refusal of samples that it cannot read
    admits: Callable[..., Any] | None = None

    def called(self, name: str) -> Any:
        """Return the same layer under another name."""
        return self._replace(name=name)

    def __repr__(self) -> str:
        return self.name


@jit.jit
def do_nothing(here):
    """Do nothing, as the kernel of layers that only change a shape."""


class Step(NamedTuple):
    """The position of a layer in the flat vector and in the workspace: the columns of a plan."""

    at: int  # offset of its parameters
    size: int
    inputs: int
    outputs: int
    source: int  # offset of its input, in numbers for each sample; -1: the samples themselves
    target: int
    keeps: int  # offset of the values stored for backward
    kept: int
    skip: int  # the layer whose output is its second input, or -1
    asked: int  # whether an earlier layer needs the derivative by this layer's input
    writes: int  # whether it overwrites its derivative, which then need not be cleared before


def plan_layers(
    layers: Sequence[Layer],
    shape: Sequence[int],
    owners: dict[str, Step] | None = None,
    at: int = 0,
) -> tuple[list[Step], list[Fitted], int, int]:
    """Return (steps, fitted layers, numbers per sample of all outputs, numbers per sample of all
    stored values) of a list of layers for samples of a shape.

    Parameters begin at index `at`; `owners` maps names to the steps whose parameters other layers
    may share. Raises InvalidInput where shapes do not fit, or a layer refers to one that is not
    there.
    """
    steps, fitted, names = [], [], []
    owners = {} if owners is None else owners
    source, before, wide, keeps = -1, None, 0, 0
    for layer in layers:
        here, inputs = layer.fit(shape), prod(shape)
        count = sum(parameter.size for parameter in here.parameters)
        first = at
        if layer.shares:
            first, count = _shared_parameters(layer, owners)
        skip = _skipped_layer(layer, names, steps, prod(here.shape))
        over = layer.in_place and before is not None and not before.reads_output
        over = over and not any(later.skips_to == names[-1] for later in layers if names)
        target = source if over else wide
        wide += 0 if over else prod(here.shape)
        asked = int(any(step.size for step in steps))
        steps.append(
            Step(
                *(first, count, inputs, prod(here.shape), source, target, keeps, here.kept),
                *(skip, asked, int(layer.writes)),
            )
        )
        names.append(layer.name)
        owners.setdefault(layer.name, steps[-1])
        fitted.append(here)
        at += 0 if layer.shares else count
        keeps, source, shape, before = keeps + here.kept, target, here.shape, layer
    return steps, fitted, wide, keeps


class Network(NamedTuple):
    """A network of a paper, or a small version of it."""

    name: str
    cites: str
    shape: tuple[Any, ...]  # shape of a sample
    classes: int
    layers: Callable[..., Any]  # (classes) -> the network's layers
    judges: str  # the findings that it may judge, as a sentence
    twin: str = ""  # the name of its small counterpart

    def parameters(self) -> Number:
        """Return [(layer and name, size)] of the parameters, at the network's own shape and number
        of classes.

        >>> import fedtheory as ft
        >>> sum(size for _, size in ft.networks["mnist_mlp"].parameters())
        159010
        """
        layers = self.layers(self.classes)
        return [
            (name, parameter.size)
            for name, parameter in number_parameters(layers, plan_layers(layers, self.shape)[1])
        ]

    def __repr__(self) -> str:
        return f"{self.name} ({self.cites})"


def number_parameters(
    layers: Sequence[Layer], fitted: Sequence[Fitted]
) -> Iterator[tuple[str, Parameter]]:
    """Yield (name, Parameter) of every parameter; layers with the same name are numbered."""
    seen: dict = {}
    for layer, here in zip(layers, fitted):
        if here.parameters:
            seen[layer.name] = seen.get(layer.name, 0) + 1
        for parameter in here.parameters:
            yield f"{layer.name}{seen[layer.name]}/{parameter.name}", parameter


def _shared_parameters(layer: Layer, owners: Mapping[str, Step]) -> Any:
    """Return the first index and the number of the parameters that a layer shares with an earlier
    layer."""
    if layer.shares not in owners:
        refuse("layers", f"must have the layer whose parameters {layer.name} shares", layer.shares)
    return owners[layer.shares].at, owners[layer.shares].size


def _skipped_layer(layer: Layer, names: Sequence[str], steps: Sequence[Step], outputs: int) -> int:
    """Return the index of the layer to which this layer skips back; -1 where it has no skip
    connection."""
    if not layer.skips_to:
        return -1
    known = [n for n, name in enumerate(names) if name == layer.skips_to]
    if not known or steps[known[-1]].outputs != outputs:
        refuse("layers", "must skip back to an earlier layer of as many outputs", layer.skips_to)
    return known[-1]
