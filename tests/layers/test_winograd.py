"""Convolutions by tiles beside sums over windows, of which every size and border is looked at."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.layers import conv, cross_entropy, dense, reshape
from fedtheory.layers.conv import DEEP
from fedtheory.network import planned
from tests.layers import slow

SHAPES = [(4, 4, "same"), (5, 7, "same"), (6, 8, "valid"), (5, 8, "valid"), (3, 3, "valid")]


def kernel(shape, filters, padding):
    return conv(filters, 3, padding=padding).fit(shape)


def test_windows_of_three_go_by_tiles_where_channels_are_many():
    tiled = lambda *given: conv(*given).fit((6, 6, DEEP)).sizes[9]
    assert (
        tiled(DEEP, 3) and not tiled(DEEP, 5) and not tiled(DEEP, 3, 2) and not tiled(DEEP - 1, 3)
    )


@pytest.mark.parametrize("real, within", [("float64", 1e-12), ("float32", 1e-4)])
@pytest.mark.parametrize("height, width, padding", SHAPES)
def test_tiles_are_sums_over_windows(height, width, padding, real, within):
    """The loss of a network with one convolution is that of windows summed one by one; more lines of
    tiles than a strip has are among them."""
    generator, shape = np.random.default_rng(1), (height, width, DEEP + 1)
    layers = [reshape(*shape), conv(DEEP, 3, padding=padding), dense(3)]
    X = generator.standard_normal((6, height * width * (DEEP + 1)))
    y = generator.integers(0, 3, 6)
    problem = ft.problems.network(layers, [X], [y], batch=None, classes=3, dtype=real)
    x = problem.start + 0.1 * generator.standard_normal(problem.d)
    steps, fitted, _, _ = planned([*layers, cross_entropy(3)], X.shape[1:])
    Z = slow.outputs(layers, steps, fitted, x, X)[-1]
    assert problem.client_loss(1, x) == pytest.approx(slow.losses(Z, y).mean(), rel=within)


@pytest.mark.parametrize("height, width, padding", [(40, 6, "same"), (37, 9, "valid")])
def test_derivatives_go_on_over_strips(height, width, padding):
    """Along a direction the gradient is the slope of a loss of many strips of tiles."""
    generator, shape = np.random.default_rng(2), (height, width, DEEP)
    layers = [
        *(dense(height * width * DEEP), reshape(*shape)),
        *(conv(DEEP, 3, padding=padding), dense(2)),
    ]
    problem = ft.problems.network(
        layers, [generator.standard_normal((2, 3))], [np.array([0, 1])], batch=None
    )
    x, v = problem.start, generator.standard_normal(problem.d) / problem.d**0.5
    slope = (problem.client_loss(1, x + 1e-4 * v) - problem.client_loss(1, x - 1e-4 * v)) / 2e-4
    assert problem.client_grad(1, x) @ v == pytest.approx(slope, rel=1e-5) and abs(slope) > 1e-3
