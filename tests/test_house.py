"""Names, docstrings and lengths keep getting plainer: each number here may only fall or rise one way.

`python -m tests.test_house` prints the numbers of every package, and the worst names first.
"""

import ast
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTICIPLES = set(
    "asked begun bound broken brought built chosen done drawn found given gone got handed held kept known laid left "
    "let lost made meant met put read said seen sent set shown spent split spread taken told torn written".split()
)
VERBS = set(
    """return tell yield draw build compute add refuse write check raise set run read judge generate fill replay record copy make
    store find plot evaluate load replace render do parse split measure give advance call remove print take carry spend join
    reduce register update propagate count gather pickle move compare convert reset subtract derive decorate open start append
    hold stop turn optimise search describe fit estimate save shorten report compile decide round divide probe choose allocate
    stack factor rearrange reshape pair pick merge change schedule apply solve transform restore begin aggregate close finish
    limit assign pretrain wait keep create clear redirect erase drop climb wrap sample share sort install kill prove accept
    import let average renew correct""".split()
)
REFERRING = set(
    "it its itself they them their those these what who whose whom which one ones others other that".split()
)
LONGEST_FUNCTION = 60
TOPS = ("fedtheory", "figures", "verify", "tests/checker", "tests/frameworks")


class Function(NamedTuple):
    """A function or method of the library, as its source has it."""

    place: str  # module:line
    name: str
    docstring: str
    lines: int  # without the docstring, and a signature counted as one line
    annotated: bool
    kernel: bool  # compiled, or inside a function that is compiled


def is_compiled(node: ast.AST) -> bool:
    """Tell whether a definition stands under a compile decorator: jit, or Numba's intrinsic."""
    decorators = [ast.unparse(each) for each in getattr(node, "decorator_list", ())]
    return any(re.fullmatch(r"(jit\.)?jit(\(.*\))?|intrinsic", each) for each in decorators)


def list_functions(path: Path) -> Iterator[Function]:
    """Yield every function of a file, methods and nested ones among them."""
    tree = ast.parse(path.read_text())
    kernels = {inner for node in ast.walk(tree) if is_compiled(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.args, *node.args.kwonlyargs]
            body = node.body[1:] if ast.get_docstring(node) else node.body
            typed = all(a.annotation for a in arguments if a.arg not in ("self", "cls", "_"))
            yield Function(
                f"{path.relative_to(ROOT)}:{node.lineno}",
                node.name,
                ast.get_docstring(node) or "",
                1 + ((body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0),
                node.returns is not None and typed,
                node in kernels,
            )


def library_files() -> list[Path]:
    """Return the files that ship, and the programs that test the checker and frameworks at length."""
    found = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    return sorted({path.resolve() for path in found if not path.name.startswith("test_")})


def words_of(name: str) -> list[str]:
    """Return the words of a name; () of one with two underscores in front."""
    return [] if name.startswith("__") else [word for word in name.split("_") if word]


def is_one_word(name: str) -> bool:
    """Tell whether a function's name is a single word."""
    return len(words_of(name)) == 1


def is_bare_participle(name: str) -> bool:
    """Tell whether a name is a participle alone: `told`, `asked`, `merged`."""
    words = words_of(name)
    return len(words) == 1 and (
        words[0] in PARTICIPLES or bool(re.fullmatch(r"\w{2,}[^e]ed", words[0]))
    )


def begins_with_verb(docstring: str) -> bool:
    """Tell whether a docstring's first word is a verb of VERBS."""
    first = re.match(r"[A-Za-z]+", docstring.lstrip("r"))
    return first is not None and first[0].lower() in VERBS


def share_that_refers(docstrings: list[str]) -> float:
    """Return the share of words in first sentences that refer to something unnamed."""
    words = [w for text in docstrings for w in re.findall(r"[a-z]+", text.split("\n")[0].lower())]
    return sum(word in REFERRING for word in words) / max(1, len(words))


def share_of_remarks(paths: list[Path]) -> float:
    """Return the share of lines that are comments or docstrings."""
    remarks = total = 0
    for path in paths:
        text = path.read_text()
        total += len(text.splitlines())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
                node
            ):
                expression = node.body[0]
                remarks += (expression.end_lineno or expression.lineno) - expression.lineno + 1
        with path.open("rb") as file:
            tokens = tokenize.tokenize(file.readline)
            remarks += len({t.start[0] for t in tokens if t.type == tokenize.COMMENT})
    return remarks / max(1, total)


def measure(paths: list[Path]) -> dict[str, float]:
    """Return the numbers that the tests hold, of some files."""
    functions = [function for path in paths for function in list_functions(path)]
    documented = [function.docstring for function in functions if function.docstring]
    outside = [function for function in functions if not function.kernel]
    count = max(1, len(functions))
    return {
        "functions": len(functions),
        "one word": sum(is_one_word(f.name) for f in functions) / count,
        "participle": sum(is_bare_participle(f.name) for f in functions) / count,
        "annotated": sum(f.annotated for f in outside) / max(1, len(outside)),
        "documented": len(documented) / count,
        "verb first": sum(map(begins_with_verb, documented)) / max(1, len(documented)),
        "refers": share_that_refers(documented),
        "long": sum(f.lines > LONGEST_FUNCTION for f in functions) / count,
        "remarks": share_of_remarks(paths),
    }


@pytest.fixture(scope="module")
def house() -> dict[str, float]:
    return measure(library_files())


# What each number was when it was last lowered (or raised): a change may only go the same way.
AT_MOST = {"one word": 0.292, "participle": 0.0108, "refers": 0.0495, "long": 0.0035}
AT_LEAST = {"verb first": 0.99, "documented": 0.62, "annotated": 0.94}


@pytest.mark.parametrize("name", AT_MOST)
def test_a_number_only_falls(house: dict[str, float], name: str) -> None:
    assert house[name] <= AT_MOST[name]


@pytest.mark.parametrize("name", AT_LEAST)
def test_a_number_only_rises(house: dict[str, float], name: str) -> None:
    assert house[name] >= AT_LEAST[name]


def test_what_is_counted_is_seen() -> None:
    assert (
        is_bare_participle("told")
        and is_bare_participle("_merged")
        and not is_bare_participle("merge_seeds")
    )
    assert is_one_word("told") and not is_one_word("render_steps") and not is_one_word("__init__")
    assert begins_with_verb("Return the mean.") and not begins_with_verb("What a mean is.")
    assert share_that_refers(["What it says of those."]) == pytest.approx(3 / 5)


if __name__ == "__main__":
    packages: dict[str, list[Path]] = {}
    for path in library_files():
        parts = path.relative_to(ROOT).parts
        packages.setdefault(
            parts[1] if parts[0] == "fedtheory" and len(parts) > 2 else parts[0], []
        ).append(path)
    for name, paths in [("all", library_files()), *sorted(packages.items())]:
        print(f"{name:16}", *(f"{key} {value:.3g};" for key, value in measure(paths).items()))
    for path in library_files() if "--names" in sys.argv else ():
        for function in list_functions(path):
            if (
                is_bare_participle(function.name)
                or "--docs" in sys.argv
                and function.docstring
                and not begins_with_verb(function.docstring)
            ):
                print(function.place, function.name, function.docstring.split("\n")[0])
