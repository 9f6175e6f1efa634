"""What the README's first command makes after it installed: figures, the package, and the page's
address."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fedtheory import figures
from fedtheory.app import package

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.cores
def test_the_first_command_ends_in_a_page_with_figures(tmp_path):
    install, _, verify = re.search(
        r"^python -m pip .*$", (ROOT / "README.md").read_text(), re.MULTILINE
    )[0].partition(" && ")
    assert install == "python -m pip install -e ."
    python, *arguments = shlex.split(verify)
    assert python == "python"
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env=dict(env, PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out" / "verify"
    assert "out/verify/index.html" in done.stdout and "open the page yourself" in done.stderr
    book, page = (
        package.open_ledger((out / "ledger.json").read_bytes()),
        (out / "index.html").read_text(),
    )
    assert package.unlike_sums(package.folder_contents(out)[0]) == []
    assert all(f'id="figure-{name}"' in page for name in figures.figure_ids())
    plotted = {name for entry in book["claims"] for name in entry["plots"]}
    assert {"theory_fsl", "theory_mixed", "theory_flex", "theory_lamb", "flex_table3"} <= plotted
    assert not [entry["id"] for entry in book["claims"] if entry["verdict"]["kind"] == "error"]
    judged = [entry for entry in book["claims"] if entry["finding"]]
    assert judged and all(entry["finding"]["figure"] in entry["plots"] for entry in judged)
