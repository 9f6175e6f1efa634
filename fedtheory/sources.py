"""What a source can reach, and the one hash of it: for machine code, verdicts and figures alike.

A file reaches the modules that it imports, wherever in it. A file that walks folders finds what it
does not import: it reaches the modules and folders that its text names, and its own folder. What
counts of a file is its syntax (a comment, a docstring and a line break compute nothing), and every
byte of the data files beside it that its text names, in full or by an ending such as ".v".
"""

import ast
import hashlib
import inspect
import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fedtheory import private
from fedtheory.files import write

ROOT = Path(__file__).resolve().parents[1]
TOPS = ("fedtheory",)
BESIDE = ("figures", "verify")  # in a clone links to the folders beside the library
WALKERS = {"importlib", "pkgutil"}  # who imports one of these finds files itself
FORMAT = "fedtheory sources 2"
KEPT = "sources.sealed"  # in the private folder: what parsing found, by the hash of what was parsed
MOST = 4096  # files in it; of more, most are gone by now
DATA = re.compile(r"[\w-]*\.[a-z]{1,5}")  # a text that may name a data file, or end its name
CODE = {".py", ".pyc"}


class Facts(NamedTuple):
    """What counts of one file."""

    syntax: str  # a hash
    imports: tuple  # (module, name or "") pairs
    places: tuple  # dotted names in its text, if it walks folders
    walks: bool
    named: tuple  # texts that may name data files beside it


# ---------------------------------------------------------------- syntax


def syntax(tree):
    """A tree as plain data, the same for every version of Python that reads these words: without
    places, empty fields and docstrings."""
    if isinstance(tree, list):
        return tuple(syntax(node) for node in tree if not _prose(node))
    if not isinstance(tree, ast.AST):
        return tree
    fields = ((name, getattr(tree, name, None)) for name in tree._fields if name != "kind")
    return (
        type(tree).__name__,
        *((name, syntax(value)) for name, value in fields if value is not None and value != []),
    )


def _prose(node):
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def imported(tree):
    """(module, name or "") of everything that is imported anywhere in a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)


def parsed(content):
    """The Facts of a file's bytes."""
    tree = ast.parse(content)
    imports = tuple(dict.fromkeys(imported(tree)))
    walks = any(module in WALKERS for module, _ in imports)
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    texts = [text for text in texts if isinstance(text, str)]
    place = re.compile(rf"({'|'.join(TOPS)})(\.\w+)+\.?")
    places = {text.rstrip(".") for text in texts if place.fullmatch(text)}
    return Facts(
        hashlib.sha256(repr(syntax(tree)).encode()).hexdigest(),
        imports,
        tuple(sorted(places)) if walks else (),
        walks,
        tuple(sorted({text for text in texts if DATA.fullmatch(text)})),
    )


class _Kept:
    """Facts by the hash of the bytes that they are of, sealed in the user's private folder: to
    parse what the engine reaches takes longer than to load its machine code."""

    def __init__(self):
        self.found, self.new = {}, False
        try:
            file = private.folder() / KEPT
            content = private.opened(KEPT, file.read_bytes())
            form, found = json.loads(content or "[0, 0]")
            if form == FORMAT and len(found) < MOST:
                self.found = found
        except (OSError, RuntimeError, ValueError):
            pass

    def facts(self, content):
        name = hashlib.sha256(content).hexdigest()
        if name not in self.found:
            self.found[name], self.new = parsed(content), True
        syntax, imports, places, walks, named = self.found[name]
        return Facts(syntax, tuple(map(tuple, imports)), tuple(places), walks, tuple(named))

    def keep(self):
        """Write what was parsed since; where nothing can be written, it is parsed again."""
        if self.new:
            self.new = False
            try:
                content = json.dumps([FORMAT, self.found]).encode()
                write(private.folder() / KEPT, private.sealed(KEPT, content), 0o600)
            except (OSError, RuntimeError):
                pass


_kept = cache(_Kept)


def read(path):
    return Path(path).read_bytes()


@cache
def facts(path):
    return _kept().facts(read(path))


@cache
def data(path):
    """(name, hash of its bytes) of each data file beside a source that the source's text names."""
    named = facts(path).named
    return tuple(
        (each.name, hashlib.sha256(read(each)).hexdigest())
        for each in (sorted(path.parent.iterdir()) if named else ())
        if each.is_file() and each.suffix not in CODE and _names(named, each.name)
    )


def _names(texts, name):
    return any(name == text or text.startswith(".") and name.endswith(text) for text in texts)


# ---------------------------------------------------------------- reach


@cache
def file(module):
    """The source of a module of this project, None for any other."""
    if module.partition(".")[0] not in TOPS:
        return None
    base = ROOT.joinpath(*module.split("."))
    return next(
        (path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None
    )


def modules(imports):
    """Names of the modules that imports ask for: `from a import b` asks for a.b where that is a
    file."""
    for module, name in imports:
        inside = f"{module}.{name}"
        yield inside if name and file(inside) else module


def reach(start, walked=True):
    """Files that modules can reach. Without what is `walked`, only what is imported: whoever asks
    so names the records that count himself."""
    found, wanted = set(), [file(module) for module in start]
    while wanted:
        path = wanted.pop()
        if path is not None and path not in found:
            found.add(path)
            wanted += _next(path, walked)
    return found


def _next(path, walked):
    known = facts(path)
    yield from map(file, modules(known.imports))
    if walked and known.walks:
        yield from map(file, known.places)
        folders = [ROOT.joinpath(*place.split(".")) for place in known.places]
        folders += [path.parent] if path.parent.parent != ROOT else []
        for folder in folders:
            yield from folder.rglob("*.py")


def digest(start, walked=True):
    """A hash, in hex, of all that modules can reach."""
    return _digest(frozenset(start), walked)


@cache
def _digest(start, walked):
    found = sorted((path.relative_to(ROOT).as_posix(), path) for path in reach(start, walked))
    content = [(name, facts(path).syntax, data(path)) for name, path in found]
    total = hashlib.sha256(repr(content).encode())
    _kept().keep()
    return total.hexdigest()


# ---------------------------------------------------------------- a part of a file


def used(source, start):
    """(a hash of the statements of a source that a name needs, names of the modules that these
    import)."""
    tree = ast.parse(source)
    needs, wanted, kept, seen = {}, [start], set(), set()
    for number, statement in enumerate(tree.body):
        for name in _defines(statement):
            needs.setdefault(name, []).append(number)
    if start not in needs:  # a function inside a function: all of the file may bear on it
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
            statement.names = [alias for alias in statement.names if _bound(alias) in seen]
    part = hashlib.sha256(repr(syntax(statements)).encode()).hexdigest()
    return part, {module for s in statements for module in modules(imported(s))}


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


@cache
def part(path, name, walked=True):
    """A hash of what a name of a file needs: the file's own statements, the data files that it
    names, and all that these can reach."""
    statements, names = used(read(path), name)
    content = f"{statements} {data(path)} {digest(names, walked)}"
    return hashlib.sha256(content.encode()).hexdigest()


def of(thing):
    """A hash of what a function, a class or an object of one computes with."""
    return part(home(thing), _written(thing).__name__, walked=False)


def home(thing):
    """The file in which a function, a class or an object's class is written."""
    return Path(inspect.getsourcefile(_written(thing)))


def _written(thing):
    return thing if isinstance(thing, type) or hasattr(thing, "__code__") else type(thing)


def forget():
    """Read files anew: they were edited while this process ran."""
    for each in (facts, data, file, _digest, _kept, part):
        each.cache_clear()
