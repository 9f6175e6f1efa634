"""Sums in tiles of registers beside NumPy's products, at sizes on either side of every tile's edge."""

import numpy as np
import pytest

from fedtheory.experiments.layers._gemm import gemm, multiply_affine
from fedtheory.experiments.layers._tiles import TERMS
from fedtheory.jit import jit

SIZES = [(1, 1, 1), (15, 3, 17), (14, TERMS + 1, 33), (5, 2 * TERMS, 64), (29, 7, 70), (4, 0, 5)]


@jit
def both(A, turned_a, B, turned_b, beta, b, C, D):
    gemm(A, turned_a, B, turned_b, beta, C)
    if turned_a == 0 and turned_b == 0:
        multiply_affine(A, B, b, D)


@pytest.mark.parametrize("real, within", [("float64", 1e-13), ("float32", 1e-5)])
@pytest.mark.parametrize("rows, terms, columns", SIZES)
def test_products_and_their_transposes(rows, terms, columns, real, within):
    generator = np.random.default_rng(5)
    A, B, start = (
        generator.standard_normal(shape).astype(real)
        for shape in ((rows, terms), (terms, columns), (rows, columns))
    )
    b = start[0].copy()
    for turned_a in (0, 1):
        for turned_b in (0, 1):
            for beta in (0.0, 1.0):
                C, D = start.copy(), np.zeros_like(start)
                left, right = (
                    np.ascontiguousarray(M.T if turned else M)
                    for M, turned in ((A, turned_a), (B, turned_b))
                )
                both(left, turned_a, right, turned_b, beta, b, C, D)
                expected = A.astype(np.float64) @ B + beta * start
                np.testing.assert_allclose(C, expected, rtol=0, atol=within * max(terms, 1))
    both(A, 0, B, 0, 0.0, b, C, D)
    np.testing.assert_allclose(D, A.astype(np.float64) @ B + b, rtol=0, atol=within * max(terms, 1))
