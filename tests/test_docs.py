"""Every snippet and every command of the README and the docs runs and prints what it says.

Commands run in a copy of the sources, in which the files that a page shows lie where it says.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_layers import LEVELS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
CAPTION = re.compile(r":caption: (\S+)\n\n?")


def parts(text):
    """The files and commands of a page, in order: ("file", path, content) and ("command", line,
    output)."""
    for kind, body in FENCE.findall(text):
        caption = CAPTION.match(body)
        if caption:
            yield "file", caption[1], body[caption.end() :]
        elif kind == "console":
            for piece in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                line, _, output = piece.partition("\n")
                yield "command", line, output


def shell(line, folder):
    """What a terminal shows of a command: its answer, or why it has none; `fedtheory` and `python`
    are ours."""
    tools = folder / ".tools"
    if not tools.is_dir():
        tools.mkdir()
        for name, run in (("fedtheory", "-m fedtheory.app.cli"), ("python", "")):
            (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {run} "$@"\n')
            (tools / name).chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
    }
    done = subprocess.run(line, shell=True, cwd=folder, env=env, capture_output=True, text=True)
    return done.stdout or done.stderr


def differences(text, folder):
    """What the commands of a page print otherwise than it says, and how many there are."""
    found, count = [], 0
    for kind, name, content in parts(text):
        if kind == "file":
            path = folder / name
            assert path.resolve().is_relative_to(folder.resolve()) and not path.exists(), name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            continue
        count += 1
        told = shell(name, folder)
        if not doctest.OutputChecker().check_output(content, told, FLAGS):
            found.append(f"$ {name}\n{told}\ninstead of\n{content}")
    return found, count


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A copy of what a clone holds, to work in."""
    for name in ("fedtheory", "figures", "verify", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "setup.cfg", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


AS_TESTS = [pytest.param(page, id=page.name) for page in PAGES]


@pytest.mark.parametrize("page", AS_TESTS)
def test_snippets_and_commands(page, sources):
    text = page.read_text()
    found, count = differences(text, sources)
    assert not found, "\n\n".join(found)
    assert count > 0 or "```console" not in text
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=FLAGS
    )  # what commands left
    assert failed == 0
    assert tried > 0 or ">>>" not in text


ROWS = re.compile(r"^\| `(\w+)` \| (.+) \| (\d+) \|$", re.MULTILINE)
DEVELOPER = ROOT / "docs" / "developer.md"


def lines(room):
    """How many lines a room has."""
    homes = [ROOT / top / name for top in ("fedtheory", "") for name in (room, f"{room}.py")]
    home = next(home for home in homes if home.exists())
    paths = home.rglob("*.py") if home.is_dir() else [home]
    return sum(len(path.read_text().splitlines()) for path in paths)


def test_the_table_of_rooms_is_what_there_is():
    """Each room once, from the bottom up; its lines to a third, or 150."""
    rows = ROWS.findall(DEVELOPER.read_text())
    at = [next(n for n, rooms in enumerate(LEVELS) if room in rooms) for room, _, _ in rows]
    assert at == sorted(at)
    assert sorted(room for room, _, _ in rows) == sorted(set().union(*LEVELS))
    for room, sentence, said in rows:
        assert sentence.endswith("."), room
        assert abs(lines(room) - int(said)) <= max(150, int(said) / 3), (room, lines(room))


def test_what_the_glossary_points_to_is_there():
    """A file, a folder, or a field of a record that the page names."""
    from fedtheory.language.claim import Claim
    from fedtheory.models import Model
    from fedtheory.verdicts.verdict import Verdict

    records = dict(Claim=Claim, Model=Model, Verdict=Verdict)
    rows = re.findall(r"^\| ([\w ]+) \| (.+) \| `(\S+)` \|$", DEVELOPER.read_text(), re.MULTILINE)
    assert len(rows) > 25 and len({word for word, _, _ in rows}) == len(rows)
    for word, _, place in rows:
        record, _, field = place.partition(".")
        if record in records:
            cls = records[record]
            known = {*dir(cls), *getattr(cls, "__dataclass_fields__", ())}
            assert field in known, word
        else:
            assert (ROOT / place).exists(), word


def test_files_that_the_picture_names_are_there():
    """Paths such as verdicts/checking, in a room or beside it."""
    picture = DEVELOPER.read_text().partition("## How a claim")[2].partition("```python")[0]
    rooms = "|".join(sorted(set().union(*LEVELS)))
    for place in set(re.findall(rf"\b((?:{rooms})/\w+)", picture)):
        if place.endswith("_"):  # check_*: several
            assert list((ROOT / "fedtheory").glob(f"{place}*.py")), place
        else:
            assert (ROOT / "fedtheory" / f"{place}.py").exists() or (
                ROOT / "fedtheory" / place
            ).is_dir(), place


def test_a_wrong_snippet_would_fail(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n\n```\n")
    with pytest.raises(doctest.DocTestFailure):
        doctest.testfile(str(page), module_relative=False, raise_on_error=True)


@pytest.mark.parametrize(
    "page, wrong",
    [
        ("```console\n$ echo one\none\n$ echo two\ntwo\n```\n", 0),
        ("```console\n$ echo one\none\n$ echo two\nthree\n```\n", 1),
        ("```console\n$ echo one\n```\n", 1),
        ("```console\n$ true\nnothing\n```\n", 1),
        (
            "```{code-block} text\n:caption: in/a.txt\n\nhere\n```\n\n```console\n$ cat in/a.txt\nhere\n```\n",
            0,
        ),
        ("```console\n$ cat in/a.txt\nhere\n```\n", 1),
        ("```console\n$ python -c 'import sys; sys.exit(\"no\")'\nno\n```\n", 0),
    ],
    ids=range(7),
)
def test_wrong_commands_would_fail(page, wrong, tmp_path):
    found, count = differences(page, tmp_path)
    assert len(found) == wrong and count > 0
