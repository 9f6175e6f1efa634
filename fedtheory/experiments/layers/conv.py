"""The convolution of images (height, width, channels): weighted sums over windows.

A window's line of k pixels and all channels is one run of numbers of an image, so a line of outputs
is a product of matrices whose rows overlap, a segment for each line of the window: no window is
copied; windows of 3 x 3 go by tiles where that saves products (_winograd.py). The derivative by the
image is the same of D, spread by the stride, with W turned round.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.layers import _winograd
from fedtheory.experiments.layers._frames import copy_into_frame
from fedtheory.experiments.layers._gemm import add_rows, he_normal, zeros
from fedtheory.experiments.layers._tiles import Places, Sums, add_products
from fedtheory.experiments.layers._turns import transpose_matrix
from fedtheory.experiments.network import Fitted, Layer, Parameter
from fedtheory.jit import jit

DEEP = 8  # channels, and filters, from which on tiles are worth their making


class Windows(NamedTuple):
    """The sizes of a convolution: tall x across windows of k x k pixels, `stride` apart, and
    `filters` sums over each window. Images (height, width, channels) have a border of zeros, and
    their pixels lie `apart`."""

    height: int
    width: int
    channels: int
    border: int
    apart: int
    k: int
    stride: int
    tall: int
    across: int
    filters: int
    tiled: int  # whether it is done by tiles (_winograd.py)


@jit
def frame_size(o):
    """Return (lines, pixels) of an image with its border, and whether the image has to be copied to
    have this size."""
    high = max(o.border + o.apart * (o.height - 1) + 1, (o.tall - 1) * o.stride + o.k)
    wide = max(o.border + o.apart * (o.width - 1) + 1, (o.across - 1) * o.stride + o.k)
    return high, wide, o.border > 0 or o.apart > 1 or high > o.height or wide > o.width


@jit
def turned_round(w, k, channels, outputs, V):
    """Write the weights turned by 180 degrees to V: V[u, v, o, c] = W[k - 1 - u, k - 1 - v, c, o]."""
    count = channels * outputs
    for window in range(k * k):
        at = (k * k - 1 - window) * count
        transpose_matrix(w, at, outputs, channels, outputs, V, window * count, channels)


@jit
def add_windows(o, A, n, w, b, Z):
    """Compute Z = b + the sums over windows of n images, weighted by w."""
    high, wide, copy = frame_size(o)
    line, size = wide * o.channels, o.height * o.width * o.channels
    room = np.zeros(high * line if copy else 0, A.dtype)
    for r in range(n):
        image, at = A, r * size
        if copy:
            copy_into_frame(A, at, o.height, o.width, o.border, o.apart, wide, o.channels, room)
            image, at = room, 0
        sums = Sums(image, o.channels * o.stride, line, 1, w, o.filters, o.k, o.k * o.channels)
        places, to = Places(Z, o.filters, b, 0), r * o.tall * o.across * o.filters
        add_products(sums, at, 0, o.stride * line, places, to, o.tall, o.across, o.filters)


@jit
def add_by_weights(o, A, n, D, G):
    """Add the derivative by the weights to G, as a matrix product whose rows are the places of a
    window and whose terms are the outputs' pixels."""
    high, wide, copy = frame_size(o)
    line, size = wide * o.channels, o.height * o.width * o.channels
    room = np.zeros(high * line if copy else 0, A.dtype)
    for r in range(n):
        image, at = A, r * size
        if copy:
            copy_into_frame(A, at, o.height, o.width, o.border, o.apart, wide, o.channels, room)
            image, at = room, 0
        sums = Sums(
            image, 1, line * o.stride, o.channels * o.stride, D, o.filters, o.tall, o.across
        )
        places, d = Places(G, o.filters, G, o.filters), r * o.tall * o.across * o.filters
        add_products(sums, at, d, line, places, 0, o.k, o.k * o.channels, o.filters)


@jit
def list_windows(here):
    s = here.sizes
    return Windows(s[0], s[1], s[2], s[5], 1, s[3], s[4], s[6], s[7], s[8], s[9])


@jit
def forward(here):
    A, Z, o = here.A.reshape(here.A.size), here.Z.reshape(here.Z.size), list_windows(here)
    n, b = here.A.shape[0], here.w[o.k * o.k * o.channels * o.filters :]
    if o.tiled:
        _winograd.winograd_forward(o, A, n, here.w, b, Z)
    else:
        add_windows(o, A, n, here.w, b, Z)


@jit
def backward(here):
    A, D, o = here.A.reshape(here.A.size), here.D.reshape(here.D.size), list_windows(here)
    E, n, size = here.E.reshape(here.E.size), here.A.shape[0], o.k * o.k * o.channels * o.filters
    add_rows(D, n * o.tall * o.across, o.filters, here.G[size:])
    if o.tiled:
        _winograd.winograd_backward(o, A, n, here.w, D, here.G, E)
        return
    add_by_weights(o, A, n, D, here.G)
    if E.size > 0:
        border = o.k - 1 - o.border
        back = Windows(
            *(o.tall, o.across, o.filters, border, o.stride, o.k, 1),
            *(o.height, o.width, o.channels, 0),
        )
        V, nothing = np.empty(size, A.dtype), np.zeros(o.channels, A.dtype)
        turned_round(here.w, o.k, o.channels, o.filters, V)
        add_windows(back, D, n, V, nothing, E)


def fit(
    filters: int, kernel: int, stride: int, padding: str, shape: tuple[int, int, int]
) -> Fitted:
    if len(shape) != 3:
        refuse("layers", "must give conv images of shape (height, width, channels)", shape)
    height, width, channels = shape
    pad = (kernel - 1) // 2 if padding == "same" else 0
    tall, across = ((size + 2 * pad - kernel) // stride + 1 for size in (height, width))
    if tall < 1 or across < 1:
        refuse("kernel", f"must be at most the images' {min(height, width)}", kernel)
    inner = kernel * kernel * channels
    tiled = kernel == 3 and stride == 1 and min(channels, filters) >= DEEP
    tiled = tiled and _winograd.saves_products(tall, across)
    return Fitted(
        (tall, across, filters),
        (
            Parameter("W", inner * filters, he_normal(inner, filters)),
            Parameter("b", filters, zeros(filters)),
        ),
        (height, width, channels, kernel, stride, pad, tall, across, filters, int(tiled)),
    )


def conv(filters: int, kernel: int = 3, stride: int = 1, padding: str = "same") -> Layer:
    """Return the layer of `filters` images, each a weighted sum over windows of kernel x kernel and
    all channels; its parameters are W (kernel, kernel, channels, filters) by rows, then b. Padding
    "same" requires an odd kernel and adds a border of zeros, "valid" adds none.

    >>> import fedtheory as ft
    >>> ft.layers.conv(64, 3, padding="valid").fit((28, 28, 32)).shape
    (26, 26, 64)
    """
    filters, kernel = (
        arguments.check_integer("filters", filters, 1),
        arguments.check_integer("kernel", kernel, 1),
    )
    stride = arguments.check_integer("stride", stride, 1)
    padding = arguments.check_word("padding", padding, ("same", "valid"))
    if padding == "same" and kernel % 2 == 0:
        refuse("kernel", "must be odd where padding is same", kernel)
    how = partial(fit, filters, kernel, stride, padding)
    return Layer("conv", forward, backward, how)


MAKERS = (conv,)
