"""Convolution with 3 x 3 windows by Winograd's F(4 x 4, 3 x 3) (Lavin and Gray 2016): sixteen
outputs at a time take 36 products, where sums over windows take 144.

A tile is 4 x 4 outputs and the 6 x 6 pixels d that they see. Its outputs are A [(G g G') * (B d B')] A',
products taken number by number and summed over channels: each of the 36 places is one product of
matrices over many tiles. Derivatives are the adjoints of the same maps: by g it is
G' [the sum of (B d B') * (A' D A) over tiles] G, by d the sum of B' [(G g G') * (A' D A)] B.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fedtheory.experiments.layers._frames import copy_into_frame, copy_out_of_frame
from fedtheory.experiments.layers._maps import Steps, small_map
from fedtheory.experiments.layers._runs import fill_zeros
from fedtheory.experiments.layers._tiles import Places, Sums, add_products
from fedtheory.experiments.layers._turns import transpose_matrix
from fedtheory.jit import jit

SIDE, EDGE = 4, 6  # of a tile: outputs, and pixels
PLACES = EDGE**2
TILES = 42
# Where polynomials are evaluated, infinity apart. In single precision these err half as much as 0, 1,
# -1, 2, -2.
POINTS = [Fraction(n, 8) for n in (0, 5, -5, 12, -12)]


def toom_cook(points: Sequence[Fraction]) -> tuple[Any, ...]:
    """Return (A, B, G): m sums y_i = sum over k of d_{i + k} g_k of r terms are A [(G g) * (B d)]
    (Toom and Cook; the last place is the point at infinity)."""
    finite = len(points)
    others = [[q for q in points if q != p] for p in points]

    def vanishing(roots: Sequence[Fraction]) -> list[Fraction]:
        """Return the coefficients of the polynomial with the given roots, the constant first."""
        found = [Fraction(1)]
        for root in roots:
            found = [low - root * high for low, high in zip([0, *found], [*found, 0])]
        return found

    powers = lambda p, count: [p**k for k in range(count)]
    last = lambda count: [Fraction(k == count - 1) for k in range(count)]
    A = [*zip(*(powers(p, SIDE) for p in points), last(SIDE))]
    B = [*(vanishing(rest) + [0] for rest in others), vanishing(points)]
    r = finite + 2 - SIDE
    scale = [prod(p - q for q in rest) for p, rest in zip(points, others)]
    G = [*([v / s for v in powers(p, r)] for p, s in zip(points, scale)), last(r)]
    return A, B, G


A, B, G = toom_cook(POINTS)
from_pixels, from_outputs, from_weights = small_map(B), small_map([*zip(*A)]), small_map(G)
to_outputs = small_map(A, adds="b")
add_to_pixels, add_to_weights = small_map([*zip(*B)], adds="z"), small_map([*zip(*G)], adds="z")


class Field(NamedTuple):
    """The tiles of images, high x wide for each image: lines of outputs have 4 wide pixels, and
    images have two more lines and two more pixels in each line."""

    high: int
    wide: int
    channels: int
    filters: int
    framed: bool  # whether images have to be copied to have whole tiles
    clipped: bool  # and outputs
    strip: int  # how many lines of tiles, of one image or of several, are worked on at a time


@jit
def field_of(o, n):
    """Return the tiles that cover the windows of n images."""
    high, wide = (o.tall + SIDE - 1) // SIDE, (o.across + SIDE - 1) // SIDE
    clipped = o.tall % SIDE + o.across % SIDE > 0
    strip = max(1, min(n * high, TILES // wide))
    return Field(high, wide, o.channels, o.filters, clipped or o.border > 0, clipped, strip)


def saves_products(tall: int, across: int) -> bool:
    """Tell whether tiles take fewer products for tall x across outputs than sums over windows take."""
    return PLACES * -(-tall // SIDE) * -(-across // SIDE) < 9 * tall * across


@jit
def steps_within(field, channels, more):
    """Return the steps of tiles within an image whose lines are `more` pixels longer than its
    tiles."""
    return Steps((SIDE * field.wide + more) * channels, channels, SIDE * channels)


@jit
def steps_apart(tiles, channels):
    """Return the steps of tiles that are stored place after place: the first number of every tile,
    then the second, and so on."""
    return Steps(EDGE * tiles * channels, tiles * channels, channels)


@jit
def spread_weights(w, count, U):
    """Compute U = G g G' for `count` pairs of a channel and a filter."""
    from_weights(w, 0, Steps(3 * count, count, 0), U, 0, Steps(EDGE * count, count, 0), 1, count)


@jit
def add_weights(S, count, g):
    """Add G' S G to g."""
    add_to_weights(S, 0, Steps(EDGE * count, count, 0), g, 0, Steps(3 * count, count, 0), 1, count)


@jit
def filters_first(w, channels, filters):
    """Return the weights with the axis of filters before the axis of channels."""
    found, count = np.empty(9 * channels * filters, w.dtype), channels * filters
    for window in range(9):
        transpose_matrix(
            w, window * count, filters, channels, filters, found, window * count, channels
        )
    return found


@jit
def multiply_places(V, rows, inner, U, outer, M):
    """Compute M = V U at each place of the tiles."""
    nothing = np.zeros(outer, M.dtype)
    for place in range(PLACES):
        terms = Sums(V, inner, 0, 1, U, outer, 1, inner)
        v, u, m = place * rows * inner, place * inner * outer, place * rows * outer
        add_products(terms, v, u, 0, Places(M, outer, nothing, 0), m, 1, rows, outer)


@jit
def add_crossed(V, rows, inner, W, outer, S):
    """Add V' W to S at each place of the tiles."""
    for place in range(PLACES):
        terms = Sums(V, 1, 0, inner, W, outer, 1, rows)
        v, w, s = place * rows * inner, place * rows * outer, place * inner * outer
        add_products(terms, v, w, 0, Places(S, outer, S, outer), s, 1, inner, outer)


@jit
def in_whole_tiles(copied, A, r, i, tall, across, border, wide, channels, room):
    """Return (array, index) where image r is stored in whole tiles: the image itself, or its copy
    in `room`, which is made at the image's first line of tiles."""
    size = tall * across * channels
    if copied and i == 0:
        copy_into_frame(A, r * size, tall, across, border, 1, wide, channels, room)
    return (room, 0) if copied else (A, r * size)


@jit
def see_pixels(o, field, A, low, lines, room, V):
    """Compute V = B d B' for the tiles of some lines. The first image's copy in `room` may come
    from an earlier call."""
    seen, put = steps_within(field, o.channels, 2), steps_apart(lines * field.wide, o.channels)
    line, count = SIDE * field.wide + 2, field.wide * o.channels
    for n in range(lines):
        r, i = divmod(low + n, field.high)
        source, at = in_whole_tiles(
            field.framed, A, r, i, o.height, o.width, o.border, line, o.channels, room
        )
        at += SIDE * i * seen.down
        from_pixels(source, at, seen, V, n * count, put, field.wide, o.channels)


@jit
def see_outputs(o, field, D, low, lines, room, W):
    """Compute W = A' D A for the tiles of some lines."""
    made, put = steps_within(field, o.filters, 0), steps_apart(lines * field.wide, o.filters)
    line, count = SIDE * field.wide, field.wide * o.filters
    for n in range(lines):
        r, i = divmod(low + n, field.high)
        source, at = in_whole_tiles(
            field.clipped, D, r, i, o.tall, o.across, 0, line, o.filters, room
        )
        at += SIDE * i * made.down
        from_outputs(source, at, made, W, n * count, put, field.wide, o.filters)


@jit
def make_outputs(o, field, M, low, lines, b, room, Z):
    """Compute Z = b + A M A' for the tiles of some lines; `room` holds the first image's earlier
    lines, from earlier calls."""
    made, got = steps_within(field, o.filters, 0), steps_apart(lines * field.wide, o.filters)
    size = o.tall * o.across * o.filters
    for n in range(lines):
        r, i = divmod(low + n, field.high)
        target, to = (room, 0) if field.clipped else (Z, r * size)
        at, to = n * field.wide * o.filters, to + SIDE * i * made.down
        to_outputs(M, at, got, target, to, made, field.wide, o.filters, b, 0)
        if field.clipped and i == field.high - 1:
            copy_out_of_frame(room, 0, SIDE * field.wide, o.filters, Z, r * size, o.tall, o.across)


@jit
def make_slopes(o, field, V, low, lines, room, E):
    """Compute E = the sum of B' V B over the tiles of some lines; `room` holds the first image's
    earlier lines, from earlier calls."""
    seen, got = steps_within(field, o.channels, 2), steps_apart(lines * field.wide, o.channels)
    size = o.height * o.width * o.channels
    for n in range(lines):
        r, i = divmod(low + n, field.high)
        target, to = (room, 0) if field.framed else (E, r * size)
        if i == 0:
            fill_zeros(target, to, room.size if field.framed else size)
        at, to = n * field.wide * o.channels, to + SIDE * i * seen.down
        add_to_pixels(V, at, got, target, to, seen, field.wide, o.channels)
        if field.framed and i == field.high - 1:
            line = SIDE * field.wide + 2
            copy_out_of_frame(room, o.border, line, o.channels, E, r * size, o.height, o.width)


@jit
def make_buffers(field, real):
    """Return (a framed image, whole outputs), two buffers of zeros; a buffer that is not needed is
    empty."""
    image, tile = (SIDE * field.high + 2) * (SIDE * field.wide + 2), SIDE * SIDE
    outputs = tile * field.high * field.wide
    return (
        np.zeros(image * field.channels if field.framed else 0, real),
        np.zeros(outputs * field.filters if field.clipped else 0, real),
    )


@jit
def winograd_forward(o, A, n, w, b, Z):
    """Compute Z = b + the sums over windows of n images, weighted by w."""
    field, real = field_of(o, n), Z.dtype
    image, outputs = make_buffers(field, real)
    tiles, count = field.strip * field.wide, o.channels * o.filters
    V, M = np.empty(PLACES * tiles * o.channels, real), np.empty(PLACES * tiles * o.filters, real)
    U = np.empty(PLACES * count, real)
    spread_weights(w, count, U)
    for low in range(0, n * field.high, field.strip):
        lines = min(field.strip, n * field.high - low)
        see_pixels(o, field, A, low, lines, image, V)
        multiply_places(V, lines * field.wide, o.channels, U, o.filters, M)
        make_outputs(o, field, M, low, lines, b, outputs, Z)


@jit
def winograd_backward(o, A, n, w, D, G, E):
    """Add the derivative by w to G, and write the derivative by the images to E, if E is not empty."""
    field, real, asked = field_of(o, n), D.dtype, E.size > 0
    image, outputs = make_buffers(field, real)
    slopes = np.empty(image.size if asked else 0, real)
    tiles, count = field.strip * field.wide, o.channels * o.filters
    V, W = np.empty(PLACES * tiles * o.channels, real), np.empty(PLACES * tiles * o.filters, real)
    back, S = np.empty(PLACES * count if asked else 0, real), np.zeros(PLACES * count, real)
    if asked:
        spread_weights(filters_first(w, o.channels, o.filters), count, back)
    for low in range(0, n * field.high, field.strip):
        lines = min(field.strip, n * field.high - low)
        see_pixels(o, field, A, low, lines, image, V)
        see_outputs(o, field, D, low, lines, outputs, W)
        add_crossed(V, lines * field.wide, o.channels, W, o.filters, S)
        if asked:
            multiply_places(W, lines * field.wide, o.filters, back, o.channels, V)
            make_slopes(o, field, V, low, lines, slopes, E)
    add_weights(S, count, G)
