"""Turned matrices beside NumPy's, at sizes on either side of a vector's edge."""

import numpy as np
import pytest

from fedtheory.experiments.layers._turns import transpose_matrix


@pytest.mark.parametrize("real", ["float64", "float32"])
@pytest.mark.parametrize("rows, columns", [(1, 1), (8, 16), (16, 16), (7, 40), (33, 18), (64, 48)])
def test_rows_become_columns_and_nothing_beside_them_changes(rows, columns, real):
    generator, wide, line = np.random.default_rng(4), columns + 3, rows + 2
    A = generator.standard_normal(5 + rows * wide).astype(real)
    Z = np.full(2 + columns * line, 7.0, real)
    transpose_matrix(A, 5, wide, rows, columns, Z, 2, line)
    found = Z[2:].reshape(columns, line)
    np.testing.assert_array_equal(found[:, :rows], A[5:].reshape(rows, wide)[:, :columns].T)
    assert (Z[:2] == 7).all() and (found[:, rows:] == 7).all()
