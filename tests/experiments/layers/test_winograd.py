"""Convolutions by tiles beside sums over windows, of which every size and border is looked at."""

from fractions import Fraction

import numpy as np
import pytest

from fedtheory.experiments.layers import _winograd, conv
from fedtheory.experiments.layers.conv import DEEP, Windows, add_windows
from tests.experiments.layers import slow

# Tiles that fit, some that reach over one edge or both, one tile, less than one, and images whose
# lines of tiles do not fill a strip, or fill several.
SHAPES = [
    *((8, 4, "same"), (5, 7, "same"), (6, 8, "valid"), (6, 11, "valid"), (7, 9, "valid")),
    *((4, 4, "same"), (5, 5, "valid"), (3, 2, "same"), (40, 6, "same"), (6, 125, "valid")),
]


def windows(height, width, padding, channels, filters):
    return Windows(
        *(height, width, channels, int(padding == "same"), 1, 3, 1),
        *((height, width) if padding == "same" else (height - 2, width - 2)),
        *(filters, 1),
    )


def test_windows_of_three_go_by_tiles_where_channels_are_many_and_products_fewer():
    tiled = lambda filters, *given, size=6, channels=DEEP: (
        conv(filters, *given).fit((size, size, channels)).sizes[9]
    )
    assert tiled(DEEP, 3) and tiled(DEEP, 3, size=3)
    assert not tiled(DEEP, 5) and not tiled(DEEP, 3, 2)
    assert not tiled(DEEP - 1, 3) and not tiled(DEEP, 3, channels=DEEP - 1)
    assert not tiled(DEEP, 3, size=2)  # 36 products, which sums over windows take too


def test_sums_of_three_terms_are_made_of_products_at_points():
    """Toom and Cook's identity, in fractions: for these points and for others."""
    generator = np.random.default_rng(0)
    for points in (_winograd.POINTS, [Fraction(n) for n in (0, 1, -1, 2, 3)]):
        A, B, G = (np.array(P, dtype=object) for P in _winograd.toom_cook(points))
        d, g = (
            np.array([Fraction(int(n)) for n in generator.integers(-9, 10, size)])
            for size in (6, 3)
        )
        expected = [sum(d[i + k] * g[k] for k in range(3)) for i in range(4)]
        assert list(A @ ((G @ g) * (B @ d))) == expected
    assert all(float(c) == c for P in (A, B) for row in P for c in row)


@pytest.mark.parametrize("real, within", [("float64", 1e-13), ("float32", 1e-5)])
@pytest.mark.parametrize("height, width, padding", SHAPES)
def test_tiles_are_sums_over_windows(height, width, padding, real, within):
    """Outputs and both derivatives, of several images; the derivatives are those of <D, Z>, which is
    linear in the images and in the weights."""
    generator, n, channels, filters = np.random.default_rng(1), 5, DEEP + 1, DEEP + 3
    o = windows(height, width, padding, channels, filters)
    some = lambda *shape: generator.standard_normal(shape).astype(real)
    A, w, b = some(n, height, width, channels), some(9 * channels * filters), some(filters)
    D = some(n, o.tall, o.across, filters)
    Z, G, E = np.empty(D.size, real), np.ones(w.size, real), np.full(A.size, np.nan, real)
    _winograd.winograd_forward(o, A.ravel(), n, w, b, Z)
    _winograd.winograd_backward(o, A.ravel(), n, w, D.ravel(), G, E)
    fitted = conv(filters, 3, padding=padding).fit(A.shape[1:])
    both, doubles = np.concatenate([w, b]).astype(float), A.astype(float)
    expected = slow.conv(fitted, both, doubles)
    W = w.astype(float).reshape(3, 3, channels, filters)
    pad = o.border
    seen, by_image = (
        np.pad(part, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
        for part in (doubles, np.zeros_like(doubles))
    )
    by_weights = np.empty(W.shape)
    for u in range(3):
        for v in range(3):
            there = np.s_[:, u : u + o.tall, v : v + o.across]
            by_weights[u, v] = np.einsum("nijc,nijf->cf", seen[there], D.astype(float))
            by_image[there] += np.einsum("nijf,cf->nijc", D.astype(float), W[u, v])
    by_image = by_image[:, pad : pad + height, pad : pad + width]
    for found, known in ((Z, expected), (G - 1, by_weights), (E, by_image)):
        gap = np.abs(found - known.ravel()).max()
        assert gap <= within * np.abs(known).max(), gap
    alone = np.zeros(w.size, real)
    _winograd.winograd_backward(o, A.ravel(), n, w, D.ravel(), alone, E[:0])
    np.testing.assert_allclose(alone, G - 1, rtol=0, atol=within * np.abs(G).max())


def test_an_image_is_worked_on_alike_alone_and_among_others():
    """Strips go on over images, and no number depends on where a strip begins."""
    generator, n, (height, width, padding) = np.random.default_rng(2), 9, (10, 7, "same")
    o = windows(height, width, padding, DEEP, DEEP)
    some = lambda *shape: generator.standard_normal(shape).astype(np.float32)
    A, D, w, b = some(n, 70 * DEEP), some(n, 70 * DEEP), some(9 * DEEP * DEEP), some(DEEP)
    Z, E, G = np.empty_like(A), np.empty_like(A), np.zeros_like(w)
    _winograd.winograd_forward(o, A.ravel(), n, w, b, Z.reshape(-1))
    _winograd.winograd_backward(o, A.ravel(), n, w, D.ravel(), G, E.reshape(-1))
    for r in range(n):
        one, other = np.empty_like(A[r]), np.empty_like(A[r])
        _winograd.winograd_forward(o, A[r], 1, w, b, one)
        _winograd.winograd_backward(o, A[r], 1, w, D[r], G, other)
        np.testing.assert_array_equal(one, Z[r])
        np.testing.assert_array_equal(other, E[r])


def test_single_precision_errs_little_more_than_plain_sums():
    """Root mean squares of errors over that of outputs, of 32 channels behind a rectifier: tiles err by
    5.0e-7, sums over windows by 2.2e-7. The bound is twice the former."""
    generator, channels, filters = np.random.default_rng(3), 32, 16
    o = windows(30, 30, "valid", channels, filters)
    A = np.maximum(generator.standard_normal((4, 30, 30, channels)), 0).astype(np.float32)
    w = (generator.standard_normal(9 * channels * filters) / 12).astype(np.float32)
    b, (tiles, sums) = (
        np.zeros(filters, np.float32),
        np.empty((2, 4 * 28 * 28 * filters), np.float32),
    )
    _winograd.winograd_forward(o, A.ravel(), 4, w, b, tiles)
    add_windows(o, A.ravel(), 4, w, b, sums)
    exact = np.empty(tiles.size)
    add_windows(o, A.ravel().astype(float), 4, w.astype(float), b.astype(float), exact)
    size = lambda values: np.sqrt(np.mean(np.square(values)))
    assert 0 < size(sums - exact) < size(tiles - exact) <= 1e-6 * size(exact)
