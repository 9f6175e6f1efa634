"""Windows' largest numbers and their first places beside Python's, with ties and runs beyond a vector."""

import numpy as np
import pytest

from fedtheory.experiments.layers._peaks import Line, given_to_first, largest_of
from fedtheory.jit import jit


@jit
def both(line, A, Z, D, E):
    largest_of(line, A, 0, Z, 0)
    given_to_first(line, A, 0, D, 0, E, 0)


@pytest.mark.parametrize("real", ["float64", "float32"])
@pytest.mark.parametrize("k, count", [(1, 3), (2, 8), (2, 19), (3, 33)])
def test_the_first_of_the_largest_takes_the_slope(k, count, real):
    generator, windows = np.random.default_rng(6), 4
    A = generator.integers(-2, 2, (k, windows * k, count)).astype(real)  # many ties
    D = generator.standard_normal((windows, count)).astype(real)
    Z, E = np.full((windows, count), 9.0, real), np.full(A.shape, 9.0, real)
    line = Line(k, windows * k * count, count, k * count, windows, count)
    both(line, *(array.reshape(-1) for array in (A, Z, D, E)))
    for n in range(windows):
        window = A[:, n * k : (n + 1) * k].reshape(k * k, count)
        assert (Z[n] == window.max(axis=0)).all()
        expected = np.where(np.arange(k * k)[:, None] == window.argmax(axis=0), D[n], 0)
        assert (E[:, n * k : (n + 1) * k].reshape(k * k, count) == expected).all()
