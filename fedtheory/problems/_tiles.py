"""Small matrix products in registers: four samples, or four features, by up to sixteen columns.

A sample is a row base + rows[b] of X, whose width F is a multiple of four. Matrices of the
workspace are vectors with rows of P numbers, P = columns(C): G has F rows, Z one row a sample and
room for a multiple of four of them; W has rows of C numbers, as points do. Sums run over samples or
features in order, whatever the machine.
"""

import numpy as np

from fedtheory.jit import jit
from fedtheory.problems._vector import load, multiply_add, store, zero


@jit
def padded_columns(C):
    """Return C padded to a multiple of four, at least eight, because a tile is two vectors of four."""
    return max(8, (C + 3) // 4 * 4)


@jit
def pad_vector(x, W):
    """Copy x to W, and fill the rest of W with the zeros that a row of P numbers reads beyond the
    end of x."""
    for k in range(x.size):
        W[k] = x[k]
    for k in range(x.size, W.size):
        W[k] = 0.0


@jit
def unpad_matrix(G, P, C, ridge, x, out):
    """Write to `out` the matrix G without its padding, plus ridge x. Where a row writes beyond its
    end, the next row overwrites the excess."""
    if P == C:
        for k in range(x.size):
            out[k] = G[k] + ridge * x[k]
        return
    F, four = x.size // C, zero(4)
    inside = max(0, (x.size - P) // C + 1)
    for f in range(inside):
        for c in range(0, P, 4):
            given = load(G, f * P + c, four)
            store(out, f * C + c, multiply_add(given, ridge, load(x, f * C + c, four)))
    for f in range(inside, F):
        for c in range(C):
            out[f * C + c] = G[f * P + c] + ridge * x[f * C + c]


@jit
def score_rows(X, base, rows, W, C, P, Z):
    """Compute Z[b P + c] = W_c' a, where a is row base + rows[b] of X. W has rows of C numbers and
    P - C numbers more (`roomy`); these, and the padding columns of Z, have no meaning."""
    F = (W.size - P) // C + 1
    last = rows.size - 1
    twelve = 12 if P % 8 == 4 else 0
    wide = P - (P - twelve) % 16
    for b in range(0, rows.size, 4):
        r_0, r_1 = base + rows[b], base + rows[min(b + 1, last)]
        r_2, r_3 = base + rows[min(b + 2, last)], base + rows[min(b + 3, last)]
        a = X[r_0], X[r_1], X[r_2], X[r_3]
        if twelve:
            scores_tile(a, F, W, C, P, Z, b, 0, zero(8), 8, zero(4))
        for c in range(twelve, wide, 16):
            scores_tile(a, F, W, C, P, Z, b, c, zero(8), c + 8, zero(8))
        if wide < P:
            scores_tile(a, F, W, C, P, Z, b, wide, zero(4), wide + 4, zero(4))


@jit(inline="always")
def scores_tile(a, F, W, C, P, Z, b, c, left, e, right):
    """Compute the scores of four samples in two groups of columns: from c on, as many as `left` has
    lanes, and from e on, as many as `right` has."""
    a_0, a_1, a_2, a_3 = a
    y_0 = y_1 = y_2 = y_3 = left
    z_0 = z_1 = z_2 = z_3 = right
    for f in range(F):
        v, w = load(W, f * C + c, left), load(W, f * C + e, right)
        y_0, z_0 = multiply_add(y_0, a_0[f], v), multiply_add(z_0, a_0[f], w)
        y_1, z_1 = multiply_add(y_1, a_1[f], v), multiply_add(z_1, a_1[f], w)
        y_2, z_2 = multiply_add(y_2, a_2[f], v), multiply_add(z_2, a_2[f], w)
        y_3, z_3 = multiply_add(y_3, a_3[f], v), multiply_add(z_3, a_3[f], w)
    store(Z, b * P + c, y_0)
    store(Z, b * P + e, z_0)
    store(Z, (b + 1) * P + c, y_1)
    store(Z, (b + 1) * P + e, z_1)
    store(Z, (b + 2) * P + c, y_2)
    store(Z, (b + 2) * P + e, z_2)
    store(Z, (b + 3) * P + c, y_3)
    store(Z, (b + 3) * P + e, z_3)


@jit
def add_outer_product(X, base, rows, Z, P, low, G):
    """Add sum_b a_f Z[b P + c] to G[(f - low) P + c], where a is row base + rows[b] of X, for as
    many features f from `low` on as G has; both numbers are multiples of four."""
    twelve = 12 if P % 8 == 4 else 0
    wide = P - (P - twelve) % 16
    low = max(low, 0)  # it is, and who knows that does not ask whether an index counts from the end
    for f in range(low, low + G.size // P, 4):
        if twelve:
            outer_tile(X, base, rows, Z, P, low, G, f, 0, zero(8), 8, zero(4))
        for c in range(twelve, wide, 16):
            outer_tile(X, base, rows, Z, P, low, G, f, c, zero(8), c + 8, zero(8))
        if wide < P:
            outer_tile(X, base, rows, Z, P, low, G, f, wide, zero(4), wide + 4, zero(4))


@jit(inline="always")
def outer_tile(X, base, rows, Z, P, low, G, f, c, left, e, right):
    """Add the products of four features in two groups of columns: from c on, as many as `left` has
    lanes, and from e on, as many as `right` has."""
    k_0 = (f - low) * P
    k_1, k_2, k_3 = k_0 + P, k_0 + 2 * P, k_0 + 3 * P
    g_0, h_0 = load(G, k_0 + c, left), load(G, k_0 + e, right)
    g_1, h_1 = load(G, k_1 + c, left), load(G, k_1 + e, right)
    g_2, h_2 = load(G, k_2 + c, left), load(G, k_2 + e, right)
    g_3, h_3 = load(G, k_3 + c, left), load(G, k_3 + e, right)
    sums = g_0, h_0, g_1, h_1, g_2, h_2, g_3, h_3
    g_0, h_0, g_1, h_1, g_2, h_2, g_3, h_3 = add_samples(X, base, rows, Z, P, f, c, e, sums)
    store(G, k_0 + c, g_0)
    store(G, k_0 + e, h_0)
    store(G, k_1 + c, g_1)
    store(G, k_1 + e, h_1)
    store(G, k_2 + c, g_2)
    store(G, k_2 + e, h_2)
    store(G, k_3 + c, g_3)
    store(G, k_3 + e, h_3)


@jit(inline="always")
def add_samples(X, base, rows, Z, P, f, c, e, sums):
    """Return `sums`, a tile of four features by the columns from c and from e on, plus the products
    of all samples."""
    g_0, h_0, g_1, h_1, g_2, h_2, g_3, h_3 = sums
    for b in range(rows.size):
        a = X[base + rows[b]]
        y, z = load(Z, b * P + c, g_0), load(Z, b * P + e, h_0)
        g_0, h_0 = multiply_add(g_0, a[f], y), multiply_add(h_0, a[f], z)
        g_1, h_1 = multiply_add(g_1, a[f + 1], y), multiply_add(h_1, a[f + 1], z)
        g_2, h_2 = multiply_add(g_2, a[f + 2], y), multiply_add(h_2, a[f + 2], z)
        g_3, h_3 = multiply_add(g_3, a[f + 3], y), multiply_add(h_3, a[f + 3], z)
    return g_0, h_0, g_1, h_1, g_2, h_2, g_3, h_3


ONE_TILE = 16  # columns


@jit
def write_gradient(X, base, rows, Z, C, P, ridge, x, out):
    """Compute out[f C + c] = sum_b a_f Z[b P + c] + ridge x[f C + c], for at most ONE_TILE columns
    P, so that the sums go from registers to `out` directly."""
    if P == 8:
        gradient_rows(X, base, rows, Z, C, P, ridge, x, out, zero(4), 4, zero(4))
    elif P == 12:
        gradient_rows(X, base, rows, Z, C, P, ridge, x, out, zero(8), 8, zero(4))
    else:
        gradient_rows(X, base, rows, Z, C, P, ridge, x, out, zero(8), 8, zero(8))


@jit(inline="always")
def gradient_rows(X, base, rows, Z, C, P, ridge, x, out, left, e, right):
    """Compute `gradient` four features at a time, in columns 0 .. of the width of `left` and e ..
    of the width of `right`. Where a row writes beyond its end, the next row overwrites the excess;
    the last rows, which have no space for that, go through a buffer."""
    inside = max(0, (x.size - P) // C + 1)
    start = left, right, left, right, left, right, left, right
    for f in range(0, inside - inside % 4, 4):
        g_0, h_0, g_1, h_1, g_2, h_2, g_3, h_3 = add_samples(X, base, rows, Z, P, f, 0, e, start)
        store_pair(g_0, h_0, f * C, e, ridge, x, out)
        store_pair(g_1, h_1, (f + 1) * C, e, ridge, x, out)
        store_pair(g_2, h_2, (f + 2) * C, e, ridge, x, out)
        store_pair(g_3, h_3, (f + 3) * C, e, ridge, x, out)
    room = np.empty(4 * P)
    for f in range(inside - inside % 4, x.size // C, 4):
        g_0, h_0, g_1, h_1, g_2, h_2, g_3, h_3 = add_samples(X, base, rows, Z, P, f, 0, e, start)
        store(room, 0, g_0)
        store(room, e, h_0)
        store(room, P, g_1)
        store(room, P + e, h_1)
        store(room, 2 * P, g_2)
        store(room, 2 * P + e, h_2)
        store(room, 3 * P, g_3)
        store(room, 3 * P + e, h_3)
        for n in range(min(4, x.size // C - f)):
            for c in range(C):
                k = (f + n) * C + c
                out[k] = room[n * P + c] + ridge * x[k]


@jit(inline="always")
def store_pair(g, h, k, e, ridge, x, out):
    """Write g + ridge x to out[k], .. and h + ridge x to out[k + e], .."""
    store(out, k, multiply_add(g, ridge, load(x, k, g)))
    store(out, k + e, multiply_add(h, ridge, load(x, k + e, h)))
