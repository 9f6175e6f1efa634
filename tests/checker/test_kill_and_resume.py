"""The script that kills a campaign sees a ledger that kills have changed, and kills that came too late."""

import subprocess
import sys

import pytest

from fedtheory.app import package
from tests.checker import kill_and_resume

KILLS = 2
# A small campaign keeps one result more each time and waits to be killed, as often as it will be. One that
# is careless tells the ledger how often it was begun; one that is idle has ended before it is killed.
CAMPAIGN = """
import sys, time
from pathlib import Path
out, kind, kills = Path(sys.argv[1]), sys.argv[3], int(sys.argv[4])
store = out / sys.argv[2]
store.mkdir(parents=True, exist_ok=True)
with (out / "starts").open("a") as starts:
    starts.write(".")
begun = (out / "starts").read_text()
if kind != "idle":
    (store / f"{len(begun)}.sealed").touch()
    if out.name == "killed" and len(begun) <= kills:
        time.sleep(600)
(out / "ledger.json").write_text(begun if kind == "careless" else "the same")
"""


@pytest.mark.parametrize("kind", ["sound", "careless", "idle"])
def test_what_a_kill_changes_is_seen_and_so_is_one_that_came_too_late(kind, tmp_path, monkeypatch):
    def begun(out, prefixes):
        asked = [str(out), package.RESULTS, kind, str(KILLS)]
        return subprocess.Popen([sys.executable, "-S", "-c", CAMPAIGN, *asked])

    monkeypatch.setattr(kill_and_resume, "begin_campaign", begun)
    said = []
    assert kill_and_resume.kill_series(tmp_path, [], KILLS, 0, said.append) is (kind == "sound")
    assert len(said) == KILLS + 2 and ("NOT" in said[-1]) is (kind == "careless")
    assert sum("it had ended" in line for line in said) == (KILLS if kind == "idle" else 0)
