"""Files that are written completely or not at all.

A temporary file in the target's folder is filled, forced to the disk and then renamed or linked,
since a rename within a folder is atomic. The names of such files match PART, so that leftovers of a
killed process can be recognised and removed.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without fcntl: two concurrent writers are not excluded there
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".fedtheory-", ".part"  # names of files that are being written
PART = re.compile(rf"{re.escape(PREFIX)}\w+{re.escape(SUFFIX)}")


def write_file(path: Path, content: bytes, mode: int = 0o644, once: bool = False) -> None:
    """Write bytes to a file so that neither a reader, a crash nor a full disk ever leaves half of
    the content. With `once` an existing file stays: of several processes that write at the same
    time, the first one wins.

    `mode` gives the permissions. Missing folders are created. The temporary file is removed if
    anything fails, also on an interrupt.
    """
    path = Path(path)
    temporary = stage_file(path, content, mode)
    try:
        if once:
            with suppress(FileExistsError):
                os.link(temporary, path)
            os.unlink(temporary)
        else:
            os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def stage_file(path: Path, content: bytes, mode: int = 0o644) -> Path:
    """Write bytes to a temporary file in the target's folder, ready to be renamed, and return the
    temporary path. An error names the target."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=PREFIX, suffix=SUFFIX)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        return temporary
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold the exclusive lock of a file while the context is active. The lock of a process that
    dies is released.

    The file is created if absent and stays. On a system without fcntl the lock excludes nobody.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
