"""One run of a classification experiment: data, split, network, method, and what is measured.

A request says it all, in words and numbers:

    set, other      how data.load makes the data, and the server's own source, if it has one
    side            images are made so small, in pixels
    N, split        clients, and partition -> its options, of who has what
    server          how the server comes by its samples: a partition.server_* -> its options
    hidden, batch   the network's hidden widths, and the size of minibatches
    method, hyper   the algorithm and its hyper-parameters; S of the clients work in a round
    traces          how many of flex's traces devices follow (absent: all complete their work)
    rounds, every   how long, and how often the test data are asked
    pretrained      steps and step size of the server's learning beforehand, or None
    watch           also xi_t^2 and G_t^2, so many times
    seed            fixes split, initial point, cohorts and minibatches; methods share them
"""

import json
from functools import lru_cache

import numpy as np

from fedtheory.data import partition
from fedtheory.data._data import flat, smaller
from fedtheory.data._sets import load
from fedtheory.participation import Participation
from fedtheory.participation.traces import traces
from fedtheory.problems.mlp import accuracy, forward, mlp
from fedtheory.runs.running import run

PROBLEM = "set other side N split server hidden batch weights seed".split()
PATH = 2**22  # numbers of a trajectory that are held at a time


def written(value):
    """A request, or a part of it, as one text."""
    return json.dumps(value, sort_keys=True)


@lru_cache(maxsize=4)
def _set(text, side):
    """(rows, labels, test rows, test labels) of a set; all runs of a process share them."""
    options = json.loads(text)
    found = load(options.pop("name"), options.pop("folder", None), **options)
    small = lambda X: X if X is None else flat(X if side is None else smaller(X, side))
    return small(found.X), found.y, small(found.X_test), found.y_test


@lru_cache(maxsize=2)
def _prepared(text):
    """(problem, test rows, test labels) of what a request says of them."""
    told = json.loads(text)
    seed, side = told["seed"], told["side"]
    X, y, X_test, y_test = _set(written(told["set"]), side)
    (how, options), *_ = told["split"].items()
    split = _split(how, options, y, told["N"], seed)
    problem = mlp(
        *split.arrays(X),
        hidden=tuple(told["hidden"]),
        server=_server(told, split, X, y),
        batch=told["batch"],
        classes=int(y.max()) + 1,
        weights=told.get("weights"),
        seed=seed,
    )
    return problem, X_test, y_test


def _split(how, options, y, N, seed):
    options = dict(options)
    if "pareto" in options:
        options["sizes"] = partition.pareto(N, options.pop("pareto"), seed=seed)
    return getattr(partition, how)(y, N, **options, seed=seed)


def _server(told, split, X, y):
    if not told.get("server"):
        return None
    (how, options), *_ = told["server"].items()
    if how == "server_other":
        X, y, _, _ = _set(written(told["other"]), told["side"])
    of = split if how == "server_from_clients" else y
    rows = getattr(partition, how)(of, **options, seed=told["seed"])
    return X[rows], y[rows]


def trained(request, progress=None):
    """{name: array} of a run: `rounds` at which it was measured, `accuracy` and `loss` there on test
    data, `train_loss` at the end; `xi` and `G` (squared) at the rounds `watched`."""
    told = {name: request.get(name) for name in PROBLEM}
    problem, X, y = _prepared(written(told))
    every, rounds = request["every"], request["rounds"]
    watched = np.linspace(0, rounds, 1 + request.get("watch", 0)).round().astype(int)[1:]
    at = np.arange(0, rounds + 1, every)
    found: dict = {"rounds": at, "accuracy": [], "loss": [], "xi": [], "G": []}
    last = None
    for part, low in _parts(request, problem, last):
        path = part.x[0]
        for t in range(low, part.rounds + 1):
            if t % every == 0:
                _measured(found, problem, path[t - low], X, y)
            if t in watched or (len(watched) and t == 0):
                _dissimilar(found, problem, path[t - low])
        last = part
        if progress is not None:
            progress(part.rounds, rounds)
    if last is not None and request.get("losses"):
        found["train_loss"] = problem.loss(last.final[0])
    found["watched"] = np.concatenate([[0], watched]) if len(watched) else []
    return {name: np.asarray(value, float) for name, value in found.items() if np.size(value)}


def _parts(request, problem, last):
    """(a run up to some round, the round at which its trajectory begins), one after the other, each
    as long as its trajectory may be."""
    rounds, low = request["rounds"], 0
    step = max(1, PATH // problem.d)
    x_0, done = None, None
    work = {"participation": Participation(work=traces(request["traces"], request["seed"]))}
    common = dict(
        S=request["S"],
        seed=request["seed"],
        metrics=(),
        workers=1,
        **(work if request.get("traces") else {}),
    )
    while low < rounds:
        high = min(rounds, low + step)
        hyper = {
            name: value[:high] if isinstance(value, list) else value
            for name, value in request["hyper"].items()
        }
        more = dict(resume=done) if done is not None else dict(pretrained=request.get("pretrained"))
        kept = run(problem, request["method"], rounds=high, keep="x", **more, **common, **hyper)
        yield kept._replace_path(low) if hasattr(kept, "_replace_path") else kept, low
        low, done = high, kept


def _measured(found, problem, x, X, y):
    if not np.all(np.isfinite(x)):
        found["accuracy"].append(np.nan)
        found["loss"].append(np.nan)
        return
    found["accuracy"].append(accuracy(problem, x, X, y))
    logits = forward(problem.data, x, X, np.empty(len(X) * int(problem.data.widths[1:].sum())))
    logits = logits - logits.max(axis=1, keepdims=True)
    mass = np.log(np.exp(logits).sum(axis=1))
    found["loss"].append(float(np.mean(mass - logits[np.arange(len(y)), y])))
