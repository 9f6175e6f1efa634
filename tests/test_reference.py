"""The reference holds everything that can be used, as the records have it; the docs build without a
warning."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory import discover, figures

ROOT = Path(ft.__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import build_reference  # noqa: E402  (it lies in docs/, which is no package)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The pages, where one figure was made and judged."""
    root = tmp_path_factory.mktemp("root")
    pictures = root / "out" / "figures"
    pictures.mkdir(parents=True)
    (pictures / "fsl_table2.svg").write_text("<svg/>")
    (pictures / "fsl_table2.md").write_text("**A title.** What is plotted.\n")
    (pictures / "unknown.svg").write_text("<svg/>")
    found = dict(
        claim="fsl.table2",
        figure="fsl_table2",
        scale="smoke",
        verdict="reproduced",
        sentence="as *printed*",
    )
    (pictures / "findings.json").write_text(json.dumps([found]))
    folder = root / "reference"
    build_reference.write(folder, root)
    return {path.name: path.read_text() for path in folder.iterdir()}


def section(page, heading):
    """What stands under a heading, up to the next of its rank."""
    marks = re.search(rf"^(#+) {re.escape(heading)}$", page, re.MULTILINE)
    assert marks, heading
    rest = page[marks.end() :]
    plain = re.sub(r"^```.*?^```$", lambda code: "." * len(code[0]), rest, flags=re.M | re.S)
    end = re.search(rf"^#{{1,{len(marks[1])}}} ", plain, re.MULTILINE)  # no comment in code
    return rest[: end.start()] if end else rest


def test_every_public_name_has_its_words(made):
    for name in ft.__all__:
        text = " ".join(section(made["python.md"], f"`ft.{name}`").split())
        first = (getattr(ft, name).__doc__ or "").split("\n")[0].replace("`", "").split()
        assert first and all(word in text.replace("\\", "").replace("`", "") for word in first)
    assert "budget=10.0" in section(made["python.md"], "`ft.check`")
    assert (
        "_state" not in made["python.md"]
        and "0x" not in made["python.md"]
        and "(self" not in made["python.md"]
    )


def test_every_hyper_parameter_has_meaning_default_and_range(made):
    for name, algorithm in discover.algorithms().items():
        rows = [
            row.strip("| ").split(" | ")
            for row in section(made["algorithms.md"], name.replace("_", r"\_")).splitlines()
            if row.startswith("| `")
        ]
        plain = [[cell.replace("\\", "").strip("`") for cell in row] for row in rows]
        assert plain == [
            [
                field,
                " ".join(spec.meaning.split()),
                "required" if spec.default is None else repr(spec.default),
                spec.rule().removeprefix("must be ") + (", fixed" if spec.fixed else ""),
            ]
            for field, spec in algorithm.hyper.items()
        ]


def test_problems_metrics_and_commands(made):
    for name in discover.problem_makers():
        assert f"ft.problems.{name}(" in section(made["problems.md"], f"`ft.problems.{name}`")
    for name in ft.metrics.ALL:
        assert f"`{name}`" in made["metrics.md"]
    for command in (
        "list",
        "explain",
        "bound",
        "run",
        "check",
        "replay",
        "mutate",
        "sharpen",
        "minimise",
        "audit",
        "warmup",
    ):
        assert f"usage: fedtheory {command}" in section(
            made["command_line.md"], f"fedtheory {command}"
        )
    assert "--replay DIR" in section(made["command_line.md"], "python -m verify")
    assert "--scale" in section(made["command_line.md"], "python -m figures")


def test_records_show_their_fields_with_what_is_said_of_them(made):
    claim = section(made["records.md"], "`fedtheory.claim.Claim`")
    assert "symbols: Table  # the part of the paper's table that the claim uses" in claim
    assert "def " not in claim and "`without(*names)`" in claim
    assert "shapes: Callable" in section(made["records.md"], "`fedtheory.models.Model`")


def test_records_stand_under_the_path_that_users_import(made):
    paths = re.findall(r"^## `([\w.]+)`$", made["records.md"], re.MULTILINE)
    assert {"fedtheory.claim.Claim", "fedtheory.symbol.Entry", "fedtheory.models.Model"} <= {*paths}
    for path in paths:
        module, _, name = path.rpartition(".")
        assert getattr(importlib.import_module(module), name).__name__ == name


def test_the_gallery_has_every_figure_and_the_pictures_that_there_are(made):
    for name, figure in figures.figures().items():
        part = section(
            made["figures.md"], build_reference.escaped(f"{figure.cites}: {figure.title}")
        )
        assert f"python -m figures {name}\n" in part
    assert re.findall(r"\]\((\w+\.svg)\)", made["figures.md"]) == ["fsl_table2.svg"]
    assert "fsl_table2.svg" in made and "unknown.svg" not in made
    assert r"smoke: as \*printed\*" in made["figures.md"]
    assert "**A title.** What is plotted.\n" in made["figures.md"]


def test_no_pictures_no_links_to_them(tmp_path):
    build_reference.write(tmp_path / "reference", tmp_path)
    assert "svg" not in (tmp_path / "reference" / "figures.md").read_text()


def test_links_lead_somewhere(made):
    ids = {claim.id for claim in discover.claims()}
    for link in re.findall(
        r"\]\(([^)]+)\)", "".join(text for name, text in made.items() if name.endswith(".md"))
    ):
        folder, _, name = link.rpartition("/")
        if folder == "../claims":
            assert name.removesuffix(".md") in ids
        else:
            assert (ROOT / "docs" / name).is_file() if folder == ".." else name in made, link


def test_a_docstring_as_markdown():
    assert build_reference.prose(
        "A `b_1`.\n\n    Indented: c_1\n    and d.\n\n        x = 1\n        y = 2\n"
    ) == ["A `b_1`.", "", r"Indented: c\_1 and d.", "", "```python", "x = 1\ny = 2", "```", ""]


def test_the_docs_build_without_a_warning(tmp_path):
    pytest.importorskip("sphinx"), pytest.importorskip("myst_parser"), pytest.importorskip("furo")
    for name in ("docs", "fedtheory", "figures", "verify"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "docs", "built"],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert (tmp_path / "built" / "reference" / "figures.html").is_file()
    assert (tmp_path / "built" / "claims" / "fsl.theorem1.html").is_file()
