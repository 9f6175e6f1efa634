"""Records of users: Python files given with `--with` or named in FEDTHEORY_WITH, and modules that
installed packages announce under the entry point `fedtheory`.

Each file is run once, as any Python file is, and searched for ALGORITHM, CLAIM, MODEL, FIGURE,
PAPER (or ALGORITHMS, ...) and MAKERS. Results that depend on a file record the file's hash.
"""

import hashlib
import importlib.util
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

from fedtheory.errors import FedtheoryError, InvalidInput, Unloaded, describe, refuse

VARIABLE = "FEDTHEORY_WITH"  # a list of files and folders, separated as in PATH
GROUP = "fedtheory"  # the group of entry points
# SETTING is the older name of MODEL
KINDS = ("ALGORITHM", "CLAIM", "MODEL", "SETTING", "FIGURE", "PAPER")
SEVERAL = (*(f"{kind}S" for kind in KINDS), "MAKERS")
NAMES = (*KINDS, *SEVERAL)
# The accepted types of a collection of records: (types, rule)
SHAPES: dict[str, tuple[Any, str]] = {
    "": ((list, tuple, dict), "must be a list, a tuple or a dict of records"),
    "FIGURES": (dict, "must be a dict of names and Figures"),
}


class File(NamedTuple):
    """A user's file that was executed."""

    path: str
    sha256: str
    module: Any

    @property
    def source(self) -> tuple[str, str]:
        """Return (file name, hash), by which documents identify the source of a record."""
        return os.path.basename(self.path), self.sha256


@contextmanager
def confine_errors(says: str) -> Iterator[None]:
    """Turn any exception of a user's code in the block into one sentence that begins with `says`,
    `sys.exit(0)` included: a file that exits has defined nothing, and no pipeline may take it for a
    success. Errors of this library and Ctrl-C pass through."""
    try:
        yield
    except (FedtheoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise InvalidInput(f"{says}: {describe(error)}") from None


_FILES: dict = {}  # path -> File
_STATE: dict = dict(read=None, busy=False)


def load_file(path: str | Path) -> File:
    """Return the File of a path, executed unless a file with the same content was executed before.

    >>> from fedtheory import plugins
    >>> plugins.load_file("nowhere.py")
    Traceback (most recent call last):
    fedtheory.errors.InvalidInput: a file must be a Python file that exists; got 'nowhere.py'
    """
    path = Path(path)
    if path.suffix != ".py" or not path.is_file():
        refuse("a file", "must be a Python file that exists", str(path))
    place, content = str(path.resolve()), path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    known = _FILES.get(place)
    if known is not None and known.sha256 == sha256:
        return known
    name = f"fedtheory_with_{path.stem}_{sha256[:12]}"
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        refuse("a file", "must be a Python file", str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with confine_errors(f"{path} cannot be run"):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    _FILES[place] = File(place, sha256, module)
    return _FILES[place]


def register(paths: Sequence[str | Path], must: bool = True) -> list[File]:
    """Load files, in this process and in all processes started later. If `must`, each file must
    define a record."""
    given = [load_file(path) for path in paths]
    for path, file in zip(paths, given):
        if must and not any(hasattr(file.module, name) for name in NAMES):
            refuse(f"--with {path}", f"must define one of {', '.join(NAMES)}", "none of these")
        for name in SEVERAL:
            several_of(file, name)
        told = [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
        if file.path not in told:
            os.environ[VARIABLE] = os.pathsep.join([*told, file.path])
    return given


@contextmanager
def registered(
    paths: Sequence[str | Path], others: Sequence[str | Path] = ()
) -> Iterator[list[File]]:
    """Register files for the duration of the block, as for one command: each of `paths` must define
    a record, each of `others` may."""
    before = os.environ.get(VARIABLE)
    try:
        register(others, must=False)
        given = register(paths)
        with refuse_in_words():
            yield given
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


@contextmanager
def refuse_in_words() -> Iterator[None]:
    """Turn an exception that a user's code raises in the block into one sentence with the file and
    the line; anything that ends the program is turned into a sentence as well. Other exceptions are
    errors of this library and pass through."""
    try:
        yield
    except (FedtheoryError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        place = _last_line(error)
        if place is None and isinstance(error, Exception):
            raise
        raise InvalidInput(f"{place or 'code of the user'}: {describe(error)}") from None


def _last_line(error: BaseException) -> str | None:
    """Return "FILE, line N" of the last frame in a user's file in a traceback; None where no user's
    file takes part."""
    _, read = _STATE["read"] or ("", ())
    own = {*_FILES, *(file.path for file in read)}
    frames = traceback.walk_tb(error.__traceback__)
    found = [(frame.f_code.co_filename, line) for frame, line in frames]
    return next((f"{path}, line {line}" for path, line in reversed(found) if path in own), None)


def list_files() -> tuple[File, ...]:
    """Return every File of users, in order; while a file is executed, the files before it."""
    told = os.environ.get(VARIABLE, "")
    if _STATE["busy"] or (_STATE["read"] is not None and _STATE["read"][0] == told):
        return () if _STATE["read"] is None else _STATE["read"][1]
    _STATE["busy"] = True
    try:
        found = dict.fromkeys(
            [*_installed_plugins(), *(load_file(path) for path in _paths_in_variable(told))]
        )
        _STATE["read"] = told, tuple(found)
    finally:
        _STATE["busy"] = False
    return _STATE["read"][1]


def _paths_in_variable(told: str) -> Iterator[Path]:
    """Yield the paths of the files that the environment variable names; of a folder, the Python
    files whose names do not begin with an underscore."""
    for part in filter(None, told.split(os.pathsep)):
        path = Path(part)
        if path.is_dir():
            yield from sorted(p for p in path.glob("*.py") if not p.name.startswith("_"))
        elif path.is_file():
            yield path
        else:
            refuse(VARIABLE, "must name Python files and folders that exist", part)


def _installed_plugins() -> Iterator[File]:
    """Yield the modules that installed packages announce. A module that cannot be imported is
    reported and left out."""
    for point in entry_points(group=GROUP):
        try:
            with confine_errors(point.module):
                module = importlib.import_module(point.module)
            place = str(Path(module.__file__ or "").resolve())
            yield File(place, hashlib.sha256(Path(place).read_bytes()).hexdigest(), module)
        except Exception as error:
            warnings.warn(
                f"the entry point {point.name} = {point.value} cannot be loaded: {describe(error)}",
                Unloaded,
                stacklevel=2,
            )


def list_records(kind: str, file: File | None = None) -> list[tuple[File, Any]]:
    """Return [(File, record)] of one kind of record, such as "CLAIM", over all files or over one
    file."""
    found: list[tuple[File, Any]] = []
    for one in list_files() if file is None else (file,):
        several = several_of(one, f"{kind}S")
        single = getattr(one.module, kind, None)
        for record in (*several, *([] if single is None else [single])):
            if all(record is not other for _, other in found):
                found.append((one, record))
    return found


def several_of(file: File, name: str) -> tuple[Any, ...]:
    """Return the records that a file defines under the plural name of a kind."""
    several: Any = getattr(file.module, name, {} if name == "FIGURES" else ())
    kinds, rule = SHAPES.get(name, SHAPES[""])
    if not isinstance(several, kinds):
        refuse(f"{file.path}: {name}", rule, several)
    found = tuple(several.values() if isinstance(several, dict) else several)
    if name == "MAKERS" and not all(callable(f) and hasattr(f, "__name__") for f in found):
        refuse(f"{file.path}: MAKERS", "must hold functions that make a problem", several)
    return found


def list_makers() -> list[Callable[..., Any]]:
    """Return the functions of all users' files that build problems."""
    return [maker for file in list_files() for maker in several_of(file, "MAKERS")]


def missing_files(id: str) -> list[str]:
    """Return the names of the files that must be given for a claim to be known. Modules of
    installed packages need not be given and are left out."""
    return sorted(
        os.path.basename(file.path)
        for file, claim in list_records("CLAIM")
        if claim.id == id and file.path in _FILES
    )


def source_hashes(modules: Iterable[str]) -> tuple[str, ...]:
    """Return (name, hash) of the files of these modules outside this library; () where all modules
    are inside. For a module without a file, as in a notebook, both are ""."""
    places: dict[str, None] = {}
    for name in sorted(set(modules)):
        if name != "fedtheory" and not name.startswith("fedtheory."):
            module = sys.modules.get(name)
            places[getattr(module, "__file__", None) or ""] = None
    told = []
    for place in places:
        known = _FILES.get(str(Path(place).resolve())) if place else None
        if known is not None:
            told.append(known.source)
        elif place and Path(place).is_file():
            content = Path(place).read_bytes()
            told.append((os.path.basename(place), hashlib.sha256(content).hexdigest()))
        else:
            return ("", "")
    if len(told) < 2:
        return told[0] if told else ()
    joint = hashlib.sha256("".join(sorted(sha256 for _, sha256 in told)).encode()).hexdigest()
    return ", ".join(sorted(name for name, _ in told)), joint
