"""Samples as experiments take them: bytes are kept as such, and are the numbers that `ft.data.flat` makes
of them when they are taken."""

import json

import numpy as np
import pytest

from fedtheory.experiments import _samples
from fedtheory.experiments.data._data import Data, flat


@pytest.mark.parametrize("images", [False, True])
def test_bytes_stay_bytes_until_they_are_taken(monkeypatch, images):
    generator = np.random.default_rng(0)
    drawn = lambda n: generator.integers(0, 256, (n, 3, 4, 4), dtype=np.uint8)
    labels = lambda n: generator.integers(0, 3, n)
    made = Data("made", dict(X=drawn(20), y=labels(20), X_test=drawn(6), y_test=labels(6)), 3)
    monkeypatch.setattr(_samples, "load", lambda name, **options: made)
    found = _samples.load_samples(json.dumps({"name": "made", "images": images}), images=images)
    assert found.X.dtype == np.uint8 and found.X_test.dtype == np.float32
    rows = np.array([3, 0, 17])
    for taken, X in (
        (_samples.take_samples(found.X, rows), made.X[rows]),
        (_samples.take_samples(found.X), made.X),
        (found.X_test, made.X_test),
    ):
        by_hand = flat(X).astype(np.float32)  # channels first
        if images:
            by_hand = by_hand.reshape(-1, 3, 4, 4).transpose(0, 2, 3, 1)
        assert taken.dtype == np.float32
        np.testing.assert_array_equal(taken, by_hand)


def test_what_comes_as_numbers_is_taken_as_it_is(monkeypatch):
    X = np.arange(24.0).reshape(2, 3, 4)
    made = Data("numbers", dict(X=X, y=np.array([0, 1])), 2)
    monkeypatch.setattr(_samples, "load", lambda name, **options: made)
    found = _samples.load_samples(json.dumps({"name": "numbers"}))
    np.testing.assert_array_equal(
        _samples.take_samples(found.X), X.reshape(2, 12).astype(np.float32)
    )
