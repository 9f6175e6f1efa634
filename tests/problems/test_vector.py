"""The exponential and the tiles: right to the last bit, or its neighbour."""

import mpmath
import numpy as np
import pytest

from fedtheory.problems import _tens, _tiles
from fedtheory.problems._vector import exp, half_square


def test_exp_within_one_ulp():
    generator = np.random.default_rng(0)
    for x in [
        *generator.uniform(-708, 709, 1500),
        *generator.normal(0, 1, 1500),
        *-generator.exponential(1e-8, 50),
    ]:
        exact = mpmath.exp(mpmath.mpf(float(x)))
        assert abs(mpmath.mpf(float(exp(x))) - exact) <= np.spacing(float(exact))


def test_exp_at_its_ends():
    assert exp(0.0) == exp(-0.0) == exp(-1e-300) == 1.0
    assert exp(-708.0) == exp(-1e9) == exp(-np.inf) == pytest.approx(np.exp(-708.0), rel=1e-15)
    assert np.isnan(exp(np.nan))


def test_half_square():
    assert half_square(np.array([3.0, 4.0])) == 12.5


@pytest.mark.parametrize("C", [2, 4, 5, 10, 16, 18, 23, 28])
@pytest.mark.parametrize("samples", [1, 3, 4, 9])
@pytest.mark.parametrize("F", [4, 12])
def test_tiles_add_in_the_order_of_plain_loops(C, samples, F):
    """Bit for bit: lanes are scalars."""
    generator = np.random.default_rng(C * samples * F)
    base, P = 2, _tiles.padded_columns(C)
    X, x = generator.standard_normal((15, F)), generator.standard_normal(F * C)
    rows = generator.integers(0, 13, samples)
    W, Z = np.full(F * C + P - C, np.nan), np.full(-(-samples // 4) * 4 * P, np.nan)
    _tiles.pad_vector(x, W)
    assert np.array_equal(W[: F * C], x) and not W[F * C :].any()
    _tiles.score_rows(X, base, rows, W, C, P, Z)
    for b, row in enumerate(rows):
        for c in range(C):
            total = 0.0
            for f in range(F):
                total += X[base + row, f] * x[f * C + c]
            assert Z[b * P + c] == total
    G, start = generator.standard_normal((2, F * P))
    G[:] = start
    for low, high in ((0, 4), (4, F)):  # in parts, as workers share it
        _tiles.add_outer_product(X, base, rows, Z, P, low, G[low * P : high * P])
    out = np.empty(F * C)
    _tiles.unpad_matrix(G, P, C, 0.5, x, out)
    for f in range(F):
        for c in range(C):
            total = start[f * P + c]
            for b, row in enumerate(rows):
                total += X[base + row, f] * Z[b * P + c]
            assert out[f * C + c] == total + 0.5 * x[f * C + c]
    if P > _tiles.ONE_TILE:
        return
    _tiles.write_gradient(X, base, rows, Z, C, P, 0.5, x, out)
    for f in range(F):
        for c in range(C):
            total = 0.0
            for b, row in enumerate(rows):
                total += X[base + row, f] * Z[b * P + c]
            assert out[f * C + c] == total + 0.5 * x[f * C + c]


@pytest.mark.parametrize("samples", [1, 3, 4, 8, 9, 20])
@pytest.mark.parametrize("F", [1, 3, 4, 7, 8, 14, 61])
def test_products_of_ten_columns_add_in_the_order_of_plain_loops(samples, F):
    """Bit for bit, and nothing beyond a point's end is read or written."""
    generator = np.random.default_rng(samples * F)
    base, width = 2, -(-F // 4) * 4
    X = np.zeros((25, width))
    X[:, :F] = generator.standard_normal((25, F))
    kept = generator.standard_normal(10 * F + 20)
    W, rows = kept[10:-10], generator.integers(0, 23, samples)
    kept[:10] = kept[-10:] = np.nan
    Z = np.full(-(-samples // 4) * 40, np.nan)
    _tens.score_rows(X, base, rows, W, Z)
    for b, row in enumerate(rows):
        for c in range(10):
            total = 0.0
            for f in range(F):
                total += X[base + row, f] * W[10 * f + c]
            assert Z[10 * b + c] == total
    Z[10 * samples :] = np.nan
    room = np.full(10 * F + 20, 7.0)
    G = room[10:-10]
    G[:] = start = generator.standard_normal(10 * F)
    half = F // 8 * 4
    for low, high in ((0, half), (half, F)):  # in parts, as workers share it
        _tens.add_outer_product(X, base, rows, Z, low, G[10 * low : 10 * high])
    assert (room[:10] == 7.0).all() and (room[-10:] == 7.0).all()
    for f in range(F):
        for c in range(10):
            total = start[10 * f + c]
            for b, row in enumerate(rows):
                total += X[base + row, f] * Z[10 * b + c]
            assert G[10 * f + c] == total
