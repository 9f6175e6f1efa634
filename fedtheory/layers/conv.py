"""The convolution of images (height, width, channels): weighted sums over windows.

A window's line of k pixels and all channels is one run of numbers of an image, so a line of outputs
is a product of matrices whose rows overlap, a segment for each line of the window: no window is
copied. The derivative by the image is the same of D, spread by the stride, with W turned round.
"""

from functools import partial

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.jit import jit
from fedtheory.layers._gemm import add_rows, he_normal, zeros
from fedtheory.layers._runs import blank, copied
from fedtheory.layers._tiles import Places, Sums, add_products
from fedtheory.network import Fitted, Layer, Parameter


@jit
def framed(A, at, tall, line, border, apart, wide, channels, room):
    """Copies an image of `tall` lines of `line` pixels into a blank one with lines of `wide`: pixel
    (i, j) to (border + apart i, border + apart j)."""
    if apart == 1:
        for i in range(tall):
            to = ((border + i) * wide + border) * channels
            copied(A, at + i * line * channels, room, to, line * channels)
        return
    for i in range(tall):
        for j in range(line):
            to = ((border + apart * i) * wide + border + apart * j) * channels
            copied(A, at + (i * line + j) * channels, room, to, channels)


@jit
def turned(w, k, channels, outputs, V):
    """V[u, v, o, c] = W[k - 1 - u, k - 1 - v, c, o]."""
    for window in range(k * k):
        at, to = (k * k - 1 - window) * channels * outputs, window * channels * outputs
        for c in range(channels):
            for o in range(outputs):
                V[to + o * channels + c] = w[at + c * outputs + o]


@jit
def forward(here):
    A, Z, s = here.A.reshape(here.A.size), here.Z.reshape(here.Z.size), here.sizes
    height, width, channels, k, stride, pad = s[0], s[1], s[2], s[3], s[4], s[5]
    tall, across, outputs = s[6], s[7], s[8]
    wide, size = width + 2 * pad, height * width * channels
    line, b = wide * channels, here.w[k * k * channels * outputs :]
    room = np.empty((height + 2 * pad) * line if pad > 0 else 0, A.dtype)
    blank(room, 0, room.size)
    for r in range(here.A.shape[0]):
        image, first = A, r * size
        if pad > 0:
            framed(A, r * size, height, width, pad, 1, wide, channels, room)
            image, first = room, 0
        sums = Sums(image, channels * stride, line, 1, here.w, outputs, k, k * channels)
        to = r * tall * across * outputs
        places = Places(Z, outputs, b, 0)
        add_products(sums, first, 0, stride * line, places, to, tall, across, outputs)


@jit
def by_weights(here, image, first, line, D, r):
    """Adds the derivative by W of sample r, whose image begins at `first`: its rows are the places of
    a window, its terms the pixels of the output."""
    G, s = here.G, here.sizes
    channels, k, stride, tall, across, outputs = s[2], s[3], s[4], s[6], s[7], s[8]
    along = channels * stride
    sums = Sums(image, 1, line * stride, along, D, outputs, tall, across)
    b = r * tall * across * outputs
    places = Places(G, outputs, G, outputs)
    add_products(sums, first, b, line, places, 0, k, k * channels, outputs)


@jit
def backward(here):
    A, D, s = here.A.reshape(here.A.size), here.D.reshape(here.D.size), here.sizes
    E = here.E.reshape(here.E.size)
    height, width, channels, k, stride, pad = s[0], s[1], s[2], s[3], s[4], s[5]
    tall, across, outputs = s[6], s[7], s[8]
    n, wide, size = here.A.shape[0], width + 2 * pad, height * width * channels
    line = wide * channels
    add_rows(D, n * tall * across, outputs, here.G[k * k * channels * outputs :])
    room = np.empty((height + 2 * pad) * line if pad > 0 else 0, A.dtype)
    blank(room, 0, room.size)
    border = k - 1 - pad
    broad = width + k - 1
    asked = E.size > 0
    spread = np.empty((height + k - 1) * broad * outputs if asked else 0, A.dtype)
    blank(spread, 0, spread.size)
    V = np.empty(k * k * channels * outputs if asked else 0, A.dtype)
    nothing = np.zeros(channels, A.dtype)
    if asked:
        turned(here.w, k, channels, outputs, V)
    for r in range(n):
        image, first = A, r * size
        if pad > 0:
            framed(A, r * size, height, width, pad, 1, wide, channels, room)
            image, first = room, 0
        by_weights(here, image, first, line, D, r)
        if asked:
            at = r * tall * across * outputs
            framed(D, at, tall, across, border, stride, broad, outputs, spread)
            sums = Sums(spread, outputs, broad * outputs, 1, V, channels, k, k * outputs)
            places = Places(E, channels, nothing, 0)
            fall = broad * outputs
            add_products(sums, 0, 0, fall, places, r * size, height, width, channels)


def fit(filters, kernel, stride, padding, shape):
    if len(shape) != 3:
        refuse("layers", "must give conv images of shape (height, width, channels)", shape)
    height, width, channels = shape
    pad = (kernel - 1) // 2 if padding == "same" else 0
    tall, across = ((size + 2 * pad - kernel) // stride + 1 for size in (height, width))
    if tall < 1 or across < 1:
        refuse("kernel", f"must be at most the images' {min(height, width)}", kernel)
    inner = kernel * kernel * channels
    return Fitted(
        (tall, across, filters),
        (
            Parameter("W", inner * filters, he_normal(inner, filters)),
            Parameter("b", filters, zeros(filters)),
        ),
        (height, width, channels, kernel, stride, pad, tall, across, filters),
    )


def conv(filters, kernel=3, stride=1, padding="same"):
    """`filters` images, each a weighted sum over windows of kernel x kernel and all channels; W
    (kernel, kernel, channels, filters) by rows, then b. Padding "same" takes an odd kernel and adds
    a border of zeros, "valid" none.

    >>> import fedtheory as ft
    >>> ft.layers.conv(64, 3, padding="valid").fit((28, 28, 32)).shape
    (26, 26, 64)
    """
    filters, kernel = arguments.whole("filters", filters, 1), arguments.whole("kernel", kernel, 1)
    stride = arguments.whole("stride", stride, 1)
    padding = arguments.word("padding", padding, ("same", "valid"))
    if padding == "same" and kernel % 2 == 0:
        refuse("kernel", "must be odd where padding is same", kernel)
    how = partial(fit, filters, kernel, stride, padding)
    return Layer("conv", forward, backward, how)


MAKERS = (conv,)
