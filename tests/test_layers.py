"""Imports point one way: each room may import only from rooms below it (or its own)."""

import ast
import re
from pathlib import Path

import pytest

from fedtheory.folders_beside import BESIDE

ROOT = Path(__file__).resolve().parents[1]
# From the bottom; rooms of one line do not import each other.
LEVELS = (
    {"old_names", "folders_beside", "errors", "display", "schema", "typing"},
    {"arguments", "terminal"},
    {"store", "plugins"},
    {"arithmetic", "parallel", "metrics"},
    {"language", "jit"},
    {"claim", "conditions", "symbol", "indexing"},
    {"rng", "kernel_table"},
    {"problem", "algorithm"},
    {"symbols", "papers"},
    {"problems", "participation"},
    {"algorithms"},
    {"claims"},
    {"discover"},
    {"runs"},
    {"experiments"},
    {"exact"},
    {"comparison", "conformance"},
    {"models"},
    {"certificates"},
    {"rendering"},
    {"proofs"},
    {"search"},
    {"verdicts"},
    {"rocq"},
    {"app"},
    {"__main__"},
    {"figures"},
    {"verify"},
)
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


def room(module):
    """The room of a dotted module name of this project, or None for anything else."""
    parts = module.split(".")
    return parts[1] if parts[0] == "fedtheory" and len(parts) > 1 else None


def imports(source):
    """Dotted names that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_test(module):
    """Tell whether a dotted name is of the tests."""
    return module.partition(".")[0] == "tests"


def upward(name, source):
    """Imports of a file that point up or sideways."""
    own = room(name)
    return [
        other
        for other in imports(source)
        if room(other) in LEVEL and room(other) != own and LEVEL[room(other)] >= LEVEL[own]
    ]


def files():
    for top in ("fedtheory", *BESIDE):
        for path in sorted((ROOT / top).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            name = f"fedtheory.{name}" if top in BESIDE else name
            if name != "fedtheory":  # the package's face imports lazily from everywhere
                yield name, path


@pytest.mark.parametrize("name, path", list(files()), ids=lambda v: v if isinstance(v, str) else "")
def test_imports_point_down(name, path):
    assert room(name) in LEVEL, f"{name} is in no room; give its file a place in LEVELS"
    assert not upward(name, path.read_text())


def borrowed(name, source):
    """Private names that a file takes from another room: (module, name). In a folder of records a
    module whose name begins with an underscore is no record, and may be anybody's."""
    return [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name.startswith("_")
        and room(node.module) in LEVEL
        and room(node.module) != room(name)
        and f"{node.module}.{alias.name}" not in dict(files())
    ]


def test_private_names_stay_in_their_rooms():
    found = {name: borrowed(name, path.read_text()) for name, path in files()}
    assert not {name: names for name, names in found.items() if names}
    assert borrowed(
        "fedtheory.exact.moments", "from fedtheory.runs.running import _start, run"
    ) == [("fedtheory.runs.running", "_start")]


def test_folders_beside_have_one_name():
    """`import figures` would be a second copy in a clone, and nothing where a wheel is installed."""
    second = re.compile(rf"^\s*(from|import) ({'|'.join(BESIDE)})\b", re.MULTILINE)
    for top in ("fedtheory", "tests", "docs", *BESIDE):
        for path in (ROOT / top).rglob("*.py"):
            assert not second.search(path.read_text()), f"{path} must import it from fedtheory"


def test_nothing_that_ships_imports_the_tests():
    """The tests, with the statements of known truth that they check, are in a clone alone."""
    found = {
        name for name, path in files() for other in imports(path.read_text()) if is_test(other)
    }
    assert not found
    assert is_test("tests.checker.power") and not is_test("fedtheory.tests")


def test_an_upward_import_is_seen():
    assert upward("fedtheory.rng", "def f():\n    from fedtheory.runs.engine import advance\n") == [
        "fedtheory.runs.engine",
        "fedtheory.runs.engine.advance",
    ]
    assert upward("fedtheory.runs.engine", "from fedtheory import exact, jit") == [
        "fedtheory.exact"
    ]
