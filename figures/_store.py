"""Where a figure's arrays are kept: one .npz each, without pickles, named by what defines its
content.

The key hashes the scale, the part of the figure's file that `compute` uses, and the sources which
that part can reach. So a changed label redraws, a changed experiment computes anew, and a killed
run keeps what it finished.
"""

import ast
import hashlib
import io
import math
import re
import zipfile
import zlib
from functools import cache
from pathlib import Path

import numpy as np

from fedtheory.errors import InvalidInput, refuse
from fedtheory.files import write

ROOT = Path(__file__).resolve().parents[1]
KINDS = "fiubU"  # floats, integers, booleans, text
LARGEST = 2**30  # bytes of one file's arrays


def key(name, scale):
    """Hex name of a figure's arrays at a scale."""
    path = ROOT / "figures" / f"{name}.py"
    part, modules = used(path.read_text(), "compute")
    return hashlib.sha256(f"{name}\0{scale}\0{part}".encode() + sources_hash(modules)).hexdigest()[
        :20
    ]


def sources_hash(modules):
    """A hash of every source that modules reach."""
    total = hashlib.sha256()
    for source in sorted(reach(modules)):
        total.update(f"\0{source.relative_to(ROOT)}\0".encode() + _digest(source))
    return total.digest()


def used(source, start):
    """The statements of a module that a name needs, as text without comments, and the modules these
    import."""
    tree = ast.parse(source)
    needs, wanted, kept, seen = {}, [start], set(), set()
    for number, statement in enumerate(tree.body):
        for name in _defines(statement):
            needs.setdefault(name, []).append(number)
    while wanted:
        seen.add(wanted[-1])
        for number in needs.get(wanted.pop(), ()):
            if number not in kept:
                kept.add(number)
                wanted += {
                    node.id for node in ast.walk(tree.body[number]) if isinstance(node, ast.Name)
                }
    statements = [tree.body[number] for number in sorted(kept)]
    for statement in statements:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            statement.names = [alias for alias in statement.names if _bound(alias) in seen]
    return "\n".join(map(ast.unparse, statements)), {m for s in statements for m in _imports(s)}


def _defines(statement):
    """Names that a statement of a module gives a value."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return set(map(_bound, statement.names))
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _bound(alias):
    """The name that an import gives a value."""
    return (alias.asname or alias.name).partition(".")[0]


def _imports(tree):
    """Dotted names imported anywhere in a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield inside if _file(inside) else node.module


def _file(module):
    """The source of a module of this project, None for any other."""
    if module.partition(".")[0] not in ("fedtheory", "figures"):
        return None
    base = ROOT.joinpath(*module.split("."))
    return next(
        (path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None
    )


def reach(modules):
    """Source files that modules import, directly or not.

    A file that finds others itself reaches the modules and folders that its text names, and its own
    folder.
    """
    found, wanted = set(), [_file(module) for module in modules]
    while wanted:
        path = wanted.pop()
        if path is not None and path not in found:
            found.add(path)
            wanted += _next(path)
    return found


@cache
def _next(path):
    tree = ast.parse(path.read_text())
    imports = set(_imports(tree))
    if not imports & {"importlib", "pkgutil"}:
        return tuple(map(_file, imports))
    words = {
        node.value.rstrip(".")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"(fedtheory|figures)(\.\w+)+\.?", node.value)
    }
    folders = [
        folder
        for folder in (
            *(ROOT.joinpath(*word.split(".")) for word in words),
            *([path.parent] if path.parent.parent != ROOT else []),
        )
        if folder.is_dir()
    ]
    return (
        *map(_file, imports | words),
        *(file for folder in folders for file in folder.rglob("*.py")),
    )


@cache
def _digest(path):
    return hashlib.sha256(path.read_bytes()).digest()


def path(folder, name, scale):
    return Path(folder) / f"{name}-{scale}-{key(name, scale)}.npz"


def checked(name, arrays):
    """What a figure computed, as arrays that can be saved."""
    if not isinstance(arrays, dict) or not arrays:
        refuse(f"{name}: compute", "must return a dict of arrays", arrays)
    found = {label: np.asarray(value) for label, value in arrays.items()}
    for label, array in found.items():
        if not str(label).isidentifier():
            refuse(f"{name}: the name of an array", "must be an identifier", label)
        if array.dtype.kind not in KINDS:
            refuse(f"{name}: {label}", "must hold floats, integers, booleans or text", array.dtype)
    return found


def save(file, arrays):
    """Keep arrays; those of the same figure and scale under an older key go."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **dict(sorted(arrays.items())))
    write(file, stream.getvalue())
    for other in file.parent.glob(f"{file.name.rpartition('-')[0]}-*.npz"):
        if other != file:
            other.unlink(missing_ok=True)


def load(file, name=None, most=None):
    """The arrays of a file, or of a stream of this name; how much it claims to hold is checked
    before any is read."""
    arrays, name, most = {}, name or str(file), most or LARGEST
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > most:
                refuse(name, f"must hold at most {most} bytes", sum(m.file_size for m in members))
            for member in members:
                with archive.open(member) as stream:
                    arrays[member.filename.removesuffix(".npy")] = _array(
                        stream.read(), f"{name}: {member.filename}"
                    )
    except (
        OSError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise InvalidInput(
            f"{name} must be a file of arrays; it cannot be read: {' '.join(str(error).split())}"
        )
    return arrays


def _array(content, label):
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = header(stream)
    if dtype.kind not in KINDS:
        refuse(label, "must hold floats, integers, booleans or text", dtype)
    if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        refuse(
            label,
            "must be as long as its header says",
            f"{shape} of {dtype} in {len(content)} bytes",
        )
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)
