"""A cache of computed results in the user's private folder: sealed arrays under a name that hashes
everything that defines them, with locks so that processes do not compute the same result twice.

What another user or an older method left there counts as absent. Files appear whole, so that work
that was killed goes on with the part at which it was killed. Processes that want the same parts take
each one once: who finds another at a part goes on with the next, and comes back.
"""

import hashlib
import io
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from fedtheory.errors import InvalidInput
from fedtheory.runs.running import thread_count
from fedtheory.store import private_cache
from fedtheory.store.files import write_file
from fedtheory.store.npz import read_npz

try:
    import fcntl
except ImportError:  # Windows: two processes may do the same work
    fcntl = None

LARGEST = 2**26  # bytes of one part's arrays


def content_name(*content: str) -> str:
    """Return a name in hex that hashes the texts that define a part."""
    return hashlib.sha256("\0".join(content).encode()).hexdigest()[:32]


def find_arrays(folder: str, name: str) -> dict[str, np.ndarray] | None:
    """Return the arrays of a part that was computed before, or None."""
    try:
        content = (private_cache.private_folder() / folder / f"{name}.npz").read_bytes()
        content = private_cache.unseal(name, content)
        return None if content is None else read_npz(io.BytesIO(content), name, LARGEST)
    except (OSError, RuntimeError, InvalidInput):
        return None


def store_part(folder: str, name: str, arrays: Mapping[str, Any]) -> None:
    """Store a part. Without a private folder nothing is stored, and the part is computed again next
    time."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **dict(sorted(arrays.items())))
    try:
        place = private_cache.private_folder() / folder / f"{name}.npz"
        write_file(place, private_cache.seal(name, stream.getvalue()), 0o600)
    except (OSError, RuntimeError):
        pass


def load_or_compute(
    folder: str, name: str, work: Callable[..., Any], wait: bool = True
) -> dict[str, np.ndarray] | None:
    """Return the arrays of a part, stored or computed now. With wait=False, return None where
    another process or thread is computing the part."""
    arrays = find_arrays(folder, name)
    if arrays is None:
        with part_lock(folder, name, wait) as mine:
            if not mine:
                return None
            arrays = find_arrays(folder, name)  # by whoever was at it
            if arrays is None:
                arrays = work()
                store_part(folder, name, arrays)
    return arrays


@contextmanager
def part_lock(folder: str, name: str, wait: bool) -> Iterator[bool]:
    """Hold the lock of a part while the context is active; yield whether the lock was acquired.
    With `wait` the call blocks until the lock is free, and the lock of a process that died is free.
    """
    try:
        place = private_cache.private_folder() / folder / f"{name}.lock"
        place.parent.mkdir(mode=0o700, exist_ok=True)
        file = place.open("w")
    except (OSError, RuntimeError):
        file = None
    if file is None or fcntl is None:
        yield True
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            yield False
            return
        try:
            yield True
        finally:
            place.unlink(missing_ok=True)  # who waits for this file finds the part kept


def load_or_compute_all(
    folder: str,
    parts: Mapping[str, Callable[..., Any]],
    progress: Callable = lambda done, total: None,
) -> dict[str, dict[str, np.ndarray]]:
    """Return {name: arrays} for parts {name: function that computes the part}, with as many threads
    as cores. Parts that other processes are computing come last."""
    pool, made = ThreadPoolExecutor(thread_count()), {}
    try:
        for wait in (False, True):
            left = [name for name in parts if name not in made]
            work = lambda name, wait=wait: load_or_compute(folder, name, parts[name], wait)
            for name, arrays in zip(left, pool.map(work, left)):
                if arrays is not None:
                    made[name] = arrays
                    progress(len(made), len(parts))
    finally:
        pool.shutdown(cancel_futures=True)
    return made
