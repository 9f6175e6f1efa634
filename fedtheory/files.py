"""Files that are written whole or not at all."""

import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without it: two who write at once are not kept apart there
    fcntl = None  # type: ignore[assignment]


def write(path, content, mode=0o644, once=False):
    """Put bytes in a file: a reader, a crash or a full disk never sees half of it. With `once` a
    file that is there by then stays: of several who write it at once the first does."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        if once:
            with suppress(FileExistsError):
                os.link(temporary, path)
            os.unlink(temporary)
        else:
            os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def alone(path):
    """While it lasts nobody else holds this file's lock; a process that dies lets go of it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
