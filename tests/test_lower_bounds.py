"""The oldest versions that CI installs are those that setup.cfg promises, and durations name tests."""

import configparser
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

from tests import durations

ROOT = Path(__file__).resolve().parents[1]
BOUNDS = ROOT / ".ci" / "lower_bounds"


def print_bounds(*extras):
    return subprocess.run(
        [sys.executable, BOUNDS, *extras], capture_output=True, text=True, check=True
    ).stdout.split()


def test_every_requirement_is_tried_at_its_oldest_version():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    said = setup["options"]["install_requires"] + setup["options.extras_require"]["test"]
    needed = {each.name: each.specifier for each in map(Requirement, said.split())}
    bounds = {each.name: each.specifier for each in map(Requirement, print_bounds("test"))}
    assert bounds.keys() == needed.keys() and "numpy" in bounds
    for name, specifier in bounds.items():
        (oldest,) = specifier
        assert oldest.operator == "==" and oldest.version in needed[name]
        assert f"{name}>={oldest.version}" in said.split()
    assert "jax" not in bounds and "torch==2.4" in print_bounds("torch")


def test_durations_name_files_that_are_there():
    """A file that was moved takes its durations along; otherwise its slow tests count as quick."""
    modules = {name.partition("::")[0] for name in durations.measured()}
    missing = [
        name for name in modules if not (ROOT / name.replace(".", "/")).with_suffix(".py").is_file()
    ]
    assert len(modules) > 50 and not missing
