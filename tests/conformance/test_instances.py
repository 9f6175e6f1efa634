"""Instances are what they say: losses, minimisers, and words."""

from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.conformance.instances import (
    EVERYONE,
    INSTANCES,
    GradientRecorder,
    describe_instance,
    nearly_equal,
    rows_of,
    to_floats,
)
from fedtheory.errors import InvalidInput


@pytest.mark.parametrize(
    "instance", [*dict.fromkeys([*INSTANCES, *EVERYONE])], ids=lambda v: v.says
)
def test_losses_and_minimisers(instance):
    """What an adapter is given as a and b are the losses of which it gets gradients; F's gradient
    vanishes where F is least; noise changes with the step, and is none where none is said."""
    task, seen = instance.task({}), GradientRecorder(instance)
    x = task.x_0 + 0.5
    for i in range(instance.N + 1):
        noise = to_floats(instance.noise(0, i, 0))
        assert nearly_equal(seen(i, x, 0), task.a[i] * (x - task.b[i]) + noise)
        assert instance.noisy or not noise.any()
    best = instance.minimiser()
    slope = sum(p * instance.grad(i, best) for i, p in enumerate(instance.weights, 1))
    assert (
        not slope.any() and sum(instance.weights) == 1 and np.sum(task.weights) == pytest.approx(1)
    )


def test_words():
    assert describe_instance(INSTANCES[1], dict(eta=0.25)) == (
        "on two clients, all of them: f_1 = 1/2 ||x - 2||^2, f_2 = 1/4 ||x + 1||^2; weights "
        "[1/2, 1/2]; from [3]; eta = 0.25"
    )
    assert "f_2 = 1/4 ||x - (-1, -1)||^2" in describe_instance(INSTANCES[-1], {})


def test_near_is_no_pass_for_what_is_no_number():
    assert (
        nearly_equal([1.0], [Q(1)])
        and not nearly_equal([np.nan], [Q(1)])
        and not nearly_equal([1.0, 1.0], [Q(1)])
    )
    assert not nearly_equal([np.inf], np.array([1.0])) and not nearly_equal([1.0001], [Q(1)])


@pytest.mark.parametrize(
    "i, y, k, says",
    [
        (3, [1.0], 0, "must be a client"),
        (1, [1.0], -2, "must be a step"),
        (1, [1, 2.0], 0, "shape"),
    ],
)
def test_gradients_that_are_none_are_refused(i, y, k, says):
    with pytest.raises(InvalidInput, match=says):
        GradientRecorder(INSTANCES[1])(i, y, k)


def test_rows_of_clients():
    assert (
        rows_of("c_i", ["a", "b"], 2) == rows_of("c_i", {2: "b", 1: "a"}, 2) == [(1, "a"), (2, "b")]
    )
    for rows in (["a"] * 3, {0: "a"}, {"1": "a"}):
        with pytest.raises(InvalidInput, match="state: c_i must have rows of clients 1..2; got"):
            rows_of("c_i", rows, 2)
