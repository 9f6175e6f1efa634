"""Large arrays in memory that processes of one machine share.

A task's data are pickled as usual, except for large arrays. These are copied once into anonymous
shared memory, and only the path of its descriptor among the sender's open files is sent. A worker
maps it copy-on-write: its writes stay private, and unchanged data exist once. Nothing is left
behind, however a process ends. Where the system has no such memory, or does not let other processes
open it, arrays are sent as copies.
"""

import io
import mmap
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

LARGE = 2**20  # arrays of at least this many bytes are shared
PLACE = (
    # the path at which Linux shows a process's open files to processes that may read its memory
    "/proc/{}/fd/{}"
)


class Shared:
    """The arrays that a parent process shares while it needs workers."""

    def __init__(self) -> None:
        # id of an array -> (its file, the array); the array is stored so that its id is not reused
        self._places: dict[int, tuple[int, np.ndarray]] = {}
        self._can = True

    def __enter__(self) -> "Shared":
        return self

    def __exit__(self, *_: object) -> None:
        for file, array in self._places.values():
            os.close(file)
        self._places = {}

    def pickle_task(self, task: tuple[Callable[..., Any], tuple[Any, ...]]) -> bytes:
        """Return a task as bytes, with references in place of its large arrays."""
        stream = io.BytesIO()
        _Pickler(stream, self._find_file).dump(task)
        return stream.getvalue()

    def _find_file(self, array: np.ndarray) -> int | None:
        """Return the file that holds an array, or None where there can be none."""
        known = self._places.get(id(array))
        if known is None and self._can:
            file = _memory_file(array)
            if file is not None:
                known = self._places[id(array)] = file, array
            self._can = file is not None and (len(self._places) > 1 or _can_open(file))
        return known[0] if self._can and known is not None else None


class _Pickler(ForkingPickler):
    def __init__(self, stream: io.BytesIO, place: Callable[[np.ndarray], int | None]) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._of = place

    def reducer_override(self, thing: Any) -> Any:
        plain = type(thing) is np.ndarray and thing.dtype.kind in "fiub" and thing.size > 0
        if not (plain and thing.nbytes >= LARGE and thing.flags.c_contiguous):
            return NotImplemented
        file = self._of(thing)
        if file is None:
            return NotImplemented
        return map_array, (os.getpid(), file, thing.dtype.str, thing.shape)


def _memory_file(array: np.ndarray) -> int | None:
    """Return the descriptor of an anonymous memory file with an array's bytes, None where the
    system has no such files."""
    try:
        file = os.memfd_create("fedtheory", os.MFD_CLOEXEC)
    except (AttributeError, OSError):
        return None
    try:
        with open(PLACE.format(os.getpid(), file), "wb") as stream:  # opened as a worker opens it
            stream.write(memoryview(array).cast("B"))  # type: ignore[arg-type]
    except OSError:
        os.close(file)
        return None
    return file


def _can_open(file: int) -> bool:
    """Tell whether another process of this user may open the file."""
    asked = [sys.executable, "-SEc", "import sys; open(sys.argv[1], 'rb').close()"]
    place = PLACE.format(os.getpid(), file)
    return subprocess.run([*asked, place], stderr=subprocess.DEVNULL).returncode == 0


def map_array(process: int, file: int, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Return the array that another process shares. Writes to it stay private to this process."""
    with open(PLACE.format(process, file), "rb") as stream:
        pages = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY)
    return np.frombuffer(pages, dtype).reshape(shape)


def carried_out(message: bytes) -> Any:
    """Run a task (function, arguments) received as bytes from the parent process on this machine,
    and return the result."""
    function, arguments = pickle.loads(message)  # noqa: S301 (from the process that started this one)
    return function(*arguments)
