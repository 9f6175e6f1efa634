"""Small matrices on both sides of tiles beside NumPy's einsum, at runs on either side of a vector's edge."""

import numpy as np
import pytest

from fedtheory.experiments.layers._maps import Steps, small_map
from fedtheory.jit import jit

P = [[1.0, 0.0, -1.0, 0.5], [0.0, -2.0, 1.0, 0.0], [-1.0, 1.0, 0.25, 1.0]]
Q = [[2.0, -3.0, 1.0, 0.5], [2.0, 3.0, -1.0, 0.5], [-1.0, 0.0, 0.0, 7.0]]  # rows in pairs
R = [[1.0, 2.0, -2.0, 0.0], [4.0, -1.5, -1.5, 3.0], [0.0, 0.0, 0.0, -1.0]]  # and columns


def kernels(P):
    put, add, begin = small_map(P), small_map(P, adds="z"), small_map(P, adds="b")

    @jit
    def three(A, far, Z, more, begun, wide, tiles, count, b):
        put(A, 3, far, Z, 2, wide, tiles, count)
        add(A, 3, far, more, 2, wide, tiles, count)
        begin(A, 3, far, begun, 2, wide, tiles, count, b, 1)

    return three


KERNELS = [(P, kernels(P)), (Q, kernels(Q)), (R, kernels(R))]


@pytest.mark.parametrize("real, within", [("float64", 1e-15), ("float32", 1e-6)])
@pytest.mark.parametrize("count", [1, 7, 8, 16, 19, 40])
@pytest.mark.parametrize("which", range(3))
def test_a_map_is_its_matrix_on_both_sides(which, count, real, within):
    """Tiles that are read overlap, as those of an image do; what is written stands place after place."""
    generator, tiles, line = np.random.default_rng(2), 3, 8
    P, three = KERNELS[which]
    image = generator.standard_normal((4, line, count)).astype(real)
    A = np.concatenate([np.zeros(3, real), image.ravel()])
    b = generator.standard_normal(1 + count).astype(real)
    Z, more, begun = (np.full(2 + 9 * tiles * count + 5, 7.0, real) for _ in range(3))
    far = Steps(line * count, count, 2 * count)
    wide = Steps(3 * tiles * count, tiles * count, count)
    three(A, far, Z, more, begun, wide, tiles, count, b)
    inside = lambda flat: flat[2:-5].reshape(3, 3, tiles, count)
    for tile in range(tiles):
        d = image[:, 2 * tile : 2 * tile + 4].astype(float)
        expected = np.einsum("ai,ijc,bj->abc", P, d, P)
        size = 20 * np.abs(P).max() ** 2
        np.testing.assert_allclose(inside(Z)[:, :, tile], expected, rtol=0, atol=size * within)
    np.testing.assert_allclose(more[2:-5], Z[2:-5] + 7, rtol=0, atol=size * within)
    np.testing.assert_allclose(inside(begun), inside(Z) + b[1:], rtol=0, atol=size * within)
    for array in (Z, more, begun):  # nothing is written beside its place
        assert (array[:2] == 7).all() and (array[-5:] == 7).all()


def test_overlapping_tiles_add_up():
    """The adjoint of reading a line of overlapping tiles: <P d P', z> = <d, P' z P> for all d and z."""
    generator, tiles, line, count = np.random.default_rng(3), 3, 8, 5
    put, back = small_map(P), small_map([*zip(*P)], adds="z")

    @jit
    def forth(A, far, Z, wide, tiles, count):
        put(A, 0, far, Z, 0, wide, tiles, count)

    @jit
    def adjoint(Z, wide, A, far, tiles, count):
        back(Z, 0, wide, A, 0, far, tiles, count)

    d, z = (generator.standard_normal(n) for n in (4 * line * count, 9 * tiles * count))
    far, wide = (
        Steps(line * count, count, 2 * count),
        Steps(3 * tiles * count, tiles * count, count),
    )
    Z, A = np.zeros_like(z), np.zeros_like(d)
    forth(d, far, Z, wide, tiles, count)
    adjoint(z, wide, A, far, tiles, count)
    assert Z @ z == pytest.approx(d @ A, rel=1e-12)
