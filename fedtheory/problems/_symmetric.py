"""A symmetric matrix times the difference of two vectors, with one order of additions whatever the
machine's vector width.

A matrix streams through the cache once a gradient. So only blocks of eight rows by eight columns on
the diagonal and right of it are kept, one after the other, each beginning where a line of the cache
begins; and each of those right of the diagonal counts twice. A client's steps then find it near.

Trials that visit one client are not gathered: at d = 100 a product takes 554 ns where a client's ten
steps follow each other, and 527 where six vectors share each load. What a vector's order of
additions fixes, totals of lanes and the last rows, no other vector shares.
"""

import numpy as np

from fedtheory.jit import jit
from fedtheory.problems._vector import (
    add,
    lane_total,
    lane_totals,
    load,
    multiply_add,
    on_stack,
    store,
    zero,
)

LINE = 64  # bytes
LARGE, PARTS = 512, 8  # coordinates from which a product is the sum of so many parts


def pack_blocks(matrices: np.ndarray) -> np.ndarray:
    """Return symmetric matrices (n, d, d) in the layout (n, size) that `times` reads: the blocks of
    eight rows, then in full the rows that fill no block, and rows of zeros up to a multiple of
    four."""
    n, d = matrices.shape[:2]
    whole = d - d % 8
    width = whole + 8
    kept = _aligned_zeros(n, whole * (whole + 8) // 2 + -(-(d - whole) // 4) * 4 * width)
    at = 0
    for r in range(0, whole, 8):
        for c in range(r, whole, 8):
            kept[:, at : at + 64] = matrices[:, r : r + 8, c : c + 8].reshape(n, 64)
            at += 64
    for r in range(whole, d):
        kept[:, at : at + d] = matrices[:, r]
        at += width
    return kept


def _aligned_zeros(n: int, size: int) -> np.ndarray:
    """Return zeros (n, size) that begin at the start of a cache line; size is a multiple of eight."""
    room = np.zeros(n * size + LINE // 8)
    first = -room.ctypes.data % LINE // 8
    return room[first : first + n * size].reshape(n, size)


@jit
def multiply_blocks(kept, x, b, out):
    """Compute out = A (x - b), where `kept` holds the blocks of A."""
    v = on_stack(x.size)
    for j in range(x.size):
        v[j] = x[j] - b[j]
        out[j] = 0.0
    whole = v.size - v.size % 8
    if v.size >= LARGE:
        add_parts(kept, v, out)
    else:
        add_rows(kept, v, 0, whole, out)
    last_rows(kept, whole * (whole + 8) // 2, v, out, whole)


@jit(inline="always")
def add_rows(kept, v, low, high, out):
    """Add to `out` the contribution to A v of rows low .. high - 1 of the blocks, used as rows and
    as columns."""
    whole = v.size - v.size % 8
    at = low * whole - low * (low - 8) // 2
    for r in range(low, high, 8):
        eight_rows(kept, at, v, out, r, whole)
        at += 8 * (whole - r)


@jit
def cut_rows(d, n):
    """Return the row where the n-th part of a large product begins; all parts have the same number
    of blocks, up to rounding."""
    whole = d - d % 8
    return whole - np.int64(whole * np.sqrt(1.0 - n / PARTS) / 8.0) * 8


@jit
def add_parts(kept, v, out):
    """Add to `out` the contribution to A v of all rows of the blocks, one part after the other,
    each part summed on its own."""
    part = on_stack(v.size)
    for n in range(PARTS):
        low = cut_rows(v.size, n)
        fresh, sums = part[low:], out[low:]
        for j in range(fresh.size):
            fresh[j] = 0.0
        add_rows(kept, v, low, cut_rows(v.size, n + 1), part)
        for j in range(fresh.size):
            sums[j] += fresh[j]


@jit
def large_part(kept, x, b, n, room):
    """Compute the n-th part of a large product, and write it to its row of `room`."""
    d, low = x.size, cut_rows(x.size, n)
    v, part = on_stack(d), room[n * d : (n + 1) * d]
    for j in range(d):
        v[j] = x[j] - b[j]
        part[j] = 0.0
    add_rows(kept, v, low, cut_rows(d, n + 1), part)


@jit
def large_sum(kept, x, b, room, out):
    """Compute out = A (x - b) from its parts in `room`."""
    d, v = x.size, on_stack(x.size)
    for j in range(d):
        v[j] = x[j] - b[j]
        out[j] = 0.0
    for n in range(PARTS):
        low = cut_rows(d, n)
        part, sums = room[n * d + low : (n + 1) * d], out[low:]
        for j in range(part.size):
            sums[j] += part[j]
    whole = d - d % 8
    last_rows(kept, whole * (whole + 8) // 2, v, out, whole)


@jit(inline="always")
def eight_rows(kept, at, v, out, r, end):
    """Add to `out` the contribution to A v of columns r .. end - 1 of rows r .. r + 7: the block on
    the diagonal counts as rows, the other blocks as rows and as columns."""
    weights = v[r], v[r + 1], v[r + 2], v[r + 3], v[r + 4], v[r + 5], v[r + 6], v[r + 7]
    store(out, r, combine_rows(load(out, r, zero(8)), weights, unpack_block(kept, at)))
    dot_0 = dot_1 = dot_2 = dot_3 = dot_4 = dot_5 = dot_6 = dot_7 = zero(8)
    for c in range(r + 8, end, 8):
        rows = unpack_block(kept, at + 8 * (c - r))
        store(out, c, combine_rows(load(out, c, zero(8)), weights, rows))
        u, (a_0, a_1, a_2, a_3, a_4, a_5, a_6, a_7) = load(v, c, zero(8)), rows
        dot_0, dot_1 = multiply_add(dot_0, u, a_0), multiply_add(dot_1, u, a_1)
        dot_2, dot_3 = multiply_add(dot_2, u, a_2), multiply_add(dot_3, u, a_3)
        dot_4, dot_5 = multiply_add(dot_4, u, a_4), multiply_add(dot_5, u, a_5)
        dot_6, dot_7 = multiply_add(dot_6, u, a_6), multiply_add(dot_7, u, a_7)
    sums = lane_totals((dot_0, dot_1, dot_2, dot_3, dot_4, dot_5, dot_6, dot_7))
    store(out, r, add(load(out, r, zero(8)), sums))


@jit(inline="always")
def unpack_block(kept, at):
    """Return the eight rows of the block that begins at `at`."""
    one, two = load(kept, at, zero(8)), load(kept, at + 8, zero(8))
    three, four = load(kept, at + 16, zero(8)), load(kept, at + 24, zero(8))
    five, six = load(kept, at + 32, zero(8)), load(kept, at + 40, zero(8))
    return (
        one,
        two,
        three,
        four,
        five,
        six,
        load(kept, at + 48, zero(8)),
        load(kept, at + 56, zero(8)),
    )


@jit(inline="always")
def combine_rows(start, weights, rows):
    """Return start + sum_k weights[k] rows[k], computed in two chains of additions."""
    a_0, a_1, a_2, a_3, a_4, a_5, a_6, a_7 = rows
    w_0, w_1, w_2, w_3, w_4, w_5, w_6, w_7 = weights
    one = multiply_add(multiply_add(start, w_0, a_0), w_2, a_2)
    other = multiply_add(multiply_add(zero(8), w_1, a_1), w_3, a_3)
    one = multiply_add(multiply_add(one, w_4, a_4), w_6, a_6)
    other = multiply_add(multiply_add(other, w_5, a_5), w_7, a_7)
    return add(one, other)


@jit
def last_rows(kept, at, v, out, whole):
    """Add to `out` the contribution to A v of the rows that fill no block, four at a time, as rows
    and as columns."""
    for r in range(whole, v.size, 4):
        four_rows(kept, at, v, out, r, whole)
        for n in range(r, min(r + 4, v.size)):
            for c in range(whole, v.size):
                out[n] += kept[at + c] * v[c]
            at += whole + 8


@jit(inline="always")
def four_rows(kept, at, v, out, r, whole):
    """Add to `out` the contribution to A v of the first `whole` columns of rows r .. r + 3, or of
    the fewer rows that are left."""
    width, left = whole + 8, v.size - r
    w_0, w_1 = v[r], v[r + 1] if left > 1 else 0.0
    w_2, w_3 = v[r + 2] if left > 2 else 0.0, v[r + 3] if left > 3 else 0.0
    dot_0 = dot_1 = dot_2 = dot_3 = zero(8)
    for c in range(0, whole, 8):
        k = at + c
        a_0, a_1 = load(kept, k, zero(8)), load(kept, k + width, zero(8))
        a_2, a_3 = load(kept, k + 2 * width, zero(8)), load(kept, k + 3 * width, zero(8))
        two = multiply_add(multiply_add(load(out, c, zero(8)), w_0, a_0), w_1, a_1)
        store(out, c, multiply_add(multiply_add(two, w_2, a_2), w_3, a_3))
        u = load(v, c, zero(8))
        dot_0, dot_1 = multiply_add(dot_0, u, a_0), multiply_add(dot_1, u, a_1)
        dot_2, dot_3 = multiply_add(dot_2, u, a_2), multiply_add(dot_3, u, a_3)
    out[r] = lane_total(dot_0)
    if left > 1:
        out[r + 1] = lane_total(dot_1)
    if left > 2:
        out[r + 2] = lane_total(dot_2)
    if left > 3:
        out[r + 3] = lane_total(dot_3)
