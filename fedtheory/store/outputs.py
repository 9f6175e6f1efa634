"""Output folders of commands: files that no command wrote are never changed.

A folder has a log of the files that commands wrote there, name and SHA-256; each entry is written
before the file appears. A file belongs to a command where the log has its name with the hash of its
present content. Any other file at a wanted place makes the command refuse, and no other file is
ever removed. Files that belong together are all written beside their places first, and then
renamed.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from pathlib import Path

from fedtheory.errors import InvalidInput, printable
from fedtheory.store.files import PART, stage_file

LOG, ASIDE = (
    ".fedtheory",
    ".aside",
)  # ASIDE holds foreign files found in the places of a command's own files
HEAD = "fedtheory wrote these files: SHA-256, two blanks, name"
LINE = re.compile(r"([0-9a-f]{64})  (.+)")
LARGEST = 2**26  # the largest log that is read, in bytes


class Folder:
    """An output folder of commands, with the log of the files that commands wrote.

    `option` names the argument in messages, such as --out; `log` is the log's path inside the
    folder. Every method reads the log anew, so that several commands may share a folder.
    """

    def __init__(self, path: Path, option: str = "--out", log: str = LOG) -> None:
        self.path, self.option, self.log = Path(path), option, log

    def refuse(self, rule: str, name: str = "") -> None:
        """Raise InvalidInput about the folder, or about an entry `name` of the folder."""
        place = self.path / name if name else self.path
        raise InvalidInput(f"{self.option} {rule}; got {printable(str(place))}")

    # Reading

    def entries(self) -> set[tuple[str, str]]:
        """Return (hash, name) of every file that commands wrote to this folder."""
        place = self.path / self.log
        if not os.path.lexists(place):
            return set()
        if place.is_symlink() or not place.is_file() or place.stat().st_size > LARGEST:
            self.refuse(
                "must be a folder in which this file is fedtheory's log of written files", self.log
            )
        lines = place.read_bytes().decode(errors="replace").split("\n")
        if lines not in ([""], []) and lines[0] != HEAD:
            self.refuse(
                "must be a folder in which this file is fedtheory's log of written files", self.log
            )
        return {match.groups() for line in lines if (match := LINE.fullmatch(line))}  # type: ignore[misc]

    def foreign(self, name: str, entries: set[tuple[str, str]] | None = None) -> bool:
        """Tell whether a path in the folder holds something that no command wrote, or that was
        changed after it was written.

        A link is always foreign, because writing to it would change a file elsewhere.
        """
        place = self.path / name
        if not os.path.lexists(place):
            return False
        if place.is_symlink() or not place.is_file():
            return True
        known = self.entries() if entries is None else entries
        return (content_digest(place.read_bytes()), name) not in known

    def matching(self, pattern: str) -> list[str]:
        """Return the names in this folder, not in subfolders, that match a regular expression;
        files and all other entries."""
        known = os.listdir(self.path) if self.path.is_dir() else []
        return sorted(name for name in known if re.fullmatch(pattern, name))

    def check(self, names: Iterable[str]) -> None:
        """Refuse a folder that is not writable, or in which one of these names holds something that
        no command wrote. Called before anything is computed."""
        self._refuse_foreign(names)
        made = self._absent_folders()
        try:
            stage_file(self.path / self.log, b"").unlink()
        except OSError as error:
            self.refuse(f"must be a folder that can be written to ({error.strerror})")
        finally:
            _remove_empty(made)

    # Writing and removing

    def write(self, files: Mapping[str, bytes], stale: Iterable[str] = ()) -> None:
        """Write files to the folder, all of them or none, and then remove those of `stale` that
        commands wrote.

        The order matters: contents are staged beside their places, the log is extended, then files
        are renamed. A crash after any step leaves complete files and a log that covers them. Files
        that already have the wanted content are not touched.
        """
        made = self._absent_folders()
        entries = self.entries()
        wanted = {n: content for n, content in files.items() if not self._holds_content(n, content)}
        self._refuse_foreign(wanted)
        staged: dict[str, Path] = {}
        try:
            for name, content in wanted.items():
                staged[name] = stage_file(self.path / name, content)
            self._note(
                {(content_digest(content), name) for name, content in wanted.items()} - entries
            )
            for name in [*staged]:
                os.replace(staged[name], self.path / name)
                del staged[name]
            made = []
        finally:
            for part in staged.values():
                part.unlink(missing_ok=True)
            _remove_empty(made)
        self.remove(name for name in stale if name not in files)

    def write_over(
        self, files: Mapping[str, bytes], stale: Iterable[str] = (), room: str = ASIDE
    ) -> list[str]:
        """Write files to the folder, after moving aside existing entries of these names that no
        command wrote. Return a sentence with the new place of the moved entries, as a list."""
        moved = self.put_aside([n for n, c in files.items() if not self._holds_content(n, c)], room)
        self.write(files, stale)
        return moved

    def remove(self, names: Iterable[str]) -> None:
        """Remove the named files that a command wrote and that are unchanged since."""
        entries = self.entries()
        for name in names:
            if os.path.lexists(self.path / name) and not self.foreign(name, entries):
                (self.path / name).unlink(missing_ok=True)
                _remove_empty(self.path / above for above in [*Path(name).parents][:-1])

    def put_aside(self, names: Iterable[str], room: str) -> list[str]:
        """Move entries that no command wrote from these names into a subfolder of this folder.
        Return a list with one sentence that says which names were moved where, empty if none was.
        """
        entries = self.entries()
        moved = [name for name in names if self.foreign(name, entries)]
        place = self.path / room / str(time.time_ns())
        for name in moved:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            os.rename(self.path / name, place / name)
        return [f"{', '.join(moved)} to {place}"] if moved else []

    def sweep(self, room: str = "") -> None:
        """Remove temporary files left by a command that was killed while writing, except in the
        subfolder `room`, where other commands may be writing."""
        for part in self.path.rglob("*"):
            inside = part.relative_to(self.path).parts
            if PART.fullmatch(part.name) and part.is_file() and inside[0] != room:
                part.unlink(missing_ok=True)

    def _refuse_foreign(self, names: Iterable[str]) -> None:
        """Refuse names that hold something no command wrote, and a path that is no folder."""
        if os.path.lexists(self.path) and not self.path.is_dir():
            self.refuse("must be a folder")
        entries = self.entries()
        for name in names:
            if self.foreign(name, entries):
                self.refuse(
                    "already holds a file that no command wrote in its present form: move the file, or name another folder",
                    name,
                )

    def _absent_folders(self) -> list[Path]:
        """Return the folders that would have to be created for this folder, innermost first."""
        return [p for p in (self.path, *self.path.parents) if not os.path.lexists(p)]

    def _holds_content(self, name: str, content: bytes) -> bool:
        """Tell whether a plain file of this name has exactly this content already."""
        place = self.path / name
        return place.is_file() and not place.is_symlink() and place.read_bytes() == content

    def _note(self, entries: Set[tuple[str, str]]) -> None:
        """Append entries to the log; raises OSError unless all of them were written. A line that
        was cut off earlier does not merge with the new lines."""
        lines = sorted(f"{hashed}  {name}" for hashed, name in entries if name.isprintable())
        place = self.path / self.log
        place.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_APPEND | os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(place, flags, 0o644), "r+b", buffering=0) as log:
            size = os.fstat(log.fileno()).st_size
            torn = size and os.pread(log.fileno(), 1, size - 1) != b"\n"
            text = "\n".join(["" if torn else HEAD] * (torn or not size) + [*lines, ""]).encode()
            if log.write(text) != len(text):
                raise OSError(28, "No space left on device", str(place))
            os.fsync(log.fileno())


def folder_for(file: Path, option: str = "--out") -> tuple[Folder, str]:
    """Return the Folder of a file that a command is to write, and the file's name."""
    file = Path(file)
    if file.name in ("", "..", LOG):
        raise InvalidInput(f"{option} must be a file's name; got {printable(str(file))}")
    return Folder(file.parent, option), file.name


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove those of these folders that are empty."""
    for place in folders:
        with suppress(OSError):
            place.rmdir()


def content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
