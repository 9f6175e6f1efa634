"""The max-pooling of images: the largest number of each window; the derivative goes to the window's
first largest place."""

from functools import partial

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.layers._peaks import Line, given_to_first, largest_of
from fedtheory.experiments.layers._runs import fill_zeros
from fedtheory.experiments.network import Fitted, Layer
from fedtheory.jit import jit


@jit
def window_layout(here):
    """Return (the layout of windows in an image as a `Line` of _peaks.py, the numbers in a line of
    the image, the numbers in a line of the output)."""
    s = here.sizes
    width, channels, k, across = s[1], s[2], s[3], s[5]
    line = width * channels
    return Line(k, line, channels, k * channels, across, channels), line, across * channels


@jit
def forward(here):
    A, Z, s = here.A.reshape(here.A.size), here.Z.reshape(here.Z.size), here.sizes
    windows, line, short = window_layout(here)
    height, k, tall = s[0], s[3], s[4]
    for r in range(here.A.shape[0]):
        for i in range(tall):
            largest_of(windows, A, (r * height + i * k) * line, Z, (r * tall + i) * short)


@jit
def backward(here):
    A, D, s = here.A.reshape(here.A.size), here.D.reshape(here.D.size), here.sizes
    E = here.E.reshape(here.E.size)
    windows, line, short = window_layout(here)
    height, width, k, tall, across = s[0], s[1], s[3], s[4], s[5]
    if tall * k < height or across * k < width:
        fill_zeros(E, 0, E.size)
    for r in range(here.E.shape[0]):
        for i in range(tall):
            at = (r * height + i * k) * line
            given_to_first(windows, A, at, D, (r * tall + i) * short, E, at)


def fit(k: int, shape: tuple[int, int, int]) -> Fitted:
    if len(shape) != 3 or min(shape[:2]) < k:
        refuse("layers", f"must give pool images of {k} x {k} or more", shape)
    height, width, channels = shape
    sizes = (height, width, channels, k, height // k, width // k)
    return Fitted((height // k, width // k, channels), sizes=sizes)


def pool(size: int = 2) -> Layer:
    """Return the layer that takes the largest number of each window of size x size; pixels left
    over at the right and at the bottom are dropped.

    >>> import fedtheory as ft
    >>> ft.layers.pool(2).fit((26, 26, 64)).shape
    (13, 13, 64)
    """
    return Layer("pool", forward, backward, partial(fit, arguments.check_integer("size", size, 1)))


MAKERS = (pool,)
