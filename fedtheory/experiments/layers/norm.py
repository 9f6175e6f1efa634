"""The normalisation of images by groups of channels of one sample, and by channels of a minibatch.

GroupNorm (Wu and He 2018) knows each sample alone. BatchNorm (Ioffe and Szegedy 2015) needs a rule
for what becomes of its running means under averaging; the rule here is *batch statistics*: means and
variances are those of the samples at hand, in training and where a loss is measured (there, of a
block of samples), and scale and shift alone are parameters, averaged like all others.
"""

from functools import partial
from math import prod
from typing import Any

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.network import Fitted, Layer, Parameter
from fedtheory.jit import jit

EPSILON = 1e-5


@jit
def forward(here):
    """Compute the normalised, scaled and shifted outputs Z, and store in `kept` the normalised
    inputs, then 1 / deviation of each set."""
    A, Z, s = here.A, here.Z, here.sizes
    places, channels, groups, together = s[0], s[1], s[2], s[3]
    n, size = A.shape[0], A.shape[1]
    wide = channels // groups
    # a set: one group of one sample, or one channel of all samples
    samples = n if together else 1
    for first in range(0, n, samples):
        for g in range(groups):
            low, count = g * wide, samples * places * wide
            mean = 0.0
            for r in range(first, first + samples):
                for p in range(places):
                    for c in range(low, low + wide):
                        mean += A[r, p * channels + c]
            mean /= count
            square = 0.0
            for r in range(first, first + samples):
                for p in range(places):
                    for c in range(low, low + wide):
                        square += (A[r, p * channels + c] - mean) ** 2
            part = 1.0 / np.sqrt(square / count + EPSILON)
            here.kept[n * size + first * groups + g] = part
            for r in range(first, first + samples):
                for p in range(places):
                    for c in range(low, low + wide):
                        at = p * channels + c
                        here.kept[r * size + at] = (A[r, at] - mean) * part
                        Z[r, at] = here.kept[r * size + at] * here.w[c] + here.w[channels + c]


@jit
def backward(here):
    D, E, s = here.D, here.E, here.sizes
    places, channels, groups, together = s[0], s[1], s[2], s[3]
    n, size = D.shape[0], D.shape[1]
    wide = channels // groups
    samples = n if together else 1
    for first in range(0, n, samples):
        for g in range(groups):
            low, count = g * wide, samples * places * wide
            total = inner = 0.0
            for r in range(first, first + samples):
                for p in range(places):
                    for c in range(low, low + wide):
                        at = p * channels + c
                        x, d = here.kept[r * size + at], D[r, at]
                        here.G[c] += d * x
                        here.G[channels + c] += d
                        total += d * here.w[c]
                        inner += d * here.w[c] * x
            total, inner = total / count, inner / count
            part = here.kept[n * size + first * groups + g]
            if E.shape[0] > 0:
                for r in range(first, first + samples):
                    for p in range(places):
                        for c in range(low, low + wide):
                            at = p * channels + c
                            x = here.kept[r * size + at]
                            E[r, at] = part * (D[r, at] * here.w[c] - total - x * inner)


def fit(groups: int | None, shape: Any) -> Fitted:
    channels, places = shape[-1], prod(shape[:-1])
    parted = channels if groups is None else groups
    if channels % parted:
        refuse("groups", f"must divide the {channels} channels", groups)
    ones = Parameter("scale", channels, lambda generator: np.ones(channels))
    zeros = Parameter("shift", channels, lambda generator: np.zeros(channels))
    together = int(groups is None)
    return Fitted(
        shape, (ones, zeros), (places, channels, parted, together), kept=prod(shape) + parted
    )


def groupnorm(groups: int) -> Layer:
    """Return the layer that normalises each of `groups` groups of channels of each sample, with a
    scale and a shift for each channel.

    >>> import fedtheory as ft
    >>> [parameter.size for parameter in ft.layers.groupnorm(2).fit((8, 8, 64)).parameters]
    [64, 64]
    """
    return Layer(
        "groupnorm", forward, backward, partial(fit, arguments.check_integer("groups", groups, 1))
    )


def batchnorm() -> Layer:
    """Return the layer that normalises each channel over the current minibatch's samples, by the
    rule *batch statistics* (above).

    >>> import fedtheory as ft
    >>> ft.layers.batchnorm().fit((8, 8, 64)).shape
    (8, 8, 64)
    """
    return Layer("batchnorm", forward, backward, partial(fit, None))


MAKERS = (groupnorm, batchnorm)
