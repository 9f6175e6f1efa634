"""Habits of a command line: a version, `python -m`, and names that are nearly right."""

import configparser
import fnmatch
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory.app.cli import main

ROOT = Path(ft.__file__).parents[1]


def test_the_version_is_said():
    told = subprocess.run(
        [sys.executable, "-m", "fedtheory", "--version"], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == f"fedtheory {ft.__version__}"


@pytest.mark.parametrize(
    "command, near",
    [
        (["explain", "fsl.theorm1"], "fsl.theorem1"),
        (["check", "theorem1"], "fsl.theorem1"),
        (["worst", "fedavgg"], "fedavg"),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(command, near, capsys):
    assert main(command) == 2
    error = capsys.readouterr().err
    assert near in error
    assert len(error.strip().splitlines()) == 1


def test_what_is_installed_takes_one_name():
    """Packages as setuptools finds them: it follows the links to the folders beside the library."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    patterns = config["options.packages.find"]["include"].split()
    found = {
        ".".join(Path(folder).relative_to(ROOT).parts)
        for folder, _, names in os.walk(ROOT, followlinks=True)
        if "__init__.py" in names
    }
    kept = {name for name in found if any(fnmatch.fnmatch(name, each) for each in patterns)}
    assert {name.partition(".")[0] for name in kept} == {"fedtheory"}
    assert {"fedtheory.figures", "fedtheory.verify", "fedtheory.app"} <= kept


@pytest.mark.parametrize("room", ["figures", "verify"])
def test_rooms_above_are_commands(room, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main([room, "--help"])
    assert left.value.code == 0
    assert f"usage: fedtheory {room}" in capsys.readouterr().out
    assert main([room, "--workers", "many"]) == 2
    assert capsys.readouterr().err.startswith(f"{room}: --workers must be from 0 to")
