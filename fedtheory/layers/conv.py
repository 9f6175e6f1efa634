"""The convolution of images (height, width, channels): windows as rows of a matrix, times W.

Windows of a few samples at a time stand in a workspace that the processor's cache can hold; they
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
def windows(A, low, high, s, rows):
    """rows[p] = the window of output place p of samples low .. high - 1, zero outside the image."""
    height, width, channels, k, stride, pad = s[0], s[1], s[2], s[3], s[4], s[5]
    tall, across = s[6], s[7]
    zero = A.dtype.type(0)
    line = k * channels
    p = 0
    for b in range(low, high):
        for i in range(tall):
            for j in range(across):
                first = j * stride - pad
                left, right = max(0, -first) * channels, min(k, width - first) * channels
                for u in range(k):
                    y, q = i * stride + u - pad, u * line
                    if y < 0 or y >= height:
                        for c in range(q, q + line):
                            rows[p, c] = zero
                        continue
                    at = (y * width + first) * channels
                    for c in range(left):
                        rows[p, q + c] = zero
                    for c in range(left, right):
                        rows[p, q + c] = A[b, at + c]
                    for c in range(right, line):
                        rows[p, q + c] = zero
                p += 1


@jit
def unfold(rows, low, high, s, E):
    """Adds each window to where it came from."""
    height, width, channels, k, stride, pad = s[0], s[1], s[2], s[3], s[4], s[5]
    tall, across = s[6], s[7]
    line = k * channels
    p = 0
    for b in range(low, high):
        for i in range(tall):
            for j in range(across):
                first = j * stride - pad
                left, right = max(0, -first) * channels, min(k, width - first) * channels
                for u in range(k):
                    y, q = i * stride + u - pad, u * line
                    if y >= 0 and y < height:
                        at = (y * width + first) * channels
                        for c in range(left, right):
                            E[b, at + c] += rows[p, q + c]
                p += 1


@jit
def forward(here):
    A, s = here.A, here.sizes
    n, places, outputs = A.shape[0], s[6] * s[7], s[8]
    inner = s[3] * s[3] * s[2]
    some = max(1, min(n, HOLDS // (places * inner)))
    room = np.empty((some * places, inner), A.dtype)
    W, b = matrix(here.w, 0, inner, outputs), here.w[inner * outputs :]
    Z = here.Z.reshape((n * places, outputs))
    for r in range(n * places):
        for j in range(outputs):
            Z[r, j] = b[j]
    for low in range(0, n, some):
        high = min(low + some, n)
        rows = room[: (high - low) * places]
        windows(A, low, high, s, rows)
        gemm(rows, 0, W, 0, 1.0, Z[low * places : high * places])


@jit
def backward(here):
    A, E, s = here.A, here.E, here.sizes
    n, places, outputs = A.shape[0], s[6] * s[7], s[8]
    inner = s[3] * s[3] * s[2]
    some = max(1, min(n, HOLDS // (places * inner)))
    room = np.empty((some * places, inner), A.dtype)
    D = here.D.reshape((n * places, outputs))
    G, b = matrix(here.G, 0, inner, outputs), here.G[inner * outputs :]
    for r in range(n * places):
        for j in range(outputs):
            b[j] += D[r, j]
    for r in range(E.shape[0]):
        for j in range(E.shape[1]):
            E[r, j] = 0
    for low in range(0, n, some):
        high = min(low + some, n)
        rows, part = room[: (high - low) * places], D[low * places : high * places]
        windows(A, low, high, s, rows)
        gemm(rows, 1, part, 0, 1.0, G)
        if E.shape[0] > 0:
            gemm(part, 0, matrix(here.w, 0, inner, outputs), 1, 0.0, rows)
            unfold(rows, low, high, s, E)


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
