"""The files that a source depends on, and one hash of them, used for machine code, verdicts and
figures.

A file reaches the modules that it imports, at any level of its code. A file that walks folders
finds modules that it does not import: it reaches the modules and folders that its text names, and
its own folder. A file counts by its syntax (a comment, a docstring and a line break compute
nothing), and by every byte of the data files beside it that its text names, in full or by an ending
such as ".v".

Python source that is compiled or decides a verdict changes the hash; a renamed local variable does,
too, since syntax is compared and not meaning. Whatever is unknown counts as a dependency: a result
may be computed again without need, and is never used wrongly.
"""

import ast
import hashlib
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Set
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fedtheory.folders_beside import BESIDE, folder_of
from fedtheory.store import private_cache
from fedtheory.store.files import write_file

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("fedtheory",)
WALKERS = {"importlib", "pkgutil"}  # a file that imports one of these finds files by itself
FORMAT = "fedtheory sources 2"
# in the private folder: the results of parsing, by the hash of the parsed text
KEPT = "sources.sealed"
MOST = 4096  # the largest number of files in it; beyond it, most entries are outdated
DATA = re.compile(r"[\w-]*\.[a-z]{1,5}")  # a text that may be a data file's name, or its ending
CODE = {".py", ".pyc"}


class Facts(NamedTuple):
    """The facts about one file that enter its hash."""

    syntax: str  # a hash
    imports: tuple  # (module, name or "") pairs
    places: tuple  # dotted names in its text, if the file walks folders
    walks: bool
    named: tuple  # texts that may be names of data files beside it


# ---------------------------------------------------------------- syntax


def syntax_data(tree: Any) -> Any:
    """Return a syntax tree as plain data, without positions, empty fields and docstrings. The data
    are the same for every Python version that parses the source."""
    if isinstance(tree, list):
        return tuple(syntax_data(node) for node in tree if not _is_docstring(node))
    if not isinstance(tree, ast.AST):
        return tree
    fields = ((name, getattr(tree, name, None)) for name in tree._fields if name != "kind")
    return (
        type(tree).__name__,
        *(
            (name, syntax_data(value))
            for name, value in fields
            if value is not None and value != []
        ),
    )


def _is_docstring(node: object) -> bool:
    """Tell whether a statement is a text alone, which computes nothing."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def find_imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (module, name or "") for every import anywhere in a syntax tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.module or "", alias.name) for alias in node.names)


def parse_facts(content: bytes) -> Facts:
    """Return the Facts of a file's bytes.

    Relative imports are not read, because the library has none. Dotted names count as places only
    in a file that imports importlib or pkgutil.
    """
    tree = ast.parse(content)
    imports = tuple(dict.fromkeys(find_imports(tree)))
    walks = any(module in WALKERS for module, _ in imports)
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    texts = [text for text in constants if isinstance(text, str)]
    place = re.compile(rf"({'|'.join(TOPS)})(\.\w+)+\.?")
    places = {text.rstrip(".") for text in texts if place.fullmatch(text)}
    return Facts(
        hashlib.sha256(repr(syntax_data(tree)).encode()).hexdigest(),
        imports,
        tuple(sorted(places)) if walks else (),
        walks,
        tuple(sorted({text for text in texts if DATA.fullmatch(text)})),
    )


class _FactsCache:
    """A cache of Facts by the hash of the file's bytes, sealed in the user's private folder.
    Parsing the engine's sources takes longer than loading the engine's machine code."""

    def __init__(self) -> None:
        self.found, self.new = {}, False
        try:
            file = private_cache.private_folder() / KEPT
            content = private_cache.unseal(KEPT, file.read_bytes())
            form, found = json.loads(content or "[0, 0]")
            if form == FORMAT and len(found) < MOST:
                self.found = found
        except (OSError, RuntimeError, ValueError):
            pass

    def facts(self, content: bytes) -> Facts:
        """Return the Facts of a file's bytes, parsed only if these bytes are new."""
        name = hashlib.sha256(content).hexdigest()
        if name not in self.found:
            self.found[name], self.new = parse_facts(content), True
        syntax, imports, places, walks, named = self.found[name]
        return Facts(syntax, tuple(map(tuple, imports)), tuple(places), walks, tuple(named))

    def keep(self) -> None:
        """Write what was parsed since the last write; where nothing can be written, files are
        parsed again next time."""
        if self.new:
            self.new = False
            try:
                content = json.dumps([FORMAT, self.found]).encode()
                write_file(
                    private_cache.private_folder() / KEPT, private_cache.seal(KEPT, content), 0o600
                )
            except (OSError, RuntimeError):
                pass


_kept = cache(_FactsCache)


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file."""
    return Path(path).read_bytes()


@cache
def file_facts(path: Path) -> Facts:
    """Return the Facts of a file, read once in this process."""
    return _kept().facts(read_bytes(path))


@cache
def data_hashes(path: Path) -> tuple[tuple[str, str], ...]:
    """Return (name, hash of the bytes) of each data file in the folder of a source that the
    source's text names."""
    named = file_facts(path).named
    return tuple(
        (each.name, hashlib.sha256(read_bytes(each)).hexdigest())
        for each in (sorted(path.parent.iterdir()) if named else ())
        if each.is_file() and each.suffix not in CODE and _names_file(named, each.name)
    )


def _names_file(texts: Iterable[str], name: str) -> bool:
    """Tell whether one of some texts is a file's name, or its ending that begins with a dot."""
    return any(name == text or text.startswith(".") and name.endswith(text) for text in texts)


# ---------------------------------------------------------------- reach


def module_place(module: str) -> Path:
    """Return the path of a package's folder or of a module's file, without its suffix."""
    top, *rest = module.split(".")
    if rest and rest[0] in BESIDE:
        return folder_of(rest[0]).joinpath(*rest[1:])
    return ROOT.joinpath(top, *rest)


def file_label(path: Path) -> str:
    """Return a file's path from the folder of all packages, the same in a clone and in a wheel."""
    place = path.relative_to(ROOT).as_posix()
    return f"fedtheory/{place}" if place.partition("/")[0] in BESIDE else place


@cache
def source_file(module: str) -> Path | None:
    """Return the source file of a module of this project, None for any other module."""
    if module.partition(".")[0] not in TOPS:
        return None
    base = module_place(module)
    return next(
        (path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None
    )


def imported_modules(imports: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the names of the modules that imports refer to: `from a import b` refers to a.b where
    a.b is a file."""
    for module, name in imports:
        inside = f"{module}.{name}"
        yield inside if name and source_file(inside) else module


def reachable_files(start: Iterable[str], walked: bool = True) -> set[Path]:
    """Return the files that modules depend on. With walked=False only imports count, not the
    folders that a file lists: the caller then has to hash the discovered records itself."""
    found, wanted = set(), [source_file(module) for module in start]
    while wanted:
        path = wanted.pop()
        if path is not None and path not in found:
            found.add(path)
            wanted += _next_files(path, walked)
    return found


def _next_files(path: Path, walked: bool) -> Iterator[Path | None]:
    """Yield the files that a file reaches directly: its imports and, where it walks folders, their
    files."""
    known = file_facts(path)
    yield from map(source_file, imported_modules(known.imports))
    if walked and known.walks:
        yield from map(source_file, known.places)
        folders = [module_place(place) for place in known.places]
        folders += [path.parent] if path.parent not in [ROOT / top for top in TOPS] else []
        for folder in folders:
            yield from folder.rglob("*.py")


def digest_of_reach(start: Iterable[str], walked: bool = True) -> str:
    """Return a hash, in hex, of all files that modules depend on."""
    return _digest_files(frozenset(start), walked)


@cache
def _digest_files(start: Set[str], walked: bool) -> str:
    """Return the hash of all reached files: their labels, the hashes of their syntax, and their
    data."""
    found = sorted((file_label(path), path) for path in reachable_files(start, walked))
    content = [(name, file_facts(path).syntax, data_hashes(path)) for name, path in found]
    total = hashlib.sha256(repr(content).encode())
    _kept().keep()
    return total.hexdigest()


# ---------------------------------------------------------------- a part of a file


def used_statements(source: bytes, start: str) -> tuple[str, set[str]]:
    """Return a hash of the statements of a source that a name depends on, and the names of the
    modules that these statements import.

    Statements are followed by the names that they mention, at the top level of the module. So a
    change of an unrelated function in a user's file changes no stored result.
    """
    tree = ast.parse(source)
    needs: dict[str, list[int]] = {}
    wanted, kept, seen = [start], set(), set()
    for number, statement in enumerate(tree.body):
        for name in _defined_names(statement):
            needs.setdefault(name, []).append(number)
    if start not in needs:  # a nested function may depend on all of the file
        wanted = [*needs]
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
            statement.names = [alias for alias in statement.names if _bound_name(alias) in seen]
    part = hashlib.sha256(repr(syntax_data(statements)).encode()).hexdigest()
    return part, {module for s in statements for module in imported_modules(find_imports(s))}


def _defined_names(statement: ast.stmt) -> set[str]:
    """Return the names that a top-level statement of a module binds."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return set(map(_bound_name, statement.names))
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _bound_name(alias: ast.alias) -> str:
    """Return the name that an import binds."""
    return (alias.asname or alias.name).partition(".")[0]


@cache
def part_digest(path: Path, name: str, walked: bool = True) -> str:
    """Return a hash of everything that a name of a file depends on: the file's own statements, the
    data files that it names, and all files that these depend on."""
    statements, names = used_statements(read_bytes(path), name)
    content = f"{statements} {data_hashes(path)} {digest_of_reach(names, walked)}"
    return hashlib.sha256(content.encode()).hexdigest()


def digest_of_thing(thing: object) -> str:
    """Return a hash of the source that a function, a class or an instance computes with."""
    return part_digest(home_file(thing), _find_definition(thing).__name__, walked=False)


def home_file(thing: object) -> Path:
    """Return the file that defines a function, a class or an instance's class."""
    return Path(inspect.getsourcefile(_find_definition(thing)) or "")


def _find_definition(thing: object) -> Any:
    return thing if isinstance(thing, type) or hasattr(thing, "__code__") else type(thing)


def forget_files() -> None:
    """Clear the caches of file contents, after files were edited while this process ran."""
    for each in (file_facts, data_hashes, source_file, _digest_files, _kept, part_digest):
        each.cache_clear()
