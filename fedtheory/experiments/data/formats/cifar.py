"""CIFAR-10: records of a label and 3 x 32 x 32 bytes, or pickled dictionaries of the same data.

A pickle is a program. Of it only what the published files say is carried out, by an interpreter
that knows three names and makes arrays of none of them: numbers and bytes are kept, and compared
with the shape that they claim.
"""

import io
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory.errors import InvalidInput, refuse
from fedtheory.experiments.data import _files

SHAPE, PIXELS, CLASSES = (3, 32, 32), 3072, 10
STEPS = 2**20  # of the program that a pickle is; that of a whole batch has some 70,000
PICKLED = 2**26  # bytes of a pickled batch, of which a whole one has 31 million


def read_binary(path: Path) -> tuple[Any, ...]:
    """Read (images (n, 3, 32, 32), labels (n,)) from a binary batch."""
    size = sum(map(len, _files.read_blocks(path))) if path.suffix == ".gz" else path.stat().st_size
    if size == 0 or size % (1 + PIXELS):
        refuse(str(path), f"must hold records of {1 + PIXELS} bytes", f"{size} bytes")
    records = _files.read_exactly(path, size).reshape(-1, 1 + PIXELS)
    return _check_images(path, records[:, 1:], records[:, 0])


def read_python_batch(path: Path) -> tuple[np.ndarray, ...]:
    """Read (images (n, 3, 32, 32), labels (n,)) from a batch in the python layout."""
    batch = decode_pickle(_files.read_content(path, PICKLED), path)
    if not isinstance(batch, dict):
        refuse(str(path), "must be a dictionary", type(batch).__name__)
    batch = {key.encode() if isinstance(key, str) else key: value for key, value in batch.items()}
    labels, images = batch.get(b"labels"), batch.get(b"data")
    if not isinstance(labels, list) or any(type(each) is not int for each in labels):
        refuse(str(path), "must hold a list of labels", labels)
    if not isinstance(images, _Array):
        refuse(str(path), "must hold an array of data", type(images).__name__)
    if any(not 0 <= each < CLASSES for each in labels):
        refuse(str(path), f"must hold labels of 0 .. {CLASSES - 1}", labels)
    return _check_images(path, images.bytes(path), np.array(labels, np.uint8))


def _check_images(
    path: Path, images: np.ndarray | np.memmap, labels: np.ndarray | np.memmap
) -> tuple[np.ndarray | np.memmap, np.ndarray | np.memmap]:
    if images.shape != (len(labels), PIXELS):
        refuse(str(path), f"must hold {len(labels)} images of {PIXELS} bytes", images.shape)
    if len(labels) and labels.max() >= CLASSES:
        refuse(str(path), f"must hold labels of 0 .. {CLASSES - 1}", int(labels.max()))
    return images.reshape(-1, *SHAPE), labels


class _Array:
    """The description of an array in a pickle: the arguments from which the array is built."""

    state: Any = None

    def __setstate__(self, state: Sequence[Any]) -> None:
        self.state = state

    def bytes(self, path: Path) -> np.ndarray:
        """Return the array's bytes (rows, columns)."""
        state = self.state
        if not (isinstance(state, tuple) and len(state) == 5):
            refuse(str(path), "must say version, shape, type, order and values of its array", state)
        _, shape, kind, columns_first, values = state
        values = values.encode("latin1") if isinstance(values, str) else values
        fits = (
            isinstance(shape, tuple)
            and len(shape) == 2
            and all(type(n) is int and n >= 0 for n in shape)
            and isinstance(values, bytes)
            and len(values) == shape[0] * shape[1]
        )
        if not fits or not isinstance(kind, _Kind) or kind.name not in (b"u1", "u1"):
            refuse(str(path), "must hold as many bytes as its array's shape says", shape)
        if columns_first:
            return np.frombuffer(values, np.uint8).reshape(shape[::-1]).T
        return np.frombuffer(values, np.uint8).reshape(shape)


class _Kind:
    def __init__(self, name: str | None = None, *_: bool) -> None:
        self.name = name

    def __setstate__(self, state: Sequence[Any]) -> None:
        pass


def _rebuild_array(*_: bytes | type[_Array] | Sequence[int]) -> _Array:
    return _Array()


KNOWN: dict[tuple, Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _rebuild_array,
    ("numpy._core.multiarray", "_reconstruct"): _rebuild_array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Kind,
    ("_codecs", "encode"): lambda text, how="latin1": text.encode("latin1"),
}


class _Reader(pickle._Unpickler):
    """Python's pure-Python unpickler, with a dictionary as memo: the C version allocates as much
    memory as a hostile index demands."""

    def find_class(self, module: str, name: str) -> Callable[..., Any] | type:
        if (module, name) not in KNOWN:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return KNOWN[module, name]


class _Program(io.BytesIO):
    """The bytes of a pickle, of which only a bounded number of parts is read, as a single byte may
    create a list."""

    left = STEPS

    def read(self, size: int = -1) -> bytes:
        self.left -= 1
        if self.left < 0:
            raise pickle.UnpicklingError(f"it has more than {STEPS} steps")
        return super().read(size)


def decode_pickle(content: bytes, path: Path) -> dict[bytes, Any] | list[int]:
    """Return the content of a pickle of numbers, bytes, lists, dictionaries and arrays of bytes."""
    try:
        return _Reader(_Program(content), encoding="bytes").load()
    except Exception as error:  # whatever a hostile program does, it ends here
        raise InvalidInput(
            f"{path} must be a batch of CIFAR-10; it is not unpickled: "
            f"{' '.join(str(error).split())[:200] or type(error).__name__}"
        ) from None
