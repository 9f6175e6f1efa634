"""The user's private folder, and seals (message authentication codes) by a secret key that is not
valid when copied with a folder.

A file with a valid seal was written by this user; a file from elsewhere, whatever it says, counts
as absent. `FEDTHEORY_CACHE_DIR` moves the folder. The key is stored elsewhere: in the user's
configuration (`XDG_CONFIG_HOME`, or `~/.config`). It is derived from a secret and from two facts
that no archive can set: the inode of the secret's file and the moment at which that file was
created. A copy of the file therefore gives another key. Machines that share a home share the key.
"""

import hmac
import os
import secrets
import shutil
import stat
import tempfile
import warnings
from functools import cache
from pathlib import Path

from fedtheory.errors import Uncached
from fedtheory.store.files import PART, write_file

SEAL = 32  # bytes of a seal, and of the secret
MARK = "owner"  # the file that names the owner of a folder


# ---------------------------------------------------------------- the key


def user_key() -> bytes:
    """Return the user's key; if no key can be stored, a key that lasts as long as this process.

    With a key of this process alone, nothing that is sealed can be read by a later process.
    """
    try:
        return lasting_key()
    except (OSError, RuntimeError):
        return _passing_key()


@cache
def _passing_key() -> bytes:
    """Return a random key, drawn once in this process."""
    return secrets.token_bytes(SEAL)


def lasting_key() -> bytes:
    """Return the user's stored key. Raises OSError or RuntimeError where no key can be stored, or
    where other users can access the key's file."""
    place = configuration_folder() / "seal"
    if not os.path.lexists(place / "secret"):
        _make_secret(place)
    check_owner(place)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(place / "secret", flags), "rb") as file:
        info = os.fstat(file.fileno())
        found = file.read(SEAL + 1)
    others = hasattr(os, "getuid") and (info.st_uid != os.getuid() or info.st_mode & 0o077)
    if not stat.S_ISREG(info.st_mode) or info.st_nlink > 1 or others or len(found) != SEAL:
        raise PermissionError(
            f"{place} does not hold a secret of this user alone: remove it, and another is made"
        )
    bound = f"fedtheory seal 2\0{info.st_uid}\0{info.st_ino}\0{info.st_ctime_ns}"
    return hmac.digest(found, bound.encode(), "sha256")


def configuration_folder() -> Path:
    """Return the user's configuration folder, created if absent."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    base = Path(home) / "fedtheory"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return check_owner(base)


def _make_secret(place: Path) -> None:
    """Create the folder with a new secret key atomically and once: of several processes that create
    the key at the same time, the first one wins. The file is not touched afterwards, so that its
    modification time stays."""
    made = Path(tempfile.mkdtemp(dir=place.parent, prefix=".seal-"))
    try:
        write_file(made / "secret", secrets.token_bytes(SEAL), 0o600)
        made.rename(place)
    except OSError:
        if not place.is_dir():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)  # the folder of a process that came second


def seal(name: str, content: bytes, secret: bytes | None = None) -> bytes:
    """Return the content with a seal in front, which is valid for this name only.

    The seal is the HMAC-SHA256 of the name, a zero byte and the content. Binding the name means
    that no file can be renamed to stand for another.
    """
    return hmac.digest(secret or user_key(), name.encode() + b"\0" + content, "sha256") + content


def unseal(name: str, content: bytes, secret: bytes | None = None) -> bytes | None:
    """Return the content behind a valid seal; None if the seal is invalid.

    Seals are compared in constant time. Content that is shorter than a seal has none.
    """
    return (
        content[SEAL:] if hmac.compare_digest(content, seal(name, content[SEAL:], secret)) else None
    )


# ---------------------------------------------------------------- folders


def private_folder() -> Path:
    """Return the private folder, created if absent. Raises OSError or RuntimeError where there can
    be none.

    In a folder that somebody else filled, the cache is a folder of its own, beside the existing
    files.
    """
    given = os.environ.get("FEDTHEORY_CACHE_DIR")
    base = (
        Path(given)
        if given
        else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fedtheory"
    )
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_owner(base)
    secret = lasting_key()  # without a lasting key no file could be read again
    if claim_folder(base, secret):
        return base
    mine = base / f"of-{hmac.digest(secret, b'folder', 'sha256').hex()[:16]}"
    if not mine.exists():
        warnings.warn(
            f"{base} was not made with this user's key: nothing in this folder is read, and new "
            f"results are stored in {mine}",
            Uncached,
            stacklevel=2,
        )
    mine.mkdir(mode=0o700, exist_ok=True)
    check_owner(mine)
    if not claim_folder(mine, secret):
        raise PermissionError(f"{mine} bears the mark of another key")
    return mine


def claim_folder(place: Path, secret: bytes | None = None) -> bool:
    """Tell whether a folder has this user's mark. An empty folder is marked first, before anything
    else is written there.

    A folder with files and without the mark is never marked: somebody else could have filled it.
    """
    if not any(name for name in os.listdir(place) if not PART.fullmatch(name)):
        write_file(place / MARK, seal(MARK, b"", secret), 0o600)
    return bears_mark(place, secret)


def bears_mark(place: Path, secret: bytes | None = None) -> bool:
    """Tell whether a folder has this user's mark."""
    try:
        return unseal(MARK, (place / MARK).read_bytes(), secret) is not None
    except (FileNotFoundError, NotADirectoryError):
        return False


def check_owner(base: Path) -> Path:
    """Check that only this user can write to a folder, and return the folder; raises
    PermissionError for any other folder."""
    if base.is_symlink() or not base.is_dir():
        raise PermissionError(f"{base} is no folder")
    info = base.stat()
    if hasattr(os, "getuid") and (
        info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ):
        raise PermissionError(f"{base} can be written by others")
    return base
