"""A clone, an editable installation, a wheel and a source archive hold the same packages, and import
`fedtheory.figures` and `fedtheory.verify` in the same way."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from fedtheory import folders_beside

ROOT = Path(__file__).resolve().parents[1]
TOPS = ("fedtheory", *folders_beside.BESIDE)
BUILD = "from setuptools import build_meta; print(build_meta.build_sdist('dist'))"


def shipped_files() -> set[str]:
    """Return the files that an installation must hold, relative to the folder of all packages."""
    found = [path for top in TOPS for path in (ROOT / top).rglob("*") if path.is_file()]
    found = [path for path in found if path.suffix != ".pyc"]
    places = {path.relative_to(ROOT).as_posix() for path in found}
    return {place if place.startswith("fedtheory/") else f"fedtheory/{place}" for place in places}


def run_python(folder: Path, *arguments: str, path: str = "") -> str:
    """Run Python in a folder, with no other copy of the library before what `path` names."""
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build a source archive from a copy of the clone, and from the archive what a wheel holds."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "clone").mkdir()
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    names = (
        files.stdout.splitlines()
        if files.returncode == 0
        else sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file())
    )
    for name in names:
        if (ROOT / name).is_file():
            (folder / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "clone" / name).write_bytes((ROOT / name).read_bytes())
    archive = run_python(folder / "clone", "-c", BUILD).split()[-1]
    with tarfile.open(folder / "clone" / "dist" / archive) as packed:
        packed.extractall(folder, filter="data")
    source = folder / archive.removesuffix(".tar.gz")
    run_python(source, "setup.py", "--quiet", "build_py", "--build-lib", str(folder / "wheel"))
    return folder / "wheel", source


def test_a_wheel_from_a_source_archive_holds_every_file(built):
    wheel, source = built
    held = {path.relative_to(wheel).as_posix() for path in wheel.rglob("*") if path.is_file()}
    assert held == shipped_files()
    assert (source / "tests" / "test_layers.py").is_file() and not (wheel / "tests").exists()


ASK = """
import fedtheory, fedtheory.figures, fedtheory.verify
from fedtheory.figures import _store
for package in (fedtheory, fedtheory.figures, fedtheory.verify):
    print(package.__path__[0])
print(_store.arrays_key("fsl_table2", "smoke"))
"""


def test_a_wheel_and_a_clone_import_their_own_folders_and_hash_alike(built, tmp_path):
    wheel = built[0]
    *in_wheel, key = run_python(tmp_path, "-c", ASK, path=str(wheel)).split()
    assert in_wheel == [
        str(wheel / name) for name in ("fedtheory", "fedtheory/figures", "fedtheory/verify")
    ]
    *in_clone, other = run_python(tmp_path, "-c", ASK, path=str(ROOT)).split()
    assert in_clone == [str(ROOT / name) for name in TOPS]
    assert key == other


@pytest.mark.parametrize("name", folders_beside.BESIDE)
def test_commands_of_a_clone_and_of_an_installation_are_the_same(built, name, tmp_path):
    inside = run_python(ROOT, "-m", name, "--help")
    outside = run_python(tmp_path, "-m", "fedtheory", name, "--help", path=str(built[0]))
    assert (
        outside.replace(f"fedtheory {name}", "").split()
        == inside.replace(f"python -m {name}", "").split()
    )


def test_no_other_name_is_found_beside(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run_python(tmp_path, "-c", "import fedtheory.tests", path=str(ROOT))
    assert "No module named 'fedtheory.tests'" in failed.value.stderr
    assert not (ROOT / "fedtheory" / "figures").exists()
