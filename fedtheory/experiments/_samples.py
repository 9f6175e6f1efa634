"""The training data of a run: the samples of a request, their partition among clients, and the
problem built from them."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fedtheory import rng
from fedtheory.errors import refuse
from fedtheory.experiments import layers
from fedtheory.experiments.data import partition
from fedtheory.experiments.data._data import smaller
from fedtheory.experiments.data._sets import load
from fedtheory.experiments.data.partition._split import Split
from fedtheory.experiments.networks import NETWORKS
from fedtheory.experiments.problems.mlp import mlp
from fedtheory.experiments.problems.network import network
from fedtheory.problem import Problem
from fedtheory.typing import Number

LIKED, HELD_OUT = 4, 10  # stars of a film that a user likes; one user of so many is for tests
LEVELS = (np.arange(256) / 255.0).astype(np.float32)


class Samples(NamedTuple):
    X: np.ndarray  # of bytes, if they came as such: a quarter of what problems take (`taken`)
    y: np.ndarray
    writers: np.ndarray | None
    X_test: np.ndarray | None
    y_test: np.ndarray | None
    writers_test: np.ndarray | None


def request_text(value: dict[str, Any]) -> str:
    """Return a request, or a part of a request, as JSON text with sorted keys."""
    return json.dumps(value, sort_keys=True)


@lru_cache(maxsize=4)
def load_samples(
    text: str,
    side: int | None = None,
    images: bool = False,
    classes: int | None = None,
    places: int | None = None,
) -> Samples:
    """Return the Samples of a data set; all runs of a process share one copy."""
    options = json.loads(text)
    found = load(options.pop("name"), **options)
    if found.X_test is None and found.X is None:
        refuse("set", "must have samples", options)
    if places is not None:
        return make_bags(found, places)
    small = lambda X: (
        None if X is None else _as_rows(X if side is None else smaller(X, side), images)
    )
    X, y, X_test, y_test = found.X, found.y, found.X_test, found.y_test
    writers, writers_test = found.writers, found.writers_test
    if classes is not None:
        few = lambda rows, marks: None if rows is None else rows[marks < classes]
        writers, writers_test = few(writers, y), few(writers_test, y_test)
        X, y, X_test, y_test = few(X, y), few(y, y), few(X_test, y_test), few(y_test, y_test)
    tests = None if X_test is None else take_samples(small(X_test))  # which all problems share
    return Samples(small(X), y, writers, tests, y_test, writers_test)


def _as_rows(X: np.ndarray, images: bool) -> np.ndarray:
    """Return samples as rows; with `images`, as images with channels last. Characters (two axes)
    stay unchanged, and bytes stay bytes."""
    if X.ndim == 2:
        return np.asarray(X, np.float32)
    X = X if X.dtype == np.uint8 else np.asarray(X, np.float32)
    if not images:
        return X.reshape(len(X), -1)
    square = X.reshape(len(X), -1, *X.shape[-2:])
    return np.ascontiguousarray(np.moveaxis(square, 1, 3))


def take_samples(X: Number, rows: Any = slice(None)) -> np.ndarray:
    """Return some samples in the form that problems take: bytes are scaled to [0, 1]."""
    return LEVELS[X[rows]] if X.dtype == np.uint8 else X[rows]


def make_bags(found: Any, places: Number) -> Samples:
    """Convert ratings to samples of a recommender. The films that a user likes are put in a random
    order drawn once; a sample is `places` consecutive films as input and the next film as label,
    and a tenth of the users is held out for testing."""
    X, y, who = [], [], []
    for user in np.unique(found.writers):
        liked = found.X[(found.writers == user) & (found.y >= LIKED), 1]
        liked = rng.host_generator(0, f"bags {user}").permutation(liked)
        for n in range(places, len(liked)):
            X.append(liked[n - places : n])
            y.append(liked[n])
            who.append(user)
    X, y, who = np.array(X, np.float32).reshape(-1, places), np.array(y, np.int64), np.array(who)
    held = who % HELD_OUT == HELD_OUT - 1
    return Samples(X[~held], y[~held], who[~held], X[held], y[held], who[held])


@lru_cache(maxsize=2)
def prepare_problem(text: str) -> Problem:
    """Build the problem that a request describes."""
    told = json.loads(text)
    net = told["net"]
    images = isinstance(net, str) and len(NETWORKS[net].shape) == 3
    of = (told["side"], images, told["classes"])
    found = load_samples(request_text(told["set"]), *of, told["places"])
    mine = _client_rows(found, told["apart"])
    marks = found.y if found.y.ndim == 1 else found.writers
    (how, options), *_ = told["split"].items()
    writers = None if found.writers is None else found.writers[mine]
    split = divide_samples(how, options, marks[mine], told["N"], told["seed"], writers)
    common = dict(
        server=_server_rows(told, split, found, mine, marks, of),
        test=_test_data(told["tested"], found, split),
        batch=told["batch"],
        batch_0=told["batch_0"],
        classes=told["classes"] or int(found.y.max()) + 1,
        weights=told["weights"],
        seed=told["seed"],
        dtype="float32",
    )
    rows = [mine[those] for those in split.rows]
    clients = [take_samples(found.X, those) for those in rows], [found.y[those] for those in rows]
    if isinstance(net, str):
        own = told["own"] and [getattr(layers, told["own"][0])(*told["own"][1:])]
        return network(net, *clients, server_layers=own, **common)
    return mlp(*clients, hidden=tuple(net), drop=told["drop"] or 0.0, **common)


def _client_rows(found: Samples, apart: Sequence[int | str] | None) -> np.ndarray:
    """Return the rows that clients may have."""
    if apart is None:
        return np.arange(len(found.y))
    name, which = apart
    return np.flatnonzero((found.y if name == "label" else found.writers) == which)


def divide_samples(
    how: str, options: Any, marks: np.ndarray, N: Number, seed: Number, writers: Number = None
) -> Split:
    """Return the Split that a request describes."""
    options = dict(options)
    if "pareto" in options:
        options["sizes"] = partition.pareto(N, options.pop("pareto"), seed=seed)
    if how == "by_writer":
        options["writers"] = writers
    return getattr(partition, how)(marks, clients=N, **options, seed=seed)


def _server_rows(
    told: Any, split: Any, found: Samples, mine: Number, marks: Number, of: tuple[Any, bool, Any]
) -> tuple[np.ndarray, np.ndarray] | None:
    if not told["server"]:
        return None
    (how, options), *_ = told["server"].items()
    if how in ("rest", "all"):
        rows = np.arange(len(marks))
        rows = np.setdiff1d(rows, mine) if how == "rest" else rows
        return take_samples(found.X, rows), found.y[rows]
    if how == "server_other":
        other = load_samples(request_text(told["other"]), *of)
        rows = partition.server_other(other.y, **options, seed=told["seed"])
        return take_samples(other.X, rows), other.y[rows]
    source = split if how == "server_from_clients" else marks[mine]
    rows = mine[getattr(partition, how)(source, **options, seed=told["seed"])]
    return take_samples(found.X, rows), found.y[rows]


def _test_data(tested: Sequence[int | str] | None, found: Any, split: Any) -> tuple[Any, ...]:
    """Return the test data, or the part of the test data that `tested` selects."""
    if tested is None:
        return found.X_test, found.y_test
    name, which = tested
    if name == "writer":
        rows = found.writers_test == which
    else:
        rows = np.isin(found.y_test, [split.y[split.rows[i][0]] for i in range(which)])
    return found.X_test[rows], found.y_test[rows]
