"""Windows of 3 x 3 four outputs at a time, by 16 products where sums over windows take 36: Winograd's
F(2 x 2, 3 x 3) (Lavin and Gray 2016).

A tile is 2 x 2 outputs and the 4 x 4 pixels d that they see. Its outputs are A [(G g G') * (B d B')] A',
products taken number by number and summed over channels: each of the 16 places is one product of
matrices over many tiles. Derivatives are the adjoints of the same maps: by g it is
G' [the sum of (B d B') * (A' D A) over tiles] G, by d the sum of B' [(G g G') * (A' D A)] B.
"""

from typing import NamedTuple

import numpy as np

from fedtheory.jit import jit
from fedtheory.layers._frames import framed, unframed
from fedtheory.layers._maps import Steps, small_map
from fedtheory.layers._runs import blank
from fedtheory.layers._tiles import Places, Sums, add_products

TILES = 56  # a strip of lines of tiles has about so many: what is made of them stays in the cache
A = ((1.0, 1.0, 1.0, 0.0), (0.0, 1.0, -1.0, 1.0))
B = ((1.0, 0.0, -1.0, 0.0), (0.0, 1.0, 1.0, 0.0), (0.0, -1.0, 1.0, 0.0), (0.0, 1.0, 0.0, -1.0))
G = ((1.0, 0.0, 0.0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0.0, 0.0, -1.0))
from_pixels, from_outputs, from_weights = small_map(B), small_map([*zip(*A)]), small_map(G)
to_outputs = small_map(A)
add_to_pixels, add_to_weights = small_map([*zip(*B)], adds=True), small_map([*zip(*G)], adds=True)


class Field(NamedTuple):
    """high x wide tiles: outputs have lines of 2 wide pixels, images two more lines and pixels."""

    high: int
    wide: int
    channels: int
    filters: int


@jit
def strip(field):
    """How many lines of tiles are worked on at a time."""
    return min(field.high, max(1, TILES // field.wide))


@jit
def within(field, channels, more):
    """Steps of tiles that stand in an image whose lines are `more` pixels longer than its tiles."""
    return Steps((2 * field.wide + more) * channels, channels, 2 * channels)


@jit
def apart(tiles, channels):
    """Steps of the 16 places of some tiles, place after place."""
    return Steps(4 * tiles * channels, tiles * channels, channels)


@jit
def spread_weights(field, g, U):
    """U = G g G'."""
    count = field.channels * field.filters
    from_weights(g, 0, Steps(3 * count, count, 0), U, 0, Steps(4 * count, count, 0), 1, count)


@jit
def add_weights(field, U, g):
    """g += G' U G."""
    count = field.channels * field.filters
    add_to_weights(U, 0, Steps(4 * count, count, 0), g, 0, Steps(3 * count, count, 0), 1, count)


@jit
def turned(field, U):
    """Each place of U with filters before channels."""
    channels, filters = field.channels, field.filters
    found = np.empty(U.size, U.dtype)
    for place in range(16):
        at = place * channels * filters
        for c in range(channels):
            for o in range(filters):
                found[at + o * channels + c] = U[at + c * filters + o]
    return found


@jit
def products(V, rows, inner, U, outer, M, b):
    """M = V U at each of the 16 places; b is added to place (1, 1), which all four outputs take."""
    nothing = np.zeros(outer, M.dtype)
    for place in range(16):
        terms = Sums(V, inner, 0, 1, U, outer, 1, inner)
        places = Places(M, outer, b if place == 5 else nothing, 0)
        v, u, m = place * rows * inner, place * inner * outer, place * rows * outer
        add_products(terms, v, u, 0, places, m, 1, rows, outer)


@jit
def sums_over_windows(field, image, at, U, b, Z, to):
    """Z = b + the sums over windows of an image that begins at `at`."""
    wide, channels, filters, some = field.wide, field.channels, field.filters, strip(field)
    V = np.empty(16 * some * wide * channels, Z.dtype)
    M = np.empty(16 * some * wide * filters, Z.dtype)
    seen, made = within(field, channels, 2), within(field, filters, 0)
    for low in range(0, field.high, some):
        lines = min(some, field.high - low)
        rows = lines * wide
        pixels, outputs = apart(rows, channels), apart(rows, filters)
        for i in range(lines):
            line = at + 2 * (low + i) * seen.down
            from_pixels(image, line, seen, V, i * wide * channels, pixels, wide, channels)
        products(V, rows, channels, U, filters, M, b)
        for i in range(lines):
            line = to + 2 * (low + i) * made.down
            to_outputs(M, i * wide * filters, outputs, Z, line, made, wide, filters)


@jit
def add_slopes(field, image, at, D, d, S, back, E, e):
    """Adds the derivatives by U to S and by the image, unless `back` is empty, to E: the image begins
    at `at` and at e, the outputs' derivative D at d; `back` is U turned."""
    wide, channels, filters, some = field.wide, field.channels, field.filters, strip(field)
    V = np.empty(16 * some * wide * channels, S.dtype)
    W = np.empty(16 * some * wide * filters, S.dtype)
    seen, made = within(field, channels, 2), within(field, filters, 0)
    nothing = np.zeros(channels, S.dtype)
    for low in range(0, field.high, some):
        lines = min(some, field.high - low)
        rows = lines * wide
        pixels, outputs = apart(rows, channels), apart(rows, filters)
        for i in range(lines):
            line, by = at + 2 * (low + i) * seen.down, d + 2 * (low + i) * made.down
            from_pixels(image, line, seen, V, i * wide * channels, pixels, wide, channels)
            from_outputs(D, by, made, W, i * wide * filters, outputs, wide, filters)
        for place in range(16):
            terms = Sums(V, 1, 0, channels, W, filters, 1, rows)
            v, w, s = place * rows * channels, place * rows * filters, place * channels * filters
            add_products(terms, v, w, 0, Places(S, filters, S, filters), s, 1, channels, filters)
        if back.size > 0:
            products(W, rows, filters, back, channels, V, nothing)
            for i in range(lines):
                line = e + 2 * (low + i) * seen.down
                add_to_pixels(V, i * wide * channels, pixels, E, line, seen, wide, channels)


@jit
def field_of(o):
    """The tiles of some windows; whether images, and outputs, have to be copied to have whole ones."""
    field = Field((o.tall + 1) // 2, (o.across + 1) // 2, o.channels, o.filters)
    clipped = o.tall % 2 + o.across % 2 > 0
    return field, clipped or o.border > 0, clipped


@jit
def forward(o, A, n, w, b, Z):
    """Z = b + the sums over windows of n images, weighted by w."""
    field, copied, clipped = field_of(o)
    seen, made = within(field, o.channels, 2), within(field, o.filters, 0)
    image = np.zeros((field.high + 1) * 2 * seen.down if copied else 0, Z.dtype)
    outputs = np.empty(field.high * 2 * made.down if clipped else 0, Z.dtype)
    U = np.empty(16 * o.channels * o.filters, Z.dtype)
    spread_weights(field, w, U)
    wide, size, each = (
        2 * field.wide,
        o.height * o.width * o.channels,
        o.tall * o.across * o.filters,
    )
    for r in range(n):
        if copied:
            framed(A, r * size, o.height, o.width, o.border, 1, wide + 2, o.channels, image)
        source, at = (image, 0) if copied else (A, r * size)
        target, to = (outputs, 0) if clipped else (Z, r * each)
        sums_over_windows(field, source, at, U, b, target, to)
        if clipped:
            unframed(outputs, 0, wide, o.filters, Z, r * each, o.tall, o.across)


@jit
def backward(o, A, n, w, D, G, E):
    """Adds the derivative by w to G; E is that by the images, if it is not empty."""
    field, copied, clipped = field_of(o)
    seen, made, asked = within(field, o.channels, 2), within(field, o.filters, 0), E.size > 0
    image = np.zeros((field.high + 1) * 2 * seen.down if copied else 0, D.dtype)
    slopes = np.zeros(image.size if asked else 0, D.dtype)
    outputs = np.zeros(field.high * 2 * made.down if clipped else 0, D.dtype)
    U = np.empty(16 * o.channels * o.filters if asked else 0, D.dtype)
    if asked:
        spread_weights(field, w, U)
    back, S = turned(field, U) if asked else U, np.zeros(16 * o.channels * o.filters, D.dtype)
    wide, size, each = (
        2 * field.wide,
        o.height * o.width * o.channels,
        o.tall * o.across * o.filters,
    )
    for r in range(n):
        if copied:
            framed(A, r * size, o.height, o.width, o.border, 1, wide + 2, o.channels, image)
        if clipped:
            framed(D, r * each, o.tall, o.across, 0, 1, wide, o.filters, outputs)
        source, at = (image, 0) if copied else (A, r * size)
        by, d = (outputs, 0) if clipped else (D, r * each)
        target, to = (slopes, 0) if copied else (E, r * size)
        if asked:
            blank(target, to, slopes.size if copied else size)
        add_slopes(field, source, at, by, d, S, back, target, to)
        if asked and copied:
            unframed(slopes, o.border, wide + 2, o.channels, E, r * size, o.height, o.width)
    add_weights(field, S, G)
