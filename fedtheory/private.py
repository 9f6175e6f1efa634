"""The user's private folder, and seals by a key that never leaves it.

What bears its seal was written by this user; a file from elsewhere, whatever it says, counts as
absent. `FEDTHEORY_CACHE_DIR` moves the folder.
"""

import hmac
import os
import secrets
import stat
from functools import cache
from pathlib import Path

from fedtheory.files import write

SEAL = 32  # bytes of a seal, and of the key


def folder():
    """The folder, made if it is not there; OSError or RuntimeError where there can be none."""
    base = os.environ.get("FEDTHEORY_CACHE_DIR")
    base = (
        Path(base)
        if base
        else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fedtheory"
    )
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return owned(base)


def owned(base):
    """A folder that only this user can write to; PermissionError for any other."""
    if base.is_symlink() or not base.is_dir():
        raise PermissionError(f"{base} is no folder")
    info = base.stat()
    if hasattr(os, "getuid") and (
        info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ):
        raise PermissionError(f"{base} can be written by others")
    return base


def key():
    """The key of the private folder; where there can be no such folder, one that lives as long as
    this process."""
    try:
        return _kept(folder() / "seal")
    except (OSError, RuntimeError):
        return _passing()


def _kept(path):
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        found = None
    if found is None or len(found) != SEAL:
        write(path, secrets.token_bytes(SEAL), 0o600, once=found is None)
    return path.read_bytes()


@cache
def _passing():
    return secrets.token_bytes(SEAL)


def sealed(name, content, secret=None):
    """Content behind its seal, which holds for this name alone."""
    return hmac.digest(secret or key(), name.encode() + b"\0" + content, "sha256") + content


def opened(name, content, secret=None):
    """What stands behind a seal that fits; None otherwise."""
    return (
        content[SEAL:]
        if hmac.compare_digest(content, sealed(name, content[SEAL:], secret))
        else None
    )
