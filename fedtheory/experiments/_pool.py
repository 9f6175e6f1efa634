"""The pool of runs: each run is computed once, stored under a hash of everything that defines it,
and read by every figure that needs it.

A run's key hashes its request and the sources that it reaches: the loops, the method, the network,
the sets. A run under way is kept beside them, so that a killed night goes on in the very run.
"""

import pkgutil
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory.errors import InvalidInput
from fedtheory.experiments import _kept, _training, networks
from fedtheory.experiments._samples import request_text
from fedtheory.experiments.data import _sets, partition
from fedtheory.store import private_cache, source_hash

if TYPE_CHECKING:
    import numpy as np

FOLDER = "runs"


def run_key(request: Mapping[str, Any]) -> str:
    """Return the name in hex under which a run is stored."""
    named = {f"fedtheory.algorithms.{request['method']}", "fedtheory.experiments._training"}
    named |= {
        f"fedtheory.experiments.data.sets.{request[source]['name']}"
        for source in ("set", "other")
        if request.get(source)
    }
    named |= {f"fedtheory.experiments.data.partition.{how}" for how in _split_of(request)}
    if isinstance(request["net"], str):  # a name says no file: all of them count
        named |= {
            f"fedtheory.experiments.networks.{n}"
            for _, n, _ in pkgutil.iter_modules(networks.__path__)
        }
    reached = source_hash.digest_of_reach(frozenset(named), False)
    return _kept.content_name(request_text(request), reached)


def _split_of(request: Mapping[str, Any]) -> list[str]:
    asked = [*request["split"], *(request.get("server") or {})]
    return [how for how in asked if how in partition.__all__]


def load_run(request: Mapping[str, int | dict[str, Any]]) -> "dict[str, np.ndarray] | None":
    """Return the arrays of a run that was computed before, or None."""
    return _kept.find_arrays(FOLDER, run_key(request))


def load_or_run(request: Mapping[str, int | dict[str, Any]]) -> "dict[str, np.ndarray] | None":
    """Return the arrays of a run, stored or computed now."""
    return _kept.load_or_compute(FOLDER, run_key(request), lambda: _carry_out(request))


def _carry_out(request: Mapping[str, int | dict[str, Any]]) -> "dict[str, np.ndarray]":
    """Compute the arrays of a run, resuming from its checkpoint if there is one. An unusable
    checkpoint is deleted."""
    midway = _checkpoint_path(request)
    try:
        found = _training.train_run(request, midway)
    except InvalidInput:
        if midway is None or not midway.exists():
            raise
        midway.unlink()  # what is broken counts as absent
        found = _training.train_run(request, midway)
    if midway is not None:
        midway.unlink(missing_ok=True)
    return found


def _checkpoint_path(request: Mapping[str, int | dict[str, Any]]) -> Path | None:
    """Return the path of a run's checkpoint file; None where there can be no private folder."""
    try:
        folder = private_cache.private_folder() / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        return private_cache.check_owner(folder) / f"{run_key(request)}.midway.npz"
    except (OSError, RuntimeError):
        return None


def load_or_run_all(
    requests: Sequence[dict[str, int | dict[str, Any]]],
    progress: Callable = lambda done, total: None,
) -> "list[dict[str, np.ndarray]]":
    """Return the arrays of each run, as a list. Runs of one problem are computed in succession, so
    that the problem is built once."""
    order = sorted(requests, key=lambda request: (_problem_of(request), request_text(request)))
    runs = {run_key(request): partial(_carry_out, request) for request in order}
    found = _kept.load_or_compute_all(FOLDER, runs, progress)
    return [found[run_key(request)] for request in requests]


def _problem_of(request: Mapping[str, int | dict[str, Any]]) -> str:
    return request_text({name: request.get(name) for name in _training.PROBLEM})


def missing_runs(
    requests: Sequence[dict[str, int | dict[str, Any]]],
) -> list[dict[str, int | dict[str, Any]]]:
    """Return the distinct runs that are not stored."""
    return list({request_text(r): r for r in requests if load_run(r) is None}.values())


def possible_runs(
    requests: Sequence[dict[str, int | dict[str, Any]]],
) -> tuple[Any, dict[str, Any]]:
    """Return the runs whose data are available, and for the remaining runs {set: why its data are
    not}."""
    why = {}
    for request in requests:
        for source in ("set", "other"):
            name = (request.get(source) or {}).get("name")
            if name and name not in why:
                why[name] = _why_absent(name)
    lacking = {name: text for name, text in why.items() if text}
    lacks = lambda request: any(
        (request.get(source) or {}).get("name") in lacking for source in ("set", "other")
    )
    return [request for request in requests if not lacks(request)], lacking


def _why_absent(name: str) -> str:
    """Return why a set cannot be loaded, judged by which files exist; '' if it can."""
    record = _sets.find_set(name)
    folder = _sets.folder_of()
    if not record.layouts:
        return ""
    if folder is None:
        return "no folder is named"
    found, missing = _sets.locate_set(record, folder)
    return "" if found else f"missing: {', '.join(missing)}"


def estimate_work(requests: Sequence[dict[str, int | dict[str, Any]]]) -> tuple[int, float]:
    """Return the number of missing runs and an estimate of the core seconds that they take. The
    cheapest run of each kind (same network, data, batch and measurements) is timed over a few
    rounds."""
    left, total, paces = missing_runs(requests), 0.0, {}
    for request in sorted(left, key=_training.count_work):
        alike = request_text([request.get(name) for name in PACE])
        if alike not in paces:
            paces[alike] = _measure_pace(request)
        sample, measurement = paces[alike]
        total += sample * _training.count_work(request)
        total += measurement * (request["rounds"] // request["every"])
    return len(left), total


PACE = ("net", "side", "set", "batch", "measure")  # what runs of one pace have in common


def _measure_pace(request: Mapping[str, Any]) -> tuple[float, float]:
    """Measure the core seconds per sample of a run and per measurement of metrics. Of four short
    runs the first compiles and loads, the third has two rounds more than the second, and the last
    has two measurements more."""
    took = []
    for rounds, every in ((1, 1), (1, 1), (3, 3), (3, 1)):
        short = {**request, "rounds": rounds, "every": every, "pretrained": None}
        short["hyper"] = {
            name: value[:rounds] if isinstance(value, list) else value
            for name, value in request["hyper"].items()
        }
        begun = time.process_time()
        _training.train_run(short)
        took.append(time.process_time() - begun)
    samples = 2 * _training.count_work({**short, "rounds": 1})
    return max(took[2] - took[1], 1e-6) / samples, max(took[3] - took[2], 0.0) / 2
