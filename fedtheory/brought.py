"""What users bring: Python files given with `--with`, those that FEDTHEORY_WITH names, and modules
that installed packages announce under the entry point `fedtheory`.

Each is run once, as any Python file is, and looked through for ALGORITHM, CLAIM, SETTING, FIGURE,
PAPER (or ALGORITHMS, ...) and MAKERS. Its hash goes with it: what rests on a file says so.
"""

import hashlib
import importlib.util
import os
import sys
import warnings
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

from fedtheory.errors import FedtheoryError, InvalidInput, Unloaded, refuse

VARIABLE = "FEDTHEORY_WITH"  # files and folders, as PATH has folders
GROUP = "fedtheory"  # of entry points
KINDS = ("ALGORITHM", "CLAIM", "SETTING", "FIGURE", "PAPER")
NAMES = (*KINDS, *(f"{kind}S" for kind in KINDS), "MAKERS")


class File(NamedTuple):
    """A file that was run."""

    path: str
    sha256: str
    module: Any

    @property
    def source(self):
        """(name, hash), as documents tell where something comes from."""
        return os.path.basename(self.path), self.sha256


_FILES: dict = {}  # path -> File
_STATE: dict = dict(read=None, busy=False)


def load(path):
    """The File of a path: run, unless that was done with the same content.

    >>> from fedtheory import brought
    >>> brought.load("nowhere.py")
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
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, FedtheoryError) or not isinstance(error, Exception):
            raise
        raise InvalidInput(f"{path} cannot be run: {type(error).__name__}: {error}") from None
    _FILES[place] = File(place, sha256, module)
    return _FILES[place]


def give(paths, must=True):
    """Load files, here and in the processes that are started later; each must bring something."""
    given = [load(path) for path in paths]
    for path, file in zip(paths, given):
        if must and not any(hasattr(file.module, name) for name in NAMES):
            refuse(f"--with {path}", f"must define one of {', '.join(NAMES)}", "none of these")
        told = [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
        if file.path not in told:
            os.environ[VARIABLE] = os.pathsep.join([*told, file.path])
    return given


@contextmanager
def beside(paths, others=()):
    """While it lasts these files are given, as for one command: `paths`, of which each must bring
    something, and others, which may."""
    before = os.environ.get(VARIABLE)
    try:
        give(others, must=False)
        yield give(paths)
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


def files():
    """Every File that is brought, in order; while one is run, those before it."""
    told = os.environ.get(VARIABLE, "")
    if _STATE["busy"] or (_STATE["read"] is not None and _STATE["read"][0] == told):
        return () if _STATE["read"] is None else _STATE["read"][1]
    _STATE["busy"] = True
    try:
        found = dict.fromkeys([*_announced(), *(load(path) for path in _named(told))])
        _STATE["read"] = told, tuple(found)
    finally:
        _STATE["busy"] = False
    return _STATE["read"][1]


def _named(told):
    """Paths of the files that the variable names: of a folder, those without an underscore."""
    for part in filter(None, told.split(os.pathsep)):
        path = Path(part)
        if path.is_dir():
            yield from sorted(p for p in path.glob("*.py") if not p.name.startswith("_"))
        elif path.is_file():
            yield path
        else:
            refuse(VARIABLE, "must name Python files and folders that exist", part)


def _announced():
    """Modules of installed packages; one that cannot be imported is said, and left out."""
    for point in entry_points(group=GROUP):
        try:
            module = importlib.import_module(point.module)
            place = str(Path(module.__file__ or "").resolve())
            yield File(place, hashlib.sha256(Path(place).read_bytes()).hexdigest(), module)
        except Exception as error:
            warnings.warn(
                f"the entry point {point.name} = {point.value} cannot be loaded: "
                f"{type(error).__name__}: {error}",
                Unloaded,
                stacklevel=2,
            )


def records(kind, file=None):
    """[(File, record)] of a kind of record, such as "CLAIM", over all files or of one."""
    found = []
    for one in files() if file is None else (file,):
        several = getattr(one.module, f"{kind}S", ())
        several = several.values() if isinstance(several, dict) else several
        single = getattr(one.module, kind, None)
        for record in (*several, *([] if single is None else [single])):
            if all(record is not other for _, other in found):
                found.append((one, record))
    return found


def needed(id):
    """Names of the files that must be given for a claim to be known; of none that is announced."""
    return sorted(
        os.path.basename(file.path)
        for file, claim in records("CLAIM")
        if claim.id == id and file.path in _FILES
    )


def source(modules):
    """(name, hash) of the files of these modules that are not of this library; () where all are.
    What no file holds, as in a notebook, has neither."""
    places = {}
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
