"""What was worked out before: arrays under a name that hashes all that defines them, in the user's
private folder and under its seal; and who is working one out now.

What another user or an older method left there counts as absent. Files appear whole, so that work
that was killed goes on with the part at which it was killed. Processes that want the same parts take
each one once: who finds another at a part goes on with the next, and comes back.
"""

import hashlib
import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from fedtheory.data.formats.arrays import npz
from fedtheory.errors import InvalidInput
from fedtheory.runs.running import thread_count
from fedtheory.store import private_cache
from fedtheory.store.files import write

try:
    import fcntl
except ImportError:  # Windows: two processes may do the same work
    fcntl = None  # type: ignore[assignment]

LARGEST = 2**26  # bytes of one part's arrays


def name(*content):
    """A hex name of what defines a part."""
    return hashlib.sha256("\0".join(content).encode()).hexdigest()[:32]


def find_arrays(folder, name):
    """The arrays of a part that was worked out before, or None."""
    try:
        content = (private_cache.folder() / folder / f"{name}.npz").read_bytes()
        content = private_cache.unseal(name, content)
        return None if content is None else npz(io.BytesIO(content), name, LARGEST)
    except (OSError, RuntimeError, InvalidInput):
        return None


def keep(folder, name, arrays):
    """Keep a part; where there can be no private folder, it is worked out again next time."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **dict(sorted(arrays.items())))
    try:
        place = private_cache.folder() / folder / f"{name}.npz"
        write(place, private_cache.seal(name, stream.getvalue()), 0o600)
    except (OSError, RuntimeError):
        pass


def one(folder, name, work, wait=True):
    """The arrays of a part, kept or worked out now; None where another is at it, unless its end is to
    be waited for."""
    arrays = find_arrays(folder, name)
    if arrays is None:
        with alone(folder, name, wait) as mine:
            if not mine:
                return None
            arrays = find_arrays(folder, name)  # by whoever was at it
            if arrays is None:
                arrays = work()
                keep(folder, name, arrays)
    return arrays


@contextmanager
def alone(folder, name, wait):
    """Whether nobody else is at a part; nobody is, as long as this lasts, and the lock of a process
    that died is free."""
    try:
        place = private_cache.folder() / folder / f"{name}.lock"
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


def several(folder, parts, progress: Callable = lambda done, total: None):
    """{name: arrays} of parts {name: what works it out}, by as many threads as there are cores; what
    others are at is left for last."""
    pool, made = ThreadPoolExecutor(thread_count()), {}
    try:
        for wait in (False, True):
            left = [name for name in parts if name not in made]
            work = lambda name, wait=wait: one(folder, name, parts[name], wait)
            for name, arrays in zip(left, pool.map(work, left)):
                if arrays is not None:
                    made[name] = arrays
                    progress(len(made), len(parts))
    finally:
        pool.shutdown(cancel_futures=True)
    return made
