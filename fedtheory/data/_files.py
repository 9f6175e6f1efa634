"""Files that a user names: found in a folder, measured before they are read, read in bounded memory.

What a file claims to hold (its header, the length of a gzip member) is compared with what was
agreed before anything of that size is asked for.
"""

import gzip
import hashlib
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fedtheory.errors import InvalidInput, refuse

LARGEST = 2**31  # bytes that one file may unfold to
BLOCK = 2**20
DEPTH = (
    3  # folders below the one that is named, in which a published archive may have been unpacked
)


class File(NamedTuple):
    """One file of a published set: what it may be called, its length unpacked, and its digest.

    A digest is `md5:...` or `sha256:...` of the unpacked file, or `gz-sha256:...` of the packed one
    as it is published; None where nobody has published one, so that lengths and rows must do.
    """

    names: tuple
    bytes: int | None = None
    digest: str | None = None


def found(folder, names):
    """The first file of these names in a folder or a few below it, packed or not; or None."""
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


def opened(path):
    """A stream of a file's unpacked content."""
    try:
        return gzip.open(path) if Path(path).suffix == ".gz" else open(path, "rb")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from None


def content(path, most=LARGEST, least=0):
    """A file's unpacked bytes; one that has more than `most` of them is left, not unfolded."""
    parts, size = [], 0
    with opened(path) as stream:
        while True:
            part = taken(stream, min(BLOCK, most + 1 - size), path)
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > most:
                refuse(str(path), f"must unfold to at most {most} bytes", f"{size} and more")
    if size < least:
        refuse(str(path), f"must unfold to at least {least} bytes", size)
    return b"".join(parts)


def taken(stream, size, path):
    """At most so many bytes of a stream; a broken archive is refused in words."""
    try:
        return stream.read(size)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(
            f"{path} must be a whole file; its content breaks off: {' '.join(str(error).split())}"
        ) from None


def exactly(path, size, start=0):
    """The `size` bytes from `start` to a file's end, as an array: mapped from the disk where the
    file lies there unpacked, so that all who read it share one copy."""
    if size > LARGEST:
        refuse(str(path), f"must hold at most {LARGEST} bytes", size)
    if Path(path).suffix != ".gz":
        actual = Path(path).stat().st_size - start
        if actual != size:
            refuse(str(path), f"must hold {size} bytes from byte {start} on", actual)
        return np.memmap(path, np.uint8, "r", start, (size,)) if size else np.empty(0, np.uint8)
    whole = content(path, start + size)
    if len(whole) != start + size:
        refuse(str(path), f"must unfold to {start + size} bytes", len(whole))
    return np.frombuffer(whole, np.uint8, size, start)


def checked(path, file):
    """Refuse a file that is not the one that was published: by length, then by digest."""
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
    with open(path, "rb") if as_published else opened(path) as stream:
        while part := taken(stream, BLOCK, path):
            size += len(part)
            if size > most:
                refuse(str(path), f"must unfold to {most} bytes", f"{size} and more")
            digest.update(part)
    if digest.hexdigest() != wanted:
        refuse(str(path), f"must have the {kind} {wanted}, as published", digest.hexdigest())
    return path
