"""The convolution of images (height, width, channels): windows as rows of a matrix, times W.

Windows of a few lines at a time stand in a workspace that the processor's cache can hold; they
are gathered again on the way back, which costs less than to keep them.
"""

from functools import partial

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.jit import jit
from fedtheory.layers._gemm import gemm, he_normal, matrix, zeros
from fedtheory.network import Fitted, Layer, Parameter

HOLDS = 2**18  # numbers of a workspace of windows


@jit
def copied(A, at, rows, to, count):
    """rows[to + c] = A[at + c]; unsigned places spare a look at their sign for each."""
    at, to = np.uint64(at), np.uint64(to)
    for c in range(np.uint64(count)):
        rows[to + c] = A[at + c]


@jit
def added(rows, at, E, to, count):
    at, to = np.uint64(at), np.uint64(to)
    for c in range(np.uint64(count)):
        E[to + c] += rows[at + c]


@jit
def blank(rows, to, count):
    to, zero = np.uint64(to), rows.dtype.type(0)
    for c in range(np.uint64(count)):
        rows[to + c] = zero


@jit
def windows(A, low, high, s, rows):
    """The windows of lines low .. high - 1 of the output images, one behind the other in `rows`,
    zero outside the image. A line is one of a sample's tall."""
    height, width, channels, k, stride, pad = s[0], s[1], s[2], s[3], s[4], s[5]
    tall, across = s[6], s[7]
    size, line, q = height * width * channels, k * channels, 0
    for at_line in range(low, high):
        b, i = at_line // tall, at_line % tall
        for j in range(across):
            first = j * stride - pad
            left, right = max(0, -first) * channels, min(k, width - first) * channels
            for u in range(k):
                y = i * stride + u - pad
                if y < 0 or y >= height:
                    blank(rows, q, line)
                else:
                    blank(rows, q, left)
                    at = b * size + (y * width + first) * channels + left
                    copied(A, at, rows, q + left, right - left)
                    blank(rows, q + right, line - right)
                q += line


@jit
def unfold(rows, low, high, s, E):
    """Adds each window to where it came from."""
    height, width, channels, k, stride, pad = s[0], s[1], s[2], s[3], s[4], s[5]
    tall, across = s[6], s[7]
    size, line, q = height * width * channels, k * channels, 0
    for at_line in range(low, high):
        b, i = at_line // tall, at_line % tall
        for j in range(across):
            first = j * stride - pad
            left, right = max(0, -first) * channels, min(k, width - first) * channels
            for u in range(k):
                y = i * stride + u - pad
                if y >= 0 and y < height:
                    at = b * size + (y * width + first) * channels + left
                    added(rows, q + left, E, at, right - left)
                q += line


@jit
def forward(here):
    A, s = here.A.reshape(here.A.size), here.sizes
    across, outputs, inner = s[7], s[8], s[3] * s[3] * s[2]
    lines = here.A.shape[0] * s[6]
    some = max(1, min(lines, HOLDS // (across * inner)))
    room = np.empty(some * across * inner, A.dtype)
    W, b = matrix(here.w, 0, inner, outputs), here.w[inner * outputs :]
    Z = here.Z.reshape((lines * across, outputs))
    for low in range(0, lines, some):
        high = min(low + some, lines)
        part = Z[low * across : high * across]
        windows(A, low, high, s, room)
        for r in range(part.shape[0]):
            for j in range(outputs):
                part[r, j] = b[j]
        gemm(matrix(room, 0, part.shape[0], inner), 0, W, 0, 1.0, part)


@jit
def backward(here):
    A, s = here.A.reshape(here.A.size), here.sizes
    E = here.E.reshape(here.E.size)
    across, outputs, inner = s[7], s[8], s[3] * s[3] * s[2]
    lines = here.A.shape[0] * s[6]
    some = max(1, min(lines, HOLDS // (across * inner)))
    room = np.empty(some * across * inner, A.dtype)
    D = here.D.reshape((lines * across, outputs))
    W, G = matrix(here.w, 0, inner, outputs), matrix(here.G, 0, inner, outputs)
    b = here.G[inner * outputs :]
    blank(E, 0, E.size)
    for low in range(0, lines, some):
        high = min(low + some, lines)
        part = D[low * across : high * across]
        rows = matrix(room, 0, part.shape[0], inner)
        windows(A, low, high, s, room)
        gemm(rows, 1, part, 0, 1.0, G)
        for r in range(part.shape[0]):
            for j in range(outputs):
                b[j] += part[r, j]
        if E.size > 0:
            gemm(part, 0, W, 1, 0.0, rows)
            unfold(room, low, high, s, E)


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
