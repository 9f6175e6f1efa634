"""Products of samples with points of ten columns, without padding: most classification data have
ten classes.

A vector holds eight of the columns, and one more the last two of four samples, or of four features,
side by side. Matrices have rows of ten numbers, as points do: Z one a sample, with room for a multiple
of four of them, G one a feature. A sample is a row base + rows[b] of X, whose width is a multiple of
four. Sums run over samples or features in order, as in _tiles, and give the same bits.
"""

from fedtheory.jit import jit
from fedtheory.problems._vector import (
    WIDE,
    cross_lanes,
    join_lanes,
    load,
    multiply_add,
    on_stack,
    pair_lanes,
    repeat_lanes,
    store,
    take_quarter,
    zero,
)


@jit(inline="always")
def add_products(sums, s_0, s_1, s_2, s_3, four, v, w):
    """Return four rows of ten sums, plus each of the numbers s_0 .. s_3 times a row of ten. v holds
    the row's first eight entries, w its last two, four times, and `four` each of the numbers twice.
    """
    y_0, y_1, y_2, y_3, ends = sums
    return (
        multiply_add(y_0, s_0, v),
        multiply_add(y_1, s_1, v),
        multiply_add(y_2, s_2, v),
        multiply_add(y_3, s_3, v),
        multiply_add(ends, four, w),
    )


@jit(inline="always")
def ten_zeros():
    """Return the zero of `add_products`: four rows of eight lanes, and a vector of the rows' ends."""
    return zero(8), zero(8), zero(8), zero(8), zero(8)


@jit(inline="always")
def store_rows(sums, G, k):
    """Write four rows of ten sums to G, from G[k] on."""
    y_0, y_1, y_2, y_3, ends = sums
    store(G, k, y_0)
    store(G, k + 8, take_quarter(ends, 0))
    store(G, k + 10, y_1)
    store(G, k + 18, take_quarter(ends, 1))
    store(G, k + 20, y_2)
    store(G, k + 28, take_quarter(ends, 2))
    store(G, k + 30, y_3)
    store(G, k + 38, take_quarter(ends, 3))


@jit(inline="always")
def load_rows(G, k):
    """Return four rows of ten numbers, from G[k] on, in the form that `store_rows` takes."""
    two = zero(2)
    ends = join_lanes(
        load(G, k + 8, two), load(G, k + 18, two), load(G, k + 28, two), load(G, k + 38, two)
    )
    eight = zero(8)
    return (
        load(G, k, eight),
        load(G, k + 10, eight),
        load(G, k + 20, eight),
        load(G, k + 30, eight),
        ends,
    )


@jit
def score_rows(X, base, rows, W, Z):
    """Compute Z[10 b + c] = W_c' a, where a is row base + rows[b] of X."""
    high = rows.size - rows.size % 8 if WIDE else 0
    for b in range(0, high, 8):
        eight_scores(X, base, rows, W, Z, b)
    for b in range(high, rows.size, 4):
        four_scores(X, base, rows, W, Z, b)


@jit(inline="always")
def four_samples(X, base, rows, b):
    """Return four samples from the b-th on; the last sample is repeated where fewer are left."""
    last = rows.size - 1
    r_0, r_1 = base + rows[b], base + rows[min(b + 1, last)]
    r_2, r_3 = base + rows[min(b + 2, last)], base + rows[min(b + 3, last)]
    return X[r_0], X[r_1], X[r_2], X[r_3]


@jit(inline="always")
def feature_pairs(a, f):
    """Return four vectors, one for each of the features f .. f + 3: the four samples' numbers, each
    twice."""
    four = zero(4)
    return cross_lanes(
        load(a[0], f, four), load(a[1], f, four), load(a[2], f, four), load(a[3], f, four)
    )


@jit(inline="always")
def with_feature(sums, a, f, four, W):
    """Return the sums plus feature f of four samples times row f of W; `four` holds the feature of
    each sample twice."""
    v, w = load(W, 10 * f, zero(8)), repeat_lanes(W, 10 * f + 8)
    return add_products(sums, a[0][f], a[1][f], a[2][f], a[3][f], four, v, w)


@jit(inline="always")
def four_scores(X, base, rows, W, Z, b):
    """Compute the scores of four samples from the b-th on into Z."""
    F, a, sums = W.size // 10, four_samples(X, base, rows, b), ten_zeros()
    whole = F - F % 4
    for f in range(0, whole, 4):
        p_0, p_1, p_2, p_3 = feature_pairs(a, f)
        sums = with_feature(sums, a, f, p_0, W)
        sums = with_feature(sums, a, f + 1, p_1, W)
        sums = with_feature(sums, a, f + 2, p_2, W)
        sums = with_feature(sums, a, f + 3, p_3, W)
    if whole < F:
        p_0, p_1, p_2, p_3 = feature_pairs(a, whole)
        sums = with_feature(sums, a, whole, p_0, W)
        if whole + 1 < F:
            sums = with_feature(sums, a, whole + 1, p_1, W)
        if whole + 2 < F:
            sums = with_feature(sums, a, whole + 2, p_2, W)
    store_rows(sums, Z, 10 * b)


@jit(inline="always")
def eight_scores(X, base, rows, W, Z, b):
    """Compute the scores of eight samples from the b-th on, which share the loads of W."""
    F, sums, sums_4 = W.size // 10, ten_zeros(), ten_zeros()
    a, e = four_samples(X, base, rows, b), four_samples(X, base, rows, b + 4)
    whole = F - F % 4
    for f in range(0, whole, 4):
        p_0, p_1, p_2, p_3 = feature_pairs(a, f)
        q_0, q_1, q_2, q_3 = feature_pairs(e, f)
        sums, sums_4 = with_feature(sums, a, f, p_0, W), with_feature(sums_4, e, f, q_0, W)
        sums, sums_4 = with_feature(sums, a, f + 1, p_1, W), with_feature(sums_4, e, f + 1, q_1, W)
        sums, sums_4 = with_feature(sums, a, f + 2, p_2, W), with_feature(sums_4, e, f + 2, q_2, W)
        sums, sums_4 = with_feature(sums, a, f + 3, p_3, W), with_feature(sums_4, e, f + 3, q_3, W)
    if whole < F:
        p_0, p_1, p_2, p_3 = feature_pairs(a, whole)
        q_0, q_1, q_2, q_3 = feature_pairs(e, whole)
        sums = with_feature(sums, a, whole, p_0, W)
        sums_4 = with_feature(sums_4, e, whole, q_0, W)
        if whole + 1 < F:
            sums = with_feature(sums, a, whole + 1, p_1, W)
            sums_4 = with_feature(sums_4, e, whole + 1, q_1, W)
        if whole + 2 < F:
            sums = with_feature(sums, a, whole + 2, p_2, W)
            sums_4 = with_feature(sums_4, e, whole + 2, q_2, W)
    store_rows(sums, Z, 10 * b)
    store_rows(sums_4, Z, 10 * b + 40)


@jit
def add_outer_product(X, base, rows, Z, low, G):
    """Add sum_b a_f Z[10 b + c] to G[10 (f - low) + c], where a is row base + rows[b] of X, for as
    many features f from `low` on as G has, a multiple of four."""
    F = G.size // 10
    whole = F - F % 4
    high = whole - whole % 8 if WIDE else 0
    low = max(low, 0)  # it is, and who knows that does not ask whether an index counts from the end
    for n in range(0, high, 8):
        f, sums, sums_4 = low + n, load_rows(G, 10 * n), load_rows(G, 10 * n + 40)
        for b in range(rows.size):
            a, v, w = X[base + rows[b]], load(Z, 10 * b, zero(8)), repeat_lanes(Z, 10 * b + 8)
            sums = add_products(sums, a[f], a[f + 1], a[f + 2], a[f + 3], pair_lanes(a, f), v, w)
            sums_4 = add_products(
                sums_4, a[f + 4], a[f + 5], a[f + 6], a[f + 7], pair_lanes(a, f + 4), v, w
            )
        store_rows(sums, G, 10 * n)
        store_rows(sums_4, G, 10 * n + 40)
    for n in range(high, whole, 4):
        store_rows(four_features(X, base, rows, Z, low + n, load_rows(G, 10 * n)), G, 10 * n)
    if whole < F:
        left, room = 10 * (F - whole), on_stack(40)
        for k in range(40):
            room[k] = 0.0
        for k in range(left):
            room[k] = G[10 * whole + k]
        store_rows(four_features(X, base, rows, Z, low + whole, load_rows(room, 0)), room, 0)
        for k in range(left):
            G[10 * whole + k] = room[k]


@jit(inline="always")
def four_features(X, base, rows, Z, f, sums):
    """Return the sums plus, over all samples b, features f .. f + 3 times row b of Z."""
    for b in range(rows.size):
        a, v, w = X[base + rows[b]], load(Z, 10 * b, zero(8)), repeat_lanes(Z, 10 * b + 8)
        sums = add_products(sums, a[f], a[f + 1], a[f + 2], a[f + 3], pair_lanes(a, f), v, w)
    return sums
