"""Kernels behind a table of addresses: entered by number, found again in another process."""

import pickle

import numpy as np
import pytest

from fedtheory import jit, kernel_table
from fedtheory.errors import InvalidInput
from fedtheory.experiments.layers import dense, relu
from fedtheory.experiments.network import here_type


def test_a_table_is_made_again_of_its_kernels():
    here = here_type("float64")
    table = kernel_table.kernel_table([dense(3).forward, relu().backward], here)
    again = pickle.loads(pickle.dumps(table))  # noqa: S301 (our own)
    assert np.array_equal(again, table) and again.kernels == table.kernels
    assert str(again.here) == str(here) and len({*table}) == (1 if jit.DISABLED else 2)


@pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT")
def test_a_kernel_that_is_not_compiled_is_refused():
    with pytest.raises(InvalidInput, match="must be decorated with fedtheory.jit.jit"):
        kernel_table.kernel_table([lambda here: None], here_type("float64"))
