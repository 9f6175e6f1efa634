"""One run of a classification experiment: data, split, network, method, and what is measured.

A request says it all, in words and numbers:

    set, other      how data.load makes the data, and the server's own source, if it has one
    side            images are made so small, in pixels (absent: as they are)
    classes         only samples of the first so many are used (absent: all)
    N, split        clients, and partition -> its options, of who has what
    server          how the server comes by its samples: a partition.server_* -> its options
    net             hidden widths, or the name of a network of the papers
    batch, drop     the size of minibatches, and the probability of dropout of a network by widths
    method, hyper   the algorithm and its hyper-parameters; S of the clients work in a round
    traces          how many of flex's traces devices follow (absent: all complete their work)
    rounds, every   how long, and how often it is measured
    pretrained      steps and step size of the server's learning beforehand, or None
    measure         what is measured, by the names of ft.metrics
    seed            fixes split, initial point, cohorts and minibatches; methods share them
"""

import json
from functools import lru_cache
from threading import RLock

import numpy as np

from fedtheory.data import partition
from fedtheory.data._data import flat, smaller
from fedtheory.data._sets import load
from fedtheory.errors import refuse
from fedtheory.participation import Participation
from fedtheory.participation.traces import traces
from fedtheory.problems.mlp import mlp
from fedtheory.problems.network import network
from fedtheory.runs.running import run

# What of a request its problem depends on: runs that have these in common share one problem.
PROBLEM = (
    *("set", "other", "side", "classes", "N", "split", "server"),
    *("net", "batch", "drop", "weights", "seed"),
)
MEASURE = ("test_accuracy", "test_loss")
MAKING = RLock()  # of threads that need the same data, one makes them


def written(value):
    """A request, or a part of it, as one text."""
    return json.dumps(value, sort_keys=True)


@lru_cache(maxsize=4)
def _set(text, side, images, classes=None):
    """(samples, labels, test samples, test labels) of a set; all runs of a process share them."""
    options = json.loads(text)
    found = load(options.pop("name"), **options)
    if found.X_test is None and found.X is None:
        refuse("set", "must have samples", options)
    small = lambda X: None if X is None else _as(X if side is None else smaller(X, side), images)
    X, y, X_test, y_test = found.X, found.y, found.X_test, found.y_test
    if classes is not None:
        X, y = X[y < classes], y[y < classes]
        if X_test is not None:
            X_test, y_test = X_test[y_test < classes], y_test[y_test < classes]
    return small(X), y, small(X_test), y_test


def _as(X, images):
    """Rows of [0, 1]; or images with their channels last."""
    rows = flat(X).astype(np.float32)
    if not images:
        return rows
    square = rows.reshape(len(X), -1, *X.shape[-2:])
    return np.ascontiguousarray(np.moveaxis(square, 1, 3))


@lru_cache(maxsize=2)
def _prepared(text):
    """The problem of what a request says of it."""
    told = json.loads(text)
    images = isinstance(told["net"], str) and told["net"] != "mnist_mlp"
    X, y, X_test, y_test = _set(written(told["set"]), told["side"], images, told["classes"])
    (how, options), *_ = told["split"].items()
    split = _split(how, options, y, told["N"], told["seed"])
    common = dict(
        server=_server(told, split, X, y, images),
        test=(X_test, y_test),
        batch=told["batch"],
        classes=int(y.max()) + 1,
        weights=told["weights"],
        seed=told["seed"],
        dtype="float32",
    )
    if isinstance(told["net"], str):
        return network(told["net"], *split.arrays(X), **common)
    drop = told["drop"] or 0.0
    return mlp(*split.arrays(X), hidden=tuple(told["net"]), drop=drop, **common)


def _split(how, options, y, N, seed):
    options = dict(options)
    if "pareto" in options:
        options["sizes"] = partition.pareto(N, options.pop("pareto"), seed=seed)
    return getattr(partition, how)(y, N, **options, seed=seed)


def _server(told, split, X, y, images):
    if not told["server"]:
        return None
    (how, options), *_ = told["server"].items()
    if how == "server_other":
        X, y, _, _ = _set(written(told["other"]), told["side"], images)
    of = split if how == "server_from_clients" else y
    rows = getattr(partition, how)(of, **options, seed=told["seed"])
    return X[rows], y[rows]


def trained(request):
    """{name: array} of a run: each metric at `rounds`, those at which it was measured."""
    with MAKING:
        problem = _prepared(written({name: request.get(name) for name in PROBLEM}))
    more = {}
    if request.get("traces"):
        more["participation"] = Participation(work=traces(request["traces"], request["seed"]))
    names = tuple(request.get("measure", MEASURE))
    found = run(
        problem,
        request["method"],
        rounds=request["rounds"],
        every=request["every"],
        metrics=names,
        S=request["S"],
        seed=request["seed"],
        pretrained=request.get("pretrained"),
        workers=1,
        **more,
        **request["hyper"],
    )
    at = np.arange(0, request["rounds"] + 1, request["every"])
    curves = {name: np.full(len(at), np.nan) for name in names}
    for name in names:  # a run that left the finite numbers ends early
        seen = found.metrics[name][0][at[at <= found.rounds]]
        curves[name][: len(seen)] = seen
    return {"rounds": at.astype(float), **curves}


def work(request):
    """How much a run has to do, in samples that pass the network: of local steps, of the server's,
    and of test data."""
    hyper, batch = request["hyper"], request["batch"]
    steps = hyper.get("K", hyper.get("E", hyper.get("T", 1)))
    rounds = request["rounds"] * (request["S"] * steps + hyper.get("K_0", 0)) * batch
    before = (request.get("pretrained") or {}).get("steps", 0) * batch
    return rounds + before
