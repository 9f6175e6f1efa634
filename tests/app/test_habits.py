"""Habits of a command line: a version, `python -m`, and names that are nearly right."""

import subprocess
import sys

import pytest

import fedtheory as ft
from fedtheory.app.cli import main


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
