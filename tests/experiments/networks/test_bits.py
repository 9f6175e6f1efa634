"""A network's run is the same to the bit whoever works at it, in single precision too."""

import numpy as np
import pytest

import fedtheory as ft

METHODS = {"fedavg": {}, "fsl": dict(K_0=2, eta_0=0.03), "scaffold": {}}
NETS = {  # with every kind of layer among them -> methods
    "mnist_mlp_twin": (*METHODS,),
    "fsl_emnist_twin": (*METHODS,),
    "language_twin": ("fedavg",),
    "resnet9_twin": ("fedavg",),
}
WAYS = (
    dict(workers=2),
    dict(workers=2, chunk=1),
    dict(workers=1, chunk=2),
    dict(executor="threads:2"),
    dict(executor="threads:2", workers=2, chunk=1),
)


def made(name, dtype):
    """Five clients of unlike sizes, a server and test samples."""
    record, generator = ft.networks[name], np.random.default_rng(0)
    words = name.startswith("language")

    def some(n):
        if words:
            rows = generator.integers(0, record.classes, (n, *record.shape))
            return rows.astype(np.float32), generator.integers(
                0, record.classes, (n, *record.shape)
            )
        rows = generator.random((n, *record.shape), dtype=np.float32)
        return rows, generator.integers(0, record.classes, n)

    clients = [some(n) for n in (7, 5, 9, 6, 8)]
    common = dict(server=some(6), test=some(5), classes=record.classes, batch=4, dtype=dtype)
    return ft.problems.network(name, *map(list, zip(*clients)), **common)


@pytest.mark.parametrize("trials", [1, 3])  # clients of a round are spread, or trials
@pytest.mark.parametrize("name", NETS)
def test_workers_and_chunks_change_no_bit_in_single_precision(name, trials):
    problem = made(name, "float32")
    for method in NETS[name]:
        asked = dict(rounds=2, trials=trials, S=4, K=2, eta_l=0.05, seed=3, keep="x")
        asked |= METHODS[method]
        asked["metrics"] = ("loss", "test_loss")
        one = ft.run(problem, method, workers=1, **asked)
        assert np.isfinite(one.final).all() and not np.array_equal(one.final, one.start)
        assert np.array_equal(one.final, one.final.astype(np.float32))  # it was in single precision
        for way in WAYS:
            run = ft.run(problem, method, **way, **asked)
            np.testing.assert_array_equal(run.x, one.x)
            for metric in asked["metrics"]:
                np.testing.assert_array_equal(run.metrics[metric], one.metrics[metric])


@pytest.mark.parametrize("name", [*NETS][:2])
def test_a_run_of_single_precision_goes_on_to_the_same_bits(name):
    problem = made(name, "float32")
    asked = dict(S=3, K=2, eta_l=0.05, seed=1, metrics=("loss",))
    whole = ft.run(problem, "fedavg", rounds=4, workers=1, **asked)
    half = ft.run(problem, "fedavg", rounds=2, workers=2, **asked)
    on = ft.run(problem, "fedavg", rounds=4, workers=2, resume=half, **asked)
    np.testing.assert_array_equal(on.final, whole.final)
    double = ft.run(made(name, "float64"), "fedavg", rounds=4, workers=1, **asked)
    gap = abs(double.final - whole.final).max()
    assert 0 < gap < 1e-3  # the other precision is another run, near by
