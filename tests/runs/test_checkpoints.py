"""A run that is kept in a file goes on from there to the same bits, and from no other run's."""

import os
import subprocess
import sys

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.experiments.layers import dense, dropout, relu
from fedtheory.runs import checkpoints

GENERATOR = np.random.default_rng(1)
X = [GENERATOR.standard_normal((8, 5)) for _ in range(4)]
Y = [GENERATOR.integers(0, 2, 8) for _ in range(4)]


def problem(seed=0):
    layers = [dense(3), relu(), dropout(0.5), dense(2)]
    return ft.problems.network(layers, X[:3], Y[:3], (X[3], Y[3]), (X[3], Y[3]), batch=4, seed=seed)


SETTINGS = dict(
    rounds=9,
    trials=2,
    seed=4,
    S=2,
    K=2,
    eta_l=0.1,
    keep="x",
    metrics=("test_loss", "loss"),
    every=2,
)


def ran(path=None, made=None, method="scaffold", **more):
    return ft.run(made or problem(), method, checkpoint=path, **{**SETTINGS, **more})


class Stop(Exception):
    pass


def stop(done, rounds, seconds):
    if done >= 5:
        raise Stop


def test_a_run_that_died_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE", 0)
    path, whole, done = tmp_path / "run.npz", ran(), []
    with pytest.raises(Stop):
        ran(path, progress=stop, chunk=1)
    again = ran(path, progress=lambda done_, rounds, seconds: done.append(done_), chunk=1)
    assert done == [6, 7, 8, 9]  # the first five were kept
    for name in ("x", "final", "diverged"):
        assert np.array_equal(getattr(again, name), getattr(whole, name))
    for name in whole.metrics:
        np.testing.assert_array_equal(again.metrics[name], whole.metrics[name])
    further = ran(path, rounds=12)  # a finished run is gone on with too
    assert np.array_equal(further.x, ran(rounds=12).x)
    assert np.array_equal(ran(path, rounds=12).x, further.x)


def test_a_file_of_another_run_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    ran(path)
    schedule = [0.1] * 8 + [0.2]
    for other in (
        dict(seed=5),
        dict(S=3),
        dict(eta_l=0.2),
        dict(eta_l=schedule),
        dict(every=1),
        dict(x_0=np.zeros(problem().d)),
        dict(made=problem(seed=1)),
        dict(method="fedavg"),
        dict(trials=1),
        dict(metrics=("loss",)),
    ):
        with pytest.raises(InvalidInput, match="checkpoint must be a file of this very run"):
            ran(path, **other)
    with pytest.raises(InvalidInput, match="checkpoint must be of at most 3 rounds"):
        ran(path, rounds=3)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content[: len(content) // 2],
        lambda content: b"",
        lambda content: content.replace(b"record.npy", b"recxrd.npy"),
        lambda content: content.replace(b"<f8", b"<f4"),
    ],
)
def test_a_broken_file_is_refused_in_words(tmp_path, spoil):
    path = tmp_path / "run.npz"
    ran(path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(InvalidInput, match=r"run\.npz|checkpoint must be"):
        ran(path)


def test_where_no_checkpoint_can_be(tmp_path):
    for path in ("run.txt", 3, tmp_path / "nowhere" / "run.npz"):
        with pytest.raises(InvalidInput, match="checkpoint must"):
            ran(path)
    with pytest.raises(InvalidInput, match="without executor= and resume="):
        made = problem()
        ran(tmp_path / "run.npz", made, resume=ran(made=made))


KILLED = """
import os, signal
from fedtheory.runs import checkpoints
from tests.runs import test_checkpoints
checkpoints.SECONDS = checkpoints.SHARE = 0.0
def kill(done, rounds, seconds):
    if done >= 5:
        os.kill(os.getpid(), signal.SIGKILL)
test_checkpoints.ran({path!r}, progress=kill, chunk=1)
"""


def test_a_process_that_was_killed_goes_on(tmp_path):
    """Another process finds the same identity: addresses of kernels do not count."""
    path = str(tmp_path / "run.npz")
    killed = subprocess.run([sys.executable, "-c", KILLED.format(path=path)], env={**os.environ})
    assert killed.returncode == -9
    done: list = []
    again = ran(path, progress=lambda *now: done.append(now[0]), chunk=1)
    assert done[0] == 6 and np.array_equal(again.x, ran().x)
