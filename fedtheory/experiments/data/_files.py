"""Files that a user names: searched for in a folder, measured before they are read, and read in
bounded memory.

What a file claims to hold (its header, the length of a gzip member) is compared with what was
agreed before anything of that size is asked for.
"""

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedtheory.errors import InvalidInput, refuse
from fedtheory.store.npz import BLOCK, LARGEST
from fedtheory.typing import Number

CELLS = 2**26  # numbers of a table: half a GiB as floats, which text may hold in a few kB, packed
DEPTH = (
    3  # folders below the one that is named, in which a published archive may have been unpacked
)


class File(NamedTuple):
    """One file of a published data set: its possible names, its unpacked length, and its digest.

    A digest is `md5:...` or `sha256:...` of the unpacked file, or `gz-sha256:...` of the packed one
    as it is published; None where nobody has published one, so that lengths and rows must do.
    """

    names: tuple[Any, ...]
    bytes: int | None = None
    digest: str | None = None


def find_file(folder: Path, names: Sequence[str]) -> Path | None:
    """Return the first file with one of these names in a folder or at most DEPTH levels below it,
    packed (.gz) or not; None if there is none."""
    folder = Path(folder)
    wanted = [name + end for name in names for end in ("", ".gz")]
    level = [folder]
    for _ in range(DEPTH + 1):
        for place in level:
            for name in wanted:
                if (place / name).is_file():
                    return place / name
        level = [
            below
            for place in level
            for below in sorted(place.iterdir())
            if below.is_dir() and not below.is_symlink() and not below.name.startswith(".")
        ]
    return None


def open_unpacked(path: Path) -> Any:
    """Open a stream of a file's unpacked content."""
    try:
        return gzip.open(path) if Path(path).suffix == ".gz" else open(path, "rb")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from None


def read_blocks(path: Path, most: int = LARGEST) -> Iterator[bytes]:
    """Yield a file's unpacked bytes, block by block. A file that unpacks to more than `most` bytes
    is refused as soon as this size is exceeded."""
    size = 0
    with open_unpacked(path) as stream:
        while part := read_limited(stream, BLOCK, path):
            size += len(part)
            if size > most:
                refuse(str(path), f"must decompress to at most {most} bytes", f"{size} and more")
            yield part


def read_content(path: Path, most: int = LARGEST, least: int = 0) -> bytes:
    """Return a file's unpacked bytes; a file that unpacks to more than `most` or fewer than `least`
    bytes is refused."""
    found = b"".join(read_blocks(path, most))
    if len(found) < least:
        refuse(str(path), f"must decompress to at least {least} bytes", len(found))
    return found


def read_limited(stream: Any, size: int, path: Path) -> bytes:
    """Return at most `size` bytes of a stream; a broken archive is refused with a readable message."""
    try:
        return stream.read(size)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(
            f"{path} must be a whole file; its content breaks off: {' '.join(str(error).split())}"
        ) from None


def read_line_blocks(path: Path, most: int) -> Iterator[bytes]:
    """Yield blocks of whole lines of an unpacked file, about 2^20 bytes each. Lines end in the file
    by CR, LF or both, and in the blocks by LF; a file that unpacks to more than `most` bytes is
    refused."""
    rest: list[bytes] = []
    half = b""  # of CR and LF that two parts share
    for part in read_blocks(path, most):
        part, half = half + part, b""
        if part.endswith(b"\r"):
            part, half = part[:-1], b"\r"
        part = part.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        cut = part.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, part[:cut]])
            rest = []
        rest.append(part[cut:])
    if any(rest):
        yield b"".join(rest) + b"\n"


class Column:
    """An array that grows at its end, in place, so that a file read in parts is never held in
    memory twice."""

    def __init__(self, dtype: type, *width: int) -> None:
        self._kept, self.size = np.empty((0, *width), dtype), 0

    def add(self, part: Number) -> None:
        end = self.size + len(part)
        if end > len(self._kept):
            shape = (max(end, int(1.2 * end)), *self._kept.shape[1:])
            self._kept.resize(shape, refcheck=False)
        self._kept[self.size : end] = part
        self.size = end

    def whole(self) -> np.ndarray:
        """Return the whole array; nothing may be appended afterwards."""
        self._kept.resize((self.size, *self._kept.shape[1:]), refcheck=False)
        return self._kept


def number_labels(labels: np.ndarray) -> np.ndarray:
    """Return the ranks (n,) of labels among the distinct labels, from 0."""
    return np.searchsorted(np.unique(labels), labels).astype(np.int64, copy=False)


def read_exactly(path: Path, size: int, start: int = 0) -> np.ndarray | np.memmap:
    """Return the `size` bytes from `start` to a file's end as an array. An unpacked file is
    memory-mapped, so that all processes that read the file share one copy."""
    if size > LARGEST:
        refuse(str(path), f"must hold at most {LARGEST} bytes", size)
    if Path(path).suffix != ".gz":
        actual = Path(path).stat().st_size - start
        if actual != size:
            refuse(str(path), f"must hold {size} bytes from byte {start} on", actual)
        return np.memmap(path, np.uint8, "r", start, (size,)) if size else np.empty(0, np.uint8)
    found, place = np.empty(start + size, np.uint8), 0
    for part in read_blocks(path, start + size):
        found[place : place + len(part)] = np.frombuffer(part, np.uint8)
        place += len(part)
    if place != len(found):
        refuse(str(path), f"must decompress to {start + size} bytes", place)
    return found[start:]


def check_published(path: Path, file: File) -> Path:
    """Refuse a file that differs from the published one, by length first and then by digest."""
    packed = Path(path).suffix == ".gz"
    if not packed and file.bytes not in (None, Path(path).stat().st_size):
        refuse(str(path), f"must have {file.bytes} bytes", Path(path).stat().st_size)
    if file.digest is None:
        return path
    kind, _, wanted = file.digest.partition(":")
    as_published = kind.startswith("gz-")
    if as_published and not packed:
        return path  # unpacked by the user: its length was right
    digest, size = hashlib.new(kind.removeprefix("gz-")), 0
    most = LARGEST if as_published or file.bytes is None else file.bytes
    with open(path, "rb") if as_published else open_unpacked(path) as stream:
        while part := read_limited(stream, BLOCK, path):
            size += len(part)
            if size > most:
                refuse(str(path), f"must decompress to {most} bytes", f"{size} and more")
            digest.update(part)
    if digest.hexdigest() != wanted:
        refuse(str(path), f"must have the {kind} {wanted}, as published", digest.hexdigest())
    return path
